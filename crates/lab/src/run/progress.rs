//! The workflow's steps, and what an observer of a run is told.

use crate::order::Event;

/// The steps of one repeat, with the numbers of the testbed report's workflow that each takes the place of.
pub const STEPS: &[(&str, &str, &str)] = &[
    ("network", "1", "fresh namespaces, links, shares"),
    ("forwarders", "1-3", "fresh forwarders, nothing left of earlier runs"),
    ("captures", "4", "a capture at every node"),
    ("clients", "6", "agents ready, prefixes registered"),
    ("forwarder log", "5", "counters twice a second"),
    ("workloads", "6-7", "the measurement"),
    ("stop", "8-9", "logs and captures end"),
    ("collect", "12-13", "everything in one folder"),
    ("summary", "14", "packets read from the captures"),
    ("derive", "15, 19, 22", "per second; invalid lines dropped; time from the start"),
    ("gates", "10-11, 16-17, 20-21", "is the run valid?"),
    ("archive", "18, 25", "raw data kept, compressed"),
    ("figures", "23", "graphs of every node"),
    ("report", "24", "everything on one page"),
];

/// What happened in a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// The run has a folder.
    Folder(std::path::PathBuf),
    /// A repeat begins.
    Repeat {
        /// The case, by number from 1, and how many there are.
        case: (usize, usize),
        /// Its name.
        name: String,
        /// The repeat, by number from 1, and how many there are.
        repeat: (u32, u32),
        /// How long its workloads may take, in seconds.
        seconds: f64,
    },
    /// A step of it begins.
    Step(String),
    /// Something to know.
    Note(String),
    /// A sample.
    Sample(Event),
    /// A repeat is done.
    Done {
        /// Why it is not valid; empty when it is.
        invalid: Vec<String>,
    },
    /// So many repeats of all are done, of those that go on beside each other.
    Count {
        /// Those that are done.
        done: usize,
        /// All.
        all: usize,
    },
    /// So much of the virtual time of all repeats is done, those that go on among them, from 0 to 1.
    Share(f64),
    /// A repeat was done in an earlier session.
    Skipped,
}
