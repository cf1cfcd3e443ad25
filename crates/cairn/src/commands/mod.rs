//! What `cairn` can be asked to do, one file for each command.

mod batch;
mod bench;
mod capture;
mod cert;
mod chat;
mod completions;
mod content_store;
mod face;
#[cfg(feature = "gateway")]
mod gateway;
mod get;
mod key;
mod lab;
mod link;
mod man;
mod node;
mod peek;
mod ping;
mod pingserver;
mod poke;
mod put;
mod repo;
mod route;
mod serve;
mod sim;
mod status;
mod strategy;
mod traffic;

use std::process::ExitCode;

use clap::Subcommand;

/// The commands, in the order of `cairn --help`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run experiments on real forwarders or in virtual time, show, compare and repeat them.
    #[command(subcommand)]
    Lab(lab::Command),
    /// Run a forwarder, or prepare to.
    #[command(subcommand)]
    Node(node::NodeCommand),
    Status(status::StatusArguments),
    Face(face::FaceArguments),
    Route(route::RouteArguments),
    Strategy(strategy::StrategyArguments),
    Link(link::LinkArguments),
    Cs(content_store::ContentStoreArguments),
    Batch(batch::BatchArguments),
    Ping(ping::PingArguments),
    #[command(name = "pingserver")]
    PingServer(pingserver::PingServerArguments),
    Peek(peek::PeekArguments),
    Poke(poke::PokeArguments),
    Put(put::PutArguments),
    Get(get::GetArguments),
    Serve(serve::ServeArguments),
    /// Show named data to web browsers, and web servers to named data.
    #[cfg(feature = "gateway")]
    #[command(subcommand)]
    Gateway(gateway::GatewayCommand),
    /// Keep objects on a disk, and serve them beside any forwarder.
    #[command(subcommand)]
    Repo(repo::RepoCommand),
    Chat(chat::ChatArguments),
    Traffic(traffic::TrafficArguments),
    Key(key::KeyArguments),
    Cert(cert::CertArguments),
    /// Write the frames of a node's faces to a file that Wireshark opens.
    Capture(capture::CaptureArguments),
    /// Measure what things cost on this machine.
    #[command(subcommand)]
    Bench(bench::BenchCommand),
    Sim(sim::Sim),
    Completions(completions::CompletionArguments),
    Man(man::ManArguments),
}

impl Command {
    /// Does what was asked and says how it went, in the process's exit code. `whole` makes the command
    /// `cairn` with all that is below it, for those that describe it.
    pub(crate) fn run(self, whole: fn() -> clap::Command) -> ExitCode {
        match self {
            Command::Lab(command) => command.run(),
            Command::Node(command) => command.run(),
            Command::Status(arguments) => arguments.run(),
            Command::Face(arguments) => arguments.run(),
            Command::Route(arguments) => arguments.run(),
            Command::Strategy(arguments) => arguments.run(),
            Command::Link(arguments) => arguments.run(),
            Command::Cs(arguments) => arguments.run(),
            Command::Batch(arguments) => arguments.run(),
            Command::Ping(arguments) => arguments.run(),
            Command::PingServer(arguments) => arguments.run(),
            Command::Peek(arguments) => arguments.run(),
            Command::Poke(arguments) => arguments.run(),
            Command::Put(arguments) => arguments.run(),
            Command::Get(arguments) => arguments.run(),
            #[cfg(feature = "gateway")]
            Command::Gateway(command) => command.run(),
            Command::Repo(command) => command.run(),
            Command::Serve(arguments) => arguments.run(),
            Command::Chat(arguments) => arguments.run(),
            Command::Traffic(arguments) => arguments.run(),
            Command::Key(arguments) => arguments.run(),
            Command::Cert(arguments) => arguments.run(),
            Command::Capture(arguments) => arguments.run(),
            Command::Bench(command) => command.run(),
            Command::Sim(command) => command.run(),
            Command::Completions(arguments) => arguments.run(whole()),
            Command::Man(arguments) => arguments.run(whole()),
        }
    }
}
