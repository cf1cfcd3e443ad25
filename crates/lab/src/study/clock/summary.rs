//! What the parts of the study share: running points, and holding results against the paper's.

use super::experiment::{Experiment, PaperCell, Point};
use super::scenario::Outcome;
use crate::parallel;
use crate::study::{Runner, StudyError, hash_of};

/// Results of a sweep.
pub(super) struct Results {
    cells: Vec<(Point, Outcome)>,
}

impl Results {
    /// Runs all points on all cores.
    pub(super) fn of(
        experiment: &Experiment,
        points: &[Point],
        record: impl Fn(&Point) -> bool + Sync,
        runner: &Runner<'_>,
    ) -> Result<Self, StudyError> {
        let outcomes = parallel::for_each(points, runner, |point| {
            let mut scenario = experiment.scenario(point)?;
            scenario.record = record(point);
            Ok::<_, StudyError>(scenario.run()?)
        });
        let mut cells = Vec::new();
        for (point, outcome) in points.iter().zip(outcomes) {
            cells.push((*point, outcome?));
        }
        Ok(Results { cells })
    }

    pub(super) fn get(&self, point: &Point) -> Option<&Outcome> {
        self.cells.iter().find(|(other, _)| other == point).map(|(_, outcome)| outcome)
    }

    /// The same point at all start times.
    pub(super) fn all_starts(&self, point: &Point) -> impl Iterator<Item = &Outcome> {
        let wanted = *point;
        self.cells
            .iter()
            .filter(move |(other, _)| Point { start: wanted.start, ..*other } == wanted)
            .map(|(_, outcome)| outcome)
    }

    /// A number over all runs.
    pub(super) fn hash(&self) -> String {
        hash_of(self.cells.iter().map(|(_, outcome)| outcome.hash))
    }

    /// Packets that crossed links, in all runs.
    pub(super) fn hops(&self) -> u64 {
        self.cells.iter().map(|(_, outcome)| outcome.hops).sum()
    }
}

/// The lowest and the highest, as text.
pub(super) fn range(values: impl Iterator<Item = f64>, digits: usize) -> String {
    let (low, high) = values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high { String::new() } else { format!("{low:.digits$}–{high:.digits$}") }
}

/// The paper's number for a point.
pub(super) fn paper_cell<'a>(experiment: &'a Experiment, point: &Point) -> Option<&'a PaperCell> {
    experiment.paper.iter().find(|cell| {
        cell.pairs == point.pairs
            && cell.bucket_depth == point.depth
            && cell.tick_ms == point.tick_ms
            && cell.smoothened == point.smoothened
    })
}
