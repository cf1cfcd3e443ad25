//! The command `cairn`, and one of your own.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser};
use engine::{EvictionKind, StrategyKind, add_evictions, add_strategies};
use flow::{ControllerKind, WorkloadKind, add_controllers, add_workloads};
use repo::eviction::{ObjectEvictionKind, add_object_evictions};

use crate::{commands, ndnldc};

/// Named data networking: a forwarder, its tools, a simulator and a laboratory.
#[derive(Debug, Parser)]
#[command(
    name = "cairn",
    version,
    propagate_version = true,
    after_help = "\
Times are written 250ms, 1.5s, 2m, 1h, 3d or 1y, and a bare number counts milliseconds; sizes in bytes 8000, 8k or 64KiB; rates 100/s or 6k/m.

Examples:
  cairn node run &                      a forwarder, with nothing to configure
  cairn put /lab/file -f file &         publish a file
  cairn get /lab/file -o copy           fetch it, on this host or on any other that has a route to it
  cairn route add /lab udp://router     names under /lab are reached by way of another forwarder
  cairn status --watch                  what the forwarder does
  cairn lab run quickstart.toml         an experiment with real forwarders, and a report about it

Exit codes: 0 done; 1 failure; 2 wrong usage; others as the page of each command says."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

/// The command `cairn`, to which a program may add what is its own: see [`command`].
#[derive(Debug, Default)]
#[must_use = "nothing runs before it is told to"]
pub struct CommandBuilder {
    strategies: Vec<StrategyKind>,
    controllers: Vec<ControllerKind>,
    evictions: Vec<EvictionKind>,
    object_evictions: Vec<ObjectEvictionKind>,
    workloads: Vec<WorkloadKind>,
}

/// The whole command `cairn`. A `main` that runs it with a strategy of its own is a forwarder, a simulator
/// and a laboratory with that strategy in it: it can be named in configurations, scenarios, experiment files
/// and management commands as any other.
///
/// ```no_run
/// # use engine::{Strategy, StrategyContext, StrategyKind};
/// #[derive(Debug)]
/// struct Everywhere;
///
/// impl Strategy for Everywhere {
///     fn after_interest(&mut self, context: &mut StrategyContext<'_>) {
///         let hops: Vec<_> = context.eligible_next_hops().collect();
///         hops.iter().for_each(|hop| context.send(hop.face));
///     }
/// }
///
/// fn main() -> std::process::ExitCode {
///     let everywhere =
///         StrategyKind { word: "everywhere", version: 1, start: |_| Ok(Box::new(Everywhere)) };
///     cairn::command().with_strategy(everywhere).run()
/// }
/// ```
pub fn command() -> CommandBuilder {
    CommandBuilder::default()
}

impl CommandBuilder {
    /// Adds a strategy.
    pub fn with_strategy(mut self, strategy: StrategyKind) -> Self {
        self.strategies.push(strategy);
        self
    }

    /// Adds a congestion controller.
    pub fn with_controller(mut self, controller: ControllerKind) -> Self {
        self.controllers.push(controller);
        self
    }

    /// Adds an eviction policy of the content store.
    pub fn with_eviction(mut self, eviction: EvictionKind) -> Self {
        self.evictions.push(eviction);
        self
    }

    /// Adds an eviction policy of repositories.
    pub fn with_object_eviction(mut self, eviction: ObjectEvictionKind) -> Self {
        self.object_evictions.push(eviction);
        self
    }

    /// Adds a workload of consumers.
    pub fn with_workload(mut self, workload: WorkloadKind) -> Self {
        self.workloads.push(workload);
        self
    }

    /// Does what the arguments of the process ask for, and says how it went. Under the name `ndnldc` it takes
    /// the options of that program.
    ///
    /// It is called once in a process, before anything looks up by name what was added. It fails with exit
    /// code 2 if it comes too late, or if a name is taken.
    pub fn run(self) -> ExitCode {
        let added = add_strategies(self.strategies)
            .and_then(|()| add_evictions(self.evictions))
            .and_then(|()| add_object_evictions(self.object_evictions))
            .and_then(|()| add_controllers(self.controllers))
            .and_then(|()| add_workloads(self.workloads));
        if let Err(problem) = added {
            tell!("cairn: {problem}");
            return ExitCode::from(2);
        }
        let mut words = std::env::args_os();
        let own_name = words.next().map(PathBuf::from);
        if own_name.as_deref().and_then(Path::file_name).is_some_and(|name| name == "ndnldc") {
            return ndnldc::run(words);
        }
        match Arguments::try_parse() {
            Ok(arguments) => arguments.command.run(Arguments::command),
            Err(error) => show(&error),
        }
    }
}

/// Shows what is wrong with the arguments, or the help that they ask for. Arguments may be what others
/// wrote.
fn show(error: &clap::Error) -> ExitCode {
    let (plain, code) = (error.render().to_string(), error.exit_code());
    let before_others = std::env::args_os().skip(1).take_while(|word| word != "--");
    if error.use_stderr() && before_others.into_iter().any(|word| word == "--json") {
        // As every other error, for whoever reads JSON.
        let why = plain.trim_end().strip_prefix("error: ").unwrap_or(plain.trim_end());
        let _ = crate::tool::output::json(&serde_json::json!({ "error": why, "exit_code": code }));
    }
    if plain.contains(|c| client::is_unprintable(c) && c != '\n') {
        tell!("{}", plain.trim_end());
    } else {
        // Where it cannot be written, nobody can be told.
        let _ = error.print();
    }
    ExitCode::from(u8::try_from(code).unwrap_or(2))
}
