//! What packets cost a forwarder here: small experiments at two rates each. What the processor takes more at
//! the higher rate is what the additional packets cost; what it takes anyway falls out.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use packet::ndn::DataBuilder;
use trust::{KeyKind, PrivateKey, Signer, Verifier};

use super::DistanceError;
use super::validate::run_on;
use crate::experiment::Experiment;
use crate::experiment::profile::{LinkCost, Profile, SignatureCost};
use crate::report::CaseData;
use crate::run::progress::Progress;
use crate::run::{Machine, Options, Program};

/// What is measured of a kind of link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Interests, each answered by Data with so much content.
    Exchange { content_bytes: u32 },
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
const RATES: [u32; 2] = [50, 400];
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
        Part::Unanswered => format!("calibrate-{kind}-interests"),
        Part::Hit => format!("calibrate-{kind}-hits"),
    }
}

/// An experiment of three nodes whose middle is looked at.
fn text(kind: &str, part: Part) -> String {
    let (segment, size) = match part {
        Part::Exchange { content_bytes } => (content_bytes, u64::from(content_bytes) * 20_000),
        Part::Unanswered => (LARGE, u64::from(LARGE)),
        Part::Hit => (LARGE, u64::from(LARGE) * 10),
    };
    let router = if part == Part::Hit { "{ forwarder = { content_store = 1000 } }" } else { "{}" };
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
duration = "3 s"
sample_every = "250 ms"
gates = {{ waited = "100 %", invalid_samples = "20 %", steal = "30 %", unfinished = "100 %", retries = 1 }}
measure = {{ from = "1 s", until = "3 s" }}

[defaults]
link = {{ kind = "{kind}", rate = "100 Mbit/s", delay = "1 ms" }}
node = {{ forwarder = {{ content_store = 0 }} }}

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
) -> Result<Profile, DistanceError> {
    let machine = Machine::here();
    let mut profile = Profile {
        machine: format!("{} × {}, {}", machine.processors, machine.processor, machine.kernel),
        program: Program::of(options.build.clone(), &options.programs.cairn).unwrap_or_default().words(),
        ..Profile::default()
    };
    for kind in KINDS {
        let mut costs = BTreeMap::new();
        for part in parts(kind) {
            let name = name(kind, part);
            let experiment = Experiment::parse(&name, &name, &text(kind, part))?;
            let run = run_on(&experiment, options, "netns", &mut observe)?;
            let cost = cost_us(&run.cases, part)
                .ok_or_else(|| DistanceError::Nothing(format!("{name}: no valid run at two rates")))?;
            costs.insert(name, cost);
        }
        let of = |part: Part| costs.get(&name(kind, part)).copied();
        profile.link.insert(kind.to_owned(), link_cost(of));
    }
    profile.signature = signatures();
    Ok(profile)
}

/// The costs of a kind of link from those of its parts. An exchange is an Interest and a Data packet.
fn link_cost(of: impl Fn(Part) -> Option<f64>) -> LinkCost {
    let exchange = |content_bytes| of(Part::Exchange { content_bytes }).unwrap_or(0.0);
    let interest_us = of(Part::Unanswered).unwrap_or(0.0);
    let (large, small) = (exchange(LARGE), exchange(SMALL));
    let data_us_per_kilobyte = ((large - small) / f64::from(LARGE - SMALL) * 1e3).max(0.0);
    let data_us = (large - interest_us - data_us_per_kilobyte * f64::from(LARGE) / 1e3).max(0.0);
    let rounded = |cost: f64| (cost * 100.0).round() / 100.0;
    LinkCost {
        interest_us: rounded(interest_us),
        data_us: rounded(data_us),
        data_us_per_kilobyte: rounded(data_us_per_kilobyte),
        cache_hit_us: of(Part::Hit).map(rounded),
    }
}

/// What one more packet costs the router, in microseconds: the slope of processor time over packets a second.
fn cost_us(cases: &[CaseData], part: Part) -> Option<f64> {
    let packets = if part == Part::Hit { "router.noted" } else { "router.propagated" };
    let mut points = Vec::new();
    for case in cases {
        let (packets, cpu) = (case.values(packets, "mean"), case.values("router.cpu", "mean"));
        points.extend(packets.into_iter().zip(cpu));
    }
    // A percent of a core is 10,000 us a second.
    slope(&points).map(|percent| percent * 1e4).filter(|cost| *cost > 0.0)
}

/// The slope of the line through points with the least squares.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let spread: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let common: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    (spread > 0.0).then(|| common / spread)
}

/// What signatures cost, by kind of key; a kind that the cryptographic library refuses is left out.
fn signatures() -> BTreeMap<String, SignatureCost> {
    let kinds = [("ecdsa-p256", KeyKind::EcdsaP256), ("ed25519", KeyKind::Ed25519), ("hmac", KeyKind::Hmac)];
    let keyed = kinds.into_iter().filter_map(|(name, kind)| {
        let key = PrivateKey::generate(kind).ok()?;
        let signer = Signer::new(key.clone(), "/cost/KEY/1".parse().ok()?);
        Some((name, signature(&signer, &Verifier::of_private(&key).ok()?)?))
    });
    let digest = signature(&Signer::digest(), &Verifier::digest()).map(|cost| ("sha256", cost));
    keyed.chain(digest).map(|(name, cost)| (name.to_owned(), cost)).collect()
}

fn signature(signer: &Signer, verifier: &Verifier) -> Option<SignatureCost> {
    let segment = DataBuilder::new("/cost/seg=7".parse().ok()?).content(vec![7; LARGE as usize]);
    let data = signer.sign_data(&segment).ok()?;
    verifier.verify_data(&data).ok()?;
    let rounded = |cost: f64| (cost * 100.0).round() / 100.0;
    Some(SignatureCost {
        sign_us: rounded(time_us(|| drop(black_box(signer.sign_data(black_box(&segment)))))),
        verify_us: rounded(time_us(|| {
            let _ = black_box(verifier.verify_data(black_box(&data)));
        })),
    })
}

/// How long something takes, in microseconds: the least of several means, as everything else on a machine
/// only adds to it.
fn time_us(mut act: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let (begin, mut count) = (Instant::now(), 0.0);
        while begin.elapsed() < Duration::from_millis(20) {
            act();
            count += 1.0;
        }
        least = least.min(begin.elapsed().as_secs_f64() * 1e6 / count);
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_calibration_is_a_sound_experiment_at_two_rates() {
        let list = calibrations();
        assert_eq!(list.len(), 10);
        for (name, text) in list {
            let experiment = Experiment::parse(&name, &name, &text).unwrap_or_else(|wrong| panic!("{wrong}"));
            assert_eq!(experiment.plans("netns").unwrap().len(), 2, "{name}");
        }
    }

    #[test]
    fn what_a_processor_takes_anyway_costs_no_packet() {
        // 3 % of a core for nothing, and 50 us for each packet.
        let points = [(200.0, 4.0), (1200.0, 9.0), (1200.0, 9.0)];
        assert!((slope(&points).unwrap() * 1e4 - 50.0).abs() < 1e-6);
        assert_eq!(slope(&[(200.0, 4.0), (200.0, 5.0)]), None, "one rate says nothing");
    }

    #[test]
    fn an_exchange_is_an_interest_and_data_which_costs_more_the_longer_it_is() {
        let cost = link_cost(|part| {
            Some(match part {
                Part::Exchange { content_bytes } => 30.0 + f64::from(content_bytes) / 100.0,
                Part::Unanswered => 12.0,
                Part::Hit => 40.0,
            })
        });
        assert_eq!((cost.interest_us, cost.data_us, cost.data_us_per_kilobyte), (12.0, 18.0, 10.0));
        assert!((cost.data_with(LARGE) - 58.96).abs() < 1e-9);
    }
}
