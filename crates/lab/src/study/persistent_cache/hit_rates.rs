//! The paper's figure 5 and the overall rates beside its numbers.

use repo::evaluation::{CLASSES, Outcome};

use super::experiment::Experiment;
use super::results::Results;
use super::setup::Configuration;
use super::units::ratio_text;
use crate::figure::number::with_spread;
use crate::figure::{Axis, BoxChart, BoxGroup, Quartiles};
use crate::stats::Estimate;
use crate::study::report::{Report, StudyCell, StudyFigure, StudyTable};

pub(super) fn add(experiment: &Experiment, results: &Results, report: &mut Report) {
    report.tables.push(overall(experiment, results));
    report.tables.push(by_class(experiment, results));
    // The paper's order: rows are thresholds, columns are workloads.
    let most = experiment.setup.workloads.iter().map(|workload| workload.thresholds_gb.len()).max();
    let mut letters = 'a'..='z';
    for row in 0..most.unwrap_or(0) {
        for (workload, section) in experiment.setup.workloads.iter().enumerate() {
            let (Some(&gb), Some(letter)) = (section.thresholds_gb.get(row), letters.next()) else {
                continue;
            };
            let chart = boxes(experiment, results, workload, gb, letter);
            let name = format!("figure-5{letter}-{}-{gb}gb", section.name);
            report.figures.push(StudyFigure::boxes(&name, &chart));
        }
    }
}

fn overall(experiment: &Experiment, results: &Results) -> StudyTable {
    let mut table = StudyTable::new(
        "overall",
        "Overall hit rates, the paper's beside ours (mean and half the width of its 95 % interval)",
        &[
            "workload",
            "GB",
            "deleted",
            "paper, %",
            "ours, %",
            "points more",
            "deletions a day",
            "files deleted",
            "GB created",
            "GB included",
        ],
    );
    for place in results.places() {
        let Some(section) = experiment.setup.workloads.get(place.workload) else { continue };
        let mean = |of: &dyn Fn(&Outcome) -> f64| Estimate::of(&results.sample(place, of).values);
        let Some(hits) = mean(&|outcome| outcome.hit_rate() * 100.0) else { continue };
        let paper = section.paper(place.gb, place.ratio);
        let number = |of: &dyn Fn(&Outcome) -> f64, digits| match mean(of) {
            Some(estimate) => StudyCell::Number(estimate.mean, digits),
            None => StudyCell::Empty,
        };
        table.rows.push(vec![
            section.name.clone().into(),
            StudyCell::count(place.gb),
            ratio_text(place.ratio).into(),
            paper.map_or(StudyCell::Empty, |paper| StudyCell::Number(paper, 1)),
            with_spread(hits.mean, hits.half95, 2).into(),
            paper.map_or(StudyCell::Empty, |paper| StudyCell::Number(hits.mean - paper, 1)),
            number(&|outcome| outcome.deletions as f64, 1),
            number(&|outcome| outcome.deleted_files as f64, 0),
            number(&|outcome| outcome.created_bytes as f64 / 1e9, 2),
            number(&|outcome| outcome.included_bytes as f64 / 1e9, 2),
        ]);
    }
    table.notes.push("Deletions are those of the day; the one that begins it is not among them.".into());
    table
}

fn by_class(experiment: &Experiment, results: &Results) -> StudyTable {
    let mut table = StudyTable::new("by-class", "Mean hit rates by class of popularity, %", &[]);
    table.columns = vec!["class".into()];
    for place in results.places() {
        table.columns.push(experiment.setup.column(place));
    }
    for class in 0..CLASSES {
        let means = results.places().map(|place| StudyCell::Number(results.class_mean(place, class), 1));
        table.rows.push([StudyCell::count(class as u64)].into_iter().chain(means).collect());
    }
    table
}

fn boxes(experiment: &Experiment, results: &Results, workload: usize, gb: u64, letter: char) -> BoxChart {
    let ratios = &experiment.ratios;
    let places: Vec<Configuration> =
        ratios.iter().map(|&ratio| Configuration { workload, gb, ratio }).collect();
    let labels =
        |what: &str| places.iter().map(|place| format!("{what}, {}", ratio_text(place.ratio))).collect();
    let group = |class: usize| {
        let rates: Vec<Vec<f64>> = places.iter().map(|place| results.class(*place, class)).collect();
        let misses = rates.iter().map(|rates| rates.iter().map(|rate| 100.0 - rate).collect::<Vec<_>>());
        let boxes = rates.iter().map(|rates| Quartiles::of(rates));
        BoxGroup {
            name: class.to_string(),
            boxes: boxes.chain(misses.map(|rates| Quartiles::of(&rates))).collect(),
        }
    };
    let name = experiment.setup.workloads.get(workload).map_or("", |section| section.name.as_str());
    let labels: [Vec<String>; 2] = [labels("hits"), labels("misses")];
    BoxChart {
        title: format!("Figure 5{letter}: hit and miss rates, {name}, {gb} GB"),
        x: "class of popularity".into(),
        y: Axis::new("of the requests for the class", "%").exactly(0.0, 100.0),
        labels: labels.concat(),
        groups: (0..CLASSES).map(group).collect(),
    }
}
