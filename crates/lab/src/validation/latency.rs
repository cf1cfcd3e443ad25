//! How long packets wait that find a forwarder asleep: what round trips of lone exchanges take longer than in
//! virtual time, where packets cost the same and nobody waits.

use packet::median;

use super::loads::{self, LARGE, Pace, Part, SHORT_US, case_name, paces};
use super::validate::run_on;
use super::{ValidationError, in_process};
use crate::experiment::Experiment;
use crate::experiment::profile::Profile;
use crate::report::CaseData;
use crate::run::Options;
use crate::stats::mean;

/// The exchanges that are compared.
pub(super) const PART: Part = Part::Exchange { content_bytes: LARGE };

/// An Interest and its Data find each of three forwarders asleep.
const WAITS: f64 = 6.0;
/// How often a guess is put right.
const CORRECTIONS: usize = 4;

/// The round trip in milliseconds at each pace at which exchanges come alone: the median of the means of
/// repeats.
pub(super) fn round_trips(cases: &[CaseData]) -> Option<Vec<f64>> {
    let is_lone = |pace: &Pace| matches!(pace, Pace::Alone { every_us } if *every_us > SHORT_US);
    let alone = paces(PART).into_iter().filter(is_lone);
    let trip = |pace| {
        let case = cases.iter().find(|found| found.plan.case == case_name(pace))?;
        let mut trips = case.values("load.rtt", "mean");
        (!trips.is_empty()).then(|| median(&mut trips))
    };
    alone.map(trip).collect()
}

/// How long a packet waits in microseconds, over links of a kind with these round trips. `profile` says what
/// packets cost, and that none waits.
///
/// A sixth of what round trips take longer is a guess: some packets come while a forwarder is at work. What
/// round trips take in virtual time with the guess puts it right, some times.
pub(super) fn latency_us(
    kind: &str,
    round_trips_ms: &[f64],
    profile: &Profile,
    options: &Options,
) -> Result<f64, ValidationError> {
    let mut profile = profile.clone();
    let without = simulated(kind, &profile, options)?;
    let longer_ms = |trips: &[f64]| {
        let differences: Vec<f64> =
            trips.iter().zip(&without).map(|(trip, without)| trip - without).collect();
        mean(&differences)
    };
    let real_ms = longer_ms(round_trips_ms);
    let mut latency_us = real_ms * 1e3 / WAITS;
    if latency_us <= 0.0 {
        return Ok(0.0);
    }
    for _ in 0..CORRECTIONS {
        if let Some(link) = profile.link.get_mut(kind) {
            link.latency_us = Some(latency_us);
        }
        let longer_ms = longer_ms(&simulated(kind, &profile, options)?);
        if longer_ms > 0.0 {
            latency_us *= real_ms / longer_ms;
        }
    }
    Ok(in_process::rounded(latency_us))
}

/// The same round trips in virtual time.
fn simulated(kind: &str, profile: &Profile, options: &Options) -> Result<Vec<f64>, ValidationError> {
    let nothing = |why: String| ValidationError::Nothing(format!("calibrate-{kind} in virtual time: {why}"));
    let folder = options.runs.join("calibrate-in-virtual-time");
    // What was left there has other costs.
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|error| nothing(error.to_string()))?;
    }
    std::fs::create_dir_all(&folder).map_err(|error| nothing(error.to_string()))?;
    let text = profile.to_text().map_err(|error| nothing(error.to_string()))?;
    std::fs::write(folder.join("profile.toml"), text).map_err(|error| nothing(error.to_string()))?;
    let name = loads::name(kind, PART);
    let text = loads::text_of_virtual_time(kind, PART, "profile.toml");
    let experiment = Experiment::parse_in(Some(&folder), &name, &name, &text)?;
    let options = Options { runs: folder, repeats: None, ..options.clone() };
    let run = run_on(&experiment, &options, "sim", |_| {})?;
    // Left behind it takes room, and does no other harm.
    let _ = std::fs::remove_dir_all(&options.runs);
    round_trips(&run.cases).ok_or_else(|| nothing("no round trip".to_owned()))
}
