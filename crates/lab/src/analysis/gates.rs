//! Is a run valid? Each gate has a value, a threshold, and a sentence.

use serde::{Deserialize, Serialize};

use crate::experiment::plan::GatePlan;
use crate::figure::number::with_unit;
use crate::order::Outcome;
use crate::stats::Counted;

/// The gates that somebody who stood still has not passed: a forwarder, or a client.
pub const STANDSTILLS: [&str; 2] =
    ["longest time without an answer of a forwarder", "longest time that a client stood still"];

/// One condition of validity.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// What is looked at.
    pub name: String,
    /// What was found.
    pub value: f64,
    /// What is allowed.
    pub threshold: f64,
    /// The unit of both: `%` of a part from 0 to 1, or `ms`.
    pub unit: String,
    /// Is the run valid in this respect?
    pub passed: bool,
}

impl Gate {
    /// Can only a machine fail it? In virtual time nothing stands still and no frame is missed.
    #[must_use]
    pub fn is_of_machine(&self) -> bool {
        self.name != UNFINISHED
    }

    fn part(name: &str, value: f64, threshold: f64) -> Self {
        Gate { name: name.to_owned(), value, threshold, unit: "%".to_owned(), passed: value <= threshold }
    }

    fn millis(name: &str, value: f64, threshold: f64) -> Self {
        Gate { name: name.to_owned(), value, threshold, unit: "ms".to_owned(), passed: value <= threshold }
    }

    /// Value and threshold, each with its unit.
    #[must_use]
    pub fn found_and_allowed(&self) -> (String, String) {
        let factor = if self.unit == "%" { 100.0 } else { 1.0 };
        let number = |value: f64| with_unit(value * factor, &self.unit);
        (number(self.value), number(self.threshold))
    }

    /// Value and threshold in words.
    #[must_use]
    pub fn words(&self) -> String {
        let (found, allowed) = self.found_and_allowed();
        format!("{found} (at most {allowed})")
    }
}

/// What was counted in a repeat, for its gates.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    /// Transfers.
    pub transfers: usize,
    /// Those of them that were not finished.
    pub unfinished: usize,
    /// Pings that were ordered by number, and those of them that never left.
    pub pings: Counted,
    /// Samples that each forwarder should have.
    pub samples: u64,
    /// The part of the time in which the forwarder that had to wait most could have run and had no
    /// processor.
    pub waited: f64,
    /// The longest time in which any forwarder gave no answer, in seconds.
    pub silence_s: f64,
    /// The longest time in which any client stood still, in seconds.
    pub client_still_s: f64,
}

/// The gate for work that was left.
pub(super) const UNFINISHED: &str = "transfers that were not finished";

/// The gates of a repeat.
#[must_use]
pub fn gates(plan: &GatePlan, outcome: &Outcome, counts: &Counts) -> Vec<Gate> {
    let ratio = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let dropped: u64 = outcome.taps.values().map(|counts| counts.dropped).sum();
    let frames: u64 = outcome.taps.values().map(|counts| counts.frames).sum();
    // A sample that was never taken, because the machine stood still, is missing like one without an answer.
    let missing = |taken: u64| counts.samples.saturating_sub(taken);
    let invalid: u64 = outcome.samples.values().map(|(taken, invalid)| invalid + missing(*taken)).sum();
    let samples: u64 = outcome.samples.values().map(|(taken, _)| taken + missing(*taken)).sum();
    let clock_ms = outcome.clock_shift_ns as f64 / 1e6;
    let clock_limit = plan.clock_error_ns as f64 / 1e6;
    let clocks = outcome.clocks.values().map(|clock| clock.error_ns).max();
    let between = clocks.map(|error_ns| {
        Gate::millis("clocks of the hosts after correction", error_ns as f64 / 1e6, clock_limit)
    });
    let still = |name, seconds: f64, limit_ns: u64| Gate::millis(name, seconds * 1e3, limit_ns as f64 / 1e6);
    // Pings are many and downloads few: each is held to the gate on its own.
    let left = ratio(counts.unfinished as u64, counts.transfers as u64)
        .max(ratio(counts.pings.part, counts.pings.whole));
    let mut gates = vec![
        Gate::part("frames the captures missed", ratio(dropped, frames + dropped), plan.capture_drops),
        Gate::part("samples that are missing", ratio(invalid, samples), plan.invalid_samples),
        Gate::part(UNFINISHED, left, plan.unfinished),
        Gate::part("time a forwarder waited for a processor", counts.waited, plan.waited),
        Gate::part("processor time taken by the machine below", outcome.steal, plan.steal),
        still(STANDSTILLS[0], counts.silence_s, plan.forwarder_standstill_ns),
        still(STANDSTILLS[1], counts.client_still_s, plan.client_standstill_ns),
        Gate {
            name: "forwarders and clients that ended early".to_owned(),
            value: f64::from(u8::from(outcome.lost.is_some())),
            threshold: 0.0,
            unit: String::new(),
            passed: outcome.lost.is_none(),
        },
        Gate::millis("clock set during the run", clock_ms, clock_limit),
    ];
    gates.extend(between);
    gates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::hosts::ClockOffset;
    use crate::capture::tap::TapCounts;

    #[test]
    fn what_was_found_has_digits_that_count_and_a_unit() {
        let (found, allowed) = Gate::millis("silence", 847.524, 1500.0).found_and_allowed();
        assert_eq!((found.as_str(), allowed.as_str()), ("848\u{a0}ms", "1500\u{a0}ms"));
        let (found, allowed) = Gate::part("waited", 0.0, 0.0005).found_and_allowed();
        assert_eq!((found.as_str(), allowed.as_str()), ("0\u{a0}%", "0.05\u{a0}%"));
    }

    fn allowing(unfinished: f64) -> GatePlan {
        GatePlan {
            capture_drops: 0.001,
            invalid_samples: 0.05,
            unfinished,
            steal: 0.05,
            waited: 0.25,
            forwarder_standstill_ns: 1_500_000_000,
            client_standstill_ns: 500_000_000,
            clock_error_ns: 1_000_000,
            retries: 0,
        }
    }

    #[test]
    fn a_run_that_missed_too_many_frames_is_invalid() {
        let plan = allowing(1.0);
        let mut outcome = Outcome::default();
        assert!(
            gates(&plan, &outcome, &Counts::default()).iter().all(|gate| gate.passed),
            "nothing measured is nothing missed"
        );
        outcome.taps.insert("n1".to_owned(), TapCounts { frames: 900, dropped: 100 });
        outcome.samples.insert("n1".to_owned(), (100, 6));
        outcome.clock_shift_ns = 2_000_000;
        let counts = Counts {
            transfers: 10,
            unfinished: 10,
            pings: Counted::default(),
            samples: 90,
            waited: 0.26,
            silence_s: 2.0,
            client_still_s: 0.6,
        };
        outcome.lost = Some("the forwarder of `n1` ended during the run".to_owned());
        let failed: Vec<String> = gates(&plan, &outcome, &counts)
            .into_iter()
            .filter(|gate| !gate.passed)
            .map(|gate| gate.name)
            .collect();
        assert_eq!(failed.len(), 7, "{failed:?}");
        outcome.samples.insert("n1".to_owned(), (90, 0));
        let is_whole = |samples| {
            let counts = Counts { samples, ..counts };
            gates(&plan, &outcome, &counts).iter().any(|gate| gate.name.starts_with("samples") && gate.passed)
        };
        assert!(is_whole(92) && !is_whole(200), "a machine that stood still took no samples");
        let clock = |error_ns| ClockOffset { offset_ns: 5_000_000_000, error_ns };
        outcome.clocks.insert("n1".to_owned(), clock(999_999));
        let passed = |outcome: &Outcome| gates(&plan, outcome, &counts).last().map(|gate| gate.passed);
        assert_eq!(passed(&outcome), Some(true), "an offset is corrected");
        outcome.clocks.insert("n2".to_owned(), clock(1_000_001));
        assert_eq!(passed(&outcome), Some(false), "what is not known is not");
    }

    #[test]
    fn a_run_in_which_pings_never_left_that_were_ordered_is_invalid_however_many_downloads_are_done() {
        let is_valid = |part, whole| {
            let plan = allowing(0.5);
            let pings = Counted { part, whole };
            let counts = Counts { transfers: 1000, pings, ..Counts::default() };
            let gates = gates(&plan, &Outcome::default(), &counts);
            gates.iter().any(|gate| gate.name == UNFINISHED && gate.passed)
        };
        assert!(is_valid(0, 0) && is_valid(10, 20) && !is_valid(16, 20));
    }
}
