//! The socket of a connection.

use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// A connected, or connecting, socket.
#[derive(Debug)]
pub enum StreamSocket {
    /// TCP.
    Tcp(TcpStream),
    /// A unix socket.
    Unix(UnixStream),
}

impl StreamSocket {
    /// How a connection attempt that ran in the background ended.
    pub(crate) fn take_error(&self) -> io::Result<Option<io::Error>> {
        match self {
            StreamSocket::Tcp(socket) => socket.take_error(),
            StreamSocket::Unix(socket) => socket.take_error(),
        }
    }
}

impl AsFd for StreamSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            StreamSocket::Tcp(socket) => socket.as_fd(),
            StreamSocket::Unix(socket) => socket.as_fd(),
        }
    }
}

impl Read for &StreamSocket {
    #[inline]
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            StreamSocket::Tcp(socket) => (&mut &*socket).read(bytes),
            StreamSocket::Unix(socket) => (&mut &*socket).read(bytes),
        }
    }
}

impl Write for &StreamSocket {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            StreamSocket::Tcp(socket) => (&mut &*socket).write(bytes),
            StreamSocket::Unix(socket) => (&mut &*socket).write(bytes),
        }
    }

    #[inline]
    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            StreamSocket::Tcp(socket) => (&mut &*socket).write_vectored(slices),
            StreamSocket::Unix(socket) => (&mut &*socket).write_vectored(slices),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
