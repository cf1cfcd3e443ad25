//! Staying awake for answers that are about to come.
//!
//! To wake a sleeping processor takes longer than to answer an Interest next door. When little is pending,
//! the data plane therefore stays awake for a moment after it has sent an Interest on. Where answers take
//! longer than that moment, it soon gives up, and tries again ever more rarely: an idle node uses no
//! processor time, and one whose producers are far away next to none for this.

use packet::time::{Duration, Instant};

/// More Interests than these are a load, under which the data plane hardly sleeps anyway.
pub(in crate::plane) const FEW_PENDING: u32 = 8;
/// After many busy polls in vain, one in so many is held, as a power of two.
const MAX_RESTRAINT: u32 = 8;

/// Whether to stay awake, and until when.
#[derive(Debug, Default)]
pub(in crate::plane) struct BusyPoll {
    until: Option<Instant>,
    /// Busy polls in vain, one after another.
    in_vain: u32,
    /// Busy polls to leave out before the next.
    left_out: u32,
}

impl BusyPoll {
    /// An Interest has been sent on, whose answer is worth a busy poll of `length`; zero for none.
    pub(in crate::plane) fn begin(&mut self, now: Instant, length: Duration) {
        if length == Duration::ZERO || self.until.is_some() {
            return;
        }
        if self.left_out > 0 {
            self.left_out -= 1;
            return;
        }
        self.until = Some(now + length);
    }

    /// Something has come, perhaps while everybody slept.
    pub(in crate::plane) fn arrived(&mut self) {
        if self.until.take().is_some() {
            self.in_vain = 0;
        }
    }

    /// Whether one has begun and not been seen to end.
    pub(in crate::plane) fn is_on(&self) -> bool {
        self.until.is_some()
    }

    /// Whether to stay awake at `now`.
    pub(in crate::plane) fn is_held(&mut self, now: Instant) -> bool {
        let Some(until) = self.until else { return false };
        if now < until {
            return true;
        }
        self.until = None;
        self.in_vain = (self.in_vain + 1).min(MAX_RESTRAINT);
        self.left_out = (1 << self.in_vain) - 1;
        false
    }
}

/// What decides whether the data plane sleeps when it has nothing to do.
pub(in crate::plane) struct Waking {
    pub(in crate::plane) last_work: Instant,
    pub(in crate::plane) busy_poll: BusyPoll,
    pub(in crate::plane) arrival_gaps: ArrivalGaps,
    /// Polling for the next of many close arrivals.
    pub(in crate::plane) arrival_poll: BusyPoll,
    /// Whether an Interest has been sent on in this turn.
    pub(in crate::plane) asked: bool,
    /// Whether the last wait brought something.
    pub(in crate::plane) had_events: bool,
    /// Packets that have come in this turn.
    pub(in crate::plane) packets: usize,
}

impl Waking {
    pub(in crate::plane) fn new(now: Instant) -> Self {
        Waking {
            last_work: now,
            busy_poll: BusyPoll::default(),
            arrival_gaps: ArrivalGaps::default(),
            arrival_poll: BusyPoll::default(),
            asked: false,
            had_events: false,
            packets: 0,
        }
    }
}

/// Arrivals that come closer together than this come one upon the other, as requests of a program that waits
/// for each answer do.
const CLOSE: Duration = Duration::from_micros(50);
/// After so many of them, one after another, the next is polled for.
const CLOSE_ARRIVALS: u32 = 16;

/// More packets than these in one turn share what waking up takes, which is less for each than polling would.
const FEW_PACKETS: usize = 8;

/// Tells from the gaps between arrivals whether to sleep and be woken costs more than to poll for the next.
#[derive(Debug, Default)]
pub(in crate::plane) struct ArrivalGaps {
    close: u32,
}

impl ArrivalGaps {
    /// Something has come, so long after what came before.
    #[inline]
    pub(in crate::plane) fn arrived(&mut self, gap: Duration) {
        self.close = if gap <= CLOSE { (self.close + 1).min(CLOSE_ARRIVALS) } else { self.close / 2 };
    }

    /// How long the next arrival is worth polling for, so many packets having come in this turn; zero for not
    /// at all.
    #[inline]
    pub(in crate::plane) fn poll_time(&self, packets: usize) -> Duration {
        let is_worth_it = self.close >= CLOSE_ARRIVALS && packets <= FEW_PACKETS;
        if is_worth_it { CLOSE } else { Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: Duration = Duration::from_micros(100);

    #[test]
    fn only_arrivals_that_come_one_upon_the_other_are_polled_for_and_a_few_gaps_end_it() {
        let mut gaps = ArrivalGaps::default();
        for _ in 1..CLOSE_ARRIVALS {
            gaps.arrived(Duration::from_micros(10));
            assert_eq!(gaps.poll_time(1), Duration::ZERO);
        }
        gaps.arrived(Duration::from_micros(10));
        assert_eq!(gaps.poll_time(1), CLOSE);
        gaps.arrived(Duration::from_millis(1));
        assert_eq!(gaps.poll_time(1), Duration::ZERO);
        for _ in 0..1000 {
            gaps.arrived(Duration::from_micros(60));
        }
        assert_eq!((gaps.poll_time(1), gaps.close), (Duration::ZERO, 0));
    }

    #[test]
    fn where_many_packets_come_at_once_the_next_are_not_polled_for_however_close_they_are() {
        let mut gaps = ArrivalGaps::default();
        (0..CLOSE_ARRIVALS).for_each(|_| gaps.arrived(Duration::from_micros(10)));
        let worth_it = |packets| gaps.poll_time(packets) > Duration::ZERO;
        assert!(worth_it(0) && worth_it(FEW_PACKETS) && !worth_it(FEW_PACKETS + 1));
    }

    /// Time awake while `count` Interests are sent, one each millisecond, whose answers take `answer`.
    fn awake(busy_poll: &mut BusyPoll, count: u64, answer: Duration) -> Duration {
        let step = Duration::from_micros(1);
        let mut awake = Duration::ZERO;
        for number in 0..count {
            let sent = Instant::ZERO + Duration::from_millis(1) * number;
            busy_poll.begin(sent, LENGTH);
            let mut now = sent;
            while now < sent + Duration::from_millis(1) {
                if now.saturating_since(sent) >= answer {
                    busy_poll.arrived();
                    break;
                }
                if busy_poll.is_held(now) {
                    awake += step;
                }
                now += step;
            }
        }
        awake
    }

    #[test]
    fn it_lasts_until_the_answer_comes_where_answers_are_quick() {
        let mut busy_poll = BusyPoll::default();
        assert_eq!(awake(&mut busy_poll, 1000, Duration::from_micros(40)), Duration::from_millis(40));
        assert!(!busy_poll.is_held(Instant::ZERO));
    }

    #[test]
    fn where_answers_are_slow_it_is_held_ever_more_rarely_and_as_soon_as_they_are_quick_for_each() {
        let mut busy_poll = BusyPoll::default();
        let (first, later) =
            [1000, 10_000].map(|count| awake(&mut busy_poll, count, Duration::from_micros(600))).into();
        assert!(first <= LENGTH * 12, "{first}");
        assert!(later <= LENGTH * 41, "{later}");
        awake(&mut busy_poll, 1 << MAX_RESTRAINT, Duration::from_micros(40));
        assert_eq!(awake(&mut busy_poll, 1000, Duration::from_micros(40)), Duration::from_millis(40));
    }

    #[test]
    fn there_is_none_where_it_is_turned_off_and_one_does_not_grow_with_more_interests() {
        let mut busy_poll = BusyPoll::default();
        busy_poll.begin(Instant::ZERO, Duration::ZERO);
        assert!(!busy_poll.is_held(Instant::ZERO));
        for number in 0..90 {
            busy_poll.begin(Instant::ZERO + Duration::from_micros(number), LENGTH);
        }
        assert!(busy_poll.is_held(Instant::ZERO + Duration::from_micros(99)));
        assert!(!busy_poll.is_held(Instant::ZERO + LENGTH));
    }
}
