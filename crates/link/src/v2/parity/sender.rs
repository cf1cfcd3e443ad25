//! What a sender makes of the frames that leave.

use packet::ndn::tlv::MAX_PACKET_BYTES;
use packet::time::{Duration, Instant};

use super::block::{OpenBlock, overhead_bytes};
use super::repair_watch::{Decision, RepairWatch};
use super::{MIN_BLOCK, ParityConfig, is_in_blocks};

/// The frames of the block that is open, and when parity frames are worth it.
#[derive(Debug)]
pub(crate) struct ParitySender {
    config: ParityConfig,
    /// The longest frame whose parity frame fits the MTU.
    longest_bytes: usize,
    watch: RepairWatch,
    block: OpenBlock,
    /// Frames that the next block is to have, by how many are repaired all the same.
    block_frames: usize,
    /// Those of the block that is open; none if there is none.
    wanted_frames: usize,
    /// When it was opened.
    since: Instant,
    /// When it is too old, or has waited for long enough for another frame.
    due: Instant,
    /// Parity frames of this window.
    sent: u32,
}

impl ParitySender {
    pub(crate) fn new(config: &ParityConfig, mtu_bytes: Option<usize>) -> Self {
        // Lengths in a parity frame have two bytes.
        let mtu_bytes = mtu_bytes.unwrap_or(MAX_PACKET_BYTES).min(usize::from(u16::MAX));
        ParitySender {
            longest_bytes: mtu_bytes.saturating_sub(overhead_bytes(config.max_block)),
            watch: RepairWatch::default(),
            block: OpenBlock::default(),
            block_frames: config.max_block,
            wanted_frames: 0,
            since: Instant::ZERO,
            due: Instant::NEVER,
            sent: 0,
            config: config.clone(),
        }
    }

    /// Whether parity frames are sent at present.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.watch.is_on()
    }

    /// A frame leaves.
    #[inline]
    pub(crate) fn note(&mut self, now: Instant, frame: &[u8]) {
        if !is_in_blocks(frame) {
            return;
        }
        let decision = self.watch.note(now, frame);
        if decision != Decision::None || self.is_on() {
            self.take(now, frame, decision);
        }
    }

    fn take(&mut self, now: Instant, frame: &[u8], decision: Decision) {
        match decision {
            Decision::None => {}
            Decision::Begin => self.block_frames = (self.config.max_block * 3 / 4).max(MIN_BLOCK),
            Decision::Repairs(repairs) => self.follow(repairs),
            Decision::End => return self.close(),
        }
        if frame.len() > self.longest_bytes || frame.is_empty() {
            return;
        }
        // The parity frame was not asked for in time.
        if self.is_complete() {
            self.close();
        }
        if self.block.len() == 0 {
            (self.since, self.wanted_frames) = (now, self.block_frames);
        }
        self.block.add(frame);
        self.due = (self.since + self.config.max_age).min(now + self.pause(now));
    }

    /// As many parity frames as repairs cost least: half as many frames to a block need twice as many of the
    /// one, and about half as many of the other.
    fn follow(&mut self, repairs: u32) {
        let sent = std::mem::take(&mut self.sent);
        let frames = self.block_frames;
        if repairs > 2 * sent {
            self.block_frames = (frames - frames / 4).max(MIN_BLOCK);
        } else if 2 * repairs < sent {
            self.block_frames = (frames + frames / 4 + 1).min(self.config.max_block);
        }
    }

    fn is_complete(&self) -> bool {
        self.block.len() > 0 && self.block.len() >= self.wanted_frames
    }

    /// How long no frame comes until that is a pause: frames on a slow link are far between.
    fn pause(&self, now: Instant) -> Duration {
        let apart = now.saturating_since(self.since) / self.block.len().saturating_sub(1).max(1) as u64;
        if self.is_worth_it() { self.config.max_pause.max(apart * 2) } else { self.config.max_age }
    }

    /// Whether a parity frame of these frames costs no more than what it can spare.
    fn is_worth_it(&self) -> bool {
        self.block.len() >= self.watch.least_block().max(MIN_BLOCK)
    }

    fn close(&mut self) {
        self.block.clear();
        (self.due, self.wanted_frames) = (Instant::NEVER, 0);
    }

    /// Whether a parity frame is to leave.
    #[inline]
    pub(crate) fn wants_transmit(&self) -> bool {
        self.due == Instant::ZERO || self.is_complete()
    }

    /// Appends the parity frame that is to leave, if there is one.
    pub(crate) fn transmit(&mut self, frames: &mut Vec<u8>) -> bool {
        let wanted = self.wants_transmit();
        if wanted {
            self.block.encode(frames);
            self.sent += 1;
            self.close();
        }
        wanted
    }

    /// Lets a block go that is too old, or forgets it if it is so small that sending its frames again costs
    /// no more.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.due > now || self.wants_transmit() {
            return;
        }
        if self.is_worth_it() {
            self.due = Instant::ZERO;
        } else {
            self.close();
        }
    }

    pub(crate) fn next_deadline(&self) -> Instant {
        self.due
    }
}

#[cfg(test)]
mod tests {
    use packet::ndn::lp::LpPacketView;

    use super::super::block::BlockView;
    use super::super::repair_watch::WINDOW;
    use super::*;

    const MICROSECOND: Duration = Duration::from_micros(1);

    struct Bench {
        sender: ParitySender,
        now: Instant,
        next: u32,
        /// Frames in each parity frame that left.
        blocks: Vec<usize>,
        longest: usize,
    }

    impl Bench {
        fn new() -> Self {
            let sender = ParitySender::new(&ParityConfig::default(), Some(1500));
            Bench { sender, now: Instant::ZERO, next: 1000, blocks: Vec::new(), longest: 0 }
        }

        fn frame(&mut self, number: u32, len: usize) {
            self.now += Duration::from_micros(100);
            let mut frame = vec![6; len];
            frame[2..6].copy_from_slice(&number.to_le_bytes());
            self.sender.note(self.now, &frame);
            self.poll();
        }

        fn poll(&mut self) {
            let mut wire = Vec::new();
            while self.sender.transmit(&mut wire) {
                let view = LpPacketView::decode(&wire).unwrap();
                self.blocks.push(BlockView::decode(view.parity).unwrap().hashes().count());
                self.longest = self.longest.max(wire.len());
                wire.clear();
            }
        }

        /// Some windows in which one frame in so many is a repair; none for zero.
        fn windows(&mut self, count: u32, one_in: u32) {
            for place in 0..count * WINDOW {
                let again = one_in > 0 && place % one_in == one_in - 1;
                let number = if again { self.next - 19 } else { self.next };
                self.next += 1;
                self.frame(number, 1250);
            }
        }

        /// Parity is on.
        fn on() -> Self {
            let mut bench = Bench::new();
            bench.windows(1, 3);
            assert!(bench.sender.is_on());
            bench.blocks.clear();
            bench.sender.close();
            bench
        }
    }

    #[test]
    fn without_repairs_not_a_byte_of_parity_leaves() {
        let mut bench = Bench::new();
        bench.windows(40, 0);
        bench.windows(40, 30);
        assert_eq!((bench.blocks.len(), bench.longest), (0, 0));
        assert_eq!(bench.sender.next_deadline(), Instant::NEVER);
    }

    #[test]
    fn a_parity_frame_leaves_after_each_block_and_fits_the_mtu() {
        let mut bench = Bench::on();
        (0..24).for_each(|number| bench.frame(1_000_000 + number, 1300));
        assert_eq!(bench.blocks, [12, 12]);
        assert!(bench.longest > 1300 && bench.longest <= 1500, "{}", bench.longest);
    }

    #[test]
    fn frames_as_long_as_the_mtu_and_interests_are_in_no_block() {
        let mut bench = Bench::on();
        (0..100).for_each(|number| bench.frame(1_000_000 + number, 1490));
        assert_eq!(bench.blocks, [0; 0]);
        (0..100).for_each(|_| bench.sender.note(bench.now, &[5, 2, 7, 0]));
        bench.poll();
        assert_eq!(bench.blocks, [0; 0]);
    }

    #[test]
    fn a_block_that_no_frame_completes_leaves_after_a_pause_unless_it_is_small() {
        for (frames, blocks) in [(MIN_BLOCK - 1, vec![]), (MIN_BLOCK, vec![MIN_BLOCK])] {
            let mut bench = Bench::on();
            (0..frames).for_each(|number| bench.frame(1_000_000 + number as u32, 100));
            bench.sender.handle_timeout(bench.now + ParityConfig::default().max_pause - MICROSECOND);
            bench.poll();
            assert_eq!(bench.blocks, [0; 0]);
            let due = bench.sender.next_deadline();
            assert!(due < bench.now + ParityConfig::default().max_age);
            bench.sender.handle_timeout(due);
            bench.poll();
            assert_eq!(bench.blocks, blocks);
            assert_eq!(bench.sender.next_deadline(), Instant::NEVER);
        }
    }

    /// A frame takes so long on the link, one after the other.
    fn blocks_of_frames_apart(apart: Duration) -> Vec<usize> {
        let mut bench = Bench::on();
        for number in 0..100 {
            let next = bench.now + apart;
            while bench.sender.next_deadline() < next {
                bench.sender.handle_timeout(bench.sender.next_deadline());
                bench.poll();
            }
            bench.now = next;
            bench.frame(1_000_000 + number, 1000);
        }
        bench.blocks
    }

    #[test]
    fn on_a_slow_link_blocks_are_as_large_as_on_a_fast_one_or_none_leaves() {
        let fast = blocks_of_frames_apart(Duration::from_micros(100));
        assert_eq!(fast, [12; 8]);
        assert_eq!(blocks_of_frames_apart(Duration::from_millis(1)), fast);
        assert!(
            blocks_of_frames_apart(Duration::from_millis(5)).iter().all(|frames| (7..=8).contains(frames))
        );
        assert_eq!(blocks_of_frames_apart(Duration::from_millis(20)), [0; 0]);
    }

    #[test]
    fn a_block_that_costs_more_than_it_can_spare_is_forgotten() {
        let mut bench = Bench::new();
        bench.windows(1, 11);
        assert!(bench.sender.is_on());
        bench.blocks.clear();
        bench.sender.close();
        for (frames, blocks) in [(11, vec![]), (12, vec![12])] {
            (0..frames).for_each(|number| bench.frame(1_000_000 + number, 100));
            bench.sender.handle_timeout(bench.now + Duration::from_secs(1));
            bench.poll();
            assert_eq!(bench.blocks, blocks);
        }
    }

    #[test]
    fn blocks_are_smaller_where_more_is_repaired_all_the_same() {
        let (mut few, mut many) = (Bench::on(), Bench::on());
        few.windows(8, 200);
        many.windows(8, 5);
        assert_eq!(few.blocks.last(), Some(&ParityConfig::default().max_block));
        assert!(many.blocks.last() < many.blocks.first(), "{:?}", many.blocks);
    }

    #[test]
    fn a_block_that_nobody_asked_for_makes_room_for_the_next() {
        let mut bench = Bench::on();
        for number in 0..1000_u32 {
            bench.sender.note(bench.now, &[&[6], &number.to_le_bytes()[..]].concat());
            assert!(bench.sender.block.len() <= ParityConfig::default().max_block);
        }
        bench.poll();
        assert!(bench.blocks.len() <= 1);
    }
}
