//! A study as a file has it, and running it.

use flow::SpecError;
use thiserror::Error;

use super::Findings;
use super::cache_placement;
use super::clock::Clock;
use super::persistent_cache;
use crate::experiment::model::File;
use crate::experiment::{Experiment, Files};
use crate::study::report::Report;

/// Why a study could not be run.
#[derive(Debug, Error)]
pub enum StudyError {
    /// The file has none.
    #[error("the experiment is no study: it has no `study`")]
    None,
    /// A number is not what it should be.
    #[error("{0}")]
    Format(String),
    /// A controller that cannot be had.
    #[error("controller: {0}")]
    Controller(SpecError),
    /// The simulator refused.
    #[error(transparent)]
    Simulation(#[from] sim::SimError),
}

/// How to run: the results are the same however.
#[derive(Clone, Copy)]
pub struct Runner<'a> {
    /// Runs at a time; as many as there are cores if nothing is said.
    pub workers: Option<usize>,
    /// Hears how many runs are done, of how many.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// One of the studies.
#[derive(Clone, Debug)]
enum Study {
    Clock(Clock),
    PersistentCache(persistent_cache::Experiment),
    CachePlacement(cache_placement::Experiment),
}

/// The study of a file; what is wrong with it goes to `f`.
fn study(file: &File, files: &Files, f: &mut Findings) -> Option<Study> {
    let given = file.study.as_ref()?;
    match (&given.clock, &given.clock_beyond, &given.persistent_cache, &given.cache_placement) {
        (Some(study), None, None, None) => Clock::of_paper(file, study, f).map(Study::Clock),
        (None, Some(study), None, None) => Clock::beyond(file, study, f).map(Study::Clock),
        (None, None, Some(study), None) => {
            Some(Study::PersistentCache(persistent_cache::Experiment::of(file, study, f)))
        }
        (None, None, None, Some(study)) => {
            Some(Study::CachePlacement(cache_placement::Experiment::of(file, study, files, f)))
        }
        _ => {
            let hint = "give one of `study.clock`, `study.clock_beyond`, `study.persistent_cache`, \
                        `study.cache_placement`";
            f.add("study", "a file has one study", Some(hint.to_owned()));
            None
        }
    }
}

/// Looks for mistakes in the study of a file, if it has one.
pub(crate) fn check(file: &File, files: &Files, f: &mut Findings) {
    study(file, files, f);
}

/// Runs the study of an experiment.
///
/// # Errors
/// An experiment that is no study; a network that cannot be built.
pub fn run(experiment: &Experiment, runner: &Runner<'_>) -> Result<Report, StudyError> {
    // The experiment was checked when it was read.
    let found =
        match study(&experiment.file, &experiment.files, &mut Findings::default()).ok_or(StudyError::None)? {
            Study::Clock(study) => study.run(runner),
            Study::PersistentCache(study) => persistent_cache::run(&study, runner),
            Study::CachePlacement(study) => cache_placement::run(&study, &experiment.files, runner),
        };
    found.map(Report::statements_first)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: &str = include_str!("../../../../experiments/clock-linear.toml");

    fn problems(text: &str) -> String {
        Experiment::parse("x", "x.toml", text).map(drop).unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_with_a_study_is_said_with_its_line() {
        let text = "title = 't'\nduration = '9 s'\n[study.weather]\n";
        assert!(problems(text).starts_with("x.toml:3: study.weather: there is no key"), "{}", problems(text));
        let none = problems("title = 't'\nduration = '9 s'\n[study]\n");
        assert!(none.starts_with("x.toml:3: study: a file has one study"), "{none}");
        let wrong =
            problems(&STUDY.replace("router_limit = ", "router_limits = ").replace("seed = 1", "sede = 1"));
        assert!(wrong.contains("did you mean `seed`?"), "{wrong}");
        let word = problems(&STUDY.replace("topology = \"linear\"", "topology = \"ring\""));
        assert!(word.contains("study.clock.topology: `ring` is not known here"), "{word}");
        let controller = problems(&STUDY.replace("stateful-forwarding/rate", "stateful/rate"));
        assert!(controller.contains("study.clock.consumer.controller: "), "{controller}");
        let unit = problems(&STUDY.replace("\"50 ms\"\nqueue", "50\nqueue"));
        assert!(unit.contains("without a unit"), "{unit}");
    }

    #[test]
    fn a_study_lasts_and_runs_at_least_once_and_its_flows_have_ticks() {
        let endless = STUDY.lines().find(|line| line.starts_with("duration = ")).unwrap();
        let short = problems(&STUDY.replace(endless, "duration = \"0 s\"\nrepeats = 0"));
        assert!(short.contains("duration: a study must last"), "{short}");
        assert!(short.contains("repeats: at least one repeat is needed"), "{short}");
        let beyond = include_str!("../../../../experiments/clock-beyond.toml");
        let (before, mixed) = beyond.split_once("[study.clock_beyond.mixed]").unwrap();
        let ticks = mixed.lines().find(|line| line.starts_with("ticks = ")).unwrap();
        let mixed = mixed.replace(ticks, "ticks = []");
        let empty = problems(&format!("{before}[study.clock_beyond.mixed]{mixed}"));
        assert!(empty.contains("study.clock_beyond.mixed.ticks: flows have at least one"), "{empty}");
    }

    #[test]
    fn a_study_has_no_nodes_and_no_real_forwarders() {
        let nodes = problems(&format!("{STUDY}\n[node.a]\n[[sweep]]\nkey = 'seed'\nvalues = [1]\n"));
        assert!(
            nodes.contains("node: a study has none") && nodes.contains("sweep: a study has none"),
            "{nodes}"
        );
        let study = Experiment::parse("x", "x.toml", STUDY).unwrap();
        let refused = study.can_run_on("netns").unwrap_err().to_string();
        assert!(refused.contains("study: only in virtual time"), "{refused}");
        assert!(study.can_run_on("sim").is_ok() && study.plans("sim").unwrap().is_empty());
    }
}
