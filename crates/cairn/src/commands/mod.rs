//! What `cairn` can be asked to do, one file for each command.

mod lab;
mod node;

use std::process::ExitCode;

use clap::Subcommand;

/// The commands, in the order of `cairn --help`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an experiment and write its report.
    #[command(subcommand)]
    Lab(lab::Command),
    /// Run a forwarder, or prepare to.
    #[command(subcommand)]
    Node(node::NodeCommand),
}

impl Command {
    /// Does what was asked and says how it went, in the process's exit code.
    pub(crate) fn run(self) -> ExitCode {
        match self {
            Command::Lab(command) => command.run(),
            Command::Node(command) => command.run(),
        }
    }
}
