//! A neighbour with a stock socket and a slow forwarder, in virtual time: what is asked again, and how long
//! it takes.
//!
//! The neighbour does what NFD does: one thread, one datagram a read, as many Interests of an application as
//! were in one read of its stream, and a receive buffer of 212,992 bytes of kernel memory. What the same
//! exchange costs between two such forwarders is the measure.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::collections::{BTreeMap, VecDeque};

use cairn_link::v2::{Config, EndpointId, LinkService, PacingConfig, ReliabilityConfig};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Buffer, LinkHeader, NackReason};

mod common;
use common::{data, number_of};

/// What one datagram costs the slow forwarder, and what one Interest of its application does. Together an
/// exchange.
const DATAGRAM: Duration = Duration::from_micros(45);
const ASKING: Duration = Duration::from_micros(45);
/// What one read of an application's stream gives.
const INTERESTS_A_READ: usize = 100;
const STOCK_BUFFER: u64 = 212_992;
/// When the consumer asks again.
const TIMEOUT: Duration = Duration::from_millis(500);

/// What Linux charges a datagram with: its bytes and headers in a block of a power of two, and the note about
/// it.
fn truesize(len: usize) -> u64 {
    ((len + 448).next_power_of_two().max(512) + 256) as u64
}

#[derive(Clone, Copy, Debug)]
struct Case {
    window: usize,
    data_len: usize,
    mtu: usize,
    reliability: bool,
    delay: Duration,
    /// Whether the producer's node is as slow as the neighbour, and as simple.
    producer_is_slow: bool,
    pacing: bool,
    /// Whether the neighbour sends Interests back that it cannot bring any further.
    nacks: bool,
    /// The largest datagram that the path carries.
    path: usize,
}

const CASE: Case = Case {
    window: 256,
    data_len: 1300,
    mtu: 1400,
    reliability: false,
    delay: Duration::from_micros(30),
    producer_is_slow: false,
    pacing: true,
    nacks: true,
    path: usize::MAX,
};

#[derive(Debug)]
struct Outcome {
    asked_again: usize,
    overrun: usize,
    took: Duration,
    mtu: Option<usize>,
}

/// One end: a link, and the queue of its socket.
struct End {
    link: LinkService,
    queue: VecDeque<Vec<u8>>,
    queued: u64,
    overrun: usize,
    busy_until: Instant,
}

impl End {
    fn new(config: &Config, seed: u64) -> Self {
        let link = LinkService::new(config.clone(), Random::from_seed(seed)).unwrap();
        End { link, queue: VecDeque::new(), queued: 0, overrun: 0, busy_until: Instant::ZERO }
    }

    fn arrive(&mut self, frame: Vec<u8>) {
        // As in the kernel, what comes is taken while the queue is not above its limit.
        if self.queued > STOCK_BUFFER {
            self.overrun += 1;
        } else {
            self.queued += truesize(frame.len());
            self.queue.push_back(frame);
        }
    }

    fn take(&mut self) -> Option<Vec<u8>> {
        let frame = self.queue.pop_front()?;
        self.queued -= truesize(frame.len());
        Some(frame)
    }
}

struct World {
    case: Case,
    now: Instant,
    producer: End,
    neighbour: End,
    /// Interests that the application has written.
    stream: VecDeque<u64>,
    streams_turn: bool,
    /// Frames under way, by arrival; to the neighbour or to the producer.
    wire: BTreeMap<(Instant, u64), (bool, Vec<u8>)>,
    sent: u64,
    total: u64,
    next: u64,
    pending: BTreeMap<u64, Instant>,
    asked_again: usize,
}

fn interest(number: u64) -> Buffer {
    let mut packet = vec![5, 98];
    packet.extend_from_slice(&number.to_be_bytes());
    packet.resize(100, 0);
    Buffer::from(packet)
}

impl World {
    fn new(case: Case, total: u64) -> Self {
        let plain = Config {
            transport_mtu_bytes: Some(case.mtu),
            reliability: case.reliability.then(ReliabilityConfig::default),
            max_outgoing_packets: 4096,
            ..Config::default()
        };
        let paced = Config { pacing: case.pacing.then(PacingConfig::default), ..plain.clone() };
        World {
            case,
            now: Instant::from_secs(1),
            producer: End::new(&paced, 1),
            neighbour: End::new(&plain, 2),
            stream: VecDeque::new(),
            streams_turn: true,
            wire: BTreeMap::new(),
            sent: 0,
            total,
            next: 0,
            pending: BTreeMap::new(),
            asked_again: 0,
        }
    }

    fn transmit(&mut self, from_producer: bool, at: Instant) {
        let end = if from_producer { &mut self.producer } else { &mut self.neighbour };
        let mut frame = Vec::new();
        while end.link.poll_transmit(at, &mut frame).is_some() {
            let frame = std::mem::take(&mut frame);
            self.sent += 1;
            if frame.len() <= self.case.path {
                self.wire.insert((at + self.case.delay, self.sent), (from_producer, frame));
            }
        }
    }

    fn ask(&mut self) {
        while self.pending.len() < self.case.window && self.next < self.total {
            self.pending.insert(self.next, self.now);
            self.stream.push_back(self.next);
            self.next += 1;
        }
        for (number, asked_at) in &mut self.pending {
            if *asked_at + TIMEOUT <= self.now {
                *asked_at = self.now;
                self.asked_again += 1;
                self.stream.push_back(*number);
            }
        }
    }

    fn produce(&mut self) {
        while self.producer.busy_until <= self.now
            && let Some(frame) = self.producer.take()
        {
            if self.case.producer_is_slow {
                self.producer.busy_until = self.now + DATAGRAM + ASKING;
            }
            let at = self.producer.busy_until.max(self.now);
            let _ = self.producer.link.receive(at, EndpointId(0), &frame);
            while let Some(delivery) = self.producer.link.poll_deliver() {
                let number = number_of(&delivery.packet);
                let answer = Buffer::from(data(number, self.case.data_len));
                let _ = self.producer.link.send(at, LinkHeader::NONE, None, answer);
            }
            self.transmit(true, at);
        }
    }

    fn forward(&mut self) {
        while self.neighbour.busy_until <= self.now {
            self.streams_turn = !self.streams_turn || self.neighbour.queue.is_empty();
            if self.streams_turn && !self.stream.is_empty() {
                let mut at = self.now;
                for number in self.stream.drain(..self.stream.len().min(INTERESTS_A_READ)).collect::<Vec<_>>()
                {
                    at += ASKING;
                    self.neighbour.link.send(at, LinkHeader::NONE, None, interest(number)).unwrap();
                    self.transmit(false, at);
                }
                self.neighbour.busy_until = at;
            } else if let Some(frame) = self.neighbour.take() {
                let at = self.now + DATAGRAM;
                self.neighbour.busy_until = at;
                let _ = self.neighbour.link.receive(at, EndpointId(0), &frame);
                while let Some(delivery) = self.neighbour.link.poll_deliver() {
                    if delivery.packet[0] == 6 {
                        self.pending.remove(&number_of(&delivery.packet));
                        self.ask();
                    } else if self.case.nacks {
                        let back = Some(NackReason::NoRoute);
                        self.neighbour.link.send(at, LinkHeader::NONE, back, delivery.packet).unwrap();
                    }
                }
                self.transmit(false, at);
            } else if self.stream.is_empty() {
                return;
            }
        }
    }

    fn run(mut self) -> Outcome {
        let start = self.now;
        let mut steps = 0u64;
        self.ask();
        while self.next < self.total || !self.pending.is_empty() {
            steps += 1;
            assert!(steps < 5_000_000, "no end: {:?}, {} pending", self.case, self.pending.len());
            self.produce();
            self.forward();
            let mut next = self.wire.first_key_value().map_or(Instant::NEVER, |((at, _), _)| *at);
            for end in [&self.producer, &self.neighbour] {
                if !end.queue.is_empty() || end.busy_until > self.now {
                    next = next.min(end.busy_until);
                }
                next = next.min(end.link.next_deadline());
            }
            let oldest = self.pending.values().min().map_or(Instant::NEVER, |asked| *asked + TIMEOUT);
            self.now = self.now.max(next.min(oldest));
            while let Some(entry) = self.wire.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let (to_neighbour, frame) = entry.remove();
                if to_neighbour { self.neighbour.arrive(frame) } else { self.producer.arrive(frame) }
            }
            for from_producer in [true, false] {
                let end = if from_producer { &mut self.producer } else { &mut self.neighbour };
                let at = end.busy_until.max(self.now);
                if end.link.next_deadline() <= self.now {
                    end.link.handle_timeout(at);
                    self.transmit(from_producer, at);
                }
            }
            self.ask();
        }
        Outcome {
            asked_again: self.asked_again,
            overrun: self.neighbour.overrun,
            took: self.now.saturating_since(start),
            mtu: self.producer.link.mtu_bytes(),
        }
    }
}

fn run(case: Case, total: u64) -> Outcome {
    World::new(case, total).run()
}

/// The exchange between two slow forwarders, and from a Cairn that paces.
fn compare(case: Case, total: u64) -> [Outcome; 2] {
    let slow = run(Case { producer_is_slow: true, pacing: false, ..case }, total);
    [slow, run(case, total)]
}

fn cases(delay: Duration) -> Vec<Case> {
    let mut cases = Vec::new();
    for reliability in [false, true] {
        for (data_len, mtu, windows) in [
            (1300, 1400, &[16, 64, 256, 1000][..]),
            (8000, 8800, &[16, 64, 256, 1000]),
            (8000, 1400, &[16, 64]),
        ] {
            for &window in windows {
                cases.push(Case { window, data_len, mtu, reliability, delay, ..CASE });
            }
        }
    }
    cases
}

#[test]
fn a_neighbour_with_a_stock_socket_asks_no_more_again_than_between_two_of_its_kind_and_waits_no_longer() {
    for case in cases(Duration::from_micros(30)) {
        let [slow, paced] = compare(case, 2000);
        assert_eq!((paced.asked_again, paced.overrun), (0, 0), "{case:?}: {paced:?} against {slow:?}");
        // A fiftieth for echoes; where a socket holds only a dozen frames, every seventh is followed by one.
        let percent = if case.mtu > 1500 { 8 } else { 2 };
        let limit = slow.took * (100 + percent);
        assert!(paced.took * 100 <= limit, "{case:?}: {paced:?} against {slow:?}");
    }
}

#[test]
fn without_pacing_the_same_neighbour_is_overrun() {
    for window in [256, 1000] {
        let at_once = run(Case { window, pacing: false, ..CASE }, 2000);
        assert!(at_once.overrun > 100, "{at_once:?}");
    }
}

#[test]
fn on_a_long_path_no_more_is_lost_or_asked_again_than_between_two_of_its_kind() {
    for case in cases(Duration::from_millis(5)) {
        let [slow, paced] = compare(case, 2000);
        assert!(paced.overrun <= slow.overrun, "{case:?}: {paced:?} against {slow:?}");
        assert!(paced.asked_again <= slow.asked_again, "{case:?}: {paced:?} against {slow:?}");
        // Where the slow ones have no losses they win by the time in which the path's length is found out.
        let limit = if slow.asked_again > 100 { slow.took * 5 / 4 } else { Duration::from_secs(3) };
        assert!(paced.took <= limit, "{case:?}: {paced:?} against {slow:?}");
    }
}

#[test]
fn a_long_path_is_filled_in_the_end() {
    let case = Case { window: 256, delay: Duration::from_millis(5), ..CASE };
    let [slow, paced] = compare(case, 20_000);
    assert!(paced.took * 100 <= slow.took * 125, "{paced:?} against {slow:?}");
}

#[test]
fn a_neighbour_that_answers_no_echo_is_sent_to_with_spaces_between() {
    for reliability in [false, true] {
        let case = Case { window: 64, nacks: false, reliability, ..CASE };
        let paced = run(case, 4000);
        assert_eq!((paced.asked_again, paced.overrun), (0, 0), "{paced:?}");
    }
}

#[test]
fn a_path_that_drops_large_datagrams_is_noticed_and_packets_are_cut_to_fit() {
    for reliability in [false, true] {
        for path in [1250, 1472, 4000] {
            let case = Case { data_len: 8000, mtu: 8800, path, reliability, window: 16, ..CASE };
            let outcome = run(case, 2000);
            let mtu = outcome.mtu.unwrap();
            assert!(mtu <= path && mtu >= 1200, "{outcome:?}");
            // Probes cost the neighbour's own bytes: two of the MTU, which are 176 of its Interests.
            assert!(outcome.asked_again < 300, "{outcome:?}");
        }
    }
}

/// What leaves within two seconds of a single Interest that is answered with 8,000 bytes, to a neighbour that
/// sends an echo back for what arrives, and then for another packet.
fn after_one_interest(arrives: impl Fn(usize) -> bool) -> (Vec<usize>, Vec<usize>) {
    let config = Config { pacing: Some(PacingConfig::default()), ..Config::default() };
    let mut link = LinkService::new(config, Random::from_seed(1)).unwrap();
    let mut now = Instant::from_secs(1);
    link.receive(now, EndpointId(0), &interest(1)).unwrap();
    link.send(now, LinkHeader::NONE, None, Buffer::from(data(1, 8000))).unwrap();
    let mut lens = Vec::new();
    while now < Instant::from_secs(3) {
        let mut frame = Vec::new();
        while link.poll_transmit(now, &mut frame).is_some() {
            let answer = cairn_link::v2::answer_echo(&frame, 8 << 20).filter(|_| arrives(frame.len()));
            lens.push(frame.len());
            frame.clear();
            if let Some(answer) = answer {
                link.receive(now, EndpointId(0), &answer).unwrap();
            }
        }
        now = link.next_deadline().min(Instant::from_secs(3));
        link.handle_timeout(now);
    }
    link.send(now, LinkHeader::NONE, None, Buffer::from(data(2, 8000))).unwrap();
    let mut again = Vec::new();
    let mut frame = Vec::new();
    while let Some(len) = link.poll_transmit(now, &mut frame) {
        again.push(len);
    }
    (lens, again)
}

#[test]
fn who_asks_once_over_a_path_that_drops_large_datagrams_is_answered_the_next_time() {
    let (_, again) = after_one_interest(|len| len <= 1400);
    assert!(again.iter().filter(|len| **len > 1000).count() >= 6, "{again:?}");
    // One probe may be larger than the path; packets are not.
    assert!(again.iter().filter(|len| **len > 1400).count() <= 1, "{again:?}");
}

#[test]
fn whoever_has_not_proved_its_address_is_sent_no_probe_that_costs_more_than_it_sent() {
    let (lens, _) = after_one_interest(|_| false);
    assert_eq!(lens.iter().filter(|len| **len > 100).count(), 1, "the Data: {lens:?}");
    assert!(lens.len() <= 3, "{lens:?}");
}

#[test]
fn where_the_interface_says_what_the_link_carries_echoes_are_asked_for_without_padding() {
    for probe_path_mtu in [true, false] {
        let pacing = Some(PacingConfig { probe_path_mtu, ..PacingConfig::default() });
        let config = Config { pacing, ..Config::default() };
        let mut link = LinkService::new(config, Random::from_seed(1)).unwrap();
        let now = Instant::from_secs(1);
        for number in 0..300 {
            link.receive(now, EndpointId(0), &interest(number)).unwrap();
            link.send(now, LinkHeader::NONE, None, Buffer::from(data(number, 8000))).unwrap();
        }
        let (mut frame, mut echoes, mut padded) = (Vec::new(), 0, 0);
        while link.poll_transmit(now, &mut frame).is_some() {
            let asks = cairn_link::v2::answer_echo(&frame, 0).is_some();
            echoes += u32::from(asks);
            padded += u32::from(asks && frame.len() > 1200);
            frame.clear();
        }
        assert!(echoes > 0);
        assert_eq!(padded > 0, probe_path_mtu);
    }
}
