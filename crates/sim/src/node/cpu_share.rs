//! How much of a core a node has, and when its work is done with that.

use packet::time::{Duration, Instant};

/// How much of a core a node has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CpuShare {
    /// So many thousandths of a core from these instants on, in order of time, and all of it before the
    /// first. Work takes longer by that.
    Slowed(Vec<(Instant, u32)>),
    /// As the kernel keeps a share (`cpu.max` of control groups): at full speed until the quota of a period
    /// is used up, and then nothing until the next. From these instants on, in order of time; `None`, and
    /// before the first, is all of a core. Periods begin at zero.
    Quotas(Vec<(Instant, Option<CpuQuota>)>),
}

/// What a share is in each period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuQuota {
    /// From one quota to the next.
    pub period: Duration,
    /// How long it may be at work in each.
    pub runtime: Duration,
}

/// What is used of the quota of one period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UsedQuota {
    /// Which entry of the list, counted from one, and which of its periods.
    period: (usize, u64),
    used: Duration,
}

/// When work is done, and the last time on the way that it had to wait for more of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) done: Instant,
    pub(crate) stood_still: Option<Standstill>,
}

/// A time in which a quota is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standstill {
    pub(crate) from: Instant,
    pub(crate) until: Instant,
}

/// What counts at an instant.
#[derive(Clone, Copy)]
struct Rule {
    /// Which entry of the list, counted from one; zero before the first.
    number: usize,
    quota: Option<CpuQuota>,
    /// Until when, without this instant.
    until: Instant,
}

impl Rule {
    fn at(list: &[(Instant, Option<CpuQuota>)], at: Instant) -> Self {
        let number = list.partition_point(|(from, _)| *from <= at);
        let quota = number.checked_sub(1).and_then(|last| list.get(last)).and_then(|(_, quota)| *quota);
        Rule { number, quota, until: list.get(number).map_or(Instant::NEVER, |(from, _)| *from) }
    }
}

impl CpuQuota {
    fn period_of(self, at: Instant) -> u64 {
        at.as_nanos() / self.period.as_nanos().max(1)
    }

    fn end_of(self, period: u64) -> Instant {
        Instant::ZERO + self.period.max(Duration::from_nanos(1)) * period.saturating_add(1)
    }
}

impl CpuShare {
    /// All of a core.
    pub const WHOLE: CpuShare = CpuShare::Slowed(Vec::new());

    /// When work can begin that is there at this instant, after this has been used.
    pub(crate) fn starts(&self, used: UsedQuota, mut at: Instant) -> Instant {
        let CpuShare::Quotas(list) = self else { return at };
        loop {
            let rule = Rule::at(list, at);
            let Some(quota) = rule.quota else { return at };
            let period = quota.period_of(at);
            let gone = if used.period == (rule.number, period) { used.used } else { Duration::ZERO };
            if gone < quota.runtime {
                return at;
            }
            // Who never gets anything waits for another rule.
            let next = if quota.runtime == Duration::ZERO { Instant::NEVER } else { quota.end_of(period) };
            at = next.min(rule.until);
            if at == Instant::NEVER {
                return at;
            }
        }
    }

    /// When `work` is done that begins at this instant, or as soon as it can.
    pub(crate) fn done(&self, used: &mut UsedQuota, begins: Instant, work: Duration) -> Progress {
        match self {
            CpuShare::Slowed(list) => Progress { done: slowed(list, begins, work), stood_still: None },
            CpuShare::Quotas(list) => self.done_by_quotas(list, used, begins, work),
        }
    }

    fn done_by_quotas(
        &self,
        list: &[(Instant, Option<CpuQuota>)],
        used: &mut UsedQuota,
        begins: Instant,
        work: Duration,
    ) -> Progress {
        let (mut at, mut left, mut stood_still) = (begins, work, None);
        loop {
            let from = at;
            at = self.starts(*used, from);
            if at > from {
                stood_still = Some(Standstill { from, until: at });
            }
            if left == Duration::ZERO || at == Instant::NEVER {
                return Progress { done: at, stood_still };
            }
            let rule = Rule::at(list, at);
            let mut span = left.min(rule.until.saturating_since(at));
            if let Some(quota) = rule.quota {
                let period = quota.period_of(at);
                if used.period != (rule.number, period) {
                    *used = UsedQuota { period: (rule.number, period), used: Duration::ZERO };
                }
                let room = quota.runtime.saturating_sub(used.used);
                span = span.min(room).min(quota.end_of(period).saturating_since(at));
                used.used += span;
            }
            at += span;
            left = left.saturating_sub(span);
            if left == Duration::ZERO {
                return Progress { done: at, stood_still };
            }
        }
    }
}

fn slowed(list: &[(Instant, u32)], begins: Instant, work: Duration) -> Instant {
    let mut at = begins;
    let mut left = u128::from(work.as_nanos()) * 1000;
    let mut thousandths = 1000u128;
    for &(from, share) in list {
        if from > at {
            let span = u128::from(from.saturating_since(at).as_nanos());
            if span * thousandths >= left {
                break;
            }
            left -= span * thousandths;
            at = from;
        }
        thousandths = share.into();
    }
    match left.checked_div(thousandths) {
        _ if left == 0 => at,
        None => Instant::NEVER,
        Some(_) => at + Duration::from_nanos(u64::try_from(left.div_ceil(thousandths)).unwrap_or(u64::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use packet::random::Random;

    use super::*;

    const fn micros(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1000)
    }

    #[test]
    fn work_takes_longer_when_there_is_less_of_a_core() {
        let share = CpuShare::Slowed(vec![
            (Instant::from_millis(10), 500),
            (Instant::from_millis(20), 0),
            (Instant::from_millis(30), 2000),
        ]);
        let work = Duration::from_millis(4);
        let done =
            |at| share.done(&mut UsedQuota::default(), Instant::from_millis(at), work).done.as_nanos() / 1000;
        assert_eq!(done(0), 4_000);
        assert_eq!(done(8), 14_000, "half in 2 ms, the other half at half speed");
        assert_eq!(done(18), 31_500, "a quarter in 2 ms, nothing for 10 ms, the rest at double speed");
        assert_eq!(done(40), 42_000);
    }

    /// A quarter of a core from 10 ms on, nothing from 30 ms on, and all of it from 40 ms on.
    fn quarter() -> CpuShare {
        let quota = |runtime| {
            Some(CpuQuota { period: Duration::from_millis(4), runtime: Duration::from_micros(runtime) })
        };
        CpuShare::Quotas(vec![
            (Instant::from_millis(10), quota(1000)),
            (Instant::from_millis(30), quota(0)),
            (Instant::from_millis(40), None),
        ])
    }

    #[test]
    fn a_quota_is_used_at_full_speed_and_then_nothing_is_done_until_the_next_period() {
        let share = quarter();
        let mut used = UsedQuota::default();
        let mut done =
            |at, work| share.done(&mut used, micros(at), Duration::from_micros(work)).done.as_nanos() / 1000;
        assert_eq!(done(0, 9_000), 9_000, "a whole core");
        assert_eq!(
            done(9_000, 2_500),
            12_500,
            "a millisecond until 10, one of that period's, half a one at 12"
        );
        assert_eq!(done(12_500, 500), 13_000, "what is left of that period");
        assert_eq!(done(13_000, 100), 16_100, "it is used up");
        assert_eq!(done(19_950, 100), 20_050, "over the edge of a period without a pause");
        assert_eq!(done(29_000, 1_100), 40_100, "a millisecond, and then nothing until it has a core");
    }

    #[test]
    fn who_has_used_it_up_begins_with_the_next_period_or_the_next_rule() {
        let share = quarter();
        let starts = |period, at| {
            let used = UsedQuota { period: (1, period), used: Duration::from_millis(1) };
            share.starts(used, micros(at)).as_nanos() / 1000
        };
        assert_eq!([starts(3, 13_000), starts(2, 13_000)], [16_000, 13_000], "and the period before is over");
        assert_eq!(starts(7, 29_000), 40_000, "from 30 to 40 ms it has nothing");
        let never = CpuShare::Quotas(vec![(
            Instant::ZERO,
            Some(CpuQuota { period: Duration::ZERO, runtime: Duration::ZERO }),
        )]);
        let nothing = never.done(&mut UsedQuota::default(), micros(1), Duration::from_nanos(1));
        assert_eq!(nothing.done, Instant::NEVER);
    }

    #[test]
    fn work_tells_the_last_time_that_it_stood_still() {
        let share = quarter();
        let mut used = UsedQuota::default();
        let mut stood_still = |at, work| {
            let progress = share.done(&mut used, micros(at), Duration::from_micros(work));
            progress
                .stood_still
                .map(|Standstill { from, until }| [from, until].map(|at| at.as_nanos() / 1000))
        };
        assert_eq!(stood_still(0, 9_000), None, "a whole core");
        assert_eq!(stood_still(12_000, 900), None, "within its quota");
        assert_eq!(stood_still(12_900, 300), Some([13_000, 16_000]), "in the middle of it");
        assert_eq!(stood_still(16_200, 2_000), Some([21_000, 24_000]), "the last of two");
    }

    #[test]
    fn in_no_period_more_is_done_than_its_quota_and_a_backlog_uses_all_of_it() {
        let mut random = Random::derive(5, 0);
        for _ in 0..200 {
            let period = Duration::from_micros(random.below(900) + 100);
            let runtime = Duration::from_nanos(random.below(period.as_nanos()) + 1);
            let share = CpuShare::Quotas(vec![(Instant::ZERO, Some(CpuQuota { period, runtime }))]);
            let (mut used, mut at, mut given) = (UsedQuota::default(), Instant::ZERO, 0);
            for _ in 0..100 {
                let work = random.below(200_000);
                given += work;
                let begins = at + Duration::from_nanos(random.below(50_000));
                at = share.done(&mut used, begins, Duration::from_nanos(work)).done;
                let periods = at.as_nanos() / period.as_nanos() + 1;
                assert!(given <= periods * runtime.as_nanos(), "{period} {runtime} {at}");
            }
            let backlog = runtime * 10;
            let begins = Instant::ZERO + period * (at.as_nanos() / period.as_nanos() + 1);
            let done = share.done(&mut used, begins, backlog).done;
            assert_eq!(done, begins + period * 9 + runtime, "{period} {runtime}");
        }
    }
}
