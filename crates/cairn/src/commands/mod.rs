//! What `cairn` can be asked to do, one file for each command.

mod bench;
mod capture;
mod get;
mod node;
mod peek;
mod ping;
mod pingserver;
mod poke;
mod put;

use std::process::ExitCode;

use clap::Subcommand;

/// The commands, in the order of `cairn --help`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
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
    /// Write the frames of a node's faces to a file that Wireshark opens.
    Capture(capture::CaptureArguments),
    /// Measure what things cost on this machine.
    #[command(subcommand)]
    Bench(bench::BenchCommand),
}

impl Command {
    /// Does what was asked and says how it went, in the process's exit code.
    pub(crate) fn run(self) -> ExitCode {
        match self {
            Command::Node(command) => command.run(),
            Command::Ping(arguments) => arguments.run(),
            Command::PingServer(arguments) => arguments.run(),
            Command::Peek(arguments) => arguments.run(),
            Command::Poke(arguments) => arguments.run(),
            Command::Put(arguments) => arguments.run(),
            Command::Get(arguments) => arguments.run(),
            Command::Capture(arguments) => arguments.run(),
            Command::Bench(command) => command.run(),
        }
    }
}
