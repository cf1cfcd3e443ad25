//! A node with a repository keeps what passes by, and answers from it when nobody else can.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_node::config::Config;
use cairn_node::control::{CreateInnerFace, NodeControl as _, Unmanaged};
use cairn_node::{InnerFace, InnerLimits, InnerPacket, Node, RepositoryError, StartError};
use engine::NextHop;
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::{Data, Dialect, NackReason, Name, Packet};
use testkit::folder::TestFolder;

const TIMEOUT: Duration = Duration::from_secs(20);

/// A node with one repository, an application that asks, and one that has what is below `/video` and `/live`.
struct World {
    node: Node,
    consumer: InnerFace,
    producer: InnerFace,
    nonce: u32,
}

fn config(folder: &Path) -> Config {
    let mut config = Config::read(&format!(
        "[[repository]]\npath = '{}'\nprefixes = ['/video']\nexclude = ['/video/live']\nmax_bytes = 100000000\n",
        folder.display()
    ))
    .unwrap();
    config.udp.listen = Vec::new();
    config.tcp.listen = Vec::new();
    config.websocket.listen = Vec::new();
    config.unix.listen = Some(Vec::new());
    config
}

fn data(uri: &str) -> Data {
    let content = uri.as_bytes().repeat(20);
    DataBuilder::new(uri.parse().unwrap()).content(content).build_with_digest().unwrap()
}

fn next(face: &mut InnerFace, patience: Duration) -> Option<Packet> {
    loop {
        match face.recv().unwrap() {
            Some(packet) => return Some(packet.packet),
            None => {
                if !face.wait(Some(patience)) {
                    return None;
                }
            }
        }
    }
}

impl World {
    fn new(folder: &Path) -> Self {
        World::of(&config(folder))
    }

    fn of(config: &Config) -> Self {
        let node = Node::start(config, Box::new(Unmanaged)).unwrap();
        let mut control = node.control();
        let mut face = |purpose: &str| {
            let limits = InnerLimits::default();
            let request =
                CreateInnerFace { purpose: purpose.parse().unwrap(), dialect: Dialect::Ndn, limits };
            control.create_inner_face(request).unwrap()
        };
        let (consumer, producer) = (face("consumer"), face("producer"));
        let hop = NextHop { face: producer.id(), cost: 0 };
        for prefix in ["/video", "/other"] {
            control.add_next_hop(Dialect::Ndn, &prefix.parse().unwrap(), hop, None).unwrap();
        }
        World { node, consumer, producer, nonce: 0 }
    }

    /// Expresses an Interest for a packet, or a question for metadata.
    fn ask(&mut self, uri: &str) {
        self.nonce += 1;
        let name: Name = uri.parse().unwrap();
        let discovers = name.as_ref().last() == Some(flow::naming::METADATA);
        let lifetime = packet::time::Duration::from_secs(30);
        let interest = InterestBuilder::new(name).nonce(self.nonce).lifetime(lifetime);
        let interest = interest.can_be_prefix(discovers).must_be_fresh(discovers).build().unwrap();
        self.consumer.send(InnerPacket::interest(interest)).unwrap();
    }

    /// What an Interest brings while the producer answers with this Data, or with a Nack; and whether the
    /// producer was asked.
    fn fetch(&mut self, uri: &str, produced: Option<&Data>) -> (Option<Data>, bool) {
        self.ask(uri);
        let until = Instant::now() + TIMEOUT;
        let mut was_asked = false;
        while Instant::now() < until {
            match next(&mut self.producer, Duration::from_millis(1)) {
                Some(Packet::Interest(interest)) => {
                    was_asked = true;
                    let answer = match produced {
                        Some(data) => Packet::Data(data.clone()),
                        None => Packet::Nack(interest, NackReason::NoRoute),
                    };
                    self.producer.send(answer.into()).unwrap();
                }
                Some(other) => panic!("{other:?}"),
                None => {}
            }
            match next(&mut self.consumer, Duration::from_millis(1)) {
                Some(Packet::Data(data)) => return (Some(data), was_asked),
                Some(Packet::Nack(..)) => return (None, was_asked),
                Some(other) => panic!("{other:?}"),
                None => {}
            }
        }
        panic!("{uri} was neither answered nor refused");
    }

    fn number(&self, word: &str) -> u64 {
        let status = self.node.control().status();
        let numbers = status.repositories[0].numbers();
        numbers.into_iter().find(|(other, _)| *other == word).unwrap().1
    }

    fn wait_for(&self, word: &str, number: u64) {
        let until = Instant::now() + TIMEOUT;
        while self.number(word) < number {
            assert!(Instant::now() < until, "{word} is {}, not {number}", self.number(word));
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn what_passed_by_is_there_after_a_restart_and_what_is_excluded_is_not() {
    let folder = TestFolder::absent("restart");
    let film: Vec<String> = (0..50).map(|segment| format!("/video/film/v=1/seg={segment}")).collect();
    let mut world = World::new(&folder.0);
    for uri in film.iter().map(String::as_str).chain(["/video/live/1", "/other/x"]) {
        assert_eq!(world.fetch(uri, Some(&data(uri))).0.unwrap().wire(), data(uri).wire());
    }
    // What waits to be committed is, at the end.
    world.node.shut_down();
    drop(world);

    let mut world = World::new(&folder.0);
    assert_eq!(world.number("objects"), 1);
    for uri in &film {
        let (answer, was_asked) = world.fetch(uri, None);
        assert_eq!(answer.unwrap().wire(), data(uri).wire());
        assert!(!was_asked, "{uri} was in the repository");
    }
    for uri in ["/video/live/1", "/other/x", "/video/film/v=1/seg=50"] {
        assert!(matches!(world.fetch(uri, None), (None, true)), "{uri}");
    }
    world.wait_for("hits", 50);
    let asked = world.node.control().status().second_store.unwrap();
    assert_eq!((asked.found, asked.overdue), (50, 0));
}

#[test]
fn metadata_that_passes_by_is_not_kept_and_is_made_of_what_is() {
    let folder = TestFolder::absent("metadata");
    let mut world = World::new(&folder.0);
    let passing = data("/video/film/32=metadata/v=9/seg=0");
    let (answer, was_asked) = world.fetch("/video/film/32=metadata", Some(&passing));
    assert!(was_asked && answer.unwrap().wire() == passing.wire());
    assert!(world.fetch("/video/film/v=1/seg=0", Some(&data("/video/film/v=1/seg=0"))).0.is_some());
    world.node.shut_down();
    drop(world);

    let mut world = World::new(&folder.0);
    assert_eq!((world.number("objects"), world.number("segments")), (1, 1));
    let (answer, was_asked) = world.fetch("/video/film/32=metadata", None);
    let metadata = flow::Metadata::decode(answer.unwrap().content()).unwrap();
    assert_eq!(metadata.name, "/video/film/v=1".parse::<Name>().unwrap());
    assert!(was_asked, "who publishes knows of newer versions");
}

#[test]
fn a_version_that_is_kept_does_not_hide_a_newer_one_upstream() {
    let folder = TestFolder::absent("newer");
    let mut world = World::new(&folder.0);
    let first = "/video/film/v=1/seg=0";
    assert!(world.fetch(first, Some(&data(first))).0.is_some());
    world.wait_for("insertions", 1);
    let newer = data("/video/film/32=metadata/v=9/seg=0");
    let (answer, was_asked) = world.fetch("/video/film/32=metadata", Some(&newer));
    assert!(was_asked && answer.unwrap().wire() == newer.wire());
    // What is kept is still what its own name brings.
    let (answer, _) = world.fetch(first, None);
    assert_eq!(answer.unwrap().wire(), data(first).wire());
}

#[test]
fn a_packet_that_the_disk_has_spoilt_is_asked_for_upstream_and_kept_again() {
    let folder = TestFolder::absent("spoilt");
    let uri = "/video/a/seg=0";
    let mut world = World::new(&folder.0);
    assert!(world.fetch(uri, Some(&data(uri))).0.is_some());
    world.node.shut_down();
    drop(world);
    let volumes = std::fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().path());
    let content = uri.as_bytes();
    let mut spoilt = 0;
    for path in volumes {
        let mut bytes = std::fs::read(&path).unwrap();
        // The content repeats the name: its end lies inside one record.
        let Some(place) = bytes.windows(2 * content.len()).rposition(|part| part == content.repeat(2)) else {
            continue;
        };
        bytes[place] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        spoilt += 1;
    }
    assert_eq!(spoilt, 1);

    let mut world = World::new(&folder.0);
    let (answer, was_asked) = world.fetch(uri, Some(&data(uri)));
    assert_eq!(answer.unwrap().wire(), data(uri).wire());
    assert!(was_asked);
    world.wait_for("corrupt", 1);
    world.wait_for("insertions", 1);
    world.node.shut_down();
    drop(world);
    let (answer, was_asked) = World::new(&folder.0).fetch(uri, None);
    assert!(answer.is_some() && !was_asked);
}

#[test]
fn who_comes_second_is_told_who_holds_the_folder() {
    let folder = TestFolder::absent("second");
    let _first = World::new(&folder.0);
    match Node::start(&config(&folder.0), Box::new(Unmanaged)) {
        Err(StartError::Repository { path, source: RepositoryError::Store(repo::OpenError::InUse(why)) }) => {
            assert_eq!(path, folder.0);
            let holder = format!("in use by a Cairn node (process {})", std::process::id());
            assert!(why.to_string().contains(&holder), "{why}");
        }
        other => panic!("{:?}", other.map(|_| ())),
    }
}

/// Stores so many packets in small volumes, all of which the index knows.
fn fill(folder: &Path, packets: usize) {
    let disk = Arc::new(repo::disk::RealDisk::open(folder).unwrap());
    let config = repo::StoreConfig { volume_bytes: 8192, ..repo::StoreConfig::default() };
    let keys = repo::StoreKeys { records: [1, 2], names: packet::NameHasher::new([3, 4]) };
    let (mut store, _) = repo::Store::open(disk, config, keys).unwrap();
    for number in 0..packets {
        store.insert(system::unix_now(), &data(&format!("/video/{number}"))).unwrap();
        store.commit().unwrap();
    }
    store.checkpoint().unwrap();
}

#[test]
fn volumes_in_a_cold_tier_answer_and_when_it_is_gone_upstream_does() {
    let (folder, bucket) = (TestFolder::absent("hot"), TestFolder::absent("cold"));
    fill(&folder.0, 60);
    let mut config = config(&folder.0);
    let cold = format!("hot_bytes = 0\nfolder = '{}'", bucket.0.display());
    config.repositories[0].cold = Some(toml::from_str(&cold).unwrap());
    let mut world = World::of(&config);
    world.wait_for("cold-migrations", 1);
    // The oldest has gone first.
    let (found, was_asked) = world.fetch("/video/0", None);
    assert!(found.is_some_and(|found| found.wire() == data("/video/0").wire()) && !was_asked);
    assert!(world.number("cold-reads") >= 1 && world.number("cold-failed-reads") == 0);
    drop(world);
    // The folder alone is not opened: what is in the bucket would count as lost.
    let error = Node::start(&self::config(&folder.0), Box::new(Unmanaged)).err().unwrap();
    assert!(error.to_string().contains("repository.cold"), "{error}");
    let mut world = World::of(&config);
    std::fs::rename(&bucket.0, bucket.0.with_extension("away")).unwrap();
    let (found, was_asked) = world.fetch("/video/1", Some(&data("/video/1")));
    assert!(found.is_some() && was_asked);
    assert!(world.number("cold-failed-reads") >= 1);
    std::fs::rename(bucket.0.with_extension("away"), &bucket.0).unwrap();
}
