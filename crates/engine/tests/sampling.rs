//! Data that a router takes aside to verify it, and what it does about what is refused.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use cairn_engine::{
    CacheProbability, Engine, EngineConfig, FaceConfig, FaceId, NextHop, Sample, SamplingConfig,
};
use packet::ccnx::InterestFields;
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::{Duration, Instant};
use packet::{Data, Dialect, Interest, LinkHeader, NameRef, Packet};

use common::{CONSUMER, OTHER, PRODUCER, object_of_ccnx, receive, sent};

const FORGER: FaceId = OTHER;
const DISTRUST: Duration = Duration::from_secs(60);

fn sampling(share: f64, max_waiting: usize) -> SamplingConfig {
    SamplingConfig {
        share: CacheProbability::new(share).unwrap(),
        prefixes: vec!["/film".parse().unwrap(), "ccnx:/song".parse().unwrap()],
        max_waiting,
        distrust: DISTRUST,
    }
}

struct Router {
    engine: Engine,
    nonce: u32,
}

impl Router {
    fn new(share: f64, max_waiting: usize) -> Self {
        let mut engine = Engine::new(EngineConfig::seeded(1).unwrap()).unwrap();
        let now = Instant::from_secs(1);
        for face in [CONSUMER, PRODUCER, FORGER] {
            engine.add_face(now, face, FaceConfig::remote()).unwrap();
        }
        engine.set_sampling(Some(sampling(share, max_waiting)));
        Router { engine, nonce: 0 }
    }

    /// Whether the content store answers.
    fn answers(&mut self, now: Instant, uri: &str) -> bool {
        self.nonce += 1;
        let interest = InterestBuilder::new(uri.parse().unwrap()).nonce(self.nonce).build().unwrap();
        receive(&mut self.engine, now, CONSUMER, &LinkHeader::NONE, Packet::Interest(interest));
        sent(&mut self.engine).into_iter().any(|sent| matches!(sent.packet, Packet::Data(_)))
    }

    /// Has the Data fetched by `face`; whether it is kept then.
    fn fetch(&mut self, now: Instant, face: FaceId, uri: &str) -> bool {
        let root = NameRef::ROOT;
        self.engine.add_route(now, Dialect::Ndn, root, NextHop { face, cost: 0 }).unwrap();
        assert!(!self.answers(now, uri), "{uri} is there already");
        let data: Data = DataBuilder::new(uri.parse().unwrap())
            .content(face.0.to_string().into_bytes())
            .build_with_digest()
            .unwrap();
        receive(&mut self.engine, now, face, &LinkHeader::NONE, Packet::Data(data));
        assert_eq!(sent(&mut self.engine).len(), 1, "whoever has asked gets it, kept or not");
        self.engine.remove_route(Dialect::Ndn, root, face);
        self.answers(now, uri)
    }

    fn samples(&mut self) -> Vec<Sample> {
        std::iter::from_fn(|| self.engine.poll_sample()).collect()
    }
}

fn at(seconds: u64) -> Instant {
    Instant::from_secs(seconds)
}

#[test]
fn so_much_is_taken_aside_as_the_share_says_and_only_below_the_prefixes() {
    let mut router = Router::new(0.25, 10_000);
    for number in 0..4000 {
        assert!(router.fetch(at(1), PRODUCER, &format!("/film/1/{number}")));
        assert!(router.fetch(at(1), PRODUCER, &format!("/other/1/{number}")));
    }
    let samples = router.samples();
    assert!((900..1100).contains(&samples.len()), "{}", samples.len());
    let film: packet::Name = "/film".parse().unwrap();
    assert!(samples.iter().all(|sample| film.as_ref().is_prefix_of(sample.data.name())));
    assert!(samples.iter().all(|sample| sample.face == PRODUCER));
}

#[test]
fn what_is_refused_leaves_the_store_and_no_more_of_its_object_is_kept_for_a_while() {
    let mut router = Router::new(1.0, 16);
    assert!(router.fetch(at(1), FORGER, "/film/1/0"));
    let sample = router.samples().pop().unwrap();
    router.engine.refuse_sample(at(2), &sample);
    assert!(!router.answers(at(2), "/film/1/0"));
    assert!(!router.fetch(at(3), FORGER, "/film/1/1"));
    assert_eq!(router.engine.sampling_counters().unwrap().kept_out, 1);
    assert!(router.fetch(at(3), PRODUCER, "/film/1/2"), "the same object by another face");
    assert!(router.fetch(at(3), FORGER, "/film/2/0"), "another object by the same face");
    assert!(router.fetch(at(63), FORGER, "/film/1/3"), "after a minute");
}

/// Has an object of CCNx fetched; whether the content store had it.
fn fetch_in_ccnx(engine: &mut Engine, uri: &str, nonce: &[u8]) -> bool {
    let data = object_of_ccnx(uri);
    let fields = InterestFields { nonce: Some(nonce), ..InterestFields::default() };
    let interest = Interest::decode_ccnx(fields.encode(&data.name().to_name()).unwrap().into()).unwrap();
    receive(engine, at(1), CONSUMER, &LinkHeader::NONE, Packet::Interest(interest));
    let is_here = sent(engine).iter().any(|sent| sent.face == CONSUMER);
    if !is_here {
        receive(engine, at(1), FORGER, &LinkHeader::NONE, Packet::Data(data));
        assert_eq!(sent(engine).len(), 1, "whoever has asked gets it");
    }
    is_here
}

#[test]
fn data_of_ccnx_is_taken_aside_below_prefixes_of_ccnx_and_what_is_refused_leaves_the_store() {
    let mut engine = Engine::new(EngineConfig::seeded(1).unwrap()).unwrap();
    for face in [CONSUMER, FORGER] {
        engine.add_face(at(1), face, FaceConfig { dialect: Dialect::Ccnx, ..FaceConfig::remote() }).unwrap();
    }
    let hop = NextHop { face: FORGER, cost: 0 };
    engine.add_route(at(1), Dialect::Ccnx, NameRef::ROOT, hop).unwrap();
    engine.set_sampling(Some(sampling(1.0, 16)));
    let mut nonces = (0_u32..).map(u32::to_be_bytes);
    let mut fetch = |engine: &mut Engine, uri| fetch_in_ccnx(engine, uri, &nonces.next().unwrap());
    // A prefix of NDN that is spelt alike says nothing of it.
    for uri in ["ccnx:/song/1/%00", "ccnx:/film/1/%00"] {
        assert!(!fetch(&mut engine, uri) && fetch(&mut engine, uri));
    }
    let samples: Vec<Sample> = std::iter::from_fn(|| engine.poll_sample()).collect();
    let [sample] = &samples[..] else { panic!("{samples:?}") };
    assert_eq!(sample.data.name(), object_of_ccnx("ccnx:/song/1/%00").name());
    engine.refuse_sample(at(1), sample);
    assert!(!fetch(&mut engine, "ccnx:/song/1/%00"), "it has left the store");
    assert!(!fetch(&mut engine, "ccnx:/song/1/%00"), "and is not kept again");
    assert!(!fetch(&mut engine, "ccnx:/song/2/%00") && fetch(&mut engine, "ccnx:/song/2/%00"));
    assert_eq!(engine.sampling_counters().unwrap().kept_out, 2);
}

#[test]
fn the_right_packet_that_has_taken_the_place_of_a_refused_one_stays() {
    let mut router = Router::new(1.0, 16);
    assert!(router.fetch(at(1), FORGER, "/film/1/0"));
    let forged = router.samples().pop().unwrap();
    router.engine.erase_cached(Dialect::Ndn, NameRef::ROOT, 10, 0);
    assert!(router.fetch(at(2), PRODUCER, "/film/1/0"));
    router.engine.refuse_sample(at(3), &forged);
    assert!(router.answers(at(3), "/film/1/0"));
}

#[test]
fn samples_that_nobody_takes_and_objects_that_are_refused_are_bounded() {
    let mut router = Router::new(1.0, 16);
    for number in 0..100 {
        assert!(router.fetch(at(1), PRODUCER, &format!("/film/1/{number}")));
    }
    let counters = *router.engine.sampling_counters().unwrap();
    assert_eq!((counters.taken, counters.queue_full), (16, 84));
    router.samples();
    for object in 0..1100 {
        router.fetch(at(1), FORGER, &format!("/film/x{object}/0"));
        for sample in router.samples() {
            router.engine.refuse_sample(at(2) + Duration::from_millis(object), &sample);
        }
    }
    assert_eq!(router.engine.sampling_counters().unwrap().forgotten, 1100 - 1024);
    assert!(router.fetch(at(4), FORGER, "/film/x0/1"), "the oldest is forgotten");
    assert!(!router.fetch(at(4), FORGER, "/film/x1099/1"));
}

#[test]
fn without_sampling_everything_is_kept_again() {
    let mut router = Router::new(1.0, 16);
    router.fetch(at(1), FORGER, "/film/1/0");
    let sample = router.samples().pop().unwrap();
    router.engine.refuse_sample(at(1), &sample);
    router.engine.set_sampling(None);
    assert!(router.fetch(at(1), FORGER, "/film/1/1"));
    assert!(router.engine.poll_sample().is_none() && router.engine.sampling_counters().is_none());
}
