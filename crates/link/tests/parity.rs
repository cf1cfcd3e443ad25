//! Parity over a link with many ends: one service sends, others miss what they are told to miss.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use cairn_link::v2::{Config, EndpointId, Framed, LinkService, ParityConfig, Received};
use packet::ndn::tlv;
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Buffer, LinkHeader, LinkType};

const SENDER: EndpointId = EndpointId(7);

fn config() -> Config {
    Config {
        link_type: LinkType::MultiAccess,
        parity: Some(ParityConfig::default()),
        congestion_marking: None,
        ..Config::default()
    }
}

fn service(config: &Config, seed: u64) -> LinkService {
    LinkService::new(config.clone(), Random::from_seed(seed)).unwrap()
}

fn data(number: u32) -> Buffer {
    let mut value = vec![0xda; 1200 + number as usize % 7];
    value[100..104].copy_from_slice(&number.to_le_bytes());
    let mut packet = Vec::new();
    tlv::write_element(&mut packet, 6, &value);
    Buffer::from(packet)
}

/// A sender, by the way without copies, as faces of the daemon go it.
struct Bench {
    sender: LinkService,
    now: Instant,
    next: u32,
}

impl Bench {
    fn new(config: &Config) -> Self {
        Bench { sender: service(config, 1), now: Instant::ZERO, next: 1000 }
    }

    /// One whose packets had to be repaired so often that it sends parity frames.
    fn with_losses(config: &Config) -> Self {
        let mut bench = Bench::new(config);
        for _ in 0..2 {
            (0..600).for_each(|number| drop(bench.send(&data(number))));
        }
        assert!(bench.sender.counters().parity.sent > 0);
        // The block that is open is forgotten or leaves.
        bench.now += Duration::from_secs(1);
        bench.sender.handle_timeout(bench.now);
        while bench.sender.poll_transmit(bench.now, &mut Vec::new()).is_some() {}
        bench
    }

    /// Frames that leave when a packet is sent.
    fn send(&mut self, packet: &Buffer) -> Vec<Vec<u8>> {
        self.now += Duration::from_micros(100);
        let (mut frames, mut head) = (Vec::new(), Vec::new());
        if self.sender.frame_bare(self.now, packet) {
            frames.push(packet.to_vec());
            assert!(!self.sender.wants_poll());
            return frames;
        }
        let framed = self.sender.frame(self.now, LinkHeader::NONE, None, packet, &mut head);
        assert_eq!(framed, Ok(Framed::Whole));
        head.extend_from_slice(packet);
        frames.push(head);
        if self.sender.wants_poll() {
            let mut parity = Vec::new();
            assert!(self.sender.poll_transmit(self.now, &mut parity).is_some());
            frames.push(parity);
            assert!(!self.sender.wants_poll());
        }
        frames
    }

    fn send_new(&mut self) -> (Buffer, Vec<Vec<u8>>) {
        self.next += 1;
        let packet = data(self.next);
        let frames = self.send(&packet);
        (packet, frames)
    }
}

/// Takes a frame in as faces of the daemon do; gives the packets that come of it.
fn receive(receiver: &mut LinkService, now: Instant, frame: &[u8]) -> Vec<Vec<u8>> {
    if receiver.receive_bare(frame) {
        return vec![frame.to_vec()];
    }
    match receiver.receive_frame(now, SENDER, frame) {
        Ok(Received::Packet { packet, .. }) => vec![packet.to_vec()],
        Ok(Received::Taken) => std::iter::from_fn(|| receiver.poll_deliver())
            .map(|delivery| {
                assert_eq!(delivery.from, SENDER);
                delivery.packet.to_vec()
            })
            .collect(),
        Err(reason) => panic!("{reason}"),
    }
}

#[test]
fn each_of_forty_receivers_that_misses_another_frame_gets_all_packets() {
    for padded_frames in [false, true] {
        let config = Config { padded_frames, ..config() };
        let mut bench = Bench::with_losses(&config);
        let mut receivers: Vec<_> = (0..40).map(|seed| (service(&config, seed), Vec::new())).collect();
        let mut sent = Vec::new();
        let mut place = 0;
        for _ in 0..400 {
            let (packet, frames) = bench.send_new();
            sent.push(packet.to_vec());
            for frame in frames {
                place += 1;
                for (number, (receiver, got)) in receivers.iter_mut().enumerate() {
                    // Each misses one in forty, so never two of a block; none before it has heard of parity.
                    if place % 40 != number || sent.len() < 30 {
                        let padding = if padded_frames { &[0, 0, 0][..] } else { &[] };
                        got.extend(receive(receiver, bench.now, &[&frame[..], padding].concat()));
                    }
                }
            }
        }
        let last = sent.len() - 40;
        for (receiver, mut got) in receivers {
            got.sort();
            let counters = receiver.counters();
            assert!(sent[..last].iter().all(|packet| got.binary_search(packet).is_ok()), "{counters:?}");
            assert!(counters.parity.rebuilt >= 5, "{counters:?}");
            // Of the first parity frame nothing was known, as nothing had been kept.
            assert_eq!((counters.packets_in, counters.parity.not_rebuilt), (got.len() as u64, 1));
            assert_eq!(receiver.drops().total(), 0);
        }
    }
}

#[test]
fn a_receiver_without_parity_takes_a_parity_frame_for_one_without_a_packet() {
    let mut bench = Bench::with_losses(&config());
    let before = bench.sender.counters().parity.sent;
    let mut receiver = service(&Config { parity: None, ..config() }, 2);
    for _ in 0..100 {
        let (packet, frames) = bench.send_new();
        let got: Vec<_> = frames.iter().flat_map(|frame| receive(&mut receiver, bench.now, frame)).collect();
        assert_eq!(got, [packet.to_vec()]);
    }
    let counters = receiver.counters();
    let sent = bench.sender.counters().parity.sent - before;
    assert!(sent > 0);
    assert_eq!((counters.idle_in, counters.parity.received), (sent, 0));
}

#[test]
fn parity_that_is_switched_off_sends_and_keeps_nothing_more() {
    let mut bench = Bench::with_losses(&config());
    bench.send_new();
    bench.sender.set_config(Config { parity: None, ..config() }).unwrap();
    assert_eq!(bench.sender.next_deadline(), Instant::NEVER);
    for _ in 0..100 {
        assert_eq!(bench.send_new().1.len(), 1);
    }
}
