//! `cairn bench`: what things cost on this machine.

mod cable;
mod connections;
mod contest;
mod deletions;
mod forward;
mod ndnd;
mod pings;
mod ports;
mod process;
mod report;
mod repository;
mod subjects;
mod transfer;
mod workbench;

use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use packet::time::Duration;

use crate::tool::units::positive_duration;
use crate::tool::{ToolError, finish};

/// What can be measured.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
For comparison, a relay without tables is measured too, which shows the machine's part of each number, and ndnd if it is installed.

Examples:
  cairn bench forward                             everything; some minutes
  cairn bench forward --only udp --only latency
  cairn bench forward --json > numbers.json
  cairn bench transfer --megabytes 100
  cairn bench repository
  cairn bench deletions --megabytes 2000

Exit codes: 0 done; 1 failure, what was measured before it is printed; 2 wrong usage.")]
pub(crate) enum BenchCommand {
    /// Measure forwarding: one forwarder between a consumer and a producer, beside a bare relay with the same
    /// system calls.
    Forward(ForwardArguments),
    /// Measure a large object put at one forwarder and got at another, by the tools that come with them.
    Transfer(transfer::TransferArguments),
    /// Measure a repository: insertion, deletion in service, serving, memory; beside raw writing, copy and
    /// swap, and the content store.
    Repository(repository::RepositoryArguments),
    /// Measure how long deletions take on this disk, for the paper's requests: copy and swap, a file for each
    /// object, holes.
    Deletions(deletions::DeletionsArguments),
    /// The bare relay for datagrams.
    #[command(hide = true)]
    RelayUdp {
        /// Where to listen.
        local: SocketAddr,
        /// Whom to relay to and from.
        producer: SocketAddr,
    },
    /// The bare relay for connections: accepts one and makes another.
    #[command(hide = true)]
    RelayStream {
        /// Where to listen: an address, or a path.
        local: String,
        /// Whom to connect to.
        producer: String,
    },
}

/// How to measure forwarding.
#[derive(Debug, Args)]
pub(crate) struct ForwardArguments {
    /// How long each measurement takes, rounds taken together.
    #[arg(long = "for", value_name = "TIME", value_parser = positive_duration, default_value = "3s")]
    pub(super) duration: Duration,
    /// Rounds in which the forwarders take turns; medians are shown.
    #[arg(long, default_value_t = 7)]
    pub(super) rounds: u32,
    /// Interests on their way at once.
    #[arg(long, default_value_t = 512)]
    pub(super) window: u64,
    /// Bytes of each name.
    #[arg(long, default_value_t = 100)]
    pub(super) name_bytes: usize,
    /// What to measure; everything if not given.
    #[arg(long, value_enum)]
    pub(super) only: Vec<Part>,
    /// ndnd's program, to be measured too. Without it the one in PATH or ~/go/bin is taken, if there is one.
    #[arg(long, value_name = "PROGRAM")]
    pub(super) ndnd: Option<PathBuf>,
    /// Leave ndnd out.
    #[arg(long)]
    pub(super) no_ndnd: bool,
    /// Another forwarder to be measured, over UDP: a shell command, in which {port} stands for the port to
    /// listen at and {producer} for the address and port that Interests under {prefix} must be sent to.
    #[arg(long, value_name = "COMMAND")]
    pub(super) command: Option<String>,
    /// The processor for the forwarder, and the one for consumer and producer.
    #[arg(long, num_args = 2, value_names = ["FORWARDER", "LOAD"], default_values_t = [0, 1])]
    pub(super) cpus: Vec<usize>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// Parts of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Part {
    /// Exchanges over UDP with 1 kB of payload.
    Udp,
    /// The same with one Interest on its way at a time: what a request of an application costs.
    UdpOne,
    /// The same with 16.
    UdpSixteen,
    /// The same with 8 kB.
    UdpLarge,
    /// Cache hits over UDP.
    UdpCached,
    /// Exchanges over UDP between network namespaces, by a veth pair. Needs root.
    UdpVeth,
    /// Exchanges over TCP.
    Tcp,
    /// Exchanges over unix sockets.
    Unix,
    /// The same with one Interest on its way at a time.
    UnixOne,
    /// The same with 16.
    UnixSixteen,
    /// Latency at low load, everything wherever the system runs it.
    Latency,
    /// The same with the forwarder on a processor of its own, which sleeps in between.
    LatencyApart,
    /// The same through three in a row, one ping every 5 ms.
    LatencyRow,
    /// The same in CCNx.
    CcnxLatencyRow,
    /// Exchanges of CCNx over UDP with 1 kB of payload.
    CcnxUdp,
    /// The same with one Interest on its way at a time.
    CcnxUdpOne,
    /// The same with 16.
    CcnxUdpSixteen,
    /// Cache hits of CCNx over UDP, with 4 kB.
    CcnxCached,
    /// 150,000 pending Interests on one face, and a ping on another.
    Pending,
    /// From start to first packet.
    Start,
}

impl BenchCommand {
    pub(crate) fn run(self) -> ExitCode {
        let failed = |error: &dyn std::error::Error| ToolError::other(error);
        let outcome = match self {
            BenchCommand::Forward(arguments) => {
                let (rows, outcome) = forward::run(&arguments);
                // What was measured until then is told all the same.
                report::print(&rows, arguments.json)
                    .map_err(ToolError::from)
                    .and(outcome.map_err(|error| failed(&error)))
            }
            BenchCommand::Transfer(arguments) => transfer::run(&arguments)
                .map_err(|error| failed(&error))
                .and_then(|rows| Ok(report::print(&rows, arguments.json)?)),
            BenchCommand::Repository(arguments) => repository::run(&arguments),
            BenchCommand::Deletions(arguments) => deletions::run(&arguments),
            BenchCommand::RelayUdp { local, producer } => {
                node::load::relay_udp(local, producer).map_err(|error| failed(&error))
            }
            BenchCommand::RelayStream { local, producer } => {
                subjects::relay_stream(&local, &producer).map_err(|error| failed(&error))
            }
        };
        finish(outcome.map(|()| ExitCode::SUCCESS))
    }
}

/// A new folder for what is measured, for its owner alone: nobody else may have put something there.
fn own_folder() -> std::io::Result<PathBuf> {
    let mut builder = std::fs::DirBuilder::new();
    builder.mode(0o700);
    let name = format!("cairn-bench-{}", std::process::id());
    // One that was killed may have had our number.
    (0..100)
        .map(|number| std::env::temp_dir().join(format!("{name}-{number}")))
        .find_map(|folder| match builder.create(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => None,
            made => Some(made.map(|()| folder)),
        })
        .unwrap_or_else(|| Err(std::io::ErrorKind::AlreadyExists.into()))
}
