//! A node's processor: how long packets keep it busy.

use std::collections::VecDeque;

use packet::PacketKind;
use packet::time::{Duration, Instant};

use crate::arena::{LinkId, PacketId};
use crate::events::queue::Turn;
use engine::FaceId;

/// Times for packets of each kind, at full capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindTimes {
    /// For an Interest.
    pub interest: Duration,
    /// For Data.
    pub data: Duration,
    /// For a Nack.
    pub nack: Duration,
}

impl KindTimes {
    fn of(self, kind: PacketKind) -> Duration {
        match kind {
            PacketKind::Interest => self.interest,
            PacketKind::Data => self.data,
            PacketKind::Nack => self.nack,
        }
    }
}

/// What packets take that use a face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaceTimes {
    /// Of those that come: what is done before the node looks at them.
    pub arriving: KindTimes,
    /// Of those that leave. It delays them not, but what comes later.
    pub leaving: KindTimes,
}

/// How long a node takes for packets, and how many may wait for it. Applications on the node pass through the
/// same processor as links do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessorConfig {
    /// For an Interest, at full capacity.
    pub interest_time: Duration,
    /// For Data, at full capacity.
    pub data_time: Duration,
    /// For a Nack, at full capacity.
    pub nack_time: Duration,
    /// What packets take that come or leave by these links, in place of the times above.
    pub links: Vec<(LinkId, FaceTimes)>,
    /// What packets take that come from applications on the node or go to them, in place of the times above.
    pub applications: Option<FaceTimes>,
    /// What an Interest takes on top that the node's content store answers, at full capacity.
    pub answer_time: Duration,
    /// Packets that may wait; later ones are dropped.
    pub max_waiting: u32,
    /// From when on how much capacity is there, in thousandths of the full one, in order of time. Before the
    /// first entry it is full.
    pub capacity: Vec<(Instant, u32)>,
}

impl ProcessorConfig {
    /// The same time for packets of all kinds, and room for a thousand of them.
    pub const fn uniform(time: Duration) -> Self {
        ProcessorConfig {
            interest_time: time,
            data_time: time,
            nack_time: time,
            links: Vec::new(),
            applications: None,
            answer_time: Duration::ZERO,
            max_waiting: 1000,
            capacity: Vec::new(),
        }
    }
}

/// By what a packet comes or leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Link(LinkId),
    Application,
}

/// A processor: one packet at a time, first come, first served.
#[derive(Debug)]
pub(crate) struct Processor {
    config: ProcessorConfig,
    busy_until: Instant,
    /// When each is done, the packet, and the face it came by.
    pub(crate) waiting: VecDeque<(Turn, PacketId, FaceId)>,
    pub(crate) dropped: u64,
    pub(crate) busy: Duration,
}

impl Processor {
    pub(crate) fn new(config: ProcessorConfig) -> Self {
        Processor {
            config,
            busy_until: Instant::ZERO,
            waiting: VecDeque::new(),
            dropped: 0,
            busy: Duration::ZERO,
        }
    }

    /// When a packet that comes now will be done; `None` if it finds no room.
    pub(crate) fn admit(&mut self, now: Instant, by: Use, kind: PacketKind) -> Option<Instant> {
        if self.waiting.len() as u64 >= u64::from(self.config.max_waiting) {
            self.dropped += 1;
            return None;
        }
        let ProcessorConfig { interest_time, data_time, nack_time, .. } = self.config;
        let by_kind = KindTimes { interest: interest_time, data: data_time, nack: nack_time };
        let times = self.times(by).map_or(by_kind, |times| times.arriving);
        Some(self.charge(now, times.of(kind)))
    }

    /// Does what a packet that leaves takes.
    pub(crate) fn send(&mut self, now: Instant, by: Use, kind: PacketKind) {
        let time = self.times(by).map_or(Duration::ZERO, |times| times.leaving.of(kind));
        self.charge(now, time);
    }

    /// Does what an Interest takes that the node's content store answers.
    pub(crate) fn answer(&mut self, now: Instant) {
        self.charge(now, self.config.answer_time);
    }

    fn times(&self, by: Use) -> Option<FaceTimes> {
        match by {
            Use::Application => self.config.applications,
            Use::Link(link) => {
                let found = self.config.links.iter().find(|(known, _)| *known == link);
                found.map(|(_, times)| *times)
            }
        }
    }

    /// Does this work after what it has to do already; says when it is done.
    pub(crate) fn charge(&mut self, now: Instant, work: Duration) -> Instant {
        if work == Duration::ZERO {
            return self.busy_until.max(now);
        }
        let begins = self.busy_until.max(now);
        let done = self.done(begins, work);
        self.busy += done.saturating_since(begins);
        self.busy_until = done;
        done
    }

    /// When `work` that begins at `begins` is done, while the capacity changes.
    fn done(&self, begins: Instant, work: Duration) -> Instant {
        let mut at = begins;
        let mut left = u128::from(work.as_nanos()) * 1000;
        let mut thousandths = 1000u128;
        for &(from, capacity) in &self.config.capacity {
            if from > at {
                let span = u128::from(from.saturating_since(at).as_nanos());
                if span * thousandths >= left {
                    break;
                }
                left -= span * thousandths;
                at = from;
            }
            thousandths = capacity.into();
        }
        match left.checked_div(thousandths) {
            _ if left == 0 => at,
            None => Instant::NEVER,
            Some(_) => {
                at + Duration::from_nanos(u64::try_from(left.div_ceil(thousandths)).unwrap_or(u64::MAX))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_longer_when_there_is_less_capacity() {
        let config = ProcessorConfig {
            capacity: vec![
                (Instant::from_millis(10), 500),
                (Instant::from_millis(20), 0),
                (Instant::from_millis(30), 2000),
            ],
            ..ProcessorConfig::uniform(Duration::from_millis(4))
        };
        let processor = Processor::new(config);
        let done = |at| processor.done(Instant::from_millis(at), Duration::from_millis(4)).as_nanos() / 1000;
        assert_eq!(done(0), 4_000);
        assert_eq!(done(8), 14_000, "half in 2 ms, the other half at half speed");
        assert_eq!(done(18), 31_500, "a quarter in 2 ms, nothing for 10 ms, the rest at double speed");
        assert_eq!(done(40), 42_000);
    }

    #[test]
    fn who_finds_the_queue_full_is_dropped() {
        let config = ProcessorConfig { max_waiting: 2, ..ProcessorConfig::uniform(Duration::from_millis(1)) };
        let mut processor = Processor::new(config);
        let mut queue = crate::events::queue::EventQueue::default();
        for expected in [Some(1), Some(2), None] {
            let done = processor.admit(Instant::ZERO, Use::Application, PacketKind::Data);
            assert_eq!(done, expected.map(Instant::from_millis));
            processor.waiting.extend(
                done.map(|at| (queue.turn(at, crate::events::rank::Rank::default()), PacketId(0), FaceId(0))),
            );
        }
        assert_eq!(processor.dropped, 1);
    }

    #[test]
    fn a_packet_takes_what_the_face_says_that_it_comes_by_and_the_one_that_it_leaves_by() {
        let micros = Duration::from_micros;
        let only_data = |data| KindTimes { data: micros(data), ..KindTimes::default() };
        let times = FaceTimes { arriving: only_data(10), leaving: only_data(3000) };
        let config =
            ProcessorConfig { links: vec![(LinkId(7), times)], ..ProcessorConfig::uniform(micros(50)) };
        let mut processor = Processor::new(config);
        let mut came = |by, kind| {
            let before = processor.busy;
            let done = processor.admit(Instant::ZERO, by, kind).unwrap_or(Instant::NEVER);
            processor.send(done, by, kind);
            processor.busy.saturating_sub(before).as_nanos() / 1000
        };
        assert_eq!(came(Use::Link(LinkId(7)), PacketKind::Data), 3010);
        assert_eq!(came(Use::Link(LinkId(7)), PacketKind::Interest), 0);
        assert_eq!(came(Use::Link(LinkId(8)), PacketKind::Data), 50, "another link is a link like all");
        assert_eq!(came(Use::Application, PacketKind::Interest), 50);
    }
}
