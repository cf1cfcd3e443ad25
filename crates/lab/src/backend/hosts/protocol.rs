//! What the lab and the remote on a host say to each other: a line of JSON each, and the bytes of a file
//! after the line that announces them.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::backend::interface::Interface;
use crate::capture::tap::TapCounts;
use crate::driver::Programs;
use crate::experiment::Plan;
use crate::experiment::plan::{LinkIndex, NodeIndex};
use crate::order::Event;

/// One node of one repeat.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct HostOrder {
    /// What the experiment is.
    pub(super) plan: Plan,
    /// Which node this is.
    pub(super) node: NodeIndex,
    /// The seed of this repeat.
    pub(super) seed: u64,
    /// Its ends of links.
    pub(super) interfaces: Vec<Interface>,
    /// Links that the link layer shapes.
    pub(super) shaped: Vec<LinkIndex>,
    /// Where programs are on this host.
    pub(super) programs: Programs,
}

/// An interface of a host, found by its address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HostInterface {
    pub(super) name: String,
    pub(super) index: u32,
    pub(super) ether: [u8; 6],
}

/// What the lab asks for. Each is answered once, in order, but for the first.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub(super) enum Request {
    /// The lab is there and waits. The only one that is not answered.
    Alive,
    /// What time is it?
    Time,
    /// Which interfaces have these addresses?
    Look { addresses: Vec<Ipv4Addr> },
    /// Start the forwarder.
    Forwarder { order: Box<HostOrder> },
    /// Make its faces and routes: all others run.
    Connect,
    /// Start captures.
    Captures,
    /// Start the client, and wait until it is ready.
    Clients,
    /// Begin at this moment of the host's clock.
    Start { epoch_ns: u64 },
    /// Has everything that has an end been done?
    Poll,
    /// End the client, the log and the captures, and then the forwarder.
    Stop,
    /// Which files are there?
    Files,
    /// This file.
    Get { name: PathBuf },
}

/// What the remote answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "reply")]
pub(super) enum Reply {
    /// It runs, and takes its folder away itself from now on. Said once, before anything was asked.
    Ready,
    /// It is done.
    Done,
    /// It could not be done.
    Failed { why: String },
    /// When the question came, and when this answer left.
    Time { received: u64, answered: u64 },
    /// In the order of the addresses.
    Interfaces { interfaces: Vec<HostInterface> },
    /// Whether everything that has an end has been done.
    State {
        idle: bool,
        /// A forwarder or a client that ended before the run did.
        #[serde(default)]
        lost: Option<String>,
    },
    /// What was counted.
    Stopped { report: Box<HostReport> },
    /// Names below the run's folder.
    Files { names: Vec<PathBuf> },
    /// So many bytes follow.
    File { bytes: u64 },
}

/// What a host says at the end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct HostReport {
    pub(super) tap: Option<TapCounts>,
    pub(super) samples: (u64, u64),
    pub(super) steal: f64,
    pub(super) clock_shift_ns: u64,
    pub(super) control: String,
    pub(super) software: String,
    pub(super) notes: Vec<String>,
}

/// A line from a remote: an answer, or something that happened.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Line {
    Reply(Reply),
    Event(Event),
}
