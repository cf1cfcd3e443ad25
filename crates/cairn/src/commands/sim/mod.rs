//! `cairn sim …`: networks in virtual time.

mod build;
mod output;
mod quantity;
mod run;
mod scenario;
mod study;
mod summary;
mod swarm;
mod sweep;
mod topology;
mod workers;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Networks in virtual time.
#[derive(Debug, Args)]
#[command(after_help = "\
The forwarders are those of `cairn node`, and the same seed gives the same run to the last bit.

Examples:
  cairn sim run experiments/first-simulation.toml
  cairn sim run experiments/first-simulation.toml --repeats 10 --out traces
  cairn sim swarm --seeds 100

Exit codes: 0 done; 1 failure; 2 wrong usage.")]
pub(crate) struct Sim {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Run a scenario file: its repeats and sweeps on all cores, with a table of what came of them.
    Run(run::Run),
    /// Run random networks that must heal. A failure names the seed that repeats it.
    Swarm(swarm::Swarm),
}

impl Sim {
    pub(crate) fn run(self) -> ExitCode {
        let outcome = match self.action {
            Action::Run(run) => run.run(),
            Action::Swarm(swarm) => swarm.run(),
        };
        match outcome {
            Ok(code) => code,
            // Whoever read our output went away.
            Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
            Err(error) => {
                tell!("cairn sim: {error}");
                ExitCode::FAILURE
            }
        }
    }
}

fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// What can go wrong, ready to be shown.
type Failure = Box<dyn std::error::Error + Send + Sync>;
