//! Several repositories at one router: what is lost while one of them deletes.

use packet::time::Duration;
use repo::evaluation::{Home, SeveralOutcome, SeveralRepositories, SeveralRun};
use repo::eviction::{DeleteQueue, DeletionRule};

use super::setup::Setup;
use super::workload_section::{WorkloadSection, place_of};
use crate::experiment::model::study::CacheSeveral;
use crate::parallel;
use crate::study::report::{Report, StudyCell, StudyTable};
use crate::study::{Findings, Runner, StudyError};

/// What is compared.
#[derive(Clone, Debug)]
pub(super) struct SeveralSection {
    workload: usize,
    repeats: u32,
    rule: DeletionRule,
    repositories: Vec<u32>,
    deletions: Vec<Duration>,
}

impl SeveralSection {
    pub(super) fn of(given: &CacheSeveral, workloads: &[WorkloadSection], f: &mut Findings) -> Self {
        let key = "study.persistent_cache.several";
        if given.repositories.iter().any(|count| !(1..=1000).contains(count)) {
            f.add(format!("{key}.repositories"), "there must be one at least, and 1,000 at most", None);
        }
        SeveralSection {
            workload: place_of(key, &given.workload, workloads, f),
            repeats: given.repeats.max(1),
            rule: DeletionRule { threshold_bytes: given.threshold.0, ratio: given.ratio.0 },
            repositories: given.repositories.clone(),
            deletions: given.deletions.iter().map(|span| span.duration()).collect(),
        }
    }

    fn combinations(&self) -> Vec<SeveralRepositories> {
        let mut all = Vec::new();
        for &deletion_of_gigabyte in &self.deletions {
            for &repositories in &self.repositories {
                // With one there is no choice.
                let homes: &[Home] =
                    if repositories == 1 { &[Home::Name] } else { &[Home::Name, Home::WhoeverTakesIt] };
                all.extend(homes.iter().map(|&home| SeveralRepositories {
                    repositories,
                    rule: self.rule,
                    home,
                    deletion_of_gigabyte,
                }));
            }
        }
        all
    }
}

pub(super) fn add(
    section: Option<&SeveralSection>,
    setup: &Setup,
    runner: &Runner<'_>,
    report: &mut Report,
) -> Result<(), StudyError> {
    let Some(section) = section else { return Ok(()) };
    let Some(workload) = setup.workloads.get(section.workload) else { return Ok(()) };
    let setting = setup.literal(workload);
    let combinations = section.combinations();
    let outcomes = parallel::for_each(&combinations, runner, |&several| {
        let outcomes = (0..section.repeats).map(|repeat| {
            let random = setup.stream(section.workload, repeat);
            let run = SeveralRun::new(setting.workload, several, DeleteQueue::default, random);
            run.map(|run| run.run(setting.length)).map_err(|error| StudyError::Format(error.to_string()))
        });
        outcomes.collect::<Result<Vec<_>, _>>()
    });
    let mut table = StudyTable::new(
        "several",
        &format!(
            "Several repositories at one router, {}, {} GB together",
            workload.name,
            section.rule.threshold_bytes / 1_000_000_000
        ),
        &[
            "a deletion takes, s for each GB",
            "repositories",
            "included by",
            "hits, %",
            "inclusions refused, %",
            "deletions a day",
            "deleting, s a day",
        ],
    );
    for (several, outcomes) in combinations.iter().zip(outcomes) {
        let outcomes = outcomes?;
        let mean = |of: fn(&SeveralOutcome) -> f64| {
            outcomes.iter().map(of).sum::<f64>() / outcomes.len().max(1) as f64
        };
        let home = match (several.repositories, several.home) {
            (1, _) => "the only one",
            (_, Home::Name) => "the one that the name decides",
            (_, Home::WhoeverTakesIt) => "whoever does not delete",
        };
        table.rows.push(vec![
            StudyCell::Number(several.deletion_of_gigabyte.as_secs_f64(), 1),
            StudyCell::count(several.repositories.into()),
            home.into(),
            StudyCell::Number(mean(|one| 100.0 * one.hits as f64 / one.requests.max(1) as f64), 2),
            StudyCell::Number(mean(|one| 100.0 * one.refused as f64 / one.wanted.max(1) as f64), 3),
            StudyCell::Number(mean(|one| one.deletions as f64), 1),
            StudyCell::Number(mean(|one| one.deleting_seconds), 0),
        ]);
    }
    table.notes.push(format!("Means over {} repeats.", section.repeats));
    report.tables.push(table);
    Ok(())
}
