//! Packets between the network and the reader: here in any order, out in order, never more than so many
//! bytes.

use std::collections::VecDeque;

use packet::Data;
use packet::ndn::tlv::MAX_PACKET_BYTES;

#[derive(Debug)]
pub(super) struct Reorder {
    /// The segment that the reader gets next.
    next: u64,
    slots: VecDeque<Option<Slot>>,
    bytes: usize,
    max_bytes: usize,
    /// The largest packet so far: how many segments fit is reckoned with it.
    largest: usize,
}

#[derive(Debug)]
struct Slot {
    data: Data,
    accepted: bool,
}

impl Reorder {
    pub(super) fn new(first: u64, max_bytes: usize) -> Self {
        Reorder { next: first, slots: VecDeque::new(), bytes: 0, max_bytes, largest: 0 }
    }

    pub(super) fn next(&self) -> u64 {
        self.next
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The first segment that must not be asked for yet. Before the first packet little is known of their
    /// size.
    pub(super) fn limit(&self) -> u64 {
        let size = if self.largest == 0 { MAX_PACKET_BYTES } else { self.largest };
        self.next + (self.max_bytes / size).max(1) as u64
    }

    /// Keeps a packet; false if there is no room. The one that the reader waits for always has room.
    pub(super) fn insert(&mut self, segment: u64, data: Data, accepted: bool) -> bool {
        let size = data.wire().len();
        let Some(place) = segment.checked_sub(self.next) else { return false };
        if place > 0 && (segment >= self.limit() || self.bytes + size > self.max_bytes) {
            return false;
        }
        let place = place as usize;
        if self.slots.len() <= place {
            self.slots.resize_with(place + 1, || None);
        }
        if let Some(slot) = self.slots.get_mut(place).filter(|slot| slot.is_none()) {
            *slot = Some(Slot { data, accepted });
            self.bytes += size;
            self.largest = self.largest.max(size);
        }
        true
    }

    /// A packet that is kept.
    pub(super) fn peek(&self, segment: u64) -> Option<&Data> {
        let place = usize::try_from(segment.checked_sub(self.next)?).ok()?;
        self.slots.get(place)?.as_ref().map(|slot| &slot.data)
    }

    /// The packet is good.
    pub(super) fn accept(&mut self, segment: u64) {
        if let Some(Some(slot)) = self.slot(segment) {
            slot.accepted = true;
        }
    }

    /// Forgets a packet; gives it back.
    pub(super) fn remove(&mut self, segment: u64) -> Option<Data> {
        let slot = self.slot(segment)?.take()?;
        self.bytes -= slot.data.wire().len();
        Some(slot.data)
    }

    /// The next packet for the reader, if it is here and good.
    pub(super) fn pop(&mut self) -> Option<Data> {
        if !self.slots.front()?.as_ref()?.accepted {
            return None;
        }
        let slot = self.slots.pop_front()??;
        self.next += 1;
        self.bytes -= slot.data.wire().len();
        Some(slot.data)
    }

    /// Forgets all from `end` on.
    pub(super) fn cut(&mut self, end: u64) {
        let keep = end.saturating_sub(self.next) as usize;
        while self.slots.len() > keep {
            if let Some(slot) = self.slots.pop_back().flatten() {
                self.bytes -= slot.data.wire().len();
            }
        }
    }

    fn slot(&mut self, segment: u64) -> Option<&mut Option<Slot>> {
        self.slots.get_mut(usize::try_from(segment.checked_sub(self.next)?).ok()?)
    }
}
