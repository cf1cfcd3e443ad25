//! Sockets for datagrams: one for all UDP faces of a local address.

use std::collections::{HashMap, VecDeque};
use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr, SocketAddrV6, UdpSocket};
use std::ops::Range;

use engine::FaceId;
use packet::Dialect;
use smallvec::SmallVec;
use socket2::{Domain, InterfaceIndexOrAddress, Protocol, Socket, Type};
use system::trains::{MAX_TRAIN_DATAGRAMS, TrainLimits, refuses_segments};

use super::NamedInterface;
use super::read_size::{LoneTrains, ReadSize};
use super::train::{Outbox, Run};
use crate::drop_reason::{DropCounters, DropReason};
use crate::face_uri::FaceUri;
use crate::sys::datagrams::{self, MAX_TRAIN_SLICES, SEND_TRAINS, Train};
use crate::sys::interfaces::Interface;
use crate::sys::options;

/// The protocol of IP that carries NDNLP v1 without UDP.
pub(crate) const IP_PROTOCOL: u8 = 150;

/// A bound socket of UDP, or of IP alone, and whom it knows.
pub(crate) struct DatagramChannel {
    pub(crate) socket: UdpSocket,
    pub(crate) local: SocketAddr,
    /// The language of whoever comes to it.
    pub(crate) dialect: Dialect,
    /// Whether it is for IP alone; then the ports of all addresses are 0.
    is_ip: bool,
    /// The faces of the peers. The keys come from the network; the map's hasher is keyed.
    peers: HashMap<SocketAddr, FaceId>,
    /// Whom the last datagram came from: trains and bursts come from one.
    last: Option<(SocketAddr, FaceId)>,
    /// On a multicast socket, the one face for everybody.
    group: Option<FaceId>,
    /// Trains that the socket has not taken yet.
    backlog: VecDeque<QueuedTrain>,
    backlog_bytes: usize,
    send_buffer_bytes: usize,
    /// The interface, if it is bound to one.
    pub(crate) place: Option<NamedInterface>,
    pub(crate) receive_buffer_bytes: usize,
    /// The one neighbour that it is connected to.
    own: Option<Own>,
    /// How much is read from it at once.
    pub(crate) read_size: ReadSize,
    pub(crate) lone_trains: LoneTrains,
}

/// A socket that one neighbour has for itself.
#[derive(Clone, Copy, Debug)]
struct Own {
    /// The socket for everybody at the same local address.
    main: usize,
    face: FaceId,
}

struct QueuedTrain {
    to: SocketAddr,
    bytes: Vec<u8>,
    segment: usize,
}

/// What the system gave of the buffers asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GrantedBuffers {
    pub(crate) receive_bytes: usize,
    pub(crate) requested_receive_bytes: usize,
}

// A frame is in two slices at most.
const _: () = assert!(2 * MAX_TRAIN_DATAGRAMS <= MAX_TRAIN_SLICES);
/// Bytes that may wait for a socket that is not writable.
const MAX_BACKLOG_BYTES: usize = 4 << 20;

impl DatagramChannel {
    /// Binds a socket and asks for large buffers, because bursts overflow small ones.
    pub(crate) fn bind(
        local: SocketAddr,
        dialect: Dialect,
        receive_bytes: usize,
        send_bytes: usize,
    ) -> io::Result<(Self, GrantedBuffers)> {
        let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_nonblocking(true)?;
        if local.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        let granted = enlarge_buffers(&socket, receive_bytes, send_bytes);
        options::allow_ip_fragments(&socket, local.is_ipv6())?;
        socket.bind(&local.into())?;
        // Only now: whoever else is bound to this address must have been an error. It lets us, and nobody of
        // another user, bind the sockets of single neighbours to it.
        let _ = socket.set_reuse_port(true);
        // Without it trains arrive one datagram at a time, and nothing else changes.
        let _ = options::receive_trains(&socket);
        Ok((DatagramChannel::over(socket.into(), local, dialect, receive_bytes)?, granted))
    }

    /// Binds a socket to a local address of IP, as [`ip_socket`].
    pub(crate) fn bind_ip(
        local: IpAddr,
        dialect: Dialect,
        receive_bytes: usize,
        send_bytes: usize,
    ) -> io::Result<Self> {
        let socket = ip_socket(local)?;
        enlarge_buffers(&socket, receive_bytes, send_bytes);
        let local = SocketAddr::new(local, 0);
        let channel = DatagramChannel::over(socket.into(), local, dialect, receive_bytes)?;
        // The system tells the protocol where a port would be.
        Ok(DatagramChannel { local, is_ip: true, ..channel })
    }

    /// Binds a socket to a group on one interface: what is sent to the group there arrives, and what is sent
    /// leaves there.
    pub(crate) fn bind_group(
        group: SocketAddr,
        dialect: Dialect,
        interface: &Interface,
        receive_bytes: usize,
    ) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(group), Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_nonblocking(true)?;
        socket.set_reuse_address(true)?;
        let index = InterfaceIndexOrAddress::Index(interface.index);
        match group.ip() {
            IpAddr::V4(ip) => {
                socket.bind(&group.into())?;
                socket.set_multicast_all_v4(false)?;
                socket.join_multicast_v4_n(&ip, &index)?;
                socket.set_multicast_if_v4(interface.v4.first().ok_or(io::ErrorKind::AddrNotAvailable)?)?;
                socket.set_multicast_ttl_v4(1)?;
                socket.set_multicast_loop_v4(false)?;
            }
            IpAddr::V6(ip) => {
                socket.set_only_v6(true)?;
                let scoped = SocketAddrV6::new(ip, group.port(), 0, interface.index);
                socket.bind(&SocketAddr::V6(scoped).into())?;
                socket.join_multicast_v6(&ip, interface.index)?;
                socket.set_multicast_if_v6(interface.index)?;
                socket.set_multicast_hops_v6(1)?;
                socket.set_multicast_loop_v6(false)?;
            }
        }
        let _ = enlarge_buffers(&socket, receive_bytes, receive_bytes);
        let _ = options::receive_trains(&socket);
        let mut channel = DatagramChannel::over(socket.into(), group, dialect, receive_bytes)?;
        channel.place = Some(NamedInterface::of(interface));
        Ok(channel)
    }

    /// Leaves the group, as far as it is in one. Before another socket joins it: the system keeps one count
    /// for an interface of one number, and a socket of before that is closed later would take the new one's
    /// place from it.
    pub(crate) fn leave_group(&self) {
        let Some(place) = &self.place else { return };
        let socket = socket2::SockRef::from(&self.socket);
        // One whose interface has gone is in no group any more, and says so.
        let _ = match self.local {
            SocketAddr::V4(group) => {
                socket.leave_multicast_v4_n(group.ip(), &InterfaceIndexOrAddress::Index(place.index))
            }
            SocketAddr::V6(group) => socket.leave_multicast_v6(group.ip(), place.index),
        };
    }

    fn over(
        socket: UdpSocket,
        local: SocketAddr,
        dialect: Dialect,
        receive_buffer_bytes: usize,
    ) -> io::Result<Self> {
        let local = socket.local_addr().unwrap_or(local);
        let send_buffer_bytes = socket2::SockRef::from(&socket).send_buffer_size()?;
        Ok(DatagramChannel {
            socket,
            local,
            dialect,
            is_ip: false,
            peers: HashMap::new(),
            last: None,
            group: None,
            backlog: VecDeque::new(),
            backlog_bytes: 0,
            send_buffer_bytes,
            place: None,
            receive_buffer_bytes,
            own: None,
            read_size: ReadSize::default(),
            lone_trains: LoneTrains::default(),
        })
    }

    /// What the system keeps of what has arrived.
    pub(crate) fn receive_buffer_bytes(&self) -> u64 {
        socket2::SockRef::from(&self.socket).recv_buffer_size().map_or(0, |bytes| bytes as u64)
    }

    /// A socket for one neighbour at the same local address.
    pub(crate) fn connected_to(
        &self,
        peer: SocketAddr,
        main: usize,
        face: FaceId,
        receive_bytes: usize,
    ) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(peer), Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_nonblocking(true)?;
        if peer.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        enlarge_buffers(&socket, receive_bytes, self.send_buffer_bytes / 2);
        options::allow_ip_fragments(&socket, peer.is_ipv6())?;
        socket.set_reuse_port(true)?;
        socket.bind(&self.local.into())?;
        socket.connect(&peer.into())?;
        let _ = options::receive_trains(&socket);
        let mut channel = DatagramChannel::over(socket.into(), self.local, self.dialect, receive_bytes)?;
        channel.own = Some(Own { main, face });
        channel.add_peer(peer, face);
        Ok(channel)
    }

    /// The socket for everybody at this address, if this one is for one neighbour.
    #[inline]
    pub(crate) fn main(&self) -> Option<usize> {
        self.own.map(|own| own.main)
    }

    /// The face of the neighbour that it is for.
    pub(crate) fn owner(&self) -> Option<FaceId> {
        self.own.map(|own| own.face)
    }

    pub(crate) fn uri(&self) -> FaceUri {
        self.uri_of(self.local)
    }

    /// How an address at either end is written.
    pub(crate) fn uri_of(&self, address: SocketAddr) -> FaceUri {
        if self.is_ip { FaceUri::Ip(address) } else { FaceUri::Udp(address) }
    }

    /// Whether the socket is for IP alone.
    pub(crate) fn is_ip(&self) -> bool {
        self.is_ip
    }

    /// Whether faces to this address can be made from here, over UDP or over IP alone.
    pub(crate) fn reaches(&self, remote: SocketAddr, over_ip: bool) -> bool {
        let local_only = |ip: IpAddr| ip.is_loopback();
        self.own.is_none()
            && self.is_ip == over_ip
            && !self.is_multicast()
            && self.local.is_ipv4() == remote.is_ipv4()
            && (!local_only(self.local.ip()) || local_only(remote.ip()))
    }

    /// The face of a peer.
    #[inline]
    pub(crate) fn face(&mut self, peer: SocketAddr) -> Option<FaceId> {
        match (self.last, self.group) {
            (Some((last, face)), _) if last == peer => Some(face),
            (_, Some(face)) => Some(face),
            _ => {
                let face = *self.peers.get(&peer)?;
                self.last = Some((peer, face));
                Some(face)
            }
        }
    }

    pub(crate) fn add_peer(&mut self, peer: SocketAddr, face: FaceId) {
        self.peers.insert(peer, face);
    }

    /// Has whatever arrives belong to one face.
    pub(crate) fn set_group(&mut self, face: FaceId) {
        self.group = Some(face);
    }

    /// The group that the socket is for, without a scope.
    pub(crate) fn group_address(&self) -> Option<SocketAddr> {
        self.is_multicast().then(|| SocketAddr::new(self.local.ip(), self.local.port()))
    }

    /// Goes on with another socket, to which nothing that waited is sent.
    pub(crate) fn replace_socket(&mut self, anew: DatagramChannel) {
        (self.socket, self.local) = (anew.socket, anew.local);
        self.backlog.clear();
        self.backlog_bytes = 0;
    }

    /// Whether the socket is for a group.
    pub(crate) fn is_multicast(&self) -> bool {
        self.local.ip().is_multicast()
    }

    pub(crate) fn remove_peer(&mut self, peer: SocketAddr) {
        self.peers.remove(&peer);
        self.last = None;
    }

    /// Bytes before the next frame to be sent. What the socket holds only counts when it is full.
    pub(crate) fn queued_bytes(&self) -> u64 {
        if self.backlog.is_empty() { 0 } else { (self.send_buffer_bytes + self.backlog_bytes) as u64 }
    }

    /// Sends what a face has collected. Frames larger than `largest_in_train` go one by one; it is lowered
    /// when the path turns out not to take trains of such frames.
    pub(crate) fn send(
        &mut self,
        to: SocketAddr,
        outbox: &Outbox,
        largest_in_train: &mut usize,
        drops: &mut DropCounters,
    ) {
        let (mut first, mut was_refused) = (0, false);
        let mut slices = Vec::with_capacity((2 * outbox.frames()).min(4 * MAX_TRAIN_DATAGRAMS));
        loop {
            let limits = TrainLimits { largest_datagram: *largest_in_train, ..TrainLimits::KERNEL };
            slices.clear();
            let (mut runs, mut at) = (SmallVec::<[(Run, Range<usize>); SEND_TRAINS]>::new(), first);
            while let Some(run) = outbox.run(at, limits).filter(|_| runs.len() < SEND_TRAINS) {
                let start = slices.len();
                outbox.gather(run.frames.clone(), &mut slices);
                at = run.frames.end;
                runs.push((run, start..slices.len()));
            }
            let trains = runs.iter().map(|(run, range)| Train {
                to,
                slices: slices.get(range.clone()).unwrap_or_default(),
                len_bytes: run.len_bytes,
                segment: run.segment,
            });
            let trains: SmallVec<[Train<'_>; SEND_TRAINS]> = trains.collect();
            let Some(train) = trains.first() else { return };
            if !self.backlog.is_empty() {
                self.keep(&trains, drops);
                first = at;
                continue;
            }
            let end_of = |sent: usize| runs.get(sent.max(1) - 1).map_or(at, |(run, _)| run.frames.end);
            match datagrams::send_with(&self.socket, &trains, self.own.is_some()) {
                Ok(sent) => first = end_of(sent),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // That is about something sent long ago, and is told once: the neighbour may be back.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused && !was_refused => {
                    was_refused = true;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.keep(&trains, drops);
                    first = at;
                }
                // The path does not take trains of frames this large: from now on they go alone.
                Err(error) if train.datagrams() > 1 && refuses_segments(&error) => {
                    *largest_in_train = train.segment - 1;
                }
                Err(error) => {
                    drops.add(reason(&error), train.datagrams() as u64);
                    first = end_of(1);
                }
            }
        }
    }

    fn keep(&mut self, trains: &[Train<'_>], drops: &mut DropCounters) {
        for train in trains {
            if self.backlog_bytes + train.len_bytes > MAX_BACKLOG_BYTES {
                drops.add(DropReason::SendQueueFull, train.datagrams() as u64);
                continue;
            }
            self.backlog_bytes += train.len_bytes;
            let mut bytes = Vec::with_capacity(train.len_bytes);
            for slice in train.slices {
                bytes.extend_from_slice(slice);
            }
            self.backlog.push_back(QueuedTrain { to: train.to, bytes, segment: train.segment });
        }
    }

    /// Whether trains wait for the socket to become writable.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.backlog.is_empty()
    }

    /// The socket takes more.
    pub(crate) fn handle_writable(&mut self, drops: &mut DropCounters) {
        while let Some(waiting) = self.backlog.front() {
            let train = Train {
                to: waiting.to,
                slices: &[IoSlice::new(&waiting.bytes)],
                len_bytes: waiting.bytes.len(),
                segment: waiting.segment,
            };
            match datagrams::send_with(&self.socket, &[train], self.own.is_some()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    drops.add(reason(&error), train.datagrams() as u64);
                }
                Ok(_) => {}
            }
            self.backlog_bytes -= waiting.bytes.len();
            self.backlog.pop_front();
        }
    }
}

/// A socket at a local address of IP, for packets of NDNLP v1 without UDP. That takes CAP_NET_RAW.
pub(crate) fn ip_socket(local: IpAddr) -> io::Result<Socket> {
    let local = SocketAddr::new(local, 0);
    let protocol = Protocol::from(i32::from(IP_PROTOCOL));
    let socket = Socket::new(Domain::for_address(local), Type::RAW, Some(protocol))?;
    socket.set_nonblocking(true)?;
    options::allow_ip_fragments(&socket, local.is_ipv6())?;
    socket.bind(&local.into())?;
    Ok(socket)
}

/// What is behind the header of a packet of IPv4 with our protocol; `None` of what is none, or not all there.
pub(crate) fn behind_ip_header(packet: &[u8]) -> Option<&[u8]> {
    let [first, _, high, low, _, _, _, _, _, protocol, ..] = packet else { return None };
    let (header, total) = (usize::from(first & 0x0f) * 4, usize::from(u16::from_be_bytes([*high, *low])));
    let is_ours = first >> 4 == 4 && header >= 20 && *protocol == IP_PROTOCOL;
    packet.get(header..total).filter(|_| is_ours)
}

fn enlarge_buffers(socket: &Socket, receive_bytes: usize, send_bytes: usize) -> GrantedBuffers {
    let _ = socket.set_send_buffer_size(send_bytes);
    if options::force_receive_buffer(socket, receive_bytes).is_err() {
        let _ = socket.set_recv_buffer_size(receive_bytes);
    }
    // The kernel tells twice what was asked for: it counts its own bookkeeping.
    let granted = socket.recv_buffer_size().unwrap_or(0) / 2;
    GrantedBuffers { receive_bytes: granted, requested_receive_bytes: receive_bytes }
}

/// Why a datagram counts as dropped that the system did not take.
fn reason(error: &io::Error) -> DropReason {
    match error.raw_os_error() {
        Some(libc::EMSGSIZE) => DropReason::TooLargeForPath,
        Some(libc::ENOBUFS | libc::ENOMEM) => DropReason::SendQueueFull,
        _ => DropReason::SocketError,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_whole_packet_of_ipv4_with_the_protocol_has_nothing_behind_its_header() {
        let mut good = vec![0x46, 0, 0, 27];
        good.extend_from_slice(&[0, 0, 0x40, 0, 64, 150, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2, 1, 1, 1, 1]);
        good.extend_from_slice(b"NdL");
        assert_eq!(behind_ip_header(&good), Some(&b"NdL"[..]));
        // What was filled up on the way is no part of it.
        assert_eq!(behind_ip_header(&[&good[..], b"padding"].concat()), Some(&b"NdL"[..]));
        for (place, wrong) in [(0, 0x66), (0, 0x44), (0, 0x4f), (2, 1), (3, 28), (3, 23), (9, 17)] {
            let mut bad = good.clone();
            bad[place] = wrong;
            assert_eq!(behind_ip_header(&bad), None, "{wrong} at {place}");
        }
        (0..good.len()).for_each(|length| assert_eq!(behind_ip_header(&good[..length]), None, "{length}"));
    }
}
