//! Sockets that never block by themselves, and waiting on them.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration as StdDuration;

use packet::time::Duration;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::datagrams::DatagramSocket;
use crate::remote::{Host, Remote};

/// When a TCP connection over which nothing comes is asked for a sign of life, how often, and how often in
/// vain: a host that lost power does not close its connections.
const KEEP_ALIVE: (StdDuration, StdDuration, u32) =
    (StdDuration::from_secs(30), StdDuration::from_secs(10), 3);

/// What we ask the kernel to keep for us in each direction, so that a burst is not lost. It may give less.
const KERNEL_BUFFER_BYTES: usize = 4 << 20;

#[derive(Debug)]
pub(crate) enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
    Udp(DatagramSocket),
}

/// A socket that is another's, too, only to be waited for.
#[cfg(feature = "async")]
pub(crate) enum PollHandle {
    Unix(UnixStream),
    Tcp(TcpStream),
    Udp(UdpSocket),
}

/// What a wait ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// There is something to read or room to write, or the time is up.
    Over,
    /// A signal came.
    Interrupted,
}

impl Socket {
    pub(crate) fn connect(remote: &Remote, timeout: Duration) -> io::Result<Self> {
        let socket = match remote {
            Remote::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_nonblocking(true)?;
                Socket::Unix(stream)
            }
            Remote::Tcp(host) => {
                let timeout = StdDuration::from_nanos(timeout.as_nanos());
                let stream = first_that_works(host, |address| TcpStream::connect_timeout(&address, timeout))?;
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                keep_alive(&stream);
                Socket::Tcp(stream)
            }
            Remote::Udp(host) => {
                let socket = first_that_works(host, |address| {
                    let any = match address {
                        SocketAddr::V4(_) => "0.0.0.0:0",
                        SocketAddr::V6(_) => "[::]:0",
                    };
                    let socket = UdpSocket::bind(any)?;
                    socket.connect(address)?;
                    Ok(socket)
                })?;
                socket.set_nonblocking(true)?;
                Socket::Udp(DatagramSocket::over(socket))
            }
        };
        let options = socket2::SockRef::from(&socket);
        // Whatever it grants is fine.
        let _ = options.set_recv_buffer_size(KERNEL_BUFFER_BYTES);
        let _ = options.set_send_buffer_size(KERNEL_BUFFER_BYTES);
        Ok(socket)
    }

    /// The same socket under another descriptor.
    #[cfg(feature = "async")]
    pub(crate) fn poll_handle(&self) -> io::Result<PollHandle> {
        Ok(match self {
            Socket::Unix(stream) => PollHandle::Unix(stream.try_clone()?),
            Socket::Tcp(stream) => PollHandle::Tcp(stream.try_clone()?),
            Socket::Udp(datagrams) => PollHandle::Udp(datagrams.as_fd().try_clone_to_owned()?.into()),
        })
    }

    /// Datagrams, if it keeps the bounds of what is sent.
    pub(crate) fn datagrams(&mut self) -> Option<&mut DatagramSocket> {
        match self {
            Socket::Udp(datagrams) => Some(datagrams),
            Socket::Unix(_) | Socket::Tcp(_) => None,
        }
    }

    /// Whether it keeps the bounds of what is sent.
    pub(crate) fn is_datagram(&self) -> bool {
        matches!(self, Socket::Udp(_))
    }

    /// Reads bytes of a stream.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(stream) => (&mut &*stream).read(buffer),
            Socket::Tcp(stream) => (&mut &*stream).read(buffer),
            Socket::Udp(datagrams) => datagrams.receive(buffer).map(|received| received.length),
        }
    }

    /// Writes bytes of a stream.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(stream) => (&mut &*stream).write(bytes),
            Socket::Tcp(stream) => (&mut &*stream).write(bytes),
            Socket::Udp(datagrams) => datagrams.send(bytes, bytes.len()).map(|()| bytes.len()),
        }
    }

    /// Waits until there is something to read, or also until there is room to write, at most `timeout`; for
    /// ever if that is `None`.
    pub(crate) fn wait(&self, or_writable: bool, timeout: Option<Duration>) -> io::Result<Waited> {
        let flags = if or_writable { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        poll_until(&mut [PollFd::new(self, flags)], timeout)
    }
}

/// Waits for time to pass, for ever if `timeout` is `None`, or for a signal.
pub(crate) fn wait_for_time(timeout: Option<Duration>) -> io::Result<Waited> {
    poll_until(&mut [], timeout)
}

fn poll_until(fds: &mut [PollFd<'_>], timeout: Option<Duration>) -> io::Result<Waited> {
    let timeout = timeout.map(|timeout| Timespec {
        tv_sec: i64::try_from(timeout.as_nanos() / 1_000_000_000).unwrap_or(i64::MAX),
        // Below a thousand million, which fits any integer.
        tv_nsec: (timeout.as_nanos() % 1_000_000_000) as _,
    });
    match poll(fds, timeout.as_ref()) {
        Ok(_) => Ok(Waited::Over),
        Err(rustix::io::Errno::INTR) => Ok(Waited::Interrupted),
        Err(error) => Err(error.into()),
    }
}

fn keep_alive(stream: &TcpStream) {
    let (time, interval, retries) = KEEP_ALIVE;
    let settings = socket2::TcpKeepalive::new().with_time(time).with_interval(interval).with_retries(retries);
    // Without it the connection works, and only a silent end of its peer goes unnoticed.
    let _ = socket2::SockRef::from(stream).set_tcp_keepalive(&settings);
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Unix(stream) => stream.as_fd(),
            Socket::Tcp(stream) => stream.as_fd(),
            Socket::Udp(datagrams) => datagrams.as_fd(),
        }
    }
}

/// Tries the addresses of a host one after the other.
fn first_that_works<T>(host: &Host, mut attempt: impl FnMut(SocketAddr) -> io::Result<T>) -> io::Result<T> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address of this kind");
    for address in host.addresses()? {
        match attempt(address) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}
