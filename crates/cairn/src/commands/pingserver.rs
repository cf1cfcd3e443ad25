//! `cairn pingserver`: answers pings.

use std::process::ExitCode;

use clap::Args;
use client::Happening;
use packet::ndn::DataBuilder;
use packet::time::Duration;
use packet::{Component, Name};

use crate::tool::connect::ConnectArguments;
use crate::tool::interrupt::Interrupt;
use crate::tool::signing::SigningArguments;
use crate::tool::units::{duration, size};
use crate::tool::{ToolError, finish, output};

/// Answer pings under a prefix.
#[derive(Debug, Args)]
#[command(after_help = "\
Answers every Interest under /<prefix>/ping, for `cairn ping`, ndnping and `ndnd ping`.

Examples:
  cairn pingserver /lab
  cairn pingserver /lab --size 1k --quiet

Exit codes: 0 stopped by Ctrl-C or after --count; 1 failure; 2 wrong usage.")]
pub(crate) struct PingServerArguments {
    /// The prefix to answer under.
    prefix: Name,
    /// Stop after so many.
    #[arg(short = 'p', long)]
    count: Option<u64>,
    /// How long answers count as fresh.
    #[arg(short, long, value_name = "TIME", value_parser = duration, default_value = "1s")]
    freshness: Duration,
    /// Bytes in each answer.
    #[arg(short, long, value_name = "BYTES", value_parser = size, default_value = "0")]
    size: u64,
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
        let signer = self.signing.signer()?;
        let mut client = self.connect.client_as(&self.signing)?;
        let prefix = self.prefix.with(Component::generic(b"ping"))?;
        client.register(&prefix)?;
        output::line(format_args!("PING SERVER {}", self.prefix))?;
        let content = vec![b'a'; usize::try_from(self.size.min(8800)).unwrap_or(8800)];
        let mut served = 0;
        while !interrupt.came() && self.count.is_none_or(|count| served < count) {
            let Some(Happening::Interest { interest, header }) = client.next(None)? else { continue };
            let name = interest.name().to_name();
            if !prefix.as_ref().is_prefix_of(name.as_ref()) {
                continue;
            }
            let number =
                name.as_ref().last().map(|last| output::printable(&String::from_utf8_lossy(last.value)));
            let data = DataBuilder::new(name).freshness(self.freshness).content(content.clone());
            client.reply(&signer.sign_data(&data)?, &header)?;
            served += 1;
            if !self.quiet {
                output::line(format_args!("interest received: seq={}", number.unwrap_or_default()))?;
            }
        }
        client.flush()?;
        output::line(format_args!("\n--- {} ping server statistics ---\n{served} answered", self.prefix))?;
        Ok(ExitCode::SUCCESS)
    }
}
