//! What a thread of the data plane reads by itself.

use std::collections::BTreeMap;

use packet::ndn::DataBuilder;
use packet::random::Random;
use packet::{Dialect, Name, NameHasher};

use super::tests::{Answers, HeldDisk, bytes, interest, start_on};
use super::*;
use crate::store::Selection;

const SEGMENTS: u64 = 8;

fn packet(uri: &str, content: u64) -> Data {
    DataBuilder::new(uri.parse().unwrap())
        .content(content.to_be_bytes().to_vec())
        .build_with_digest()
        .unwrap()
}

fn name(object: u64, segment: u64) -> String {
    format!("/a/{object}/v=1/seg={segment}")
}

/// A service on a disk all of which is in memory.
fn start() -> (HeldDisk, Service, Answers) {
    let disk = HeldDisk::new(1);
    disk.keep_in_memory(true);
    let (service, answers) = start_on(Arc::new(disk.clone()), ServiceConfig::default());
    (disk, service, answers)
}

fn fill(service: &Service, object: u64, content: u64) {
    for segment in 0..SEGMENTS {
        service.insert(packet(&name(object, segment), content)).unwrap();
    }
}

fn read(service: &Service, uri: &str) -> Option<Vec<u8>> {
    let interest = interest(uri);
    let hashes = NameHasher::new([3, 4]).hash(Dialect::Ndn, interest.name().components());
    bytes(
        service
            .handle()
            .read_in_memory(system::unix_now(), &interest, &hashes, |len| Some(SpareBuffer::new(len / 2))),
    )
}

fn ask(service: &Service, answers: &Answers, uri: &str) -> Option<Vec<u8>> {
    service.ask(0, interest(uri)).unwrap();
    bytes(answers.recv().unwrap().1)
}

#[test]
fn an_object_that_was_asked_for_is_read_without_a_question_and_the_hits_are_counted() {
    let (_disk, service, answers) = start();
    fill(&service, 1, 7);
    assert_eq!(read(&service, &name(1, 3)), None);
    assert!(ask(&service, &answers, &name(1, 0)).is_some());
    for segment in 0..SEGMENTS {
        assert_eq!(read(&service, &name(1, segment)), Some(packet(&name(1, segment), 7).wire().to_vec()));
    }
    // Not that name, and not what is made of no packet.
    assert_eq!(read(&service, &name(1, SEGMENTS)), None);
    assert_eq!(read(&service, "/a/1/v=1"), None);
    let store = service.stop().unwrap();
    assert_eq!(store.counters().hits, 1 + SEGMENTS);
}

#[test]
fn what_is_not_in_memory_is_asked_for_and_not_tried_packet_by_packet() {
    let (disk, service, answers) = start();
    fill(&service, 1, 7);
    ask(&service, &answers, &name(1, 0)).unwrap();
    disk.keep_in_memory(false);
    assert_eq!(read(&service, &name(1, 1)), None);
    disk.keep_in_memory(true);
    for segment in 1..SEGMENTS {
        assert_eq!(read(&service, &name(1, segment)), None);
    }
    assert!(ask(&service, &answers, &name(1, 1)).is_some());
}

#[test]
fn more_is_served_than_can_be_told_and_every_hit_is_counted() {
    let (_disk, service, answers) = start();
    fill(&service, 1, 7);
    ask(&service, &answers, &name(1, 0)).unwrap();
    let (release, held) = std::sync::mpsc::channel::<()>();
    let handle = service.handle();
    let (tell, entered) = std::sync::mpsc::channel();
    let holder = std::thread::spawn(move || {
        handle.call(move |_, _| {
            tell.send(()).unwrap();
            held.recv().is_err()
        })
    });
    entered.recv().unwrap();
    for segment in 0..20_000 {
        assert!(read(&service, &name(1, segment % SEGMENTS)).is_some());
    }
    release.send(()).unwrap();
    holder.join().unwrap().unwrap();
    let counters = *service.stop().unwrap().counters();
    assert_eq!((counters.hits, counters.untold_hits), (20_001, 20_000 - 8192));
}

#[test]
fn whatever_is_stored_and_deleted_nothing_old_is_read() {
    for seed in 0..20 {
        let (_disk, service, answers) = start();
        let mut random = Random::from_seed(seed);
        let mut model = BTreeMap::new();
        for content in 0..150 {
            let (object, segment) = (random.below(3), random.below(SEGMENTS));
            match random.below(8) {
                0 => {
                    let name: Name = format!("/a/{object}/v=1").parse().unwrap();
                    let gone = Selection::Object(Dialect::Ndn, name);
                    service.call(move |store, now| store.delete(now, &gone)).unwrap().unwrap();
                    model.retain(|&(other, _), _| other != object);
                }
                1 | 2 => {
                    service.insert(packet(&name(object, segment), content)).unwrap();
                    model.insert((object, segment), content);
                }
                3 => {
                    fill(&service, object, content);
                    model.extend((0..SEGMENTS).map(|segment| ((object, segment), content)));
                }
                _ => {
                    let is_there = ask(&service, &answers, &name(object, segment)).is_some();
                    assert_eq!(is_there, model.contains_key(&(object, segment)));
                }
            }
            for (object, segment) in (0..3).flat_map(|object| (0..SEGMENTS).map(move |s| (object, s))) {
                let uri = name(object, segment);
                let stored =
                    model.get(&(object, segment)).map(|&content| packet(&uri, content).wire().to_vec());
                let read = read(&service, &uri);
                assert!(read.is_none() || read == stored, "seed {seed}, {uri}");
            }
        }
    }
}
