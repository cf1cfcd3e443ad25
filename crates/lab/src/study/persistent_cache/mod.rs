//! How often does a persistent cache have what is asked for? (Gadow, Anastasiades et al., "Persistent Caching
//! in Information-Centric Networking", 2015.)
//!
//! An edge router keeps whole files on a disk, and when they are too many deletes half or a quarter of them,
//! from the head of a queue in which what was asked for goes to the tail. The paper measures hits and misses
//! for a day of a web server's and of YouTube's files. Here the same requests are played in virtual time,
//! also with other policies, and with other readings of what the paper leaves open.

mod departures;
mod experiment;
mod hierarchy;
mod hit_rates;
mod policies;
mod ranges;
mod results;
mod setup;
mod several;
mod statements;
mod units;
mod workload_section;

pub(super) use self::experiment::Experiment;
use self::results::Results;
use crate::study::report::Report;
use crate::study::{Runner, StudyError};

pub(super) fn run(experiment: &Experiment, runner: &Runner<'_>) -> Result<Report, StudyError> {
    let results = Results::of(experiment, runner)?;
    let mut report = Report { title: experiment.title.clone(), hash: results.hash(), ..Report::default() };
    report.remarks.push(format!(
        "{} runs of {} s, {:.1} million requests, seed {}; repeats of all configurations of a workload see \
         the same requests.",
        results.runs(),
        experiment.setup.length.as_secs_f64(),
        results.requests() as f64 / 1e6,
        experiment.setup.seed
    ));
    report.remarks.extend(CHOICES.iter().map(|choice| (*choice).to_owned()));
    hit_rates::add(experiment, &results, &mut report);
    departures::add(experiment, runner, &mut report)?;
    policies::add(experiment, runner, &mut report)?;
    ranges::add(experiment.ranges.as_ref(), &experiment.setup, runner, &mut report)?;
    hierarchy::add(&experiment.hierarchies, &experiment.setup, runner, &mut report)?;
    several::add(experiment.several.as_ref(), &experiment.setup, runner, &mut report)?;
    report.tables.push(statements::table(experiment, &results));
    Ok(report)
}

/// What the paper leaves open and moves a result.
const CHOICES: [&str; 8] = [
    "Choice: Table I has the thresholds of its two columns swapped; the text and the figures say which is meant.",
    "Choice: nothing is stored and no file exists when a run begins; new files fill the repository at the \
     pace of Table I, while requests go on. The table of departures shows other first catalogues.",
    "Choice: a request draws a class, and then one of all files that were ever created in it, each as likely, \
     whether stored or not.",
    "Choice: a file that is not here is fetched and included again, and counts as a miss.",
    "Choice: the request that creates a file is not counted, neither as a hit nor as a miss.",
    "Choice: the evaluation begins at the first deletion, which is not counted, and lasts as long as said.",
    "Choice: a gigabyte is 10^9 bytes; sizes are clipped, not drawn again; an inclusion takes no time.",
    "Choice: of the objects in the queue a new one goes behind the first 75 %, counted in objects, not bytes.",
];
