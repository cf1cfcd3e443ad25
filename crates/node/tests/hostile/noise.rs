//! Frames that are none, and streams that never come to the point.

use std::io::Write;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use packet::ndn::lp::LpPacketView;
use packet::random::Random;

use crate::support::*;
use crate::witness::Witness;

/// A frame that is nearly right: a good one with a few bytes changed, cut, or noise from the start.
fn nearly(random: &mut Random) -> Vec<u8> {
    let mut frame = match random.below(5) {
        0 => interest(&format!("/fuzz/{}", random.below(100))),
        1 => data(&format!("/fuzz/{}", random.below(100)), random.below(2000) as usize),
        2 => {
            let packet = interest("/fuzz/nack");
            let mut frame = Vec::new();
            let nack = Some(packet::NackReason::NoRoute);
            LpPacketView { nack, fragment: Some(&packet), ..Default::default() }.encode(&mut frame);
            frame
        }
        3 => {
            let packet = data("/fuzz/fragment", 500);
            let mut frame = Vec::new();
            let view = LpPacketView {
                sequence: Some(random.next_u64()),
                frag_index: Some(random.below(5)),
                frag_count: Some(random.below(500)),
                tx_sequence: Some(random.next_u64()),
                pit_token: &[1, 2, 3],
                fragment: Some(&packet),
                ..Default::default()
            };
            view.encode(&mut frame);
            frame
        }
        _ => (0..random.below(300)).map(|_| random.next_u32() as u8).collect(),
    };
    for _ in 0..random.below(4) {
        if !frame.is_empty() {
            let at = random.below(frame.len() as u64) as usize;
            frame[at] = random.next_u32() as u8;
        }
    }
    if random.chance(0.2) {
        frame.truncate(random.below(frame.len() as u64 + 1) as usize);
    }
    frame
}

const FRAMES: usize = 4000;

#[test]
fn noise_over_udp_leaves_the_node_serving() {
    let node = TestNode::start();
    let mut witness = Witness::of(&node);
    let mut random = Random::from_seed(1);
    let peer = udp_peer();
    for number in 0..FRAMES {
        peer.send_to(&nearly(&mut random), node.address("udp4")).unwrap();
        if number % 1000 == 0 {
            witness.is_served(&node);
        }
    }
    witness.is_served(&node);
    let noisy = node
        .faces()
        .into_iter()
        .find(|face| face.remote.to_string().ends_with(&peer.local_addr().unwrap().to_string()));
    let drops = noisy.expect("a face, once a good frame came").traffic.link_drops;
    assert!(drops.iter().map(|(_, count)| count).sum::<u64>() > 100, "{drops:?}");
}

/// Sends noise by connections that `connect` makes; a node closes those that make no sense, and the next one is made.
fn noise_over_streams(node: &TestNode, seed: u64, mut connect: impl FnMut() -> Box<dyn Write>) {
    let mut witness = Witness::of(node);
    let mut random = Random::from_seed(seed);
    let mut stream = connect();
    for number in 0..FRAMES {
        if stream.write_all(&nearly(&mut random)).is_err() {
            stream = connect();
        }
        if number % 1000 == 0 {
            witness.is_served(node);
        }
    }
    witness.is_served(node);
    drop(stream);
    node.until("the noisy connections are closed", |node| {
        node.faces().iter().all(|face| face.remote.scheme() == "udp4")
    });
}

#[test]
fn noise_over_tcp_leaves_the_node_serving() {
    let node = TestNode::start();
    noise_over_streams(&node, 2, || Box::new(tcp_peer(node.address("tcp4"))));
}

#[test]
fn noise_over_unix_sockets_leaves_the_node_serving() {
    let node = TestNode::start();
    noise_over_streams(&node, 3, || Box::new(UnixStream::connect(node.directory.join("nfd.sock")).unwrap()));
}

#[test]
fn noise_before_and_after_the_handshake_of_a_websocket_leaves_the_node_serving() {
    let node = TestNode::start();
    noise_over_streams(&node, 4, || Box::new(tcp_peer(node.address("ws"))));
    noise_over_streams(&node, 5, || Box::new(WebSocketPeer::connect(node.address("ws")).stream));
    let mut witness = Witness::of(&node);
    let mut random = Random::from_seed(6);
    let mut browser = WebSocketPeer::connect(node.address("ws"));
    for _ in 0..1000 {
        browser.send(&nearly(&mut random));
    }
    witness.is_served(&node);
}

#[test]
fn streams_that_trickle_are_closed_and_take_nothing_from_others() {
    let node = TestNode::start_with(|config| config.node.stall_timeout_secs = 1);
    let mut witness = Witness::of(&node);
    let frame = data("/slow", 5000);
    let mut slow: Vec<TcpStream> = (0..100).map(|_| tcp_peer(node.address("tcp4"))).collect();
    // The request of a WebSocket that never ends is as bad.
    slow.extend((0..20).map(|_| tcp_peer(node.address("ws"))));
    let mut sent = 0;
    node.until("all of them are closed", |node| {
        // A byte now and then is no progress.
        for stream in &mut slow {
            let _ = stream.write_all(&frame[sent..=sent]);
        }
        sent += 1;
        std::thread::sleep(Duration::from_millis(20));
        sent > 20 && node.faces().iter().all(|face| face.remote.scheme() == "udp4")
    });
    witness.is_served(&node);
}

#[test]
fn an_idle_connection_between_frames_is_left_alone() {
    let node = TestNode::start_with(|config| config.node.stall_timeout_secs = 1);
    let mut quiet = tcp_peer(node.address("tcp4"));
    quiet.write_all(&interest("/quiet/1")).unwrap();
    let mut trickling = tcp_peer(node.address("tcp4"));
    trickling.write_all(&[5]).unwrap();
    node.until("both have faces", |node| node.faces().len() == 2);
    node.until("the one in the middle of a frame is closed", |node| node.faces().len() == 1);
    assert_eq!(node.faces()[0].remote.to_string(), format!("tcp4://{}", quiet.local_addr().unwrap()));
}

#[test]
fn elements_larger_than_any_packet_end_a_stream_and_are_dropped_as_datagrams() {
    let node = TestNode::start();
    let mut witness = Witness::of(&node);
    for start in [
        &[5, 253, 0xff, 0xff][..],
        &[6, 254, 1, 0, 0, 0],
        &[100, 255, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    ] {
        let mut stream = tcp_peer(node.address("tcp4"));
        stream.write_all(start).unwrap();
        // The node closes without waiting for what was announced.
        let mut rest = Vec::new();
        let _ = std::io::Read::read_to_end(&mut stream, &mut rest);
        assert_eq!(rest, []);
    }
    let peer = udp_peer();
    peer.send_to(&interest("/known"), node.address("udp4")).unwrap();
    let mut large = vec![6, 253, 0xea, 0x60];
    large.resize(4 + 60_000, 0);
    peer.send_to(&large, node.address("udp4")).unwrap();
    node.until("the datagram is counted", |node| {
        node.faces().iter().any(|face| face.traffic.link_drops.contains(&("packet-too-large", 1)))
    });
    witness.is_served(&node);
}
