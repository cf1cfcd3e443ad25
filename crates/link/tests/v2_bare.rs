//! The short way of packets that need no header: it is taken only where the long way would do the same, and
//! counts the same.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use cairn_link::v2::{
    Config, CongestionConfig, EndpointId, Framed, LinkService, Received, ReliabilityConfig,
};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Buffer, LinkHeader};

/// An Interest or a Data by its outermost element, with so many bytes inside.
fn packet(kind: u8, len: usize) -> Buffer {
    let mut bytes = vec![kind];
    match len {
        0..=252 => bytes.push(len as u8),
        _ => bytes.extend([253, (len >> 8) as u8, len as u8]),
    }
    bytes.resize(bytes.len() + len, 7);
    Buffer::from(bytes)
}

fn service(config: &Config) -> LinkService {
    LinkService::new(config.clone(), Random::from_seed(1)).unwrap()
}

fn configs() -> Vec<Config> {
    vec![
        Config::default(),
        Config { transport_mtu_bytes: Some(500), ..Config::default() },
        Config { max_packet_bytes: 500, ..Config::default() },
        Config { padded_frames: true, ..Config::default() },
        Config { reliability: Some(ReliabilityConfig::default()), ..Config::default() },
        Config { congestion_marking: Some(CongestionConfig::default()), ..Config::default() },
    ]
}

#[test]
fn a_packet_that_leaves_bare_would_have_left_as_it_is_and_counts_the_same() {
    let mut bare = 0;
    for config in configs() {
        for (kind, len) in [(5, 40), (6, 200), (5, 300), (6, 497), (6, 2000), (6, 8000)] {
            for queued_bytes in [None, Some(0), Some(1 << 20)] {
                let (mut short, mut long) = (service(&config), service(&config));
                short.handle_send_queue(queued_bytes);
                long.handle_send_queue(queued_bytes);
                let (packet, mut frame) = (packet(kind, len), Vec::new());
                let counters = *short.counters();
                if !short.frame_bare(Instant::ZERO, &packet) {
                    assert_eq!(*short.counters(), counters, "what goes the long way is counted there");
                    continue;
                }
                bare += 1;
                let framed = long.frame(Instant::ZERO, LinkHeader::NONE, None, &packet, &mut frame);
                assert_eq!(framed, Ok(Framed::Whole), "{config:?}");
                assert_eq!((frame.len(), short.counters()), (0, long.counters()));
            }
        }
    }
    assert!(bare > 20, "{bare}");
}

#[test]
fn a_queue_that_is_too_long_is_noticed_though_packets_are_bare() {
    let config = Config { congestion_marking: Some(CongestionConfig::default()), ..Config::default() };
    let mut service = service(&config);
    let packet = packet(6, 100);
    assert!(service.frame_bare(Instant::ZERO, &packet));
    service.handle_send_queue(Some(1 << 20));
    let mut frame = Vec::new();
    for millis in [0, 150] {
        assert!(!service.frame_bare(Instant::ZERO, &packet));
        let now = Instant::ZERO + Duration::from_millis(millis);
        assert_eq!(service.frame(now, LinkHeader::NONE, None, &packet, &mut frame), Ok(Framed::Whole));
    }
    assert_eq!(service.counters().congestion_marks_out, 1);
}

#[test]
fn a_frame_that_is_taken_bare_would_have_been_taken_as_it_is_and_counts_the_same() {
    let mut frames: Vec<Vec<u8>> = Vec::new();
    for (kind, len) in [(5, 0), (5, 40), (6, 252), (6, 253), (6, 497), (6, 2000)] {
        let whole = packet(kind, len).to_vec();
        frames.push(whole.get(..whole.len() - 1).unwrap().to_vec());
        frames.push([&whole[..], &[0]].concat());
        frames.push(whole);
    }
    frames.extend([
        vec![],
        vec![5],
        vec![6, 253, 0, 1, 9],
        vec![7, 1, 1],
        vec![253, 0, 5, 0],
        vec![100, 2, 80, 0],
    ]);
    let mut bare = 0;
    for config in configs() {
        for frame in &frames {
            let (mut short, mut long) = (service(&config), service(&config));
            let counters = *short.counters();
            if !short.receive_bare(frame) {
                assert_eq!(*short.counters(), counters, "what goes the long way is counted there");
                continue;
            }
            bare += 1;
            let received = long.receive_frame(Instant::ZERO, EndpointId(0), frame).unwrap();
            let Received::Packet { packet, header, nack } = received else { panic!("{frame:?}") };
            assert_eq!((packet, header, nack), (&frame[..], LinkHeader::NONE, None));
            assert_eq!(short.counters(), long.counters());
        }
    }
    assert!(bare > 20, "{bare}");
}
