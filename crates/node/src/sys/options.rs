//! Socket options that no safe crate sets.
#![allow(unsafe_code, reason = "these options have no safe interface")]

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};

/// Lets the kernel hand over trains of datagrams of one sender together (generic receive offload).
pub(crate) fn receive_trains(socket: &impl AsFd) -> io::Result<()> {
    set(socket, libc::SOL_UDP, libc::UDP_GRO, 1)
}

/// Lets datagrams larger than the path's MTU be cut by IP instead of being refused, as NFD does.
pub(crate) fn allow_ip_fragments(socket: &impl AsFd, v6: bool) -> io::Result<()> {
    if v6 {
        set(socket, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_DONT)
    } else {
        set(socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_DONT)
    }
}

/// Has the system ask a silent peer now and then whether it is still there, so that a connection to one that
/// vanished ends.
pub(crate) fn notice_dead_peers(socket: &impl AsFd) -> io::Result<()> {
    let keepalive = TcpKeepalive::new()
        .with_time(Duration::from_secs(60))
        .with_interval(Duration::from_secs(15))
        .with_retries(4);
    SockRef::from(socket).set_tcp_keepalive(&keepalive)
}

/// Asks for a receive buffer beyond the system's limit, which only a privileged process gets.
pub(crate) fn force_receive_buffer(socket: &impl AsFd, bytes: usize) -> io::Result<()> {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    set(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, bytes)
}

fn set(socket: &impl AsFd, level: libc::c_int, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let len = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the descriptor is open as long as it is borrowed, and the kernel reads `len` bytes of `value`,
    // which lives here.
    let outcome = unsafe {
        libc::setsockopt(socket.as_fd().as_raw_fd(), level, option, (&raw const value).cast(), len)
    };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Bytes that the kernel has not sent yet.
pub(crate) fn unsent_bytes(socket: &impl AsFd) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open as long as it is borrowed; the kernel writes one int to `bytes`.
    let outcome = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if outcome == 0 { Ok(u64::try_from(bytes).unwrap_or(0)) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::UdpSocket;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn what_the_other_end_has_not_read_counts_as_unsent() {
        let (mut near, _far) = UnixStream::pair().unwrap();
        assert_eq!(unsent_bytes(&near).unwrap(), 0);
        near.write_all(&[0; 1000]).unwrap();
        assert!(unsent_bytes(&near).unwrap() >= 1000);
    }

    #[test]
    fn options_are_taken_by_sockets_they_are_for_and_refused_by_others() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        allow_ip_fragments(&socket, false).unwrap();
        let (stream, _) = UnixStream::pair().unwrap();
        assert!(receive_trains(&stream).is_err());
    }
}
