//! `cairn gateway origin`: a web server as names.

use std::process::ExitCode;

use clap::Args;
use client::AsyncClient;
use gateway::origin::mapping::Mapping;
use gateway::origin::{OriginConfig, OriginServer};
use packet::Name;
use packet::time::Duration;

use super::run::until;
use crate::tool::ToolError;
use crate::tool::connect::ConnectArguments;
use crate::tool::interrupt::Interrupt;
use crate::tool::signing::SigningArguments;
use crate::tool::units::{duration, size};

/// Publish a web server under a name: what is asked for is fetched from it, signed, and kept for others.
#[derive(Debug, Args)]
#[command(after_help = "\
http://HOST/a/b is the object /<prefix>/a/b; a slash at the end is an empty component, a query one more component that begins with `?`. The \
version follows from ETag and Last-Modified, how long it counts as fresh from Cache-Control. Answers that are for one reader only (private, \
no-store, with a cookie) are never published, and no other web server is asked.

Examples:
  cairn gateway origin https://example.org /web/example
  cairn get /web/example/index.html
  cairn gateway run --proxy http://example.org=/web/example     then http_proxy=http://127.0.0.1:8080

Exit codes: 0 stopped by Ctrl-C; 1 failure; 2 wrong usage.")]
pub(crate) struct OriginArguments {
    /// The web server: http://HOST or https://HOST, maybe with a port and a path.
    url: String,
    /// The prefix it is published under.
    prefix: Name,
    /// How long an answer counts as fresh that does not say.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "1s")]
    freshness: Duration,
    /// The most bytes of one answer. 256 MiB by default, or half of --max-kept if that is less.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_object: Option<u64>,
    /// The most bytes that are kept of all answers. 512 MiB by default, or half of the memory that this
    /// process may take if that is less: a quarter of the machine's, or half of what its control group
    /// allows.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_kept: Option<u64>,
    #[command(flatten)]
    signing: SigningArguments,
    #[command(flatten)]
    connect: ConnectArguments,
}

impl OriginArguments {
    pub(super) fn run(&self) -> Result<ExitCode, ToolError> {
        let interrupt = Interrupt::catch()?;
        let mapping = Mapping::new(&self.url, self.prefix.clone()).map_err(ToolError::other)?;
        let mut config = OriginConfig::new(mapping, self.signing.signer()?);
        config.usual_freshness = std::time::Duration::from_nanos(self.freshness.as_nanos());
        let usual = config.limits.max_kept_bytes.min(node::default_memory_bytes() / 2);
        config.limits.max_kept_bytes = self.max_kept.unwrap_or(usual);
        let usual = config.limits.max_object_bytes.min(config.limits.max_kept_bytes / 2);
        config.limits.max_object_bytes = self.max_object.unwrap_or(usual);
        let client = self.connect.client_as(&self.signing)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let origin = OriginServer::new(AsyncClient::over(client), config).map_err(ToolError::other)?;
            tell!("publishing {} as {}", self.url, self.prefix);
            origin.run(until(&interrupt)).await?;
            tell!("asked the web server {} times", origin.asked());
            Ok(ExitCode::SUCCESS)
        })
    }
}
