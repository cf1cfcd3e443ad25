//! A network that stays: it is built from an experiment file, has no workload, and can be entered and changed
//! until it is taken down.
//!
//! Whoever [holds](hold::hold) it keeps its world alive. Everybody else of the same user finds it by its
//! [`NetworkFolder`], asks the holder over a socket there, or [enters](enter::enter) a node by the kernel's
//! namespaces.

pub mod enter;
pub mod hold;
mod network_folder;
mod reply;

use std::net::Ipv4Addr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use self::network_folder::NetworkFolder;
use crate::backend::BackendError;
use crate::experiment::plan::{Arena, Change, LinkIndex, NodeIndex};
use crate::experiment::problem::suggest;

/// The file in a network's folder that describes it, from when it is up.
pub const LIVE_NETWORK_FILE: &str = "live.json";

/// A network that is up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveNetwork {
    /// The experiment's title.
    pub title: String,
    /// Its nodes that have a forwarder, in the order of the plan.
    pub nodes: Vec<LiveNode>,
    /// Its links.
    pub links: Arena<LinkIndex, LiveLink>,
}

/// A node of a network that is up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveNode {
    /// Its number in the plan, which counts nodes without a forwarder, too.
    pub index: NodeIndex,
    /// Its name.
    pub name: String,
    /// Its forwarder's process, by its number in the world.
    pub process: u32,
    /// Its forwarder's socket, relative to the working folder of the world's first process.
    pub socket: PathBuf,
    /// Its interfaces with their addresses.
    pub addresses: Vec<(String, Ipv4Addr)>,
}

/// A link of a network that is up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveLink {
    /// Its name.
    pub name: String,
    /// The nodes at its ends.
    pub between: [String; 2],
}

impl LiveNetwork {
    /// The number of a link by its name.
    ///
    /// # Errors
    ///
    /// There is none; the message names the nearest.
    pub fn link(&self, name: &str) -> Result<LinkIndex, LiveError> {
        let names = || self.links.iter().map(|link| link.name.as_str());
        self.links.position(|link| link.name == name).ok_or_else(|| unknown("link", name, names()))
    }

    /// The node of a name.
    ///
    /// # Errors
    ///
    /// There is none; the message names the nearest.
    pub fn node(&self, name: &str) -> Result<&LiveNode, LiveError> {
        let names = || self.nodes.iter().map(|node| node.name.as_str());
        let found = self.nodes.iter().find(|node| node.name == name);
        found.ok_or_else(|| unknown("node", name, names()))
    }
}

fn unknown<'a>(what: &'static str, name: &str, known: impl Iterator<Item = &'a str>) -> LiveError {
    let known: Vec<&str> = known.collect();
    LiveError::Unknown { what, name: name.to_owned(), instead: suggest(name, &known) }
}

/// Why something could not be done with a network that stays.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// No network is up.
    #[error("no network is up here; start one with: cairn lab up")]
    NoneUp,
    /// Several are.
    #[error("{} networks are up: {}; name one with --network", .0.len(), .0.join(", "))]
    Several(Vec<String>),
    /// There is none of that name.
    #[error("there is no {what} `{name}`; {instead}")]
    Unknown {
        /// A network, a node or a link.
        what: &'static str,
        /// The name that was given.
        name: String,
        /// What it may have been.
        instead: String,
    },
    /// A name that cannot be a network's.
    #[error("`{0}` cannot be the name of a network: up to 40 letters, digits, `-`, `_` and `.`")]
    Name(String),
    /// One of that name is up already.
    #[error("a network `{0}` is up already; give another --name, or take it down with: cairn lab down {0}")]
    IsUp(String),
    /// It could not be built.
    #[error(transparent)]
    Conduct(#[from] BackendError),
    /// The change was refused.
    #[error("{0}")]
    Refused(String),
    /// The holder does not answer.
    #[error("network `{network}`: {source}")]
    Holder {
        /// The network.
        network: String,
        /// What failed.
        source: std::io::Error,
    },
    /// A command cannot be started in a node.
    #[error("`{command}` cannot be started: {source}")]
    Command {
        /// The command.
        command: String,
        /// What failed.
        source: std::io::Error,
    },
    /// The kernel does not let us in.
    #[error("node `{node}` cannot be entered: {what}: {source}; do it as the user who started the network")]
    Enter {
        /// The node.
        node: String,
        /// What was tried.
        what: &'static str,
        /// What failed.
        source: std::io::Error,
    },
}

impl Change {
    /// What happens, in a word of the experiment file.
    #[must_use]
    pub fn action(&self) -> &'static str {
        match self {
            Change::LinkDown(_) => "link-down",
            Change::LinkUp(_) => "link-up",
            Change::LinkChange { .. } => "link-change",
            Change::Restart(_) => "restart",
            Change::RouteAdd(_) => "route-add",
            Change::RouteRemove(_) => "route-remove",
            Change::CpuChange { .. } => "cpu-change",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_restarted_by_its_number_in_the_plan_also_behind_a_switch() {
        let node = |index, name: &str| LiveNode {
            index: NodeIndex(index),
            name: name.to_owned(),
            process: 7,
            socket: PathBuf::new(),
            addresses: Vec::new(),
        };
        let nodes = vec![node(0, "a"), node(2, "c")];
        let network = LiveNetwork { title: "b is a switch".to_owned(), nodes, links: Arena::default() };
        assert_eq!(network.node("c").unwrap().index, NodeIndex(2));
        assert!(network.node("b").unwrap_err().to_string().starts_with("there is no node `b`"));
    }
}
