//! Where in a network should copies be left? Studies of caches as the simulator Icarus made them usual
//! (Saino, Psaras, Pavlou, "Icarus: a Caching Simulator for Information Centric Networking", SIMUTools 2014):
//! a map of routers with equal caches, a receiver at each, sources at those with most links, and requests by
//! Zipf's law, one after the other, without packets.

mod experiment;
mod results;

pub(super) use self::experiment::Experiment;
use self::results::{add_figures, overall, results};
use crate::experiment::Files;
use crate::study::report::Report;
use crate::study::{Runner, StudyError};

pub(super) fn run(experiment: &Experiment, files: &Files, runner: &Runner<'_>) -> Result<Report, StudyError> {
    let network = experiment.network(files)?;
    let results = results(experiment, &network, runner)?;
    let mut report = Report { title: experiment.title.clone(), hash: results.hash(), ..Report::default() };
    let routers = experiment.routers(&network);
    report.remarks.push(format!(
        "{routers} routers, each with a receiver; {} sources at the routers with most links; {} objects; in each of \
         {} repeats {} requests count after {} that do not, seed {}.",
        network.sources.len(),
        experiment.objects,
        experiment.repeats,
        experiment.requests,
        experiment.warm_up,
        experiment.seed
    ));
    report.remarks.extend(CHOICES.iter().map(|choice| (*choice).to_owned()));
    report.tables.push(overall(experiment, routers, &results));
    add_figures(experiment, &results, &mut report);
    report.misses.extend(results.outside(experiment));
    Ok(report)
}

/// What decides a result and is not in the file.
const CHOICES: [&str; 4] = [
    "The room is divided evenly among the routers, and rounded to whole objects.",
    "Each object is at one source, drawn anew in every repeat; requests take the path with the least delay.",
    "There is no time: a request is answered before the next one comes, and no link has a queue.",
    "A round trip is twice the delay from the receiver to whoever answers.",
];
