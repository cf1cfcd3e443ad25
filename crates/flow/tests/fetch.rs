//! A fetch delivers the exact bytes, in order, in bounded memory, whatever the network does to packets.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

use std::collections::BTreeMap;

use cairn_flow::{
    Answer, Discovery, FetchConfig, Fetcher, Publication, PublicationConfig, SegmentSize, UnverifiedKind,
    Verification, controller_names,
};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Data, Interest, LinkHeader, NackReason, Name};
use proptest::prelude::*;
use trust::Signer;

/// What the network does.
#[derive(Clone, Copy, Debug)]
struct Faults {
    loss: f64,
    duplicate: f64,
    nack: f64,
    damage: f64,
    /// Longest extra delay: how far packets overtake each other.
    jitter: Duration,
    /// Chance at each segment that the reader stops the fetch and starts another one there.
    restart: f64,
    /// Chance at each step that the reader takes nothing.
    lazy: f64,
}

#[derive(Debug)]
enum Event {
    Interest(Interest),
    Data(Data),
    Nack(Name, NackReason),
    Wake,
}

struct World {
    random: Random,
    faults: Faults,
    events: BTreeMap<(Instant, u64), Event>,
    next_event: u64,
    now: Instant,
    bytes: Vec<u8>,
    publication: Publication,
}

const BUFFER_BYTES: usize = 40_000;

impl World {
    fn new(seed: u64, faults: Faults, size: usize) -> Self {
        let mut random = Random::from_seed(seed);
        let bytes: Vec<u8> = (0..size).map(|_| random.next_u32() as u8).collect();
        let mut config =
            PublicationConfig::new("/lab/file".parse().unwrap(), 7, size as u64, Signer::digest());
        config.segment_size = SegmentSize::Packet(200 + random.below(1500) as u32);
        let publication = Publication::new(config).unwrap();
        World {
            random,
            faults,
            events: BTreeMap::new(),
            next_event: 0,
            now: Instant::ZERO,
            bytes,
            publication,
        }
    }

    fn push(&mut self, event: Event) {
        let delay = Duration::from_millis(5)
            + Duration::from_nanos(self.random.below(self.faults.jitter.as_nanos() + 1));
        self.push_at(self.now + delay, event);
    }

    fn push_at(&mut self, at: Instant, event: Event) {
        self.events.insert((at, self.next_event), event);
        self.next_event += 1;
    }

    fn answer(&mut self, interest: &Interest) {
        let faults = self.faults;
        if self.random.chance(faults.loss) {
            return;
        }
        if self.random.chance(faults.nack) {
            let reason = [NackReason::Congestion, NackReason::Duplicate, NackReason::NoRoute]
                [self.random.below(3) as usize];
            return self.push(Event::Nack(interest.name().to_name(), reason));
        }
        let data = match self.publication.answer(interest).unwrap() {
            Answer::Data(data) => data,
            Answer::Segment(range) => {
                let mut content =
                    self.bytes[range.offset_bytes as usize..][..range.len_bytes as usize].to_vec();
                if self.random.chance(faults.damage) && !content.is_empty() {
                    content[0] ^= 1;
                }
                self.publication.segment(range.segment, &content).unwrap()
            }
            Answer::Refuse => {
                return self.push(Event::Nack(interest.name().to_name(), NackReason::Unspecified));
            }
            Answer::NotMine => panic!("{:?}", interest.name()),
        };
        for _ in 0..1 + u32::from(self.random.chance(faults.duplicate)) {
            self.push(Event::Data(data.clone()));
        }
    }

    fn is_good(&self, subject: UnverifiedKind, data: &Data) -> bool {
        let segment = match subject {
            UnverifiedKind::Segment(segment) => segment,
            // An answer to discovery by prefix is a segment too.
            UnverifiedKind::Discovery => match data.name().last().and_then(|last| last.number()) {
                Some(segment) if self.publication.name().as_ref().is_prefix_of(data.name()) => segment,
                _ => return true,
            },
        };
        let range = self.publication.range(segment).unwrap();
        data.content() == &self.bytes[range.offset_bytes as usize..][..range.len_bytes as usize]
    }

    /// Fetches until the object is whole; gives what the reader got.
    fn run(&mut self, config: &FetchConfig) -> Vec<u8> {
        let mut fetcher =
            Fetcher::new("/lab/file".parse().unwrap(), config.clone(), self.now, self.random.next_u64());
        let mut got = Vec::new();
        self.push(Event::Wake);
        while !fetcher.is_complete() {
            assert_eq!(fetcher.error(), None);
            let ((at, _), event) = self.events.pop_first().expect("nothing is left to happen");
            self.now = at;
            assert!(self.now < Instant::from_secs(3600), "too slow: {:?}", fetcher.transfer().counters());
            match event {
                Event::Interest(interest) => self.answer(&interest),
                Event::Data(data) => {
                    fetcher.receive_data(self.now, data, &LinkHeader::default());
                }
                Event::Nack(name, reason) => fetcher.receive_nack(self.now, name.as_ref(), reason),
                Event::Wake => fetcher.handle_timeout(self.now),
            }
            while let Some(packet) = fetcher.poll_unverified() {
                match self.is_good(packet.subject, &packet.data) {
                    true => fetcher.accept(self.now, packet.subject),
                    false => fetcher.refuse(self.now, packet.subject, "damaged"),
                }
            }
            assert!(fetcher.progress().buffered_bytes <= BUFFER_BYTES + 2000);
            while !self.random.chance(self.faults.lazy) {
                let Some(segment) = fetcher.poll_content() else { break };
                got.extend_from_slice(segment.data.content());
                if self.random.chance(self.faults.restart) && fetcher.object_name().is_some() {
                    let name = fetcher.object_name().cloned().unwrap();
                    let config = FetchConfig { first_segment: fetcher.next_segment(), ..config.clone() };
                    let total = self.publication.last_segment();
                    if config.first_segment <= total {
                        fetcher = Fetcher::new(name, config, self.now, self.random.next_u64());
                    }
                }
            }
            while let Some(interest) = fetcher.poll_transmit(self.now) {
                self.push(Event::Interest(interest));
            }
            let deadline = fetcher.next_deadline().unwrap_or(self.now + Duration::from_millis(50));
            if !self.events.values().any(|event| matches!(event, Event::Wake)) {
                self.push_at(deadline.max(self.now + Duration::from_micros(100)), Event::Wake);
            }
        }
        got
    }
}

fn config(controller: &str, discovery: Discovery) -> FetchConfig {
    let mut config = FetchConfig {
        discovery,
        discovery_attempts: 100,
        verification: Verification::Owner,
        buffer_bytes: BUFFER_BYTES,
        ..FetchConfig::default()
    };
    config.transfer.controller = controller.parse().unwrap();
    config.transfer.max_attempts = 200;
    config
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_reader_gets_the_exact_bytes(
        seed in any::<u64>(),
        size in prop_oneof![0usize..3, 0usize..200_000],
        controller in 0usize..11,
        loss in 0.0..0.2,
        duplicate in 0.0..0.2,
        nack in 0.0..0.1,
        damage in 0.0..0.1,
        jitter_millis in 0u64..40,
        restart in prop_oneof![Just(0.0), 0.0..0.02],
        lazy in prop_oneof![Just(0.0), 0.0..0.8],
        by_prefix in any::<bool>(),
    ) {
        let faults = Faults {
            loss, duplicate, nack, damage, restart, lazy,
            jitter: Duration::from_millis(jitter_millis),
        };
        let mut world = World::new(seed, faults, size);
        let word = controller_names().nth(controller).unwrap();
        let discovery = if by_prefix { Discovery::Prefix } else { Discovery::Metadata };
        let got = world.run(&config(word, discovery));
        prop_assert!(got == world.bytes, "{} of {} bytes by {word}", got.len(), world.bytes.len());
    }
}
