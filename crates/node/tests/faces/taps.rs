//! What watches or changes the frames of a face.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use cairn_node::config::{ImpairedDirection, ImpairmentSection};
use link::{Faults, Impairment, ImpairmentConfig};
use packet::time::Duration;

use crate::support::*;

/// The blocks of a pcapng file: kind and body.
fn blocks(mut file: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut blocks = Vec::new();
    while let [a, b, c, d, e, f, g, h, ..] = *file {
        let length = u32::from_le_bytes([e, f, g, h]) as usize;
        let Some((block, rest)) = file.split_at_checked(length) else { break };
        blocks.push((u32::from_le_bytes([a, b, c, d]), block[8..length - 4].to_vec()));
        file = rest;
    }
    blocks
}

#[test]
fn a_capture_has_every_frame_of_the_names_asked_for_in_both_directions_and_no_other() {
    let node = TestNode::start();
    let (consumer, producer) = (udp_peer(), udp_peer());
    let face = node.create(&format!("udp4://{}", producer.local_addr().unwrap()));
    node.route("/", face.id);
    let mut capture = UnixStream::connect(node.directory.join("nfd.capture")).unwrap();
    capture.set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
    writeln!(capture, "capture prefix=/x").unwrap();
    let mut file = Vec::new();
    let read_more = |capture: &mut UnixStream, file: &mut Vec<u8>| {
        let mut piece = [0; 4096];
        if let Ok(read) = capture.read(&mut piece) {
            file.extend_from_slice(&piece[..read]);
        }
    };
    // The capture has begun when its header comes.
    node.until("the capture has begun", |_| {
        read_more(&mut capture, &mut file);
        blocks(&file).len() == 1
    });
    for uri in ["/other/1", "/x/1"] {
        consumer.send_to(&interest(uri), node.address("udp4")).unwrap();
        receive(&producer);
        producer.send_to(&data(uri, 100), node.address("udp4")).unwrap();
        receive(&consumer);
    }
    node.until("four frames have been captured", |_| {
        read_more(&mut capture, &mut file);
        blocks(&file).iter().filter(|(kind, _)| *kind == 6).count() >= 4
    });
    let blocks = blocks(&file);
    assert_eq!(blocks.iter().filter(|(kind, _)| *kind == 1).count(), 2, "an interface for each face");
    let frames: Vec<&[u8]> =
        blocks.iter().filter(|(kind, _)| *kind == 6).map(|(_, body)| &body[20 + 12..]).collect();
    assert_eq!(frames.len(), 4);
    for (number, frame) in frames.iter().enumerate() {
        assert_eq!(frame[..2], [0x86, 0x24]);
        assert_eq!(frame[2], if number < 2 { 5 } else { 6 }, "Interest in and out, then Data in and out");
    }
    drop(capture);
    // The node goes on without it.
    consumer.send_to(&interest("/x/2"), node.address("udp4")).unwrap();
    receive(&producer);
}

#[test]
fn there_are_eight_captures_at_once_and_the_place_of_one_that_ends_is_free() {
    let node = TestNode::start();
    // The first byte of a capture, or none where there is no place for it.
    let begin = || {
        let mut capture = UnixStream::connect(node.directory.join("nfd.capture")).unwrap();
        capture.set_read_timeout(Some(TIMEOUT)).unwrap();
        // One that is closed at once may be gone already.
        let _ = writeln!(capture, "capture");
        let has_begun = matches!(capture.read(&mut [0]), Ok(1));
        (capture, has_begun)
    };
    let mut captures: Vec<_> = (0..8).map(|_| begin()).collect();
    assert!(captures.iter().all(|(_, has_begun)| *has_begun));
    assert!(!begin().1, "there is a ninth");
    captures.pop();
    node.until("there is a place again", |_| begin().1);
}

#[test]
fn a_line_that_asks_for_no_capture_is_answered_with_a_reason() {
    let node = TestNode::start();
    let mut capture = UnixStream::connect(node.directory.join("nfd.capture")).unwrap();
    capture.set_read_timeout(Some(TIMEOUT)).unwrap();
    writeln!(capture, "please").unwrap();
    let mut answer = String::new();
    capture.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "refused: not a request for a capture: please\n");
}

#[test]
fn a_bad_link_on_purpose_delays_and_loses_frames_as_it_is_told() {
    let node = TestNode::start();
    let (consumer, producer) = (udp_peer(), udp_peer());
    let face = node.create(&format!("udp4://{}", producer.local_addr().unwrap()));
    node.route("/x", face.id);
    let slow = ImpairmentConfig { delay: Duration::from_millis(80), ..ImpairmentConfig::default() };
    assert!(node.node.control().add_tap(face.id, Box::new(Impairment::new(slow, 1))));
    let start = std::time::Instant::now();
    consumer.send_to(&interest("/x/1"), node.address("udp4")).unwrap();
    receive(&producer);
    producer.send_to(&data("/x/1", 100), node.address("udp4")).unwrap();
    receive(&consumer);
    assert!(start.elapsed() >= std::time::Duration::from_millis(160), "once each way");
    let broken = ImpairmentConfig::from(Faults { loss: 1.0, ..Faults::NONE });
    let lost = node.create("udp4://127.0.0.1:9");
    node.route("/lost", lost.id);
    assert!(node.node.control().add_tap(lost.id, Box::new(Impairment::new(broken, 1))));
    consumer.send_to(&interest("/lost/1"), node.address("udp4")).unwrap();
    node.until("the frame is counted as lost", |node| {
        node.faces().iter().any(|face| face.traffic.transport_drops.contains(&("loss", 1)))
    });
    assert!(
        !node
            .node
            .control()
            .add_tap(engine::FaceId(9), Box::new(Impairment::new(ImpairmentConfig::default(), 1)))
    );
}

#[test]
fn a_link_is_as_bad_as_the_configuration_says_and_mended_when_it_says_so_no_more() {
    let (consumer, producer) = (udp_peer(), udp_peer());
    let face = |delay_micros| cairn_node::config::FaceSection {
        dialect: "ndn".to_owned(),
        ndnlp: None,
        ndnlp_timings: None,
        reliable: None,
        remote: format!("udp4://{}", producer.local_addr().unwrap()),
        local: None,
        persistent: false,
        routes: vec!["/x".to_owned()],
        cost: 0,
        impairment: Some(ImpairmentSection { delay_micros, seed: 1, ..ImpairmentSection::default() }),
    };
    let mut node = TestNode::start_with(|config| config.faces = vec![face(80_000)]);
    let round_trip = |node: &TestNode, uri: &str| {
        let start = std::time::Instant::now();
        consumer.send_to(&interest(uri), node.address("udp4")).unwrap();
        receive(&producer);
        producer.send_to(&data(uri, 100), node.address("udp4")).unwrap();
        receive(&consumer);
        start.elapsed()
    };
    assert!(round_trip(&node, "/x/1") >= std::time::Duration::from_millis(160), "once each way");
    // Twice the same is not twice as slow.
    let mut config = quiet_config();
    config.unix.listen = Some(vec![node.directory.join("nfd.sock")]);
    config.faces = vec![face(30_000)];
    node.node.reload(&config).unwrap();
    assert!(round_trip(&node, "/x/2") >= std::time::Duration::from_millis(60));
    let taps =
        |node: &TestNode| node.faces().iter().map(|face| face.traffic.transport_drops.len()).sum::<usize>();
    assert_eq!(taps(&node), 0, "nothing is lost");
    let mut broken = face(0);
    broken.impairment = Some(ImpairmentSection {
        loss: 1.0,
        direction: ImpairedDirection::Out,
        ..ImpairmentSection::default()
    });
    config.faces = vec![broken];
    node.node.reload(&config).unwrap();
    consumer.send_to(&interest("/x/3"), node.address("udp4")).unwrap();
    node.until("the frame is counted as lost", |node| {
        node.faces().iter().any(|face| face.traffic.transport_drops.contains(&("loss", 1)))
    });
    let mut mended = face(0);
    mended.impairment = None;
    config.faces = vec![mended];
    node.node.reload(&config).unwrap();
    round_trip(&node, "/x/4");
}
