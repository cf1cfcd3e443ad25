//! A process that inserts, deletes, compacts and moves volumes to a bucket is killed at random instants:
//! nothing that it had acknowledged is missing, nothing is half-deleted, no byte is served that was not
//! stored, and what is in the bucket is in use.
//!
//! `CAIRN_KILL_ROUNDS` says how often; `cargo xtask repository` sets it.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cairn_repo::cold::{FolderBucket, MigrationThread, TieredDisk};
use cairn_repo::disk::RealDisk;
use cairn_repo::eviction::DeletionRule;
use cairn_repo::service::{Reply, Service, ServiceConfig};
use cairn_repo::{Answer, Selection, Store, StoreConfig, StoreKeys};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::random::Random;
use packet::{Data, Dialect, Name, NameHasher};
use system::unix_now;
use testkit::folder::TestFolder;

const USUAL_ROUNDS: u64 = 4;
const FOLDER: &str = "CAIRN_KILL_FOLDER";
const SEED: &str = "CAIRN_KILL_SEED";
/// Threads of the worker; each has objects of its own.
const HANDS: u64 = 3;
/// Objects of one hand that may be there at once, about.
const KEPT: usize = 12;

/// What a worker said about an object last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Note {
    /// It will insert it.
    Inserting,
    /// All of it is stored.
    Stored,
    /// It will delete it, of which all was stored.
    Deleting,
    /// None of it is there.
    Deleted,
}

const WORDS: [(&str, Note); 4] = [
    ("inserting", Note::Inserting),
    ("stored", Note::Stored),
    ("deleting", Note::Deleting),
    ("deleted", Note::Deleted),
];

fn segments_of(object: u64) -> u64 {
    1 + object * 7 % 24
}

fn name_of(object: u64) -> Name {
    format!("/kill/{object}/v=1").parse().unwrap()
}

fn packet_of(object: u64, segment: u64) -> Data {
    let name: Name = format!("/kill/{object}/v=1/seg={segment}").parse().unwrap();
    let mut random = Random::derive(object, segment);
    let content = (0..random.below(3000)).map(|_| random.next_u64() as u8).collect::<Vec<_>>();
    DataBuilder::new(name).content(content).build_with_digest().unwrap()
}

fn open(folder: &Path, seed: u64) -> (Store, Arc<TieredDisk>) {
    let config = StoreConfig {
        volume_bytes: 64 << 10,
        checkpoint_bytes: 1 << 20,
        checkpoint_objects: 8,
        compact_below: 0.5,
        compact_bytes_per_second: 1 << 30,
        deletion: DeletionRule { threshold_bytes: u64::MAX, ratio: 0.0 },
        ..StoreConfig::default()
    };
    let keys = StoreKeys { records: [1, 2], names: NameHasher::new([3, 4]) };
    let disk = Arc::new(RealDisk::open(folder.join("store")).unwrap());
    let bucket = Arc::new(FolderBucket::open(&folder.join("bucket")).unwrap());
    let disk = Arc::new(TieredDisk::new(disk, bucket, seed));
    (Store::open(Arc::clone(&disk) as Arc<_>, config, keys).unwrap().0, disk)
}

/// What a worker says, in a file that outlives it.
struct Diary(Mutex<File>);

impl Diary {
    fn open(folder: &Path) -> Self {
        let file = OpenOptions::new().create(true).append(true).open(folder.join("diary")).unwrap();
        Diary(Mutex::new(file))
    }

    fn say(&self, said: Note, object: u64) {
        let word = WORDS.iter().find(|(_, other)| *other == said).unwrap().0;
        self.0.lock().unwrap().write_all(format!("{word} {object}\n").as_bytes()).unwrap();
    }

    fn read(folder: &Path) -> BTreeMap<u64, Note> {
        let text = std::fs::read_to_string(folder.join("diary")).unwrap_or_default();
        let mut objects = BTreeMap::new();
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let (word, object) = line.trim().split_once(' ').unwrap();
            let said = WORDS.iter().find(|(other, _)| *other == word).unwrap().1;
            objects.insert(object.parse().unwrap(), said);
        }
        objects
    }
}

/// The process that is killed. Does nothing when it is run as a test.
#[test]
#[ignore = "the other test runs it as a process"]
fn worker() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let seed: u64 = std::env::var(SEED).unwrap().parse().unwrap();
    let known = Diary::read(&folder);
    let diary = Arc::new(Diary::open(&folder));
    let answered = Arc::new(|replies: &mut Vec<Reply>| replies.clear());
    let (mut store, disk) = open(&folder, seed);
    store.set_cold_tier(Box::new(MigrationThread::start(disk).unwrap()), 0);
    let service = Service::start(store, ServiceConfig::default(), answered).unwrap();
    let hands: Vec<_> = (0..HANDS)
        .map(|hand| {
            let (service, diary) = (service.handle(), Arc::clone(&diary));
            let mut stored: Vec<u64> = known
                .iter()
                .filter(|&(object, said)| object % HANDS == hand && *said == Note::Stored)
                .map(|(&object, _)| object)
                .collect();
            let mut next = (known.keys().last().map_or(0, |last| last + 1)).next_multiple_of(HANDS) + hand;
            std::thread::spawn(move || {
                let mut random = Random::derive(seed, hand);
                loop {
                    if stored.len() > KEPT || !stored.is_empty() && random.below(3) == 0 {
                        let object = stored.swap_remove(random.below(stored.len() as u64) as usize);
                        diary.say(Note::Deleting, object);
                        let selection = Selection::Object(Dialect::Ndn, name_of(object));
                        service.call(move |store, now| store.delete(now, &selection)).unwrap().unwrap();
                        diary.say(Note::Deleted, object);
                    } else {
                        let object = next;
                        next += HANDS;
                        diary.say(Note::Inserting, object);
                        let (tell, told) = channel();
                        for segment in 0..segments_of(object) {
                            let tell = tell.clone();
                            let done = move |result| tell.send(result).unwrap();
                            service.insert_and_notify(packet_of(object, segment), done).unwrap();
                        }
                        drop(tell);
                        told.iter().for_each(|result| result.unwrap());
                        diary.say(Note::Stored, object);
                        stored.push(object);
                    }
                }
            })
        })
        .collect();
    // They go on until the process is killed, unless one of them fails: then it ends, which is noticed.
    while !hands.iter().any(std::thread::JoinHandle::is_finished) {
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// What is wrong with what is there, by what was said.
fn problems(store: &mut Store, said: &BTreeMap<u64, Note>) -> Vec<String> {
    let mut problems = Vec::new();
    for (&object, &said) in said {
        let mut there = 0;
        for segment in 0..segments_of(object) {
            let expected = packet_of(object, segment);
            let interest = InterestBuilder::new(expected.name().to_name()).build().unwrap();
            match store.answer(unix_now(), &interest) {
                Some(Answer::Data(data)) if data.wire() == expected.wire() => there += 1,
                Some(_) => problems.push(format!("object {object}: other bytes as segment {segment}")),
                None => {}
            }
        }
        let all = segments_of(object);
        let is_right = match said {
            Note::Inserting => true,
            Note::Stored => there == all,
            Note::Deleting => there == all || there == 0,
            Note::Deleted => there == 0,
        };
        if !is_right {
            problems.push(format!("object {object} is {said:?}, and {there} of {all} segments are there"));
        }
    }
    let unknown = store.catalogue().iter().filter(|(_, object)| {
        let name = object.name().unwrap().name.to_name();
        !said.keys().any(|&known| name_of(known) == name)
    });
    problems.extend(unknown.map(|(_, object)| format!("nobody inserted {:?}", object.name())));
    problems
}

#[test]
fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    let rounds = std::env::var("CAIRN_KILL_ROUNDS").map_or(USUAL_ROUNDS, |text| text.parse().unwrap());
    // When this test fails, what is wrong in it stays there to be looked at.
    let folder = ManuallyDrop::new(TestFolder::new("kills"));
    let mut random = Random::from_seed(0x6b69_6c6c);
    let (mut stored, mut deleted, mut interrupted, mut rounds_with_cold) = (0, 0, 0, 0);
    for round in 0..rounds {
        let mut worker = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "worker", "--ignored", "--quiet"])
            .env(FOLDER, &folder.0)
            .env(SEED, round.to_string())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(20 + random.below(300)));
        assert!(worker.try_wait().unwrap().is_none(), "round {round}: the worker ended by itself");
        // SIGKILL.
        worker.kill().unwrap();
        worker.wait().unwrap();
        let said = Diary::read(&folder);
        let (mut store, disk) = open(&folder, u64::MAX - round);
        disk.remove_orphans();
        assert_eq!(disk.counters().orphans, 0);
        let stats = store.stats();
        rounds_with_cold += u64::from(stats.cold_volumes > 0);
        let in_bucket = std::fs::read_dir(folder.join("bucket")).unwrap().count() as u64;
        assert_eq!(in_bucket, stats.cold_volumes, "round {round}: what is in the bucket is in use");
        let problems = problems(&mut store, &said);
        assert!(problems.is_empty(), "round {round}, in {}: {problems:#?}", folder.display());
        let count = |what: Note| said.values().filter(|&&said| said == what).count();
        (stored, deleted) = (count(Note::Stored), count(Note::Deleted));
        interrupted = count(Note::Inserting) + count(Note::Deleting);
    }
    println!(
        "{rounds} kills: {stored} objects stored, {deleted} deleted, {interrupted} under way when killed; \
         after {rounds_with_cold} of them some lay in the bucket"
    );
    assert!(stored > 0 && deleted > 0 && interrupted > 0, "the worker had time to do something");
    drop(ManuallyDrop::into_inner(folder));
}
