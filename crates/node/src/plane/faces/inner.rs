//! Faces inside the process: packets come from their rings and go there as they are.

use engine::{FaceId, FaceScope, Transmit};
use packet::{Data, LinkHeader, LinkType, Packet};

use crate::codec::LinkSettings;
use crate::control::{CreateFaceError, FacePersistency, FaceState, FaceUri, Purpose};
use crate::drop_reason::{DropCounters, DropReason};
use crate::face::{Traffic, Transport};
use crate::plane::faces::NewFace;
use crate::plane::{DataPlane, Token};
use crate::transport::inner::{InnerPacket, InnerPort};

/// Packets taken from one application in one turn.
const PACKETS_PER_TURN: usize = 256;

impl DataPlane {
    /// Makes a face of the node's end of one.
    pub(crate) fn add_inner_face(
        &mut self,
        purpose: Purpose,
        dialect: packet::Dialect,
        port: InnerPort,
    ) -> Result<FaceId, CreateFaceError> {
        let settings = LinkSettings {
            local_fields: true,
            congestion_marking: false,
            ..LinkSettings::plain(&self.settings)
        };
        let id = self.add_face(NewFace {
            remote: FaceUri::Internal(purpose),
            local: FaceUri::Internal(Purpose::default()),
            scope: FaceScope::Local,
            persistency: FacePersistency::Permanent,
            state: FaceState::Up,
            transport: Transport::Inner(port),
            dialect,
            settings,
            link_type: LinkType::PointToPoint,
        });
        let id = id.ok_or(CreateFaceError::TooManyFaces { limit: self.settings.faces.max })?;
        let token = Token::Face(id);
        let watched =
            self.source_of(token).map_or(Ok(()), |(port, flags)| self.sockets.watch(port, token, flags));
        if let Err(error) = watched {
            self.destroy_face(id, &error.to_string());
            return Err(CreateFaceError::Socket(error));
        }
        Ok(id)
    }

    /// Takes what an application inside the process has sent.
    pub(in crate::plane) fn handle_inner(&mut self, id: FaceId) {
        for _ in 0..PACKETS_PER_TURN {
            let Some(face) = self.faces.get_mut(&id) else { return };
            let Transport::Inner(port) = &mut face.transport else { return };
            let Ok(packet) = port.recv() else {
                self.hand_over();
                return self.destroy_face(id, "closed by the application");
            };
            let Some(packet) = packet else { break };
            face.counters.traffic.in_frames += 1;
            face.counters.traffic.in_bytes += packet.wire().len() as u64;
            self.batch.touch(face);
            self.receive_inner(id, packet);
            if self.batch.arrivals.is_full() {
                self.hand_over();
            }
        }
        self.hand_over();
        if let Some(face) = self.faces.get(&id)
            && let Transport::Inner(port) = &face.transport
        {
            port.tell_of_room();
        }
    }

    /// Gives a packet to an application inside the process. Interests of neighbours fill half of what may
    /// wait for it: the rest is for this host, whose commands and registrations go the same way.
    #[inline(never)]
    pub(in crate::plane) fn send_inside(&mut self, transmit: Transmit) {
        let is_interest = matches!(transmit.packet, Packet::Interest(_));
        let from = transmit.incoming_face.filter(|_| is_interest).and_then(|from| self.faces.get(&from));
        let is_strangers = from.is_some_and(|from| from.scope == FaceScope::NonLocal);
        let Some(face) = self.faces.get_mut(&transmit.face) else { return };
        let Transport::Inner(port) = &mut face.transport else { return };
        if is_strangers && !port.is_half_empty() {
            face.counters.drops.add(DropReason::SendQueueFull, 1);
        } else {
            send(port, transmit, &mut face.counters.traffic, &mut face.counters.drops);
        }
        self.batch.touch(face);
    }

    fn receive_inner(&mut self, id: FaceId, packet: InnerPacket) {
        let InnerPacket { packet, header, is_offer } = packet;
        if let Packet::Data(data) = &packet
            && is_offer
            && !self.is_awaited(id, data)
        {
            return;
        }
        self.batch.arrivals.face = id;
        self.batch.arrivals.push(&self.engine, packet, (header != LinkHeader::NONE).then_some(header));
    }

    /// Whether somebody waits for Data that is offered by a face.
    fn is_awaited(&mut self, id: FaceId, data: &Data) -> bool {
        // Whoever asks may be among those that came just before.
        self.hand_over();
        let hashes = self.engine.hasher().hash(data.dialect(), data.name().components());
        self.engine.awaits(id, data, &hashes)
    }
}

/// Gives a packet to an application inside the process, if there is room.
fn send(port: &mut InnerPort, transmit: Transmit, traffic: &mut Traffic, drops: &mut DropCounters) {
    let (packet, header) = transmit.into_parts();
    let packet = match packet {
        // It may be kept for long, and must not keep all that it arrived with.
        Packet::Data(data) if data.wire().is_small_part() => Packet::Data(data.moved(None)),
        packet => packet,
    };
    match port.send(InnerPacket { packet, header, is_offer: false }) {
        Some(bytes) => {
            traffic.out_frames += 1;
            traffic.out_bytes += bytes as u64;
        }
        None => drops.add(DropReason::SendQueueFull, 1),
    }
}
