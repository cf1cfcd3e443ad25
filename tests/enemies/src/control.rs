//! The control: in place of the node a socket that only drops, and an echo for the honest neighbour. What
//! is lost here, the machine lost.

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
}

impl Control {
    pub(crate) fn start(ground: &Ground) -> io::Result<Self> {
        let stop = Stop::default();
        let bind = |port: u16| {
            ground.victim.run(VICTIM_CPU, move || {
                let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port))?;
                socket.set_read_timeout(Some(Duration::from_millis(50)))?;
                Ok(socket)
            })
        };
        let (sink, echo) = (bind(PORT)?, bind(ECHO_PORT)?);
        let listeners = [PORT, 9696].map(|port| {
            ground.victim.run(VICTIM_CPU, move || TcpListener::bind(SocketAddr::from(([0, 0, 0, 0], port))))
        });
        let mut control = Control { stop: stop.clone(), threads: Vec::new() };
        for listener in listeners {
            let (listener, stop) = (listener?, stop.clone());
            listener.set_nonblocking(true)?;
            control.threads.push(ground.victim.spawn(VICTIM_CPU, move || accept(&listener, &stop)));
        }
        let sink_stop = stop.clone();
        control.threads.push(ground.victim.spawn(VICTIM_CPU, move || {
            ground::go_first();
            let mut buffer = [0; 9000];
            while !sink_stop.is_set() {
                let _ = sink.recv(&mut buffer);
            }
            Ok(())
        }));
        control.threads.push(ground.victim.spawn(VICTIM_CPU, move || {
            ground::go_first();
            let mut buffer = [0; 9000];
            while !stop.is_set() {
                if let Ok((length, from)) = echo.recv_from(&mut buffer) {
                    let _ = echo.send_to(buffer.get(..length).unwrap_or_default(), from);
                }
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
