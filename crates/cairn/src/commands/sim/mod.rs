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
            Err(error) => {
                eprintln!("cairn sim: {error}");
                ExitCode::FAILURE
            }
        }
    }
}

/// What can go wrong, ready to be shown.
type Failure = Box<dyn std::error::Error + Send + Sync>;
