//! The line of four nodes: tables I and II, figures 3 to 6.

use super::experiment::{Experiment, Point, tick_text};
use super::scenario::{Outcome, Recorded};
use super::statements::{self, Numbers};
use super::summary::{Results, paper_cell, range};
use crate::figure::{Axis, LineChart, Series};
use crate::stats::Summary;
use crate::study::report::{Report, StudyCell, StudyFigure, StudyTable};
use crate::study::{Runner, StudyError};

/// How far a throughput may be from the paper's, as a part of it.
const MBPS_BOUND: f64 = 0.06;
/// How far a number of Nacks may be from the paper's.
const NACKS_BOUND: u64 = 4;

pub(super) fn run(experiment: &Experiment, runner: &Runner<'_>) -> Result<Report, StudyError> {
    let mut points = Vec::new();
    for reading in 0..experiment.readings.len() {
        for smoothened in [false, true] {
            for &tick_ms in experiment.sweep.ticks_ms.iter().filter(|tick| **tick > 0.0 || !smoothened) {
                for start in 0..=experiment.sweep.other_starts {
                    points.push(Point { start, ..point(experiment, reading, tick_ms, smoothened) });
                }
            }
        }
    }
    let results = Results::of(experiment, &points, |point| point.start == 0, runner)?;
    let mut report = Report { title: experiment.title.clone(), hash: results.hash(), ..Report::default() };
    report.remarks.push(
        "Throughput counts Interests sent in the run, as the paper must have done: with a round trip of 0.3 s no Data could come for \
         3 % of the time, and its 8.75 Mbps would be out of reach. Data received is shown beside it."
            .into(),
    );
    for (number, reading) in experiment.readings.iter().enumerate() {
        report.remarks.push(format!("Reading {:?}: {}", reading.name, reading.description));
        for paper in PAPER_TABLES {
            let misses = if number == 0 { Some(&mut report.misses) } else { None };
            report.tables.push(table(experiment, &results, number, paper, misses));
        }
        report.tables.push(trajectories(experiment, &results, number));
        let numbers = Numbers { experiment, results: &results, reading: number, without: None };
        report.tables.push(statements::table(&statements::linear::CLAIMS, &numbers));
        report.figures.extend(figures(experiment, &results, number));
    }
    let unexplained: u64 =
        results_recorded(experiment, &results).map(|recorded| recorded.unexplained_nacks).sum();
    report.remarks.push(match unexplained {
        0 => "Every Nack came from the bucket in the consumer's own node, when the depth drawn in figure 5 says so.".into(),
        some => format!("{some} Nacks came from other nodes than the consumer's."),
    });
    Ok(report)
}

fn point(experiment: &Experiment, reading: usize, tick_ms: f64, smoothened: bool) -> Point {
    let depth = experiment.sweep.bucket_depths.first().copied().unwrap_or(50);
    Point { reading, pairs: 1, depth, tick_ms, smoothened, start: 0 }
}

fn results_recorded<'a>(
    experiment: &'a Experiment,
    results: &'a Results,
) -> impl Iterator<Item = &'a Recorded> {
    (0..experiment.readings.len()).flat_map(move |reading| {
        [false, true].into_iter().flat_map(move |smoothened| {
            experiment.sweep.ticks_ms.iter().filter_map(move |tick| {
                results.get(&point(experiment, reading, *tick, smoothened))?.recorded.as_ref()
            })
        })
    })
}

/// A table of the paper that is made anew.
#[derive(Clone, Copy)]
struct PaperTable {
    name: &'static str,
    title: &'static str,
    smoothened: bool,
}

const PAPER_TABLES: [PaperTable; 2] = [
    PaperTable { name: "table-1", title: "Table I, coarse clock", smoothened: false },
    PaperTable { name: "table-2", title: "Table II, smoothened", smoothened: true },
];

fn table(
    experiment: &Experiment,
    results: &Results,
    reading: usize,
    PaperTable { name, title, smoothened }: PaperTable,
    mut misses: Option<&mut Vec<String>>,
) -> StudyTable {
    let word = &experiment.readings[reading].name;
    let mut table = StudyTable::new(
        &format!("{name}-{word}"),
        &format!("{title} (reading {word:?})"),
        &[
            "tick",
            "paper Mbps",
            "mean of all starts",
            "all starts",
            "chosen start",
            "difference",
            "Data received",
            "paper Nacks",
            "mean of all starts",
            "all starts",
            "chosen start",
        ],
    );
    for &tick_ms in &experiment.sweep.ticks_ms {
        let point = point(experiment, reading, tick_ms, smoothened);
        let Some(outcome) = results.get(&point) else { continue };
        let paper = paper_cell(experiment, &point);
        let (mbps, nacks) = (outcome.asked_mbps(), outcome.nacks());
        let paper_nacks = paper.and_then(|cell| cell.nacks);
        table.rows.push(vec![
            tick_text(tick_ms).into(),
            paper.map_or(StudyCell::Empty, |cell| StudyCell::Number(cell.mbps, 2)),
            mean(results.all_starts(&point).map(Outcome::asked_mbps), 2),
            range(results.all_starts(&point).map(Outcome::asked_mbps), 2).into(),
            StudyCell::Number(mbps, 2),
            paper.map_or(StudyCell::Empty, |cell| StudyCell::difference(mbps, cell.mbps)),
            StudyCell::Number(outcome.received_mbps(), 2),
            paper_nacks.map_or(StudyCell::Empty, StudyCell::count),
            mean(results.all_starts(&point).map(|outcome| outcome.nacks() as f64), 1),
            range(results.all_starts(&point).map(|outcome| outcome.nacks() as f64), 0).into(),
            StudyCell::count(nacks),
        ]);
        if let (Some(misses), Some(paper)) = (&mut misses, paper) {
            let at = format!("{title}, {}", tick_text(tick_ms));
            if (mbps / paper.mbps - 1.0).abs() > MBPS_BOUND {
                misses.push(format!("{at}: {mbps:.2} Mbps, the paper has {:.2}", paper.mbps));
            }
            if let Some(theirs) = paper_nacks.filter(|theirs| theirs.abs_diff(nacks) > NACKS_BOUND) {
                misses.push(format!("{at}: {nacks} Nacks, the paper has {theirs}"));
            }
        }
    }
    table
}

fn mean(numbers: impl Iterator<Item = f64>, digits: usize) -> StudyCell {
    let numbers: Vec<f64> = numbers.collect();
    Summary::of(&numbers).map_or(StudyCell::Empty, |summary| StudyCell::Number(summary.mean, digits))
}

/// How the rate falls with each tick: where it first does, and how deep it goes.
fn trajectories(experiment: &Experiment, results: &Results, reading: usize) -> StudyTable {
    let word = &experiment.readings[reading].name;
    let mut table = StudyTable::new(
        &format!("trajectory-{word}"),
        &format!("Interests/s at the first fall, and the least rate (reading {word:?}, chosen start)"),
        &["tick", "first fall at, s", "from", "to", "least rate", "at, s", "falls until then"],
    );
    for &tick_ms in &experiment.sweep.ticks_ms {
        let point = point(experiment, reading, tick_ms, false);
        let Some(recorded) = results.get(&point).and_then(|outcome| outcome.recorded.as_ref()) else {
            continue;
        };
        let falls: Vec<(f64, f64, f64)> = recorded
            .rate
            .windows(2)
            .filter_map(|pair| match pair {
                [(_, from), (at, to)] if to < from => Some((*at, *from, *to)),
                _ => None,
            })
            .collect();
        let deepest = falls.iter().copied().min_by(|one, two| one.2.total_cmp(&two.2));
        let Some(((at, from, to), deepest)) = falls.first().copied().zip(deepest) else { continue };
        let before = falls.iter().filter(|fall| fall.0 <= deepest.0).count();
        table.rows.push(vec![
            tick_text(tick_ms).into(),
            StudyCell::Number(at, 2),
            StudyCell::Number(from, 0),
            StudyCell::Number(to, 0),
            StudyCell::Number(deepest.2, 1),
            StudyCell::Number(deepest.0, 2),
            StudyCell::count(before as u64),
        ]);
    }
    table
}

fn figures(experiment: &Experiment, results: &Results, reading: usize) -> Vec<StudyFigure> {
    let word = &experiment.readings[reading].name;
    let recorded = |tick_ms: f64, smoothened: bool| {
        results.get(&point(experiment, reading, tick_ms, smoothened))?.recorded.as_ref()
    };
    let series = |smoothened: bool, pick: fn(&Recorded) -> &Vec<(f64, f64)>| -> Vec<Series> {
        let ticks = experiment.sweep.ticks_ms.iter();
        ticks
            .filter_map(|&tick| {
                // The fine clock stands in both figures; there is nothing to smoothen in it.
                let recorded = recorded(tick, smoothened && tick > 0.0)?;
                Some(Series { label: tick_text(tick), points: pick(recorded).clone() })
            })
            .collect()
    };
    let time = || Axis::new("time", "s").showing(0.0, 10.0);
    let chart = |title: String, y: Axis, series: Vec<Series>| LineChart { title, x: time(), y, series };
    let sequence = Axis::new("sequence number", "").with_zero();
    let rate = || Axis::new("Interest rate", "Interests/s").with_zero();
    let mut figures = vec![
        StudyFigure::lines(
            &format!("figure-3-{word}"),
            &chart("Figure 3: Interest sequence number".into(), sequence, series(false, |r| &r.sequence)),
        ),
        StudyFigure::lines(
            &format!("figure-4-{word}"),
            &chart("Figure 4: Interest rate, coarse clock".into(), rate(), series(false, |r| &r.rate)),
        ),
    ];
    let coarse = experiment.sweep.ticks_ms.iter().filter(|tick| **tick > 0.0);
    for (&tick, letter) in coarse.zip('a'..) {
        let depth = Axis::new("bucket depth", "Interests").showing(0.0, 50.0);
        let points = recorded(tick, false).map(|recorded| recorded.depth.clone()).unwrap_or_default();
        let title = format!("Figure 5 ({letter}): depth of the consumer's bucket, tick {}", tick_text(tick));
        let series = vec![Series { label: tick_text(tick), points }];
        figures.push(StudyFigure::lines(&format!("figure-5{letter}-{word}"), &chart(title, depth, series)));
    }
    figures.push(StudyFigure::lines(
        &format!("figure-6-{word}"),
        &chart("Figure 6: Interest rate, smoothened".into(), rate(), series(true, |r| &r.rate)),
    ));
    figures
}
