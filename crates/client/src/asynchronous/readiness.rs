//! Waiting for a socket by tokio's reactor, while another owner reads and writes it.

use std::io;
use std::task::{Context, Poll};

use tokio::io::Interest;
use tokio::net::{TcpStream, UdpSocket, UnixStream};

use crate::socket::PollHandle;

/// The socket once more, as tokio knows it.
#[derive(Debug)]
pub(super) enum Readiness {
    Unix(UnixStream),
    Tcp(TcpStream),
    Udp(UdpSocket),
}

impl Readiness {
    pub(super) fn of(handle: PollHandle) -> io::Result<Self> {
        Ok(match handle {
            PollHandle::Unix(stream) => Readiness::Unix(UnixStream::from_std(stream)?),
            PollHandle::Tcp(stream) => Readiness::Tcp(TcpStream::from_std(stream)?),
            PollHandle::Udp(socket) => Readiness::Udp(UdpSocket::from_std(socket)?),
        })
    }

    /// Whether there is something to read, or if `or_writable` room to write; otherwise the task is woken
    /// when there is. The socket is taken for not ready again at once, before the turn that follows: what
    /// comes from now on makes it ready anew, and what has come is found by that turn.
    pub(super) fn take(&self, or_writable: bool, context: &mut Context<'_>) -> bool {
        let (readable, writable) = match self {
            Readiness::Unix(stream) => {
                (stream.poll_read_ready(context), or_writable.then(|| stream.poll_write_ready(context)))
            }
            Readiness::Tcp(stream) => {
                (stream.poll_read_ready(context), or_writable.then(|| stream.poll_write_ready(context)))
            }
            Readiness::Udp(socket) => {
                (socket.poll_recv_ready(context), or_writable.then(|| socket.poll_send_ready(context)))
            }
        };
        let is_readable = self.clear(Interest::READABLE, &readable);
        let is_writable = writable.is_some_and(|writable| self.clear(Interest::WRITABLE, &writable));
        is_readable || is_writable
    }

    fn clear(&self, interest: Interest, ready: &Poll<io::Result<()>>) -> bool {
        if ready.is_pending() {
            return false;
        }
        // An operation that would block is how tokio learns that a socket is not ready.
        let blocks = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
        let _ = match self {
            Readiness::Unix(stream) => stream.try_io(interest, blocks),
            Readiness::Tcp(stream) => stream.try_io(interest, blocks),
            Readiness::Udp(socket) => socket.try_io(interest, blocks),
        };
        true
    }
}
