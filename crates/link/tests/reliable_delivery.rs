//! Over a bad link, with reliability on, every message arrives exactly as sent and exactly once.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

mod common;

use cairn_link::{DropReason, Fault, Faults, ImpairmentConfig, Wire, v1, v2};
use packet::random::Random;
use packet::time::Duration;

use common::{End, Pair, SlowLine, data};

/// Retries and limits with which no message is lost for want of them: at 30 % loss, 20 retries fail once in
/// 10^11.
fn v2_config(mtu_bytes: usize) -> v2::Config {
    v2::Config {
        transport_mtu_bytes: Some(mtu_bytes),
        reliability: Some(v2::ReliabilityConfig { max_retries: 20, ..v2::ReliabilityConfig::default() }),
        reassembly: Some(v2::ReassemblyConfig {
            max_partial_packets: 1000,
            max_partial_bytes: 16 << 20,
            ..v2::ReassemblyConfig::default()
        }),
        ..v2::Config::default()
    }
}

fn v1_config(mtu_bytes: usize) -> v1::Config {
    v1::Config {
        mtu_bytes: Some(mtu_bytes),
        request_acks: true,
        timings: v1::Timings { sent_packets_capacity: 10_000, retry_count: 20, ..v1::Timings::PAPER },
        partial_timeout: Duration::from_secs(30),
        max_partial_messages: 1000,
        max_partial_bytes: 16 << 20,
        ..v1::Config::default()
    }
}

fn bad_link(loss: f64) -> ImpairmentConfig {
    ImpairmentConfig {
        delay: Duration::from_millis(20),
        faults: Faults {
            loss,
            jitter: Duration::from_millis(10),
            reorder: 0.05,
            reorder_delay: Duration::from_millis(7),
            duplicate: 0.05,
            corrupt: 0.0,
        },
        ..ImpairmentConfig::default()
    }
}

/// Sends messages of all sizes in both directions and compares what arrives.
fn check<E: End>(mut pair: Pair<E>, seed: u64, mtu_bytes: usize) {
    const MESSAGES: u64 = 150;
    let mut random = Random::derive(seed, 99);
    let mut sent: [Vec<Vec<u8>>; 2] = [Vec::new(), Vec::new()];
    for number in 0..MESSAGES {
        let side = random.below(2) as usize;
        let largest = if random.chance(0.3) { 8800 } else { 300 };
        let message = data(number, 12 + random.below(largest - 11) as usize);
        sent[side].push(message.clone());
        pair.send(side, &message).unwrap();
        let pause = Duration::from_micros(random.below(20_000));
        pair.run_until(pair.now + pause);
    }
    pair.run_until_quiet(Duration::from_secs(200));
    assert!(pair.longest_frame <= mtu_bytes);
    for side in 0..2 {
        sent[side].sort();
        pair.delivered[1 - side].sort();
        let (sent, delivered) = (&sent[side], &pair.delivered[1 - side]);
        assert_eq!(sent.len(), delivered.len(), "seed {seed}: {:?}", pair.ends[1 - side].drops());
        assert!(sent == delivered, "seed {seed}: something arrived changed");
    }
}

fn fault_counts<E: End>(pair: &Pair<E>) -> u64 {
    pair.wires.iter().map(|wire| wire.tap.count(Fault::Loss)).sum()
}

#[test]
fn ndnlp_v2_delivers_every_message_exactly_once_for_losses_up_to_30_percent() {
    for percent in [0, 1, 5, 10, 20, 30] {
        for seed in 0..5 {
            for mtu_bytes in [200, 1500] {
                let config = v2_config(mtu_bytes);
                let ends = [common::v2(&config, seed), common::v2(&config, seed + 1000)];
                check(Pair::new(ends, &bad_link(f64::from(percent) / 100.0), seed), seed, mtu_bytes);
            }
        }
    }
}

#[test]
fn ndnlp_v1_delivers_every_message_exactly_once_for_losses_up_to_30_percent() {
    for percent in [0, 1, 5, 10, 20, 30] {
        for seed in 0..5 {
            for mtu_bytes in [200, 1500] {
                let config = v1_config(mtu_bytes);
                let ends = [common::v1(&config, seed), common::v1(&config, seed + 1000)];
                check(Pair::new(ends, &bad_link(f64::from(percent) / 100.0), seed), seed, mtu_bytes);
            }
        }
    }
}

#[test]
fn without_reliability_the_same_link_loses_messages_so_the_test_above_tests_something() {
    let config = v2::Config { reliability: None, ..v2_config(1500) };
    let ends = [common::v2(&config, 1), common::v2(&config, 2)];
    let mut pair = Pair::new(ends, &bad_link(0.3), 1);
    for number in 0..100 {
        pair.send(0, &data(number, 3000)).unwrap();
    }
    pair.run_until_quiet(Duration::from_secs(10));
    assert!(fault_counts(&pair) > 50);
    assert!((10..60).contains(&pair.delivered[1].len()), "{}", pair.delivered[1].len());
    assert!(pair.ends[1].drops().get(DropReason::PartialExpired) > 0);
}

#[test]
fn with_the_default_four_transmissions_losses_of_10_percent_leave_one_message_in_ten_thousand_undelivered() {
    let config = v2::Config { reliability: Some(v2::ReliabilityConfig::default()), ..v2::Config::default() };
    let ends = [common::v2(&config, 1), common::v2(&config, 2)];
    let lossy =
        ImpairmentConfig { delay: Duration::from_millis(5), ..Faults { loss: 0.1, ..Faults::NONE }.into() };
    let mut pair = Pair::new(ends, &lossy, 4);
    const MESSAGES: u64 = 100_000;
    for number in 0..MESSAGES {
        pair.send(0, &data(number, 20)).unwrap();
        pair.run_until(pair.now + Duration::from_millis(1));
    }
    pair.run_until_quiet(Duration::from_secs(20));
    let lost = MESSAGES - pair.delivered[1].len() as u64;
    // 0.1^4 of 100 000 is 10; five standard deviations are 16.
    assert!(lost <= 26, "{lost}");
    // A message counts as given up also when only its acks were lost.
    assert!(pair.ends[0].drops().get(DropReason::RetriesExhausted) >= lost);
}

#[test]
fn a_message_lost_in_one_fragment_is_repaired_by_that_fragment_alone() {
    let config = v2_config(1500);
    let ends = [common::v2(&config, 1), common::v2(&config, 2)];
    let mut pair = Pair::new(ends, &ImpairmentConfig::default(), 1);
    for number in 0..20 {
        pair.send(0, &data(number, 8000)).unwrap();
        pair.run_until(pair.now + Duration::from_millis(10));
    }
    let before = pair.ends[0].counters().frames_out;
    // Lose the second of six fragments of the next message.
    let now = pair.now;
    pair.ends[0].send(now, packet::LinkHeader::default(), None, data(20, 8000).into()).unwrap();
    let mut frames = common::frames(&mut pair.ends[0], now);
    assert_eq!(frames.len(), 6);
    frames.remove(1);
    for frame in frames {
        pair.wires[0].send(now, frame);
    }
    pair.run_until_quiet(Duration::from_secs(10));
    assert_eq!(pair.delivered[1].len(), 21);
    assert_eq!(pair.ends[0].counters().frames_out - before, 7);
    assert_eq!(pair.ends[0].counters().retransmissions, 1);
}

#[test]
fn over_a_slow_line_with_an_endless_queue_frames_are_not_repeated_until_they_are_given_up() {
    let config = v2::Config { reliability: Some(v2::ReliabilityConfig::default()), ..v2::Config::default() };
    let ends = [common::v2(&config, 1), common::v2(&config, 2)];
    // 20 bytes take a few milliseconds, and the round trips of the first messages say so.
    let line = || Wire::new(SlowLine::new(12_500), 100_000);
    let mut pair = Pair::over([line(), line()], ends);
    for number in 0..20 {
        pair.send(0, &data(number, 20)).unwrap();
        pair.run_until(pair.now + Duration::from_millis(60));
    }
    assert_eq!(pair.ends[0].retransmission_timeout(), Some(Duration::from_millis(200)));
    // 8,000 bytes take 640 ms, and the last of thirty at once waits for nineteen seconds.
    for number in 20..50 {
        pair.send(0, &data(number, 8000)).unwrap();
    }
    pair.run_until_quiet(Duration::from_secs(600));
    // A repetition that comes out of the queue after the other end has forgotten the frame is delivered
    // again.
    pair.delivered[1].sort();
    pair.delivered[1].dedup();
    assert_eq!(pair.delivered[1].len(), 50);
    let counters = *pair.ends[0].counters();
    // Twice, after 200 and 400 ms, before the first late Ack tells how long the way has become; if it were
    // not heeded, three times and then given up.
    assert!(counters.retransmissions <= 60, "{counters:?}");
    assert_eq!(pair.ends[0].drops().get(DropReason::RetriesExhausted), 0);
    assert!(pair.ends[0].retransmission_timeout() > Some(Duration::from_secs(10)));
}
