//! `cairn repo`: a repository of objects in a folder.

mod bulk;
mod ccnr;
mod commands;
mod fetch;
mod folder;
mod insertion;
mod insertion_ccnx;
mod maintenance;
mod pattern;
mod put;
mod remove;
mod replay;
mod run;
mod show;
mod transfer;
mod window;

use std::process::ExitCode;

use clap::Subcommand;
pub(super) use insertion::Insertion;
pub(super) use insertion_ccnx::CcnxInsertion;

use crate::tool::finish;

/// What can be done with a repository.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
A repository is a folder. A node keeps what passes by in one ([[repository]] in its configuration); `cairn repo run` serves one beside \
any forwarder; the other commands work on the folder while nobody else has it open.

Patterns are names in which * stands for any part of a component and ? for one letter. A pattern means all objects whose names begin \
with what it matches.

Examples:
  cairn repo put store /lab/film -f film.mp4
  cairn repo list store '/lab/*'
  cairn repo delete store '/lab/film' --dry-run
  cairn repo list store 'ccnx:/lab/*'
  cairn repo run store /lab")]
pub(crate) enum RepoCommand {
    Run(Box<run::RunArguments>),
    Put(put::PutArguments),
    Get(transfer::GetArguments),
    List(show::ListArguments),
    Info(show::InfoArguments),
    Delete(remove::DeleteArguments),
    Pin(remove::PinArguments),
    Import(transfer::ImportArguments),
    Export(transfer::ExportArguments),
    Verify(maintenance::VerifyArguments),
    Compact(maintenance::CompactArguments),
    Stats(show::StatsArguments),
    Replay(replay::ReplayArguments),
}

impl RepoCommand {
    pub(crate) fn run(self) -> ExitCode {
        finish(match self {
            RepoCommand::Run(arguments) => arguments.run(),
            RepoCommand::Put(arguments) => arguments.run(),
            RepoCommand::Get(arguments) => arguments.run(),
            RepoCommand::List(arguments) => arguments.run(),
            RepoCommand::Info(arguments) => arguments.run(),
            RepoCommand::Delete(arguments) => arguments.run(),
            RepoCommand::Pin(arguments) => arguments.run(),
            RepoCommand::Import(arguments) => arguments.run(),
            RepoCommand::Export(arguments) => arguments.run(),
            RepoCommand::Verify(arguments) => arguments.run(),
            RepoCommand::Compact(arguments) => arguments.run(),
            RepoCommand::Stats(arguments) => arguments.run(),
            RepoCommand::Replay(arguments) => arguments.run(),
        })
    }
}
