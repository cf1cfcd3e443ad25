//! The acknowledgement queue: sequence numbers of received packets, packed into bitmaps (NDN-0006, section
//! 2.3.2).

use std::ops::Range;

use packet::ccnx::ndnlp::{AckBlock, LinkAck, Sequence};
use packet::time::{Duration, Instant};

/// Sequence numbers that wait to be acknowledged.
#[derive(Debug)]
pub(crate) struct AcknowledgementQueue {
    pending: Vec<Sequence>,
    max_pending: usize,
    /// How long the first one in the queue may wait.
    acknowledge_time: Duration,
    /// When the queue must be emptied.
    deadline: Instant,
    due: bool,
}

/// Numbers that a bitmap goes on without a set bit, before another block is cheaper: 30 bytes, as in ndnld.
const MAX_GAP: u64 = 240;

impl AcknowledgementQueue {
    pub(crate) fn new(max_pending: usize, acknowledge_time: Duration) -> Self {
        AcknowledgementQueue {
            pending: Vec::new(),
            max_pending,
            acknowledge_time,
            deadline: Instant::NEVER,
            due: false,
        }
    }

    /// How many numbers wait.
    pub(crate) fn len(&self) -> usize {
        self.pending.len()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Appends the number of a packet that arrived now; false if the queue is full.
    pub(crate) fn push(&mut self, now: Instant, sequence: Sequence) -> bool {
        if self.pending.len() >= self.max_pending {
            return false;
        }
        if self.pending.is_empty() {
            self.deadline = now + self.acknowledge_time;
        }
        self.pending.push(sequence);
        if self.pending.len() >= self.max_pending.div_ceil(2) {
            self.due = true;
        }
        true
    }

    /// Lets the acknowledgements go if they have waited long enough.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.deadline <= now {
            self.deadline = Instant::NEVER;
            self.due = true;
        }
    }

    /// Appends an acknowledgement packet of at most `mtu_bytes` to `frames`, with as many numbers as it can
    /// hold, if it is time. Gives how many numbers that are.
    pub(crate) fn transmit(&mut self, mtu_bytes: usize, frames: &mut Vec<u8>) -> Option<usize> {
        if !self.due || self.pending.is_empty() {
            return None;
        }
        // In ascending order, counted from half the number space before the first, and without repetitions.
        let pivot = self.pending.first()?.minus(1 << 47);
        self.pending.sort_unstable_by_key(|sequence| sequence.since(pivot));
        self.pending.dedup();
        let mut packet = Packer::new(mtu_bytes);
        let taken = self.pending.iter().take_while(|&&sequence| packet.add(sequence)).count();
        packet.encode(frames);
        self.pending.drain(..taken);
        if self.pending.is_empty() {
            self.deadline = Instant::NEVER;
            self.due = false;
        }
        Some(taken)
    }
}

/// Packs ascending sequence numbers into the blocks of one packet.
struct Packer {
    mtu_bytes: usize,
    /// Lengths of all blocks but the last.
    closed_len: usize,
    blocks: Vec<(Sequence, Range<usize>)>,
    /// The bitmaps of all blocks, one behind the other.
    bitmaps: Vec<u8>,
}

impl Packer {
    fn new(mtu_bytes: usize) -> Self {
        Packer { mtu_bytes, closed_len: 0, blocks: Vec::new(), bitmaps: Vec::new() }
    }

    /// Adds a number; false if the packet has no room for it.
    fn add(&mut self, sequence: Sequence) -> bool {
        self.extend_last_block(sequence) || self.start_block(sequence)
    }

    fn extend_last_block(&mut self, sequence: Sequence) -> bool {
        let Some((base, range)) = self.blocks.last_mut() else { return false };
        let offset = sequence.since(*base);
        let bytes_needed = (offset / 8 + 1) as usize;
        // The last byte of a bitmap always has a bit set.
        if offset >= range.len() as u64 * 8 + MAX_GAP
            || LinkAck::encoded_len([self.closed_len, AckBlock::len_with_bitmap(bytes_needed)])
                > self.mtu_bytes
        {
            return false;
        }
        let bytes = bytes_needed.max(range.len());
        range.end = range.start + bytes;
        self.bitmaps.resize(range.end, 0);
        if let Some(byte) = self.bitmaps.get_mut(range.start + bytes_needed - 1) {
            *byte |= 0x80 >> (offset % 8);
        }
        true
    }

    fn start_block(&mut self, sequence: Sequence) -> bool {
        let closed_len = self.blocks.last().map_or(0, |(_, last)| {
            self.closed_len + AckBlock::len_with_bitmap(last.len()) //
        });
        if LinkAck::encoded_len([closed_len, AckBlock::len_with_bitmap(1)]) > self.mtu_bytes {
            return false;
        }
        self.closed_len = closed_len;
        let start = self.bitmaps.len();
        self.bitmaps.push(0x80);
        self.blocks.push((sequence, start..start + 1));
        true
    }

    fn encode(&self, frames: &mut Vec<u8>) {
        let block = |(base, range): &(Sequence, Range<usize>)| AckBlock {
            base: *base,
            bitmap: self.bitmaps.get(range.clone()).unwrap_or_default(),
        };
        let blocks: Vec<AckBlock<'_>> = self.blocks.iter().map(block).collect();
        LinkAck::encode_into(&blocks, frames);
    }
}

#[cfg(test)]
mod tests {
    use packet::ccnx::ndnlp::LinkPacket;
    use packet::random::Random;

    use super::*;

    const TIME: Duration = Duration::from_millis(300);

    fn queue(numbers: impl IntoIterator<Item = u64>) -> AcknowledgementQueue {
        let mut queue = AcknowledgementQueue::new(10_000, TIME);
        for number in numbers {
            assert!(queue.push(Instant::ZERO, Sequence::new(number)));
        }
        queue.handle_timeout(Instant::ZERO + TIME);
        queue
    }

    /// The packets into which the numbers are packed, as (base, bitmap) of each block.
    fn packets(queue: &mut AcknowledgementQueue, mtu_bytes: usize) -> Vec<Vec<(u64, Vec<u8>)>> {
        let mut packets = Vec::new();
        loop {
            let mut frame = Vec::new();
            let Some(taken) = queue.transmit(mtu_bytes, &mut frame) else { return packets };
            assert!(taken > 0 && frame.len() <= mtu_bytes);
            let Ok(LinkPacket::Ack(ack)) = LinkPacket::decode(&frame) else { panic!("{frame:02x?}") };
            assert_eq!(ack.sequences().count(), taken);
            packets.push(ack.blocks().map(|block| (block.base.get(), block.bitmap.to_vec())).collect());
        }
    }

    /// The paper's figure 4: five packets from 8a4810d0f08b on, in 29 bytes.
    #[test]
    fn the_acknowledgement_of_figure_4_has_the_bytes_of_the_capture() {
        let mut frame = Vec::new();
        let mut queue = queue((0..5).map(|offset| 0x8a48_10d0_f08b + offset));
        assert_eq!(queue.transmit(1500, &mut frame), Some(5));
        let expected = b"NdL\xb2NdL\xbaNdL\xc2\xb5\x8aH\x10\xd0\xf0\x8b\0NdL\xca\x8d\xf8\0\0\0";
        assert_eq!(frame, expected);
        assert_eq!((frame.len(), queue.len(), queue.deadline()), (29, 0, Instant::NEVER));
    }

    #[test]
    fn numbers_out_of_order_repeated_and_beyond_the_wrap_share_a_block() {
        let last = (1 << 48) - 1;
        let mut queue = queue([1, last, 0, last, 3]);
        assert_eq!(packets(&mut queue, 1500), [[(last, vec![0b1110_1000])]]);
    }

    #[test]
    fn a_gap_of_240_numbers_stays_in_the_block_and_a_longer_one_starts_another() {
        // After a bitmap of one byte, numbers up to base + 247 are within 240.
        assert_eq!(packets(&mut queue([1000, 1247]), 1500)[0].len(), 1);
        assert_eq!(packets(&mut queue([1000, 1248]), 1500)[0].len(), 2);
    }

    #[test]
    fn what_does_not_fit_the_mtu_goes_into_further_packets() {
        let mut dense = queue(0..1000);
        let dense_packets = packets(&mut dense, 64);
        assert!(dense_packets.len() >= 3 && dense_packets.iter().all(|blocks| blocks.len() == 1));
        let mut sparse = queue((0..10).map(|step| step * 1000));
        assert_eq!(packets(&mut sparse, 64).iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2, 2, 2]);
    }

    #[test]
    fn nothing_leaves_before_its_time_unless_the_queue_is_half_full() {
        let mut queue = AcknowledgementQueue::new(10, TIME);
        for number in 0..4 {
            assert!(queue.push(Instant::from_millis(number), Sequence::new(number)));
        }
        queue.handle_timeout(Instant::from_millis(299));
        assert_eq!(queue.transmit(1500, &mut Vec::new()), None);
        assert_eq!(queue.deadline(), Instant::from_millis(300));
        assert!(queue.push(Instant::from_millis(299), Sequence::new(4)));
        assert_eq!(queue.transmit(1500, &mut Vec::new()), Some(5));
    }

    #[test]
    fn a_full_queue_takes_no_more() {
        let mut queue = AcknowledgementQueue::new(3, TIME);
        let pushed = (0..5).filter(|&number| queue.push(Instant::ZERO, Sequence::new(number))).count();
        assert_eq!((pushed, queue.len()), (3, 3));
    }

    #[test]
    fn every_number_is_acknowledged_exactly_once_whatever_the_numbers() {
        let mut random = Random::from_seed(3);
        for _ in 0..200 {
            let start = random.next_u64();
            let spread = 1 << random.below(14);
            let count = 1 + random.below(300);
            let mut numbers: Vec<u64> =
                (0..count).map(|_| Sequence::new(start.wrapping_add(random.below(spread))).get()).collect();
            let mut queue = queue(numbers.iter().copied());
            let mut acknowledged: Vec<u64> = Vec::new();
            loop {
                let mut frame = Vec::new();
                if queue.transmit(64 + random.below(400) as usize, &mut frame).is_none() {
                    break;
                }
                let Ok(LinkPacket::Ack(ack)) = LinkPacket::decode(&frame) else { panic!() };
                acknowledged.extend(ack.sequences().map(Sequence::get));
            }
            numbers.sort_unstable();
            numbers.dedup();
            acknowledged.sort_unstable();
            assert_eq!(acknowledged, numbers);
        }
    }
}
