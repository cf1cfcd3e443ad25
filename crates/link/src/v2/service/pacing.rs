//! What the link does with its pacer.

use std::collections::VecDeque;

use packet::ndn::lp::{Echo, LpPacketView};
use packet::random::Random;
use packet::time::Instant;

use super::LinkService;
use crate::DropReason;
use crate::v2::outgoing::FrameRef;
use crate::v2::outgoing::OutgoingKey;
use crate::v2::pacing::{FreeUntil, Pacer, echo};

/// Echoes that wait to be sent back; further requests are ignored, and asked again.
const MAX_REPLIES: usize = 8;
/// Bytes of headers that a frame is taken to have beside its slice of a packet.
const HEADERS_BYTES: usize = 64;
/// What a waiting packet takes beside its bytes.
const WAITING_COST: usize = 256;

/// What the service holds for pacing.
#[derive(Debug)]
pub(super) struct Pacing {
    pub(super) pacer: Option<Box<Pacer>>,
    /// Until when frames need not be shown to the pacer.
    pub(super) bare_until: FreeUntil,
    /// Echoes that the neighbour asked for.
    replies: VecDeque<u64>,
    /// Bytes of all frames that came.
    pub(super) received_bytes: u64,
}

impl Default for Pacing {
    fn default() -> Self {
        Pacing {
            pacer: None,
            bare_until: FreeUntil::NEVER_SHOWN,
            replies: VecDeque::new(),
            received_bytes: 0,
        }
    }
}

impl LinkService {
    /// The largest frame to send: what the configuration allows, and what the path carries.
    pub fn mtu_bytes(&self) -> Option<usize> {
        let configured = self.config.effective_mtu_bytes()?;
        let path = self.pacing.pacer.as_ref().and_then(|pacer| pacer.path_mtu_bytes());
        Some(path.map_or(configured, |path| path.min(configured)))
    }

    /// Memory for packets that wait until the neighbour can take them.
    pub fn waiting_bytes(&self) -> usize {
        self.unsent.bytes() + self.unsent.len() * WAITING_COST
    }

    /// Whether [`poll_transmit`](Self::poll_transmit) may have frames though nothing was sent or
    /// acknowledged.
    #[inline]
    pub fn wants_poll(&self) -> bool {
        // Packets may wait though nothing holds them back, when pacing has been switched off.
        !self.unsent.is_empty()
            || self.parity.as_ref().is_some_and(|parity| parity.sender.wants_transmit())
            || self
                .pacing
                .pacer
                .as_ref()
                .is_some_and(|pacer| pacer.wants_request() || !self.pacing.replies.is_empty())
    }

    /// Drops the packets that wait, for an owner of many services whose memory for them is used up.
    pub fn evict_waiting_packets(&mut self) {
        for key in std::mem::take(&mut self.unsent).into_keys() {
            if self.outgoing.remove(key).is_some() {
                self.drops.count(DropReason::SendQueueFull);
            }
        }
    }

    pub(super) fn start_pacing(&mut self) {
        let (reliable, mtu_bytes) = (self.config.reliability.is_some(), self.config.effective_mtu_bytes());
        let pacing = self.config.pacing.clone();
        self.pacing.pacer = pacing.map(|config| {
            let random = Random::from_seed(self.random.next_u64());
            Box::new(Pacer::new(config, reliable, mtu_bytes, random))
        });
        self.pacing.replies.clear();
        self.renew_freedom();
    }

    /// Has the pacer know which frames are allowed.
    pub(super) fn follow_mtu(&mut self) {
        if let Some(pacer) = &mut self.pacing.pacer {
            pacer.set_top_mtu(self.config.effective_mtu_bytes());
        }
        self.renew_freedom();
    }

    fn renew_freedom(&mut self) {
        self.pacing.bare_until =
            self.pacing.pacer.as_ref().map_or(FreeUntil::NEVER_SHOWN, |pacer| pacer.free_until());
    }

    pub(super) fn has_waiting_enough(&self) -> bool {
        self.pacing
            .pacer
            .as_ref()
            .is_some_and(|pacer| self.waiting_bytes() >= pacer.config().max_waiting_bytes)
    }

    /// Whether the neighbour can take a frame of about so many bytes.
    #[inline]
    pub(super) fn may_leave(&mut self, now: Instant, len: usize) -> bool {
        let frames_in = self.counters.frames_in;
        let admitted = self.pacing.pacer.as_mut().is_none_or(|pacer| pacer.admits(now, len, frames_in));
        self.counters.held_back += u64::from(!admitted);
        admitted
    }

    /// Notes that a frame leaves that is not kept.
    #[inline]
    pub(super) fn note_leaving(&mut self, now: Instant, len: usize) {
        if let Some(pacer) = &mut self.pacing.pacer {
            pacer.note_sent(now, len);
            self.renew_freedom();
        }
    }

    /// Whether the neighbour can take this frame of a packet.
    pub(super) fn may_transmit(&mut self, now: Instant, key: OutgoingKey, fragment: u32) -> bool {
        self.pacing.pacer.is_none() || {
            let len = self.frame_len(key, fragment);
            self.may_leave(now, len)
        }
    }

    /// Notes that a frame of a packet leaves; gives its position.
    pub(super) fn note_transmitting(&mut self, now: Instant, frame: FrameRef) -> u64 {
        let len = self.frame_len(frame.key, frame.fragment);
        let Some(pacer) = &mut self.pacing.pacer else { return 0 };
        let position = pacer.note_sent(now, len);
        self.renew_freedom();
        position
    }

    fn frame_len(&self, key: OutgoingKey, fragment: u32) -> usize {
        let slice_len =
            self.outgoing.get(key).map_or(0, |packet| packet.plan.slice(&packet.packet, fragment).len());
        (slice_len + HEADERS_BYTES).min(self.mtu_bytes().unwrap_or(usize::MAX))
    }

    /// Takes in what a frame says about echoes. True if that was all it was for.
    pub(super) fn take_in_echo(&mut self, now: Instant, view: &LpPacketView<'_>, frame_len: usize) -> bool {
        let returned =
            view.nack.and(view.fragment).and_then(echo::number_of).filter(|_| view.frag_count.is_none());
        if view.echo.is_none() && returned.is_none() {
            return false;
        }
        let Some(pacer) = &mut self.pacing.pacer else { return false };
        let number = match (view.echo, returned) {
            (Some(Echo::Request(number)), _) => {
                // Whoever asks gets no more bytes than it sent.
                if self.pacing.replies.len() < MAX_REPLIES && frame_len >= echo::REPLY_BYTES {
                    self.pacing.replies.push_back(number);
                }
                pacer.handle_request(now);
                return true;
            }
            (Some(Echo::Reply(number)), _) | (None, Some(number)) => number,
            (None, None) => return false,
        };
        // An answer that nobody asked for says nothing.
        let Some(mtu_changed) = pacer.handle_echo(now, number) else { return returned.is_none() };
        self.counters.echoes_in += 1;
        if view.receive_capacity > 0 {
            pacer.handle_capacity(now, view.receive_capacity);
        }
        if mtu_changed {
            self.handle_new_mtu();
        }
        self.renew_freedom();
        true
    }

    /// Tells the pacer what acknowledgements have told.
    pub(super) fn pace_by_acknowledgements(&mut self, now: Instant) {
        let (Some(reliability), Some(pacer)) = (&mut self.reliability, &mut self.pacing.pacer) else {
            return;
        };
        let progress = reliability.take_progress();
        if let Some((position, round_trip)) = progress.acknowledged {
            pacer.handle_ack(now, position, Some(round_trip));
        }
        if let Some(position) = progress.lost {
            pacer.handle_loss(position);
        }
    }

    pub(super) fn pass_time_for_pacer(&mut self, now: Instant) {
        let Some(pacer) = &mut self.pacing.pacer else { return };
        if pacer.handle_timeout(now) {
            self.handle_new_mtu();
        }
        self.renew_freedom();
    }

    /// Sends the neighbour the number that it asked for.
    pub(super) fn transmit_reply(&mut self, frames: &mut Vec<u8>) -> bool {
        let Some(number) = self.pacing.replies.pop_front() else { return false };
        let Some(pacer) = &self.pacing.pacer else { return false };
        echo::write_reply(frames, number, pacer.config().receive_capacity_bytes);
        self.counters.idle_out += 1;
        true
    }

    /// Asks the neighbour for an echo, if one is due.
    pub(super) fn transmit_request(&mut self, now: Instant, frames: &mut Vec<u8>) -> bool {
        let Some(pacer) = &mut self.pacing.pacer else { return false };
        let asked = pacer.wants_request() && pacer.write_request(now, self.pacing.received_bytes, frames);
        self.counters.echoes_out += u64::from(asked);
        asked
    }

    /// Cuts anew what was cut for frames that the path does not carry.
    fn handle_new_mtu(&mut self) {
        let Some(bytes) = self.mtu_bytes() else { return };
        self.new_path_mtu_bytes = Some(bytes);
        for packet in self.outgoing.remove_longer(bytes.saturating_sub(HEADERS_BYTES / 2)) {
            let outcome = self.enqueue(packet.header, packet.nack, packet.packet);
            self.counters.packets_out -= u64::from(outcome.is_ok());
            let _ = self.count_drop(outcome);
        }
    }
}
