//! Run an experiment, or go on with one.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use lab::backend::hosts::Inventory;
use lab::experiment::Experiment;
use lab::experiment::backends::{HOSTS, NETNS, VIRTUAL_TIME};
use lab::experiment::plan::TraceFormat;
use lab::run::slurm::SlurmRun;
use lab::run::{Options, RunFolder, Shard, Stop, execute, merge, resume};

use super::Outcome;
use super::finish::finish;
use super::programs::{build, programs};
use super::screen::Screen;
use super::slurm::{self, SlurmArguments};
use super::verdicts::Form;
use crate::tool::ToolError;

/// How a run is started, wherever it is.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// The experiment.
    pub(super) file: PathBuf,
    /// The folder for runs.
    #[arg(long, default_value = super::runs::RUNS, value_name = "FOLDER")]
    runs: PathBuf,
    /// The folder of this run; without it, it is named after the experiment and the time.
    #[arg(long, value_name = "FOLDER", conflicts_with = "runs")]
    pub(super) out: Option<PathBuf>,
    /// How many repeats, instead of the experiment's number.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: Option<u32>,
    /// The seed, instead of the experiment's; repeats use it and the numbers that follow.
    #[arg(long)]
    seed: Option<u64>,
    /// Only cases whose name contains this text.
    #[arg(long)]
    only: Option<String>,
    /// Only a share of the cases, such as `3/16`: the third of sixteen, one for each machine. `cairn lab
    /// merge` puts the runs together.
    #[arg(long, value_name = "N/OF")]
    shard: Option<Shard>,
    /// Leave out control runs. What they would confirm is then called `confirmed, control not run`.
    #[arg(long)]
    no_controls: bool,
    /// The format of traces in virtual time, instead of the experiment's.
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Cores for virtual time, by default all: repeats run in parallel, and where there are two cores and
    /// more for each, they work on it together. Results do not depend on it.
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroUsize>,
    /// Print what was found as JSON; progress goes to standard error.
    #[arg(long)]
    pub(super) json: bool,
}

/// What trace files look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Text with commas.
    Csv,
    /// Apache Parquet.
    Parquet,
}

impl From<Format> for TraceFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Csv => TraceFormat::Csv,
            Format::Parquet => TraceFormat::Parquet,
        }
    }
}

/// Where a run can be.
const PLACES: [&str; 4] = [NETNS, HOSTS, VIRTUAL_TIME, slurm::NAME];

/// How a run is started, and where.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(super) run: Arguments,
    /// Where: `netns` for real forwarders in network namespaces, `hosts` for machines of their own over SSH,
    /// `sim` for virtual time, `slurm` for virtual time on a cluster that Slurm manages.
    #[arg(long, default_value = "netns", value_parser = PLACES)]
    on: String,
    /// The file that names the machines, for `--on hosts`.
    #[arg(long, value_name = "FILE")]
    hosts: Option<PathBuf>,
    #[command(flatten)]
    slurm: SlurmArguments,
}

/// An experiment as it stands, with one more key that is run over many values.
#[derive(Debug, clap::Args)]
pub(crate) struct SweepArguments {
    #[command(flatten)]
    pub(super) run: RunArguments,
    /// The key, such as `link.*.rate`; a `*` stands for every name.
    #[arg(long)]
    key: String,
    /// Its values, apart by commas, such as `10 Mbit/s,20 Mbit/s`.
    #[arg(long, value_delimiter = ',', required = true, allow_hyphen_values = true)]
    values: Vec<String>,
}

pub(super) fn sweep(arguments: &SweepArguments) -> Outcome {
    if arguments.values.iter().any(|value| value.trim().is_empty()) {
        return Err(ToolError::other("--values: one of the values is empty"));
    }
    let path = &arguments.run.run.file;
    let text = crate::tool::files::read_text(path).map_err(ToolError::file(path))?;
    let experiment =
        Experiment::swept(path, &text, &arguments.key, &arguments.values).map_err(ToolError::other)?;
    carry_out_on(&experiment, &arguments.run)
}

pub(super) fn run_on(arguments: &RunArguments) -> Outcome {
    let experiment = super::files::read(&arguments.run.file).map_err(ToolError::other)?;
    carry_out_on(&experiment, arguments)
}

fn carry_out_on(experiment: &Experiment, arguments: &RunArguments) -> Outcome {
    let RunArguments { run, on, hosts, slurm } = arguments;
    if on == slurm::NAME {
        return slurm::run(experiment, &options(run, on, hosts.as_deref())?, slurm, Form::of(run.json));
    }
    slurm.refuse_elsewhere()?;
    carry_out(experiment, run, on, hosts.as_deref())
}

/// Runs a file on a backend.
pub(super) fn run(arguments: &Arguments, on: &str, hosts: Option<&Path>) -> Outcome {
    let experiment = super::files::read(&arguments.file).map_err(ToolError::other)?;
    carry_out(&experiment, arguments, on, hosts)
}

fn carry_out(experiment: &Experiment, arguments: &Arguments, on: &str, hosts: Option<&Path>) -> Outcome {
    let options = options(arguments, on, hosts)?;
    if experiment.file.study.is_some() {
        return super::study::run(experiment, &options, Form::of(arguments.json));
    }
    let mut screen = Screen::new(on == VIRTUAL_TIME, Form::of(arguments.json))?;
    let folder = execute(experiment, &options, |progress| screen.show(progress)).map_err(ToolError::other)?;
    finish(&folder, &mut screen, Form::of(arguments.json))
}

/// What the library is told.
pub(super) fn options(arguments: &Arguments, on: &str, hosts: Option<&Path>) -> Result<Options, ToolError> {
    Ok(Options {
        backend: on.to_owned(),
        hosts: hosts.map(Inventory::read).transpose().map_err(ToolError::other)?,
        runs: arguments.runs.clone(),
        out: arguments.out.clone(),
        workers: arguments.workers.map(NonZeroUsize::get),
        trace_format: arguments.format.map(TraceFormat::from),
        programs: programs()?,
        repeats: arguments.repeats,
        seed: arguments.seed,
        only: arguments.only.clone(),
        shard: arguments.shard,
        controls: !arguments.no_controls,
        build: build(),
        stop: Stop::default(),
    })
}

pub(super) fn go_on(folder: &Path, form: Form) -> Outcome {
    if let Some(run) = SlurmRun::open(folder).map_err(ToolError::other)? {
        return slurm::go_on(run, form);
    }
    let mut screen = Screen::new(false, form)?;
    let folder =
        resume(folder, &programs()?, build(), |progress| screen.show(progress)).map_err(ToolError::other)?;
    finish(&folder, &mut screen, form)
}

/// Makes one run of several.
pub(super) fn put_together(out: &Path, parts: &[PathBuf], form: Form) -> Outcome {
    let open = |path: &PathBuf| RunFolder::open(path).map_err(ToolError::file(path));
    let parts = parts.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let folder = merge(&parts, out).map_err(ToolError::other)?;
    finish(&folder, &mut Screen::new(true, form)?, form)
}
