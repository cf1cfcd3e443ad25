//! Links that carry real frames: how frames travel between the services at their ends.

use crate::arena::{ChannelId, EndId, FrameId, FramedId, Id, PacketId};
use crate::core::Core;
use crate::events::in_flight::OnLink;
use crate::events::queue::EventSource;
use crate::link::services::Delivered;
use crate::link::{LinkDropReason, Offer};

impl Core {
    /// Hands a packet to the link service of an end.
    pub(crate) fn transmit_framed(&mut self, number: ChannelId, end: EndId, packet_id: PacketId) {
        let now = self.now;
        let channel = &mut self.channels[number];
        let Some(framed) = channel.framed else { return };
        let slot = self.in_flight.get_mut(packet_id);
        let header = std::mem::take(&mut slot.header);
        let packet = slot.packet.take();
        self.in_flight.release(packet_id);
        if !channel.is_up {
            return channel.counters.drop(LinkDropReason::FaceDown);
        }
        let Some(packet) = packet else { return };
        let queued_bytes = channel.queue_length(now).bytes;
        let Some(service) = self.framed[framed].services.get_mut(end.index()) else { return };
        service.handle_send_queue(Some(queued_bytes));
        if !service.send(now, header, packet) {
            channel.counters.drop(LinkDropReason::LinkService);
        }
        self.send_frames(framed);
    }

    /// Puts on the link what the services have to send.
    fn send_frames(&mut self, number: FramedId) {
        let now = self.now;
        let link = self.framed[number].link;
        let mut frame = Vec::new();
        for place in 0..self.framed[number].services.len() {
            let end = EndId::from_index(place);
            let Some(channel) = self.links[link].channel_from(end) else { continue };
            while self.framed[number].services[place].poll_transmit(now, &mut frame).is_some() {
                let mut frame = std::mem::take(&mut frame);
                self.trace.note_frame(now, link, end, &frame);
                if self.channels[channel].is_tapped && !self.show_sent_frame(channel, end, &mut frame) {
                    continue;
                }
                let carried = OnLink::Frame(self.in_flight.frames.add(frame));
                self.put_frame_on_link(channel, end, carried);
            }
        }
        let framed = &mut self.framed[number];
        let deadline = framed.next_deadline();
        framed.alarm.set(&mut self.queue, deadline, EventSource::Framed(number));
    }

    /// Offers a frame to the link that its face leads to.
    pub(crate) fn put_frame_on_link(&mut self, channel: ChannelId, end: EndId, carried: OnLink) {
        let OnLink::Frame(frame) = carried else { return };
        self.note_sending(channel, end);
        let frame_bytes = self.in_flight.frames.get(frame).len() as u32;
        match self.channels[channel].offer(self.now, carried, frame_bytes) {
            Offer::Departs { at, .. } => self.launch(channel, end, at, carried),
            // Framed links have no queue that decides late: `Network::connect_all` sees to that.
            Offer::Waits { .. } | Offer::Dropped(_) => self.in_flight.discard(carried),
        }
    }

    /// A frame has arrived: gives what came of it.
    pub(crate) fn receive_frame(
        &mut self,
        number: FramedId,
        channel: ChannelId,
        from: EndId,
        frame: FrameId,
    ) -> Vec<Delivered> {
        let mut frame = self.in_flight.frames.take(frame);
        if let Some(bit) = self.channels[channel].flipped_bit(frame.len()) {
            link::flip_bit(&mut frame, bit);
        }
        let link = self.framed[number].link;
        for place in 0..self.framed[number].services.len() {
            let end = EndId::from_index(place);
            let first = self.links[link].channels.first().copied().unwrap_or(channel);
            if end == from || self.channels[first].is_missed() {
                continue;
            }
            if !self.channels[channel].is_tapped {
                self.receive_at_end(number, from, end, &frame);
                continue;
            }
            let mut shown = frame.clone();
            if self.show_received_frame(channel, from, end, &mut shown) {
                self.receive_at_end(number, from, end, &shown);
            }
        }
        self.settle_framed(number)
    }

    /// A frame that a tap had held back at this end goes on: gives what came of it.
    pub(crate) fn receive_held_frame(
        &mut self,
        number: FramedId,
        from: EndId,
        end: EndId,
        frame: FrameId,
    ) -> Vec<Delivered> {
        let frame = self.in_flight.frames.take(frame);
        self.receive_at_end(number, from, end, &frame);
        self.settle_framed(number)
    }

    fn receive_at_end(&mut self, number: FramedId, from: EndId, end: EndId, frame: &[u8]) {
        let now = self.now;
        if let Some(service) = self.framed[number].services.get_mut(end.index()) {
            service.receive(now, from, frame);
        }
    }

    /// Lets services look at the time: gives what came of it.
    pub(crate) fn wake_framed(&mut self, number: FramedId) -> Vec<Delivered> {
        let now = self.now;
        for service in &mut self.framed[number].services {
            if service.next_deadline() <= now {
                service.handle_timeout(now);
            }
        }
        self.settle_framed(number)
    }

    fn settle_framed(&mut self, number: FramedId) -> Vec<Delivered> {
        let (delivered, undecodable) = self.framed[number].take_deliveries();
        let link = self.framed[number].link;
        if let Some(&channel) = self.links[link].channels.first() {
            for _ in 0..undecodable {
                self.channels[channel].counters.drop(LinkDropReason::LinkService);
            }
        }
        self.send_frames(number);
        delivered
    }
}
