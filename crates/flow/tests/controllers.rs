//! What every controller keeps, whatever its idea.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use cairn_flow::{
    ControllerSpec, DataReport, LossEvidence, LossReport, NackReport, SentReport, TransferConfig,
    controller_names,
};
use common::{Bottleneck, Network, fairness};
use packet::NackReason;
use packet::random::Random;
use packet::time::{Duration, Instant};

/// The controller as somebody who knows the network would set it, and the network it was made for.
fn at_home(word: &str) -> (ControllerSpec, Bottleneck) {
    let plain = Bottleneck::plain();
    let (parameters, network) = match word {
        "fixed" => ("/window~80", plain),
        "pcon" => ("", Bottleneck { mark_above: Some(20), ..plain }),
        "stateful-forwarding" | "nack-suppressing" => {
            ("/max~1000/rate~100", Bottleneck { police: Some(50), ..plain })
        }
        "hobhis" | "mircc" => ("/max~1000/rate~50", Bottleneck { report: true, ..plain }),
        _ => ("", plain),
    };
    (format!("{word}{parameters}").parse().unwrap(), network)
}

fn config(controller: &ControllerSpec) -> TransferConfig {
    TransferConfig { controller: controller.clone(), max_attempts: u32::MAX, ..TransferConfig::default() }
}

fn alone(word: &str, change: impl FnOnce(&mut Bottleneck), seconds: u64) -> Network {
    let (spec, mut bottleneck) = at_home(word);
    change(&mut bottleneck);
    let mut network = Network::new(bottleneck, &[(config(&spec), Instant::ZERO)], 7);
    network.run_until(Instant::from_secs(seconds));
    network
}

#[test]
fn every_controller_fills_its_network() {
    for word in controller_names() {
        let network = alone(word, |_| {}, 40);
        let throughput = network.throughput(0, 20, 40);
        assert!((850.0..=1001.0).contains(&throughput), "{word}: {throughput}");
        assert!(network.obeyed, "{word}");
    }
}

#[test]
fn every_controller_comes_back_after_an_outage() {
    for word in controller_names() {
        let outage = Some((Instant::from_secs(15), Instant::from_secs(18)));
        let network = alone(word, |bottleneck| bottleneck.outage = outage, 50);
        let (before, after) = (network.throughput(0, 10, 15), network.throughput(0, 35, 50));
        assert!(network.throughput(0, 16, 18) < 1.0, "{word}");
        assert!(after >= 0.8 * before, "{word}: {before} before and {after} after");
    }
}

#[test]
fn every_controller_gets_through_random_loss() {
    for word in controller_names() {
        let network = alone(word, |bottleneck| bottleneck.loss = 0.01, 40);
        let throughput = network.throughput(0, 10, 40);
        assert!(throughput >= 60.0, "{word}: {throughput}");
        let counters = network.transfers[0].counters();
        // Nothing is asked for without need: a repetition for each loss, and some late or unlucky ones.
        let lost = counters.sent as f64 * 0.01;
        assert!((counters.duplicates as f64) < lost, "{word}: {counters:?}");
    }
}

// Stateful forwarding and its variant do not claim it: a step for each Data makes the rate grow in proportion
// to itself, and what grows and shrinks in proportion never becomes equal.
#[test]
fn those_that_claim_fairness_share_with_one_that_comes_later() {
    for word in ["aimd", "cubic", "bic", "pcon", "raaqm", "bbr", "hobhis", "mircc"] {
        let (spec, bottleneck) = at_home(word);
        let flows = [(config(&spec), Instant::ZERO), (config(&spec), Instant::from_secs(5))];
        let mut network = Network::new(bottleneck, &flows, 11);
        network.run_until(Instant::from_secs(120));
        let shares = [network.throughput(0, 60, 120), network.throughput(1, 60, 120)];
        assert!(fairness(&shares) > 0.85, "{word}: {shares:?}");
        assert!(shares[0] + shares[1] > 700.0, "{word}: {shares:?}");
    }
}

#[test]
fn a_run_repeats_from_its_seed() {
    for word in controller_names() {
        let counters = || *alone(word, |bottleneck| bottleneck.loss = 0.02, 10).transfers[0].counters();
        assert_eq!(counters(), counters(), "{word}");
    }
}

#[test]
fn allowances_stay_within_their_limits_whatever_is_reported() {
    let mut random = Random::from_seed(23);
    for word in controller_names() {
        for round in 0..20 {
            let parameters = if word == "fixed" { "/window~300" } else { "/max~300" };
            let spec: ControllerSpec = format!("{word}{parameters}").parse().unwrap();
            let mut controller = spec.start(round);
            let mut now = Instant::ZERO;
            for number in 0..5_000 {
                now += Duration::from_nanos(random.below(20_000_000));
                let in_flight = random.below(400) as u32;
                match random.below(10) {
                    0..3 => controller.handle_sent(now, &SentReport { number, in_flight }),
                    3..8 => controller.handle_data(now, &any_data(&mut random, number, in_flight)),
                    8 => {
                        let reason = NackReason::Congestion;
                        let number = random.below(number + 1);
                        controller.handle_nack(now, &NackReport { number, reason, in_flight });
                    }
                    _ => {
                        let evidence =
                            if random.chance(0.5) { LossEvidence::Timeout } else { LossEvidence::Overtaken };
                        let number = random.below(number + 1);
                        controller.handle_loss(now, &LossReport { number, evidence, in_flight });
                    }
                }
                let allowance = controller.allowance();
                assert!(allowance.window >= 1.0, "{word}: {allowance:?}");
                assert!(allowance.rate > 0.0, "{word}: {allowance:?}");
                assert!(allowance.window <= 300.0 || allowance.rate <= 300.0, "{word}: {allowance:?}");
            }
        }
    }
}

fn any_data(random: &mut Random, number: u64, in_flight: u32) -> DataReport {
    let round_trip = random.chance(0.9).then(|| Duration::from_nanos(random.below(2_000_000_000)));
    let explicit_rate = random.chance(0.5).then(|| match random.below(5) {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => -1.0,
        _ => random.unit() * 1e6,
    });
    let congestion_marked = random.chance(0.1);
    let (number, route) = (random.below(number + 1), random.below(40));
    DataReport { number, round_trip, congestion_marked, explicit_rate, route, in_flight }
}

#[test]
fn a_rate_controller_lives_with_a_coarse_clock() {
    for word in ["stateful-forwarding", "nack-suppressing", "hobhis", "mircc"] {
        for tick in [1, 10, 40] {
            let (spec, bottleneck) = at_home(word);
            let mut config = config(&spec);
            config.pacing.tick = Duration::from_millis(tick);
            let mut network = Network::new(bottleneck, &[(config, Instant::ZERO)], 3);
            network.run_until(Instant::from_secs(30));
            let throughput = network.throughput(0, 15, 30);
            assert!(throughput > 600.0, "{word} with {tick} ms: {throughput}");
        }
    }
}

#[test]
fn nack_suppression_keeps_more_of_the_rate_than_a_reduction_for_each_nack() {
    // Twice the link's rate is allowed, so that each overshoot brings a train of Nacks.
    let throughput = |word: &str| {
        let spec: ControllerSpec = format!("{word}/max~2000/rate~600").parse().unwrap();
        let bottleneck = Bottleneck { police: Some(50), ..Bottleneck::plain() };
        let mut network = Network::new(bottleneck, &[(config(&spec), Instant::ZERO)], 3);
        network.run_until(Instant::from_secs(30));
        network.throughput(0, 5, 30)
    };
    let (plain, suppressing) = (throughput("stateful-forwarding"), throughput("nack-suppressing"));
    assert!(suppressing > plain * 1.3, "{plain} and {suppressing}");
}
