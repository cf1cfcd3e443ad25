//! A neighbour whom the node does not know yet.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use packet::random::Random;
use socket2::{Domain, Socket, Type};

use super::NEW;
use super::consumer::wait;
use super::line::{Answer, Line};
use crate::wire::Template;

/// How long an Interest is waited for before another is sent.
const AGAIN: Duration = Duration::from_millis(50);

/// By what a newcomer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Datagrams.
    Udp,
    /// A connection.
    Tcp,
}

/// Comes from `own` and asks every fifty milliseconds; the time until the first good answer, or `None` if
/// there was none in time.
pub(crate) fn first_answer(
    way: Protocol,
    own: Ipv4Addr,
    node: SocketAddr,
    patience: Duration,
) -> io::Result<Option<Duration>> {
    crate::ground::go_first();
    let started = Instant::now();
    let lifetime = packet::time::Duration::from_secs(1);
    let interest = Template::interest(NEW, |interest| interest.lifetime(lifetime))?;
    let mut random = Random::from_seed(u64::from(own.to_bits()) << 8 | way as u64);
    while started.elapsed() < patience {
        let left = patience.saturating_sub(started.elapsed());
        let Ok(mut line) = open(way, own, node, left) else {
            std::thread::sleep(AGAIN);
            continue;
        };
        while started.elapsed() < patience {
            line.send(&interest.fresh(random.next_u64(), &mut random));
            let until = Instant::now() + AGAIN;
            let mut answered = None;
            let mut open = true;
            while open && answered.is_none() && Instant::now() < until {
                wait(&line, until)?;
                let received = line.receive(|answer| {
                    if matches!(answer, Answer::Good(_)) {
                        answered = Some(started.elapsed());
                    }
                });
                open = received.is_ok();
            }
            if answered.is_some() {
                return Ok(answered);
            }
            if !open {
                // It was accepted and turned away.
                std::thread::sleep(AGAIN);
                break;
            }
        }
    }
    Ok(None)
}

fn open(way: Protocol, own: Ipv4Addr, node: SocketAddr, patience: Duration) -> io::Result<Line> {
    let own = SocketAddr::from((own, 0));
    match way {
        Protocol::Udp => Line::udp(own, node),
        Protocol::Tcp => {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
            socket.bind(&own.into())?;
            socket.connect_timeout(&node.into(), patience.max(Duration::from_millis(1)))?;
            Line::tcp(TcpStream::from(socket))
        }
    }
}
