//! Peers by the hundred that nobody has asked for.

use std::net::{SocketAddr, UdpSocket};
use std::time::Instant;

use cairn_node::DropReason;

use crate::peer::{Listener, Peer, interest};
use crate::victim::{SOON, Victim, connect, fresh_name, wait_until};

/// That many peers from as many ports, each of which asks for something once.
fn strangers(victim: &Victim, count: usize) -> Vec<Peer> {
    let mut peers: Vec<Peer> = (0..count).map(|_| connect(&victim.udp, Instant::now() + SOON)).collect();
    for peer in &mut peers {
        peer.send(interest(&fresh_name("/honest")).build().unwrap().wire()).unwrap();
    }
    peers
}

#[test]
fn strangers_over_udp_beyond_the_limit_get_no_face_and_applications_on_this_host_still_do() {
    let victim = Victim::with(|config| config.node.max_on_demand_faces = 64);
    let _strangers = strangers(&victim, 500);
    wait_until("some are turned away", || victim.drops(DropReason::TooManyFaces) > 100);
    // 56 strangers, the producer and the node itself.
    assert!(victim.faces().len() <= 58, "{} faces", victim.faces().len());
    for place in [&victim.unix, &victim.tcp, &victim.websocket] {
        victim.assert_serves_at(place);
    }
    victim.assert_manages();
}

#[test]
fn when_strangers_have_taken_all_places_those_that_fall_silent_make_room_for_new_ones_early() {
    let victim = Victim::with(|config| {
        config.node.max_on_demand_faces = 64;
        config.node.crowded_idle_timeout_secs = 1;
    });
    let _strangers = strangers(&victim, 200);
    wait_until("some are turned away", || victim.drops(DropReason::TooManyFaces) > 0);
    victim.assert_serves();
}

#[test]
fn strangers_that_fall_silent_lose_their_faces() {
    let victim = Victim::with(|config| config.node.idle_timeout_secs = 1);
    let before = victim.faces().len();
    let _strangers = strangers(&victim, 200);
    wait_until("there are faces", || victim.faces().len() > before + 50);
    wait_until("there are none any more", || victim.faces().len() == before);
    victim.assert_serves();
}

#[test]
fn a_node_with_thousands_of_faces_ends_when_it_is_told_to() {
    let victim = Victim::start();
    let Listener::Udp(node) = victim.udp else { panic!("that is where datagrams go") };
    for address in 1..=10 {
        let from = SocketAddr::from(([127, 0, 3, address], 0));
        let peers: Vec<UdpSocket> = (0..1000).map(|_| UdpSocket::bind(from).unwrap()).collect();
        for peer in &peers {
            peer.send_to(interest(&fresh_name("/honest")).build().unwrap().wire(), node).unwrap();
        }
        // Their ports go with them, and their faces stay.
        wait_until("there are faces", || victim.faces().len() > usize::from(address) * 950);
    }
    let (ended, end) = std::sync::mpsc::channel();
    // Of each face that goes management tells whoever listens, by a face that goes as well.
    std::thread::spawn(move || {
        drop(victim);
        let _ = ended.send(());
    });
    assert!(end.recv_timeout(SOON).is_ok(), "it does not end within {SOON:?}");
}

#[test]
fn noise_from_many_ports_makes_no_face_and_is_counted() {
    let victim = Victim::start();
    let before = victim.faces().len();
    let mut peers: Vec<Peer> = (0..200).map(|_| connect(&victim.udp, Instant::now() + SOON)).collect();
    for peer in &mut peers {
        peer.send(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        peer.send(&[5, 200, 1, 2, 3]).unwrap();
    }
    wait_until("it is counted", || victim.drops(DropReason::UnknownPeer) > 100);
    victim.assert_serves_at(&victim.unix);
    // One more: the connection that was just asked over.
    assert!(victim.faces().len() <= before + 1, "{} faces", victim.faces().len());
}

#[test]
fn connections_beyond_the_limit_are_closed_and_counted_and_those_there_go_on_working() {
    let victim = Victim::with(|config| config.node.max_on_demand_faces = 40);
    let mut there = connect(&victim.unix, Instant::now() + SOON);
    assert!(there.ask(&interest(&fresh_name("/honest")), Instant::now() + SOON).is_some());
    let mut crowd: Vec<Peer> = (0..100).map(|_| connect(&victim.tcp, Instant::now() + SOON)).collect();
    wait_until("some are turned away", || victim.drops(DropReason::TooManyFaces) >= 60);
    assert!(there.ask(&interest(&fresh_name("/honest")), Instant::now() + SOON).is_some());
    let last = crowd.last_mut().unwrap();
    assert!(last.is_closed_by(Instant::now() + SOON), "a connection too many was left open");
    drop(crowd);
    victim.assert_serves();
}
