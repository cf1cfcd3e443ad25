//! Run an experiment, or go on with one.

use std::io::{IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lab::backend::VIRTUAL_TIME;
use lab::backend::hosts::Inventory;
use lab::driver::Programs;
use lab::experiment::plan::TraceFormat;
use lab::experiment::{Experiment, SweepValue, with_sweep};
use lab::report::{RunData, write_report_of};
use lab::run::progress::Progress;
use lab::run::slurm::SlurmRun;
use lab::run::{Build, Options, RunFolder, Shard, Stop, execute, merge, resume};

use super::Outcome;
use super::slurm::{self, SlurmArguments};
use super::verdicts::Form;
use crate::tool::ToolError;
use crate::tool::interrupt::Interrupt;

/// How a run is started, wherever it is.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// The experiment.
    pub(super) file: PathBuf,
    /// The folder for runs.
    #[arg(long, default_value = "runs", value_name = "FOLDER")]
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
    /// Repeats that run in parallel in virtual time; by default as many as there are cores. Results do not
    /// depend on it.
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroUsize>,
    /// Print what was found as JSON; progress goes to standard error.
    #[arg(long)]
    json: bool,
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

/// How a run is started, and where.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    run: Arguments,
    /// Where: `netns` for real forwarders in network namespaces, `hosts` for machines of their own over SSH,
    /// `sim` for virtual time, `slurm` for virtual time on a cluster that Slurm manages.
    #[arg(long, default_value = "netns")]
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
    run: RunArguments,
    /// The key, such as `link.*.rate`; a `*` stands for every name.
    #[arg(long)]
    key: String,
    /// Its values, apart by commas, such as `10 Mbit/s,20 Mbit/s`.
    #[arg(long, value_delimiter = ',', required = true)]
    values: Vec<String>,
}

pub(super) fn sweep(arguments: &SweepArguments) -> Outcome {
    let path = &arguments.run.run.file;
    let text = crate::tool::files::read_text(path).map_err(ToolError::file(path))?;
    let values: Vec<SweepValue> =
        arguments.values.iter().map(|value| SweepValue::written(value.trim())).collect();
    let text = with_sweep(&text, &arguments.key, &values);
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let shown = format!("{} with --key and --values", path.display());
    let experiment = Experiment::parse_in(path.parent(), &name, &shown, &text).map_err(ToolError::other)?;
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
    let mut screen = Screen::new(on == VIRTUAL_TIME)?;
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
    let mut screen = Screen::new(false)?;
    let folder =
        resume(folder, &programs()?, build(), |progress| screen.show(progress)).map_err(ToolError::other)?;
    finish(&folder, &mut screen, form)
}

/// Makes one run of several.
pub(super) fn put_together(out: &Path, parts: &[PathBuf], form: Form) -> Outcome {
    let open = |path: &PathBuf| RunFolder::open(path).map_err(ToolError::file(path));
    let parts = parts.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let folder = merge(&parts, out).map_err(ToolError::other)?;
    finish(&folder, &mut Screen::new(true)?, form)
}

/// Writes the report and says where it is.
pub(super) fn finish(folder: &RunFolder, screen: &mut Screen, form: Form) -> Outcome {
    screen.show(&Progress::Step("report".to_owned()));
    let run = RunData::read(folder).map_err(ToolError::other)?;
    let page = write_report_of(&run).map_err(ToolError::other)?;
    if !screen.brief {
        screen.line("");
    }
    super::verdicts::tell(&run, folder.path(), &page, form)
}

/// What this program was built from.
pub(super) fn build() -> Build {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Build { commit: text(env!("CAIRN_COMMIT")), clean: env!("CAIRN_CLEAN").parse().ok() }
}

/// This program, and others that are in PATH or named in the environment.
pub(super) fn programs() -> Result<Programs, ToolError> {
    let named = std::env::var_os("CAIRN_NDND").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("ndnd")).find(|file| file.is_file());
    let cairn = std::env::current_exe().map_err(ToolError::file("this program"))?;
    Ok(Programs { cairn, ndnd: named.or(found) })
}

/// Shows something on standard error. A screen that is gone shows nothing, and the run goes on.
fn put(text: &str) {
    let mut screen = std::io::stderr().lock();
    let _ = screen.write_all(text.as_bytes()).and_then(|()| screen.flush());
}

/// How many columns the terminal has.
fn terminal_width() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let asked = || rustix::termios::tcgetwinsize(std::io::stderr()).ok().map(|size| usize::from(size.ws_col));
    said.or_else(asked).filter(|width| *width > 0).unwrap_or(80)
}

/// How much of the whole is done after so many seconds, and how long the rest will take at this pace.
pub(super) fn time_left(share: f64, passed: f64) -> String {
    if share <= 0.0 {
        return "0 %".to_owned();
    }
    let left = passed / share - passed;
    let words = match left {
        left if left < 90.0 => format!("{left:.0} s"),
        left if left < 5400.0 => format!("{:.0} min", left / 60.0),
        left => format!("{:.1} h", left / 3600.0),
    };
    format!("{:.0} %, {words} left", share * 100.0)
}

/// What a person sees while a run goes on.
pub(super) struct Screen {
    terminal: bool,
    began: Instant,
    step: String,
    seconds: f64,
    open: bool,
    interrupt: Interrupt,
    folder: Option<PathBuf>,
    /// Repeats before this one, and how many there are in all.
    done: (u64, u64),
    /// In virtual time there is little to wait for: only a terminal is told of every step.
    brief: bool,
}

impl Screen {
    pub(super) fn new(in_virtual_time: bool) -> Result<Self, ToolError> {
        let terminal = std::io::stderr().is_terminal();
        Ok(Screen {
            terminal,
            brief: in_virtual_time && !terminal,
            began: Instant::now(),
            step: String::new(),
            seconds: 0.0,
            open: false,
            interrupt: Interrupt::catch()?,
            folder: None,
            done: (0, 1),
        })
    }

    /// Ends at Ctrl-C, and says how to go on. Whoever was started ends with this process.
    fn heed(&mut self) {
        if !self.interrupt.came() {
            return;
        }
        if let Some(folder) = self.folder.take() {
            self.line(&format!("interrupted; go on with: cairn lab resume {}", folder.display()));
        }
        std::process::exit(130);
    }

    /// How much of the whole is done, and how long the rest will take at this pace.
    fn overall(&self, part: f64) -> String {
        let share = ((self.done.0 as f64 + part) / self.done.1.max(1) as f64).clamp(0.0, 1.0);
        time_left(share, self.began.elapsed().as_secs_f64())
    }

    /// A line that stays.
    pub(super) fn line(&mut self, text: &str) {
        let clear = if self.open { "\r\x1b[K" } else { "" };
        self.open = false;
        put(&format!("{clear}{text}\n"));
    }

    /// A line that the next one replaces.
    pub(super) fn status(&mut self, text: &str) {
        if self.terminal {
            // One line at any width: a line that wraps could not be replaced.
            let width = terminal_width().saturating_sub(1).max(20);
            let text: String = text.chars().take(width).collect();
            put(&format!("\r\x1b[K{text}"));
            self.open = true;
        }
    }

    pub(super) fn show(&mut self, progress: &Progress) {
        self.heed();
        let is_wrong = |invalid: &[String]| !invalid.is_empty();
        match progress {
            Progress::Folder(path) if self.brief => self.folder = Some(path.clone()),
            Progress::Repeat { .. } | Progress::Step(_) | Progress::Count { .. } | Progress::Skipped
                if self.brief => {}
            Progress::Done { invalid } if self.brief && !is_wrong(invalid) => {}
            Progress::Folder(path) => {
                self.folder = Some(path.clone());
                self.line(&format!("run folder: {}", path.display()));
            }
            Progress::Repeat { case, name, repeat, seconds } => {
                self.seconds = *seconds;
                let before = (case.0 as u64 - 1) * u64::from(repeat.1) + u64::from(repeat.0) - 1;
                self.done = (before, case.1 as u64 * u64::from(repeat.1));
                let name = if name.is_empty() { String::new() } else { format!(" ({name})") };
                let text = format!("case {}/{}{name}, repeat {}/{}", case.0, case.1, repeat.0, repeat.1);
                self.line(&text);
            }
            Progress::Step(name) => {
                self.step.clone_from(name);
                self.status(&format!("  {name} …"));
                if !self.terminal {
                    self.line(&format!("  {:>6.1} s  {name}", self.began.elapsed().as_secs_f64()));
                }
            }
            Progress::Note(text) => self.line(&format!("  note: {text}")),
            Progress::Sample(event) => self.sample(event),
            Progress::Done { invalid } if invalid.is_empty() => self.line("  valid"),
            Progress::Done { invalid } => {
                self.line(&format!("  NOT VALID, and not used in means: {}", invalid.join("; ")));
            }
            Progress::Count { done, all } => {
                self.status(&format!("  {done} of {all} repeats"));
            }
            Progress::Skipped => self.line("  done before"),
        }
    }

    fn sample(&mut self, event: &lab::order::Event) {
        let lab::order::Event::Sample { node, seconds, pending, cpu_percent, .. } = event else {
            return;
        };
        let part = (seconds / self.seconds.max(0.1)).clamp(0.0, 1.0);
        let marks = (0..24).map(|mark| if f64::from(mark) < part * 24.0 { '█' } else { '·' });
        let bar: String = marks.collect();
        let pending = pending.map_or_else(|| "no answer".to_owned(), |pending| format!("{pending} pending"));
        let text = format!(
            "  {}; {} {bar} {seconds:4.0} of {:.0} s   {node}: {cpu_percent:3.0} % processor, {pending}",
            self.overall(part),
            self.step,
            self.seconds
        );
        self.status(&text);
    }
}
