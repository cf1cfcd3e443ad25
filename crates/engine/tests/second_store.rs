//! The promise behind a store that answers later: what it has is not asked for upstream, and whatever it
//! does or fails to do, an Interest is answered or goes upstream.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::collections::BTreeSet;
use std::sync::Arc;

use cairn_engine::{
    Arrival, Engine, EngineConfig, FaceConfig, FaceId, LookupId, NextHop, SecondStore, SecondStoreConfig,
    SecondStoreCounters, SecondStoreRequest,
};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::{Duration, Instant};
use packet::{Data, Dialect, Interest, Name, NameRef, Packet, PrefixHashes};

const CONSUMERS: [FaceId; 2] = [FaceId(256), FaceId(257)];
const PRODUCER: FaceId = FaceId(258);
const START: Instant = Instant::from_secs(1);
const TIMEOUT: Duration = Duration::from_millis(50);

/// Knows names, and wants all below `/keep`.
#[derive(Debug)]
struct Names(BTreeSet<&'static str>);

impl SecondStore for Names {
    fn may_have(&self, interest: &Interest, _: &PrefixHashes) -> bool {
        self.0.contains(interest.name().to_name().to_string().as_str())
    }

    fn stands_in(&self, interest: &Interest) -> bool {
        let newest: Name = "/newest".parse().unwrap();
        newest.as_ref().is_prefix_of(interest.name())
    }

    fn wants(&self, data: &Data) -> bool {
        let keep: Name = "/keep".parse().unwrap();
        keep.as_ref().is_prefix_of(data.name())
    }
}

struct World {
    engine: Engine,
    now: Instant,
    nonce: u32,
}

impl World {
    fn new(names: &[&'static str], max_waiting: usize) -> Self {
        let mut engine = Engine::new(EngineConfig::seeded(1).unwrap()).unwrap();
        for face in CONSUMERS.into_iter().chain([PRODUCER]) {
            engine.add_face(START, face, FaceConfig::remote()).unwrap();
        }
        let hop = NextHop { face: PRODUCER, cost: 0 };
        engine.add_route(START, Dialect::Ndn, NameRef::ROOT, hop).unwrap();
        let store = Arc::new(Names(names.iter().copied().collect()));
        let config = SecondStoreConfig { max_waiting, timeout: TIMEOUT };
        engine.set_second_store(START, Some((store, config)));
        World { engine, now: START, nonce: 0 }
    }

    fn receive(&mut self, face: FaceId, packet: Packet) {
        let hashes = match &packet {
            Packet::Interest(interest) | Packet::Nack(interest, _) => {
                self.engine.hasher().hash(Dialect::Ndn, interest.name().components())
            }
            Packet::Data(data) => self.engine.hasher().hash(Dialect::Ndn, data.name().components()),
        };
        self.engine.receive(Arrival::bare(self.now, face, &hashes), packet);
    }

    fn ask(&mut self, consumer: FaceId, uri: &str, must_be_fresh: bool) {
        self.nonce += 1;
        let interest = InterestBuilder::new(uri.parse().unwrap())
            .nonce(self.nonce)
            .must_be_fresh(must_be_fresh)
            .lifetime(Duration::from_secs(2))
            .build()
            .unwrap();
        self.receive(consumer, Packet::Interest(interest));
    }

    fn lookup(&mut self) -> Option<LookupId> {
        match self.engine.poll_second_store()? {
            SecondStoreRequest::LookUp(id, _) => Some(id),
            SecondStoreRequest::Offer(_) => None,
        }
    }

    /// Where packets went since the last call: Interests upstream, Data to consumers.
    fn sent(&mut self) -> Vec<FaceId> {
        std::iter::from_fn(|| self.engine.poll_transmit()).map(|sent| sent.face).collect()
    }

    fn counters(&self) -> SecondStoreCounters {
        *self.engine.second_store_counters().unwrap()
    }
}

fn data(uri: &str) -> Data {
    let fresh = Duration::from_secs(1);
    DataBuilder::new(uri.parse().unwrap()).freshness(fresh).build_with_digest().unwrap()
}

#[test]
fn what_the_store_has_is_not_asked_for_upstream_and_then_comes_from_the_content_store() {
    let mut world = World::new(&["/a"], 8);
    world.ask(CONSUMERS[0], "/a", false);
    world.ask(CONSUMERS[1], "/a", false);
    world.ask(CONSUMERS[0], "/a", false);
    let lookup = world.lookup().unwrap();
    assert!(world.lookup().is_none(), "one lookup for all who wait");
    assert_eq!(world.sent(), []);
    world.engine.receive_found(world.now, lookup, data("/a"), world.now + Duration::from_secs(1));
    assert_eq!(world.sent(), CONSUMERS);
    assert_eq!(world.engine.pending_count(), 0);
    world.ask(CONSUMERS[0], "/a", true);
    assert_eq!(world.sent(), [CONSUMERS[0]]);
    assert!(world.lookup().is_none());
    assert_eq!(world.engine.face_counters(PRODUCER).unwrap().packets.out_interests, 0);
    assert_eq!(world.engine.next_deadline().max(world.now + TIMEOUT * 2), world.engine.next_deadline());
}

#[test]
fn what_it_denies_goes_upstream_at_once_without_a_lookup() {
    let mut world = World::new(&["/a"], 8);
    world.ask(CONSUMERS[0], "/b", false);
    assert_eq!(world.sent(), [PRODUCER]);
    assert!(world.lookup().is_none());
    assert_eq!(world.counters().asked, 0);
}

#[test]
fn what_it_turns_out_not_to_have_goes_upstream_once() {
    let mut world = World::new(&["/a"], 8);
    world.ask(CONSUMERS[0], "/a", false);
    let lookup = world.lookup().unwrap();
    world.engine.receive_absent(world.now, lookup);
    assert_eq!(world.sent(), [PRODUCER]);
    world.engine.receive_absent(world.now, lookup);
    world.now += TIMEOUT;
    world.engine.advance(world.now);
    assert_eq!(world.sent(), []);
    world.receive(PRODUCER, Packet::Data(data("/a")));
    assert_eq!(world.sent(), [CONSUMERS[0]]);
    assert_eq!(world.counters().absent, 1);
}

#[test]
fn a_slow_store_is_not_waited_for_and_what_it_finds_late_still_answers() {
    let mut world = World::new(&["/a"], 8);
    world.ask(CONSUMERS[0], "/a", false);
    let lookup = world.lookup().unwrap();
    assert_eq!(world.engine.next_deadline(), world.now + TIMEOUT);
    world.now += TIMEOUT;
    world.engine.advance(world.now);
    assert_eq!(world.sent(), [PRODUCER]);
    assert_eq!(world.counters().overdue, 1);
    world.engine.receive_found(world.now, lookup, data("/a"), Instant::ZERO);
    assert_eq!(world.sent(), [CONSUMERS[0]]);
    world.receive(PRODUCER, Packet::Data(data("/a")));
    assert_eq!(world.sent(), []);
}

#[test]
fn no_more_wait_than_may() {
    let mut world = World::new(&["/a", "/b", "/c"], 2);
    for uri in ["/a", "/b", "/c"] {
        world.ask(CONSUMERS[0], uri, false);
    }
    assert_eq!(world.sent(), [PRODUCER]);
    let (first, second) = (world.lookup().unwrap(), world.lookup().unwrap());
    assert!(world.lookup().is_none());
    assert_eq!((world.counters().asked, world.counters().queue_full), (2, 1));
    // Answers out of order.
    world.engine.receive_absent(world.now, second);
    world.engine.receive_absent(world.now, first);
    assert_eq!(world.sent(), [PRODUCER, PRODUCER]);
    // A name of its own: the nonces of the others are those of pending Interests.
    world.ask(CONSUMERS[1], "/a", false);
    assert!(world.lookup().is_none(), "it is under way upstream");
}

#[test]
fn who_asks_for_everything_that_the_store_has_leaves_room_for_others() {
    let names: Vec<&'static str> = (0..100).map(|number| &*format!("/many/{number}").leak()).collect();
    let mut world = World::new(&[&names[..], &["/one/1", "/one/2", "/one/3"]].concat(), 16);
    for (face, origin) in CONSUMERS.into_iter().zip(7..) {
        let config = FaceConfig { origin: Some(origin), ..FaceConfig::remote() };
        world.engine.configure_face(START, face, config);
    }
    for round in 1..4u64 {
        for uri in &names {
            world.ask(CONSUMERS[0], uri, false);
        }
        let lookups: Vec<_> = std::iter::from_fn(|| world.lookup()).collect();
        assert_eq!(lookups.len(), 8, "half of the room");
        let uri = format!("/one/{round}");
        world.ask(CONSUMERS[1], &uri, false);
        let one = world.lookup().unwrap();
        // Answered, found to be absent, and given up: each makes room again.
        world.engine.receive_found(world.now, one, data(&uri), Instant::ZERO);
        world.engine.receive_absent(world.now, lookups[0]);
        world.now += Duration::from_secs(5);
        world.engine.advance(world.now);
        assert_eq!(world.counters().overdue, 7 * round);
        world.sent();
    }
}

#[test]
fn stale_data_answers_nobody_who_wants_it_fresh() {
    let mut world = World::new(&["/a"], 8);
    world.ask(CONSUMERS[0], "/a", true);
    let fresh = world.lookup().unwrap();
    world.ask(CONSUMERS[1], "/a", false);
    let any = world.lookup().unwrap();
    world.engine.receive_found(world.now, any, data("/a"), world.now);
    assert_eq!(world.sent(), [CONSUMERS[1]]);
    world.engine.receive_found(world.now, fresh, data("/a"), world.now);
    assert_eq!(world.sent(), [PRODUCER], "it goes upstream");
    world.ask(CONSUMERS[1], "/a", true);
    assert_eq!(world.sent(), [], "the content store does not take it for fresh");
}

#[test]
fn what_only_stands_in_is_asked_for_when_upstream_is_silent_for_half_of_the_lifetime() {
    let mut world = World::new(&["/newest/a"], 8);
    world.ask(CONSUMERS[0], "/newest/a", true);
    assert_eq!(world.sent(), [PRODUCER]);
    assert!(world.lookup().is_none());
    world.now += Duration::from_secs(1);
    assert_eq!(world.engine.next_deadline(), world.now);
    world.engine.advance(world.now);
    let lookup = world.lookup().unwrap();
    world.engine.receive_found(world.now, lookup, data("/newest/a"), world.now + TIMEOUT);
    assert_eq!(world.sent(), [CONSUMERS[0]]);
    assert_eq!(world.engine.pending_count(), 0);
}

#[test]
fn what_upstream_answers_is_not_asked_of_a_store_that_stands_in() {
    let mut world = World::new(&["/newest/a"], 1);
    for _ in 0..3 {
        world.ask(CONSUMERS[0], "/newest/a", true);
        world.receive(PRODUCER, Packet::Data(data("/newest/a")));
        assert_eq!(world.sent(), [PRODUCER, CONSUMERS[0]]);
        world.now += Duration::from_secs(1);
        world.engine.advance(world.now);
        assert!(world.lookup().is_none());
    }
    assert_eq!((world.counters().asked, world.counters().queue_full), (0, 0), "each made room again");
}

#[test]
fn a_store_that_stands_in_is_asked_at_once_when_upstream_refuses() {
    let mut world = World::new(&["/newest/a", "/newest/b"], 8);
    let nack = |world: &mut World, uri: &str| {
        world.ask(CONSUMERS[0], uri, true);
        let sent = world.engine.poll_transmit().unwrap();
        let Packet::Interest(interest) = sent.packet else { panic!("an Interest goes upstream") };
        world.receive(PRODUCER, Packet::Nack(interest, packet::NackReason::NoRoute));
        assert_eq!(world.sent(), [], "nobody is refused yet");
        world.lookup().unwrap()
    };
    let lookup = nack(&mut world, "/newest/a");
    world.engine.receive_found(world.now, lookup, data("/newest/a"), world.now + TIMEOUT);
    assert_eq!(world.sent(), [CONSUMERS[0]]);
    // And the refusal is passed on when the store has nothing either.
    let lookup = nack(&mut world, "/newest/b");
    world.engine.receive_absent(world.now, lookup);
    while let Some(sent) = world.engine.poll_transmit() {
        match sent.packet {
            Packet::Nack(..) => return assert_eq!(sent.face, CONSUMERS[0]),
            Packet::Interest(interest) => {
                world.receive(PRODUCER, Packet::Nack(interest, packet::NackReason::NoRoute));
            }
            Packet::Data(_) => panic!("there is none"),
        }
    }
    panic!("the refusal was lost");
}

#[test]
fn a_store_that_stands_in_is_asked_at_once_when_there_is_no_way_upstream() {
    let mut world = World::new(&["/newest/a"], 8);
    world.engine.remove_face(PRODUCER);
    world.ask(CONSUMERS[0], "/newest/a", true);
    assert_eq!(world.sent(), []);
    let lookup = world.lookup().unwrap();
    world.engine.receive_absent(world.now, lookup);
    assert_eq!(world.sent(), [CONSUMERS[0]], "that there is no route");
    assert_eq!(world.engine.pending_count(), 0);
}

#[test]
fn data_of_another_name_is_no_answer() {
    let mut world = World::new(&["/a"], 8);
    world.ask(CONSUMERS[0], "/a", false);
    let lookup = world.lookup().unwrap();
    world.engine.receive_found(world.now, lookup, data("/other"), world.now + TIMEOUT);
    assert_eq!(world.sent(), [PRODUCER]);
}

#[test]
fn only_data_that_was_asked_for_and_is_wanted_is_offered() {
    let mut world = World::new(&["/keep/a"], 8);
    let offered = |world: &mut World| {
        let effects = std::iter::from_fn(|| world.engine.poll_second_store());
        effects.filter(|effect| matches!(effect, SecondStoreRequest::Offer(_))).count()
    };
    for uri in ["/keep/b", "/other"] {
        world.ask(CONSUMERS[0], uri, false);
        world.receive(PRODUCER, Packet::Data(data(uri)));
    }
    assert_eq!(offered(&mut world), 1);
    world.receive(PRODUCER, Packet::Data(data("/keep/c")));
    assert_eq!(offered(&mut world), 0, "nobody asked for it");
    world.ask(CONSUMERS[0], "/keep/a", false);
    let lookup = world.lookup().unwrap();
    world.engine.receive_found(world.now, lookup, data("/keep/a"), Instant::ZERO);
    assert_eq!(offered(&mut world), 0, "it came from there");
}

#[test]
fn what_waits_for_a_store_that_is_taken_away_goes_upstream() {
    let mut world = World::new(&["/a"], 8);
    world.ask(CONSUMERS[0], "/a", false);
    let lookup = world.lookup().unwrap();
    world.engine.set_second_store(world.now, None);
    assert_eq!(world.sent(), [PRODUCER]);
    world.engine.receive_found(world.now, lookup, data("/a"), Instant::ZERO);
    assert_eq!(world.sent(), []);
}
