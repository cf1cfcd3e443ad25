//! Random links, faults, schedules, restarts and pauses; then everything heals and must come to rest.
//!
//! First a seed draws parameters for two services and a bad link, and a schedule of messages, restarts of one
//! end, long quiet times and stalls in which nobody looks after the link. All the while, limits hold, what is
//! delivered has been sent, and it is delivered once. Then the link is perfect: all queues must run empty,
//! and every message sent from then on must arrive.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

mod common;

use std::collections::{HashMap, HashSet};

use cairn_link::{Faults, ImpairmentConfig, v1, v2};
use packet::random::Random;
use packet::time::Duration;

use common::{End, Pair, data, number_of};

fn pick<T: Copy>(random: &mut Random, choices: &[T]) -> T {
    choices[random.below(choices.len() as u64) as usize]
}

fn bad_link(random: &mut Random) -> ImpairmentConfig {
    let mut chance = |probability: f64, most: f64| match random.chance(probability) {
        true => random.unit() * most,
        false => 0.0,
    };
    ImpairmentConfig {
        faults: Faults {
            loss: chance(0.8, 0.5),
            duplicate: chance(0.5, 0.5),
            reorder: chance(0.5, 0.5),
            corrupt: chance(0.25, 0.3),
            jitter: Duration::from_millis(chance(0.5, 50.0) as u64),
            reorder_delay: Duration::from_millis(chance(0.8, 100.0) as u64),
        },
        delay: Duration::from_millis(chance(0.8, 100.0) as u64),
        rate_bits_per_second: (chance(0.3, 1.0) > 0.0).then_some(2_000_000),
        queue_limit_bytes: 20_000,
    }
}

fn v2_config(random: &mut Random) -> v2::Config {
    v2::Config {
        transport_mtu_bytes: pick(random, &[Some(100), Some(200), Some(500), Some(1500), Some(8800), None]),
        reliability: random.chance(0.8).then(|| v2::ReliabilityConfig {
            max_retries: pick(random, &[0, 1, 3, 10]),
            max_unacknowledged_frames: pick(random, &[1, 10, 100, 4096]),
            max_unacknowledged_bytes: pick(random, &[1, 20_000, 8 << 20]),
            max_pending_acks: pick(random, &[100, 4096]),
            ..v2::ReliabilityConfig::default()
        }),
        reassembly: Some(v2::ReassemblyConfig {
            max_partial_packets: pick(random, &[1, 5, 64]),
            max_partial_bytes: pick(random, &[10_000, 1 << 20]),
            ..v2::ReassemblyConfig::default()
        }),
        pacing: random.chance(0.5).then(|| v2::PacingConfig {
            stock_buffer_bytes: pick(random, &[v2::MIN_STOCK_BUFFER_BYTES, 50_000, 212_992]),
            receive_capacity_bytes: pick(random, &[0, 1, 212_992, 8 << 20, u64::MAX]),
            max_waiting_bytes: pick(random, &[1, 20_000, 8 << 20]),
            probe_path_mtu: random.chance(0.8),
        }),
        ..v2::Config::default()
    }
}

fn v1_config(random: &mut Random) -> v1::Config {
    v1::Config {
        mtu_bytes: pick(random, &[Some(100), Some(500), Some(1500), None]),
        request_acks: random.chance(0.8),
        timings: v1::Timings {
            sent_packets_capacity: pick(random, &[0, 1, 10, 100, 1000]),
            retry_count: pick(random, &[0, 1, 5]),
            ..v1::Timings::PAPER
        },
        max_partial_messages: pick(random, &[1, 5, 64]),
        max_partial_bytes: pick(random, &[10_000, 1 << 20]),
        max_preallocated_bytes: pick(random, &[0, 5000, 16 << 10]),
        max_pending_acks: pick(random, &[100, 4096]),
        ..v1::Config::default()
    }
}

/// What is known about one seed's run.
struct Swarm<E> {
    seed: u64,
    random: Random,
    pair: Pair<E>,
    sent: HashMap<u64, Vec<u8>>,
    /// What each end has delivered since it was last restarted.
    seen: [HashSet<u64>; 2],
    next_number: u64,
    /// Bytes may have changed under way, so anything may be delivered.
    corrupting: bool,
    /// Frames may be delivered so late that nobody remembers them, or nobody tries to.
    may_repeat: bool,
    largest: u64,
}

impl<E: End> Swarm<E> {
    fn send(&mut self, side: usize) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        let len = 12 + self.random.below(self.largest - 11);
        let message = data(number, len as usize);
        self.sent.insert(number, message.clone());
        let _ = self.pair.send(side, &message);
        number
    }

    fn check_deliveries(&mut self) {
        for side in 0..2 {
            for message in std::mem::take(&mut self.pair.delivered[side]) {
                if self.corrupting {
                    continue;
                }
                let number = number_of(&message);
                assert!(self.sent.get(&number) == Some(&message), "seed {}: changed or made up", self.seed);
                let first_time = self.seen[side].insert(number);
                assert!(first_time || self.may_repeat, "seed {}: {number} twice", self.seed);
            }
        }
    }

    fn disturb(&mut self, restart: impl Fn(u64) -> E) {
        for step in 0..150 {
            match self.random.below(100) {
                0..60 => {
                    let side = self.random.below(2) as usize;
                    self.send(side);
                }
                60..62 => {
                    let side = self.random.below(2) as usize;
                    self.pair.ends[side] = restart(self.seed * 1000 + step);
                    self.seen[side].clear();
                }
                62 => {
                    let quiet = Duration::from_secs(self.random.below(7200));
                    self.pair.run_until(self.pair.now + quiet);
                }
                63 => {
                    // Nobody looks: frames and timers wait until the end.
                    self.pair.now += Duration::from_secs(self.random.below(7200));
                    self.may_repeat = true;
                    for end in &mut self.pair.ends {
                        end.handle_timeout(self.pair.now);
                    }
                }
                _ => {}
            }
            let pause = Duration::from_micros(self.random.below(60_000));
            self.pair.run_until(self.pair.now + pause);
            self.check_deliveries();
        }
    }

    fn heal(&mut self) {
        self.pair.set_impairment(&ImpairmentConfig::default());
        self.pair.run_until_quiet(Duration::from_secs(3600));
        self.check_deliveries();
        for end in &self.pair.ends {
            assert_eq!(end.held(), 0, "seed {}: something is left over", self.seed);
        }
        if std::mem::take(&mut self.corrupting) {
            // A Sequence with a flipped bit may be taken for one that is yet to come, for as long as the
            // service remembers Sequences.
            self.pair.run_until(self.pair.now + Duration::from_secs(3600));
        }
        for round in 0..20 {
            let side = round % 2;
            let number = self.send(side);
            self.pair.run_until(self.pair.now + Duration::from_millis(400));
            let before = self.seen[1 - side].contains(&number);
            self.check_deliveries();
            let after = self.seen[1 - side].contains(&number);
            let drops = self.pair.ends[1 - side].drops();
            assert!(
                !before && after,
                "seed {}: {number} does not arrive when all is well: {drops:?}",
                self.seed
            );
        }
        self.pair.run_until_quiet(Duration::from_secs(3600));
        assert!(self.pair.ends.iter().all(|end| end.held() == 0), "seed {}: not at rest", self.seed);
    }
}

fn swarm<E: End>(
    seed: u64,
    mut random: Random,
    reliable: bool,
    largest: u64,
    make: impl Fn(u64) -> E,
) -> u64 {
    let link = bad_link(&mut random);
    let pair = Pair::new([make(seed * 2), make(seed * 2 + 1)], &link, seed);
    let mut swarm = Swarm {
        seed,
        random,
        pair,
        sent: HashMap::new(),
        seen: [HashSet::new(), HashSet::new()],
        next_number: 0,
        corrupting: link.faults.corrupt > 0.0,
        may_repeat: !reliable,
        largest,
    };
    swarm.disturb(make);
    swarm.heal();
    swarm.pair.ends.iter().map(End::delivered).sum()
}

const SEEDS: u64 = 300;

#[test]
fn ndnlp_v2_keeps_its_promises_in_every_drawn_world() {
    let mut delivered = 0;
    for seed in 0..SEEDS {
        let mut random = Random::derive(2, seed);
        let config = v2_config(&mut random);
        // Memory for one packet of any size must be there, or none of that size can ever arrive.
        let largest = if config.transport_mtu_bytes == Some(100) { 1000 } else { 8000 };
        // A packet that is cut anew for another MTU has other numbers; if it had arrived before, it arrives
        // twice.
        let reliable = config.reliability.is_some() && config.pacing.is_none();
        delivered += swarm(seed, random, reliable, largest, |seed| common::v2(&config, seed));
    }
    assert!(delivered > 30 * SEEDS, "{delivered}");
}

#[test]
fn ndnlp_v1_keeps_its_promises_in_every_drawn_world() {
    let mut delivered = 0;
    for seed in 0..SEEDS {
        let mut random = Random::derive(1, seed);
        let config = v1_config(&mut random);
        let largest = if config.mtu_bytes == Some(100) { 1000 } else { 8000 };
        // Version 1 numbers every packet, so it notices repetitions without acknowledgements, too.
        delivered += swarm(seed, random, true, largest, |seed| common::v1(&config, seed));
    }
    assert!(delivered > 30 * SEEDS, "{delivered}");
}

#[test]
fn a_seed_gives_the_same_run_every_time() {
    for seed in 0..10 {
        let run = || {
            let mut random = Random::derive(3, seed);
            let config = v2_config(&mut random);
            let ends = [common::v2(&config, seed), common::v2(&config, seed + 1)];
            let mut pair = Pair::new(ends, &bad_link(&mut random), seed);
            for number in 0..100 {
                let _ = pair.send(number as usize % 2, &data(number, 12 + random.below(900) as usize));
                pair.run_until(pair.now + Duration::from_micros(random.below(30_000)));
            }
            pair.run_until_quiet(Duration::from_secs(3600));
            let counters = pair.ends.each_ref().map(|end| *end.counters());
            (pair.now, pair.delivered, counters)
        };
        assert!(run() == run(), "seed {seed}");
    }
}
