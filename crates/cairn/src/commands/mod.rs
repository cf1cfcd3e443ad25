//! What `cairn` can be asked to do, one file for each command.

mod bench;
mod get;
mod lab;
mod node;
mod peek;
mod ping;
mod pingserver;
mod poke;
mod put;
mod sim;

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
    Ping(ping::PingArguments),
    #[command(name = "pingserver")]
    PingServer(pingserver::PingServerArguments),
    Peek(peek::PeekArguments),
    Poke(poke::PokeArguments),
    Put(put::PutArguments),
    Get(get::GetArguments),
    /// Measure what things cost on this machine.
    #[command(subcommand)]
    Bench(bench::BenchCommand),
    Sim(sim::Sim),
}

impl Command {
    /// Does what was asked and says how it went, in the process's exit code.
    pub(crate) fn run(self) -> ExitCode {
        match self {
            Command::Lab(command) => command.run(),
            Command::Node(command) => command.run(),
            Command::Ping(arguments) => arguments.run(),
            Command::PingServer(arguments) => arguments.run(),
            Command::Peek(arguments) => arguments.run(),
            Command::Poke(arguments) => arguments.run(),
            Command::Put(arguments) => arguments.run(),
            Command::Get(arguments) => arguments.run(),
            Command::Bench(command) => command.run(),
            Command::Sim(command) => command.run(),
        }
    }
}
