//! Floods: of first fragments, of Interests, of routes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use management::{Command, ControlParameters, Dataset, StatusCode};
use packet::Name;
use packet::ndn::lp::LpPacketView;

use crate::peer::{Peer, interest};
use crate::victim::{SOON, Victim, command_interest, connect, fresh_name, register};

/// The first of two fragments of a packet that says it is as large as any may be.
fn first_fragment(sequence: u64) -> Vec<u8> {
    let mut frame = Vec::new();
    let view = LpPacketView {
        sequence: Some(sequence),
        frag_index: Some(0),
        frag_count: Some(2),
        fragment: Some(&[6, 253, 0x22, 0x5c, 7, 3, 8, 1, 65]),
        ..Default::default()
    };
    view.encode(&mut frame);
    frame
}

#[test]
fn first_fragments_without_their_rest_are_forgotten_and_counted() {
    let victim = Victim::start();
    let mut peer = connect(&victim.udp, Instant::now() + SOON);
    let us = peer.local().unwrap();
    for sequence in 0..20_000 {
        peer.send(&first_fragment(2 * sequence)).unwrap();
    }
    victim.assert_serves();
    let face =
        victim.faces().into_iter().find(|face| face.remote.to_string() == format!("udp4://{us}")).unwrap();
    let drops = |reason: &str| {
        face.traffic.link_drops.iter().find(|(word, _)| *word == reason).map_or(0, |(_, count)| *count)
    };
    // At most 64 wait; whatever else was received has made room or run out of time.
    let gone = drops("partial-evicted") + drops("partial-expired");
    assert!(
        gone + 64 >= face.traffic.in_frames,
        "{gone} of {} are gone: {:?}",
        face.traffic.in_frames,
        face.traffic.link_drops
    );
    assert!(gone > 1000, "{face:?}");
}

#[test]
fn a_flood_of_first_fragments_from_many_peers_stays_within_the_memory_for_all_of_them() {
    const LIMIT: usize = 1 << 20;
    let victim = Victim::with(|config| config.node.reassembly_bytes = Some(LIMIT));
    let mut peers: Vec<Peer> = (0..200).map(|_| connect(&victim.udp, Instant::now() + SOON)).collect();
    for sequence in 0..50 {
        for peer in &mut peers {
            peer.send(&first_fragment(2 * sequence)).unwrap();
        }
    }
    victim.assert_serves();
    assert!(victim.counted("cairn_reassembly_bytes") <= LIMIT as u64, "{}", victim.metrics());
    let evicted = victim.counted("cairn_drops_total{layer=\"link\",reason=\"partial-evicted\"}");
    assert!(evicted > 100, "only {evicted} made room for others");
}

#[test]
fn a_flood_of_interests_that_nobody_answers_fills_its_share_of_the_table_and_nobody_elses() {
    let victim = Victim::with(|config| {
        config.tables.max_pending = 2000;
        config.tables.max_pending_per_face = 1000;
    });
    let deadline = Instant::now() + SOON;
    let mut silent = connect(&victim.unix, deadline);
    assert!(register(&mut silent, &"/silent".parse().unwrap(), deadline).is_ok());
    let mut flood = connect(&victim.tcp, deadline);
    for number in 0..20_000 {
        flood.send(interest(&fresh_name("/silent")).build().unwrap().wire()).unwrap();
        // Read, so that what comes to the silent one does not fill its queue.
        if number % 1000 == 0 {
            while silent.receive_interest(Instant::now()).is_some() {}
        }
    }
    victim.assert_serves();
    let pending = victim.counted("cairn_pending_interests");
    assert!((900..1100).contains(&pending), "{pending} are pending");
    let series = "cairn_drops_total{layer=\"engine\",reason=\"face-pending-limit\"}";
    assert!(victim.counted(series) > 10_000, "{}", victim.metrics());
}

#[test]
fn registrations_beyond_the_limit_are_refused_by_a_status_code_and_those_there_go_on_working() {
    const ROUTES: usize = 300;
    let victim = Victim::with(|config| config.management.max_routes = ROUTES);
    let deadline = Instant::now() + SOON;
    let mut greedy = connect(&victim.unix, deadline);
    let mut refused = 0;
    for _ in 0..2 * ROUTES {
        let response = register(&mut greedy, &fresh_name("/greedy"), deadline);
        if !response.is_ok() {
            assert_eq!(response.code, StatusCode::Unavailable, "{response:?}");
            assert!(response.text.contains("300"), "the text does not say the limit: {}", response.text);
            refused += 1;
        }
    }
    // Two routes are those of the producer and of management itself.
    assert_eq!(refused, ROUTES + 2);
    assert_eq!(victim.counted("cairn_management_total{what=\"routes-refused\"}"), refused as u64);
    for place in [&victim.unix, &victim.tcp, &victim.udp] {
        victim.assert_serves_at(place);
    }
    // With the connection go its routes, and there is room again.
    drop(greedy);
    crate::victim::wait_until("the routes go", || victim.counted("cairn_routes") < 10);
    victim.assert_serves();
}

#[test]
fn long_prefixes_are_refused_when_they_take_the_memory_for_all_routes() {
    let victim = Victim::with(|config| config.management.max_route_bytes = 100_000);
    let deadline = Instant::now() + SOON;
    let mut greedy = connect(&victim.unix, deadline);
    let long = |number: usize| -> Name { format!("/{}/{number}", "x".repeat(3000)).parse().unwrap() };
    let codes: Vec<StatusCode> =
        (0..60).map(|number| register(&mut greedy, &long(number), deadline).code).collect();
    let fine = codes.iter().filter(|code| **code == StatusCode::Ok).count();
    assert!((25..40).contains(&fine), "{fine} were accepted");
    assert!(codes.iter().all(|code| [StatusCode::Ok, StatusCode::Unavailable].contains(code)), "{codes:?}");
}

#[test]
fn routes_by_many_faces_at_the_root_do_not_multiply_with_the_prefixes_below_it() {
    let victim = Victim::start();
    let deadline = Instant::now() + 2 * SOON;
    let mut below = connect(&victim.unix, deadline);
    for _ in 0..100 {
        assert!(register(&mut below, &fresh_name("/below"), deadline).is_ok());
    }
    let mut above: Vec<Peer> = (0..150).map(|_| connect(&victim.unix, deadline)).collect();
    for peer in &mut above {
        assert!(register(peer, &Name::root(), deadline).is_ok());
    }
    victim.assert_manages();
    let routes = cairn_node::control::NodeControl::routes(&mut victim.node.control(), packet::Dialect::Ndn);
    let most = routes.iter().map(|route| route.next_hops.len()).max().unwrap();
    assert!(most <= 64, "a prefix has {most} next hops");
    let refused = victim.counted("cairn_management_total{what=\"next-hops-refused\"}");
    assert!(refused > 0, "what was left out is counted nowhere");
}

#[test]
fn a_flood_of_commands_from_one_application_does_not_shut_out_another() {
    let victim = Victim::start();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| flood_with_commands(&victim, &stop));
        // Also when what follows fails.
        let _stop = StopWhenDropped(&stop);
        for _ in 0..5 {
            victim.assert_serves();
        }
    });
}

struct StopWhenDropped<'a>(&'a AtomicBool);

impl Drop for StopWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Asks for lists and gives commands as fast as the node reads, and reads no answer.
fn flood_with_commands(victim: &Victim, stop: &AtomicBool) {
    let list = Dataset::FacesList.name().unwrap();
    let nothing = ControlParameters { name: Some("/nothing".parse().unwrap()), ..Default::default() };
    let mut flood = connect(&victim.unix, Instant::now() + SOON);
    for nonce in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let asked = interest(&list).can_be_prefix(true).must_be_fresh(true).nonce(nonce);
        for wanted in [asked, command_interest(Command::RibUnregister, &nothing).nonce(nonce)] {
            if flood.send(wanted.build().unwrap().wire()).is_err() {
                flood = connect(&victim.unix, Instant::now() + SOON);
            }
        }
    }
}
