//! One address that wants all places, and newcomers from others.

use std::net::IpAddr;
use std::time::Instant;

use cairn_node::DropReason;
use cairn_node::config::Config;
use testkit::own_network::{self, ip};

use packet::ndn::lp::LpPacketView;

use crate::peer::{Listener, Peer, interest};
use crate::victim::{SOON, Victim, fresh_name, wait_until};

const GREEDY: &str = "198.51.100.66";
const NEWCOMER: &str = "198.51.100.7";

/// A node at an address that is no loopback address, in a network with some more of them.
fn with_victim(change: impl FnOnce(&mut Config) + Send, test: impl FnOnce(&Victim) + Send) {
    own_network::run(|| {
        for address in ["198.51.100.1", GREEDY, NEWCOMER] {
            ip(&format!("addr add {address}/32 dev lo")).unwrap();
        }
        for address in (1..=30).map(|number| format!("2001:db8:0:1::{number:x}")) {
            ip(&format!("addr add {address}/128 dev lo nodad")).unwrap();
        }
        for address in ["2001:db8:0:2::1", "2001:db8:0:2::2"] {
            ip(&format!("addr add {address}/128 dev lo nodad")).unwrap();
        }
        let victim = Victim::with(|config| {
            let here = "198.51.100.1:0".parse().unwrap();
            (config.udp.listen, config.tcp.listen) = (vec![here], vec![here]);
            change(config);
        });
        test(&victim);
    });
}

fn from(address: &str, place: &Listener) -> Peer {
    Peer::connect_from(address.parse::<IpAddr>().unwrap(), place).unwrap()
}

fn ask_once(peer: &mut Peer) {
    // One that was closed is told so.
    let _ = peer.send(interest(&fresh_name("/honest")).build().unwrap().wire());
}

/// So many peers at one address, each of which has asked for something and been answered, or turned away.
fn crowd(count: usize, place: &Listener) -> Vec<Peer> {
    let mut peers: Vec<Peer> = (0..count).map(|_| from(GREEDY, place)).collect();
    peers.iter_mut().for_each(ask_once);
    peers
}

fn faces_of(victim: &Victim, address: &str) -> usize {
    victim.faces().iter().filter(|face| face.remote.to_string().contains(address)).count()
}

/// Demands that somebody from another address gets in, and stays in whatever the crowd does.
fn assert_newcomer_is_served(victim: &Victim, place: &Listener, crowd: &mut [Peer]) {
    let mut newcomer = from(NEWCOMER, place);
    for _ in 0..5 {
        crowd.iter_mut().for_each(ask_once);
        let answer = newcomer.ask(&interest(&fresh_name("/honest")), Instant::now() + SOON);
        assert!(answer.is_some(), "a newcomer is kept out: {:?}", victim.faces());
    }
    for place in [&victim.unix, &victim.websocket] {
        victim.assert_serves_at(place);
    }
    victim.assert_manages();
}

#[test]
fn an_address_with_all_places_for_datagrams_gives_some_to_a_newcomer_from_another() {
    with_victim(
        |config| config.node.max_on_demand_faces = 64,
        |victim| {
            let mut crowd = crowd(300, &victim.udp);
            wait_until("some are turned away", || victim.drops(DropReason::TooManyFaces) > 100);
            assert_newcomer_is_served(victim, &victim.udp, &mut crowd);
            assert!(victim.drops(DropReason::GaveWay) > 0);
        },
    );
}

#[test]
fn an_address_with_all_connections_from_other_hosts_gives_some_to_a_newcomer_from_another() {
    with_victim(
        |config| config.node.max_remote_connections = 50,
        |victim| {
            let mut crowd = crowd(200, &victim.tcp);
            wait_until("some are turned away", || victim.drops(DropReason::TooManyFaces) > 100);
            assert_eq!(faces_of(victim, GREEDY), 50);
            assert_newcomer_is_served(victim, &victim.tcp, &mut crowd);
        },
    );
}

#[test]
fn an_address_has_no_more_than_its_share_while_there_is_room() {
    with_victim(
        |config| config.node.max_on_demand_faces_per_address = 20,
        |victim| {
            for place in [&victim.udp, &victim.tcp] {
                let before = victim.drops(DropReason::AddressShare);
                let mut crowd = crowd(100, place);
                wait_until("some are turned away", || victim.drops(DropReason::AddressShare) >= before + 80);
                assert!(faces_of(victim, GREEDY) <= 40);
                assert_newcomer_is_served(victim, place, &mut crowd);
            }
        },
    );
}

#[test]
fn within_its_share_an_address_that_comes_from_ever_new_ports_replaces_its_own_idle_faces() {
    with_victim(
        |config| {
            config.node.max_on_demand_faces_per_address = 20;
            config.node.crowded_idle_timeout_secs = 1;
        },
        |victim| {
            for _ in 0..50 {
                let mut peer = from(GREEDY, &victim.udp);
                // Those after the twentieth ask again each second, until one before them was idle for one.
                let answer = peer.ask(&interest(&fresh_name("/honest")), Instant::now() + SOON);
                assert!(answer.is_some(), "one port after another, and then none");
            }
            assert!(faces_of(victim, GREEDY) <= 20);
        },
    );
}

#[test]
fn addresses_of_one_network_of_ipv6_share_what_one_address_may_have() {
    with_victim(
        |config| {
            config.udp.listen = vec!["[2001:db8:0:2::1]:0".parse().unwrap()];
            config.node.max_on_demand_faces_per_address = 20;
        },
        |victim| {
            let mut crowd: Vec<Peer> =
                (1..=30).map(|number| from(&format!("2001:db8:0:1::{number:x}"), &victim.udp)).collect();
            wait_until("some are turned away", || {
                crowd.iter_mut().for_each(ask_once);
                victim.drops(DropReason::AddressShare) >= 10
            });
            assert_eq!(faces_of(victim, "2001:db8:0:1:"), 20);
            let mut newcomer = from("2001:db8:0:2::2", &victim.udp);
            let answer = newcomer.ask(&interest(&fresh_name("/honest")), Instant::now() + SOON);
            assert!(answer.is_some(), "a newcomer is kept out");
        },
    );
}

/// The pieces of an Interest, in two frames.
fn in_two_fragments(wire: &[u8], sequence: u64) -> [Vec<u8>; 2] {
    let (first, second) = wire.split_at(wire.len() / 2);
    let mut number = 0;
    [first, second].map(|piece| {
        let mut frame = Vec::new();
        let view = LpPacketView {
            sequence: Some(sequence + number),
            frag_index: Some(number),
            frag_count: Some(2),
            fragment: Some(piece),
            ..Default::default()
        };
        view.encode(&mut frame);
        number += 1;
        frame
    })
}

#[test]
fn a_flood_of_first_fragments_from_many_ports_takes_no_incomplete_packet_of_another_address() {
    const LIMIT: usize = 256 << 10;
    with_victim(
        |config| config.node.reassembly_bytes = Some(LIMIT),
        |victim| {
            let mut flood: Vec<Peer> = (0..200).map(|_| from(GREEDY, &victim.udp)).collect();
            let mut honest = from(NEWCOMER, &victim.udp);
            // Absent as long as there are none.
            let evicted = || {
                let series = "cairn_drops_total{layer=\"link\",reason=\"partial-evicted\"} ";
                let page = victim.metrics();
                page.lines().find_map(|line| line.strip_prefix(series)?.parse::<f64>().ok()).unwrap_or(0.0)
            };
            // The beginning of a Data of 8,796 bytes.
            let mut large = vec![6, 253, 0x22, 0x5c, 7, 3, 8, 1, 65];
            large.resize(8000, 0);
            for round in 0..10 {
                let asked = interest(&fresh_name("/honest")).build().unwrap();
                let [first, second] = in_two_fragments(asked.wire(), 2 * round);
                honest.send(&first).unwrap();
                let before = evicted();
                wait_until("the flood finds no more room", || {
                    for peer in &mut flood {
                        let [first, _] = in_two_fragments(&large, 2 * round);
                        peer.send(&first).unwrap();
                    }
                    evicted() > before
                });
                honest.send(&second).unwrap();
                assert!(honest.receive(Instant::now() + SOON).is_some(), "round {round}");
            }
            assert!(victim.counted("cairn_reassembly_bytes") <= LIMIT as u64);
        },
    );
}
