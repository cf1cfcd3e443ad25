//! Adaptive SRTT-based forwarding: fast before slow, working before dead, and probes to find out.

use cairn_engine::*;
use packet::NackReason;
use packet::time::Duration;

use crate::node::{Node, Sent};

/// Consumer 1; next hops 2, 3 and 4 by rising cost.
fn node(parameters: &str) -> Node {
    let mut node = Node::new(&format!("asf{parameters}"), 4);
    node.route("/a", &[(2, 10), (3, 20), (4, 30)]);
    node
}

/// Asks for a new name; gives it and the faces it was sent to, the best first.
fn ask(node: &mut Node) -> (String, Vec<u32>) {
    let name = format!("/a/{}", node.next_nonce());
    let sent = node.interest(1, &name);
    let faces = sent.iter().map(|sent| match sent {
        Sent::Interest(face) => *face,
        other => panic!("{other:?}"),
    });
    (name, faces.collect())
}

/// Runs for `seconds` with an Interest every 100 ms; each next hop answers after its own number of
/// milliseconds, or never. Gives how often each of the faces 2, 3 and 4 was the best and how often it was
/// probed.
fn run(node: &mut Node, seconds: u64, answers_after: [Option<u64>; 3]) -> ([u32; 3], [u32; 3]) {
    let (mut best, mut probes) = ([0; 3], [0; 3]);
    for _ in 0..seconds * 10 {
        let (name, faces) = ask(node);
        for (place, &face) in faces.iter().enumerate() {
            let counts = if place == 0 { &mut best } else { &mut probes };
            counts[face as usize - 2] += 1;
        }
        let mut answers: Vec<(u64, u32)> =
            faces.iter().filter_map(|&face| Some((answers_after[face as usize - 2]?, face))).collect();
        answers.sort();
        let mut elapsed = 0;
        for (at, face) in answers {
            node.wait_ms(at - elapsed);
            node.data(face, &name);
            elapsed = at;
        }
        node.wait_ms(100 - elapsed);
    }
    (best, probes)
}

#[test]
fn an_unmeasured_route_starts_with_the_cheapest_next_hop() {
    let mut node = node("");
    assert_eq!(ask(&mut node).1, [2]);
}

#[test]
fn the_next_hop_with_the_smallest_srtt_is_found_by_probing_and_used() {
    let mut node = node("/probing-interval~1000");
    run(&mut node, 20, [Some(40), Some(30), Some(10)]);
    let (best, _) = run(&mut node, 20, [Some(40), Some(30), Some(10)]);
    assert_eq!(best, [0, 0, 200]);
    // Things change: it takes as many samples as the average needs.
    run(&mut node, 40, [Some(5), Some(30), Some(45)]);
    let (best, _) = run(&mut node, 20, [Some(5), Some(30), Some(45)]);
    assert_eq!(best, [200, 0, 0]);
}

#[test]
fn the_first_probe_comes_within_five_seconds_at_random_and_further_ones_at_the_interval() {
    let mut first_probes = Vec::new();
    for seed in 0..60 {
        let mut node = Node::seeded("asf/probing-interval~10000", 4, seed);
        node.route("/a", &[(2, 10), (3, 20)]);
        let mut probed_at = Vec::new();
        for tick in 0..500u64 {
            let (name, faces) = ask(&mut node);
            if faces.len() == 2 {
                assert_eq!(faces, [2, 3]);
                probed_at.push(tick * 100);
            }
            for face in faces {
                node.data(face, &name);
            }
            node.wait_ms(100);
        }
        assert!(probed_at[0] <= 5000, "seed {seed}: {probed_at:?}");
        assert!(probed_at.windows(2).all(|pair| pair[1] - pair[0] == 10_000), "seed {seed}: {probed_at:?}");
        first_probes.push(probed_at[0]);
    }
    let early = first_probes.iter().filter(|&&at| at <= 2500).count();
    assert!((18..=42).contains(&early), "{first_probes:?}");
    assert!(first_probes.iter().any(|&at| at < 800) && first_probes.iter().any(|&at| at > 4200));
}

#[test]
fn a_probe_has_a_nonce_of_its_own_and_goes_to_an_unmeasured_next_hop_first() {
    let mut node = node("/probing-interval~1000");
    let mut probed = Vec::new();
    for _ in 0..70 {
        let (name, faces) = ask(&mut node);
        for &face in &faces {
            node.data(face, &name);
        }
        if let [best, probe] = faces[..] {
            assert_ne!(node.nonce_sent_to(best), node.nonce_sent_to(probe));
            probed.push(probe);
        }
        node.wait_ms(100);
    }
    assert_eq!(probed[..2], [3, 4], "by cost");
}

#[test]
fn better_next_hops_are_probed_more_often() {
    let mut node = node("/probing-interval~1000");
    let times = [Some(10), Some(20), Some(40)];
    run(&mut node, 10, times);
    let (best, probes) = run(&mut node, 600, times);
    assert_eq!(best, [6000, 0, 0]);
    // The second of three comes first of two: two thirds.
    let (second, third) = (f64::from(probes[1]), f64::from(probes[2]));
    assert_eq!(probes[0], 0);
    assert!((0.6..0.73).contains(&(second / (second + third))), "{probes:?}");
}

#[test]
fn the_answer_to_a_probe_is_measured_even_after_the_first_data() {
    let mut node = node("/probing-interval~1000");
    loop {
        let (name, faces) = ask(&mut node);
        if faces == [2, 3] {
            node.wait_ms(30);
            assert_eq!(node.data(2, &name), [Sent::Data(1)]);
            assert_eq!(node.pending(), 1, "it waits for the probe");
            node.wait_ms(10);
            let unsolicited = node.drops(DropReason::Unsolicited);
            assert_eq!(node.data(3, &name), [], "nobody waits any more");
            assert_eq!(node.drops(DropReason::Unsolicited), unsolicited);
            node.wait_ms(52);
            assert_eq!(node.pending(), 0);
            return;
        }
        node.wait_ms(30);
        node.data(2, &name);
        node.wait_ms(70);
    }
}

#[test]
fn after_max_timeouts_the_next_hop_is_passed_over_until_a_probe_is_answered() {
    let mut node = node("/probing-interval~60000/max-timeouts~3");
    let (name, faces) = ask(&mut node);
    assert_eq!(faces, [2]);
    node.wait_ms(10);
    node.data(2, &name);
    // Each timeout is 200 ms, the shortest there is.
    let mut used = Vec::new();
    for _ in 0..5 {
        used.push(ask(&mut node).1[0]);
        node.wait_ms(201);
    }
    assert_eq!(used, [2, 2, 2, 3, 3]);
}

#[test]
fn a_burst_that_is_lost_counts_as_one_timeout() {
    let mut node = node("/max-timeouts~2");
    let (name, _) = ask(&mut node);
    node.data(2, &name);
    for _ in 0..10 {
        assert_eq!(ask(&mut node).1[0], 2);
    }
    node.wait_ms(201);
    for _ in 0..10 {
        assert_eq!(ask(&mut node).1[0], 2);
    }
    node.wait_ms(201);
    assert_ne!(ask(&mut node).1[0], 2);
}

#[test]
fn a_steady_stream_to_a_dead_next_hop_does_not_put_its_timeouts_off() {
    let mut node = node("");
    let (name, _) = ask(&mut node);
    node.data(2, &name);
    let mut to_dead = 0;
    while to_dead < 100 && ask(&mut node).1[0] == 2 {
        to_dead += 1;
        node.wait_ms(50);
    }
    // Three timeouts of 200 ms, a new one beginning with the next Interest.
    assert!((12..=15).contains(&to_dead), "{to_dead}");
}

#[test]
fn data_clears_the_timeouts() {
    let mut node = node("/max-timeouts~2");
    for _ in 0..5 {
        let (name, faces) = ask(&mut node);
        assert_eq!(faces[0], 2);
        node.wait_ms(10);
        node.data(2, &name);
        assert_eq!(ask(&mut node).1[0], 2);
        node.wait_ms(1001);
    }
}

#[test]
fn a_nack_marks_the_next_hop_at_once() {
    let mut node = node("");
    assert_eq!(ask(&mut node).1, [2]);
    assert_eq!(node.nack(2, NackReason::Congestion), [Sent::Nack(1, NackReason::Congestion)]);
    assert_eq!(ask(&mut node).1[0], 3);
    node.nack(3, NackReason::NoRoute);
    assert_eq!(ask(&mut node).1[0], 4);
    node.nack(4, NackReason::NoRoute);
    assert_eq!(ask(&mut node).1[0], 2, "all are marked, so the cheapest again");
}

#[test]
fn retransmissions_take_unused_next_hops_and_are_suppressed_for_each_upstream() {
    let mut node = node("");
    let mut order = Vec::new();
    for _ in 0..5 {
        order.extend(node.interest(1, "/a/x"));
    }
    // Three that were not used yet, and then the suppression of the first.
    assert_eq!(order, [2, 3, 4].map(Sent::Interest));
    assert_eq!(node.drops(DropReason::RetransmissionSuppressed), 2);
    node.wait_ms(10);
    assert_eq!(node.interest(1, "/a/x"), [Sent::Interest(2)]);
    node.wait_ms(5);
    assert_eq!(node.interest(1, "/a/x"), [Sent::Interest(3)]);
}

#[test]
fn measurements_end_after_their_lifetime() {
    let mut node = node("/probing-interval~1000/measurements-lifetime~10000");
    run(&mut node, 9, [Some(40), Some(30), Some(10)]);
    assert_eq!(ask(&mut node).1[0], 4);
    node.wait(Duration::from_secs(11));
    assert_eq!(ask(&mut node).1[0], 2, "back to costs");
}

#[test]
fn parameters_out_of_range_are_refused() {
    for text in [
        "asf/probing-interval~999",
        "asf/max-timeouts~0",
        "asf/measurements-lifetime~60000",
        "asf/probing-interval~300000",
        "access/retx-suppression-initial~10",
        "random/x~1",
        "self-learning/x~1",
    ] {
        assert!(text.parse::<StrategySpec>().is_err(), "{text}");
    }
    for text in ["asf/measurements-lifetime~60001", "asf/retx-suppression-initial~20/max-timeouts~1"] {
        assert!(text.parse::<StrategySpec>().is_ok(), "{text}");
    }
}
