//! The dumbbell: figures 8 to 11, the cells that the paper names, and the orderings that it states.

use super::experiment::{Experiment, Point, tick_text};
use super::scenario::Outcome;
use super::statements::{self, Numbers, Quantity};
use super::summary::{Results, paper_cell};
use crate::figure::number::with_spread;
use crate::figure::{Axis, BarChart, BarGroup};
use crate::stats::Estimate;
use crate::study::report::{Report, StudyCell, StudyFigure, StudyTable};
use crate::study::{Runner, StudyError};

/// How far a throughput may be from the paper's, as a part of it.
const MBPS_BOUND: f64 = 0.10;

pub(super) fn run(experiment: &Experiment, runner: &Runner<'_>) -> Result<Report, StudyError> {
    let mut points = Vec::new();
    for reading in 0..experiment.readings.len() {
        let sweep = Sweep { experiment, reading };
        for smoothened in [false, true] {
            for &depth in &experiment.sweep.bucket_depths {
                for &pairs in &experiment.sweep.pairs {
                    for &tick in &experiment.sweep.ticks_ms {
                        let point = sweep.point(pairs, depth, tick, smoothened);
                        points.extend(
                            (0..=experiment.sweep.other_starts).map(|start| Point { start, ..point }),
                        );
                    }
                }
            }
        }
    }
    let results = Results::of(experiment, &points, |_| false, runner)?;
    let mut report = Report { title: experiment.title.clone(), hash: results.hash(), ..Report::default() };
    report.remarks.push(
        "Throughput is Data received; where the paper names a number, Interests sent are shown beside it."
            .into(),
    );
    report.remarks.push(format!(
        "{} runs, {:.1} million packets over links.",
        points.len(),
        results.hops() as f64 / 1e6
    ));
    if experiment.sweep.other_starts > 0 {
        report.remarks.push(format!(
            "Numbers are means over {} start times, common to all consumers, with half the width of their 95 % confidence interval.",
            experiment.sweep.other_starts + 1
        ));
    }
    for (number, reading) in experiment.readings.iter().enumerate() {
        report.remarks.push(format!("Reading {:?}: {}", reading.name, reading.description));
        let sweep = Sweep { experiment, reading: number };
        let misses = if number == 0 { Some(&mut report.misses) } else { None };
        report.tables.push(sweep.named_cells(&results, misses));
        for (name, what, value, digits) in QUANTITIES {
            report.tables.push(sweep.table(name, what, &results, value, digits));
        }
        let numbers = Numbers { experiment, results: &results, reading: number, without: None };
        report.tables.push(statements::table(&statements::dumbbell::CLAIMS, &numbers));
        report.figures.extend(sweep.figures(&results));
    }
    Ok(report)
}

/// What there is a table of: its name, its title, the number and its digits.
const QUANTITIES: [(&str, &str, Quantity, usize); 4] = [
    ("throughput", "Data received, Mbps", Outcome::received_mbps, 1),
    ("nacks", "Nacks", |outcome| outcome.nacks() as f64, 0),
    ("fairness", "Fairness between flows (Jain)", Outcome::fairness, 3),
    ("losses", "Packets dropped by links", |outcome| outcome.link_drops as f64, 0),
];

/// The points of one reading.
pub(super) struct Sweep<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) reading: usize,
}

impl Sweep<'_> {
    pub(super) fn point(&self, pairs: usize, depth: u32, tick_ms: f64, smoothened: bool) -> Point {
        Point { reading: self.reading, pairs, depth, tick_ms, smoothened, start: 0 }
    }

    /// Over all starts; nothing if there was no such run.
    pub(super) fn estimate(&self, results: &Results, point: &Point, value: Quantity) -> Option<Estimate> {
        Estimate::of(&results.all_starts(point).map(value).collect::<Vec<f64>>())
    }

    pub(super) fn word(&self) -> &str {
        &self.experiment.readings[self.reading].name
    }

    fn named_cells(&self, results: &Results, mut misses: Option<&mut Vec<String>>) -> StudyTable {
        let mut table = StudyTable::new(
            &format!("named-cells-{}", self.word()),
            &format!("Cells that the paper names (reading {:?})", self.word()),
            &[
                "pairs, depth, tick",
                "paper Mbps",
                "Data received",
                "difference",
                "Interests sent",
                "difference",
            ],
        );
        for cell in &self.experiment.paper {
            let point = self.point(cell.pairs, cell.bucket_depth, cell.tick_ms, cell.smoothened);
            let number = |value| self.estimate(results, &point, value).map(|estimate| estimate.mean);
            let (received, asked) = (number(Outcome::received_mbps), number(Outcome::asked_mbps));
            let (Some(received), Some(asked), Some(paper)) =
                (received, asked, paper_cell(self.experiment, &point))
            else {
                continue;
            };
            let at = format!(
                "{}, {}, {}{}",
                cell.pairs,
                cell.bucket_depth,
                tick_text(cell.tick_ms),
                if cell.smoothened { ", smoothened" } else { "" }
            );
            if let Some(misses) = &mut misses
                && (received / paper.mbps - 1.0).abs() > MBPS_BOUND
            {
                misses.push(format!("{at}: {received:.1} Mbps received, the paper has {}", paper.mbps));
            }
            table.rows.push(vec![
                at.into(),
                StudyCell::Number(paper.mbps, 0),
                StudyCell::Number(received, 1),
                StudyCell::difference(received, paper.mbps),
                StudyCell::Number(asked, 1),
                StudyCell::difference(asked, paper.mbps),
            ]);
        }
        table
    }

    fn table(&self, name: &str, what: &str, results: &Results, value: Quantity, digits: usize) -> StudyTable {
        let mut columns = vec!["depth, tick".to_owned()];
        for smoothened in ["", " smooth"] {
            let pairs = self.experiment.sweep.pairs.iter();
            columns.extend(pairs.map(|pairs| format!("{pairs}{smoothened}")));
        }
        let mut table = StudyTable::new(
            &format!("{name}-{}", self.word()),
            &format!("{what}, by number of pairs (reading {:?})", self.word()),
            &[],
        );
        table.columns = columns;
        for &depth in &self.experiment.sweep.bucket_depths {
            for &tick in &self.experiment.sweep.ticks_ms {
                let mut row = vec![StudyCell::Text(format!("{depth}, {}", tick_text(tick)))];
                for smoothened in [false, true] {
                    for &pairs in &self.experiment.sweep.pairs {
                        let point = self.point(pairs, depth, tick, smoothened);
                        let estimate = self.estimate(results, &point, value);
                        row.push(estimate.map_or(StudyCell::Empty, |estimate| match estimate.half95 {
                            Some(half) => with_spread(estimate.mean, Some(half), digits).into(),
                            None => StudyCell::Number(estimate.mean, digits),
                        }));
                    }
                }
                table.rows.push(row);
            }
        }
        table
    }

    fn figures(&self, results: &Results) -> Vec<StudyFigure> {
        let mut figures = Vec::new();
        let mbps = || Axis::new("Data throughput", "Mbps").showing(0.0, 100.0);
        let nacks = || Axis::new("Nacks", "").with_zero();
        for (number, what, smoothened, axis, value) in [
            (8, "Data throughput", false, &mbps as &dyn Fn() -> Axis, Outcome::received_mbps as Quantity),
            (9, "Number of Nacks", false, &nacks, |outcome| outcome.nacks() as f64),
            (11, "Data throughput, smoothened", true, &mbps, Outcome::received_mbps),
        ] {
            for (&depth, letter) in self.experiment.sweep.bucket_depths.iter().zip('a'..) {
                let title = format!("Figure {number} ({letter}): {what}, bucket depth {depth}");
                let groups = self.groups(results, depth, smoothened, value);
                let labels = self.experiment.sweep.ticks_ms.iter().map(|tick| tick_text(*tick)).collect();
                let x = "consumer–producer pairs".into();
                let chart = BarChart { title, x, y: axis(), labels, groups };
                figures.push(StudyFigure::bars(&format!("figure-{number}{letter}-{}", self.word()), &chart));
            }
        }
        figures.push(self.flows(results));
        figures
    }

    /// A group for each number of pairs, with a bar for each tick.
    fn groups(&self, results: &Results, depth: u32, smoothened: bool, value: Quantity) -> Vec<BarGroup> {
        let sweep = &self.experiment.sweep;
        let groups = sweep.pairs.iter().map(|&pairs| BarGroup {
            name: pairs.to_string(),
            values: sweep
                .ticks_ms
                .iter()
                .map(|&tick| self.point(pairs, depth, tick, smoothened))
                .map(|point| self.estimate(results, &point, value).map_or(f64::NAN, |estimate| estimate.mean))
                .collect(),
        });
        groups.collect()
    }

    /// Figure 10: what each flow gets at a tick of 1 ms and a depth of 50.
    fn flows(&self, results: &Results) -> StudyFigure {
        let sweep = &self.experiment.sweep;
        let most = sweep.pairs.iter().copied().max().unwrap_or(1);
        let groups = sweep.pairs.iter().map(|&pairs| {
            let mut values =
                results.get(&self.point(pairs, 50, 1.0, false)).map(Outcome::flow_mbps).unwrap_or_default();
            values.resize(most, f64::NAN);
            BarGroup { name: pairs.to_string(), values }
        });
        let chart = BarChart {
            title: "Figure 10: Data throughput of each flow, tick 1 ms, bucket depth 50".into(),
            x: "consumer–producer pairs".into(),
            y: Axis::new("Data throughput", "Mbps").with_zero(),
            labels: (1..=most).map(|flow| format!("flow {flow}")).collect(),
            groups: groups.collect(),
        };
        StudyFigure::bars(&format!("figure-10-{}", self.word()), &chart)
    }
}
