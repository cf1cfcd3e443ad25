//! A node that fetches lists of revoked keys obeys no key that one of them revokes, and none at all while it
//! has no list that is new enough.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cairn_node::config::Config;
use cairn_node::control::{CreateInnerFace, NodeControl as _};
use cairn_node::management::{ManagementConfig, NfdManagement};
use cairn_node::{InnerFace, InnerLimits, InnerPacket, Node};
use engine::NextHop;
use flow::source::{MemoryObject, Source as _};
use flow::{Publication, PublicationConfig};
use management::{Command, CommandScope, ControlParameters, ControlResponse};
use packet::{Component, Dialect, Interest, Name, Packet};
use testkit::folder::TestFolder;
use trust::certificate::{names, self_signed};
use trust::{
    Certificate, Freshness, KeyKind, PrivateKey, Revocation, RevocationReason, Signer, UnixTime,
    ValidityPeriod,
};

const TIMEOUT: Duration = Duration::from_secs(30);

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn now_ms() -> u64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis() as u64
}

struct Person {
    certificate: Certificate,
    signer: Signer,
}

impl Person {
    fn new(identity: &str) -> Person {
        let key = PrivateKey::generate(KeyKind::Ed25519).unwrap();
        let key_name = names::key_name(&name(identity), Component::generic(b"1")).unwrap();
        let now = UnixTime::from_millis(now_ms());
        let validity = ValidityPeriod { not_before: now.minus_secs(3600), not_after: now.plus_secs(3600) };
        let certificate = self_signed(&key, &key_name, names::SELF, now, validity).unwrap();
        Person { signer: Signer::new(key, certificate.name().to_name()), certificate }
    }

    fn revokes_itself(&self) -> Vec<u8> {
        let (now, reason) = (UnixTime::from_millis(now_ms()), RevocationReason::KeyCompromise);
        let record = Revocation::issue(&self.certificate, &self.signer, now, reason).unwrap();
        record.data().wire().to_vec()
    }
}

struct World {
    node: Node,
    file: PathBuf,
    lab: Person,
    alice: Person,
    user: InnerFace,
    producer: InnerFace,
    list: Option<MemoryObject<Publication, Vec<u8>>>,
    last_ms: u64,
}

impl World {
    /// `/lab` publishes lists; its key and Alice's may give commands.
    fn new(folder: &TestFolder, more: &str) -> Self {
        let (lab, alice) = (Person::new("/lab"), Person::new("/lab/alice"));
        let file = folder.join("revoked");
        let mut text = format!(
            "[management]\nrevocations = {file:?}\nrevocations_from = [\"/lab/REVOKED\"]\n\
             revocations_every_secs = 1\n{more}"
        );
        for (word, person) in [("lab", &lab), ("alice", &alice)] {
            let path = folder.join(word);
            std::fs::write(&path, person.certificate.data().wire()).unwrap();
            text += &format!("[[authorize]]\ncertificate = {path:?}\n");
        }
        let mut config = Config::read(&text).unwrap();
        config.udp.listen = Vec::new();
        config.tcp.listen = Vec::new();
        config.websocket.listen = Vec::new();
        config.unix.listen = Some(Vec::new());
        let management = NfdManagement::new(ManagementConfig::read(&config).unwrap());
        let node = Node::start(&config, Box::new(management)).unwrap();
        let mut control = node.control();
        let mut face = |purpose: &str| {
            let (purpose, limits) = (purpose.parse().unwrap(), InnerLimits::default());
            control.create_inner_face(CreateInnerFace { purpose, dialect: Dialect::Ndn, limits }).unwrap()
        };
        let (user, producer) = (face("user"), face("producer"));
        let hop = NextHop { face: producer.id(), cost: 0 };
        control.add_next_hop(Dialect::Ndn, &name("/lab"), hop, None).unwrap();
        // Commands must be later than the node's start.
        let last_ms = now_ms() + 10;
        World { node, file, lab, alice, user, producer, list: None, last_ms }
    }

    /// Has somebody publish a list that was made at that time.
    fn publish(&mut self, signer: Signer, made_ms: u64, bytes: Vec<u8>) {
        let config = PublicationConfig::new(name("/lab/REVOKED"), made_ms, bytes.len() as u64, signer);
        self.list = Some(MemoryObject::new(Publication::new(config).unwrap(), bytes));
    }

    fn publishes(&mut self, made_ms: u64, bytes: Vec<u8>) {
        self.publish(self.lab.signer.clone(), made_ms, bytes);
    }

    /// Answers what the producer is asked for; how much that was.
    fn produce(&mut self) -> usize {
        let mut answered = 0;
        while let Some(InnerPacket { packet: Packet::Interest(interest), .. }) = self.producer.recv().unwrap()
        {
            let reply = self.list.as_mut().map(|list| list.answer(&interest).unwrap());
            if let Some(answer) = reply.and_then(|reply| reply.into_packet(&interest)) {
                answered += usize::from(matches!(answer, Packet::Data(_)));
                self.producer.send(answer.into()).unwrap();
            }
        }
        answered
    }

    fn until(&mut self, what: &str, mut is_so: impl FnMut(&Path) -> bool) {
        let until = Instant::now() + TIMEOUT;
        while !is_so(&self.file) {
            assert!(Instant::now() < until, "{what}");
            self.produce();
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the list was fetched so often from now on.
    fn until_fetched(&mut self, times: usize) {
        let until = Instant::now() + TIMEOUT;
        // Each time its metadata is asked for, and the version's segment once.
        let mut answered = 0;
        while answered <= times {
            assert!(Instant::now() < until, "the list is not asked for");
            answered += self.produce();
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The status code with which a command by this key is answered.
    fn commands(&mut self, alice: bool) -> u64 {
        let time_ms = now_ms().max(self.last_ms + 1);
        self.last_ms = time_ms;
        let parameters = ControlParameters { name: Some(name("/a")), ..ControlParameters::default() };
        let builder = Command::RibRegister.interest(CommandScope::Localhost, &parameters).unwrap();
        let freshness = Freshness { time_ms: Some(time_ms), ..Freshness::default() };
        let person = if alice { &self.alice } else { &self.lab };
        let interest: Interest =
            person.signer.sign_interest(&builder.nonce(time_ms as u32), freshness).unwrap();
        self.user.send(InnerPacket::interest(interest)).unwrap();
        let until = Instant::now() + TIMEOUT;
        while Instant::now() < until {
            match self.user.recv().unwrap().map(|packet| packet.packet) {
                Some(Packet::Data(data)) => {
                    return ControlResponse::decode(data.content()).unwrap().code.number();
                }
                Some(other) => panic!("{other:?}"),
                None => drop(self.user.wait(Some(Duration::from_millis(1)))),
            }
        }
        panic!("the command was not answered");
    }
}

#[test]
fn a_key_that_a_list_revokes_is_not_obeyed_from_then_on_and_others_are() {
    let folder = TestFolder::new("revocation-list");
    let mut world = World::new(&folder, "");
    assert_eq!((world.commands(true), world.commands(false)), (200, 200));
    let record = world.alice.revokes_itself();
    // Alice may not publish what is /lab's to say, and what is old says nothing.
    let by_alice = world.alice.signer.clone();
    world.publish(by_alice, now_ms(), record.clone());
    world.until_fetched(1);
    assert_eq!(world.commands(true), 200);
    world.publishes(now_ms(), record);
    world.until("the list is taken in", |file| std::fs::metadata(file).is_ok_and(|it| it.len() > 0));
    assert_eq!((world.commands(true), world.commands(false)), (403, 200));
    // A list without the record brings the key not back.
    world.publishes(now_ms(), Vec::new());
    world.until_fetched(2);
    assert_eq!(world.commands(true), 403);
    world.node.shut_down();
}

#[test]
fn while_there_is_no_list_that_is_new_enough_no_key_is_obeyed() {
    let folder = TestFolder::new("revocation-age");
    let mut world = World::new(&folder, "revocations_max_age_secs = 1000\n");
    assert_eq!(world.commands(false), 403, "nobody knows which keys are revoked");
    world.publishes(now_ms() - 1_100_000, Vec::new());
    world.until("an old list is taken in", Path::exists);
    assert_eq!(world.commands(false), 403);
    world.publishes(now_ms(), Vec::new());
    let is_new = |file: &Path| {
        let age = std::fs::metadata(file).unwrap().modified().unwrap().elapsed();
        age.is_ok_and(|age| age < Duration::from_secs(500))
    };
    world.until("a new list is taken in", is_new);
    assert_eq!(world.commands(false), 200);
}

#[test]
fn a_list_needs_a_file_to_go_to_and_somebody_who_can_vouch_for_it() {
    let folder = TestFolder::new("revocation-config");
    let problem = |text: &str| {
        let config = Config::read(text).unwrap();
        let management = ManagementConfig::read(&config).map(drop);
        management.and_then(|()| config.check()).map_or_else(|error| error.problem, |()| "none".to_owned())
    };
    let file = folder.join("revoked");
    let list = "revocations_from = [\"/lab/REVOKED\"]\n";
    let without_file = problem(&format!("[management]\n{list}"));
    assert!(without_file.contains("revocations_from: name a file"), "{without_file}");
    let unvouched = problem(&format!("[management]\nrevocations = {file:?}\n{list}"));
    assert!(unvouched.contains("nobody can vouch for /lab/REVOKED"), "{unvouched}");
    let age = problem("[management]\nrevocations_max_age_secs = 5\n");
    assert!(age.contains("revocations_max_age_secs: name a file"), "{age}");
}
