//! `cairn pingserver`: answers pings.

use std::process::ExitCode;

use clap::Args;
use client::Clock;
use flow::source::{Generator, Reply, Server, ServerConfig, Source};
use packet::Component;
use packet::time::Duration;

use super::ping::PING;
use crate::tool::ccnx::ccnx_generator;
use crate::tool::connect::ConnectArguments;
use crate::tool::interrupt::Interrupt;
use crate::tool::serving::serve_until;
use crate::tool::signing::SigningArguments;
use crate::tool::units::{duration, payload_size};
use crate::tool::{ToolError, finish, output};
use packet::AnyName;

/// Answer pings under a prefix.
#[derive(Debug, Args)]
#[command(after_help = "\
Answers every Interest under /<prefix>/ping, for `cairn ping`, ndnping and `ndnd ping`.

Examples:
  cairn pingserver /lab
  cairn pingserver /lab --size 1k --quiet

Exit codes: 0 stopped by Ctrl-C or after --count; 1 failure; 2 wrong usage.")]
pub(crate) struct PingServerArguments {
    /// The prefix to answer under; `ccnx:/…` for one of CCNx.
    prefix: AnyName,
    /// Stop after so many.
    #[arg(short = 'p', long)]
    count: Option<u64>,
    /// How long answers count as fresh.
    #[arg(short, long, value_name = "TIME", value_parser = duration, default_value = "1s")]
    freshness: Duration,
    /// Bytes in each answer.
    #[arg(short, long, value_name = "BYTES", value_parser = payload_size, default_value = "0")]
    size: usize,
    /// Say nothing of single pings.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    signing: SigningArguments,
    #[command(flatten)]
    connect: ConnectArguments,
}

impl PingServerArguments {
    pub(crate) fn run(&self) -> ExitCode {
        finish(self.serve())
    }

    fn serve(&self) -> Result<ExitCode, ToolError> {
        let interrupt = Interrupt::catch()?;
        let prefix = self.prefix.with(Component::generic(PING))?.name;
        let content = vec![b'a'; self.size];
        let source: Box<dyn Source>;
        let mut client;
        if self.prefix.is_of_ccnx() {
            let signer = self.signing.ccnx_signer()?;
            client = self.connect.ccnx_client_as(&signer)?;
            let generator = ccnx_generator(prefix.clone(), signer);
            source = Box::new(generator.with_content(content).with_freshness(self.freshness));
        } else {
            let signer = self.signing.signer()?;
            client = self.connect.client_as(&self.signing)?;
            let generator = Generator::new(vec![prefix.clone()], signer, Clock::seed());
            source = Box::new(generator.with_content(content).with_freshness(self.freshness));
        }
        client.register(&prefix)?;
        output::line(format_args!("PING SERVER {}", self.prefix))?;
        let config = ServerConfig { max_data: self.count, ..ServerConfig::default() };
        let mut server = Server::new(source, config, client.now());
        let mut printed = Ok(());
        serve_until(&mut client, &mut server, &interrupt, |interest, reply| {
            if let Reply::Data(_) = reply
                && !self.quiet
            {
                let number = interest
                    .name()
                    .last()
                    .map(|last| output::printable(&String::from_utf8_lossy(last.value)));
                printed = output::line(format_args!("interest received: seq={}", number.unwrap_or_default()));
            }
            printed.is_ok()
        })?;
        printed?;
        let served = server.counters().data;
        output::line(format_args!("\n--- {} ping server statistics ---\n{served} answered", self.prefix))?;
        Ok(ExitCode::SUCCESS)
    }
}
