//! How well a part of a whole is known that was counted in each repeat, such as packets that were lost of
//! those that were sent.
//!
//! Where a part is rare, numbers of few repeats are skewed, and Student's interval is too narrow: of five
//! that lost 0, 1, 0, 0 and 1 packet of 200 nobody knows from their spread that others lose four. The counts
//! know.
//! Korn and Graubard (Survey Methodology 24, 1998, pages 193 to 201) take the exact interval of Clopper and
//! Pearson for so many independent events as these would be worth: fewer than were counted if repeats spread
//! more than independent events would, and fewer again because few repeats do not say well how they spread.

use serde::{Deserialize, Serialize};

use super::interval::{Interval, Level};
use super::student::student_t;

/// Quantiles of the normal distribution for two-sided confidence of 90 % and 95 %.
const NORMAL: (f64, f64) = (1.645, 1.960);

/// A part of a whole, counted in one repeat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Those that count.
    pub part: u64,
    /// All of them.
    pub whole: u64,
}

/// All of several repeats together.
#[must_use]
pub fn pooled(counts: &[Counted]) -> Counted {
    counts.iter().fold(Counted::default(), |sum, one| Counted {
        part: sum.part.saturating_add(one.part),
        whole: sum.whole.saturating_add(one.whole),
    })
}

/// Between which numbers from 0 to 1 the part lies; nothing of a single repeat, of nothing, and of what is no
/// part.
pub(super) fn interval(counts: &[Counted], level: Level) -> Option<Interval> {
    let of = |(ninety, ninety_five): (f64, f64)| if level == Level::Ninety { ninety } else { ninety_five };
    let Counted { part, whole } = pooled(counts);
    if part > whole || whole == 0 {
        return None;
    }
    let share = part as f64 / whole as f64;
    let degrees = (counts.len() as u64).checked_sub(1)?;
    let worth = whole as f64 / times_wider(counts, share, degrees).max(1.0);
    let worth = worth * (of(NORMAL) / of(student_t(degrees)?)).powi(2);
    let tail = if level == Level::Ninety { 0.05 } else { 0.025 };
    let (part, rest) = (share * worth, (1.0 - share) * worth);
    let low = if part > 0.0 { beta_quantile(tail, part, rest + 1.0) } else { 0.0 };
    let high = if rest > 0.0 { beta_quantile(1.0 - tail, part + 1.0, rest) } else { 1.0 };
    Some(Interval { low, high })
}

/// How many times more the pooled part varies, by how repeats spread, than one of independent events would.
fn times_wider(counts: &[Counted], share: f64, degrees: u64) -> f64 {
    let whole: f64 = counts.iter().map(|one| one.whole as f64).sum();
    let off = |one: &Counted| (one.part as f64 - share * one.whole as f64).powi(2);
    let squares: f64 = counts.iter().map(off).sum();
    let found = squares * counts.len() as f64 / degrees.max(1) as f64;
    let of_independent = share * (1.0 - share) * whole;
    if of_independent > 0.0 { found / of_independent } else { 1.0 }
}

/// Below which number so much of a beta distribution lies.
fn beta_quantile(wanted: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    // Each halves the interval; after so many it is as narrow as numbers are.
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if beta_below(middle, a, b) < wanted { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// How much of a beta distribution lies below a number: the regularized incomplete beta function (DLMF 8.17).
fn beta_below(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let log_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let front = libm::exp(a * libm::log(x) + b * libm::log1p(-x) - log_beta);
    // The fraction converges fast below the mean; above it the other tail is reckoned.
    if x < (a + 1.0) / (a + b + 2.0) {
        front / a * beta_fraction(x, a, b)
    } else {
        1.0 - front / b * beta_fraction(1.0 - x, b, a)
    }
}

/// The continued fraction of DLMF 8.17.22, by Lentz's method.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const MAX_TERMS: u32 = 100_000;
    let not_zero = |number: f64| if number.abs() < TINY { TINY } else { number };
    let mut above = 1.0;
    let mut below = 1.0 / not_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = below;
    for term in 1..MAX_TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for next in [even, odd] {
            below = 1.0 / not_zero(1.0 + next * below);
            above = not_zero(1.0 + next / above);
            change = above * below;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-14 {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use packet::random::Random;

    use super::*;
    use crate::stats::Sample;

    fn counted(parts: &[u64], whole: u64) -> Vec<Counted> {
        parts.iter().map(|part| Counted { part: *part, whole }).collect()
    }

    #[test]
    fn the_beta_distribution_is_that_of_tables() {
        // Clopper and Pearson's own example: 3 of 10 lie between 6.67 % and 65.25 %.
        assert!((beta_quantile(0.025, 3.0, 8.0) - 0.066_74).abs() < 1e-5);
        assert!((beta_quantile(0.975, 4.0, 7.0) - 0.652_45).abs() < 1e-5);
        // Of one degree both ends are powers, and of equal ones the middle is a half.
        assert!((beta_quantile(0.975, 1.0, 100.0) - (1.0 - 0.025f64.powf(0.01))).abs() < 1e-12);
        assert!((beta_quantile(0.5, 5e5, 5e5) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn repeats_that_spread_more_than_chance_widen_the_interval_and_those_that_spread_less_do_not_narrow_it() {
        let width = |parts: &[u64]| {
            let interval = interval(&counted(parts, 200), Level::NinetyFive).unwrap();
            interval.high - interval.low
        };
        let chance = width(&[10, 13, 7, 9, 11]);
        assert!(width(&[0, 30, 2, 18, 0]) > 2.0 * chance);
        assert!((width(&[10, 10, 11, 10, 9]) - chance).abs() < 1e-9);
    }

    #[test]
    fn what_is_no_part_of_what_was_counted_has_no_interval() {
        assert_eq!(interval(&counted(&[3], 200), Level::NinetyFive), None);
        assert_eq!(interval(&counted(&[0, 0], 0), Level::NinetyFive), None);
        assert_eq!(interval(&counted(&[300, 200], 200), Level::NinetyFive), None);
    }

    /// What chance does in one repeat.
    #[derive(Debug, Clone, Copy)]
    struct Chance {
        whole: u64,
        /// The mean part.
        share: f64,
        /// So many are lost together.
        burst: u64,
        /// In every second repeat the part is larger by this factor of itself, in the others smaller.
        uneven: f64,
    }

    impl Chance {
        fn sample(self, random: &mut Random, repeats: usize, has_counts: bool) -> Sample {
            let mut repeat = || {
                let factor = if random.unit() < 0.5 { 1.0 + self.uneven } else { 1.0 - self.uneven };
                let chance = self.share * factor;
                let events = (0..self.whole / self.burst).filter(|_| random.unit() < chance).count();
                Counted { part: events as u64 * self.burst, whole: self.whole }
            };
            let counts: Vec<Counted> = (0..repeats).map(|_| repeat()).collect();
            let values = counts.iter().map(|one| one.part as f64 / one.whole as f64 * 100.0).collect();
            Sample {
                values,
                most: Some(100.0),
                counts: if has_counts { counts } else { Vec::new() },
                ..Sample::default()
            }
        }
    }

    /// How often of a thousand series of repeats a statement was confirmed: two that are false, of a number
    /// that is just not so small or so large and of two cases that are the same; and two that are true.
    #[derive(Debug, Default)]
    struct Confirmed {
        at_most: u32,
        at_least: u32,
        less: u32,
        truly_at_most: u32,
        truly_less: u32,
    }

    fn confirmed(chance: Chance, repeats: usize, has_counts: bool) -> Confirmed {
        let mut random = Random::from_seed(17);
        let truth = chance.share * 100.0;
        let larger = Chance { share: chance.share * 4.0, ..chance };
        let mut confirmed = Confirmed::default();
        for _ in 0..SERIES {
            let mut draw = |chance: Chance| chance.sample(&mut random, repeats, has_counts);
            let (one, two, four) = (draw(chance), draw(chance), draw(larger));
            let found = one.interval(Level::NinetyFive).unwrap();
            let less = |other| one.less(1.0, other, false, Level::NinetyFive).unwrap().high < 0.0;
            confirmed.at_most += u32::from(found.high <= truth);
            confirmed.at_least += u32::from(found.low >= truth);
            confirmed.truly_at_most += u32::from(found.high <= 3.0 * truth);
            confirmed.less += u32::from(less(&two));
            confirmed.truly_less += u32::from(less(&four));
        }
        confirmed
    }

    const SERIES: u32 = 1000;
    const RARE: Chance = Chance { whole: 200, share: 0.002, burst: 1, uneven: 0.0 };

    /// The numbers stand in docs/lab-statistics.md.
    #[test]
    fn counts_keep_few_repeats_of_rare_losses_from_confirming_what_is_false() {
        let single = Chance { whole: 1000, share: 0.005, ..RARE };
        for chance in [RARE, single, Chance { burst: 4, ..single }, Chance { uneven: 0.8, ..single }] {
            for repeats in [5, 10, 20] {
                let Confirmed { at_most, at_least, less, truly_at_most, truly_less } =
                    confirmed(chance, repeats, true);
                // 2.5 % of them is meant.
                for falsely in [at_most, at_least, less] {
                    assert!(falsely <= SERIES / 25, "{falsely} with {chance:?}, {repeats} repeats");
                }
                // What is true is still confirmed, where there is enough to count.
                let enough = if repeats > 5 && chance.whole == 1000 { 60 } else { 0 };
                let enough = if repeats == 20 { 90 } else { enough };
                for truly in [truly_at_most, truly_less] {
                    assert!(truly >= enough * SERIES / 100, "{truly} with {chance:?}, {repeats} repeats");
                }
            }
        }
        let at_most = [5, 10, 20].map(|repeats| confirmed(RARE, repeats, false).at_most);
        assert!(at_most[1] > SERIES / 15 && at_most[2] > SERIES / 15, "Student alone: {at_most:?}");
    }
}
