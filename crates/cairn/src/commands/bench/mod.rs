//! `cairn bench`: what things cost on this machine.

mod cable;
mod connections;
mod contest;
mod forward;
mod ndnd;
mod pings;
mod process;
mod report;
mod subjects;
mod transfer;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};

use super::node::fail;

/// What can be measured.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Measure forwarding: one forwarder between a consumer and a producer, beside a bare relay with the same system calls.
    Forward(ForwardArguments),
    /// Measure a large object put at one forwarder and got at another, by the tools that come with them.
    Transfer(transfer::TransferArguments),
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
    /// Seconds that each measurement takes, rounds taken together.
    #[arg(long, default_value_t = 3.0)]
    pub(super) seconds: f64,
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
    /// Another forwarder to be measured, over UDP: a shell command, in which {port} stands for the port to listen at and
    /// {producer} for the address and port that Interests under {prefix} must be sent to.
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
    /// Latency at low load, everything wherever the system runs it.
    Latency,
    /// The same with the forwarder on a processor of its own, which sleeps in between.
    LatencyApart,
    /// 150,000 pending Interests on one face, and a ping on another.
    Pending,
    /// From start to first packet.
    Start,
}

impl BenchCommand {
    pub(crate) fn run(self) -> ExitCode {
        let outcome = match self {
            BenchCommand::Forward(arguments) => forward::run(&arguments),
            BenchCommand::Transfer(arguments) => {
                return match transfer::run(&arguments) {
                    Ok(()) => ExitCode::SUCCESS,
                    Err(error) => fail(&error),
                };
            }
            BenchCommand::RelayUdp { local, producer } => {
                node::load::relay_udp(local, producer).map_err(forward::BenchError::from)
            }
            BenchCommand::RelayStream { local, producer } => {
                subjects::relay_stream(&local, &producer).map_err(forward::BenchError::from)
            }
        };
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&error),
        }
    }
}
