//! A node's processor: how long packets keep it busy, and how long it has slept when they come.

use std::collections::VecDeque;

use packet::PacketKind;
use packet::time::{Duration, Instant};

use crate::arena::{LinkId, PacketId};
use crate::events::queue::Turn;
use crate::node::waking::{KindWaking, Waking};
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

/// When the work for a packet began, and when it was done.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    begun: Instant,
    done: Instant,
}

/// The last work for packets of each kind. A Nack is an Interest that is on its way back.
#[derive(Debug, Default)]
struct LastWork {
    interest: Work,
    data: Work,
}

impl LastWork {
    fn of(&mut self, kind: PacketKind) -> &mut Work {
        match kind {
            PacketKind::Interest | PacketKind::Nack => &mut self.interest,
            PacketKind::Data => &mut self.data,
        }
    }
}

/// What packets take that use a face.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaceTimes {
    /// Of those that come: what is done before the node looks at them.
    pub arriving: KindTimes,
    /// Of those that leave. It delays them not, but what comes later.
    pub leaving: KindTimes,
    /// What those that come take on top where they find the processor asleep, by how long none of their kind
    /// had come.
    pub arriving_asleep: KindWaking,
    /// The same when they leave, of those that had found it asleep when they came.
    pub leaving_asleep: KindWaking,
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
    /// What it takes besides if it had found the processor asleep.
    pub answer_asleep: Waking,
    /// If the node has a share of a core only, how that is kept. `capacity` says how large it is; this says
    /// when it is woken up for the next part of its work.
    pub quota: Option<CpuQuota>,
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
            answer_asleep: Waking::NOTHING,
            quota: None,
            max_waiting: 1000,
            capacity: Vec::new(),
        }
    }
}

/// How a share of a processor is kept: for a part of each period it has all of a core, and for the rest of it
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuQuota {
    /// From one refill of the quota to the next.
    pub period: Duration,
    /// How long it has nothing in each: so long it has slept when the next period begins, although it was at
    /// work.
    pub throttled: Duration,
}

impl CpuQuota {
    /// The number of the period that an instant is in.
    fn period_number(self, at: Instant) -> u64 {
        at.as_nanos() / self.period.as_nanos().max(1)
    }
}

/// By what a packet comes or leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Link(LinkId),
    Application,
}

/// A packet whose work is planned.
#[derive(Debug)]
pub(crate) struct QueuedPacket {
    /// When it is done.
    pub(crate) turn: Turn,
    pub(crate) packet: PacketId,
    /// The face it came by.
    pub(crate) face: FaceId,
    /// How long the processor had slept when it came, if it had.
    pub(crate) slept: Option<Duration>,
}

/// When a packet will be done that has come, and how long the processor had slept, if it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Admitted {
    pub(crate) done: Instant,
    pub(crate) slept: Option<Duration>,
}

/// A processor: one packet at a time, first come, first served.
///
/// It is awake while it works for packets that have come, and sleeps as soon as it has looked at the last of
/// them: what packets take that leave does not keep it awake, nor does the work of applications. What waking
/// it up takes hangs on how long it has done nothing for packets of that kind: their code and tables are what
/// it has forgotten. So the first of each kind finds it asleep since it woke up.
#[derive(Debug)]
pub(crate) struct Processor {
    config: ProcessorConfig,
    busy_until: Instant,
    /// Since when it has been at work without a pause for what has come, and when it is done with that.
    awake_since: Instant,
    awake_until: Instant,
    last: LastWork,
    pub(crate) waiting: VecDeque<QueuedPacket>,
    /// How long it had slept when the packet came that the node looks at now.
    slept: Option<Duration>,
    pub(crate) dropped: u64,
    pub(crate) busy: Duration,
}

impl Processor {
    pub(crate) fn new(config: ProcessorConfig) -> Self {
        Processor {
            config,
            busy_until: Instant::ZERO,
            awake_since: Instant::ZERO,
            awake_until: Instant::ZERO,
            last: LastWork::default(),
            waiting: VecDeque::new(),
            slept: None,
            dropped: 0,
            busy: Duration::ZERO,
        }
    }

    /// When a packet that comes now will be done; `None` if it finds no room.
    pub(crate) fn admit(&mut self, now: Instant, by: Use, kind: PacketKind) -> Option<Admitted> {
        if self.waiting.len() as u64 >= u64::from(self.config.max_waiting) {
            self.dropped += 1;
            return None;
        }
        let slept = self.slept_for(now, kind);
        let ProcessorConfig { interest_time, data_time, nack_time, .. } = self.config;
        let by_kind = KindTimes { interest: interest_time, data: data_time, nack: nack_time };
        let work = match self.times(by) {
            Some(times) => times.arriving.of(kind) + times.arriving_asleep.after(kind, slept),
            None => by_kind.of(kind),
        };
        let begun = self.busy_until.max(now);
        let done = self.charge(now, work);
        self.awake_until = done;
        *self.last.of(kind) = Work { begun, done };
        Some(Admitted { done, slept })
    }

    /// How long it has slept for a packet of this kind that comes now; nothing if it is at work, and has been
    /// for such a packet since it woke up and since its period began.
    fn slept_for(&mut self, now: Instant, kind: PacketKind) -> Option<Duration> {
        let last = *self.last.of(kind);
        if now >= self.awake_until {
            self.awake_since = now;
        }
        if now >= self.awake_until || last.begun < self.awake_since {
            return Some(now.saturating_since(last.done));
        }
        let quota = self.config.quota?;
        let begins = self.busy_until.max(now);
        (quota.period_number(begins) > quota.period_number(last.begun)).then_some(quota.throttled)
    }

    /// Takes the packet whose work is done at this turn, for the node to look at;
    /// [`looked_at`](Self::looked_at) when it has.
    pub(crate) fn take(&mut self, turn: Turn) -> Option<(PacketId, FaceId)> {
        self.waiting.front().filter(|waiting| waiting.turn == turn)?;
        let waiting = self.waiting.pop_front()?;
        self.slept = waiting.slept;
        Some((waiting.packet, waiting.face))
    }

    /// The node has looked at the packet: what leaves from now on has not come.
    pub(crate) fn looked_at(&mut self) {
        self.slept = None;
    }

    /// Forgets all work, as a process that is started anew does; gives the packets that waited.
    pub(crate) fn restart(&mut self, now: Instant) -> VecDeque<QueuedPacket> {
        (self.busy_until, self.awake_since, self.awake_until) = (now, now, now);
        self.last = LastWork::default();
        self.slept = None;
        std::mem::take(&mut self.waiting)
    }

    /// Does what a packet that leaves takes.
    pub(crate) fn send(&mut self, now: Instant, by: Use, kind: PacketKind) {
        let work = self.times(by).map_or(Duration::ZERO, |times| {
            times.leaving.of(kind) + times.leaving_asleep.after(kind, self.slept)
        });
        // It does not keep the processor awake, but is no sleep for packets of its kind.
        self.last.of(kind).done = self.charge(now, work);
    }

    /// Does what an Interest takes that the node's content store answers.
    pub(crate) fn answer(&mut self, now: Instant) {
        let work = self.config.answer_time + self.config.answer_asleep.after(self.slept);
        self.charge(now, work);
    }

    fn times(&self, by: Use) -> Option<&FaceTimes> {
        match by {
            Use::Application => self.config.applications.as_ref(),
            Use::Link(link) => {
                let found = self.config.links.iter().find(|(known, _)| *known == link);
                found.map(|(_, times)| times)
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
            let admitted = processor.admit(Instant::ZERO, Use::Application, PacketKind::Data);
            assert_eq!(admitted.map(|admitted| admitted.done), expected.map(Instant::from_millis));
            processor.waiting.extend(admitted.map(|Admitted { done, slept }| QueuedPacket {
                turn: queue.turn(done, crate::events::rank::Rank::default()),
                packet: PacketId(0),
                face: FaceId(0),
                slept,
            }));
        }
        assert_eq!(processor.dropped, 1);
    }

    #[test]
    fn a_packet_takes_what_the_face_says_that_it_comes_by_and_the_one_that_it_leaves_by() {
        let micros = Duration::from_micros;
        let only_data = |data| KindTimes { data: micros(data), ..KindTimes::default() };
        let times = FaceTimes { arriving: only_data(10), leaving: only_data(3000), ..FaceTimes::default() };
        let config =
            ProcessorConfig { links: vec![(LinkId(7), times)], ..ProcessorConfig::uniform(micros(50)) };
        let mut processor = Processor::new(config);
        let mut came = |by, kind| {
            let before = processor.busy;
            let done = processor.admit(Instant::ZERO, by, kind).map(|admitted| admitted.done);
            processor.send(done.unwrap_or(Instant::NEVER), by, kind);
            processor.busy.saturating_sub(before).as_nanos() / 1000
        };
        assert_eq!(came(Use::Link(LinkId(7)), PacketKind::Data), 3010);
        assert_eq!(came(Use::Link(LinkId(7)), PacketKind::Interest), 0);
        assert_eq!(came(Use::Link(LinkId(8)), PacketKind::Data), 50, "another link is a link like all");
        assert_eq!(came(Use::Application, PacketKind::Interest), 50);
    }

    /// Interests and Data take 10 us by link 7, and a hundredth of how long it slept for them on top when
    /// they come; Data half of that again when they leave.
    fn sleeper() -> Processor {
        let rising = |takes| {
            Waking::new([
                (Duration::ZERO, Duration::ZERO),
                (Duration::from_millis(10), Duration::from_micros(takes)),
            ])
        };
        let base = Duration::from_micros(10);
        let times = FaceTimes {
            arriving: KindTimes { interest: base, data: base, nack: base },
            arriving_asleep: KindWaking { interest: rising(100), data: rising(100), ..KindWaking::default() },
            leaving_asleep: KindWaking { data: rising(50), ..KindWaking::default() },
            ..FaceTimes::default()
        };
        Processor::new(ProcessorConfig {
            links: vec![(LinkId(7), times)],
            answer_asleep: rising(20),
            ..ProcessorConfig::uniform(Duration::ZERO)
        })
    }

    /// What the processor does for a packet that comes at this microsecond.
    fn takes(processor: &mut Processor, micros: u64, kind: PacketKind) -> u64 {
        let before = processor.busy;
        let now = Instant::from_nanos(micros * 1000);
        processor.admit(now, Use::Link(LinkId(7)), kind).unwrap();
        processor.busy.saturating_sub(before).as_nanos() / 1000
    }

    #[test]
    fn who_comes_alone_pays_for_waking_and_who_comes_while_it_is_at_work_does_not() {
        let mut processor = sleeper();
        let interest = PacketKind::Interest;
        assert_eq!(takes(&mut processor, 5_000, interest), 60, "it has slept for 5 ms");
        assert_eq!(takes(&mut processor, 5_059, interest), 10, "it is at work until 5,060");
        assert_eq!(takes(&mut processor, 6_070, interest), 20, "it has slept for 1 ms again");
        assert_eq!(takes(&mut processor, 6_090, interest), 10, "at the very end it has not slept at all");
        assert_eq!(takes(&mut processor, 900_000, interest), 110, "and after long it stays the same");
    }

    #[test]
    fn waking_takes_what_the_packets_own_kind_was_away_for() {
        let mut processor = sleeper();
        assert_eq!(takes(&mut processor, 5_000, PacketKind::Data), 60);
        assert_eq!(takes(&mut processor, 7_000, PacketKind::Interest), 80, "none had come in 7 ms");
        assert_eq!(takes(&mut processor, 7_080, PacketKind::Data), 30, "at once after the Interest");
        assert_eq!(takes(&mut processor, 7_085, PacketKind::Data), 10, "it is at work");
    }

    #[test]
    fn the_first_of_a_kind_since_it_woke_up_finds_it_asleep_and_the_second_does_not() {
        let mut processor = sleeper();
        assert_eq!(takes(&mut processor, 5_000, PacketKind::Interest), 60, "until 5,060");
        assert_eq!(takes(&mut processor, 5_020, PacketKind::Data), 60, "no Data in 5 ms, until 5,120");
        assert_eq!(takes(&mut processor, 5_030, PacketKind::Data), 10);
        assert_eq!(takes(&mut processor, 5_110, PacketKind::Interest), 10, "one came since it woke up");
    }

    #[test]
    fn what_leaves_does_not_keep_the_processor_awake() {
        let mut processor = sleeper();
        let data = PacketKind::Data;
        assert_eq!(takes(&mut processor, 0, data), 10);
        processor.charge(Instant::from_nanos(10_000), Duration::from_millis(2));
        assert_eq!(takes(&mut processor, 1_010, data), 20, "what came was done a millisecond ago");
        assert_eq!(takes(&mut processor, 2_000, data), 10, "that one is done at 2,030");
    }

    #[test]
    fn for_packets_of_its_kind_what_leaves_is_no_sleep() {
        let mut processor = sleeper();
        let (link, data) = (Use::Link(LinkId(7)), PacketKind::Data);
        assert_eq!(takes(&mut processor, 10_000, data), 110, "until 10,110");
        processor.slept = Some(Duration::from_millis(10));
        processor.send(Instant::from_nanos(10_110_000), link, data);
        processor.looked_at();
        assert_eq!(takes(&mut processor, 11_160, data), 20, "it was done with the other's leaving at 10,160");
        assert_eq!(
            takes(&mut processor, 11_160, PacketKind::Interest),
            110,
            "for no Interest it ever worked"
        );
    }

    #[test]
    fn a_packet_remembers_until_it_leaves_how_long_the_processor_had_slept_when_it_came() {
        let mut processor = sleeper();
        let mut queue = crate::events::queue::EventQueue::default();
        let mut turns = Vec::new();
        for micros in [4_000, 4_001] {
            let now = Instant::from_nanos(micros * 1000);
            let Admitted { done, slept } =
                processor.admit(now, Use::Link(LinkId(7)), PacketKind::Data).unwrap();
            let turn = queue.turn(done, crate::events::rank::Rank::default());
            turns.push(turn);
            processor.waiting.push_back(QueuedPacket { turn, packet: PacketId(0), face: FaceId(0), slept });
        }
        assert_eq!(processor.take(turns[1]), None, "the other is first");
        let mut leaves = |turn: Option<Turn>| {
            let before = processor.busy;
            let taken = turn.is_some_and(|turn| processor.take(turn).is_some());
            processor.send(Instant::from_millis(5), Use::Link(LinkId(7)), PacketKind::Data);
            let sent = processor.busy;
            processor.answer(Instant::from_millis(5));
            processor.looked_at();
            let spans = [sent.saturating_sub(before), processor.busy.saturating_sub(sent)];
            (taken, spans.map(|span| span.as_nanos() / 1000))
        };
        assert_eq!(leaves(Some(turns[0])), (true, [20, 8]), "4 ms");
        assert_eq!(leaves(Some(turns[1])), (true, [0, 0]), "it was at work when the second came");
        assert_eq!(leaves(None), (false, [0, 0]), "what no packet caused");
    }

    #[test]
    fn a_processor_that_was_restarted_has_nothing_to_do_and_is_asleep() {
        let mut processor = sleeper();
        let interest = PacketKind::Interest;
        assert_eq!(takes(&mut processor, 5_000, interest), 60);
        processor.charge(Instant::from_millis(5), Duration::from_secs(1));
        assert!(processor.restart(Instant::from_millis(6)).is_empty());
        let admitted = processor.admit(Instant::from_millis(6), Use::Link(LinkId(7)), interest);
        assert_eq!(admitted.map(|admitted| admitted.done), Some(Instant::from_nanos(6_070_000)), "60 and 10");
    }

    #[test]
    fn a_share_with_a_quota_is_woken_up_in_each_period_for_each_kind() {
        let quota = CpuQuota { period: Duration::from_millis(100), throttled: Duration::from_millis(9) };
        let config =
            ProcessorConfig { quota: Some(quota), capacity: vec![(Instant::ZERO, 10)], ..sleeper().config };
        let mut processor = Processor::new(config);
        // At a hundredth of a core 10 us take 1 ms. All come at once, and wait for each other.
        let mut takes = |kind| takes(&mut processor, 0, kind);
        assert_eq!([(); 100].map(|()| takes(PacketKind::Interest)), [1_000; 100], "to the period's end");
        assert_eq!(takes(PacketKind::Interest), 10_000, "in the second, after 9 ms of nothing");
        assert_eq!(takes(PacketKind::Data), 10_000, "the first in this period");
        assert_eq!(takes(PacketKind::Data), 1_000, "the second");
        assert_eq!(takes(PacketKind::Interest), 1_000, "both have come in this period");
        let mut awake = Processor::new(ProcessorConfig { quota: None, ..processor.config });
        let mut takes = |kind| self::takes(&mut awake, 0, kind);
        assert_eq!([(); 30].map(|()| takes(PacketKind::Data)), [1_000; 30], "a whole core stays awake");
    }
}
