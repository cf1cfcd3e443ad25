//! Ports of this host that are free.

use std::io;
use std::net::{TcpListener, UdpSocket};

/// A port that nobody uses for UDP at present.
pub(super) fn free_udp_port() -> io::Result<u16> {
    Ok(UdpSocket::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// A port that nobody uses for TCP at present.
pub(in crate::commands::bench) fn free_tcp_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
