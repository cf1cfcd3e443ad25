//! What the paper says about the dumbbell in words, checked.

use super::dumbbell::{Quantity, Sweep};
use super::experiment::tick_text;
use super::scenario::Outcome;
use super::summary::Results;
use crate::study::report::{Cell, Table};

/// A statement, whether it holds, and the numbers that say so.
struct Finding {
    statement: &'static str,
    holds: bool,
    evidence: String,
}

pub(super) fn table(sweep: &Sweep<'_>, results: &Results, misses: Option<&mut Vec<String>>) -> Table {
    let mut table = Table::new(
        &format!("orderings-{}", sweep.word()),
        &format!("What the paper states in words (reading {:?})", sweep.word()),
        &["statement", "holds", "Mbps"],
    );
    let mut findings = findings(&Numbers { sweep, results });
    // A sweep without a cell says nothing about a statement that needs it.
    findings.retain(|finding| !finding.evidence.contains("NaN"));
    if let Some(misses) = misses {
        misses.extend(
            findings
                .iter()
                .filter(|finding| !finding.holds)
                .map(|finding| format!("{}: {}", finding.statement, finding.evidence)),
        );
    }
    for Finding { statement, holds, evidence } in findings {
        table.rows.push(vec![
            statement.into(),
            Cell::from(if holds { "yes" } else { "no" }),
            evidence.into(),
        ]);
    }
    table
}

struct Numbers<'a> {
    sweep: &'a Sweep<'a>,
    results: &'a Results,
}

impl Numbers<'_> {
    /// The mean over all starts.
    fn mean(&self, pairs: usize, depth: u32, tick: f64, smoothened: bool, value: Quantity) -> Option<f64> {
        let point = self.sweep.point(pairs, depth, tick, smoothened);
        self.sweep.estimate(self.results, &point, value).map(|estimate| estimate.mean)
    }

    fn mbps(&self, pairs: usize, depth: u32, tick: f64, smoothened: bool) -> f64 {
        self.mean(pairs, depth, tick, smoothened, Outcome::received_mbps).unwrap_or(f64::NAN)
    }

    /// The mean over all numbers of pairs above one.
    fn several(&self, depth: u32, tick: f64, smoothened: bool) -> f64 {
        let pairs: Vec<usize> =
            self.sweep.experiment.sweep.pairs.iter().copied().filter(|pairs| *pairs > 1).collect();
        let sum: f64 = pairs.iter().map(|&pairs| self.mbps(pairs, depth, tick, smoothened)).sum();
        sum / pairs.len() as f64
    }

    fn several_by_tick(&self, depth: u32) -> Vec<(f64, f64)> {
        let ticks = self.sweep.experiment.sweep.ticks_ms.iter();
        ticks.map(|&tick| (tick, self.several(depth, tick, false))).collect()
    }
}

fn by_tick(numbers: &[(f64, f64)]) -> String {
    let parts: Vec<String> =
        numbers.iter().map(|(tick, mbps)| format!("{} {mbps:.0}", tick_text(*tick))).collect();
    parts.join(", ")
}

fn findings(numbers: &Numbers<'_>) -> Vec<Finding> {
    let mut findings = one_flow(numbers);
    findings.extend(several_flows(numbers));
    findings
}

fn one_flow(numbers: &Numbers<'_>) -> Vec<Finding> {
    let single = |depth: u32| {
        let ticks = numbers.sweep.experiment.sweep.ticks_ms.iter();
        ticks.map(|&tick| (tick, numbers.mbps(1, depth, tick, false))).collect::<Vec<_>>()
    };
    let at = |depth: u32, tick: f64| numbers.mbps(1, depth, tick, false);
    let gain = |depth: u32, tick: f64| {
        let (plain, smooth) = (at(depth, tick), numbers.mbps(1, depth, tick, true));
        (smooth > plain * 1.05, format!("{depth}, {}: {plain:.0} to {smooth:.0}", tick_text(tick)))
    };
    let gains = [gain(50, 5.0), gain(50, 10.0), gain(100, 10.0)];
    let deep = single(500);
    let best = deep.iter().map(|(_, mbps)| *mbps).fold(0.0, f64::max);
    vec![
        Finding {
            statement: "one flow, depth 50: less at 5 ms, much less at 10 ms",
            holds: at(50, 5.0) < at(50, 1.0) && at(50, 10.0) < 0.5 * at(50, 5.0),
            evidence: by_tick(&single(50)),
        },
        Finding {
            statement: "one flow, depth 50: even 1 ms takes something away",
            holds: at(50, 1.0) < 0.99 * at(50, 0.0),
            evidence: format!("fine {:.1}, 1 ms {:.1}", at(50, 0.0), at(50, 1.0)),
        },
        Finding {
            statement: "one flow, depth 100: less at 10 ms only",
            holds: at(100, 10.0) < 0.9 * at(100, 5.0) && at(100, 5.0) > 0.95 * at(100, 1.0),
            evidence: by_tick(&single(100)),
        },
        Finding {
            statement: "one flow, depth 500: no tick takes anything away",
            holds: deep.iter().all(|(_, mbps)| *mbps > 0.99 * best),
            evidence: by_tick(&deep),
        },
        Finding {
            statement: "one flow: smoothening helps where ticks hurt",
            holds: gains.iter().all(|(holds, _)| *holds),
            evidence: gains.map(|(_, text)| text).join("; "),
        },
    ]
}

fn several_flows(numbers: &Numbers<'_>) -> Vec<Finding> {
    let depths = [50, 100, 500];
    let less: Vec<(f64, f64)> =
        depths.map(|depth| (numbers.mbps(1, depth, 0.0, false), numbers.several(depth, 0.0, false))).into();
    let shallow = numbers.several_by_tick(50);
    let falls = shallow.windows(2).filter(|pair| pair[1].1 < pair[0].1).count();
    let fine_wins: Vec<(u32, f64, bool)> = [100, 500]
        .into_iter()
        .flat_map(|depth| {
            let fine = numbers.several(depth, 0.0, false);
            [1.0, 5.0, 10.0].map(|tick| (depth, tick, numbers.several(depth, tick, false) < fine))
        })
        .collect();
    let fair: Vec<f64> = numbers
        .sweep
        .experiment
        .sweep
        .pairs
        .iter()
        .filter_map(|&pairs| numbers.mean(pairs, 50, 1.0, false, Outcome::fairness))
        .collect();
    let smooth: Vec<(f64, f64)> = depths
        .into_iter()
        .flat_map(|depth| [1.0, 5.0, 10.0].map(|tick| (depth, tick)))
        .map(|(depth, tick)| (numbers.several(depth, tick, false), numbers.several(depth, tick, true)))
        .collect();
    let mean = |pick: fn(&(f64, f64)) -> f64| smooth.iter().map(pick).sum::<f64>() / smooth.len() as f64;
    let (plain_mean, smooth_mean) = (mean(|pair| pair.0), mean(|pair| pair.1));
    vec![
        Finding {
            statement: "several flows together get less than one alone (fine clock)",
            holds: less.iter().all(|(one, several)| several < one),
            evidence: less
                .iter()
                .map(|(one, more)| format!("{one:.0} to {more:.0}"))
                .collect::<Vec<_>>()
                .join("; "),
        },
        Finding {
            statement: "several flows, depth 50: less with every longer tick",
            holds: falls == shallow.len() - 1,
            evidence: by_tick(&shallow),
        },
        Finding {
            statement: "several flows, depth 50: least at the longest tick",
            holds: shallow.iter().all(|(_, mbps)| *mbps >= shallow.last().map_or(0.0, |last| last.1)),
            evidence: by_tick(&shallow),
        },
        Finding {
            statement: "several flows, depths 100 and 500: the fine clock is best, but for 10 ms at depth 100",
            holds: fine_wins.iter().all(|&(depth, tick, wins)| wins != (depth == 100 && tick == 10.0)),
            evidence: format!(
                "100: {}; 500: {}",
                by_tick(&numbers.several_by_tick(100)),
                by_tick(&numbers.several_by_tick(500))
            ),
        },
        Finding {
            statement: "flows get similar shares (tick 1 ms, depth 50)",
            holds: fair.iter().all(|index| *index > 0.98),
            evidence: fair.iter().map(|index| format!("{index:.3}")).collect::<Vec<_>>().join(", "),
        },
        Finding {
            statement: "several flows: smoothening does not help",
            holds: smooth_mean < plain_mean * 1.05,
            evidence: format!("mean over depths and ticks {plain_mean:.0} to {smooth_mean:.0}"),
        },
    ]
}
