//! `cairn poke`: one Data for whoever asks first.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use client::{Client, ClientError};
use flow::source::{Packets, Server, ServerConfig};
use packet::ccnx::{SignedInfo, Ticks};
use packet::ndn::DataBuilder;
use packet::time::Duration;
use packet::{Data, LinkHeader};

use crate::tool::connect::ConnectArguments;
use crate::tool::interrupt::Interrupt;
use crate::tool::serving::serve_until;
use crate::tool::signing::SigningArguments;
use crate::tool::units::duration;
use crate::tool::{ToolError, finish, input};
use packet::AnyName;

/// Publish one Data, read from standard input, until somebody asks for it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo hello | cairn poke /lab/hello
  cairn poke --unsolicited /lab/hello < file     into the forwarder's cache, if it takes it

Exit codes, as of ndnpoke: 0 Data sent; 1 failure; 2 wrong usage; 3 nobody asked in time; 5 the prefix was not registered.")]
pub(crate) struct PokeArguments {
    /// The name of the Data; `ccnx:/…` publishes an object of CCNx.
    name: AnyName,
    /// The content; standard input if it is left out.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// How long it counts as fresh; not at all if it is left out.
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    freshness: Option<Duration>,
    /// Mark it as the last of its sequence (FinalBlockId).
    #[arg(short = 'F', long)]
    last: bool,
    /// Send it without being asked, and end.
    #[arg(short, long)]
    unsolicited: bool,
    /// How long to wait for somebody to ask; for ever if it is left out.
    #[arg(short = 'w', long, value_name = "TIME", value_parser = duration)]
    timeout: Option<Duration>,
    #[command(flatten)]
    signing: SigningArguments,
    #[command(flatten)]
    connect: ConnectArguments,
}

impl PokeArguments {
    pub(crate) fn run(&self) -> ExitCode {
        finish(self.poke())
    }

    fn poke(&self) -> Result<ExitCode, ToolError> {
        let (data, mut client) = self.prepare()?;
        let interrupt = Interrupt::catch()?;
        if self.unsolicited {
            client.reply(&data, &LinkHeader::default())?;
            client.flush()?;
            return Ok(ExitCode::SUCCESS);
        }
        match client.register(&self.name.name) {
            Err(error @ (ClientError::Refused { .. } | ClientError::NoAnswer { .. })) => {
                tell!("cairn: {error}");
                return Ok(ExitCode::from(5));
            }
            other => other?,
        }
        tell!("waiting for somebody to ask for {}", self.name);
        let until = self.timeout.map(|timeout| client.now() + timeout);
        let config = ServerConfig { max_data: Some(1), until, ..ServerConfig::default() };
        let mut server = Server::new(Packets::new([data]), config, client.now());
        serve_until(&mut client, &mut server, &interrupt, |_, _| true)?;
        Ok(if server.counters().data > 0 { ExitCode::SUCCESS } else { ExitCode::from(3) })
    }

    /// The packet, and a client to publish it with.
    fn prepare(&self) -> Result<(Data, Client), ToolError> {
        let (name, content) = (&self.name.name, input(self.file.as_deref())?);
        let last = name.as_ref().last().filter(|_| self.last);
        if self.name.is_of_ccnx() {
            let signer = self.signing.ccnx_signer()?;
            let client = self.connect.ccnx_client_as(&signer)?;
            let now = Ticks::from(client.connection().clock().unix());
            let data = signer.sign_data(name, &content, now, |info| SignedInfo {
                freshness_seconds: self.freshness.map(Ticks::whole_seconds),
                final_block_id: last.map(|last| last.value),
                ..info
            })?;
            return Ok((data, client));
        }
        let mut data = DataBuilder::new(name.clone()).content(content);
        if let Some(freshness) = self.freshness {
            data = data.freshness(freshness);
        }
        if let Some(last) = last {
            data = data.final_block(last);
        }
        Ok((self.signing.signer()?.sign_data(&data)?, self.connect.client_as(&self.signing)?))
    }
}
