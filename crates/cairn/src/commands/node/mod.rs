//! `cairn node`: the forwarder.

mod run;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use formats::printable::printable_path;

use crate::tool::{ToolError, finish, output};

/// What can be done with a forwarder.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  cairn node run
  cairn node config --sample > cairn.toml")]
pub(crate) enum NodeCommand {
    /// Run a forwarder until it is told to stop (SIGTERM or Ctrl-C). SIGHUP has it read its configuration
    /// again.
    Run(RunArguments),
    /// Check a configuration, or print one with every key explained.
    Config(ConfigArguments),
}

/// How to run.
#[derive(Debug, Args)]
#[command(after_help = "\
Without a configuration the node listens on port 6363 of UDP and TCP, on port 9696 of this host for WebSocket, and at /run/nfd/nfd.sock, \
or at nfd.sock in XDG_RUNTIME_DIR if this user may not make that. SIGTERM and Ctrl-C close everything and remove the sockets. SIGHUP \
reads the configuration again; what needs a restart is named in the log, which goes to standard error. Ethernet faces need \
CAP_NET_RAW, large receive buffers CAP_NET_ADMIN; everything else any user may do.

Examples:
  cairn node run
  cairn node run --config /etc/cairn/cairn.toml
  CAIRN_LOG=info,cairn_node::plane=debug cairn node run

Exit codes: 0 it was told to end; 1 it could not start, or has failed; 2 wrong usage.")]
pub(crate) struct RunArguments {
    /// The configuration, a TOML file. Without it everything has its default.
    #[arg(long, short, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
}

/// What to do with a configuration.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cairn node config --sample > cairn.toml
  cairn node config cairn.toml
  cairn node config --from-nfd /etc/ndn/nfd.conf > cairn.toml

Checked are all keys, names, addresses, words and limits, and whether certificates can be read; not whether this host has the addresses \
and interfaces to listen at.

Exit codes: 0 the configuration is good; 1 it is not, and standard error says where; 2 wrong usage.")]
pub(crate) struct ConfigArguments {
    /// Print a configuration with every key, its default and what it is for.
    #[arg(long, conflicts_with = "file")]
    sample: bool,
    /// Print a configuration that does what this nfd.conf tells NFD. What has no counterpart is told in
    /// comments and on standard error.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "sample"])]
    from_nfd: Option<PathBuf>,
    /// The file to check.
    #[arg(required_unless_present_any = ["sample", "from_nfd"])]
    file: Option<PathBuf>,
}

impl NodeCommand {
    pub(crate) fn run(self) -> ExitCode {
        match self {
            NodeCommand::Run(arguments) => run::run(&arguments),
            NodeCommand::Config(arguments) => config(&arguments),
        }
    }
}

fn config(arguments: &ConfigArguments) -> ExitCode {
    if let Some(file) = &arguments.from_nfd {
        return match run::from_nfd(file) {
            Ok(converted) => {
                for note in &converted.notes {
                    tell!("cairn: {}: {note}", printable_path(file));
                }
                let printed = output::bytes(converted.text.as_bytes());
                finish(printed.map(|()| ExitCode::SUCCESS).map_err(ToolError::from))
            }
            Err(error) => fail(&error),
        };
    }
    let printed = match &arguments.file {
        None => output::bytes(node::config::Config::sample().as_bytes()),
        Some(file) => match run::check(file) {
            Ok(()) => output::line("the configuration is good"),
            Err(error) => return fail(&error),
        },
    };
    finish(printed.map(|()| ExitCode::SUCCESS).map_err(ToolError::from))
}

/// Says what went wrong, and gives the exit code for it.
pub(super) fn fail(error: &dyn std::fmt::Display) -> ExitCode {
    tell!("cairn: {error}");
    ExitCode::FAILURE
}
