//! What every workload of an agent can be asked.

use std::fmt::Display;
use std::io;
use std::path::Path;

use formats::csv;
use packet::time::Instant;
use packet::{Data, Interest, NackReason, Name};

use crate::memory_files::{self, Output};

/// A workload as a state machine: told what happened, it hands out Interests and says when it wants to be
/// asked again.
pub(crate) trait Activity: Send {
    /// Data came. True when it was this workload's.
    fn receive_data(&mut self, now: Instant, data: &Data) -> bool;

    /// An Interest came back. True when it was this workload's.
    fn receive_nack(&mut self, now: Instant, interest: &Interest, reason: NackReason) -> bool;

    /// Time has passed.
    fn handle_timeout(&mut self, now: Instant);

    /// Of the Interests that were handed out, those that ask once more for what the same transfer has asked
    /// for: name and nonce. Each is told of once.
    fn take_again(&mut self) -> Vec<(Name, u32)> {
        Vec::new()
    }

    /// The next Interest to send.
    fn poll_transmit(&mut self, now: Instant) -> Option<Interest>;

    /// When to be asked again.
    fn next_deadline(&self) -> Instant;

    /// Has everything been done that there is to do? Workloads without an end never say so.
    fn is_complete(&self) -> bool;

    /// The run is over: writes what is still open.
    fn finish(&mut self, now: Instant) -> io::Result<()>;
}

/// A table that is written row by row as things happen. Times in it are seconds since the epoch.
#[derive(Debug)]
pub(super) struct Log {
    table: csv::Writer<Output>,
    /// Nanoseconds since the epoch at the run's start.
    epoch_ns: u64,
}

impl Log {
    pub(super) fn create(folder: &Path, name: &str, head: &[&str], epoch_ns: u64) -> io::Result<Self> {
        let mut table = csv::Writer::new(memory_files::create(&folder.join(name))?);
        table.row(head)?;
        Ok(Log { table, epoch_ns })
    }

    /// A moment of the run as seconds since the epoch.
    pub(super) fn time(&self, at: Instant) -> String {
        let ns = self.epoch_ns.saturating_add(at.as_nanos());
        format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
    }

    /// A moment of the run in milliseconds since the epoch.
    pub(super) fn unix_millis(&self, at: Instant) -> u64 {
        self.epoch_ns.saturating_add(at.as_nanos()) / 1_000_000
    }

    pub(super) fn row(&mut self, fields: &[&dyn Display]) {
        // A disk that is full shows when the run ends, in `finish`.
        let _ = self.table.row(fields);
    }

    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.table.flush()
    }
}
