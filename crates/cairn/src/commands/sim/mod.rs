//! `cairn sim …`: networks in virtual time.

mod swarm;
mod workers;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Networks in virtual time.
#[derive(Debug, Args)]
#[command(after_help = "\
The forwarders are those of `cairn node`, and the same seed gives the same run to the last bit.

Examples:
  cairn sim run experiments/first-simulation.toml
  cairn sim run experiments/first-simulation.toml --repeats 10 --out runs/first
  cairn sim swarm --seeds 100

Exit codes: 0 done, and everything is as expected (run), or every network healed (swarm); 1 failure; 2 wrong usage; 3 and above as \
those of `cairn lab run`.")]
pub(crate) struct Sim {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Run an experiment in virtual time: the same as `cairn lab run FILE --on sim`.
    Run(super::lab::Arguments),
    /// Run random networks that must heal. A failure names the seed that repeats it.
    Swarm(swarm::Swarm),
}

impl Sim {
    pub(crate) fn run(self) -> ExitCode {
        let outcome = match self.action {
            Action::Run(arguments) => return super::lab::run_in_virtual_time(&arguments),
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
