//! Which machines there are: the file beside the experiment, so that the experiment itself is the same
//! everywhere.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trust::whole_file;

use crate::experiment::Plan;

/// The hosts of a run, by the node that each of them is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inventory {
    /// Options for every `ssh`.
    #[serde(default)]
    pub options: Vec<String>,
    /// Does the link layer give links the rate, delay and loss of the experiment? If not they are what the
    /// network is.
    #[serde(default = "yes")]
    pub shape: bool,
    /// The hosts.
    pub host: BTreeMap<String, Host>,
}

/// One machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// What `ssh` is told to connect to; the node's name when it is left out.
    pub ssh: Option<String>,
    /// Options for its `ssh`, after those for all.
    #[serde(default)]
    pub options: Vec<String>,
    /// The address at which the other hosts reach it.
    pub address: Option<Ipv4Addr>,
    /// Other addresses, by link.
    #[serde(default)]
    pub link: BTreeMap<String, Ipv4Addr>,
    /// The `cairn` command there, of the same version; without it this one is copied.
    pub cairn: Option<PathBuf>,
    /// The `ndnd` command there.
    pub ndnd: Option<PathBuf>,
    /// The `nfd` command there.
    #[serde(default)]
    pub nfd: Option<PathBuf>,
    /// The folder in which a folder for the run is made.
    #[serde(default = "temporary")]
    pub folder: PathBuf,
}

fn yes() -> bool {
    true
}

fn temporary() -> PathBuf {
    PathBuf::from("/tmp")
}

/// Why the hosts cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InventoryError {
    /// The file.
    #[error("{}: {source}", .file.display())]
    Io {
        /// Which.
        file: PathBuf,
        /// What failed.
        source: std::io::Error,
    },
    /// What stands in it.
    #[error("{}: {problem}", .file.display())]
    Toml {
        /// Which.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A node without a host.
    #[error("there is no host for the node `{0}`: add [host.{0}] to the file of hosts")]
    NoHost(String),
    /// A link whose end has no address.
    #[error(
        "the host of `{node}` has no address on the link `{link}`: add `address`, or [host.{node}.link] {link} = …"
    )]
    NoAddress {
        /// The node.
        node: String,
        /// The link.
        link: String,
    },
}

impl Inventory {
    /// Reads a file of hosts.
    ///
    /// # Errors
    ///
    /// When it is not there or makes no sense.
    pub fn read(file: &Path) -> Result<Self, InventoryError> {
        let text = whole_file::read_text(file, whole_file::MAX_BYTES)
            .map_err(|source| InventoryError::Io { file: file.to_owned(), source })?;
        toml::from_str(&text)
            .map_err(|error| InventoryError::Toml { file: file.to_owned(), problem: error.to_string() })
    }

    /// The host of a node.
    pub(super) fn host(&self, node: &str) -> Result<&Host, InventoryError> {
        self.host.get(node).ok_or_else(|| InventoryError::NoHost(node.to_owned()))
    }

    /// The address of a node's end of a link.
    pub(super) fn address(&self, node: &str, link: &str) -> Result<Ipv4Addr, InventoryError> {
        let host = self.host(node)?;
        let missing = || InventoryError::NoAddress { node: node.to_owned(), link: link.to_owned() };
        host.link.get(link).copied().or(host.address).ok_or_else(missing)
    }

    /// Is there a host for every node, and an address for every end of a link?
    ///
    /// # Errors
    ///
    /// The first that is missing.
    pub fn check(&self, plan: &Plan) -> Result<(), InventoryError> {
        for node in &plan.nodes {
            self.host(&node.name)?;
        }
        for link in &plan.links {
            for node in link.between {
                self.address(plan.node_name(node), &link.name)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    #[test]
    fn a_missing_host_and_a_missing_address_are_named() {
        let text = "title = 'two'\nduration = '1 s'\n[node]\na = {}\nb = {}\n[link]\na-b = {}\n";
        let plan = Experiment::parse("two", "two.toml", text).unwrap().plans("hosts").unwrap().remove(0);
        let check =
            |text: &str| toml::from_str::<Inventory>(text).unwrap().check(&plan).map_err(|e| e.to_string());
        assert_eq!(check("[host.a]\naddress = '192.0.2.1'\n[host.b.link]\na-b = '192.0.2.2'\n"), Ok(()));
        assert!(check("[host.a]\n").unwrap_err().contains("[host.b]"));
        assert!(
            check("[host.a]\naddress = '192.0.2.1'\n[host.b]\n").unwrap_err().contains("`b` has no address")
        );
        assert!(toml::from_str::<Inventory>("[host.a]\nadress = '192.0.2.1'\n").is_err());
    }
}
