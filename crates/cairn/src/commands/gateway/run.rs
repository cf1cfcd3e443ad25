//! `cairn gateway run`: named data for whoever speaks HTTP.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Args;
use client::{AsyncClient, Clock, Trust};
use flow::verify::AnchoredVerifier;
use gateway::origin::mapping::Mapping;
use gateway::{GatewayConfig, Server, TrustPolicy, WriteLine};
use packet::random::Random;
use trust::{Validator, ValidatorLimits};

use crate::tool::ToolError;
use crate::tool::connect::ConnectArguments;
use crate::tool::interrupt::Interrupt;
use crate::tool::trusting::{TrustArguments, revocations};

/// How often is looked whether it is to end.
const TICK: Duration = Duration::from_millis(100);

/// Show named data to web browsers, video players, wget and curl.
#[derive(Debug, Args)]
#[command(after_help = "\
http://127.0.0.1:8080/ndn/lab/film.mp4 is the newest version of /lab/film.mp4. Players can seek, downloads can be resumed, folders of \
`cairn serve` are pages, and playlists with relative links (HLS, DASH) work as they are. What is checked is what `cairn get` checks; no byte \
that was refused is sent.

Who can reach the address can read what this host can: it is for this host alone unless --listen says otherwise.

Examples:
  cairn serve ~/Videos /home/videos &
  cairn gateway run                           then open http://127.0.0.1:8080/ndn/home/videos/ in a browser
  cairn gateway run --anchor root.cert        only what leads up to that certificate
  curl -r 0-99 http://127.0.0.1:8080/ndn/lab/file

Exit codes: 0 stopped by Ctrl-C; 1 failure; 2 wrong usage.")]
pub(crate) struct RunArguments {
    /// Where to listen for HTTP.
    #[arg(short, long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// A name of a host that this gateway goes by, beside its addresses and `localhost`. May be given several
    /// times.
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Pages of other origins may not read objects (no CORS).
    #[arg(long)]
    same_origin: bool,
    /// Be a proxy for a web server that is published under a name (`http_proxy=…`). May be given several
    /// times.
    #[arg(long, value_name = "URL=NAME", value_parser = proxied)]
    proxy: Vec<Mapping>,
    /// Objects have a signed manifest: check by that instead of by each segment's signature.
    #[arg(long)]
    manifest: bool,
    /// Append a line for each request to this file, in the common log format; `-` for standard output.
    #[arg(long, value_name = "FILE")]
    access_log: Option<PathBuf>,
    #[command(flatten)]
    trust: TrustArguments,
    #[command(flatten)]
    connect: ConnectArguments,
}

impl RunArguments {
    pub(super) fn run(&self) -> Result<ExitCode, ToolError> {
        let interrupt = Interrupt::catch()?;
        let client = self.connect.client()?;
        let mut config = GatewayConfig::new(self.trust_policy()?);
        config.hosts.clone_from(&self.host);
        config.any_origin = !self.same_origin;
        config.proxied.clone_from(&self.proxy);
        config.log = self.log()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let server = Server::bind(self.listen, AsyncClient::over(client), config).await;
            let server = server.map_err(|error| ToolError::other(format!("{}: {error}", self.listen)))?;
            let address = server.local_addr()?;
            tell!("named data is at http://{address}/ndn/");
            server.run(until(&interrupt)).await;
            Ok(ExitCode::SUCCESS)
        })
    }

    /// Whom to believe, read once.
    fn trust_policy(&self) -> Result<TrustPolicy, ToolError> {
        let trust_policy = match self.trust.policy_and_anchors()? {
            None => TrustPolicy::new(Trust::anybody),
            Some((policy, anchors)) => {
                let records = revocations(&self.trust.revocations)?;
                TrustPolicy::new(move || {
                    let (limits, random) = (ValidatorLimits::default(), Random::from_seed(Clock::seed()));
                    let mut validator = Validator::new(policy.clone(), anchors.clone(), limits, random);
                    validator.set_revocations(Arc::clone(&records));
                    Trust::verifier(Box::new(AnchoredVerifier::new(validator)))
                })
            }
        };
        Ok(if self.manifest { trust_policy.by_manifest() } else { trust_policy })
    }

    fn log(&self) -> Result<Option<WriteLine>, ToolError> {
        let Some(path) = &self.access_log else { return Ok(None) };
        if path.as_os_str() == "-" {
            // A log that cannot be written any more is no reason to end.
            return Ok(Some(Arc::new(|line| drop(crate::tool::output::line(line)))));
        }
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(ToolError::file(path))?;
        let file = Mutex::new(file);
        Ok(Some(Arc::new(move |line| {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = file.write_all(format!("{line}\n").as_bytes());
        })))
    }
}

/// A web server and its name.
fn proxied(text: &str) -> Result<Mapping, String> {
    let (url, name) = text.rsplit_once("=/").ok_or("write http://HOST=/NAME")?;
    let name = format!("/{name}").parse().map_err(|error: packet::name::UriError| error.to_string())?;
    Mapping::new(url, name).map_err(|error| error.to_string())
}

/// Waits for Ctrl-C.
pub(super) async fn until(interrupt: &Interrupt) {
    while !interrupt.came() {
        tokio::time::sleep(TICK).await;
    }
}
