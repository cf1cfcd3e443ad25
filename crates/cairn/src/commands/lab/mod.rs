//! `cairn lab`: experiments.

mod compare;
mod counts;
mod files;
mod finish;
mod internal;
mod live;
#[cfg(test)]
mod page_for_beginners;
mod programs;
mod run;
mod runs;
mod screen;
mod slurm;
mod study;
mod terminal;
mod validation;
mod verdicts;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;

pub(crate) use self::run::Arguments;
use self::verdicts::Form;
use crate::tool::{ToolError, finish, finish_in_json};

/// What `cairn sim run` does.
pub(crate) fn run_in_virtual_time(arguments: &Arguments) -> ExitCode {
    let outcome = run::run(arguments, lab::backend::VIRTUAL_TIME, None);
    if arguments.json { finish_in_json(outcome) } else { finish(outcome) }
}

/// How a command ended.
type Outcome = Result<ExitCode, ToolError>;

/// What can be done with experiments.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Every run is a folder of its own below `runs`: the experiment, seeds and versions, raw measurements, tables, figures, and the report \
`report.html`. Real forwarders run in network namespaces, which needs root; `--on sim` needs nothing.

Examples:
  cairn lab new first.toml                        a small experiment to begin with
  cairn lab check first.toml
  cairn lab run first.toml                        real forwarders, as root
  cairn lab run first.toml --on sim               the same in virtual time
  cairn lab sweep first.toml --key 'link.*.rate' --values '10 Mbit/s,20 Mbit/s'
  cairn lab sweep first.toml --key 'link.*.rate' --values '10 Mbit/s,20 Mbit/s' --on slurm
  cairn lab list
  cairn lab compare runs/first-20261122-040849 runs/first-20261122-041932
  cairn lab calibrate machine.toml
  cairn lab validate first.toml --profile machine.toml
  cairn lab up first.toml --detach                a network that stays
  cairn lab shell consumer -- cairn status        a command at one of its nodes
  cairn lab down

Exit codes: 0 done, and everything is as expected; 1 failure, or nothing to compare; 2 wrong usage; 3 something expected is contradicted (run, sweep, resume, \
show), or a number is not within its margin (validate); 4 nothing is contradicted, but something is not testable here; 5 a case has no \
valid run; 6 the run is not complete, or something of it was changed or \
taken away since (results and compare, too); 130 interrupted by a signal: `resume` goes on.")]
pub(crate) enum Command {
    /// Run an experiment and write its report.
    Run(run::RunArguments),
    /// Run an experiment once for each of many values of a key.
    Sweep(run::SweepArguments),
    /// Continue a run that was interrupted.
    Resume {
        /// The run's folder.
        folder: PathBuf,
        /// Print what was found as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Put runs of shares of one experiment together, and write the report of all.
    Merge {
        /// The new run's folder.
        out: PathBuf,
        /// The runs' folders, each with a share of the cases.
        #[arg(required = true)]
        parts: Vec<PathBuf>,
        /// Print what was found as JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the runs below a folder.
    List {
        /// The folder.
        #[arg(long, default_value = runs::RUNS)]
        runs: PathBuf,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show what a run found, and write its report again.
    Show {
        /// The run's folder; without it, the last run.
        folder: Option<PathBuf>,
        /// The folder that runs are in.
        #[arg(long, default_value = runs::RUNS)]
        runs: PathBuf,
        /// Also derive tables, numbers and gates from the raw data again.
        #[arg(long)]
        derive: bool,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Compare two runs, such as one in virtual time and one on real forwarders.
    Compare {
        /// A run's folder.
        a: PathBuf,
        /// Another's.
        b: PathBuf,
        /// Every measure, and not only those that differ.
        #[arg(long)]
        all: bool,
        /// As JSON, with every measure.
        #[arg(long)]
        json: bool,
        /// Write a page and a PDF with figures into this folder.
        #[arg(long)]
        report: Option<PathBuf>,
    },
    /// Measure what packets cost a forwarder on this machine, for virtual time to use: by kind of link and of
    /// packet, from the cache, and signatures. Takes about four minutes for each repeat, as root.
    Calibrate(validation::CalibrateArguments),
    /// Run experiments with the same plan on real forwarders and in virtual time, and say of each number how
    /// far they are apart: within ±5 % where links limit, and ±15 % where the processor does.
    Validate(validation::ValidateArguments),
    /// Show what runs found: each statement with its verdict. docs/lab-results.md is made with this.
    Results {
        /// The runs' folders.
        #[arg(required = true)]
        folders: Vec<PathBuf>,
        /// As Markdown.
        #[arg(long, conflicts_with = "json")]
        markdown: bool,
        /// Write the figures over parameters into this folder, as SVG, and show them on the page. The page
        /// names the folder as it is given here.
        #[arg(long, requires = "markdown", value_name = "FOLDER")]
        pictures: Option<PathBuf>,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Build a network of real forwarders and keep it up, to enter its nodes and to change it by hand.
    Up(live::UpArguments),
    /// Run a shell, or another command, at a node of a network that is up. `cairn` and every other client in
    /// it use the node's forwarder, and nodes know each other by name.
    #[command(visible_alias = "exec")]
    Shell(live::ShellArguments),
    /// Change a link of a network that is up.
    Link(live::LinkArguments),
    /// Kill a node's forwarder in a network that is up, and start it again.
    Restart {
        /// The node.
        node: String,
        #[command(flatten)]
        which: live::Which,
        /// Print what was done as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Take a network down.
    Down {
        /// The network, where more than one is up.
        name: Option<String>,
        /// All of them.
        #[arg(long, conflicts_with = "name")]
        all: bool,
        /// Print what is down as JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the networks that are up.
    Networks {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Follow a run that another terminal has started.
    Watch {
        /// The run's folder; without it, the last run.
        folder: Option<PathBuf>,
        /// The folder that runs are in.
        #[arg(long, default_value = runs::RUNS)]
        runs: PathBuf,
        /// As JSON: a line each time it looks.
        #[arg(long)]
        json: bool,
    },
    /// Look for mistakes in an experiment file, without starting anything.
    Check {
        /// The files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// As JSON, with the line, the key and the way out of each mistake.
        #[arg(long)]
        json: bool,
    },
    /// Write a small experiment to begin with.
    New {
        /// The file to write.
        file: PathBuf,
        /// Its title.
        #[arg(long, default_value = "A first experiment")]
        title: String,
        /// Print what was written as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the reference of the experiment file.
    Reference {
        /// As JSON: every table with its keys.
        #[arg(long)]
        json: bool,
    },
    /// Parts of a run that are processes of their own.
    #[command(subcommand, hide = true)]
    Internal(internal::Internal),
}

impl Command {
    /// Does what was asked.
    pub(crate) fn run(self) -> ExitCode {
        let is_json = self.is_json();
        let outcome = match self {
            Command::Run(arguments) => run::run_on(&arguments),
            Command::Sweep(arguments) => run::sweep(&arguments),
            Command::Resume { folder, json } => run::go_on(&folder, Form::of(json)),
            Command::Merge { out, parts, json } => run::put_together(&out, &parts, Form::of(json)),
            Command::List { runs, json } => runs::list(&runs, json),
            Command::Show { folder, runs, derive, json } => runs::show(folder, &runs, derive, Form::of(json)),
            Command::Compare { a, b, all, json, report } => {
                compare::compare(&a, &b, Form::of(json), all, report.as_deref())
            }
            Command::Calibrate(arguments) => validation::calibrate(&arguments),
            Command::Validate(arguments) => validation::validate(&arguments),
            Command::Results { folders, markdown, pictures, json } => {
                runs::results(&folders, markdown, pictures.as_deref(), Form::of(json))
            }
            Command::Up(arguments) => live::up(&arguments),
            Command::Shell(arguments) => live::shell(&arguments),
            Command::Link(arguments) => live::link(&arguments),
            Command::Restart { node, which, json } => live::restart(&node, &which, json),
            Command::Down { name, all, json } => live::down(name.as_deref(), all, Form::of(json)),
            Command::Networks { json } => live::networks(json),
            Command::Watch { folder, runs, json } => watch::watch(folder, &runs, Form::of(json)),
            Command::Check { files, json } => files::check(&files, Form::of(json)),
            Command::New { file, title, json } => files::new(&file, &title, Form::of(json)),
            Command::Reference { json } => files::print_reference(Form::of(json)),
            Command::Internal(part) => part.run(),
        };
        if is_json { finish_in_json(outcome) } else { finish(outcome) }
    }

    /// Does whoever calls it read JSON?
    fn is_json(&self) -> bool {
        match self {
            Command::Run(arguments) => arguments.run.json,
            Command::Sweep(arguments) => arguments.run.run.json,
            Command::Calibrate(arguments) => arguments.json,
            Command::Validate(arguments) => arguments.json,
            Command::Up(arguments) => arguments.json,
            Command::Shell(arguments) => arguments.json,
            Command::Link(arguments) => arguments.json,
            Command::Resume { json, .. }
            | Command::Merge { json, .. }
            | Command::List { json, .. }
            | Command::Show { json, .. }
            | Command::Compare { json, .. }
            | Command::Results { json, .. }
            | Command::Restart { json, .. }
            | Command::Down { json, .. }
            | Command::Networks { json }
            | Command::Watch { json, .. }
            | Command::Check { json, .. }
            | Command::New { json, .. }
            | Command::Reference { json } => *json,
            Command::Internal(_) => false,
        }
    }
}
