//! The control: in place of the node a socket that only drops, and an echo for the honest neighbour. What
//! is lost here, the machine lost. The echo also stands beside a node, where it tells in each phase what the
//! machine itself takes.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::ground::{self, Ground, VICTIM_CPU};
use crate::stop::Stop;

/// Where the attacked port is, as a node's.
pub(crate) const PORT: u16 = 6363;
/// Where the echo is.
pub(crate) const ECHO_PORT: u16 = 7007;

/// Connections that are kept, at each port; the descriptors are those that the attacker needs, too.
const MAX_ACCEPTED: usize = 1000;

/// Sink and echo, each a thread on the victim's processor; they end when dropped.
#[derive(Debug)]
pub(crate) struct Control {
    stop: Stop,
    threads: Vec<JoinHandle<io::Result<()>>>,
    _echo: Echo,
}

/// An echo on the victim's processor, which interrupts whatever runs there but the kernel: what its round
/// trips take, the machine and its network take, and no process. It ends when dropped.
#[derive(Debug)]
pub(crate) struct Echo {
    stop: Stop,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Echo {
    pub(crate) fn start(ground: &Ground) -> io::Result<Self> {
        let (stop, socket) = (Stop::default(), bind(ground, ECHO_PORT)?);
        let own = stop.clone();
        let thread = ground.victim.spawn(VICTIM_CPU, move || {
            ground::interrupt_others()?;
            let mut buffer = [0; 9000];
            while !own.is_set() {
                if let Ok((length, from)) = socket.recv_from(&mut buffer) {
                    let _ = socket.send_to(buffer.get(..length).unwrap_or_default(), from);
                }
            }
            Ok(())
        });
        Ok(Echo { stop, thread: Some(thread) })
    }

    /// Ends it; tells what went wrong with it.
    pub(crate) fn end(mut self) -> io::Result<()> {
        self.stop.set();
        self.thread.take().map_or(Ok(()), ground::join)
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.stop.set();
        let _ = self.thread.take().map(ground::join);
    }
}

fn bind(ground: &Ground, port: u16) -> io::Result<UdpSocket> {
    ground.victim.run(VICTIM_CPU, move || {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port))?;
        socket.set_read_timeout(Some(Duration::from_millis(50)))?;
        Ok(socket)
    })
}

impl Control {
    pub(crate) fn start(ground: &Ground) -> io::Result<Self> {
        let stop = Stop::default();
        let sink = bind(ground, PORT)?;
        let listeners = [PORT, 9696].map(|port| {
            ground.victim.run(VICTIM_CPU, move || TcpListener::bind(SocketAddr::from(([0, 0, 0, 0], port))))
        });
        let mut control = Control { stop: stop.clone(), threads: Vec::new(), _echo: Echo::start(ground)? };
        for listener in listeners {
            let (listener, stop) = (listener?, stop.clone());
            listener.set_nonblocking(true)?;
            control.threads.push(ground.victim.spawn(VICTIM_CPU, move || accept(&listener, &stop)));
        }
        control.threads.push(ground.victim.spawn(VICTIM_CPU, move || {
            ground::go_first();
            let mut buffer = [0; 9000];
            while !stop.is_set() {
                let _ = sink.recv(&mut buffer);
            }
            Ok(())
        }));
        Ok(control)
    }
}

/// Takes connections and lets them be.
fn accept(listener: &TcpListener, stop: &Stop) -> io::Result<()> {
    let mut accepted = Vec::new();
    while !stop.is_set() {
        match listener.accept() {
            Ok((stream, _)) if accepted.len() < MAX_ACCEPTED => accepted.push(stream),
            Ok(_) => {}
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    Ok(())
}

impl Drop for Control {
    fn drop(&mut self) {
        self.stop.set();
        for thread in self.threads.drain(..) {
            let _ = ground::join(thread);
        }
    }
}
