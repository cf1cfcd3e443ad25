//! What other threads ask of the data plane: the operations of [`crate::control::NodeControl`].

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use engine::{FaceId, FaceScope, NextHop};
use link::v2::MIN_MTU_BYTES;
use packet::{Buffer, Dialect, LinkType, Name};

use crate::codec::{Codec, LinkSettings};
use crate::control::{
    AddNextHopError, CreateFace, CreateFaceError, FaceChanges, FaceConflict, FacePersistency, FaceSnapshot,
    FaceUri, MacAddress, MemoryStatus, NextHopChange, NodeStatus, TurnCounters, UnsupportedFace,
    UpdateFaceError,
};
use crate::face::{Face, StreamTarget, Transport};
use crate::plane::DataPlane;
use crate::plane::faces::counts::FACES_AT_ONCE;
use crate::plane::faces::{NewStreamFace, Peer};
use crate::transport::datagram::DatagramChannel;

impl DataPlane {
    pub(crate) fn create_face(&mut self, request: &CreateFace) -> Result<FaceSnapshot, CreateFaceError> {
        if request.changes.ndnlp1.is_some() && !Codec::may_speak_ndnlp1(request.dialect, &request.remote) {
            return Err(UnsupportedFace::Ndnlp1.into());
        }
        if request.persistency == FacePersistency::OnDemand {
            return Err(UnsupportedFace::OnDemand.into());
        }
        if request.local.is_some() && !matches!(request.remote, FaceUri::Ethernet(_)) {
            return Err(UnsupportedFace::LocalEnd(request.remote.scheme()).into());
        }
        if let Some(existing) = self.face_to(request) {
            return Err(CreateFaceError::Exists(Box::new(existing)));
        }
        if self.outer_faces() >= self.settings.faces.max {
            return Err(CreateFaceError::TooManyFaces { limit: self.settings.faces.max });
        }
        let id = match &request.remote {
            FaceUri::Udp(peer) | FaceUri::Ip(peer) if peer.ip().is_multicast() => {
                Err(UnsupportedFace::Multicast.into())
            }
            FaceUri::Udp(peer) => self.create_datagram_face(*peer, request),
            FaceUri::Ip(peer) => self.create_ip_face(*peer, request),
            FaceUri::Tcp(peer) => self.create_stream_face(StreamTarget::Tcp(*peer), request),
            FaceUri::Ethernet(peer) => self.create_ethernet_face(*peer, request),
            FaceUri::Unix(path) => self.create_stream_face(StreamTarget::Unix(path.clone()), request),
            other => Err(UnsupportedFace::Scheme(other.scheme()).into()),
        }?;
        self.face_status(id).ok_or(CreateFaceError::FailedAtOnce)
    }

    fn create_datagram_face(
        &mut self,
        peer: SocketAddr,
        request: &CreateFace,
    ) -> Result<FaceId, CreateFaceError> {
        may_be_a_neighbour(peer)?;
        let is_it =
            |channel: &DatagramChannel| channel.dialect == request.dialect && channel.reaches(peer, false);
        let fits_best = |channel: &DatagramChannel| is_it(channel) && channel.local.port() == peer.port();
        let channels = &self.sockets.channels;
        let best = channels.position(fits_best).filter(|_| Codec::expects_own_port(request.dialect));
        let channel = best
            .or_else(|| channels.position(is_it))
            .ok_or(UnsupportedFace::NoUdpSocket { dialect: request.dialect, peer })?;
        let id = self.add_requested_datagram_face(channel, peer, request, request.changes.ndnlp1)?;
        self.consider_own_socket(id);
        Ok(id)
    }

    fn create_ip_face(&mut self, peer: SocketAddr, request: &CreateFace) -> Result<FaceId, CreateFaceError> {
        may_be_a_neighbour(peer)?;
        let is_it =
            |channel: &DatagramChannel| channel.dialect == request.dialect && channel.reaches(peer, true);
        let none = UnsupportedFace::NoIpSocket { dialect: request.dialect, peer: peer.ip() };
        let channel = self.sockets.channels.position(is_it).ok_or(none)?;
        let acknowledged = request.changes.ndnlp1.unwrap_or(self.settings.ccnx.ndnlp_acknowledged);
        self.add_requested_datagram_face(channel, peer, request, Some(acknowledged))
    }

    /// A face at a socket, with the link as the request wants it.
    fn add_requested_datagram_face(
        &mut self,
        channel: usize,
        peer: SocketAddr,
        request: &CreateFace,
        ndnlp1: Option<bool>,
    ) -> Result<FaceId, CreateFaceError> {
        let settings = LinkSettings::of_udp(request.dialect, &self.settings, ndnlp1);
        let settings =
            changed(settings, &request.changes, FaceScope::NonLocal).map_err(UnsupportedFace::Settings)?;
        self.add_datagram_face(channel, peer, request.persistency, settings)
            .ok_or(UnsupportedFace::SettingsTogether.into())
    }

    fn create_ethernet_face(
        &mut self,
        peer: MacAddress,
        request: &CreateFace,
    ) -> Result<FaceId, CreateFaceError> {
        let Some(FaceUri::Device(name)) = &request.local else {
            return Err(UnsupportedFace::NoInterface.into());
        };
        if peer.is_multicast() {
            return Err(UnsupportedFace::Multicast.into());
        }
        let channel = self
            .sockets
            .ethernet
            .iter()
            .position(|channel| channel.place.name == *name && channel.dialect == request.dialect)
            .ok_or_else(|| UnsupportedFace::Interface(name.clone()))?;
        let mtu_bytes = self.sockets.ethernet.get(channel).map_or(1500, |channel| channel.mtu_bytes);
        let mut settings = LinkSettings::of_ethernet(request.dialect, &self.settings, mtu_bytes, peer);
        if let Some(acknowledged) = request.changes.ndnlp1.filter(|_| settings.ndnlp) {
            settings.reliability = acknowledged;
        }
        let settings =
            changed(settings, &request.changes, FaceScope::NonLocal).map_err(UnsupportedFace::Settings)?;
        self.add_ethernet_face(channel, peer, request.persistency, Some(settings))
            .ok_or(UnsupportedFace::SettingsTogether.into())
    }

    fn create_stream_face(
        &mut self,
        target: StreamTarget,
        request: &CreateFace,
    ) -> Result<FaceId, CreateFaceError> {
        let (local, scope) = match &target {
            StreamTarget::Tcp(peer) => {
                let any: IpAddr = if peer.is_ipv4() {
                    Ipv4Addr::UNSPECIFIED.into()
                } else {
                    std::net::Ipv6Addr::UNSPECIFIED.into()
                };
                let scope = if peer.ip().is_loopback() { FaceScope::Local } else { FaceScope::NonLocal };
                (FaceUri::Tcp((any, 0).into()), scope)
            }
            StreamTarget::Unix(_) => (FaceUri::FileDescriptor(0), FaceScope::Local),
        };
        let id = self
            .add_stream_face(NewStreamFace {
                remote: request.remote.clone(),
                local,
                dialect: request.dialect,
                scope,
                persistency: request.persistency,
                peer: Peer::At(target),
            })
            .map_err(CreateFaceError::Socket)?;
        match self.update_face(id, request.changes) {
            Ok(_) => Ok(id),
            Err(error) => {
                self.destroy_face(id, "its settings were refused");
                Err(match error {
                    UpdateFaceError::Conflict { conflicts, .. } => {
                        UnsupportedFace::Settings(conflicts).into()
                    }
                    UpdateFaceError::NoFace(_) => CreateFaceError::FailedAtOnce,
                    UpdateFaceError::ShuttingDown => CreateFaceError::ShuttingDown,
                })
            }
        }
    }

    /// The face that is there already: one to the same end, over Ethernet by the same interface.
    fn face_to(&self, request: &CreateFace) -> Option<FaceSnapshot> {
        let is_it = |face: &Face| {
            face.remote == request.remote
                && face.codec.dialect() == request.dialect
                && request.local.as_ref().is_none_or(|wanted| *wanted == face.local)
        };
        let face = self.faces.values().find(|face| is_it(face))?;
        self.face_status(face.id)
    }

    pub(crate) fn update_face(
        &mut self,
        id: FaceId,
        changes: FaceChanges,
    ) -> Result<FaceSnapshot, UpdateFaceError> {
        if self.faces.get(&id).is_some_and(|face| face.transport.is_inner()) {
            let face = self.face_status(id).ok_or(UpdateFaceError::NoFace(id))?;
            return face.refusing(&changes);
        }
        let Some(face) = self.faces.get_mut(&id) else { return Err(UpdateFaceError::NoFace(id)) };
        let mut conflicts = Vec::new();
        let persistency = changes.persistency.unwrap_or(face.persistency);
        let can_be = match &face.transport {
            // Whom we accepted we cannot call.
            Transport::Stream(port) => port.target.is_some() != (persistency == FacePersistency::OnDemand),
            _ => face.link_type == LinkType::PointToPoint || persistency == FacePersistency::Permanent,
        };
        if !can_be {
            conflicts.push(FaceConflict::Persistency);
        }
        let settings = match changed(*face.codec.settings(), &changes, face.scope) {
            Ok(settings) => Some(settings),
            Err(others) => {
                conflicts.extend(others);
                None
            }
        };
        if let Some(settings) = settings.filter(|_| conflicts.is_empty())
            && settings != *face.codec.settings()
            && !face.codec.set_settings(settings)
        {
            conflicts.push(FaceConflict::Reliability);
        }
        if !conflicts.is_empty() {
            return Err(UpdateFaceError::Conflict { face: id, conflicts });
        }
        self.occupancy.population.on_demand -= usize::from(face.persistency == FacePersistency::OnDemand);
        self.occupancy.population.on_demand += usize::from(persistency == FacePersistency::OnDemand);
        face.persistency = persistency;
        self.note_on_demand(id);
        self.renew_alarm(id);
        self.face_status(id).ok_or(UpdateFaceError::NoFace(id))
    }

    pub(crate) fn add_next_hop(
        &mut self,
        dialect: Dialect,
        prefix: &Name,
        hop: NextHop,
        announcement: Option<Buffer>,
    ) -> Result<(), AddNextHopError> {
        match self.faces.get(&hop.face) {
            None => return Err(AddNextHopError::NoFace(hop.face)),
            Some(face) if face.codec.dialect() != dialect => {
                return Err(AddNextHopError::OtherDialect(hop.face));
            }
            Some(_) => {}
        }
        Ok(self.engine.add_learned_route(self.now, dialect, prefix.as_ref(), hop, announcement)?)
    }

    pub(crate) fn change_next_hops(
        &mut self,
        dialect: Dialect,
        changes: Vec<NextHopChange>,
    ) -> Vec<(NextHopChange, AddNextHopError)> {
        let mut failed = Vec::new();
        for change in changes {
            let outcome = match &change {
                NextHopChange::Add { prefix, hop, announcement } => {
                    self.add_next_hop(dialect, prefix, *hop, announcement.clone())
                }
                NextHopChange::Remove { prefix, face } => {
                    self.engine.remove_route(dialect, prefix.as_ref(), *face);
                    Ok(())
                }
                NextHopChange::SetRules { prefix, rules } => {
                    self.engine.set_namespace_rules(prefix.as_ref(), rules.clone());
                    Ok(())
                }
            };
            failed.extend(outcome.err().map(|error| (change, error)));
        }
        failed
    }

    /// Part of the list of faces, from number `from` on.
    pub(crate) fn face_page(&self, from: FaceId) -> Vec<FaceSnapshot> {
        let mut ids: Vec<FaceId> = self.faces.keys().copied().filter(|id| *id >= from).collect();
        if ids.len() > FACES_AT_ONCE {
            ids.select_nth_unstable(FACES_AT_ONCE);
            ids.truncate(FACES_AT_ONCE);
        }
        ids.sort_unstable();
        ids.into_iter().filter_map(|id| self.face_status(id)).collect()
    }

    /// The status, with no more in the sums over all faces than those have counted that are gone.
    pub(crate) fn status_of_gone_faces(&self) -> NodeStatus {
        let started = system::Clock::START;
        NodeStatus {
            version: concat!("cairn ", env!("CARGO_PKG_VERSION")).to_owned(),
            started_unix: self.clock.started(),
            started,
            uptime: self.now.saturating_since(started),
            tables: self.engine.table_sizes(),
            engine: *self.engine.counters(),
            content_store: *self.engine.content_store_counters(),
            packets: self.gone_counters.packets,
            sharing: self.engine.sharing_counters(),
            parity: self.gone_counters.parity,
            memory: MemoryStatus {
                queued_bytes: self.occupancy.held.queued_bytes,
                reassembly_bytes: self.occupancy.held.partials.total_bytes(),
                budget_bytes: self.settings.memory.budget_bytes,
            },
            turns: TurnCounters {
                idle_wakeups: self.schedule.watchdog.idle_wakeups(),
                socket_rests: self.schedule.watchdog.rests(),
                stream_holds: self.occupancy.held.holds,
            },
            transport_drops: self.gone_counters.drops,
            link_drops: self.gone_counters.link_drops.clone(),
            second_store: self.engine.second_store_counters().copied(),
            sampling: self.engine.sampling_counters().copied(),
            repositories: Vec::new(),
        }
    }
}

/// Refuses addresses behind which there is nobody, or everybody.
fn may_be_a_neighbour(peer: SocketAddr) -> Result<(), CreateFaceError> {
    if peer.ip().is_unspecified() {
        return Err(UnsupportedFace::NoNeighbour(peer.ip()).into());
    }
    if is_broadcast(peer) {
        return Err(UnsupportedFace::Broadcast(peer.ip()).into());
    }
    Ok(())
}

/// Whether an address is that of all on a network. Only the system knows: it connects no socket to such a one
/// that did not ask for it. Where no descriptor is left for such a socket, the address is taken for one of a
/// neighbour: its face cannot open a socket either.
fn is_broadcast(peer: SocketAddr) -> bool {
    let IpAddr::V4(address) = peer.ip() else { return false };
    let connected = || UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).and_then(|socket| socket.connect(peer));
    address.is_broadcast() || connected().is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

/// The settings of a face with changes, or those of the changes that it cannot have.
fn changed(
    old: LinkSettings,
    changes: &FaceChanges,
    scope: FaceScope,
) -> Result<LinkSettings, Vec<FaceConflict>> {
    let mut conflicts = Vec::new();
    let mut new = old;
    if let Some(local_fields) = changes.local_fields {
        if local_fields && scope == FaceScope::NonLocal {
            conflicts.push(FaceConflict::LocalFields);
        }
        new.local_fields = local_fields;
    }
    if let Some(reliability) = changes.reliability {
        if reliability && old.multi_access {
            conflicts.push(FaceConflict::Reliability);
        }
        new.reliability = reliability;
    }
    new.ndnlp1_timings = changes.ndnlp1_timings.unwrap_or(old.ndnlp1_timings);
    new.congestion_marking = changes.congestion_marking.unwrap_or(old.congestion_marking);
    new.congestion.interval = changes.congestion_interval.unwrap_or(old.congestion.interval);
    new.congestion.threshold_bytes =
        changes.congestion_threshold_bytes.unwrap_or(old.congestion.threshold_bytes);
    if let Some(mtu) = changes.mtu_bytes {
        if mtu < MIN_MTU_BYTES as u64 || old.transport_mtu_bytes.is_none() {
            conflicts.push(FaceConflict::Mtu);
        }
        new.mtu_override_bytes = Some(usize::try_from(mtu).unwrap_or(usize::MAX));
    }
    if conflicts.is_empty() { Ok(new) } else { Err(conflicts) }
}
