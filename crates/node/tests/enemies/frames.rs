//! Frames that are nearly right, by the ten thousand, over every kind of socket.

use std::time::Instant;

use packet::Rule;
use packet::ndn::tlv;

use crate::mutate::Mutator;
use crate::peer::{Listener, Peer, message};
use crate::victim::{SOON, Victim, connect, wait_until};

const FRAMES: usize = 20_000;
/// Frames sent over one stream, if it lives so long.
const FRAMES_PER_STREAM: usize = 50;

pub(crate) fn mutator(seed: u64) -> Mutator {
    Mutator::of_vectors(&["ndn", "ndn-lp", "ndn-management"], seed)
}

/// Whether a stream of these bytes comes to a place where no frame begins: one that is neither Interest, Data
/// nor link packet, or whose length is larger than any may be or is not written as short as it can be. Bytes
/// behind such a place mean nothing.
fn is_broken(mut stream: &[u8]) -> bool {
    const LARGEST: u64 = 8800 + 1024;
    loop {
        let Some(kind) = stream.first() else { return false };
        if ![0x05, 0x06, 0x64].contains(kind) {
            return true;
        }
        let end = match tlv::read_number(stream, 1) {
            Ok((length, start)) if length <= LARGEST - start as u64 => start + length as usize,
            Err(Rule::Truncated { .. }) => return false,
            Ok(_) | Err(_) => return true,
        };
        let Some(rest) = stream.get(end..) else { return false };
        stream = rest;
    }
}

/// Sends damaged frames over one stream after the other, each with an end, and demands that those and only
/// those are counted as broken that are.
fn bombard_streams(place: impl Fn(&Victim) -> &Listener, seed: u64) {
    let victim = Victim::start();
    let mut mutator = mutator(seed);
    let mut broken = 0;
    for _ in 0..FRAMES / FRAMES_PER_STREAM {
        let frames: Vec<u8> = (0..FRAMES_PER_STREAM).flat_map(|_| mutator.next()).collect();
        broken += u64::from(is_broken(&frames));
        let mut peer = connect(place(&victim), Instant::now() + SOON);
        // The node may have closed by then.
        let _ = peer.send(&frames);
        peer.finish_sending();
        assert!(peer.is_closed_by(Instant::now() + SOON), "a stream that has ended stayed open");
    }
    victim.assert_serves();
    assert!(broken > 200, "the damage must be such that streams break, and only {broken} do");
    assert_eq!(victim.drops(cairn_node::DropReason::BrokenStream), broken, "{}", victim.metrics());
}

#[test]
fn damaged_frames_over_tcp_leave_the_node_serving_and_every_broken_stream_is_counted() {
    bombard_streams(|victim| &victim.tcp, 2);
}

#[test]
fn damaged_frames_over_a_unix_socket_leave_the_node_serving_and_every_broken_stream_is_counted() {
    bombard_streams(|victim| &victim.unix, 3);
}

/// Sends damaged frames, each in a message of its own; a connection that the node closes is begun anew.
fn bombard(place: &Listener, seed: u64) {
    let mut mutator = mutator(seed);
    let mut peer = connect(place, Instant::now() + SOON);
    for _ in 0..FRAMES {
        let is_datagram = matches!(place, Listener::Udp(_));
        // A datagram may be larger than the system sends.
        if peer.send(&mutator.next()).is_err() && !is_datagram {
            peer = connect(place, Instant::now() + SOON);
        }
    }
}

#[test]
fn damaged_frames_over_udp_leave_the_node_serving_and_are_counted() {
    let victim = Victim::start();
    bombard(&victim.udp, 1);
    victim.assert_serves();
    // All came from one peer, so they have made one face; it says what it thinks of them.
    let noisy = victim.faces().into_iter().max_by_key(|face| face.traffic.in_frames).unwrap();
    let malformed = noisy.traffic.link_drops.iter().find(|(word, _)| *word == "malformed-frame");
    assert!(malformed.is_some_and(|(_, count)| *count > 100), "{noisy:?}");
}

#[test]
fn damaged_frames_in_messages_of_a_websocket_leave_the_node_serving_and_are_counted() {
    let victim = Victim::start();
    bombard(&victim.websocket, 4);
    victim.assert_serves();
    let series = "cairn_drops_total{layer=\"link\",reason=\"malformed-frame\"}";
    assert!(victim.counted(series) > 1000, "{}", victim.metrics());
}

#[test]
fn damaged_messages_of_a_websocket_leave_the_node_serving_and_are_counted() {
    let victim = Victim::start();
    let payload = Mutator::of_vectors(&["ndn"], 5).next();
    let seeds = [
        message(0x82, &payload),
        message(0x02, b"Hel"),
        message(0x80, b"lo"),
        message(0x89, b"are you there"),
        message(0x8a, b"yes"),
        message(0x88, &[3, 232]),
    ];
    let mut mutator = Mutator::of(seeds.to_vec(), 6);
    for _ in 0..300 {
        // A damaged length may swallow whatever follows, so none of them lives for long.
        let mut peer = connect(&victim.websocket, Instant::now() + SOON);
        let _ = (0..10).try_for_each(|_| peer.send_raw(&mutator.next()));
    }
    victim.assert_serves();
    assert!(victim.drops(cairn_node::DropReason::BrokenStream) > 50, "{}", victim.metrics());
}

#[test]
fn faces_of_streams_that_made_no_sense_are_gone_and_so_is_what_they_held() {
    let victim = Victim::start();
    let before = victim.faces().len();
    for place in [&victim.tcp, &victim.unix] {
        let mut peers: Vec<Peer> = (0..50).map(|_| connect(place, Instant::now() + SOON)).collect();
        for peer in &mut peers {
            // An Interest of 64 KiB is larger than any may be.
            let _ = peer.send(&[5, 253, 0xff, 0xff, 7, 7]);
        }
        for peer in &mut peers {
            assert!(peer.is_closed_by(Instant::now() + SOON), "a stream of nonsense stayed open");
        }
    }
    wait_until("the faces go", || victim.faces().len() == before);
    assert_eq!(victim.drops(cairn_node::DropReason::BrokenStream), 100);
}
