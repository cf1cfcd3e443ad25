//! Cairn's gateways in the place of HTTP proxies: clients ask by HTTP, between the gateways there is named
//! data, and the one whose upstream is a web server publishes what that has.

use super::{HTTP_PORT, Ready, Server, ServerCounts, ServerSetup};
use crate::driver::{DriverError, Launch};
use crate::experiment::plan::ServerSoftware;

/// Starts `cairn gateway`.
#[derive(Debug)]
pub(super) struct Gateway;

/// The name under which a web server is published.
const NAME: &str = "/web";
/// The path below which a gateway shows it.
pub(super) const PATH: &str = "/ndn/web";

/// Is the upstream a web server?
fn is_origin(setup: &ServerSetup<'_>) -> bool {
    let upstream = setup.server.upstream.and_then(|node| setup.plan.nodes.get(node)?.server);
    upstream.is_some_and(|server| server.software != ServerSoftware::Gateway)
}

impl Server for Gateway {
    fn version(&self) -> String {
        format!("cairn gateway {}", env!("CARGO_PKG_VERSION"))
    }

    fn prepare(&self, setup: &ServerSetup<'_>) -> Result<Vec<Launch>, DriverError> {
        let launch = |arguments: Vec<String>| Launch {
            program: setup.cairn.to_owned(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            environment: vec![("NDN_CLIENT_TRANSPORT".into(), setup.transport.into())],
        };
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let listen = format!("0.0.0.0:{HTTP_PORT}");
        let mut launches =
            vec![launch(words(&["gateway", "run", "--listen", &listen, "--host", setup.name()]))];
        if let Some(upstream) = setup.upstream().filter(|_| is_origin(setup)) {
            let url = format!("http://{upstream}");
            let limits = ["--max-object", "1GiB", "--max-kept", "1GiB", "--freshness", "1h"];
            launches.push(launch(words(&[&["gateway", "origin", &url, NAME][..], &limits].concat())));
        }
        Ok(launches)
    }

    fn ready(&self, setup: &ServerSetup<'_>) -> Vec<Ready> {
        let published = is_origin(setup).then(|| Ready::Registered(vec![NAME.to_owned()]));
        [Ready::Listens].into_iter().chain(published).collect()
    }

    fn counts(&self, _setup: &ServerSetup<'_>) -> Option<ServerCounts> {
        let metrics = super::page("/-/metrics").ok()?;
        let requests = super::number_after(&metrics, "cairn_gateway_responses_total{class=\"2xx\"}")?;
        Some(ServerCounts { requests, ..ServerCounts::default() })
    }
}
