//! The side that answers.

use std::ops::RangeInclusive;
use std::process::ExitCode;

use clap::Args;
use client::{Client, Clock};
use flow::source::{Generator, ServeCounters, Server, ServerConfig, Source};
use packet::Name;
use packet::time::Duration;
use serde_json::json;

use crate::tool::ccnx::ccnx_generator;
use crate::tool::connect::ConnectArguments;
use crate::tool::interrupt::Interrupt;
use crate::tool::serving::serve_until;
use crate::tool::signing::SigningArguments;
use crate::tool::units::{duration, payload_size, show_size};
use crate::tool::{ToolError, output};
use packet::AnyName;

/// Answer every Interest under prefixes.
#[derive(Debug, Args)]
pub(super) struct ProduceArguments {
    /// The prefixes, all of NDN or all of CCNx (`ccnx:/…`).
    #[arg(required = true)]
    prefix: Vec<AnyName>,
    /// Bytes of payload: a size, or two with - between for any size from the one to the other.
    #[arg(short, long, value_parser = size_range, default_value = "1000")]
    size: RangeInclusive<usize>,
    /// How long Data counts as fresh.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "0ms")]
    freshness: Duration,
    /// Answer this share of all Interests with a Nack, for tests; 0.1 is one in ten.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0")]
    nack: f64,
    /// Leave this share of all Interests unanswered.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0")]
    ignore: f64,
    /// Results as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    signing: SigningArguments,
    #[command(flatten)]
    connect: ConnectArguments,
}

fn size_range(text: &str) -> Result<RangeInclusive<usize>, String> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let (from, to) = (payload_size(from)?, payload_size(to)?);
    if from <= to { Ok(from..=to) } else { Err("the smaller size comes first".to_owned()) }
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "a share is a number from 0 to 1".to_owned())
}

impl ProduceArguments {
    pub(super) fn produce(&self) -> Result<ExitCode, ToolError> {
        let interrupt = Interrupt::catch()?;
        let (source, mut client) = self.prepare()?;
        for prefix in &self.prefix {
            client.register(&prefix.name)?;
            tell!("answering under {prefix}");
        }
        let begin = client.now();
        let mut server = Server::new(source, ServerConfig::default(), begin);
        serve_until(&mut client, &mut server, &interrupt, |_, _| true)?;
        let ServeCounters { data: data_sent, content_bytes: bytes, nacks, unanswered: ignored, .. } =
            *server.counters();
        let secs = client.now().saturating_since(begin).as_secs_f64();
        if self.json {
            output::json(&json!({
                "data": data_sent, "payload_bytes": bytes, "nacks": nacks, "ignored": ignored, "elapsed_s": secs,
            }))?;
        } else {
            let size = show_size(bytes as f64);
            output::line(format_args!("{data_sent} Data, {size}, {nacks} nacks, {ignored} ignored"))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// What answers, and a client to answer with. Whatever comes is answered: the forwarder sends what was
    /// registered.
    fn prepare(&self) -> Result<(Box<dyn Source>, Client), ToolError> {
        let of_ccnx = self.prefix.iter().filter(|prefix| prefix.is_of_ccnx()).count();
        let payload = vec![0x5a; *self.size.end()];
        if of_ccnx == 0 {
            let source = Generator::new(vec![Name::root()], self.signing.signer()?, Clock::seed())
                .with_content(payload)
                .with_least_bytes(*self.size.start() as u64)
                .with_freshness(self.freshness)
                .with_failures(self.ignore, self.nack);
            return Ok((Box::new(source), self.connect.client_as(&self.signing)?));
        }
        if of_ccnx < self.prefix.len() {
            return Err(ToolError::other("prefixes of NDN and of CCNx are for two runs"));
        }
        if self.nack > 0.0 {
            return Err(ToolError::other("--nack is not for CCNx, which has none"));
        }
        let signer = self.signing.ccnx_signer()?;
        let client = self.connect.ccnx_client_as(&signer)?;
        let source = ccnx_generator(Name::root(), signer)
            .with_content(payload)
            .with_least_bytes(*self.size.start() as u64)
            .with_failures(self.ignore, 0.0);
        // An object of CCNx that says nothing of it counts as fresh for ever.
        let source =
            if self.freshness > Duration::ZERO { source.with_freshness(self.freshness) } else { source };
        Ok((Box::new(source), client))
    }
}
