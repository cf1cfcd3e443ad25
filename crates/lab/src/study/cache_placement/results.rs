//! Hits, paths and round trips of every configuration, and what another simulator says of them.

use packet::random::{Random, Zipf};
use sim::{CacheNetwork, CacheNetworkReport};

use super::experiment::{Configuration, Experiment};
use crate::figure::{Axis, BarChart, BarGroup, GridCell, GridChart, GridRow};
use crate::parallel;
use crate::stats::Estimate;
use crate::study::report::{Report, StudyCell, StudyFigure, StudyTable};
use crate::study::{Runner, StudyError, hash_of};

pub(super) struct Results {
    cells: Vec<(Configuration, Vec<CacheNetworkReport>)>,
}

/// Hits of ours and of another simulator may be so many points apart: what its draws and its choice among
/// paths of the same length change.
const MARGIN_POINTS: f64 = 1.0;

/// Runs everything.
pub(super) fn results(
    experiment: &Experiment,
    network: &CacheNetwork,
    runner: &Runner<'_>,
) -> Result<Results, StudyError> {
    let places = experiment.places();
    let jobs: Vec<(Configuration, u32)> =
        places.iter().flat_map(|place| (0..experiment.repeats).map(move |repeat| (*place, repeat))).collect();
    // What a catalogue takes to be made is a good part of what a run takes; it is the same for an exponent.
    let mut catalogues = Vec::new();
    for &exponent in &experiment.exponents {
        let catalogue = Zipf::new(experiment.objects as usize, exponent, 0.0);
        catalogues.push((exponent, catalogue.map_err(|error| StudyError::Format(error.to_string()))?));
    }
    let catalogues = &catalogues;
    let reports = parallel::for_each(&jobs, runner, |(place, repeat)| {
        one(experiment, network, catalogues, *place, *repeat)
    });
    let reports = reports.into_iter().collect::<Result<Vec<_>, _>>()?;
    let of_place = reports.chunks(experiment.repeats.max(1) as usize).map(<[_]>::to_vec);
    Ok(Results { cells: places.into_iter().zip(of_place).collect() })
}

/// One run. All configurations of a repeat see requests for the same objects in the same order, as far as
/// their exponent is the same.
fn one(
    experiment: &Experiment,
    network: &CacheNetwork,
    catalogues: &[(f64, Zipf)],
    place: Configuration,
    repeat: u32,
) -> Result<CacheNetworkReport, StudyError> {
    let catalogue = catalogues.iter().find(|(exponent, _)| *exponent == place.exponent);
    let Some((_, catalogue)) = catalogue else { return Ok(CacheNetworkReport::default()) };
    let routers = experiment.routers(network);
    let mut network = network.clone();
    let room = experiment.room_each(place.room, routers);
    network.capacities.iter_mut().take(routers).for_each(|capacity| *capacity = room);
    network.placement = experiment.placements[place.placement].1;
    let mut random = Random::derive(experiment.seed, u64::from(repeat));
    let (warm_up, requests) = (experiment.warm_up, experiment.requests);
    let studied = network.study(catalogue, warm_up, requests, &mut random);
    studied.map_err(|error| StudyError::Format(error.to_string()))
}

impl Results {
    fn estimate(&self, place: usize, of: impl Fn(&CacheNetworkReport) -> f64) -> Option<Estimate> {
        let (_, reports) = self.cells.get(place)?;
        Estimate::of(&reports.iter().map(of).collect::<Vec<_>>())
    }

    fn hits(&self, place: usize) -> f64 {
        self.estimate(place, |report| report.hit_ratio() * 100.0).map_or(f64::NAN, |estimate| estimate.mean)
    }

    /// A number over all that happened.
    pub(super) fn hash(&self) -> String {
        let reports = self.cells.iter().flat_map(|(_, reports)| reports);
        hash_of(reports.flat_map(|report| [report.hits, report.hops, report.round_trips.as_nanos()]))
    }

    /// What is further from the other simulator than it may be.
    pub(super) fn outside(&self, experiment: &Experiment) -> Vec<String> {
        let mut outside = Vec::new();
        for (number, (place, _)) in self.cells.iter().enumerate() {
            let Some(reference) = experiment.reference(*place) else { continue };
            let (theirs, ours) = (reference.hits.0 * 100.0, self.hits(number));
            if (ours - theirs).abs() > MARGIN_POINTS {
                outside.push(format!(
                    "{}, Zipf {}, room for {:.2} %: {ours:.2} % hits here, {theirs:.2} % there, more than \
                     {MARGIN_POINTS} points apart",
                    experiment.placements[place.placement].0,
                    place.exponent,
                    place.room * 100.0
                ));
            }
        }
        outside
    }
}

/// The table of all configurations.
pub(super) fn overall(experiment: &Experiment, routers: usize, results: &Results) -> StudyTable {
    let head = [
        "placement",
        "Zipf",
        "room, %",
        "each",
        "hits, %",
        "±",
        "hits there, %",
        "points more",
        "links crossed",
        "stretch",
        "round trip, ms",
        "there, ms",
    ];
    let title = "Hits, paths and round trips (mean over repeats; ± is half the width of the 95 % interval), beside \
                 another simulator's";
    let mut table = StudyTable::new("overall", title, &head);
    for (number, (place, _)) in results.cells.iter().enumerate() {
        let hits = results.estimate(number, |report| report.hit_ratio() * 100.0);
        let mean = |of: &dyn Fn(&CacheNetworkReport) -> f64, digits| {
            results
                .estimate(number, of)
                .map_or(StudyCell::Empty, |found| StudyCell::Number(found.mean, digits))
        };
        let reference = experiment.reference(*place);
        let theirs = reference.map(|reference| reference.hits.0 * 100.0);
        let there = reference.and_then(|reference| reference.round_trip);
        table.rows.push(vec![
            experiment.placements[place.placement].0.clone().into(),
            StudyCell::Number(place.exponent, 2),
            StudyCell::Number(place.room * 100.0, 2),
            StudyCell::count(experiment.room_each(place.room, routers).into()),
            hits.map_or(StudyCell::Empty, |hits| StudyCell::Number(hits.mean, 2)),
            // What would be written as no width at all is not written.
            hits.and_then(|hits| hits.half95)
                .filter(|half| *half >= 0.005)
                .map_or(StudyCell::Empty, |half| StudyCell::Number(half, 2)),
            theirs.map_or(StudyCell::Empty, |theirs| StudyCell::Number(theirs, 2)),
            theirs.map_or(StudyCell::Empty, |theirs| StudyCell::Number(results.hits(number) - theirs, 2)),
            mean(&CacheNetworkReport::mean_hops, 2),
            mean(&CacheNetworkReport::stretch, 3),
            mean(&|report| report.mean_round_trip() * 1e3, 2),
            there.map_or(StudyCell::Empty, |span| StudyCell::Number(span.0 as f64 / 1e6, 2)),
        ]);
    }
    table.notes.push("Stretch is links crossed, as a part of those to the source.".into());
    table
}

/// Bars for one configuration of catalogue and room with what others say; a grid where there are several.
pub(super) fn add_figures(experiment: &Experiment, results: &Results, report: &mut Report) {
    let columns: Vec<(f64, f64)> = experiment
        .exponents
        .iter()
        .flat_map(|&exponent| experiment.rooms.iter().map(move |&room| (exponent, room)))
        .collect();
    if columns.len() > 1 {
        report.figures.push(StudyFigure::grid("figure-hits", &grid(experiment, results, &columns)));
    }
    for (number, (exponent, room)) in columns.iter().enumerate() {
        let first = number * experiment.placements.len();
        let has_reference = |place: &usize| {
            results.cells.get(*place).is_some_and(|(place, _)| experiment.reference(*place).is_some())
        };
        let places = first..first + experiment.placements.len();
        if !places.clone().any(|place| has_reference(&place)) {
            continue;
        }
        let group = |place: usize| {
            let (cell, _) = results.cells.get(place)?;
            let theirs = experiment.reference(*cell).map_or(f64::NAN, |theirs| theirs.hits.0 * 100.0);
            let name = experiment.placements[cell.placement].0.clone();
            Some(BarGroup { name, values: vec![results.hits(place), theirs] })
        };
        let chart = BarChart {
            title: format!("Hits by placement, Zipf {exponent}, room for {} % of the objects", room * 100.0),
            x: "placement".into(),
            y: Axis::new("requests that a cache answered", "%").with_zero(),
            labels: vec!["Cairn".into(), "the other simulator".into()],
            groups: places.filter_map(group).collect(),
        };
        report.figures.push(StudyFigure::bars(&format!("figure-beside-{}", number + 1), &chart));
    }
}

fn grid(experiment: &Experiment, results: &Results, columns: &[(f64, f64)]) -> GridChart {
    let placements = experiment.placements.len();
    let all: Vec<f64> = (0..results.cells.len()).map(|place| results.hits(place)).collect();
    let highest = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = all.iter().copied().fold(f64::INFINITY, f64::min);
    let row = |placement: usize| {
        let value = |column: usize| all.get(column * placements + placement).copied().unwrap_or(f64::NAN);
        let cell = |value: f64| GridCell {
            text: format!("{value:.1}"),
            shade: (value - lowest) / (highest - lowest).max(1e-9),
        };
        let cells = (0..columns.len()).map(value).map(cell).collect();
        GridRow { name: experiment.placements[placement].0.clone(), cells }
    };
    GridChart {
        title: "Hits by placement, %".to_owned(),
        x: "exponent, and room for which part of the objects; the darker, the more hits".to_owned(),
        y: "placement".to_owned(),
        columns: columns.iter().map(|(exponent, room)| format!("{exponent}: {} %", room * 100.0)).collect(),
        rows: (0..placements).map(row).collect(),
    }
}
