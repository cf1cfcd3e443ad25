//! Every experiment that is shipped passes its own checks.

use std::fs;
use std::path::{Path, PathBuf};

use cairn_lab::experiment::Experiment;
use cairn_lab::experiment::model::Expect;

/// The files of all experiments that are shipped.
fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let folders = [folder.clone(), folder.join("validation"), folder.join("validation/causes")];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let is_one = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml");
    entries.map(|entry| entry.path()).filter(is_one).collect()
}

#[test]
fn every_experiment_that_is_shipped_can_be_judged() {
    let files = files();
    let read = files.iter().filter_map(|path| Experiment::read(path).err());
    let wrong: Vec<String> = read.map(|problems| problems.to_string()).collect();
    assert!(files.len() > 50, "{}", files.len());
    assert_eq!(wrong.join("\n"), "");
}

#[test]
fn where_nothing_but_an_order_is_random_a_shipped_statement_has_six_repeats_or_one() {
    let mut few = Vec::new();
    for path in files() {
        let Ok(experiment) = Experiment::read(&path) else { continue };
        if experiment.can_run_on("sim").is_err() {
            continue;
        }
        for plan in experiment.plans("sim").unwrap_or_default() {
            // What is so by construction shows in any order.
            let is_open = |expect: &Expect| expect.by_construction.is_none() && expect.not_testable.is_none();
            let is_judged = plan.is_deterministic() && plan.evaluation.expectations.iter().any(is_open);
            if is_judged && (2..6).contains(&plan.schedule.repeats) {
                few.push(format!("{}: {} repeats", path.display(), plan.schedule.repeats));
            }
        }
    }
    few.dedup();
    assert_eq!(few.join("\n"), "");
}
