//! Servers and proxies beside forwarders: how each is configured, started, waited for and asked what it did.
//! Adding one is a file here, a word in `ServerSoftware`, and a line in [`server()`].

mod cairn;
mod gateway;
mod lighttpd;
mod nginx;
mod squid;
mod varnish;

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{DriverError, Launch};
use crate::experiment::plan::{ContentPlan, NodeIndex, Plan, ServerPlan, ServerSoftware};

pub(super) use cairn::{anchor, manifest};

/// Where every server listens at its node.
pub const HTTP_PORT: u16 = 80;
/// For how long proxies keep what their origin says nothing of.
const KEPT_SECONDS: u32 = 3600;
/// How much a tuned proxy keeps in memory.
const MEMORY_MIB: u32 = 1024;
/// The longest answer to a question for counters that makes sense.
const MAX_BYTES: u64 = 16 << 20;

/// A server as it is started at a node.
#[derive(Debug, Clone)]
pub struct ServerSetup<'a> {
    /// The experiment.
    pub plan: &'a Plan,
    /// Which node.
    pub node: NodeIndex,
    /// What it is.
    pub server: ServerPlan,
    /// A folder of its own in the run's folder.
    pub folder: &'a Path,
    /// Where the files of the contents lie that this node serves, each below its prefix.
    pub files: &'a Path,
    /// Our own command.
    pub cairn: &'a Path,
    /// The node's forwarder, as NDN applications are told of it.
    pub transport: &'a str,
}

impl ServerSetup<'_> {
    /// The node's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.plan.node_name(self.node)
    }

    /// The name of the node whose server it is a proxy for.
    fn upstream(&self) -> Option<&str> {
        self.server.upstream.map(|node| self.plan.node_name(node))
    }

    /// The contents that this node has.
    pub fn contents(&self) -> impl Iterator<Item = &ContentPlan> {
        self.plan.contents.iter().filter(|content| content.at == self.node)
    }

    /// Writes a configuration.
    fn write(&self, name: &str, text: &str) -> Result<PathBuf, DriverError> {
        let file = self.folder.join(name);
        let failed = |source| DriverError::Configuration { node: self.name().to_owned(), source };
        fs::write(&file, text).map_err(failed)?;
        Ok(file)
    }
}

/// How it is known that a server answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ready {
    /// It takes connections at [`HTTP_PORT`].
    Listens,
    /// The node's forwarder has routes for these prefixes.
    Registered(Vec<String>),
}

/// What a server says of its work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ServerCounts {
    /// Requests that it answered.
    pub requests: u64,
    /// Of these, those that its cache answered; nothing when it does not say.
    pub hits: Option<u64>,
}

impl ServerCounts {
    /// Of the requests, those that it had to ask for elsewhere.
    #[must_use]
    pub fn misses(&self) -> Option<u64> {
        self.hits.map(|hits| self.requests.saturating_sub(hits))
    }
}

/// A kind of server.
pub trait Server: std::fmt::Debug + Send + Sync {
    /// Its version, as it says it itself.
    fn version(&self) -> String;

    /// Writes its configuration and says which processes make it.
    ///
    /// # Errors
    ///
    /// When the configuration cannot be written, or the experiment asks for what it cannot do.
    fn prepare(&self, setup: &ServerSetup<'_>) -> Result<Vec<Launch>, DriverError>;

    /// How it is known that it answers.
    fn ready(&self, _setup: &ServerSetup<'_>) -> Vec<Ready> {
        vec![Ready::Listens]
    }

    /// What it says of its work; nothing when it does not. This is called in the node's namespace.
    fn counts(&self, setup: &ServerSetup<'_>) -> Option<ServerCounts>;
}

/// The driver of a server.
///
/// # Errors
///
/// When the program is nowhere.
pub fn server(software: ServerSoftware) -> Result<Box<dyn Server>, DriverError> {
    Ok(match software {
        ServerSoftware::Lighttpd => Box::new(lighttpd::Lighttpd::find()?),
        ServerSoftware::Nginx => Box::new(nginx::Nginx::find()?),
        ServerSoftware::Squid => Box::new(squid::Squid::find()?),
        ServerSoftware::Varnish => Box::new(varnish::Varnish::find()?),
        ServerSoftware::Cairn => Box::new(cairn::Put),
        ServerSoftware::Gateway => Box::new(gateway::Gateway),
    })
}

/// The URL of a path at a node's server.
#[must_use]
pub fn url(plan: &Plan, node: NodeIndex, path: &str) -> String {
    let software = plan.nodes.get(node).and_then(|node| node.server).map(|server| server.software);
    let below = if software == Some(ServerSoftware::Gateway) { gateway::PATH } else { "" };
    format!("http://{}{below}{path}", plan.node_name(node))
}

/// A page of a server at this node, from whose namespace it is called.
fn page(path: &str) -> io::Result<String> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, HTTP_PORT));
    let timeout = Duration::from_secs(2);
    let mut stream = TcpStream::connect_timeout(&address, timeout)?;
    stream.set_read_timeout(Some(timeout))?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
    let mut bytes = Vec::new();
    stream.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The number behind a word that begins a line.
fn number_after(text: &str, word: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.trim_start().strip_prefix(word))?;
    let rest = rest.trim_start_matches([' ', '=', ':']);
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

/// As whom a server works that root starts, with the group: one of the users that systems have for this.
fn unprivileged() -> Option<(String, String)> {
    if !nix::unistd::geteuid().is_root() {
        return None;
    }
    let user = |name: &&str| nix::unistd::User::from_name(name).ok().flatten();
    let user = ["www-data", "http", "nobody"].iter().find_map(user)?;
    let group = nix::unistd::Group::from_gid(user.gid).ok().flatten()?;
    Some((user.name, group.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_the_number_behind_its_word() {
        let text =
            "HTTP/1.0 200 OK\n\nclient_http.requests = 12\nTotal Accesses: 7\nMAIN.cache_hit   5  0.33 Cache";
        assert_eq!(number_after(text, "client_http.requests"), Some(12));
        assert_eq!(number_after(text, "Total Accesses"), Some(7));
        assert_eq!(number_after(text, "MAIN.cache_hit"), Some(5));
        assert_eq!(number_after(text, "client_http.hits"), None);
    }
}
