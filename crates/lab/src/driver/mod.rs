//! The software under test: how a forwarder is configured, started, connected and asked, behind one trait.
//!
//! Whatever speaks NFD's management protocol needs only a configuration and a command line; connecting,
//! routing and sampling are the same for all.

mod cairn;
pub mod client;
mod connect;
mod manager;
mod ndnd;
mod nfd;
pub mod server;
mod tools;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use ::client::ClientError;
use packet::name::UriError;

use crate::backend::interface::Interface;
use crate::experiment::plan::{Hop, LinkIndex, NodeIndex, Plan, Software};

pub use cairn::Cairn;
pub use manager::Manager;
pub use ndnd::{Ndnd, NdndConfig};
pub use nfd::Nfd;
pub use server::ServerCounts;
pub use tools::{TOOLS, Tool};

/// Where programs are.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Programs {
    /// The `cairn` command; the lab starts it for forwarders, agents and loads.
    pub cairn: PathBuf,
    /// The `ndnd` command, when it is installed.
    pub ndnd: Option<PathBuf>,
    /// The `nfd` command, when it is installed.
    #[serde(default)]
    pub nfd: Option<PathBuf>,
}

/// The environment variable that names another build of Cairn as the one under test.
pub const UNDER_TEST: &str = "CAIRN_LAB_CAIRN";

/// The environment variables that name other forwarders.
const NDND: &str = "CAIRN_NDND";
const NFD: &str = "CAIRN_NFD";

impl Programs {
    /// This `cairn`, and of other forwarders those that the environment names or PATH has.
    #[must_use]
    pub fn beside(cairn: PathBuf) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let find = |name: &str, variable: &str| {
            let named = std::env::var_os(variable).filter(|named| !named.is_empty()).map(PathBuf::from);
            let mut files = std::env::split_paths(&path).map(|folder| folder.join(name));
            named.or_else(|| files.find(|file| file.is_file()))
        };
        Programs { cairn, ndnd: find("ndnd", NDND), nfd: find("nfd", NFD) }
    }

    /// The `cairn` command under test: forwarder, server and client. The lab's own agents are ours in any
    /// case.
    #[must_use]
    pub fn under_test(&self) -> PathBuf {
        std::env::var_os(UNDER_TEST).map_or_else(|| self.cairn.clone(), PathBuf::from)
    }
}

/// A node as its forwarder must see it.
#[derive(Debug)]
pub struct Setup<'a> {
    /// The experiment.
    pub plan: &'a Plan,
    /// Which node.
    pub node: NodeIndex,
    /// A folder of its own.
    pub folder: &'a Path,
    /// Where its socket for local applications shall be.
    pub socket: &'a Path,
    /// Its interfaces.
    pub interfaces: &'a [Interface],
    /// Links whose delay and loss the forwarder must make itself.
    pub impaired: &'a [LinkIndex],
    /// The address of each node, for faces through a switch.
    pub addresses: &'a BTreeMap<NodeIndex, Ipv4Addr>,
    /// Must it keep the rates of these links, too?
    pub shapes_rates: bool,
    /// The seed of this repeat.
    pub seed: u64,
}

impl Setup<'_> {
    /// An interface as the way to the node of a hop: the neighbour's, or one behind a switch.
    fn towards(&self, interface: &Interface, hop: &Hop) -> Interface {
        let behind = hop.behind.and_then(|node| self.addresses.get(&node));
        Interface { remote: behind.copied().unwrap_or(interface.remote), ..interface.clone() }
    }
}

/// How a forwarder is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Additions to its environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// Why a forwarder could not be used.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// Its configuration could not be written.
    #[error("the configuration of `{node}` cannot be written: {source}")]
    Configuration {
        /// The node.
        node: String,
        /// What failed.
        source: io::Error,
    },
    /// The experiment asks for what this software cannot do.
    #[error("{software} cannot {what}; {instead}")]
    Unable {
        /// The software.
        software: &'static str,
        /// What was asked for.
        what: String,
        /// What can be done.
        instead: String,
    },
    /// A route is of no name.
    #[error("`{node}`: `{prefix}` is no name: {error}")]
    Prefix {
        /// The node.
        node: String,
        /// What the experiment says.
        prefix: String,
        /// What is wrong with it.
        error: UriError,
    },
    /// It refused, or did not answer.
    #[error("`{node}`: {source}")]
    Management {
        /// The node.
        node: String,
        /// What failed.
        source: Box<ClientError>,
    },
}

impl DriverError {
    pub(crate) fn management(node: &str, source: ClientError) -> Self {
        DriverError::Management { node: node.to_owned(), source: Box::new(source) }
    }

    pub(crate) fn prefix(node: &str, prefix: &str, error: UriError) -> Self {
        DriverError::Prefix { node: node.to_owned(), prefix: prefix.to_owned(), error }
    }
}

/// A kind of forwarder.
pub trait Driver: std::fmt::Debug + Sync {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// Its version, as it says it itself.
    fn version(&self) -> String;

    /// Writes its configuration and says how it is started.
    ///
    /// # Errors
    ///
    /// When the configuration cannot be written, or the experiment asks for what it cannot do.
    fn prepare(&self, setup: &Setup<'_>) -> Result<Launch, DriverError>;

    /// Makes faces and routes once it runs.
    ///
    /// # Errors
    ///
    /// When it refuses.
    fn connect(&self, setup: &Setup<'_>, manager: &mut Manager) -> Result<(), DriverError>;
}

/// The driver for a plan.
///
/// # Errors
///
/// When the software is not installed.
pub fn driver(software: Software, programs: &Programs) -> Result<Box<dyn Driver>, DriverError> {
    match software {
        Software::Cairn => Ok(Box::new(Cairn::new(programs.under_test()))),
        Software::None => Err(DriverError::Unable {
            software: "the lab",
            what: "start forwarders, for the file says `software = \"none\"`".to_owned(),
            instead: "run it in network namespaces (--on netns)".to_owned(),
        }),
        Software::Ndnd => match &programs.ndnd {
            Some(program) => Ok(Box::new(Ndnd::new(program.clone()))),
            None => Err(missing("ndnd", "install it", NDND)),
        },
        Software::Nfd => match &programs.nfd {
            Some(program) => Ok(Box::new(Nfd::new(program.clone()))),
            None => Err(missing("nfd", "install its package `nfd`", NFD)),
        },
    }
}

fn missing(program: &str, install: &str, variable: &str) -> DriverError {
    DriverError::Unable {
        software: "the lab",
        what: format!("find the program `{program}`"),
        instead: format!("{install}, put it into PATH, or name it in the environment variable {variable}"),
    }
}

/// What a program prints when it is asked for its version.
fn version_of(program: &Path, argument: &str) -> String {
    let output = std::process::Command::new(program).arg(argument).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or("unknown").trim().to_owned()
}
