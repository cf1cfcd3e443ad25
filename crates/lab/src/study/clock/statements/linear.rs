//! The line of four nodes: sections III and IV.

use super::{Cause, Claim, Control, Evidence, Numbers, Quantity, Test, highest, lowest};
use crate::stats::Sample;
use crate::study::clock::scenario::{Outcome, Recorded};
use crate::study::clock::summary::paper_cell;
use crate::study::statement::Verdict;

/// How far outside of what our start times bring the paper's number may be, as a part of it: its start time
/// is one, and not known.
const MARGIN: f64 = 0.02;
/// How far a highest rate may be from that of the paper's text, which is rounded.
const RATE_MARGIN: f64 = 0.10;
/// "Slightly less" leaves so much at least, and "largely" less than the second.
const SLIGHTLY: f64 = 0.75;
const LARGELY: f64 = 0.5;
/// "Close to" leaves so much at least.
const CLOSE: f64 = 0.95;
/// A bucket is full from so much of its depth on: a burst seldom meets the last place exactly.
const FULL: f64 = 0.98;

const TICKS_MS: [f64; 3] = [50.0, 100.0, 200.0];

pub(in crate::study::clock) const CLAIMS: [Claim; 11] = [
    Claim {
        section: "III.B",
        says: "Fine clock: the rate grows from 200 to 1000 and stays there, without a Nack.",
        test: Test::ByConstruction(fine_clock),
    },
    Claim {
        section: "III.B",
        says: "Table I: throughput and Nacks at 50, 100 and 200 ms.",
        test: Test::Numbers(|numbers| paper_table(numbers, false), Control::Without(Cause::Bursts)),
    },
    Claim {
        section: "III.B",
        says: "50 ms: the throughput decreases slightly, and there are some Nacks.",
        test: Test::Numbers(slightly_less, Control::Without(Cause::Bursts)),
    },
    Claim {
        section: "III.B",
        says: "100 and 200 ms: Nacks increase, and the throughput decreases largely.",
        test: Test::Numbers(largely_less, Control::Without(Cause::Bursts)),
    },
    Claim {
        section: "III.B",
        says: "The rate is limited to 600 at 100 ms, and to 300 at 200 ms.",
        test: Test::Numbers(limited_rate, Control::Without(Cause::Bursts)),
    },
    Claim {
        section: "III.B",
        says: "The bucket overflows when the rate is 510 at 100 ms, and 255 at 200 ms.",
        test: Test::ByConstruction(first_overflow),
    },
    Claim {
        section: "III.B",
        says: "Multiple Nacks follow, by which the rate is reduced to 1.",
        test: Test::Numbers(reduced_to_one, Control::Without(Cause::Bursts)),
    },
    Claim {
        section: "III.B",
        says: "At 200 ms the bucket overflows about as often as at 100 ms.",
        test: Test::Numbers(as_often, Control::Without(Cause::Bursts)),
    },
    Claim {
        section: "III.B",
        says: "50 ms: the bucket stays full for about 0.5 s, and then overflows.",
        test: Test::Numbers(full_for_a_while, Control::Without(Cause::Bursts)),
    },
    Claim {
        section: "IV.B",
        says: "Smoothened: no Nacks, and a throughput close to that of the fine clock.",
        test: Test::Numbers(smoothened, Control::Without(Cause::Smoothening)),
    },
    Claim {
        section: "IV.B",
        says: "Table II: throughput and Nacks, smoothened.",
        test: Test::Numbers(|numbers| paper_table(numbers, true), Control::Without(Cause::Smoothening)),
    },
];

fn asked(numbers: &Numbers<'_>, tick_ms: f64, smoothened: bool) -> Option<Sample> {
    of(numbers, tick_ms, smoothened, Outcome::asked_mbps)
}

fn nacks(numbers: &Numbers<'_>, tick_ms: f64, smoothened: bool) -> Option<Sample> {
    numbers.nacks(&numbers.point(1, numbers.first_depth()?, tick_ms, smoothened))
}

fn of(numbers: &Numbers<'_>, tick_ms: f64, smoothened: bool, value: Quantity) -> Option<Sample> {
    numbers.sample(&numbers.point(1, numbers.first_depth()?, tick_ms, smoothened), value)
}

fn recorded<'a>(numbers: &'a Numbers<'_>, tick_ms: f64) -> Option<&'a Recorded> {
    numbers.recorded(&numbers.point(1, numbers.first_depth()?, tick_ms, false))
}

fn fine_clock(numbers: &Numbers<'_>) -> Option<Evidence> {
    let (mbps, nacks) = (asked(numbers, 0.0, false)?, nacks(numbers, 0.0, false)?);
    let recorded = recorded(numbers, 0.0)?;
    let (first, last) = (recorded.rate.first()?.1, recorded.rate.last()?.1);
    let holds = highest(&nacks) == 0.0 && falls(recorded).is_empty();
    let (mbps, nacks) = (mbps.mean(), highest(&nacks));
    let evidence = format!(
        "from {first:.0} to {last:.0} and never down, as no rate is above what the bucket leaks; {mbps:.2} Mbps, {nacks:.0} Nacks"
    );
    Some(Evidence { verdict: Verdict::when(holds), evidence })
}

/// The paper's numbers within what our start times bring.
fn paper_table(numbers: &Numbers<'_>, smoothened: bool) -> Option<Evidence> {
    let (mut parts, mut texts) = (Vec::new(), Vec::new());
    for tick_ms in TICKS_MS {
        // The paper's cell is that of the statement, in its control too.
        let cell =
            Numbers { without: None, ..*numbers }.point(1, numbers.first_depth()?, tick_ms, smoothened);
        let paper = paper_cell(numbers.experiment, &cell)?;
        let (mbps, nacks) = (asked(numbers, tick_ms, smoothened)?, nacks(numbers, tick_ms, smoothened)?);
        let near = |sample: &Sample, theirs: f64| {
            theirs >= lowest(sample) * (1.0 - MARGIN) && theirs <= highest(sample) * (1.0 + MARGIN)
        };
        let theirs = paper.nacks? as f64;
        parts.push(Verdict::when(near(&mbps, paper.mbps) && near(&nacks, theirs)));
        texts.push(format!(
            "{tick_ms:.0} ms: {:.2} to {:.2} Mbps ({:.2} in the paper), {:.0} to {:.0} Nacks ({theirs:.0})",
            lowest(&mbps),
            highest(&mbps),
            paper.mbps,
            lowest(&nacks),
            highest(&nacks),
        ));
    }
    Some(Evidence { verdict: Verdict::all(parts), evidence: texts.join("; ") })
}

fn slightly_less(numbers: &Numbers<'_>) -> Option<Evidence> {
    let (fine, coarse) = (asked(numbers, 0.0, false)?, asked(numbers, 50.0, false)?);
    let nacks = nacks(numbers, 50.0, false)?;
    let verdict = Verdict::all([
        Verdict::less(&coarse, 1.0, &fine),
        Verdict::less(&coarse, SLIGHTLY, &fine).of_the_opposite(),
        Verdict::when(lowest(&nacks) > 0.0),
    ]);
    let (fine, coarse, nacks) = (fine.mean(), coarse.mean(), nacks.mean());
    Some(Evidence { verdict, evidence: format!("{fine:.2} to {coarse:.2} Mbps, {nacks:.1} Nacks") })
}

fn largely_less(numbers: &Numbers<'_>) -> Option<Evidence> {
    let fine = asked(numbers, 0.0, false)?;
    let few = nacks(numbers, 50.0, false)?;
    let (mut parts, mut texts) = (Vec::new(), Vec::new());
    for tick_ms in [100.0, 200.0] {
        let (mbps, nacks) = (asked(numbers, tick_ms, false)?, nacks(numbers, tick_ms, false)?);
        parts.push(Verdict::less(&mbps, LARGELY, &fine));
        parts.push(Verdict::less(&few, 1.0, &nacks));
        texts.push(format!("{tick_ms:.0} ms: {:.2} Mbps, {:.1} Nacks", mbps.mean(), nacks.mean()));
    }
    let verdict = Verdict::all(parts);
    Some(Evidence { verdict, evidence: format!("{}; fine: {:.2} Mbps", texts.join("; "), fine.mean()) })
}

fn limited_rate(numbers: &Numbers<'_>) -> Option<Evidence> {
    let highest = |tick_ms| {
        let rates = recorded(numbers, tick_ms)?.rate.iter().map(|(_, rate)| *rate);
        Some(rates.fold(0.0, f64::max))
    };
    let (at_100, at_200) = (highest(100.0)?, highest(200.0)?);
    let near = |rate: f64, theirs: f64| (rate / theirs - 1.0).abs() <= RATE_MARGIN;
    Some(Evidence {
        verdict: Verdict::when(near(at_100, 600.0) && near(at_200, 300.0)),
        evidence: format!("it reaches {at_100:.0} and {at_200:.0}"),
    })
}

/// A fall of the rate: when, from what, to what.
struct Fall {
    at: f64,
    from: f64,
    to: f64,
}

fn falls(recorded: &Recorded) -> Vec<Fall> {
    let pairs = recorded.rate.windows(2).filter_map(|pair| match pair {
        [(_, from), (at, to)] if to < from => Some(Fall { at: *at, from: *from, to: *to }),
        _ => None,
    });
    pairs.collect()
}

/// When the bucket overflows: falls that follow each other from tick to tick are of one overflow.
fn overflows(recorded: &Recorded, tick_ms: f64) -> Vec<f64> {
    let mut before = f64::NEG_INFINITY;
    let mut firsts = Vec::new();
    for fall in falls(recorded) {
        if fall.at - before > 1.5 * tick_ms / 1e3 {
            firsts.push(fall.at);
        }
        before = fall.at;
    }
    firsts
}

fn first_overflow(numbers: &Numbers<'_>) -> Option<Evidence> {
    let first = |tick_ms| falls(recorded(numbers, tick_ms)?).first().map(|fall| fall.from);
    let (at_100, at_200) = (first(100.0)?, first(200.0)?);
    let near = |rate: f64, theirs: f64| (rate / theirs - 1.0).abs() <= RATE_MARGIN;
    Some(Evidence {
        verdict: Verdict::when(near(at_100, 510.0) && near(at_200, 255.0)),
        evidence: format!(
            "a tick's burst must exceed the bucket; the rate is then {at_100:.0} and {at_200:.0}"
        ),
    })
}

fn reduced_to_one(numbers: &Numbers<'_>) -> Option<Evidence> {
    let least = |tick_ms| {
        let falls = falls(recorded(numbers, tick_ms)?);
        Some(falls.iter().map(|fall| fall.to).min_by(f64::total_cmp))
    };
    Some(match (least(100.0)?, least(200.0)?) {
        (Some(at_100), Some(at_200)) => Evidence {
            verdict: Verdict::when(at_100 < 1.5 && at_200 < 1.5),
            evidence: format!("the lowest rate in the run is {at_100:.1} and {at_200:.1}"),
        },
        _ => Evidence { verdict: Verdict::Contradicted, evidence: "the rate never falls".to_owned() },
    })
}

fn as_often(numbers: &Numbers<'_>) -> Option<Evidence> {
    let count = |tick_ms| Some(overflows(recorded(numbers, tick_ms)?, tick_ms).len());
    let (at_100, at_200) = (count(100.0)?, count(200.0)?);
    let similar = at_100.abs_diff(at_200) * 4 <= at_100;
    Some(Evidence {
        verdict: Verdict::when(similar && at_200 > 0),
        evidence: format!("{at_100} times at 100 ms, {at_200} at 200 ms"),
    })
}

fn full_for_a_while(numbers: &Numbers<'_>) -> Option<Evidence> {
    const TICK_S: f64 = 0.05;
    let full = f64::from(numbers.first_depth()?) * FULL;
    let recorded = recorded(numbers, 50.0)?;
    let mut since = f64::NEG_INFINITY;
    let (mut times, mut stays) = (Vec::new(), true);
    for overflow in overflows(recorded, 50.0) {
        let is_meant = |at: f64| at > since && at <= overflow;
        let full_at = || recorded.depth.iter().filter(|(_, depth)| *depth >= full).map(|(at, _)| *at);
        let all: Vec<f64> = full_at().filter(|at| is_meant(*at)).collect();
        times.extend(all.first().map(|first| overflow - first));
        // It empties between ticks, and is full again at each.
        stays &= all.windows(2).all(|pair| matches!(pair, [one, next] if next - one < 1.5 * TICK_S));
        // What is full in the moment of the overflow is of this one.
        since = overflow + TICK_S;
    }
    let (least, most) = times
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), time| (least.min(*time), most.max(*time)));
    let evidence = match times.len() {
        0 => "it never overflows".to_owned(),
        count => format!("full at each tick for {least:.2} to {most:.2} s before each of {count} overflows"),
    };
    let holds = !times.is_empty() && stays && least >= 0.25 && most <= 0.75;
    Some(Evidence { verdict: Verdict::when(holds), evidence })
}

fn smoothened(numbers: &Numbers<'_>) -> Option<Evidence> {
    let fine = asked(numbers, 0.0, false)?;
    let (mut parts, mut texts) = (Vec::new(), Vec::new());
    for tick_ms in TICKS_MS {
        let (mbps, nacks) = (asked(numbers, tick_ms, true)?, nacks(numbers, tick_ms, true)?);
        parts.push(Verdict::when(highest(&nacks) == 0.0));
        parts.push(Verdict::less(&mbps, CLOSE, &fine).of_the_opposite());
        texts.push(format!("{tick_ms:.0} ms: {:.2} Mbps, {:.0} Nacks at most", mbps.mean(), highest(&nacks)));
    }
    Some(Evidence { verdict: Verdict::all(parts), evidence: texts.join("; ") })
}
