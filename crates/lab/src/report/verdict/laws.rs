//! How often what is false is confirmed of repeats that differ in nothing but the order of what happens at
//! one instant: values are drawn from laws that are known, and the judge is asked.

use packet::random::Random;

use super::finding::{Difference, Finding};
use crate::order::Simultaneous;
use crate::report::numbers::Numbers;
use crate::stats::{Claim, Level, Sample};

/// So many series of repeats are judged of each statement.
const SERIES: u64 = 200;

/// Numbers of repeats that a series has.
const REPEATS: [u32; 4] = [6, 7, 11, 21];

/// A false statement may be confirmed in so many of these: were each confirmed with a probability of 5 %,
/// more would be with one of less than 0.1 %, exactly by the binomial distribution.
fn most_false() -> u64 {
    most_at(0.05)
}

/// The same for another probability.
fn most_at(p: f64) -> u64 {
    let n = SERIES as f64;
    let of = |count: u64| {
        let k = count as f64;
        let ways = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
        libm::exp(ways + k * libm::log(p) + (n - k) * libm::log1p(-p))
    };
    let mut above = 1.0;
    let enough = |count: &u64| {
        above -= of(*count);
        above < 0.001
    };
    (0..SERIES).find(enough).unwrap_or(SERIES)
}

/// Consumers that are equal but for their places in the order, of which the one at the place `loser` loses.
#[derive(Debug, Clone, Copy)]
struct Crowd {
    size: u64,
    loser: u64,
    /// The place as planned of the consumer that a statement is about.
    consumer: u64,
}

impl Crowd {
    /// All that are looked at.
    fn all() -> Vec<Crowd> {
        let mut all = Vec::new();
        for size in [3, 5, 8] {
            for loser in [0, size / 2, size - 1] {
                all.extend([0, size / 2, size - 1].map(|consumer| Crowd { size, loser, consumer }));
            }
        }
        all
    }

    /// At which place the consumer is in each repeat of a series.
    fn places(self, repeats: u32, random: &mut Random) -> Vec<u64> {
        let place = |repeat: u32| match Simultaneous::of_repeat(repeat, false) {
            Simultaneous::Planned => self.consumer,
            Simultaneous::Drawn => random.below(self.size),
        };
        (0..repeats).map(place).collect()
    }

    /// What it takes in each: the loser ten times as long.
    fn durations(self, repeats: u32, random: &mut Random) -> Vec<f64> {
        let took = |place: u64| if place == self.loser { 10.0 } else { 1.0 };
        self.places(repeats, random).into_iter().map(took).collect()
    }

    /// What it takes on the mean of all orders.
    fn mean(self) -> f64 {
        1.0 + 9.0 / self.size as f64
    }
}

fn sample(values: &[f64]) -> Sample {
    Numbers::of_orders(values).sample(None)
}

fn judged(values: &[f64], holds: impl Fn(f64) -> bool) -> Finding {
    let nothing = Sample { values: vec![0.0], exact: true, ..Sample::default() };
    let by_order = sample(values).by_order(1.0, &nothing).unwrap();
    Difference::in_orders(by_order, false, Level::NinetyFive).is(holds)
}

/// In how many series a statement is confirmed that is not so: of the mean where it is false of the mean, of
/// most orders where more than half of them fail it.
fn falsely(repeats: u32, of: impl Fn(u32, &mut Random) -> Finding, is_so: impl Fn(Claim) -> bool) -> u64 {
    let series = (0..SERIES).filter(|seed| {
        match of(repeats, &mut Random::from_seed(seed * 1_000 + u64::from(repeats))) {
            Finding::Confirmed(Some(claim)) => !is_so(claim),
            Finding::Confirmed(None) => true,
            Finding::Contradicted(_) | Finding::Unknown(_) => false,
        }
    });
    series.count() as u64
}

#[test]
fn a_false_statement_about_the_mean_is_confirmed_in_five_of_a_hundred_series_at_most() {
    let most = most_false();
    assert!((17..25).contains(&most), "{most}");
    let mut wrong = Vec::new();
    for crowd in Crowd::all() {
        // One order in `size` is the loser's: what it does not take, the others meet.
        let over = crowd.mean() - 1.0;
        for (repeats, part) in
            REPEATS.into_iter().flat_map(|repeats| [0.999, 0.6, 1.001, 1.4].map(|part| (repeats, part)))
        {
            let bound = 1.0 + over * part;
            let holds = |value: f64| if part < 1.0 { value <= bound } else { value >= bound };
            // Of most orders "at most" is so, and "at least" is not.
            let is_so = |claim| claim == Claim::MostOrders && part < 1.0;
            let of = |repeats, random: &mut Random| judged(&crowd.durations(repeats, random), holds);
            let count = falsely(repeats, of, is_so);
            if count > most {
                wrong.push((crowd, repeats, part, count));
            }
        }
    }
    assert!(wrong.is_empty(), "in more than {most} of {SERIES} series: {wrong:?}");
}

#[test]
fn a_statement_that_most_orders_fail_is_confirmed_in_five_of_a_hundred_series_at_most() {
    let most = most_false();
    for consumer in 0..5 {
        // One that is among the first two of five: 40 % of all orders. On the mean it is the third.
        let crowd = Crowd { size: 5, loser: 0, consumer };
        for repeats in REPEATS {
            let of = |repeats, random: &mut Random| {
                let places: Vec<f64> =
                    crowd.places(repeats, random).iter().map(|place| *place as f64).collect();
                judged(&places, |place| place <= 1.0)
            };
            let count = falsely(repeats, of, |_| false);
            assert!(count <= most, "{count} of {SERIES}, {repeats} repeats of {crowd:?}");
        }
    }
}

#[test]
fn that_one_of_two_equal_ones_is_faster_is_confirmed_in_five_of_a_hundred_series_at_most() {
    let most = most_false();
    for (size, repeats) in [2, 3, 8].into_iter().flat_map(|size| REPEATS.map(|repeats| (size, repeats))) {
        let of = |repeats: u32, random: &mut Random| {
            let (mut one, mut two) = (vec![0.0], vec![1.0]);
            for _ in 1..repeats {
                let mut places: Vec<u64> = (0..size).collect();
                let first = places.swap_remove(random.below(size) as usize);
                let second = places.swap_remove(random.below(size - 1) as usize);
                one.push(first as f64);
                two.push(second as f64);
            }
            let by_order = sample(&one).by_order(1.0, &sample(&two)).unwrap();
            Difference::in_orders(by_order, false, Level::NinetyFive).is(|difference| difference < 0.0)
        };
        let count = falsely(repeats, of, |_| false);
        assert!(count <= most, "{count} of {SERIES}, {repeats} repeats of {size}");
    }
}

#[test]
fn a_statement_that_every_order_meets_is_confirmed_of_six_repeats_always() {
    for crowd in Crowd::all() {
        for seed in 0..SERIES {
            for repeats in REPEATS {
                let values = crowd.durations(repeats, &mut Random::from_seed(seed));
                let confirmed = Finding::Confirmed(Some(Claim::MostOrders));
                assert_eq!(judged(&values, |value| value <= 10.0), confirmed, "{values:?}");
                assert_eq!(judged(&values, |value| value >= 1.0), confirmed, "{values:?}");
            }
            let few = crowd.durations(5, &mut Random::from_seed(seed));
            assert!(matches!(judged(&few, |value| value <= 10.0), Finding::Unknown(_)), "four were drawn");
        }
    }
}

/// What is random takes of each draw: by how much it spreads, or what each lost packet costs it, as parts of
/// its mean.
#[derive(Debug, Clone, Copy)]
enum Spread {
    Normal(f64),
    Losses(f64),
}

impl Spread {
    fn draws(self, mean: f64, repeats: u32, random: &mut Random) -> Sample {
        let mut draw = || match self {
            // Twelve of them together are as good as normal.
            Spread::Normal(part) => mean * (1.0 + part * ((0..12).map(|_| random.unit()).sum::<f64>() - 6.0)),
            // Of a hundred packets five are lost on average.
            Spread::Losses(part) => {
                let lost = (0..100).filter(|_| random.chance(0.05)).count() as f64;
                mean * (1.0 + part * (lost - 5.0))
            }
        };
        Sample { values: (0..repeats).map(|_| draw()).collect(), ..Sample::default() }
    }
}

/// Something random of this mean, and what a consumer of a crowd takes in the same repeats, in each of the
/// two ways to compare them.
fn beside_random(
    crowd: Crowd,
    mean: f64,
    spread: Spread,
    [repeats, way]: [u32; 2],
    random: &mut Random,
) -> Finding {
    let value = spread.draws(mean, repeats, random);
    let other = sample(&crowd.durations(repeats, random));
    let is_more = mean < crowd.mean();
    let holds = |difference: f64| if is_more { difference > 0.0 } else { difference < 0.0 };
    match way {
        0 => Difference::mixed(&value, 1.0, &other, Level::NinetyFive).is(holds),
        _ => Difference::mixed(&other, 1.0, &value, Level::NinetyFive).is(|difference| holds(-difference)),
    }
}

const SPREADS: [Spread; 3] = [Spread::Normal(0.001), Spread::Normal(0.1), Spread::Losses(0.05)];

#[test]
fn a_false_statement_of_random_numbers_against_orders_is_confirmed_in_ten_of_a_hundred_series_at_most() {
    let most = most_at(0.1);
    assert!((30..38).contains(&most), "{most}");
    let mut wrong = Vec::new();
    for (crowd, spread) in Crowd::all().into_iter().flat_map(|crowd| SPREADS.map(|spread| (crowd, spread))) {
        for (repeats, part) in
            REPEATS.into_iter().flat_map(|repeats| [0.99, 0.6, 1.01, 1.4].map(|part| (repeats, part)))
        {
            let mean = crowd.mean() * part;
            // In most orders it is none of the long ones, and takes 1.
            let is_so = |claim| claim == Claim::MostOrders && part < 1.0 && mean > 1.0;
            let way = repeats % 2;
            let of =
                |repeats, random: &mut Random| beside_random(crowd, mean, spread, [repeats, way], random);
            let count = falsely(repeats, of, is_so);
            if count > most {
                wrong.push((crowd, spread, repeats, part, count));
            }
        }
    }
    assert!(wrong.is_empty(), "in more than {most} of {SERIES} series: {wrong:?}");
}

#[test]
fn a_true_statement_of_random_numbers_against_orders_is_confirmed_of_six_repeats_more_often_than_not() {
    for (crowd, spread) in Crowd::all().into_iter().flat_map(|crowd| SPREADS.map(|spread| (crowd, spread))) {
        let confirmed = (0..SERIES).filter(|seed| {
            let mut random = Random::from_seed(*seed);
            let value = spread.draws(30.0, 6, &mut random);
            let other = sample(&crowd.durations(6, &mut random));
            let found = Difference::mixed(&value, 1.0, &other, Level::NinetyFive);
            matches!(found.is(|difference| difference > 0.0), Finding::Confirmed(_))
        });
        let count = confirmed.count() as u64;
        assert!(count > SERIES / 2, "{count} of {SERIES}: {spread:?} beside {crowd:?}");
    }
}
