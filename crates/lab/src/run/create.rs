//! What a run begins with: its folder, and all that is known before anything is measured.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use super::anew::{pasted, said_format};
use super::build::Program;
use super::error::{RunError, io_error};
use super::experiment_hashes::hashes;
use super::folder::{Lock, RunFolder, RunRecord};
use super::machine::Machine;
use super::options::Options;
use super::start_command::begun_over;
use crate::driver::driver;
use crate::experiment::plan::Software;
use crate::experiment::{Experiment, Plan};
use crate::seal::Seal;

/// The command that carries out an experiment like this.
pub(super) fn command(experiment: &Experiment, options: &Options, on: &str) -> String {
    let mut words = match experiment.sweep_beside() {
        Some(sweep) => begun_over(&sweep.file, &sweep.key, &sweep.values),
        None => format!("cairn lab run {}", pasted(experiment.shown())),
    };
    words += &format!(" --on {on}");
    let mut add = |key: &str, value: Option<String>| {
        words.extend(value.map(|value| format!(" --{key} {value}")));
    };
    add("repeats", options.repeats.map(|repeats| repeats.to_string()));
    add("seed", options.seed.map(|seed| seed.to_string()));
    add("only", options.only.as_deref().map(pasted));
    add("shard", options.shard.map(|shard| shard.to_string()));
    add("format", options.trace_format.map(|format| said_format(format).to_owned()));
    if !options.controls {
        words.push_str(" --no-controls");
    }
    words
}

/// Makes the folder of a run, with all that is known before anything is measured.
pub(super) fn begin(
    experiment: &Experiment,
    options: &Options,
    plans: &[Plan],
    recorded_from: Option<usize>,
) -> Result<(RunFolder, Lock, RunRecord), RunError> {
    let has_forwarders = |plan: &&Plan| plan.software != Software::None;
    let first = plans.iter().find(has_forwarders);
    let software = first.map(|plan| driver(plan.software, &options.programs)).transpose()?;
    let (folder, lock) = new_folder(experiment, options)?;
    let record = RunRecord {
        experiment: experiment.name.clone(),
        title: experiment.file.title.clone(),
        backend: options.backend.clone(),
        command: command(experiment, options, &options.backend),
        began: system::unix_now().to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        software: software.map_or_else(String::new, |software| software.version()),
        program: Program::of(options.build.clone(), &options.programs.cairn).unwrap_or_default(),
        resumed_by: Vec::new(),
        hashes: hashes(experiment),
        machine: Machine::here(),
        cases: plans.iter().map(|plan| plan.case.clone()).collect(),
        repeats: plans.first().map_or(experiment.file.repeats.unwrap_or(1), |plan| plan.schedule.repeats),
        seed: plans.first().map_or(experiment.file.seed.unwrap_or(1), |plan| plan.schedule.seed),
        trace_format: options.trace_format,
        recorded_from,
        study_files: BTreeMap::new(),
        complete: false,
        seal: Seal::None,
    };
    folder.write_record(&record).map_err(io_error("run.json cannot be written"))?;
    Ok((folder, lock, record))
}

/// A run's folder, with the experiment and every file that it names.
pub(super) fn new_folder(experiment: &Experiment, options: &Options) -> Result<(RunFolder, Lock), RunError> {
    let folder = match &options.out {
        Some(out) => RunFolder::create_as(out).map_err(io_error(format!("no folder {}", out.display())))?,
        None => RunFolder::create(&options.runs, &experiment.name)
            .map_err(io_error(format!("no folder for the run in {}", options.runs.display())))?,
    };
    fs::write(folder.experiment(), &experiment.text).map_err(io_error("the experiment cannot be copied"))?;
    keep_files(experiment, &folder).map_err(io_error("a file of the experiment cannot be copied"))?;
    if let Some(hosts) = &options.hosts {
        let text = toml::to_string(hosts).map_err(io::Error::other);
        let written = text.and_then(|text| fs::write(folder.hosts(), text));
        written.map_err(io_error("the file of hosts cannot be copied"))?;
    }
    let lock = folder.lock().map_err(io_error("the run's folder"))?;
    Ok((folder, lock))
}

/// Copies the files that an experiment names, so that the run's folder has all that it was made of.
fn keep_files(experiment: &Experiment, folder: &RunFolder) -> io::Result<()> {
    for (name, bytes) in experiment.files.iter() {
        let place = folder.file_of_experiment(name);
        place.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(place, bytes)?;
    }
    Ok(())
}
