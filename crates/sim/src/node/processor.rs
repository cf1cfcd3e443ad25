//! A node's processor: how long packets keep it busy, and how long it has slept when they come.

use std::collections::VecDeque;

use packet::PacketKind;
use packet::time::{Duration, Instant};

use crate::arena::{LinkId, PacketId};
use crate::events::queue::Turn;
use crate::node::cpu_share::{CpuShare, Progress, Standstill, UsedQuota};
use crate::node::waking::{KindWaking, Waking};
use engine::FaceId;

/// Times for packets of each kind, with all of a core.
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
    /// How long it takes from when they come until a processor that sleeps begins with them. It has nothing
    /// to do meanwhile.
    pub latency: Duration,
}

/// How long a node takes for packets, and how many may wait for it. Applications on the node pass through the
/// same processor as links do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessorConfig {
    /// For an Interest, with all of a core.
    pub interest_time: Duration,
    /// For Data, with all of a core.
    pub data_time: Duration,
    /// For a Nack, with all of a core.
    pub nack_time: Duration,
    /// What packets take that come or leave by these links, in place of the times above.
    pub links: Vec<(LinkId, FaceTimes)>,
    /// What packets take that come from applications on the node or go to them, in place of the times above.
    pub applications: Option<FaceTimes>,
    /// What an Interest takes on top that the node's content store answers, with all of a core.
    pub answer_time: Duration,
    /// What it takes besides if it had found the processor asleep.
    pub answer_asleep: Waking,
    /// Packets that may wait; later ones are dropped.
    pub max_waiting: u32,
    /// How much of a core it has.
    pub share: CpuShare,
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
            max_waiting: 1000,
            share: CpuShare::WHOLE,
        }
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
    used: UsedQuota,
    busy_until: Instant,
    /// Since when it has been at work without a pause for what has come, and when it is done with that.
    awake_since: Instant,
    awake_until: Instant,
    /// Until when it was at work before, if it stood still in the middle of it.
    worked_until: Instant,
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
            used: UsedQuota::default(),
            busy_until: Instant::ZERO,
            awake_since: Instant::ZERO,
            awake_until: Instant::ZERO,
            worked_until: Instant::NEVER,
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
        let (begun, slept) = self.begin(now, by, kind);
        let ProcessorConfig { interest_time, data_time, nack_time, .. } = self.config;
        let by_kind = KindTimes { interest: interest_time, data: data_time, nack: nack_time };
        let work = match self.times(by) {
            Some(times) => times.arriving.of(kind) + times.arriving_asleep.after(kind, slept),
            None => by_kind.of(kind),
        };
        let done = self.charge(begun, work);
        // Also work that takes no time begins after the wait for it.
        (self.busy_until, self.awake_until) = (done, done);
        *self.last.of(kind) = Work { begun, done };
        Some(Admitted { done, slept })
    }

    /// When it begins with a packet that comes now, and how long it has slept for such a packet then; nothing
    /// if it is at work, and has been for one of the same kind since it woke up.
    fn begin(&mut self, now: Instant, by: Use, kind: PacketKind) -> (Instant, Option<Duration>) {
        let comes_asleep = now >= self.awake_until;
        let is_idle = comes_asleep && now >= self.busy_until;
        let latency = self.times(by).filter(|_| is_idle).map_or(Duration::ZERO, |times| times.latency);
        let ready = self.busy_until.max(now + latency);
        let begun = self.config.share.starts(self.used, ready);
        if begun > ready {
            self.stand_still(Standstill { from: ready, until: begun });
        } else if comes_asleep && now + latency >= self.awake_since {
            (self.awake_since, self.worked_until) = (now + latency, Instant::NEVER);
        }
        let last = *self.last.of(kind);
        let slept = (comes_asleep || last.begun < self.awake_since)
            .then(|| self.awake_since.max(now).saturating_since(last.done.min(self.worked_until)));
        (begun, slept)
    }

    /// Its quota is used up in the middle of its work: whatever comes next has to wake it up.
    fn stand_still(&mut self, standstill: Standstill) {
        (self.worked_until, self.awake_since) = (standstill.from, standstill.until);
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
        self.worked_until = Instant::NEVER;
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
        let Progress { done, stood_still } = self.config.share.done(&mut self.used, begins, work);
        if let Some(standstill) = stood_still {
            self.stand_still(standstill);
        }
        self.busy += match self.config.share {
            CpuShare::Slowed(_) => done.saturating_since(begins),
            CpuShare::Quotas(_) => work,
        };
        self.busy_until = done;
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::cpu_share::CpuQuota;

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
    fn who_finds_it_asleep_waits_until_it_begins_and_who_comes_meanwhile_is_done_with_him() {
        let mut processor = sleeper();
        processor.config.links[0].1.latency = Duration::from_micros(200);
        let mut done = |micros: u64| {
            let now = Instant::from_nanos(micros * 1000);
            let admitted = processor.admit(now, Use::Link(LinkId(7)), PacketKind::Interest);
            admitted.map(|admitted| admitted.done.as_nanos() / 1000)
        };
        assert_eq!(done(4_800), Some(5_060), "it begins at 5,000 and has slept for 5 ms");
        assert_eq!(done(4_900), Some(5_070), "it has no more to wait for than the other");
        assert_eq!(done(5_069), Some(5_080), "it is at work");
        assert_eq!(processor.busy, Duration::from_micros(80), "waiting is no work");
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
    fn work_that_straddles_a_standstill_leaves_waking_it_up_to_the_next() {
        let quota = CpuQuota { period: Duration::from_millis(10), runtime: Duration::from_micros(305) };
        let share = CpuShare::Quotas(vec![(Instant::ZERO, Some(quota))]);
        let mut processor = Processor::new(ProcessorConfig { share, ..sleeper().config });
        let mut takes =
            || (takes(&mut processor, 0, PacketKind::Interest), processor.busy_until.as_nanos() / 1000);
        let first = [(); 31].map(|()| takes());
        assert_eq!((first.map(|(work, _)| work), first[30].1), ([10; 31], 10_005));
        assert_eq!(takes().0, 106, "it stood still from 0.305 to 10 ms");
        assert_eq!([takes().0, takes().0], [10, 10], "only the first");
    }

    #[test]
    fn work_that_takes_no_time_waits_for_the_processor_like_all_other_and_stays_in_order() {
        let mut processor = sleeper();
        let nothing = FaceTimes { latency: Duration::from_micros(200), ..FaceTimes::default() };
        processor.config.links[0].1 = nothing;
        let mut done = |micros: u64| {
            let now = Instant::from_nanos(micros * 1000);
            let admitted = processor.admit(now, Use::Link(LinkId(7)), PacketKind::Interest);
            admitted.map(|admitted| admitted.done.as_nanos() / 1000)
        };
        assert_eq!([done(1_000), done(1_010), done(1_190)], [Some(1_200); 3]);
        assert_eq!(done(1_300), Some(1_500));
    }

    #[test]
    fn a_share_with_a_quota_is_woken_up_for_each_kind_where_it_has_stood_still() {
        let quota = CpuQuota { period: Duration::from_millis(10), runtime: Duration::from_micros(100) };
        let share = CpuShare::Quotas(vec![(Instant::ZERO, Some(quota))]);
        let mut processor = Processor::new(ProcessorConfig { share, ..sleeper().config });
        // All come at once, and wait for each other.
        let mut takes = |kind| (takes(&mut processor, 0, kind), processor.busy_until.as_nanos() / 1000);
        let interests = [(); 10].map(|()| takes(PacketKind::Interest));
        assert_eq!(interests.map(|(work, _)| work), [10; 10], "the quota of the first period");
        assert_eq!(interests[9].1, 100);
        assert_eq!(takes(PacketKind::Interest), (109, 20_009), "it stood still from 0.1 to 10 ms");
        assert_eq!(
            takes(PacketKind::Interest),
            (109, 30_018),
            "and from 10.1 to 20 ms, in the middle of one"
        );
        assert_eq!(takes(PacketKind::Data), (110, 40_028), "none has come so far");
        assert_eq!(takes(PacketKind::Data), (109, 50_037));
        let mut awake = sleeper();
        let mut takes = |kind| self::takes(&mut awake, 0, kind);
        assert_eq!([(); 30].map(|()| takes(PacketKind::Data)), [10; 30], "a whole core stays awake");
    }
}
