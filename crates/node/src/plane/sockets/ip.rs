//! NDNLP v1 over IP alone, without ports: protocol 150.
//!
//! Faces of it are those of UDP in all but how they are received from: a raw socket of IPv4 shows the header
//! of IP, too.

use rustix::event::epoll;

use crate::codec::Codec;
use crate::drop_reason::DropReason;
use crate::plane::DataPlane;
use crate::transport::datagram::behind_ip_header;

/// Packets received from one socket in one turn.
const PACKETS_PER_TURN: usize = 256;

impl DataPlane {
    /// A socket for IP alone has something to read, or room to write.
    pub(in crate::plane) fn handle_ip(&mut self, number: usize, flags: epoll::EventFlags) -> bool {
        let mut has_worked = flags.contains(epoll::EventFlags::OUT) && self.write_backlog(number);
        if flags.contains(epoll::EventFlags::ERR)
            && let Some(channel) = self.sockets.channels.get(number)
        {
            // Reading it clears it: otherwise the socket would stay ready for ever.
            let _ = channel.socket.take_error();
        }
        let source = self.source_of_datagrams(number);
        let mut began = self.clock.now();
        for _ in 0..PACKETS_PER_TURN {
            if !self.schedule.turn.has_left(source) {
                break;
            }
            let Some(channel) = self.sockets.channels.get(number) else { break };
            let is_ipv4 = channel.local.is_ipv4();
            let mut scratch = std::mem::take(&mut self.batch.scratch);
            let received = channel.socket.recv_from(&mut scratch);
            if let Ok((length, from)) = received {
                has_worked = true;
                let packet = scratch.get(..length).unwrap_or_default();
                match if is_ipv4 { behind_ip_header(packet) } else { Some(packet) } {
                    Some(frame) => self.receive_from_ip(number, from, frame),
                    None => self.gone_counters.drops.add(DropReason::MalformedPacket, 1),
                }
            }
            self.batch.scratch = scratch;
            if received.is_err() {
                break;
            }
            let now = self.clock.now();
            self.schedule.turn.note(source, now.saturating_since(std::mem::replace(&mut began, now)));
        }
        self.hand_over();
        has_worked
    }

    fn receive_from_ip(&mut self, number: usize, from: std::net::SocketAddr, frame: &[u8]) {
        let Some(channel) = self.sockets.channels.get_mut(number) else { return };
        let face = match channel.face(from) {
            Some(face) => Some(face),
            None if self.settings.udp.accept && Codec::is_ndnlp1(frame) => {
                self.add_datagram_face_on_demand(number, from, frame)
            }
            None => {
                self.gone_counters.drops.count(DropReason::UnknownPeer);
                None
            }
        };
        if let Some(face) = face {
            self.receive_frames(face, 0, std::iter::once(frame));
        }
    }
}
