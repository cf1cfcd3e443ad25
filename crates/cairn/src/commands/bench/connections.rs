//! Connections between a forwarder and the two ends of a stream exchange.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use node::load::StreamSocket;

use super::subjects::Wiring;

/// Where the producer's side of a stream exchange listens.
pub(super) enum Connections {
    Tcp(TcpListener),
    Unix(UnixListener, Vec<PathBuf>),
}

impl Connections {
    pub(super) fn listen(wiring: &Wiring) -> io::Result<Self> {
        let connections = match wiring {
            Wiring::Udp { .. } => return Err(io::ErrorKind::Unsupported.into()),
            Wiring::Tcp { producer, .. } => Connections::Tcp(TcpListener::bind(producer)?),
            Wiring::Unix { listen, producer } => {
                let paths = vec![listen.clone(), producer.clone()];
                Connections::Unix(UnixListener::bind(producer)?, paths)
            }
        };
        match &connections {
            Connections::Tcp(listener) => listener.set_nonblocking(true)?,
            Connections::Unix(listener, _) => listener.set_nonblocking(true)?,
        }
        Ok(connections)
    }

    pub(super) fn accept(&self, deadline: Instant) -> Option<StreamSocket> {
        while Instant::now() < deadline {
            let accepted = match self {
                Connections::Tcp(listener) => listener.accept().map(|(socket, _)| StreamSocket::Tcp(socket)),
                Connections::Unix(listener, _) => {
                    listener.accept().map(|(socket, _)| StreamSocket::Unix(socket))
                }
            };
            match accepted {
                Ok(socket) => return Some(socket),
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
        None
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        if let Connections::Unix(_, paths) = self {
            for path in paths {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// Connects to a forwarder.
pub(super) fn connect(wiring: &Wiring) -> io::Result<StreamSocket> {
    match wiring {
        Wiring::Udp { .. } => Err(io::ErrorKind::Unsupported.into()),
        Wiring::Tcp { listen, .. } => TcpStream::connect(listen).map(StreamSocket::Tcp),
        Wiring::Unix { listen, .. } => UnixStream::connect(listen).map(StreamSocket::Unix),
    }
}
