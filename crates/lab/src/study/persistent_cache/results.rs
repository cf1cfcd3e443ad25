//! Runs of all configurations, and numbers of them.

use packet::random::Random;
use repo::evaluation::{CLASSES, Outcome, Run};
use repo::eviction::{DeleteQueue, DeletionRule};

use super::experiment::Experiment;
use super::setup::{Configuration, Setting};
use crate::parallel;
use crate::stats::{Sample, mean};
use crate::study::{Runner, StudyError, hash_of};

/// What came of all repeats of all configurations.
pub(super) struct Results {
    cells: Vec<(Configuration, Vec<Outcome>)>,
}

impl Results {
    /// Runs all configurations, as the paper's text says, on all cores.
    pub(super) fn of(experiment: &Experiment, runner: &Runner<'_>) -> Result<Self, StudyError> {
        let places = places(experiment);
        let jobs: Vec<(Configuration, u32)> = places
            .iter()
            .flat_map(|place| (0..experiment.repeats).map(move |repeat| (*place, repeat)))
            .collect();
        let settings: Vec<Setting> =
            experiment.setup.workloads.iter().map(|workload| experiment.setup.literal(workload)).collect();
        let outcomes = parallel::for_each(&jobs, runner, |(place, repeat)| {
            let setting = &settings[place.workload];
            let rule = setting.rule(place.gb, place.ratio);
            one(setting, rule, experiment.setup.stream(place.workload, *repeat))
        });
        let outcomes = outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
        let repeats = experiment.repeats.max(1) as usize;
        let cells = places.into_iter().zip(outcomes.chunks(repeats).map(<[_]>::to_vec)).collect();
        Ok(Results { cells })
    }

    /// All configurations, in the order of the file.
    pub(super) fn places(&self) -> impl Iterator<Item = Configuration> {
        self.cells.iter().map(|(place, _)| *place)
    }

    pub(super) fn of_place(&self, place: Configuration) -> &[Outcome] {
        let found = self.cells.iter().find(|(other, _)| *other == place);
        found.map_or(&[], |(_, outcomes)| outcomes)
    }

    /// A number of each repeat.
    pub(super) fn sample(&self, place: Configuration, of: impl Fn(&Outcome) -> f64) -> Sample {
        Sample { values: self.of_place(place).iter().map(of).collect(), ..Sample::default() }
    }

    /// Hits of a class in per cent, of each repeat in which somebody asked for it.
    pub(super) fn class(&self, place: Configuration, class: usize) -> Vec<f64> {
        let rates = self.of_place(place).iter().filter_map(|outcome| outcome.class_hit_rate(class));
        rates.map(|rate| rate * 100.0).collect()
    }

    /// The mean of that; not a number if there is none.
    pub(super) fn class_mean(&self, place: Configuration, class: usize) -> f64 {
        mean(&self.class(place, class))
    }

    pub(super) fn runs(&self) -> usize {
        self.cells.iter().map(|(_, outcomes)| outcomes.len()).sum()
    }

    pub(super) fn requests(&self) -> u64 {
        self.cells.iter().flat_map(|(_, outcomes)| outcomes).map(|outcome| outcome.all_requests).sum()
    }

    /// A number over all that happened.
    pub(super) fn hash(&self) -> String {
        let outcomes = self.cells.iter().flat_map(|(_, outcomes)| outcomes);
        hash_of(outcomes.flat_map(|outcome| {
            let sums = [outcome.deletions, outcome.deleted_files, outcome.included_bytes];
            (0..CLASSES).flat_map(|class| [outcome.requests[class], outcome.hits[class]]).chain(sums)
        }))
    }
}

/// All configurations.
pub(super) fn places(experiment: &Experiment) -> Vec<Configuration> {
    let mut places = Vec::new();
    for (workload, section) in experiment.setup.workloads.iter().enumerate() {
        for &gb in &section.thresholds_gb {
            places.extend(experiment.ratios.iter().map(|&ratio| Configuration { workload, gb, ratio }));
        }
    }
    places
}

/// One run.
pub(super) fn one(setting: &Setting, rule: DeletionRule, random: Random) -> Result<Outcome, StudyError> {
    let Setting { workload, reading, length, .. } = *setting;
    let outcome = match &setting.policy {
        // Without a table of functions in between.
        None => Run::new(workload, reading, rule, DeleteQueue::default(), random).map(|run| run.run(length)),
        Some(spec) => {
            Run::new(workload, reading, rule, repo::eviction::start(spec), random).map(|run| run.run(length))
        }
    };
    outcome.map_err(|error| StudyError::Format(error.to_string()))
}
