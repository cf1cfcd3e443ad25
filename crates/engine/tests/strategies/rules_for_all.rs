//! Whatever the strategy: it ends, it obeys, it counts, and it does the same again.
//!
//! The rules themselves are in [`World`]'s checks, which hold after every step: no Interest goes back to
//! where it came from, or beyond its scope, its HopLimit or its dialect, or to a face without a route; no
//! Nack goes to a shared link; each Interest that arrives is counted as one thing; and when all is quiet
//! nothing is pending.

use crate::traffic::{Outcome, World};

/// All strategies, with parameters that make their own limits matter.
const STRATEGIES: &[&str] = &[
    "best-route",
    "multicast",
    "access",
    "asf",
    "asf/probing-interval~1000/max-timeouts~1/measurements-lifetime~2000",
    "self-learning",
    "random",
    "load-balance",
    "stateful-forwarding",
    "stateful-forwarding/rate~2/depth~2/limit~face",
    "stateful-forwarding/rate~2/depth~2/tokens~whole",
    "stateful-forwarding/rate~9/depth~2/start~1",
    "stateful-forwarding/rate~9/depth~2/start~1/adapt~no",
];

#[test]
fn the_list_has_every_strategy() {
    for name in cairn_engine::strategy_names() {
        let name = name.to_string();
        let word = name.split('/').nth(4).unwrap();
        assert!(STRATEGIES.iter().any(|text| text.split('/').next() == Some(word)), "{word}");
    }
}

#[test]
fn random_traffic_breaks_no_rule() {
    for strategy in STRATEGIES {
        let mut total = Outcome::default();
        for seed in 0..360 {
            let outcome = World::run(strategy, seed, 300);
            total.interests_sent += outcome.interests_sent;
            total.data_sent += outcome.data_sent;
            total.nacks_sent += outcome.nacks_sent;
            total.satisfied += outcome.satisfied;
            total.unsatisfied += outcome.unsatisfied;
            total.joined += outcome.joined;
            total.cache_hits += outcome.cache_hits;
            total.nacks_received += outcome.nacks_received;
        }
        // Enough of everything was tried.
        for count in [total.interests_sent, total.data_sent, total.satisfied] {
            assert!(count > 300, "{strategy}: {total:?}");
        }
        // These two leave it to the pipeline, which sends back loops.
        let says_no = !["multicast", "access"].contains(strategy);
        assert!(total.nacks_sent > if says_no { 300 } else { 0 }, "{strategy}: {total:?}");
        for count in [total.unsatisfied, total.joined, total.cache_hits, total.nacks_received] {
            assert!(count > 300, "{strategy}: {total:?}");
        }
    }
}

#[test]
fn the_same_seed_sends_the_same_packets() {
    for strategy in STRATEGIES {
        for seed in 1000..1005 {
            let first = World::run(strategy, seed, 300);
            assert!(first == World::run(strategy, seed, 300), "{strategy} seed {seed}");
            assert!(!first.log.is_empty(), "{strategy} seed {seed}");
        }
    }
}
