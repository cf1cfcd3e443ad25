//! How long a client stood still: its loop turns at the latest when it said it would.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use formats::csv;

use crate::memory_files;

/// The longest that a client waits for a packet before it turns.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(1);

/// How the files begin in which clients write down how long they stood still; the node's name follows.
pub(crate) const STANDSTILL: &str = "standstill-";

/// Looks at the clock once a turn.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Standstill {
    /// When the next turn has to come.
    due: Option<Instant>,
    /// By how much a turn was late at most.
    longest: Duration,
}

impl Standstill {
    /// A turn begins. What it is late by, its owner did not run.
    pub(super) fn turn(&mut self, now: Instant) {
        if let Some(due) = self.due.replace(now) {
            self.longest = self.longest.max(now.saturating_duration_since(due));
        }
    }

    /// The next turn may come at `until`, when there is nothing to do before.
    pub(super) fn rest(&mut self, now: Instant, until: Instant) {
        self.due = Some(now + until.saturating_duration_since(now).min(MAX_WAIT));
    }

    /// The turn that began had to wait for the forwarder until `now`.
    pub(super) fn held_up(&mut self, now: Instant) {
        self.due = Some(now);
    }

    /// Writes down what was found.
    pub(super) fn write(&self, folder: &Path, node: &str) -> io::Result<()> {
        let longest_s = format!("{:.6}", self.longest.as_secs_f64());
        let text = csv::to_string([["longest_s"], [&longest_s]]);
        memory_files::write(&folder.join(format!("{STANDSTILL}{node}.csv")), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_announced_is_no_standstill_and_what_was_not_is() {
        let begin = Instant::now();
        let at = |ms| begin + Duration::from_millis(ms);
        let mut standstill = Standstill::default();
        standstill.turn(at(5000));
        standstill.rest(at(5001), at(5500));
        standstill.turn(at(5501));
        assert_eq!(standstill.longest.as_millis(), 1);
        // Frozen for two seconds while it waited for a packet, and then in the midst of a turn.
        standstill.rest(at(5501), at(9000));
        standstill.turn(at(8501));
        assert_eq!(standstill.longest.as_millis(), 2000, "a wait ends after a second");
        standstill.turn(at(11_001));
        assert_eq!(standstill.longest.as_millis(), 2500);
    }
}
