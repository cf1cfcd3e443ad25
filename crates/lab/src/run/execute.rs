//! Carries an experiment out: case by case, repeat by repeat, from where an earlier session stopped.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::archive::compress;
use super::build::{Build, Program};
use super::calendar;
use super::folder::{RunFolder, RunRecord};
use super::machine::Machine;
use super::progress::Progress;
use crate::analysis::{DeriveError, RepeatResult, derive};
use crate::backend::hosts::{self, Inventory, InventoryError};
use crate::backend::netns::cgroup::Owner;
use crate::backend::netns::conduct::{ConductError, conduct};
use crate::backend::netns::order::{Event, Order, read_json};
use crate::backend::sim::simulate;
use crate::driver::{DriverError, Programs, driver};
use crate::experiment::{Experiment, Plan, Problems};

/// What a run is started with, beside the experiment.
#[derive(Debug, Clone)]
pub struct Options {
    /// The backend: `netns`, `hosts` or `sim`.
    pub backend: String,
    /// The machines, for `hosts`.
    pub hosts: Option<Inventory>,
    /// The folder that runs are put in.
    pub runs: PathBuf,
    /// Where programs are.
    pub programs: Programs,
    /// Other numbers of repeats than the experiment says.
    pub repeats: Option<u32>,
    /// Another seed than the experiment says.
    pub seed: Option<u64>,
    /// Only cases whose name holds this.
    pub only: Option<String>,
    /// Are controls run, too?
    pub controls: bool,
    /// What this program was built from.
    pub build: Build,
}

/// Why a run ended before its report.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The experiment cannot be read any more.
    #[error("{0}")]
    Experiment(#[from] Problems),
    /// Nothing would run.
    #[error("no case is called `{0}`; there are: {1}")]
    NoCase(String, String),
    /// A file.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// What failed.
        source: io::Error,
    },
    /// The software under test.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A repeat.
    #[error("{what}: {source}\nThe run is in {folder}; go on with: cairn lab resume {folder}")]
    Repeat {
        /// Which.
        what: String,
        /// Why.
        source: ConductError,
        /// The run's folder.
        folder: String,
    },
    /// What was measured cannot be read.
    #[error(transparent)]
    Derive(#[from] DeriveError),
    /// The backend does not exist.
    #[error("there is no backend called `{0}`; known are netns, hosts and sim")]
    Backend(String),
    /// The machines.
    #[error(transparent)]
    Hosts(#[from] InventoryError),
    /// The backend `hosts` without hosts.
    #[error("the backend hosts needs a file that names the machines: --hosts FILE")]
    NoHosts,
}

fn io_error(what: impl Into<String>) -> impl FnOnce(io::Error) -> RunError {
    let what = what.into();
    move |source| RunError::Io { what, source }
}

/// The plans a run consists of.
pub(crate) fn plans(
    experiment: &Experiment,
    backend: &str,
    repeats: Option<u32>,
    seed: Option<u64>,
    cases: Option<&[String]>,
) -> Result<Vec<Plan>, RunError> {
    let plans = experiment.plans(backend).map_err(|findings| {
        let text: Vec<String> =
            findings.into_iter().map(|finding| format!("{}: {}", finding.key, finding.message)).collect();
        io_error("the experiment")(io::Error::other(text.join("; ")))
    })?;
    let wanted = |plan: &Plan| cases.is_none_or(|cases| cases.contains(&plan.case));
    let change = |mut plan: Plan| {
        plan.repeats = repeats.unwrap_or(plan.repeats);
        plan.seed = seed.unwrap_or(plan.seed);
        plan
    };
    Ok(plans.into_iter().filter(wanted).map(change).collect())
}

/// The plans of a run that was begun.
fn plans_of(experiment: &Experiment, record: &RunRecord) -> Result<Vec<Plan>, RunError> {
    plans(experiment, &record.backend, Some(record.repeats), Some(record.seed), Some(&record.cases))
}

/// Runs an experiment from the beginning. The report is not part of this.
///
/// # Errors
///
/// Why it ended early; what was measured so far stays.
pub fn execute(
    experiment: &Experiment,
    options: &Options,
    mut observe: impl FnMut(&Progress),
) -> Result<RunFolder, RunError> {
    let mut plans = plans(experiment, &options.backend, options.repeats, options.seed, None)?;
    plans.retain(|plan| options.controls || plan.control.is_none());
    if let Some(only) = &options.only {
        let names: Vec<String> = plans.iter().map(|plan| plan.case.clone()).collect();
        plans.retain(|plan| plan.case.contains(only.as_str()));
        if plans.is_empty() {
            return Err(RunError::NoCase(only.clone(), names.join("; ")));
        }
    }
    match options.backend.as_str() {
        "hosts" => {
            let hosts = options.hosts.as_ref().ok_or(RunError::NoHosts)?;
            plans.iter().try_for_each(|plan| hosts.check(plan))?;
        }
        "netns" | "sim" => {}
        other => return Err(RunError::Backend(other.to_owned())),
    }
    let software = plans.first().map(|plan| driver(plan.software, &options.programs)).transpose()?;
    let folder = RunFolder::create(&options.runs, &experiment.name)
        .map_err(io_error(format!("no folder for the run in {}", options.runs.display())))?;
    fs::write(folder.experiment(), &experiment.text).map_err(io_error("the experiment cannot be copied"))?;
    if let Some(hosts) = &options.hosts {
        let text = toml::to_string(hosts).map_err(io::Error::other);
        let written = text.and_then(|text| fs::write(folder.hosts(), text));
        written.map_err(io_error("the file of hosts cannot be copied"))?;
    }
    let _lock = folder.lock().map_err(io_error("the run's folder"))?;
    let record = RunRecord {
        experiment: experiment.name.clone(),
        title: experiment.file.title.clone(),
        backend: options.backend.clone(),
        began: calendar::now().to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        software: software.map_or_else(String::new, |software| software.version()),
        program: Program::of(options.build.clone(), &options.programs.cairn).unwrap_or_default(),
        resumed_by: Vec::new(),
        machine: Machine::here(),
        cases: plans.iter().map(|plan| plan.case.clone()).collect(),
        repeats: plans.first().map_or(1, |plan| plan.repeats),
        seed: plans.first().map_or(1, |plan| plan.seed),
        complete: false,
    };
    folder.write_record(&record).map_err(io_error("run.json cannot be written"))?;
    observe(&Progress::Folder(folder.path().to_owned()));
    carry_on(&folder, record, &plans, &options.programs, &mut observe)?;
    Ok(folder)
}

/// Goes on with a run that was interrupted.
///
/// # Errors
///
/// Why it ended early again.
pub fn resume(
    path: &Path,
    programs: &Programs,
    build: Build,
    mut observe: impl FnMut(&Progress),
) -> Result<RunFolder, RunError> {
    let folder = RunFolder::open(path).map_err(io_error(path.display().to_string()))?;
    let mut record = folder.record().map_err(io_error("this is not the folder of a run"))?;
    let _lock = folder.lock().map_err(io_error("it cannot be gone on with"))?;
    let program = Program::of(build, &programs.cairn).unwrap_or_default();
    if program != record.program && !record.resumed_by.contains(&program) {
        record.resumed_by.push(program);
        folder.write_record(&record).map_err(io_error("run.json cannot be written"))?;
    }
    let experiment = Experiment::read(&folder.experiment())?;
    let plans = plans_of(&experiment, &record)?;
    observe(&Progress::Folder(folder.path().to_owned()));
    carry_on(&folder, record, &plans, programs, &mut observe)?;
    Ok(folder)
}

/// Derives everything anew from what was measured, such as with a later version or other gates in the run's
/// experiment.
///
/// # Errors
///
/// When raw files are missing.
pub fn derive_anew(folder: &RunFolder) -> Result<(), RunError> {
    let _lock = folder.lock().map_err(io_error("it cannot be derived anew"))?;
    let record = folder.record().map_err(io_error("this is not the folder of a run"))?;
    let experiment = Experiment::read(&folder.experiment())?;
    let plans = plans_of(&experiment, &record)?;
    for (case, plan) in plans.iter().enumerate() {
        for place in (0..plan.repeats).map(|repeat| folder.repeat(case, repeat)) {
            let Ok(before) = read_json::<RepeatResult>(&place.join("result.json")) else { continue };
            derive(plan, &place, before.thrown_away)?;
        }
    }
    Ok(())
}

fn carry_on(
    folder: &RunFolder,
    mut record: RunRecord,
    plans: &[Plan],
    programs: &Programs,
    observe: &mut impl FnMut(&Progress),
) -> Result<(), RunError> {
    let hosts = if record.backend == "hosts" { Some(Inventory::read(&folder.hosts())?) } else { None };
    for (case, plan) in plans.iter().enumerate() {
        for repeat in 0..plan.repeats {
            observe(&Progress::Repeat {
                case: (case + 1, plans.len()),
                name: plan.case.clone(),
                repeat: (repeat + 1, plan.repeats),
                seconds: plan.duration_ns as f64 / 1e9,
            });
            let path = folder.repeat(case, repeat);
            if path.join("result.json").is_file() {
                observe(&Progress::Skipped);
                continue;
            }
            let numbers = (case, repeat);
            let place =
                Place { folder, numbers, path: &path, backend: &record.backend, hosts: hosts.as_ref() };
            one_repeat(&place, plan, repeat, programs, observe)?;
        }
    }
    record.complete = true;
    folder.write_record(&record).map_err(io_error("run.json cannot be written"))
}

/// Where and on what a repeat runs.
struct Place<'a> {
    folder: &'a RunFolder,
    /// Of the case and of the repeat, from 0.
    numbers: (usize, u32),
    path: &'a Path,
    backend: &'a str,
    hosts: Option<&'a Inventory>,
}

/// One repeat, and again when it is not valid and may be repeated. What attempts before it measured stays,
/// marked.
fn one_repeat(
    place: &Place<'_>,
    plan: &Plan,
    repeat: u32,
    programs: &Programs,
    observe: &mut impl FnMut(&Progress),
) -> Result<(), RunError> {
    let (case, number) = place.numbers;
    loop {
        let discarded = place.folder.discarded(case, number);
        let attempt = discarded.len() as u64;
        // What is there is of an attempt that was interrupted.
        let _ = fs::remove_dir_all(place.path);
        fs::create_dir_all(place.path).map_err(io_error("no folder for a repeat"))?;
        let raw = place.path.join("raw");
        let order = Order {
            plan: plan.clone(),
            seed: plan.seed + u64::from(repeat) + (attempt << 32),
            owner: Owner::this_process(),
            programs: programs.clone(),
        };
        measure(place, &order, &raw, observe).map_err(|source| RunError::Repeat {
            what: format!(
                "repeat {} of `{}`",
                repeat + 1,
                if plan.case.is_empty() { &plan.title } else { &plan.case }
            ),
            source,
            folder: place.folder.path().display().to_string(),
        })?;
        observe(&Progress::Step("summary".to_owned()));
        let (_, result) = derive(plan, place.path, discarded)?;
        observe(&Progress::Step("archive".to_owned()));
        archive(&raw)?;
        let invalid = result.reasons();
        let why = invalid.join(", ");
        observe(&Progress::Done { invalid });
        // Whoever loses a forwarder gets a second try, whatever the experiment says of other reasons.
        let retries = plan.gates.retries.max(u32::from(result.outcome.lost.is_some()));
        if why.is_empty() || attempt >= u64::from(retries) {
            return Ok(());
        }
        place.folder.discard(case, number, &why).map_err(io_error("an attempt cannot be put aside"))?;
    }
}

/// Carries the order out on its backend.
fn measure(
    place: &Place<'_>,
    order: &Order,
    raw: &Path,
    observe: &mut impl FnMut(&Progress),
) -> Result<(), ConductError> {
    match (place.backend, place.hosts) {
        ("hosts", Some(hosts)) => {
            hosts::conduct(order, hosts, raw, |event| observe(&translate(event))).map(drop)
        }
        ("netns", _) => conduct(order, raw, |event| observe(&translate(event))).map(drop),
        ("sim", _) => simulate(order, raw, |event| observe(&translate(event)))
            .map(drop)
            .map_err(|error| ConductError::Failed(error.to_string())),
        (other, _) => Err(ConductError::Failed(format!("there is no backend called `{other}`"))),
    }
}

fn translate(event: &Event) -> Progress {
    match event {
        Event::Step { name } => Progress::Step(name.clone()),
        Event::Note { text } => Progress::Note(text.clone()),
        Event::Failed { why } => Progress::Note(format!("It failed: {why}")),
        Event::Sample { .. } => Progress::Sample(event.clone()),
    }
}

/// Compresses captures and logs.
fn archive(raw: &Path) -> Result<(), RunError> {
    for entry in fs::read_dir(raw).map_err(io_error("raw data"))?.flatten() {
        let path = entry.path();
        let is_large = path.extension().is_some_and(|ending| ending == "pcapng" || ending == "csv");
        if is_large {
            compress(&path).map_err(io_error(format!("{} cannot be compressed", path.display())))?;
        }
    }
    // It was only a place for sockets.
    let _ = fs::remove_dir(raw.join("sockets"));
    Ok(())
}
