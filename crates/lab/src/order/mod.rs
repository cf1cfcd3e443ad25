//! What every backend is told, what it says while it works, and what it leaves: the words that namespaces,
//! hosts and virtual time have in common.

mod owner;
pub(crate) mod sample;
mod simultaneous;
mod stop;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::Path;

use serde::{Deserialize, Serialize};
use trust::whole_file::{self, Durability, Readers, Replacement, Writers};

pub use self::owner::Owner;
pub(crate) use self::owner::RUN_PREFIX;
pub use self::simultaneous::{OrderSeen, Simultaneous};
pub use self::stop::Stop;
use crate::backend::hosts::ClockOffset;
use crate::capture::tap::TapCounts;
use crate::driver::{Programs, ServerCounts};
use crate::experiment::Plan;
use crate::experiment::plan::Change;
use crate::memory_files;

/// The file in the run's folder that holds the order.
pub const ORDER_FILE: &str = "order.json";
/// The file that holds the outcome.
pub const OUTCOME_FILE: &str = "outcome.json";

/// One repeat of one case.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    /// What to do.
    pub plan: Plan,
    /// The seed of this repeat.
    pub seed: u64,
    /// The lab, by which control groups are named.
    pub owner: Owner,
    /// Where programs are.
    pub programs: Programs,
    /// Is there no workload, and does the network stay until it is taken down?
    #[serde(default)]
    pub stays: bool,
    /// In which order virtual time takes what happens at one instant.
    #[serde(skip)]
    pub simultaneous: Simultaneous,
    /// Cores for this repeat alone, in virtual time. What it finds does not depend on it.
    #[serde(skip, default = "one_core")]
    pub cores: NonZeroUsize,
    /// Shall it end before it is done? Told to whoever carries it out in this process.
    #[serde(skip)]
    pub stop: Stop,
}

fn one_core() -> NonZeroUsize {
    NonZeroUsize::MIN
}

/// What can be asked of a network that stays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// To go.
    Down,
    /// To become another.
    Change(Change),
}

/// Something that happened in a world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// A step of the workflow has begun.
    Step {
        /// Its name.
        name: String,
    },
    /// Something that a reader of the report should know.
    Note {
        /// In a sentence.
        text: String,
    },
    /// A forwarder was asked for its counters.
    Sample {
        /// The node.
        node: String,
        /// Seconds since the start.
        seconds: f64,
        /// Pending Interests; nothing when it did not answer.
        pending: Option<u64>,
        /// Processor time in percent of a core.
        cpu_percent: f64,
        /// Resident memory.
        memory_bytes: u64,
    },
    /// A network that stays is there.
    Up,
    /// A change that was asked for is made, or refused.
    Changed {
        /// Why.
        refused: Option<String>,
    },
    /// The run failed.
    Failed {
        /// Why.
        why: String,
    },
}

impl Event {
    /// Writes the event to standard output, a line of its own.
    pub fn say(&self) {
        let Ok(mut line) = serde_json::to_string(self) else { return };
        line.push('\n');
        // Whoever listened is gone, and the guard ends us.
        let _ = io::stdout().lock().write_all(line.as_bytes());
    }
}

/// What a world says at its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// When workloads began, in nanoseconds since the epoch.
    pub start_ns: u64,
    /// When they ended.
    pub stop_ns: u64,
    /// What each node's capture saw.
    pub taps: BTreeMap<String, TapCounts>,
    /// Samples of each node, and those it did not answer.
    pub samples: BTreeMap<String, (u64, u64)>,
    /// The part of the processor's time that the machine below took away.
    pub steal: f64,
    /// How far the clock was set during the run.
    pub clock_shift_ns: u64,
    /// How far the clock of each node's host is from the lab's, when it is another.
    #[serde(default)]
    pub clocks: BTreeMap<String, ClockOffset>,
    /// What shares were kept by.
    pub control: String,
    /// The software under test, as it says it itself.
    pub software: String,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// How much too late an event came at most.
    #[serde(default)]
    pub latest_event_ns: u64,
    /// What each node came to, where the backend counts it.
    #[serde(default)]
    pub nodes: BTreeMap<String, NodeTotals>,
    /// The order of what happened at one instant, in virtual time; nothing in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simultaneous: Option<OrderSeen>,
    /// A forwarder or a client that ended before the run did. What was measured is kept, and is not valid.
    #[serde(default)]
    pub lost: Option<String>,
}

/// What a node came to while the workloads ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeTotals {
    /// Processor time of its forwarder, its server and its clients.
    pub processor_ns: u64,
    /// Bytes of frames that it sent over its links.
    pub sent_bytes: u64,
    /// Bytes of frames that came over its links.
    pub received_bytes: u64,
    /// Its server, as it says itself what it is.
    pub server: Option<String>,
    /// What its server counted.
    pub counts: Option<ServerCounts>,
}

impl Outcome {
    /// When workloads began, by the clock of the node's host.
    #[must_use]
    pub fn start_at(&self, node: &str) -> u64 {
        self.clocks.get(node).map_or(self.start_ns, |clock| clock.at_host(self.start_ns))
    }
}

/// Writes a value as JSON.
///
/// # Errors
///
/// When it cannot be written.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> io::Result<()> {
    write_text(path, serde_json::to_string_pretty(value).map_err(io::Error::other)?)
}

/// Writes a file whole or not at all.
///
/// # Errors
///
/// When it cannot be written.
pub(crate) fn write_text(path: &Path, text: String) -> io::Result<()> {
    if memory_files::is_in_memory(path) {
        return memory_files::write(path, text);
    }
    // Nothing waits for the disk: a run writes thousands of small files, and a power cut ends it anyway.
    let replacement =
        Replacement { readers: Readers::Usual, writers: Writers::One, durability: Durability::Kill };
    replacement.write(path, text.as_bytes())
}

/// Bytes of a file in which a run says something of itself.
const MAX_BYTES: u64 = 1 << 30;

/// Reads a value from JSON.
///
/// # Errors
///
/// When it cannot be read.
pub fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> io::Result<T> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let text =
        memory_files::read(path).unwrap_or_else(|| whole_file::read(path, MAX_BYTES)).map_err(named)?;
    serde_json::from_slice(&text).map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
}
