//! What taps see on its way over a link, and what becomes of it.
//!
//! Where packets pass by reference, a tap is shown the frame that would carry the packet, and what it changes
//! is read again. A link without taps pays one comparison for it.

use link::{Direction, TapVerdict};
use packet::time::Duration;
use packet::{DecodeError, Packet};

use crate::arena::{ChannelId, EndId, PacketId};
use crate::core::{Core, HeldPacket, Stage};
use crate::dialect::read_frame;
use crate::events::in_flight::OnLink;
use crate::events::queue::EventSource;
use crate::link::LinkDropReason;

/// Something that a tap is shown, and where.
#[derive(Clone, Copy)]
struct TapPoint {
    channel: ChannelId,
    /// The end of the link it comes from.
    from: EndId,
    stage: Stage,
}

impl TapPoint {
    /// The end whose face is tapped, and which way frames go there.
    fn tapped(self) -> (EndId, Direction) {
        match self.stage {
            Stage::Entering(end) => (end, Direction::In),
            Stage::Leaving | Stage::Crossing => (self.from, Direction::Out),
        }
    }
}

impl Core {
    /// Sends a packet by a face that may have taps.
    #[cold]
    pub(crate) fn transmit_tapped(&mut self, channel: ChannelId, end: EndId, packet_id: PacketId) {
        if self.show_packet(TapPoint { channel, from: end, stage: Stage::Leaving }, packet_id) {
            self.put_on_link(channel, end, packet_id);
        }
    }

    /// Shows a packet that has crossed a link to the taps at this end; says whether it goes on at once.
    #[cold]
    pub(crate) fn show_received(
        &mut self,
        channel: ChannelId,
        from: EndId,
        end: EndId,
        packet_id: PacketId,
    ) -> bool {
        self.show_packet(TapPoint { channel, from, stage: Stage::Entering(end) }, packet_id)
    }

    /// Shows a frame that is to leave by a face to its taps; says whether it goes on at once.
    #[cold]
    pub(crate) fn show_sent_frame(&mut self, channel: ChannelId, end: EndId, frame: &mut Vec<u8>) -> bool {
        self.show_frame(TapPoint { channel, from: end, stage: Stage::Leaving }, frame)
    }

    /// Shows a frame that has crossed a link to the taps at this end; says whether it goes on at once.
    #[cold]
    pub(crate) fn show_received_frame(
        &mut self,
        channel: ChannelId,
        from: EndId,
        end: EndId,
        frame: &mut Vec<u8>,
    ) -> bool {
        self.show_frame(TapPoint { channel, from, stage: Stage::Entering(end) }, frame)
    }

    fn show(&mut self, shown: TapPoint, frame: &mut Vec<u8>) -> TapVerdict {
        let (end, direction) = shown.tapped();
        let link = self.channels[shown.channel].link;
        self.taps.show((link, end), self.now, direction, frame)
    }

    fn show_packet(&mut self, shown: TapPoint, packet_id: PacketId) -> bool {
        let Some(mut frame) = self.in_flight.get(packet_id).frame() else { return true };
        let before = frame.clone();
        let verdict = self.show(shown, &mut frame);
        let lost = match verdict {
            TapVerdict::Drop => Some(LinkDropReason::Loss),
            TapVerdict::QueueFull => Some(LinkDropReason::SendQueueFull),
            _ if frame != before && self.read_again(packet_id, &frame).is_err() => {
                Some(LinkDropReason::MalformedPacket)
            }
            _ => None,
        };
        if let Some(reason) = lost {
            self.channels[shown.channel].counters.drop(reason);
            self.note_drop(shown.channel, reason, packet_id);
            self.in_flight.release(packet_id);
            return false;
        }
        match verdict {
            TapVerdict::Delay(span) => self.hold(shown, span, OnLink::Packet(packet_id)),
            TapVerdict::Duplicate(first, second) => {
                let copy = self.in_flight.copy_of(packet_id);
                self.hold(shown, first, OnLink::Packet(packet_id));
                self.hold(shown, second, OnLink::Packet(copy));
            }
            TapVerdict::Pass | TapVerdict::Drop | TapVerdict::QueueFull => return true,
        }
        false
    }

    fn show_frame(&mut self, shown: TapPoint, frame: &mut Vec<u8>) -> bool {
        match self.show(shown, frame) {
            TapVerdict::Pass => return true,
            TapVerdict::Drop => self.channels[shown.channel].counters.drop(LinkDropReason::Loss),
            TapVerdict::QueueFull => {
                self.channels[shown.channel].counters.drop(LinkDropReason::SendQueueFull);
            }
            TapVerdict::Delay(span) => {
                let held = OnLink::Frame(self.in_flight.frames.add(std::mem::take(frame)));
                self.hold(shown, span, held);
            }
            TapVerdict::Duplicate(first, second) => {
                let copy = OnLink::Frame(self.in_flight.frames.add(frame.clone()));
                self.hold(shown, first, copy);
                let held = OnLink::Frame(self.in_flight.frames.add(std::mem::take(frame)));
                self.hold(shown, second, held);
            }
        }
        false
    }

    /// Lets something go on after a while.
    fn hold(&mut self, shown: TapPoint, span: Duration, carried: OnLink) {
        let TapPoint { channel, from: end, stage } = shown;
        let epoch = self.channels[channel].epoch;
        let held = self.held.add(Some(HeldPacket { channel, epoch, end, carried, stage }));
        let rank = self.channels[channel].rank;
        self.queue.plan(self.now + span, rank, EventSource::Held(held));
    }

    /// Puts what a tap has made of a packet in its place.
    fn read_again(&mut self, packet_id: PacketId, frame: &[u8]) -> Result<(), DecodeError> {
        let Some(dialect) = self.in_flight.get(packet_id).packet.as_ref().map(Packet::dialect) else {
            return Ok(());
        };
        let (packet, header) = read_frame(dialect, frame)?;
        let hashes = self.hash(&packet);
        let slot = self.in_flight.get_mut(packet_id);
        (slot.packet, slot.header, slot.hashes) = (Some(packet), header, hashes);
        Ok(())
    }
}
