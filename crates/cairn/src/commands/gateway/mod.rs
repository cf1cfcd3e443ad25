//! `cairn gateway`: HTTP and named data side by side.

mod origin;
mod run;

use std::process::ExitCode;

use clap::Subcommand;

use crate::tool::finish;

/// What a gateway can be.
#[derive(Debug, Subcommand)]
pub(crate) enum GatewayCommand {
    Run(run::RunArguments),
    Origin(origin::OriginArguments),
}

impl GatewayCommand {
    pub(crate) fn run(self) -> ExitCode {
        finish(match self {
            GatewayCommand::Run(arguments) => arguments.run(),
            GatewayCommand::Origin(arguments) => arguments.run(),
        })
    }
}
