//! Where peers come in: sockets bound at the start, and connections accepted from them.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use packet::{Dialect, LinkType};
use rustix::event::epoll;
use socket2::{Domain, Protocol, Socket, Type};

use crate::control::{FacePersistency, FaceUri};
use crate::origin::{Origin, scope_of};
use crate::plane::faces::limits::Kind;
use crate::plane::faces::{NewStreamFace, Peer};
use crate::plane::packets::fair_turn::ChargedTo;
use crate::plane::sockets::Sockets;
use crate::plane::{DataPlane, Token};
use crate::socket_path;
use crate::sys::options;
use crate::transport::datagram::DatagramChannel;
use crate::transport::ethernet::{EthernetChannel, GROUP};
use crate::transport::stream_socket::StreamSocket;
use crate::transport::websocket;

/// A socket that connections are accepted from.
pub(crate) struct Listener {
    socket: ListeningSocket,
    uri: FaceUri,
    /// The language of whoever comes.
    dialect: Dialect,
    /// The file to remove at the end.
    path: Option<PathBuf>,
}

enum ListeningSocket {
    Tcp(TcpListener),
    Unix(UnixListener),
    WebSocket(TcpListener),
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            ListeningSocket::Tcp(socket) | ListeningSocket::WebSocket(socket) => socket.as_fd(),
            ListeningSocket::Unix(socket) => socket.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Connections accepted from one listener in one turn.
const ACCEPTED_PER_TURN: usize = 16;
/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

impl Listener {
    /// Accepts TCP connections.
    pub(crate) fn tcp(local: SocketAddr, dialect: Dialect) -> io::Result<Self> {
        let socket = listen(local)?;
        let uri = FaceUri::Tcp(socket.local_addr()?);
        Ok(Listener { socket: ListeningSocket::Tcp(socket), uri, dialect, path: None })
    }

    /// Accepts WebSocket connections.
    pub(crate) fn websocket(local: SocketAddr) -> io::Result<Self> {
        let socket = listen(local)?;
        let uri = FaceUri::WebSocket(socket.local_addr()?);
        Ok(Listener {
            socket: ListeningSocket::WebSocket(socket),
            uri,
            dialect: websocket::DIALECT,
            path: None,
        })
    }

    /// Accepts connections at a path. A socket that a forwarder left behind is replaced; one that still
    /// listens is not.
    pub(crate) fn unix(path: &Path, dialect: Dialect) -> io::Result<Self> {
        use std::os::unix::fs::PermissionsExt as _;
        socket_path::clear(path)?;
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let socket = UnixListener::bind(path)?;
        // Any user's applications may use the forwarder, as with NFD.
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666))?;
        socket.set_nonblocking(true)?;
        let (uri, path) = (FaceUri::Unix(path.to_owned()), Some(path.to_owned()));
        Ok(Listener { socket: ListeningSocket::Unix(socket), uri, dialect, path })
    }

    pub(crate) fn uri(&self) -> &FaceUri {
        &self.uri
    }

    fn is_websocket(&self) -> bool {
        matches!(self.socket, ListeningSocket::WebSocket(_))
    }

    pub(in crate::plane) fn accept(&self) -> io::Result<(StreamSocket, FaceUri)> {
        match &self.socket {
            ListeningSocket::Tcp(listener) | ListeningSocket::WebSocket(listener) => {
                let (socket, remote) = listener.accept()?;
                socket.set_nonblocking(true)?;
                // Without it a small packet may wait for the acknowledgement of the one before.
                socket.set_nodelay(true)?;
                options::notice_dead_peers(&socket)?;
                let remote = match self.is_websocket() {
                    true => FaceUri::WebSocketClient(remote),
                    false => FaceUri::Tcp(remote),
                };
                Ok((StreamSocket::Tcp(socket), remote))
            }
            ListeningSocket::Unix(listener) => {
                let (socket, _) = listener.accept()?;
                socket.set_nonblocking(true)?;
                let remote = FaceUri::FileDescriptor(socket.as_raw_fd().unsigned_abs().into());
                Ok((StreamSocket::Unix(socket), remote))
            }
        }
    }
}

fn listen(local: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(local), Type::STREAM, Some(Protocol::TCP))?;
    if local.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&local.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

impl Sockets {
    /// Has the data plane told when something is ready.
    pub(in crate::plane) fn watch(
        &self,
        source: impl AsFd,
        token: Token,
        flags: epoll::EventFlags,
    ) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, source, token.to_data(), flags)?)
    }

    /// Receives datagrams from a bound socket.
    pub(crate) fn add_channel(&mut self, channel: DatagramChannel) -> io::Result<()> {
        let number = self.channels.next_number();
        let token = if channel.is_ip() { Token::Ip(number) } else { Token::Datagrams(number) };
        self.watch(&channel.socket, token, epoll::EventFlags::IN)?;
        self.channels.insert(channel);
        Ok(())
    }

    /// Accepts connections from a listener.
    pub(crate) fn add_listener(&mut self, listener: Listener) -> io::Result<()> {
        self.watch(&listener, Token::Listener(self.listeners.len()), epoll::EventFlags::IN)?;
        self.listeners.push(listener);
        Ok(())
    }

    /// Addresses of all that is bound.
    pub(crate) fn channel_uris(&self) -> Vec<FaceUri> {
        let datagrams = self.channels.bound().map(DatagramChannel::uri);
        let ethernet = self.ethernet.iter().map(EthernetChannel::uri);
        datagrams
            .chain(ethernet)
            .chain(self.listeners.iter().map(|listener| listener.uri().clone()))
            .collect()
    }
}

impl DataPlane {
    /// Receives frames from an interface; with `multicast` the group gets a face.
    pub(crate) fn add_ethernet(&mut self, channel: EthernetChannel, multicast: bool) -> io::Result<()> {
        let number = self.sockets.ethernet.len();
        self.sockets.watch(&channel.ring, Token::Ethernet(number), epoll::EventFlags::IN)?;
        self.sockets.ethernet.push(channel);
        self.watch_interfaces();
        if multicast {
            self.add_ethernet_face(number, GROUP, FacePersistency::Permanent, None);
        }
        Ok(())
    }

    /// Joins a group, for which there is one face.
    pub(crate) fn add_group(&mut self, channel: DatagramChannel, link_type: LinkType) -> io::Result<()> {
        let (number, group) = (self.sockets.channels.next_number(), channel.local);
        self.sockets.add_channel(channel)?;
        self.watch_interfaces();
        if let Some(face) = self.add_group_face(number, group, link_type)
            && let Some(channel) = self.sockets.channels.get_mut(number)
        {
            channel.set_group(face);
        }
        Ok(())
    }

    pub(in crate::plane) fn accept(&mut self, number: usize, flags: epoll::EventFlags) -> bool {
        let mut has_worked = false;
        let source = ChargedTo::Listener(number);
        let mut began = self.clock.now();
        for _ in 0..ACCEPTED_PER_TURN {
            if !self.schedule.turn.has_left(source) {
                return true;
            }
            let Some(listener) = self.sockets.listeners.get(number) else { return has_worked };
            if flags.contains(epoll::EventFlags::ERR) {
                // Reading it clears it.
                let error = rustix::net::sockopt::socket_error(listener);
                tracing::debug!(listener = %listener.uri(), ?error, "a listening socket has an error");
            }
            match listener.accept() {
                Ok((socket, remote)) => {
                    has_worked = true;
                    let local = match &socket {
                        StreamSocket::Tcp(socket) => match (socket.local_addr(), listener.is_websocket()) {
                            (Ok(local), true) => FaceUri::WebSocket(local),
                            (Ok(local), false) => FaceUri::Tcp(local),
                            (Err(_), _) => listener.uri.clone(),
                        },
                        StreamSocket::Unix(_) => listener.uri.clone(),
                    };
                    let peer =
                        if listener.is_websocket() { Peer::Browser(socket) } else { Peer::Came(socket) };
                    let (scope, dialect) = (scope_of(&local, &remote), listener.dialect);
                    if self.may_add_on_demand(Origin::of(&local, &remote), Kind::Stream) {
                        let persistency = FacePersistency::OnDemand;
                        let new = NewStreamFace { remote, local, dialect, scope, persistency, peer };
                        if let Err(error) = self.add_stream_face(new) {
                            tracing::debug!(%error, "a connection was given up");
                        }
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return has_worked,
                Err(error) if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) => {
                    self.shed_connection(number);
                    return true;
                }
                // The peer has gone away again, or the like: the next may be better.
                Err(_) => {}
            }
            let now = self.clock.now();
            self.schedule.turn.note(source, now.saturating_since(std::mem::replace(&mut began, now)));
        }
        has_worked
    }
}

#[cfg(test)]
mod tests {
    use packet::ndn::InterestBuilder;

    use super::*;
    use crate::drop_reason::DropReason;
    use crate::plane::bench::{bench, peer};
    use crate::plane::packets::fair_turn::SHARE;

    #[test]
    fn a_listener_that_has_used_up_its_share_lets_connections_wait_for_the_next_turn() {
        let mut bench = bench();
        let listener = Listener::tcp("127.0.0.1:0".parse().unwrap(), Dialect::Ndn).unwrap();
        let FaceUri::Tcp(there) = listener.uri().clone() else { panic!("no address") };
        bench.plane.sockets.add_listener(listener).unwrap();
        let _connection = std::net::TcpStream::connect(there).unwrap();
        let faces = bench.plane.faces.len();
        bench.plane.schedule.turn.note(ChargedTo::Listener(0), SHARE);
        assert!(bench.plane.accept(0, epoll::EventFlags::IN), "it is no loop without work");
        assert_eq!(bench.plane.faces.len(), faces);
        bench.plane.schedule.turn.begin(1);
        bench.plane.accept(0, epoll::EventFlags::IN);
        assert_eq!(bench.plane.faces.len(), faces + 1);
    }

    #[test]
    fn a_stranger_gets_a_face_in_the_dialect_of_the_socket_or_none() {
        let interest = InterestBuilder::new("/a".parse().unwrap()).nonce(1).build().unwrap();
        let mut bench = bench();
        let any = "127.0.0.1:0".parse().unwrap();
        let (other, _) = DatagramChannel::bind(any, Dialect::Ccnx, 1 << 16, 1 << 16).unwrap();
        let elsewhere = other.local;
        bench.plane.sockets.add_channel(other).unwrap();
        let stranger = peer();
        stranger.send_to(interest.wire(), elsewhere).unwrap();
        bench.work();
        assert_eq!(
            (bench.plane.faces.len(), bench.plane.gone_counters.drops.get(DropReason::UnknownPeer)),
            (0, 1)
        );
        stranger.send_to(interest.wire(), bench.here).unwrap();
        bench.work();
        let dialects: Vec<_> = bench.plane.faces.values().map(|face| face.codec.dialect()).collect();
        assert_eq!(dialects, [Dialect::Ndn]);
    }
}
