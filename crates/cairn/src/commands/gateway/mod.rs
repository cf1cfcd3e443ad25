//! `cairn gateway`: HTTP and named data side by side.

mod origin;
mod run;

use std::process::ExitCode;

use clap::Subcommand;

use crate::tool::finish;

/// What a gateway can be.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
`run` stands near readers and shows them named data; `origin` stands near a web server and gives its pages names. With --proxy the first \
asks the second, and a web browser does not notice the network in between.

Examples:
  cairn gateway run                                             then open http://127.0.0.1:8080
  cairn gateway origin https://example.org /web/example
  cairn gateway run --proxy http://example.org=/web/example     then http_proxy=http://127.0.0.1:8080")]
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
