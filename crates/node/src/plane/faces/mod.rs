//! Faces come and go.

pub(in crate::plane) mod counts;
pub(in crate::plane) mod inner;
pub(in crate::plane) mod limits;
pub(in crate::plane) mod numbers;
pub(in crate::plane) mod on_demand;
pub(in crate::plane) mod partials;

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd as _;

use engine::{FaceId, FaceScope};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Dialect, DoublingWait, LinkType};
use rustix::event::epoll;
use socket2::{Domain, Protocol, Socket, Type};

use crate::codec::{Codec, LinkSettings};
use crate::control::{
    FaceEvent, FaceEventKind, FacePersistency, FaceSnapshot, FaceState, FaceUri, MacAddress,
};
use crate::drop_reason::DropReason;
use crate::face::{
    Activity, BufferedBytes, DatagramPath, DatagramPort, Face, FaceTaps, PING_INTERVAL, Probation,
    StreamPort, StreamTarget, Transport, TransportCounters, WebSocketPort,
};
use crate::origin::Origin;
use crate::origin::scope_of;
use crate::plane::faces::limits::{Kind, note_queue};
use crate::plane::{DataPlane, Settings, Token};
use crate::sys::datagrams::MAX_DATAGRAM_BYTES;
use crate::sys::options;
use crate::transport::datagram::DatagramChannel;
use crate::transport::stream::Stream;
use crate::transport::stream_socket::StreamSocket;
use crate::transport::websocket::WebSocket;

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(8);
/// The first pause before a permanent face connects again; it doubles up to the longest.
const FIRST_BACK_OFF: Duration = Duration::from_secs(1);
const MAX_BACK_OFF: Duration = Duration::from_secs(300);
/// Trains of larger frames are cut by hardware for no gain.
const LARGEST_IN_TRAIN: usize = 32_000;

impl DataPlane {
    /// Works by other settings from now on. The limits of a face hold for those, too, that there are already;
    /// what kind of link it is stays as it was made.
    pub(crate) fn take_over(&mut self, settings: Settings) {
        self.settings = settings;
        for (id, face) in self.faces.iter() {
            let config = self.settings.faces.limited(face.engine_config());
            self.engine.configure_face(self.now, *id, config);
        }
    }

    /// Makes a face for a peer that appeared.
    #[cold]
    pub(in crate::plane) fn add_datagram_face_on_demand(
        &mut self,
        number: usize,
        peer: SocketAddr,
        first: &[u8],
    ) -> Option<FaceId> {
        if !self.may_add_on_demand(Some(Origin::of_address(peer.ip())), Kind::Datagram) {
            return None;
        }
        let dialect = self.sockets.channels.get(number)?.dialect;
        let settings = LinkSettings::of_udp_peer(dialect, &self.settings, first);
        let id = self.add_datagram_face(number, peer, FacePersistency::OnDemand, settings)?;
        // As with ccnd, who is on this host and says so first is an application. The system lets nobody else
        // send from such an address.
        if peer.ip().to_canonical().is_loopback() && Codec::is_heartbeat(dialect, first) {
            self.set_scope(id, FaceScope::Local);
        }
        Some(id)
    }

    /// Has a face lead to this host, or to another one.
    #[cold]
    pub(in crate::plane) fn set_scope(&mut self, id: FaceId, scope: FaceScope) {
        let Some(face) = self.faces.get_mut(&id) else { return };
        face.scope = scope;
        let config = self.settings.faces.limited(face.engine_config());
        self.engine.configure_face(self.now, id, config);
    }

    pub(in crate::plane) fn add_datagram_face(
        &mut self,
        number: usize,
        peer: SocketAddr,
        persistency: FacePersistency,
        settings: LinkSettings,
    ) -> Option<FaceId> {
        let channel = self.sockets.channels.get(number)?;
        let (local, remote, dialect) = (channel.uri(), channel.uri_of(peer), channel.dialect);
        let settings =
            LinkSettings { receive_capacity_bytes: Some(channel.receive_buffer_bytes()), ..settings };
        // Only UDP has trains.
        let largest_in_train = if channel.is_ip() { 0 } else { LARGEST_IN_TRAIN };
        let path = DatagramPath::Udp { channel: number, peer, largest_in_train };
        let port = DatagramPort { outbox: None, path };
        let id = self.add_face(NewFace {
            remote,
            local,
            scope: FaceScope::NonLocal,
            persistency,
            state: FaceState::Up,
            transport: Transport::Datagram(port),
            dialect,
            settings,
            link_type: LinkType::PointToPoint,
        })?;
        if let Some(channel) = self.sockets.channels.get_mut(number) {
            channel.add_peer(peer, id);
        }
        Some(id)
    }

    /// Makes the face of a multicast socket.
    pub(in crate::plane) fn add_group_face(
        &mut self,
        number: usize,
        group: SocketAddr,
        link_type: LinkType,
    ) -> Option<FaceId> {
        let channel = self.sockets.channels.get(number)?;
        let (local, dialect) = (channel.uri(), channel.dialect);
        let path = DatagramPath::Udp { channel: number, peer: group, largest_in_train: LARGEST_IN_TRAIN };
        // As in NFD, packets are not cut: everybody would have to put them together.
        let settings = LinkSettings {
            multi_access: true,
            parity: self.settings.faces.share_multicast,
            fragmentation: false,
            reliability: false,
            transport_mtu_bytes: Some(MAX_DATAGRAM_BYTES),
            ..LinkSettings::plain(&self.settings)
        };
        self.add_face(NewFace {
            remote: FaceUri::Udp(group),
            local,
            scope: FaceScope::NonLocal,
            persistency: FacePersistency::Permanent,
            state: FaceState::Up,
            transport: Transport::Datagram(DatagramPort { outbox: None, path }),
            dialect,
            settings,
            link_type,
        })
    }

    /// Makes a face to a peer, or to the group, on an interface.
    pub(in crate::plane) fn add_ethernet_face(
        &mut self,
        number: usize,
        peer: MacAddress,
        persistency: FacePersistency,
        settings: Option<LinkSettings>,
    ) -> Option<FaceId> {
        let channel = self.sockets.ethernet.get(number)?;
        let (local, dialect, mtu_bytes) = (channel.uri(), channel.dialect, channel.mtu_bytes);
        let state = if channel.place.is_down() { FaceState::Down } else { FaceState::Up };
        let settings =
            settings.unwrap_or_else(|| LinkSettings::of_ethernet(dialect, &self.settings, mtu_bytes, peer));
        let path = DatagramPath::Ethernet { channel: number, peer };
        let many = peer.is_multicast();
        let id = self.add_face(NewFace {
            remote: FaceUri::Ethernet(peer),
            local,
            scope: FaceScope::NonLocal,
            persistency,
            state,
            transport: Transport::Datagram(DatagramPort { outbox: None, path }),
            dialect,
            settings,
            link_type: if many { LinkType::MultiAccess } else { LinkType::PointToPoint },
        })?;
        if let Some(channel) = self.sockets.ethernet.get_mut(number) {
            channel.add_peer(peer, id);
        }
        Some(id)
    }

    /// Makes a face over a connection: one that was accepted, or one that is yet to come about.
    pub(in crate::plane) fn add_stream_face(&mut self, new: NewStreamFace) -> io::Result<FaceId> {
        let NewStreamFace { remote, local, dialect, scope, persistency, peer } = new;
        let now = self.now;
        let (socket, target, websocket) = match peer {
            Peer::Came(socket) => (Some(socket), None, None),
            Peer::Browser(socket) => {
                let protocol = WebSocket::default();
                let port = WebSocketPort { protocol, last_heard: now, ping_at: now + PING_INTERVAL };
                (Some(socket), None, Some(Box::new(port)))
            }
            Peer::At(target) => (None, Some(target), None),
        };
        let state = if socket.is_some() { FaceState::Up } else { FaceState::Down };
        // Who comes by WebSocket is at first nobody in particular.
        let scope = if websocket.is_some() { FaceScope::NonLocal } else { scope };
        let port = StreamPort {
            stream: socket.map(|socket| {
                let mut stream = Stream::new(socket);
                stream.queue().as_messages = websocket.is_some();
                stream
            }),
            target,
            back_off: DoublingWait::new(FIRST_BACK_OFF, MAX_BACK_OFF),
            attempt_at: Instant::NEVER,
            // The request must come, and must end, in time.
            incomplete_since: websocket.is_some().then_some(now),
            ends_when_sent: false,
            noted_queue: 0,
            websocket,
        };
        let settings = LinkSettings::of_stream(dialect, &self.settings, &local, scope);
        let transport = Transport::Stream(port);
        let link_type = LinkType::PointToPoint;
        let id = self.add_face(NewFace {
            remote,
            local,
            scope,
            persistency,
            state,
            transport,
            dialect,
            settings,
            link_type,
        });
        let gone = || io::Error::other("there can be no more faces");
        let id = id.ok_or_else(gone)?;
        let Some(Transport::Stream(port)) = self.faces.get(&id).map(|face| &face.transport) else {
            return Err(gone());
        };
        let begun = match &port.stream {
            Some(stream) => {
                let watched = self.sockets.watch(&stream.socket, Token::Face(id), epoll::EventFlags::IN);
                watched.inspect_err(|error| self.destroy_face(id, &error.to_string()))
            }
            None => self.connect(id),
        };
        self.renew_alarm(id);
        // A permanent face that could not connect is there, and tries again.
        if self.faces.contains_key(&id) { Ok(id) } else { Err(begun.err().unwrap_or_else(gone)) }
    }

    pub(in crate::plane) fn add_face(&mut self, new: NewFace) -> Option<FaceId> {
        let random = Random::from_seed(self.random.next_u64());
        let is_inner = new.transport.is_inner();
        let codec = if is_inner {
            Codec::bare(new.dialect, new.settings)
        } else {
            Codec::new(new.dialect, new.settings, random)?
        };
        let id = self.occupancy.population.numbers.take(is_inner)?;
        let mut face = Face {
            id,
            remote: new.remote,
            local: new.local,
            scope: new.scope,
            link_type: new.link_type,
            persistency: new.persistency,
            codec,
            transport: new.transport,
            state: new.state,
            activity: Activity { last_used: self.now, alarm: Instant::NEVER, touched: false },
            counters: TransportCounters::default(),
            held: BufferedBytes::default(),
            probation: Probation { origin: None, ends: Probation::FRAMES },
            tapping: FaceTaps { taps: Vec::new(), impaired: None },
        };
        for (number, maker) in self.tapping.makers.iter().filter(|_| face.codec.has_frames()) {
            face.tapping.taps.extend(maker(&face).map(|tap| (*number, tap)));
        }
        let config = self.settings.faces.limited(face.engine_config());
        self.engine.add_face(self.now, id, config).ok()?;
        self.occupancy.population.on_demand += usize::from(face.persistency == FacePersistency::OnDemand);
        self.occupancy.population.inner += usize::from(is_inner);
        tracing::debug!(face = id.0, remote = %face.remote, local = %face.local, persistency = face.persistency.as_str(), "face created");
        self.faces.insert(id, Box::new(face));
        self.note_on_demand(id);
        self.renew_alarm(id);
        if self.faces.get(&id).is_some_and(|face| face.is_presentable()) {
            self.announce(id, FaceEventKind::Created);
        }
        Some(id)
    }

    /// What management is told about a face.
    pub(crate) fn face_status(&self, id: FaceId) -> Option<FaceSnapshot> {
        let face = self.faces.get(&id)?;
        let counted = self.engine.face_counters(id).copied().unwrap_or_default();
        let queued = match &face.transport {
            Transport::Datagram(port) => match port.path {
                DatagramPath::Udp { channel, .. } => {
                    self.sockets.channels.get(channel).map_or(0, DatagramChannel::queued_bytes)
                }
                DatagramPath::Ethernet { .. } => 0,
            },
            Transport::Stream(port) => port.stream.as_ref().map_or(0, Stream::all_queued_bytes),
            Transport::Inner(port) => port.queued_bytes(),
        };
        Some(face.status(self.now, counted, self.settings.timeouts.idle, queued))
    }

    pub(in crate::plane) fn announce(&mut self, id: FaceId, kind: FaceEventKind) {
        if let Some(face) = self.face_status(id) {
            self.tell_of_face(FaceEvent { kind, face, why: None });
        }
    }

    /// Removes a face with all that belongs to it.
    pub(crate) fn destroy_face(&mut self, id: FaceId, why: &str) {
        let Some(mut face) = self.faces.remove(&id) else { return };
        let is_presentable = face.is_presentable();
        let counted = self.engine.face_counters(id).copied().unwrap_or_default();
        let status = face.status(self.now, counted, self.settings.timeouts.idle, 0);
        self.engine.remove_face(id);
        self.schedule.alarms.remove(&(face.activity.alarm, id));
        self.occupancy.population.on_demand -= usize::from(face.persistency == FacePersistency::OnDemand);
        self.occupancy.population.inner -= usize::from(face.transport.is_inner());
        if let Some(origin) = face.probation.origin {
            self.occupancy.population.on_demand_of(Kind::of(&face)).remove(origin, id);
        }
        self.gone_counters.absorb(&face.counters.traffic, &face.counters.drops, counted.packets);
        self.gone_counters.parity += &face.codec.parity_counters();
        self.forget_holdings(&mut face);
        match &mut face.transport {
            Transport::Datagram(port) => match port.path {
                DatagramPath::Udp { channel, peer, .. } => {
                    let main = self.sockets.channels.get(channel).and_then(DatagramChannel::main);
                    if main.is_some() {
                        self.sockets.channels.remove(channel);
                    }
                    if let Some(channel) = self.sockets.channels.get_mut(main.unwrap_or(channel)) {
                        channel.remove_peer(peer);
                    }
                }
                DatagramPath::Ethernet { channel, peer } => {
                    if let Some(channel) = self.sockets.ethernet.get_mut(channel) {
                        channel.remove_peer(peer);
                    }
                }
            },
            // Closing the socket takes it out of the epoll set.
            Transport::Stream(port) if port.ends_when_sent => self.control.status_requests.forget(id),
            Transport::Stream(_) => {}
            // The application's end may still hold the descriptor.
            Transport::Inner(port) => drop(epoll::delete(&self.sockets.epoll, port)),
        }
        tracing::debug!(face = id.0, remote = %face.remote, why, "face destroyed");
        if is_presentable {
            let why = Some(why.to_owned());
            self.tell_of_face(FaceEvent { kind: FaceEventKind::Destroyed, face: status, why });
        }
    }

    /// Begins an attempt to connect. An error has been dealt with as the end of the connection.
    pub(in crate::plane) fn connect(&mut self, id: FaceId) -> io::Result<()> {
        let now = self.now;
        let Some(face) = self.faces.get_mut(&id) else { return Ok(()) };
        let Transport::Stream(port) = &mut face.transport else { return Ok(()) };
        let Some(target) = port.target.clone() else { return Ok(()) };
        port.attempt_at = now + CONNECT_TIMEOUT;
        let begun = begin_connecting(&target).and_then(|socket| {
            let local = local_uri(&socket);
            let stream = port.stream.insert(Stream::new(socket));
            let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT;
            epoll::add(&self.sockets.epoll, &stream.socket, Token::Face(id).to_data(), flags)?;
            local
        });
        match begun {
            Ok(local) => {
                face.scope = scope_of(&local, &face.remote);
                face.local = local;
                let config = self.settings.faces.limited(face.engine_config());
                self.engine.configure_face(now, id, config);
                Ok(())
            }
            Err(error) => {
                self.handle_stream_end(id, &error.to_string());
                Err(error)
            }
        }
    }

    /// An attempt to connect has ended, one way or the other.
    pub(in crate::plane) fn handle_connected(&mut self, id: FaceId) {
        let Some(face) = self.faces.get_mut(&id) else { return };
        let Transport::Stream(port) = &mut face.transport else { return };
        let Some(stream) = &mut port.stream else { return };
        match stream.socket.take_error() {
            Ok(None) => {
                face.state = FaceState::Up;
                port.attempt_at = Instant::NEVER;
                port.back_off.begin_anew();
                stream.waits_for_room = false;
                let token = Token::Face(id).to_data();
                let _ = epoll::modify(&self.sockets.epoll, &stream.socket, token, epoll::EventFlags::IN);
                tracing::info!(face = id.0, remote = %face.remote, "connected");
                self.announce(id, FaceEventKind::Up);
            }
            Ok(Some(error)) | Err(error) => self.handle_stream_end(id, &error.to_string()),
        }
    }

    /// A connection has ended: a permanent face tries again later, others go with it.
    pub(in crate::plane) fn handle_stream_end(&mut self, id: FaceId, why: &str) {
        let now = self.now;
        let Some(face) = self.faces.get_mut(&id) else { return };
        let Transport::Stream(port) = &mut face.transport else { return };
        if face.persistency != FacePersistency::Permanent || port.target.is_none() {
            return self.destroy_face(id, why);
        }
        let was_up = face.state == FaceState::Up;
        face.codec.begin_stream();
        if let Some(mut stream) = port.stream.take() {
            face.counters.drops.add(DropReason::FaceDown, stream.queue().clear() as u64);
            note_queue(&mut self.occupancy.held.queued_bytes, port);
        }
        face.state = FaceState::Down;
        port.incomplete_since = None;
        port.attempt_at = now + port.back_off.take();
        tracing::info!(face = id.0, remote = %face.remote, why, "not connected; will try again");
        if was_up {
            self.announce(id, FaceEventKind::Down);
        }
        self.renew_alarm(id);
    }
}

pub(in crate::plane) struct NewFace {
    pub(in crate::plane) remote: FaceUri,
    pub(in crate::plane) local: FaceUri,
    pub(in crate::plane) scope: FaceScope,
    pub(in crate::plane) persistency: FacePersistency,
    pub(in crate::plane) state: FaceState,
    pub(in crate::plane) transport: Transport,
    pub(in crate::plane) dialect: Dialect,
    pub(in crate::plane) settings: LinkSettings,
    pub(in crate::plane) link_type: LinkType,
}

/// A face over a connection that is to be made.
pub(in crate::plane) struct NewStreamFace {
    pub(in crate::plane) remote: FaceUri,
    pub(in crate::plane) local: FaceUri,
    pub(in crate::plane) dialect: Dialect,
    pub(in crate::plane) scope: FaceScope,
    pub(in crate::plane) persistency: FacePersistency,
    pub(in crate::plane) peer: Peer,
}

/// The far end of a connection.
pub(in crate::plane) enum Peer {
    /// It came to us.
    Came(StreamSocket),
    /// It came to us and speaks WebSocket.
    Browser(StreamSocket),
    /// We go there.
    At(StreamTarget),
}

fn begin_connecting(target: &StreamTarget) -> io::Result<StreamSocket> {
    match target {
        StreamTarget::Tcp(address) => {
            let socket = Socket::new(Domain::for_address(*address), Type::STREAM, Some(Protocol::TCP))?;
            socket.set_nonblocking(true)?;
            socket.set_tcp_nodelay(true)?;
            options::notice_dead_peers(&socket)?;
            match socket.connect(&(*address).into()) {
                Ok(()) => {}
                Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
                Err(error) => return Err(error),
            }
            Ok(StreamSocket::Tcp(socket.into()))
        }
        StreamTarget::Unix(path) => {
            let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
            socket.set_nonblocking(true)?;
            socket.connect(&socket2::SockAddr::unix(path)?)?;
            Ok(StreamSocket::Unix(socket.into()))
        }
    }
}

fn local_uri(socket: &StreamSocket) -> io::Result<FaceUri> {
    match socket {
        StreamSocket::Tcp(socket) => Ok(FaceUri::Tcp(socket.local_addr()?)),
        StreamSocket::Unix(socket) => Ok(FaceUri::FileDescriptor(socket.as_raw_fd().unsigned_abs().into())),
    }
}
