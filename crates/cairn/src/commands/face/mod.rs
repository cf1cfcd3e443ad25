//! `cairn face`: the links of a forwarder.

mod change;
mod events;
mod show;

use std::process::ExitCode;

pub(super) use change::create;
use clap::{Args, Subcommand};
pub(super) use show::{print_table, to_json};

use crate::tool::ToolError;
use crate::tool::forwarder::{Forwarder, ForwarderArguments};

/// See and change the faces of a forwarder: its links to neighbours and applications.
#[derive(Debug, Args)]
#[command(after_help = "\
A face is given by its number or by the address of its peer. Host names are looked up; the default port is 6363.

Examples:
  cairn face list --scheme udp4
  cairn face show 261
  cairn face channels
  cairn face create udp://router.example.net --persistency permanent
  cairn face update 261 --mtu 1400 --reliability on
  cairn face destroy udp4://192.0.2.1:6363
  cairn face events --json

Exit codes: 0 done; 1 failure, or refused by the forwarder; 2 wrong usage.")]
pub(crate) struct FaceArguments {
    #[command(flatten)]
    pub(crate) forwarder: ForwarderArguments,
    #[command(subcommand)]
    command: FaceCommand,
}

#[derive(Debug, Subcommand)]
enum FaceCommand {
    List(show::ListArguments),
    Show(show::ShowArguments),
    Create(change::CreateArguments),
    Update(change::UpdateArguments),
    Destroy(change::DestroyArguments),
    Channels(show::ChannelArguments),
    Events(events::EventArguments),
}

impl FaceArguments {
    pub(crate) fn run(&self) -> ExitCode {
        self.forwarder.manage(|forwarder| self.run_on(forwarder))
    }

    pub(crate) fn run_on(&self, forwarder: &mut Forwarder) -> Result<(), ToolError> {
        match &self.command {
            FaceCommand::List(arguments) => arguments.run(forwarder),
            FaceCommand::Show(arguments) => arguments.run(forwarder),
            FaceCommand::Create(arguments) => arguments.run(forwarder),
            FaceCommand::Update(arguments) => arguments.run(forwarder),
            FaceCommand::Destroy(arguments) => arguments.run(forwarder),
            FaceCommand::Channels(arguments) => arguments.run(forwarder),
            FaceCommand::Events(arguments) => arguments.run(forwarder),
        }
    }
}
