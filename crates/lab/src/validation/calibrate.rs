//! What packets cost a forwarder here: small experiments at two rates each. What the processor takes more at
//! the higher rate is what the additional packets cost; what it takes anyway falls out.

use std::collections::BTreeMap;

use super::in_process::rounded;
use super::validate::run_on;
use super::{ValidationError, in_process};
use crate::experiment::Experiment;
use crate::experiment::profile::{LinkCost, PacketCost, Profile};
use crate::report::CaseData;
use crate::run::progress::Progress;
use crate::run::{Machine, Options, Program};
use crate::stats::mean;

/// What is measured of a kind of link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Interests, each answered by Data with so much content.
    Exchange { content_bytes: u32 },
    /// The same with [`LARGE`] content and content stores, which take all of it in.
    Stored,
    /// Interests that nobody answers.
    Unanswered,
    /// Interests that the router's content store answers.
    Hit,
}

/// The content of a segment as the lab has it, and next to none.
const LARGE: u32 = 4096;
const SMALL: u32 = 100;
/// Packets a second, one by one and not in bursts: a packet that comes alone wakes the forwarder up, which is
/// most of its cost, and so it is in the experiments that virtual time predicts.
const RATES: [u32; 2] = [100, 800];
/// The nodes, each in a role of its own.
const NODES: [&str; 3] = ["consumer", "router", "producer"];
const KINDS: [&str; 3] = ["udp", "tcp", "ether"];

/// The experiments that a calibration consists of, by name: nothing but these is used to calibrate.
#[must_use]
pub fn calibrations() -> Vec<(String, String)> {
    let mut list = Vec::new();
    for kind in KINDS {
        for part in parts(kind) {
            list.push((name(kind, part), text(kind, part)));
        }
    }
    list
}

fn parts(kind: &str) -> Vec<Part> {
    let mut parts = vec![
        Part::Exchange { content_bytes: LARGE },
        Part::Exchange { content_bytes: SMALL },
        Part::Stored,
        Part::Unanswered,
    ];
    if kind == "udp" {
        parts.push(Part::Hit);
    }
    parts
}

fn name(kind: &str, part: Part) -> String {
    match part {
        Part::Exchange { content_bytes } => format!("calibrate-{kind}-{content_bytes}"),
        Part::Stored => format!("calibrate-{kind}-stored"),
        Part::Unanswered => format!("calibrate-{kind}-interests"),
        Part::Hit => format!("calibrate-{kind}-hits"),
    }
}

/// An experiment of three nodes.
fn text(kind: &str, part: Part) -> String {
    let (segment, size) = match part {
        Part::Exchange { content_bytes } => (content_bytes, u64::from(content_bytes) * 20_000),
        Part::Stored => (LARGE, u64::from(LARGE) * 20_000),
        Part::Unanswered => (LARGE, u64::from(LARGE)),
        Part::Hit => (LARGE, u64::from(LARGE) * 10),
    };
    let router = if part == Part::Hit { "{ forwarder = { content_store = 1000 } }" } else { "{}" };
    let stores = if part == Part::Stored { "{}" } else { "{ forwarder = { content_store = 0 } }" };
    let list = |values: [String; 2]| format!("[{}]", values.join(", "));
    let (load, key, values) = match part {
        Part::Unanswered => (
            "[flood.load]\nat = \"consumer\"\nprefix = \"/cost/none\"\nburst = 1\nuntil = 1000000\n",
            "flood.load.every",
            list(RATES.map(|rate| format!("\"{} us\"", 1_000_000 / rate))),
        ),
        _ => (
            "[traffic.load]\nat = \"consumer\"\ncontent = \"files\"\nrate = \"1/s\"\npattern = \"sequential\"\n",
            "traffic.load.rate",
            list(RATES.map(|rate| format!("\"{rate}/s\""))),
        ),
    };
    format!(
        r#"title = "What packets cost over {kind}: {part:?}"
duration = "5 s"
gates = {{ waited = "100 %", invalid_samples = "20 %", steal = "30 %", unfinished = "100 %", retries = 1 }}
measure = {{ from = "1 s", until = "5 s" }}

[defaults]
link = {{ kind = "{kind}", rate = "100 Mbit/s", delay = "1 ms" }}
node = {stores}

[node]
consumer = {{}}
router = {router}
producer = {{}}

[link]
consumer-router = {{}}
router-producer = {{}}

[[route]]
prefix = "/cost"
path = ["consumer", "router", "producer"]

[content.files]
prefix = "/cost"
at = "producer"
size = "{size} B"
segment = "{segment} B"

{load}start = "500 ms"

[[sweep]]
key = "{key}"
values = {values}
"#
    )
}

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
    let mut idle = Vec::new();
    for kind in KINDS {
        let mut lines = BTreeMap::new();
        for part in parts(kind) {
            let title = name(kind, part);
            let experiment = Experiment::parse(&title, &title, &text(kind, part))?;
            let run = run_on(&experiment, options, "netns", &mut observe)?;
            for node in NODES {
                let nothing = || ValidationError::Nothing(format!("{title}: no valid run at two rates"));
                // Behind the content store nothing arrives, and no line can be drawn.
                if part == Part::Hit && node == "producer" {
                    continue;
                }
                let line = line_of(&run.cases, node, part).ok_or_else(nothing)?;
                idle.push(line.1);
                lines.insert((title.clone(), node), line);
            }
        }
        let of = |node: &'static str, part: Part| {
            let line = lines.get(&(name(kind, part), node))?;
            // A percent of a core is 10,000 us a second.
            Some((line.0 * 1e4).max(0.0))
        };
        profile.link.insert(kind.to_owned(), link_cost(of));
    }
    profile.idle_percent = rounded(mean(&idle).max(0.0));
    profile.signature = in_process::signatures();
    profile.dialect = in_process::dialects();
    profile.disk = in_process::disk(&options.runs);
    Ok(profile)
}

/// The costs of a kind of link from those of its parts at each node. An exchange is an Interest and a Data
/// packet.
fn link_cost(of: impl Fn(&'static str, Part) -> Option<f64>) -> LinkCost {
    let role = |node: &'static str| {
        let exchange = |content_bytes| of(node, Part::Exchange { content_bytes }).unwrap_or(0.0);
        let interest_us = of(node, Part::Unanswered).unwrap_or(0.0);
        let (large, small) = (exchange(LARGE), exchange(SMALL));
        let data_us_per_kilobyte = ((large - small) / f64::from(LARGE - SMALL) * 1e3).max(0.0);
        let data_us = (large - interest_us - data_us_per_kilobyte * f64::from(LARGE) / 1e3).max(0.0);
        PacketCost {
            interest_us: rounded(interest_us),
            data_us: rounded(data_us),
            data_us_per_kilobyte: rounded(data_us_per_kilobyte),
        }
    };
    let [consumer, router, producer] = NODES.map(role);
    // Memory is the same at every node: the mean of them is surer than each.
    let stored =
        NODES.map(|node| Some(of(node, Part::Stored)? - of(node, Part::Exchange { content_bytes: LARGE })?));
    let stored: Option<Vec<f64>> = stored.into_iter().collect();
    let per_kilobyte =
        |more: Vec<f64>| more.iter().sum::<f64>() / NODES.len() as f64 / f64::from(LARGE) * 1e3;
    LinkCost {
        store_us_per_kilobyte: stored.map(|more| rounded(per_kilobyte(more).max(0.0))),
        cache_hit_us: of("router", Part::Hit).map(rounded),
        consumer: Some(consumer),
        producer: Some(producer),
        ..LinkCost::forwarding(router)
    }
}

/// The line of a node's processor time, in percent, over packets a second: what one more packet takes, and
/// what is taken without any.
fn line_of(cases: &[CaseData], node: &str, part: Part) -> Option<(f64, f64)> {
    let is_answered = part == Part::Hit && node == "router";
    let packets = format!("{node}.{}", if is_answered { "noted" } else { "propagated" });
    let mut points = Vec::new();
    for case in cases {
        let cpu = case.values(&format!("{node}.cpu"), "mean");
        points.extend(case.values(&packets, "mean").into_iter().zip(cpu));
    }
    line(&points)
}

/// The line through points with the least squares: its slope, and where it begins.
fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let spread: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let common: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let slope = common / spread;
    (spread > 0.0).then_some((slope, y - slope * x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_calibration_is_a_sound_experiment_at_two_rates() {
        let list = calibrations();
        assert_eq!(list.len(), 13);
        for (name, text) in list {
            let experiment = Experiment::parse(&name, &name, &text).unwrap_or_else(|wrong| panic!("{wrong}"));
            assert_eq!(experiment.plans("netns").unwrap().len(), 2, "{name}");
        }
    }

    #[test]
    fn what_a_processor_takes_anyway_costs_no_packet() {
        // 3 % of a core for nothing, and 50 us for each packet.
        let points = [(200.0, 4.0), (1200.0, 9.0), (1200.0, 9.0)];
        let (slope, idle) = line(&points).unwrap();
        assert!((slope * 1e4 - 50.0).abs() < 1e-6 && (idle - 3.0).abs() < 1e-9);
        assert_eq!(line(&[(200.0, 4.0), (200.0, 5.0)]), None, "one rate says nothing");
    }

    #[test]
    fn an_exchange_is_an_interest_and_data_which_costs_more_the_longer_it_is() {
        let cost = link_cost(|node, part| {
            let more = if node == "router" { 0.0 } else { 100.0 };
            Some(match part {
                Part::Exchange { content_bytes } => 30.0 + more + f64::from(content_bytes) / 100.0,
                Part::Stored => 50.0 + more + f64::from(LARGE) / 100.0,
                Part::Unanswered => 12.0,
                Part::Hit => 40.0,
            })
        });
        assert_eq!((cost.interest_us, cost.data_us, cost.data_us_per_kilobyte), (12.0, 18.0, 10.0));
        assert!((cost.forwarder().data_with(LARGE) - 58.96).abs() < 1e-9);
        assert!((cost.consumer().data_us - 118.0).abs() < 1e-9 && cost.cache_hit_us == Some(40.0));
        // 20 us more for 4,096 bytes that a content store takes in.
        assert_eq!(cost.store_us_per_kilobyte, Some(4.88));
        assert!((cost.storing().forwarder().data_us_per_kilobyte - 14.88).abs() < 1e-9);
    }
}
