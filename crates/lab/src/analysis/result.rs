//! The numbers of a repeat, and whether they are as they were written.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use trust::whole_file;

use super::gates::{Gate, UNFINISHED};
use super::prefixes::PrefixCounts;
use super::raw_files::FileHashes;
use super::repeat::place_of;
use super::window::Window;
use crate::experiment::Plan;
use crate::order::{Outcome, write_text};
use crate::seal::{Seal, seal_of, sealed};
use crate::stats::{Counted, Summary};

/// Bytes of the numbers of a repeat.
const MAX_RESULT_BYTES: u64 = 1 << 30;

/// The numbers of one repeat: `result.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RepeatResult {
    /// By measure without its summary, such as `n2.pending`.
    pub values: BTreeMap<String, Summary>,
    /// Was it a valid run?
    pub gates: Vec<Gate>,
    /// Why attempts before this one were thrown away.
    #[serde(default)]
    pub thrown_away: Vec<String>,
    /// Lines of forwarder logs that were dropped because values were missing.
    pub dropped_lines: u64,
    /// How long the run was, in seconds.
    pub seconds: f64,
    /// What clients asked for by prefix.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prefixes: Vec<PrefixCounts>,
    /// The part of it that was measured; nothing in runs of earlier versions.
    #[serde(default)]
    pub window: Option<Window>,
    /// When its workloads were active; nothing where they leave no trace of that, and in runs of earlier
    /// versions.
    #[serde(default)]
    pub active: Option<Window>,
    /// What was counted of measures that are parts of a whole, or in proportion to one, such as `ping.loss`;
    /// none in runs of earlier versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, Counted>,
    /// What happened.
    pub outcome: Outcome,
    /// Which repeat of which case it is, so that none can take the place of another; empty in runs of earlier
    /// versions.
    #[serde(default)]
    pub place: String,
    /// The run that it was measured in, so that no other's can take its place; nothing in runs of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<RepeatOrigin>,
    /// SHA-256 of each raw file that it was derived from, as it is stored; empty in runs of earlier versions,
    /// and where only numbers are kept.
    #[serde(default, skip_serializing_if = "FileHashes::is_empty")]
    pub raw_files: FileHashes,
    /// The same of each file that was derived with it.
    #[serde(default, skip_serializing_if = "FileHashes::is_empty")]
    pub derived_files: FileHashes,
    /// The names of those that are not as they were any more, with their folders.
    #[serde(skip)]
    pub changed_files: Vec<String>,
    /// Whether it is as it was written.
    #[serde(skip)]
    pub seal: Seal,
}

/// What a repeat is one of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepeatOrigin {
    /// A hash of what happens in the run, and of its backend.
    pub plan: String,
    /// The seed that this repeat had.
    pub seed: u64,
}

/// A part of a repeat that was measured while nothing happened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IdleWindow {
    /// What was measured.
    pub measured: Window,
    /// When the workloads were active.
    pub active: Window,
}

impl RepeatResult {
    /// Reads `result.json` of a repeat.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn read(path: &Path) -> io::Result<Self> {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let text = whole_file::read(path, MAX_RESULT_BYTES).map_err(named)?;
        let text = String::from_utf8(text).map_err(|error| named(io::Error::other(error)))?;
        let result: Self = serde_json::from_str(&text).map_err(|error| named(io::Error::other(error)))?;
        Ok(RepeatResult { seal: seal_of(&text), ..result })
    }

    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        write_text(path, sealed(&serde_json::to_string_pretty(self)?))
    }

    /// The part of it that was measured, where that ended before anything happened or began after it.
    #[must_use]
    pub fn idle_window(&self) -> Option<IdleWindow> {
        let (measured, active) = self.window.zip(self.active)?;
        let is_idle = measured.until <= active.from || measured.from >= active.until;
        is_idle.then_some(IdleWindow { measured, active })
    }

    /// Is it another repeat than the one whose folder it lies in, or one of another case or control? Of those
    /// of an earlier version, which do not say it, nobody knows.
    pub(crate) fn is_of_another_place(&self, plan: &Plan, folder: &Path) -> bool {
        !self.place.is_empty() && self.place != place_of(plan, folder)
    }

    /// Why it is not valid: the gates that it did not pass, and what ended early.
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        let failed = self.gates.iter().filter(|gate| !gate.passed);
        let gates = failed.map(|gate| format!("{}: {}", gate.name, gate.words()));
        gates.chain(self.outcome.lost.clone()).collect()
    }

    /// Was work left, more than the file allows? That is what the network did, and no fault of the
    /// measurement.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        self.gates.iter().any(|gate| !gate.passed && gate.name == UNFINISHED)
    }

    /// Did it pass every gate?
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.gates.iter().all(|gate| gate.passed)
    }
}
