//! A node that verifies what it keeps lets go of what is forged.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::time::{Duration, Instant};

use cairn_node::config::Config;
use cairn_node::control::{CreateInnerFace, NodeControl as _, Unmanaged};
use cairn_node::{InnerFace, InnerLimits, InnerPacket, Node};
use engine::{NextHop, SamplingCounters};
use packet::ccnx::{InterestFields, Ticks, uri};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::{Component, Data, Dialect, Interest, NackReason, Name, Packet};
use testkit::folder::TestFolder;
use trust::ccnx::CcnxSigner;
use trust::certificate::{Issue, names, self_signed};
use trust::{
    Certificate, KeyKind, PrivateKey, Revocation, RevocationReason, Signer, UnixTime, ValidityPeriod,
};

const TIMEOUT: Duration = Duration::from_secs(20);

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn now() -> UnixTime {
    UnixTime::from_millis(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis() as u64)
}

fn validity() -> ValidityPeriod {
    let now = now().as_millis();
    ValidityPeriod {
        not_before: UnixTime::from_millis(now - 3_600_000),
        not_after: UnixTime::from_millis(now + 3_600_000),
    }
}

fn packet(signer: &Signer, uri: &str) -> Data {
    signer.sign_data(&DataBuilder::new(name(uri)).content(b"a film".to_vec())).unwrap()
}

/// Who may sign below `/film`: the anchor, and a studio whose certificate must be fetched.
struct People {
    anchor: Certificate,
    root: Signer,
    studio: Certificate,
    honest: Signer,
    /// Signs in the name of the studio, with a key of its own.
    forger: Signer,
    /// Signs with a key of which nobody has a certificate.
    ghost: Signer,
}

impl People {
    fn new() -> Self {
        let key = || PrivateKey::generate(KeyKind::Ed25519).unwrap();
        let key_name = |identity: &str| names::key_name(&name(identity), Component::generic(b"1")).unwrap();
        let root_key = key();
        let anchor = self_signed(&root_key, &key_name("/film"), names::SELF, now(), validity()).unwrap();
        let root = Signer::new(root_key, anchor.name().to_name());
        let studio_key = key();
        let issue = Issue { issuer_id: Component::generic(b"root"), version: 1, validity: validity() };
        let studio =
            issue.certify(&key_name("/film/studio"), &studio_key.public_key().unwrap(), &root).unwrap();
        let of_studio = studio.name().to_name();
        People {
            honest: Signer::new(studio_key, of_studio.clone()),
            forger: Signer::new(key(), of_studio),
            ghost: Signer::new(key(), key_name("/film/studio/ghost")),
            anchor,
            root,
            studio,
        }
    }
}

struct World {
    node: Node,
    people: People,
    consumer: InnerFace,
    producer: InnerFace,
    nonce: u32,
    /// Whether somebody has asked for the studio's certificate.
    has_certified: bool,
}

impl World {
    fn new(folder: &TestFolder, people: People, more: &str) -> Self {
        std::fs::write(folder.join("anchor.cert"), people.anchor.data().wire()).unwrap();
        let anchor = folder.join("anchor.cert");
        let text = format!("{more}[verification]\nanchors = ['{}']\nshare = 1.0\n", anchor.display());
        let mut config = Config::read(&text).unwrap();
        config.udp.listen = Vec::new();
        config.tcp.listen = Vec::new();
        config.websocket.listen = Vec::new();
        config.unix.listen = Some(Vec::new());
        let node = Node::start(&config, Box::new(Unmanaged)).unwrap();
        let mut control = node.control();
        let mut face = |purpose: &str| {
            let (purpose, limits) = (purpose.parse().unwrap(), InnerLimits::default());
            control.create_inner_face(CreateInnerFace { purpose, dialect: Dialect::Ndn, limits }).unwrap()
        };
        let (consumer, producer) = (face("consumer"), face("producer"));
        let hop = NextHop { face: producer.id(), cost: 0 };
        control.add_next_hop(Dialect::Ndn, &name("/film"), hop, None).unwrap();
        World { node, people, consumer, producer, nonce: 0, has_certified: false }
    }

    /// The producer answers with `produced`, with the studio's certificate, or with a Nack. What it was asked
    /// for, if it was.
    fn produce(&mut self, produced: Option<&Data>) -> Option<Name> {
        let packet = self.producer.recv().unwrap()?;
        let Packet::Interest(interest) = packet.packet else { return None };
        let asked = interest.name().to_name();
        let is_asked_for = |data: &&Data| interest.name().is_prefix_of(data.name());
        let answer =
            match [produced, Some(self.people.studio.data())].into_iter().flatten().find(is_asked_for) {
                Some(data) => Packet::Data(data.clone()),
                None => Packet::Nack(interest, NackReason::NoRoute),
            };
        self.has_certified |= asked.as_ref().is_prefix_of(self.people.studio.data().name());
        self.producer.send(answer.into()).unwrap();
        Some(asked)
    }

    /// Fetches the Data, which must come; whether the producer was asked for it.
    fn fetch(&mut self, produced: &Data) -> bool {
        self.nonce += 1;
        let interest = InterestBuilder::new(produced.name().to_name()).nonce(self.nonce).build().unwrap();
        self.consumer.send(InnerPacket::interest(interest)).unwrap();
        let (until, mut was_asked) = (Instant::now() + TIMEOUT, false);
        while Instant::now() < until {
            was_asked |= self.produce(Some(produced)).is_some_and(|asked| asked.as_ref() == produced.name());
            match self.consumer.recv().unwrap().map(|packet| packet.packet) {
                Some(Packet::Data(data)) => {
                    assert_eq!(data.name(), produced.name());
                    return was_asked;
                }
                Some(other) => panic!("{other:?}"),
                None => drop(self.consumer.wait(Some(Duration::from_millis(1)))),
            }
        }
        panic!("{} did not come", produced.name());
    }

    fn counters(&self) -> SamplingCounters {
        self.node.control().status().sampling.unwrap()
    }

    /// Waits, and produces certificates, until the counters are as they should be.
    fn until(&mut self, what: impl Fn(&SamplingCounters) -> bool) {
        let until = Instant::now() + TIMEOUT;
        while !what(&self.counters()) {
            assert!(Instant::now() < until, "{:?}", self.counters());
            if self.produce(None).is_none() {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    /// Whether the node has it.
    fn has(&mut self, data: &Data) -> bool {
        !self.fetch(data)
    }
}

#[test]
fn what_the_right_key_signed_stays_and_what_another_signed_in_its_name_goes_with_the_rest_of_its_object() {
    let folder = TestFolder::new("verification");
    let mut world = World::new(&folder, People::new(), "");
    let honest = packet(&world.people.honest, "/film/studio/a/0");
    let forged = packet(&world.people.forger, "/film/studio/b/0");
    assert!(world.fetch(&honest));
    assert!(world.fetch(&forged));
    world.until(|counters| counters.refused == 1);
    assert!(world.has(&honest), "what is right stays");
    assert!(!world.has(&forged), "what is forged has gone");
    assert_eq!(world.counters().kept_out, 1, "and was not taken in again");
    assert!(!world.has(&forged));
    let other = packet(&world.people.honest, "/film/studio/c/0");
    assert!(world.fetch(&other) && world.has(&other), "other objects are kept as before");
    assert_eq!((world.counters().refused, world.counters().undecided), (1, 0));
}

#[test]
fn what_nobody_can_judge_goes_and_the_rest_of_its_object_does_not() {
    let folder = TestFolder::new("undecided");
    let mut world = World::new(&folder, People::new(), "");
    let odd = packet(&world.people.ghost, "/film/studio/ghost/0");
    assert!(world.fetch(&odd));
    world.until(|counters| counters.undecided == 1);
    assert_eq!((world.counters().refused, world.counters().kept_out), (0, 0));
    assert!(!world.has(&odd), "it has gone");
    world.until(|counters| counters.undecided == 2);
    let right = packet(&world.people.honest, "/film/studio/ghost/1");
    assert!(world.fetch(&right) && world.has(&right));
}

#[test]
fn a_key_that_is_revoked_while_the_node_runs_no_longer_counts() {
    let folder = TestFolder::new("revoked");
    let file = folder.join("revoked");
    std::fs::write(&file, b"").unwrap();
    let more = format!("[management]\nrevocations = '{}'\n", file.display());
    let mut world = World::new(&folder, People::new(), &more);
    let before = packet(&world.people.honest, "/film/studio/a/0");
    assert!(world.fetch(&before) && world.has(&before));
    // The thread believes the certificate, and looks at the file again after a second.
    while !world.has_certified {
        world.produce(None);
    }
    std::thread::sleep(Duration::from_millis(1100));
    let reason = RevocationReason::KeyCompromise;
    let record = Revocation::issue(&world.people.studio, &world.people.root, now(), reason).unwrap();
    std::fs::write(&file, record.data().wire()).unwrap();
    let after = packet(&world.people.honest, "/film/studio/b/0");
    assert!(world.fetch(&after));
    world.until(|counters| counters.refused == 1);
    assert!(!world.has(&after));
}

/// An object of CCNx.
fn song(signer: &CcnxSigner, uri: &str) -> Data {
    let name = uri::parse(uri).unwrap();
    let time = Ticks::from(now());
    Data::decode_ccnx(signer.sign(&name, b"a song", time, |info| info).unwrap().into()).unwrap()
}

/// Asks for an object of CCNx, which must come; whether the producer was asked for it.
fn fetch_in_ccnx(consumer: &mut InnerFace, producer: &mut InnerFace, produced: &Data, nonce: u32) -> bool {
    let nonce = nonce.to_be_bytes();
    let fields = InterestFields { nonce: Some(&nonce), ..InterestFields::default() };
    let interest = Interest::decode_ccnx(fields.encode(&produced.name().to_name()).unwrap().into()).unwrap();
    consumer.send(InnerPacket::interest(interest)).unwrap();
    let (until, mut was_asked) = (Instant::now() + TIMEOUT, false);
    while Instant::now() < until {
        if let Some(Packet::Interest(_)) = producer.recv().unwrap().map(|packet| packet.packet) {
            was_asked = true;
            producer.send(InnerPacket::data(produced.clone())).unwrap();
        }
        match consumer.recv().unwrap().map(|packet| packet.packet) {
            Some(Packet::Data(data)) => {
                assert_eq!(data.wire(), produced.wire());
                return was_asked;
            }
            Some(other) => panic!("{other:?}"),
            None => drop(consumer.wait(Some(Duration::from_millis(1)))),
        }
    }
    panic!("{} did not come", produced.name());
}

#[test]
fn data_of_ccnx_is_judged_by_its_publishers_key() {
    let folder = TestFolder::new("publishers");
    let [honest, forger] =
        [(); 2].map(|()| CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap());
    std::fs::write(folder.join("publisher"), honest.spki()).unwrap();
    let key = folder.join("publisher");
    let text = format!(
        "[verification]\npublishers = ['{}']\nprefixes = ['ccnx:/song']\nshare = 1.0\n",
        key.display()
    );
    let mut config = Config::read(&text).unwrap();
    config.udp.listen = Vec::new();
    config.tcp.listen = Vec::new();
    config.websocket.listen = Vec::new();
    config.unix.listen = Some(Vec::new());
    let node = Node::start(&config, Box::new(Unmanaged)).unwrap();
    let mut control = node.control();
    let mut face = |purpose: &str| {
        let (purpose, limits) = (purpose.parse().unwrap(), InnerLimits::default());
        control.create_inner_face(CreateInnerFace { purpose, dialect: Dialect::Ccnx, limits }).unwrap()
    };
    let (mut consumer, mut producer) = (face("consumer"), face("producer"));
    let hop = NextHop { face: producer.id(), cost: 0 };
    for prefix in ["ccnx:/song", "ccnx:/other"] {
        control.add_next_hop(Dialect::Ccnx, &uri::parse(prefix).unwrap(), hop, None).unwrap();
    }
    let mut nonce = 0;
    let mut fetch = |data: &Data| {
        nonce += 1;
        fetch_in_ccnx(&mut consumer, &mut producer, data, nonce)
    };
    let right = song(&honest, "ccnx:/song/a/%00");
    let forged = song(&forger, "ccnx:/song/b/%00");
    let elsewhere = song(&forger, "ccnx:/other/a/%00");
    assert!([&right, &elsewhere, &forged].map(&mut fetch).iter().all(|was_asked| *was_asked));
    let counters = || node.control().status().sampling.unwrap();
    let until = Instant::now() + TIMEOUT;
    while counters().refused == 0 {
        assert!(Instant::now() < until, "{:?}", counters());
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!fetch(&right) && !fetch(&elsewhere), "what is right stays, and what nobody is to judge");
    assert!(fetch(&forged), "what is forged has gone");
    assert!(fetch(&song(&forger, "ccnx:/song/b/%00%01")), "and nothing of its object is kept");
    assert_eq!((counters().taken, counters().refused, counters().kept_out), (2, 1, 2));
}

#[test]
fn without_anchors_nothing_is_sampled_and_a_wrong_anchor_is_no_start() {
    let folder = TestFolder::new("no-anchors");
    let mut config = Config::read("[verification]\nshare = 1.0\n").unwrap();
    config.udp.listen = Vec::new();
    config.tcp.listen = Vec::new();
    config.websocket.listen = Vec::new();
    config.unix.listen = Some(Vec::new());
    let mut node = Node::start(&config, Box::new(Unmanaged)).unwrap();
    assert!(node.control().status().sampling.is_none());
    node.shut_down();
    std::fs::write(folder.join("wrong"), b"no certificate").unwrap();
    config.verification.anchors = vec![folder.join("wrong")];
    let error = Node::start(&config, Box::new(Unmanaged)).err().unwrap().to_string();
    assert!(error.contains("verification: ") && error.contains("wrong"), "{error}");
}

#[test]
fn names_that_no_anchor_is_about_are_left_alone() {
    let folder = TestFolder::new("elsewhere");
    let mut world = World::new(&folder, People::new(), "");
    let hop = NextHop { face: world.producer.id(), cost: 0 };
    world.node.control().add_next_hop(Dialect::Ndn, &name("/other"), hop, None).unwrap();
    let elsewhere = packet(&world.people.ghost, "/other/a/0");
    assert!(world.fetch(&elsewhere));
    let forged = packet(&world.people.forger, "/film/studio/a/0");
    assert!(world.fetch(&forged));
    world.until(|counters| counters.refused == 1);
    // The forged packet, and the certificate that was fetched for it: both below the anchor.
    assert_eq!((world.counters().taken, world.counters().undecided), (2, 0));
    assert!(world.has(&elsewhere));
}
