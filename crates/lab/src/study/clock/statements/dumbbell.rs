//! The dumbbell: section V.

use super::{Cause, Claim, Control, Evidence, Numbers, Quantity, Test};
use crate::stats::Sample;
use crate::study::clock::SIMILAR;
use crate::study::clock::experiment::tick_text;
use crate::study::clock::scenario::Outcome;
use crate::study::statement::Verdict;

/// How far a throughput that the paper names may be from ours, as a part of it.
const NAMED_MARGIN: f64 = 0.10;
/// "Less" leaves at most so much, and "much less" at most the second.
const LESS: f64 = 0.9;
const MUCH_LESS: f64 = 0.5;
/// What is at least so much of another is as good as it.
const AS_GOOD: f64 = 0.99;
/// What is at least so much of another is not "less".
const NEARLY: f64 = 0.95;
/// What helps brings so much more at least.
const HELPS: f64 = 1.05;

const TICKS_MS: [f64; 3] = [1.0, 5.0, 10.0];
const DEPTHS: [u32; 3] = [50, 100, 500];

pub(in crate::study::clock) const CLAIMS: [Claim; 18] = [
    Claim {
        section: "V.B, V.C",
        says: "One flow: the cells that the paper names, 16 to 91 Mbps.",
        test: Test::Numbers(named_cells, Control::Without(Cause::Ticks)),
    },
    Claim {
        section: "V.B",
        says: "One flow, depth 50: less at 5 ms, much less at 10 ms.",
        test: Test::Numbers(one_flow_shallow, Control::Without(Cause::ShallowBucket)),
    },
    Claim {
        section: "VI",
        says: "One flow, depth 50: even 1 ms takes something away.",
        test: Test::Numbers(one_millisecond, Control::Without(Cause::ShallowBucket)),
    },
    Claim {
        section: "V.B",
        says: "One flow, depth 100: less at 10 ms only.",
        test: Test::Numbers(one_flow_deeper, Control::Without(Cause::ShallowBucket)),
    },
    Claim {
        section: "V.B",
        says: "One flow, depth 500: no tick takes anything away.",
        test: Test::ByConstruction(one_flow_deep),
    },
    Claim {
        section: "V.C",
        says: "One flow: smoothening helps where ticks hurt.",
        test: Test::Numbers(smoothening_helps, Control::Without(Cause::ShallowBucket)),
    },
    Claim {
        section: "V.B",
        says: "Several flows together get less than one alone, with the fine clock too.",
        test: Test::Numbers(several_get_less, Control::None("one flow would be held against itself")),
    },
    Claim {
        section: "V.B",
        says: "Several flows together get more Nacks than one alone, with the fine clock too (figure 9).",
        test: Test::Numbers(several_get_nacks, Control::None("one flow would be held against itself")),
    },
    Claim {
        section: "V.B",
        says: "Several flows, depth 50: less with every longer tick.",
        test: Test::Numbers(less_with_every_tick, Control::Without(Cause::ShallowBucket)),
    },
    Claim {
        section: "V.B",
        says: "The same as a trend: least at the longest tick.",
        test: Test::Numbers(least_at_the_longest, Control::Without(Cause::ShallowBucket)),
    },
    Claim {
        section: "V.B",
        says: "Several flows, depths 100 and 500: the fine clock is best, but for 10 ms at depth 100.",
        test: Test::Numbers(fine_is_best, Control::Without(Cause::OtherFlows)),
    },
    Claim {
        section: "V.B",
        says: "Several flows get similar shares at a tick of 1 ms and a depth of 50.",
        test: Test::Numbers(similar_shares, Control::None("the paper names no cause")),
    },
    Claim {
        section: "V.C",
        says: "Several flows: smoothening does not help.",
        test: Test::Numbers(smoothening_does_not_help, Control::Without(Cause::OtherFlows)),
    },
    Claim {
        section: "V.A",
        says: "That flows start at the same time matters little.",
        test: Test::Untested("the consumers of these files all start at the same time"),
    },
    Claim {
        section: "VI",
        says: "Several flows: the link between the routers is the bottleneck.",
        test: Test::Untested("what each link carries is not written down"),
    },
    Claim {
        section: "VI",
        says: "Several flows, depth 50: Stateful Forwarding itself takes more away than coarse clocks do.",
        test: Test::Numbers(forwarding_takes_more, Control::Without(Cause::OtherFlows)),
    },
    Claim {
        section: "V.C",
        says: "Smoothening does not help several flows because Nacks one after the other reduce rates too far.",
        test: Test::Untested("no run is without Nacks and otherwise the same"),
    },
    Claim {
        section: "VI",
        says: "Commodity computers cannot afford fine clocks.",
        test: Test::Untested("virtual time has no interrupts"),
    },
];

fn mbps(numbers: &Numbers<'_>, pairs: usize, depth: u32, tick_ms: f64, smooth: bool) -> Option<Sample> {
    numbers.sample(&numbers.point(pairs, depth, tick_ms, smooth), Outcome::received_mbps)
}

/// A number of pairs above one, of those that the study has.
fn several(numbers: &Numbers<'_>) -> impl Iterator<Item = usize> {
    numbers.experiment.sweep.pairs.iter().copied().filter(|pairs| *pairs > 1)
}

/// The mean over all numbers of pairs above one, start time by start time.
fn mean_of_several(
    numbers: &Numbers<'_>,
    depth: u32,
    tick_ms: f64,
    smooth: bool,
    value: Quantity,
) -> Option<Sample> {
    let samples = several(numbers)
        .map(|pairs| numbers.sample(&numbers.point(pairs, depth, tick_ms, smooth), value))
        .collect::<Option<Vec<Sample>>>()?;
    mean_by_start(&samples)
}

fn mean_by_start(samples: &[Sample]) -> Option<Sample> {
    let first = samples.first()?;
    let at = |start: usize| {
        samples.iter().filter_map(|sample| sample.values.get(start)).sum::<f64>() / samples.len() as f64
    };
    Some(Sample {
        values: (0..first.values.len()).map(at).collect(),
        exact: first.exact,
        by_construction: true,
        ..Sample::default()
    })
}

fn several_mbps(numbers: &Numbers<'_>, depth: u32, tick_ms: f64, smooth: bool) -> Option<Sample> {
    mean_of_several(numbers, depth, tick_ms, smooth, Outcome::received_mbps)
}

/// The same for the fine clock and all ticks.
fn by_tick(of: impl Fn(f64) -> Option<Sample>) -> Option<Vec<(f64, Sample)>> {
    [0.0].into_iter().chain(TICKS_MS).map(|tick_ms| Some((tick_ms, of(tick_ms)?))).collect()
}

fn text_by_tick(samples: &[(f64, Sample)]) -> String {
    let parts = samples.iter().map(|(tick, sample)| format!("{} {:.1}", tick_text(*tick), sample.mean()));
    format!("{} Mbps", parts.collect::<Vec<_>>().join(", "))
}

fn named_cells(numbers: &Numbers<'_>) -> Option<Evidence> {
    let mut texts = Vec::new();
    let mut holds = true;
    for cell in &numbers.experiment.paper {
        let ours = mbps(numbers, cell.pairs, cell.bucket_depth, cell.tick_ms, cell.smoothened)?.mean();
        holds &= (ours / cell.mbps - 1.0).abs() <= NAMED_MARGIN;
        texts.push(format!("{ours:.1} ({:.0} in the paper)", cell.mbps));
    }
    (!texts.is_empty())
        .then(|| Evidence { verdict: Verdict::when(holds), evidence: format!("{} Mbps", texts.join(", ")) })
}

fn one_flow_shallow(numbers: &Numbers<'_>) -> Option<Evidence> {
    let at = |tick_ms| mbps(numbers, 1, 50, tick_ms, false);
    let samples = by_tick(at)?;
    let verdict = Verdict::all([
        Verdict::less(&at(5.0)?, LESS, &at(1.0)?),
        Verdict::less(&at(10.0)?, MUCH_LESS, &at(5.0)?),
    ]);
    Some(Evidence { verdict, evidence: text_by_tick(&samples) })
}

fn one_millisecond(numbers: &Numbers<'_>) -> Option<Evidence> {
    let (fine, tick) = (mbps(numbers, 1, 50, 0.0, false)?, mbps(numbers, 1, 50, 1.0, false)?);
    Some(Evidence {
        verdict: Verdict::less(&tick, AS_GOOD, &fine),
        evidence: format!("{:.1} Mbps with the fine clock, {:.1} with 1 ms", fine.mean(), tick.mean()),
    })
}

fn one_flow_deeper(numbers: &Numbers<'_>) -> Option<Evidence> {
    let at = |tick_ms| mbps(numbers, 1, 100, tick_ms, false);
    let verdict = Verdict::all([
        Verdict::less(&at(10.0)?, LESS, &at(5.0)?),
        Verdict::less(&at(5.0)?, NEARLY, &at(0.0)?).of_the_opposite(),
        Verdict::less(&at(1.0)?, NEARLY, &at(0.0)?).of_the_opposite(),
    ]);
    Some(Evidence { verdict, evidence: text_by_tick(&by_tick(at)?) })
}

fn one_flow_deep(numbers: &Numbers<'_>) -> Option<Evidence> {
    let samples = by_tick(|tick_ms| mbps(numbers, 1, 500, tick_ms, false))?;
    let ((_, fine), others) = samples.split_first()?;
    let parts = others.iter().map(|(_, other)| Verdict::less(other, AS_GOOD, fine).of_the_opposite());
    let text = text_by_tick(&samples);
    Some(Evidence {
        verdict: Verdict::all(parts),
        evidence: format!("the largest burst is 100 Interests, a fifth of the bucket; {text}"),
    })
}

fn smoothening_helps(numbers: &Numbers<'_>) -> Option<Evidence> {
    let (mut parts, mut texts) = (Vec::new(), Vec::new());
    for (depth, tick_ms) in [(50, 5.0), (50, 10.0), (100, 10.0)] {
        let plain = mbps(numbers, 1, depth, tick_ms, false)?;
        let smooth = mbps(numbers, 1, depth, tick_ms, true)?;
        parts.push(Verdict::less(&plain, 1.0 / HELPS, &smooth));
        texts.push(format!("{:.1} to {:.1}", plain.mean(), smooth.mean()));
    }
    Some(Evidence { verdict: Verdict::all(parts), evidence: format!("{} Mbps", texts.join(", ")) })
}

fn several_get_less(numbers: &Numbers<'_>) -> Option<Evidence> {
    let (mut parts, mut texts) = (Vec::new(), Vec::new());
    for depth in DEPTHS {
        let (one, more) = (mbps(numbers, 1, depth, 0.0, false)?, several_mbps(numbers, depth, 0.0, false)?);
        parts.push(Verdict::less(&more, LESS, &one));
        texts.push(format!("{:.0} to {:.0}", one.mean(), more.mean()));
    }
    Some(Evidence { verdict: Verdict::all(parts), evidence: format!("{} Mbps", texts.join(", ")) })
}

/// What several flows lose together with the fine clock, against what a tick takes away besides.
fn forwarding_takes_more(numbers: &Numbers<'_>) -> Option<Evidence> {
    // Without other flows this is the single flow itself, which loses nothing to others.
    let flows = |tick_ms| match numbers.without {
        Some(Cause::OtherFlows) => mbps(numbers, 1, 50, tick_ms, false),
        _ => several_mbps(numbers, 50, tick_ms, false),
    };
    let (alone, fine) = (mbps(numbers, 1, 50, 0.0, false)?, flows(0.0)?);
    let lost = |from: &Sample, to: &Sample| Sample {
        values: from.values.iter().zip(&to.values).map(|(from, to)| from - to).collect(),
        exact: from.exact && to.exact,
        by_construction: true,
        ..Sample::default()
    };
    let to_flows = lost(&alone, &fine);
    let (mut parts, mut texts) = (Vec::new(), Vec::new());
    for tick_ms in TICKS_MS {
        let to_ticks = lost(&fine, &flows(tick_ms)?);
        parts.push(Verdict::less(&to_ticks, 1.0, &to_flows));
        texts.push(format!("{} {:.1}", tick_text(tick_ms), to_ticks.mean()));
    }
    let evidence = format!("{:.1} Mbps to other flows; to ticks {} Mbps", to_flows.mean(), texts.join(", "));
    Some(Evidence { verdict: Verdict::all(parts), evidence })
}

fn several_get_nacks(numbers: &Numbers<'_>) -> Option<Evidence> {
    let (mut parts, mut texts) = (Vec::new(), Vec::new());
    for depth in DEPTHS {
        let one = numbers.nacks(&numbers.point(1, depth, 0.0, false))?;
        let mut counts = vec![format!("{:.0}", one.mean())];
        for pairs in several(numbers) {
            let more = numbers.nacks(&numbers.point(pairs, depth, 0.0, false))?;
            parts.push(Verdict::less(&one, 1.0, &more));
            counts.push(format!("{:.0}", more.mean()));
        }
        texts.push(format!("depth {depth}: {}", counts.join(", ")));
    }
    Some(Evidence { verdict: Verdict::all(parts), evidence: texts.join("; ") })
}

fn less_with_every_tick(numbers: &Numbers<'_>) -> Option<Evidence> {
    let samples = by_tick(|tick_ms| several_mbps(numbers, 50, tick_ms, false))?;
    let falls = samples.windows(2).filter_map(|pair| match pair {
        [(_, shorter), (_, longer)] => Some(Verdict::less(longer, 1.0, shorter)),
        _ => None,
    });
    Some(Evidence { verdict: Verdict::all(falls), evidence: text_by_tick(&samples) })
}

fn least_at_the_longest(numbers: &Numbers<'_>) -> Option<Evidence> {
    let samples = by_tick(|tick_ms| several_mbps(numbers, 50, tick_ms, false))?;
    let ((_, longest), others) = samples.split_last()?;
    let verdict = Verdict::all(others.iter().map(|(_, other)| Verdict::less(longest, LESS, other)));
    Some(Evidence { verdict, evidence: text_by_tick(&samples) })
}

fn fine_is_best(numbers: &Numbers<'_>) -> Option<Evidence> {
    let (mut parts, mut texts) = (Vec::new(), Vec::new());
    for depth in [100, 500] {
        let samples = by_tick(|tick_ms| several_mbps(numbers, depth, tick_ms, false))?;
        let ((_, fine), others) = samples.split_first()?;
        for ((_, other), tick_ms) in others.iter().zip(TICKS_MS) {
            let is_less = Verdict::less(other, AS_GOOD, fine);
            let is_exception = (depth, tick_ms) == (100, 10.0);
            parts.push(if is_exception { is_less.of_the_opposite() } else { is_less });
        }
        texts.push(format!("depth {depth}: {}", text_by_tick(&samples)));
    }
    Some(Evidence { verdict: Verdict::all(parts), evidence: texts.join("; ") })
}

fn similar_shares(numbers: &Numbers<'_>) -> Option<Evidence> {
    let samples = several(numbers)
        .map(|pairs| numbers.sample(&numbers.point(pairs, 50, 1.0, false), Outcome::fairness))
        .collect::<Option<Vec<Sample>>>()?;
    let index = |sample: &Sample| format!("{:.3}", sample.mean());
    let values = vec![SIMILAR; samples.first()?.values.len()];
    let bound = Sample { values, exact: true, ..Sample::default() };
    Some(Evidence {
        verdict: Verdict::all(
            samples.iter().map(|sample| Verdict::less(sample, 1.0, &bound).of_the_opposite()),
        ),
        evidence: format!("Jain's index is {}", samples.iter().map(index).collect::<Vec<_>>().join(", ")),
    })
}

fn smoothening_does_not_help(numbers: &Numbers<'_>) -> Option<Evidence> {
    let depths = &numbers.experiment.sweep.bucket_depths;
    let cells = || depths.iter().flat_map(|&depth| TICKS_MS.map(|tick_ms| (depth, tick_ms)));
    let all = |smooth: bool| {
        let samples = cells().map(|(depth, tick_ms)| several_mbps(numbers, depth, tick_ms, smooth));
        mean_by_start(&samples.collect::<Option<Vec<Sample>>>()?)
    };
    let (plain, smooth) = (all(false)?, all(true)?);
    let verdict = Verdict::less(&plain, 1.0 / HELPS, &smooth).of_the_opposite();
    let (plain, smooth) = (plain.mean(), smooth.mean());
    Some(Evidence {
        verdict,
        evidence: format!("the mean over depths and ticks goes from {plain:.1} to {smooth:.1} Mbps"),
    })
}
