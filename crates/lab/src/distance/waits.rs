//! How long packets wait where no processor of the node works for them: what round trips take on real
//! forwarders beyond delays, rates and the costs of packets, which virtual time knows already.

use super::DistanceError;
use super::calibrate::{self, LARGE, Part};
use super::validate::{run_on, same_plan};
use crate::experiment::Experiment;
use crate::experiment::profile::{Latency, Profile};
use crate::report::RunData;
use crate::run::Options;
use crate::run::progress::Progress;

/// The experiment: pings to a neighbour and to the node behind it, which need one link more each way.
pub(super) fn text(kind: &str) -> String {
    format!(
        r#"title = "How long packets wait over {kind}"
duration = "5 s"
gates = {{ waited = "100 %", invalid_samples = "20 %", steal = "30 %", unfinished = "100 %", retries = 1 }}

[defaults]
link = {{ kind = "{kind}", rate = "100 Mbit/s", delay = "1 ms" }}
node = {{ forwarder = {{ content_store = 0 }} }}

[node]
consumer = {{}}
router = {{}}
producer = {{}}

[link]
consumer-router = {{}}
router-producer = {{}}

[[route]]
prefix = "/wait"
path = ["consumer", "router", "producer"]

[ping.near]
at = "consumer"
to = "router"
prefix = "/wait/near"
every = "50 ms"
count = 80

[ping.far]
at = "consumer"
to = "producer"
prefix = "/wait/far"
start = "25 ms"
every = "50 ms"
count = 80
"#
    )
}

pub(super) fn name(kind: &str) -> String {
    format!("calibrate-{kind}-waits")
}

/// Both backends on one text, virtual time with the costs that are known so far.
struct Both<'a> {
    options: &'a Options,
    kind: &'a str,
    observe: &'a mut (dyn FnMut(&Progress) + Send),
}

impl Both<'_> {
    fn real(&mut self, name: &str, text: &str) -> Result<RunData, DistanceError> {
        let experiment = Experiment::parse(name, name, text)?;
        run_on(&experiment, self.options, "netns", &mut *self.observe)
    }

    fn simulated(&mut self, name: &str, text: &str, known: &Profile) -> Result<RunData, DistanceError> {
        let draft = format!("{name}.profile.toml");
        let nothing = |why: &dyn std::fmt::Display| DistanceError::Nothing(format!("{draft}: {why}"));
        let text = same_plan(text, Some(&draft)).map_err(|error| nothing(&error))?;
        let known = known.to_text().map_err(|error| nothing(&error))?;
        std::fs::write(self.options.runs.join(&draft), known).map_err(|error| nothing(&error))?;
        let experiment = Experiment::parse_in(Some(&self.options.runs), name, name, &text)?;
        run_on(&experiment, self.options, "sim", &mut *self.observe)
    }

    /// By how many microseconds real round trips are longer than those of virtual time: by workload, of the
    /// first case.
    fn longer(
        &mut self,
        (name, text): (&str, &str),
        workloads: &[&str],
        known: &Profile,
    ) -> Result<Vec<f64>, DistanceError> {
        let (real, simulated) = (self.real(name, text)?, self.simulated(name, text, known)?);
        let median = |run: &RunData, workload: &str| {
            let first = run.cases.first()?;
            Some(first.estimate(&format!("{workload}.rtt"), "median")?.mean)
        };
        let of = |workload: &&str| {
            let longer_ms = median(&real, workload)? - median(&simulated, workload)?;
            Some(longer_ms * 1e3)
        };
        let nothing = || DistanceError::Nothing(format!("{name}: no valid run over {}", self.kind));
        workloads.iter().map(|workload| of(workload).ok_or_else(nothing)).collect()
    }
}

/// Measures how long packets wait over each kind of link of a profile, and notes it there.
///
/// # Errors
///
/// When an experiment cannot be run, or says nothing.
pub(super) fn measure(
    profile: &mut Profile,
    options: &Options,
    observe: &mut (dyn FnMut(&Progress) + Send),
) -> Result<(), DistanceError> {
    let kinds: Vec<String> = profile.link.keys().cloned().collect();
    for kind in kinds {
        let mut both = Both { options, kind: &kind, observe: &mut *observe };
        let pings = both.longer((&name(&kind), &text(&kind)), &["near", "far"], profile)?;
        let [near, far] = pings.as_slice() else { continue };
        note(profile, &kind, latency([*near, *far]));
        let exchange = Part::Exchange { content_bytes: LARGE };
        let (title, text) = (calibrate::name(&kind, exchange), calibrate::text(&kind, exchange));
        let longer = both.longer((&title, &text), &["load"], profile)?;
        let longer = longer.first().copied().unwrap_or(0.0).max(0.0);
        let application_us_per_kilobyte = calibrate::rounded(longer / f64::from(LARGE) * 1e3);
        note(profile, &kind, Latency { application_us_per_kilobyte, ..latency([*near, *far]) });
    }
    Ok(())
}

fn note(profile: &mut Profile, kind: &str, latency: Latency) {
    if let Some(link) = profile.link.get_mut(kind) {
        link.latency = Some(latency);
    }
}

/// From the microseconds that pings to a neighbour take longer, and those to the node behind it. What is
/// farther crosses one link more, there and back; every ping goes from an application to its forwarder, from
/// the last one to an application, and the same way back.
fn latency([near_us, far_us]: [f64; 2]) -> Latency {
    let link_us = ((far_us - near_us) / 2.0).max(0.0);
    let application_us = ((near_us - 2.0 * link_us) / 4.0).max(0.0);
    Latency {
        link_us: calibrate::rounded(link_us),
        application_us: calibrate::rounded(application_us),
        application_us_per_kilobyte: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_farther_ping_takes_longer_is_of_its_link_and_the_rest_of_applications() {
        // Two links of 150 us each way, and four ways between forwarder and application of 40 us.
        let latency = latency([2.0 * 150.0 + 4.0 * 40.0, 4.0 * 150.0 + 4.0 * 40.0]);
        assert_eq!((latency.link_us, latency.application_us), (150.0, 40.0));
    }

    #[test]
    fn what_is_no_longer_than_in_virtual_time_waits_for_nothing() {
        assert_eq!(latency([5.0, -5.0]).link_us, 0.0);
        assert_eq!(latency([-5.0, -5.0]).application_us, 0.0);
    }
}
