//! The sent packet store: recently sent packets that may have to be sent again (NDN-0006, section 2.3.1).

use std::collections::{BTreeMap, VecDeque};

use packet::ccnx::ndnlp::{AckBlock, Sequence};
use packet::time::{Duration, Instant};

use super::outgoing::OutgoingPacket;
use super::timings::Timings;
use crate::DropReason;
use crate::aged_map::AgedMap;
use crate::drop_reason::DropCounters;

/// So many sequence numbers there are.
const SEQUENCES: u64 = 1 << 48;

/// Packets that await acknowledgement, by sequence number. A packet is sent again, unchanged, whenever the
/// retransmit time has passed since it was last sent, until its retries are used up or its acknowledgement
/// comes.
#[derive(Debug)]
pub(crate) struct SentPackets {
    capacity: usize,
    retry_count: u32,
    retransmit_time: Duration,
    packets: AgedMap<u64, Sent>,
    /// Places in `packets` by sequence number, so that a block looks at what is in its range and nothing
    /// else.
    places: BTreeMap<u64, usize>,
    /// Packets to be sent again now.
    due: VecDeque<Sequence>,
}

#[derive(Debug)]
struct Sent {
    packet: OutgoingPacket,
    retries: u32,
}

/// Where a packet is kept.
struct PacketPlace {
    sequence: u64,
    /// In `packets`.
    place: usize,
}

impl SentPackets {
    pub(crate) fn new(timings: &Timings) -> Self {
        SentPackets {
            capacity: timings.sent_packets_capacity as usize,
            retry_count: timings.retry_count,
            retransmit_time: timings.retransmit_time,
            packets: AgedMap::new(),
            places: BTreeMap::new(),
            due: VecDeque::new(),
        }
    }

    /// How many packets await acknowledgement.
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether packets wait to be sent again.
    pub(crate) fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    pub(crate) fn next_deadline(&self) -> Instant {
        self.packets.next_expiry(self.retransmit_time)
    }

    /// Keeps a packet that is sent for the first time now.
    pub(crate) fn insert(&mut self, now: Instant, packet: OutgoingPacket, drops: &mut DropCounters) {
        if self.capacity == 0 {
            return;
        }
        while self.packets.len() >= self.capacity {
            if let Some(oldest) = self.packets.remove_oldest() {
                self.places.remove(&oldest.packet.sequence().get());
            }
            drops.count(DropReason::SentStoreFull);
        }
        self.keep(now, Sent { packet, retries: 0 });
    }

    fn keep(&mut self, now: Instant, sent: Sent) {
        let sequence = sent.packet.sequence().get();
        self.places.insert(sequence, self.packets.insert(now, sequence, sent));
    }

    /// The packets kept whose numbers are `first` or one of the `count - 1` after it, which may begin again
    /// at 0.
    fn in_range(&self, first: Sequence, count: u64) -> impl Iterator<Item = PacketPlace> + '_ {
        let (first, end) = (first.get(), first.get().saturating_add(count));
        let begun_again = end.saturating_sub(SEQUENCES).min(first);
        self.places
            .range(first..end)
            .chain(self.places.range(..begun_again))
            .map(|(sequence, place)| PacketPlace { sequence: *sequence, place: *place })
    }

    /// Takes in an acknowledgement block and gives how many packets it is news about. Goes through the
    /// packets in the block's range: never more than it has bits, nor than are kept.
    pub(crate) fn acknowledge(&mut self, block: AckBlock<'_>) -> usize {
        let has_bit = |sequence: u64| {
            let offset = Sequence::new(sequence).since(block.base);
            let byte = usize::try_from(offset / 8).ok().and_then(|at| block.bitmap.get(at));
            byte.is_some_and(|byte| byte & 0x80 >> (offset % 8) != 0)
        };
        let bits = block.bitmap.len() as u64 * 8;
        let gone: Vec<_> = self.in_range(block.base, bits).filter(|kept| has_bit(kept.sequence)).collect();
        self.forget(&gone);
        gone.len()
    }

    fn forget(&mut self, gone: &[PacketPlace]) {
        for PacketPlace { sequence, place } in gone {
            self.places.remove(sequence);
            self.packets.remove(*place);
        }
    }

    /// Looks for packets whose retransmit time has passed.
    pub(crate) fn handle_timeout(&mut self, now: Instant, drops: &mut DropCounters) {
        while let Some(Sent { packet, retries }) = self.packets.remove_expired(now, self.retransmit_time) {
            let sequence = packet.sequence();
            self.places.remove(&sequence.get());
            if retries < self.retry_count {
                self.keep(now, Sent { packet, retries: retries + 1 });
                self.due.push_back(sequence);
            } else {
                drops.count(DropReason::RetriesExhausted);
                self.forget_message(&packet);
            }
        }
    }

    /// The next packet to be sent again.
    pub(crate) fn poll_due(&mut self, now: Instant) -> Option<&OutgoingPacket> {
        while let Some(sequence) = self.due.pop_front() {
            // Its acknowledgement may have come in the meantime.
            if let Some(&place) = self.places.get(&sequence.get()) {
                self.packets.touch(now, place);
                return self.packets.get_mut(place).map(|sent| &sent.packet);
            }
        }
        None
    }

    /// Forgets the other packets of a message that can no longer be completed.
    fn forget_message(&mut self, lost: &OutgoingPacket) {
        let (id, count) = (lost.message_id(), u64::from(lost.fragment.count));
        let others: Vec<_> = self.in_range(id, count).collect();
        self.forget(&others);
    }
}
