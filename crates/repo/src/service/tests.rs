use std::sync::mpsc::{Receiver, channel};

use packet::ndn::{DataBuilder, InterestBuilder};
use packet::{Dialect, Name, NameHasher};

use super::*;
use crate::disk::{Call, SimulatedDisk};
use crate::store::{Selection, StoreConfig, StoreKeys};

type Answers = Receiver<(u64, Option<Found>)>;

fn start(disk: &SimulatedDisk, config: ServiceConfig) -> (Service, Answers) {
    let keys = StoreKeys { records: [1, 2], names: NameHasher::new([3, 4]) };
    let (store, _) = Store::open(Arc::new(disk.clone()), StoreConfig::default(), keys).unwrap();
    let (answered, answers) = channel();
    let answered = move |question, found| answered.send((question, found)).unwrap_or_default();
    (Service::start(store, config, Arc::new(answered)).unwrap(), answers)
}

fn data(uri: &str) -> Data {
    DataBuilder::new(uri.parse().unwrap()).content(uri.as_bytes().to_vec()).build_with_digest().unwrap()
}

fn bytes(found: Option<Found>) -> Option<Vec<u8>> {
    found.map(|found| found.data.wire().to_vec())
}

fn of(uri: &str) -> Option<Vec<u8>> {
    Some(data(uri).wire().to_vec())
}

fn interest(uri: &str) -> Interest {
    InterestBuilder::new(uri.parse().unwrap()).build().unwrap()
}

#[test]
fn every_question_is_answered_once_with_what_was_stored_or_with_nothing() {
    let (service, answers) = start(&SimulatedDisk::new(1), ServiceConfig::default());
    for number in 0..20 {
        service.insert(data(&format!("/a/v=1/seg={number}"))).unwrap();
    }
    for number in 0..40 {
        service.ask(number, interest(&format!("/a/v=1/seg={number}"))).unwrap();
    }
    let mut got: Vec<_> = answers.iter().take(40).collect();
    got.sort_by_key(|(question, _)| *question);
    for (number, (question, found)) in (0..).zip(got) {
        assert_eq!(question, number);
        let expected = of(&format!("/a/v=1/seg={number}")).filter(|_| number < 20);
        assert_eq!(bytes(found), expected);
    }
    service.stop().unwrap();
    assert!(answers.try_recv().is_err());
}

#[test]
fn an_insertion_is_acknowledged_after_a_sync_that_covers_it() {
    let disk = SimulatedDisk::new(2);
    let (service, _answers) = start(&disk, ServiceConfig::default());
    disk.record();
    service.insert(data("/a")).unwrap();
    disk.note("acknowledged");
    let calls = disk.record();
    let place = |is: &dyn Fn(&Call) -> bool| calls.iter().position(is).unwrap();
    let synced = place(&|call| matches!(call, Call::Sync(_)));
    assert!(place(&|call| matches!(call, Call::Write(..))) < synced);
    assert!(synced < place(&|call| matches!(call, Call::Note(_))), "{calls:?}");
    // What the power cut leaves is what a store finds that is opened then.
    disk.crash();
    drop(service);
    let (service, answers) = start(&disk, ServiceConfig::default());
    service.ask(1, interest("/a")).unwrap();
    assert_eq!(bytes(answers.recv().unwrap().1), of("/a"));
}

#[test]
fn what_is_offered_is_there_after_a_stop_and_what_is_deleted_is_not() {
    let disk = SimulatedDisk::new(3);
    let (service, _answers) = start(&disk, ServiceConfig::default());
    service.offer(data("/a")).unwrap();
    service.insert(data("/b")).unwrap();
    let gone = Selection::Object(Dialect::Ndn, "/b".parse::<Name>().unwrap());
    let deleted = service.call(move |store, now| store.delete(now, &gone)).unwrap().unwrap();
    assert_eq!(deleted.objects, 1);
    drop(service.stop().unwrap());
    let (service, answers) = start(&disk, ServiceConfig::default());
    service.ask(1, interest("/a")).unwrap();
    service.ask(2, interest("/b")).unwrap();
    let mut got: Vec<_> = answers.iter().take(2).collect();
    got.sort_by_key(|(question, _)| *question);
    let got: Vec<_> = got.into_iter().map(|(_, found)| bytes(found)).collect();
    assert_eq!(got, [of("/a"), None]);
    assert_eq!(service.call(|store, _| store.catalogue().len()), Some(1));
}

#[test]
fn a_full_queue_refuses_and_counts_and_nobody_waits() {
    let config = ServiceConfig { queue: 2, ..ServiceConfig::default() };
    let (service, answers) = start(&SimulatedDisk::new(4), config);
    let (release, held) = channel::<()>();
    let handle = service.handle();
    let (entered_tell, entered) = channel();
    let holder = std::thread::spawn(move || {
        handle.call(move |_, _| {
            entered_tell.send(()).unwrap();
            let _ = held.recv();
        })
    });
    entered.recv().unwrap();
    assert_eq!(service.ask(1, interest("/a")), Ok(()));
    assert_eq!(service.offer(data("/b")), Ok(()));
    assert_eq!(service.ask(2, interest("/a")), Err(Busy::Full));
    assert_eq!(service.offer(data("/c")), Err(Busy::Full));
    assert_eq!(service.status().busy, 2);
    release.send(()).unwrap();
    holder.join().unwrap().unwrap();
    assert!(matches!(answers.recv().unwrap(), (1, None)));
}
