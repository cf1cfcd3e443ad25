//! What packets cost a forwarder here: small experiments, in which they come alone and together.

use std::collections::BTreeMap;

use packet::median;

use super::arithmetic::{NodeLoad, link_cost};
use super::loads::{self, KINDS, NODES, Pace, Part, case_name, paces, parts};
use super::validate::run_on;
use super::{ValidationError, in_process, latency};
use crate::experiment::Experiment;
use crate::experiment::profile::Profile;
use crate::report::CaseData;
use crate::run::progress::Progress;
use crate::run::{Machine, Options, Program};
use crate::stats::mean;

/// The experiments that a calibration consists of, by name: nothing but these is used to calibrate.
#[must_use]
pub fn calibrations() -> Vec<(String, String)> {
    let of_kind = |kind| parts(kind).into_iter().map(move |part| (kind, part));
    let text = |(kind, part)| (loads::name(kind, part), loads::text(kind, part));
    KINDS.into_iter().flat_map(of_kind).map(text).collect()
}

/// What was seen of each node at each pace of each part of a kind of link.
type LoadsOfKind = BTreeMap<(&'static str, Part, Pace), NodeLoad>;

/// Measures what packets and signatures cost on this machine. `options` say where runs go and what is
/// measured with; runs are in namespaces, and those that are there and complete are not run again.
///
/// # Errors
///
/// When an experiment cannot be run, or says nothing.
pub fn calibrate(
    options: &Options,
    mut observe: impl FnMut(&Progress) + Send,
) -> Result<Profile, ValidationError> {
    let machine = Machine::here();
    let mut profile = Profile {
        machine: format!("{} × {}, {}", machine.processors, machine.processor, machine.kernel),
        program: Program::of(options.build.clone(), &options.programs.cairn).unwrap_or_default().words(),
        ..Profile::default()
    };
    let mut kinds = Vec::new();
    for kind in KINDS {
        let (mut seen, mut round_trips) = (LoadsOfKind::new(), None);
        for part in parts(kind) {
            let name = loads::name(kind, part);
            let experiment = Experiment::parse(&name, &name, &loads::text(kind, part))?;
            let run = run_on(&experiment, options, "netns", &mut observe)?;
            see(&name, part, &run.cases, &mut seen)?;
            if part == latency::PART {
                round_trips = latency::round_trips(&run.cases);
            }
        }
        let nothing = || ValidationError::Nothing(format!("calibrate-{kind}: no round trip was seen"));
        kinds.push((kind, seen, round_trips.ok_or_else(nothing)?));
    }
    let idle =
        kinds.iter().flat_map(|(_, seen, _)| seen.iter().filter(|((_, _, pace), _)| *pace == Pace::Idle));
    let idle: Vec<f64> = idle.map(|(_, seen)| seen.cpu_percent).collect();
    let idle_percent = mean(&idle).max(0.0);
    for (kind, seen, _) in &kinds {
        let cost = link_cost(idle_percent, |node, part, pace| seen.get(&(node, part, pace)).copied());
        let nothing = || ValidationError::Nothing(format!("calibrate-{kind}: not every load was seen"));
        profile.link.insert((*kind).to_owned(), cost.ok_or_else(nothing)?);
    }
    profile.idle_percent = in_process::rounded(idle_percent);
    profile.timer_us = in_process::timer_us();
    for (kind, _, round_trips) in kinds {
        let latency_us = latency::latency_us(kind, &round_trips, &profile, options)?;
        if let Some(link) = profile.link.get_mut(kind) {
            link.latency_us = Some(latency_us);
        }
    }
    profile.signature = in_process::signatures();
    profile.dialect = in_process::dialects();
    profile.disk = in_process::disk(&options.runs);
    Ok(profile)
}

/// Notes what the nodes took in each case of a part.
fn see(name: &str, part: Part, cases: &[CaseData], seen: &mut LoadsOfKind) -> Result<(), ValidationError> {
    for pace in paces(part) {
        let case = case_name(pace);
        let nothing = || ValidationError::Nothing(format!("{name}, {case}: no valid run"));
        let found = cases.iter().find(|found| found.plan.case == case).ok_or_else(nothing)?;
        for node in NODES {
            // Behind the content store nothing arrives.
            if part == Part::Hit && node != "router" {
                continue;
            }
            let packets = if part == Part::Hit { "noted" } else { "propagated" };
            let [mut cpu, mut packets] =
                ["cpu", packets].map(|what| found.values(&format!("{node}.{what}"), "mean"));
            if cpu.is_empty() || cpu.len() != packets.len() {
                return Err(nothing());
            }
            // Repeats differ by tens of per cent, and some by more: where the kernel lets programs run.
            let one = NodeLoad { cpu_percent: median(&mut cpu), packets: median(&mut packets) };
            seen.insert((node, part, pace), one);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;
    use crate::driver::Programs;
    use crate::experiment::profile::{LinkCost, PacketCost, on_curve};

    /// Costs that no two roles share.
    const KNOWN: &str = "machine = 'm'\nprogram = 'p'\nidle_percent = 0.3\ntimer_us = 40.0\n\
        [link.udp]\ninterest_us = 4.0\n\
        data_us = 10.0\ndata_us_per_kilobyte = 6.0\nstore_us_per_kilobyte = 1.5\nlatency_us = 150.0\n\
        waking = [[0.0, 0.0], [0.4, 50.0], [1.25, 75.0], [2.5, 90.0], [10.0, 150.0], [40.0, 160.0]]\n\
        data_waking = [[0.0, 0.0], [1.2, 50.0], [2.4, 65.0], [9.9, 110.0]]\n\
        cache_hit_us = 30.0\ncache_hit_waking = [[0.0, 0.0], [2.4, 110.0], [9.9, 180.0]]\n\
        [link.udp.consumer]\ninterest_us = 3.0\ndata_us = 8.0\ndata_us_per_kilobyte = 3.0\n\
        waking = [[0.0, 0.0], [0.4, 45.0], [1.25, 65.0], [2.5, 80.0], [10.0, 140.0], [40.0, 155.0]]\n\
        data_waking = [[0.0, 0.0], [1.2, 30.0], [2.4, 40.0], [9.9, 70.0]]\n\
        [link.udp.producer]\ninterest_us = 2.0\ndata_us = 14.0\ndata_us_per_kilobyte = 5.0\n\
        waking = [[0.0, 0.0], [0.4, 30.0], [1.25, 45.0], [2.5, 60.0], [10.0, 80.0], [40.0, 85.0]]\n\
        data_waking = [[0.0, 0.0], [1.2, 65.0], [2.4, 90.0], [9.9, 120.0]]\n";

    /// Are all numbers of a role what they are known to be, but for what the moments of sampling change?
    fn is_found(found: &PacketCost, known: &PacketCost) -> bool {
        let singles = |cost: &PacketCost| [cost.interest_us, cost.data_us, cost.data_us_per_kilobyte];
        let points = found.waking.iter().map(|[slept, cost]| (*cost, known.waking_us(*slept, 0)[0]));
        let mut all = singles(found).into_iter().zip(singles(known)).chain(points);
        let of_data = |[slept, cost]: &[f64; 2]| (*cost, known.waking_us(*slept, loads::LARGE)[1]);
        let mut all_of_data = found.data_waking.iter().map(of_data);
        let is_near = |(found, known): (f64, f64), us: f64| (found - known).abs() < us + 0.03 * known;
        // Data that meets an Interest waits for it, and has slept for so much less.
        (found.waking.len(), found.data_waking.len()) == (7, 5)
            && all.all(|pair| is_near(pair, 0.5))
            && all_of_data.all(|pair| is_near(pair, 3.0))
    }

    #[test]
    fn a_calibration_of_virtual_time_finds_the_profile_that_it_has() {
        let folder = TestFolder::new("calibrate");
        std::fs::write(folder.join("m.toml"), KNOWN).unwrap();
        let programs = Programs { cairn: "cairn".into(), ndnd: None, nfd: None };
        // How long bursts are is drawn: one repeat has too few of them.
        let options = Options { repeats: Some(8), ..Options::new("sim", &folder, programs) };
        let (mut seen, mut round_trips) = (LoadsOfKind::new(), None);
        for part in parts("udp") {
            let text = loads::text_of_virtual_time("udp", part, "m.toml");
            let name = loads::name("udp", part);
            let experiment = Experiment::parse_in(Some(&folder), &name, "m", &text);
            let experiment = experiment.unwrap_or_else(|wrong| panic!("{wrong}"));
            let run = run_on(&experiment, &options, "sim", |_| {}).unwrap_or_else(|wrong| panic!("{wrong}"));
            see(&name, part, &run.cases, &mut seen).unwrap_or_else(|wrong| panic!("{wrong}"));
            if part == latency::PART {
                round_trips = latency::round_trips(&run.cases);
            }
        }
        let found = link_cost(0.3, |node, part, pace| seen.get(&(node, part, pace)).copied()).unwrap();
        let known = Profile::parse(KNOWN).unwrap().link.remove("udp").unwrap();
        let roles = |cost: &LinkCost| [cost.consumer(), cost.forwarder(), cost.producer()];
        for (found, known) in roles(&found).iter().zip(&roles(&known)) {
            assert!(is_found(found, known), "{found:?}\n{known:?}");
        }
        let rest = |cost: &LinkCost| {
            let hit_waking = on_curve(&cost.cache_hit_waking, 9.8);
            [cost.cache_hit_us, Some(hit_waking), cost.store_us_per_kilobyte].map(Option::unwrap_or_default)
        };
        for (found, known) in rest(&found).into_iter().zip(rest(&known)) {
            assert!((found - known).abs() < 0.1 + 0.03 * known, "{found} {known}");
        }
        let known = Profile::parse(&KNOWN.replace("latency_us = 150.0\n", "")).unwrap();
        let mut with_found = known.clone();
        with_found.link.insert("udp".to_owned(), found);
        let round_trips = round_trips.unwrap();
        let latency_us = |costs: &Profile| latency::latency_us("udp", &round_trips, costs, &options).unwrap();
        let (with_known, with_found) = (latency_us(&known), latency_us(&with_found));
        assert!((with_known - 150.0).abs() < 1.0, "{with_known}");
        assert!((with_found - 150.0).abs() < 5.0, "{with_found}");
    }

    #[test]
    fn every_calibration_has_a_name_of_its_own() {
        let list = calibrations();
        let names: std::collections::BTreeSet<_> = list.iter().map(|(name, _)| name).collect();
        assert_eq!((list.len(), names.len()), (18, 18));
    }
}
