//! Of which run a repeat is: its plan and its seed are sealed with its numbers, so that no repeat of another
//! experiment, or of another seed that turned out better, takes its place.

use std::collections::BTreeMap;

use super::attempt_plan::seed_of;
use super::experiment_hashes::is_of_plan;
use super::folder::RunRecord;
use crate::analysis::{RepeatOrigin, RepeatResult};
use crate::experiment::Plan;

/// The repeats that a run has made itself.
#[derive(Debug)]
pub(crate) struct OwnRepeats {
    /// The hash of what happens in it; nothing of runs of earlier versions, which do not say what that was.
    plan: Option<String>,
    /// Is the experiment still the one that it began with? Otherwise nobody knows the seeds of its cases.
    has_seeds: bool,
}

impl OwnRepeats {
    /// Of a run, of which these parts of the experiment were changed.
    pub(crate) fn of(record: &RunRecord, changed: &[String]) -> Self {
        let has_seeds = !changed.iter().any(|part| is_of_plan(part));
        OwnRepeats { plan: hash_of_plan(&record.backend, &record.hashes), has_seeds }
    }

    /// What a repeat of it says of itself, which was carried out with this seed.
    pub(super) fn origin(&self, seed: u64) -> Option<RepeatOrigin> {
        Some(RepeatOrigin { plan: self.plan.clone()?, seed })
    }

    /// Is a repeat, by its number from 0, one of another run? Of those that do not say it nobody knows.
    pub(crate) fn is_foreign(&self, plan: &Plan, repeat: u32, result: &RepeatResult) -> bool {
        let Some((own, found)) = self.plan.as_ref().zip(result.origin.as_ref()) else { return false };
        let seed = seed_of(plan, repeat, result.thrown_away.len());
        found.plan != *own || (self.has_seeds && found.seed != seed)
    }
}

/// The hash of those parts of an experiment that say what happens, and of where it does.
fn hash_of_plan(backend: &str, hashes: &BTreeMap<String, String>) -> Option<String> {
    let parts = hashes.iter().filter(|(part, _)| is_of_plan(part));
    let lines: String = parts.map(|(part, hash)| format!("{hash} {part}\n")).collect();
    let hash = || packet::hex::encode(&trust::sha256(format!("{lines}{backend}").as_bytes())[..16]);
    (!lines.is_empty()).then(hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    /// The repeats of a run with a rate, of which something is said.
    fn of_run(backend: &str, rate: &str, says: &str) -> OwnRepeats {
        let hashes = [("link", rate), ("expect", says)];
        let hashes = hashes.map(|(part, hash)| (part.to_owned(), hash.to_owned()));
        OwnRepeats { plan: hash_of_plan(backend, &hashes.into()), has_seeds: true }
    }

    #[test]
    fn a_repeat_of_another_plan_backend_or_seed_is_foreign_and_one_without_origin_is_not_known() {
        let text = "title = 't'\nduration = '1 s'\nseed = 7\n[node]\na = {}\n";
        let experiment = Experiment::parse("t", "t.toml", text).unwrap();
        let plan = experiment.plans("sim").unwrap().remove(0);
        let own = of_run("sim", "1", "x");
        let is_foreign = |run: OwnRepeats, seed| {
            let origin = run.origin(seed);
            own.is_foreign(&plan, 2, &RepeatResult { origin, ..RepeatResult::default() })
        };
        assert!(!is_foreign(of_run("sim", "1", "x"), 9));
        assert!(!is_foreign(of_run("sim", "1", "y"), 9), "what is said of a run may be mended");
        assert!(is_foreign(of_run("sim", "2", "x"), 9), "another rate");
        assert!(is_foreign(of_run("netns", "1", "x"), 9), "another backend");
        assert!(is_foreign(of_run("sim", "1", "x"), 507), "another seed");
        assert!(!is_foreign(OwnRepeats { plan: None, has_seeds: true }, 507), "an earlier version");
        let changed = OwnRepeats { has_seeds: false, ..of_run("sim", "1", "x") };
        let result = RepeatResult { origin: own.origin(507), ..RepeatResult::default() };
        assert!(!changed.is_foreign(&plan, 2, &result), "of one whose plan was changed that is told");
        let again = RepeatResult { origin: own.origin(9 + (1 << 32)), ..RepeatResult::default() };
        let again = RepeatResult { thrown_away: vec!["it waited".to_owned()], ..again };
        assert!(!own.is_foreign(&plan, 2, &again), "the second attempt has a seed of its own");
    }
}
