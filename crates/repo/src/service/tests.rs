use std::sync::Condvar;
use std::sync::mpsc::{Receiver, channel};

use packet::ndn::{DataBuilder, InterestBuilder};
use packet::{Dialect, Name, NameHasher};

use super::*;
use crate::disk::{Call, Disk, DiskFile, Faults, FolderLock, SimulatedDisk};
use crate::store::{Selection, StoreConfig, StoreKeys};

pub(super) type Answers = Receiver<(u64, Option<FoundData>)>;

fn start(disk: &SimulatedDisk, config: ServiceConfig) -> (Service, Answers) {
    start_on(Arc::new(disk.clone()), config)
}

pub(super) fn start_on(disk: Arc<dyn Disk>, config: ServiceConfig) -> (Service, Answers) {
    start_with(disk, config, StoreConfig::default())
}

fn start_with(disk: Arc<dyn Disk>, config: ServiceConfig, store: StoreConfig) -> (Service, Answers) {
    let keys = StoreKeys { records: [1, 2], names: NameHasher::new([3, 4]) };
    let (store, _) = Store::open(disk, store, keys).unwrap();
    let (answered, answers) = channel();
    let answered = move |replies: &mut Vec<Reply>| {
        replies.drain(..).for_each(|reply| answered.send((reply.question, reply.found)).unwrap_or_default());
    };
    (Service::start(store, config, Arc::new(answered)).unwrap(), answers)
}

fn data(uri: &str) -> Data {
    DataBuilder::new(uri.parse().unwrap()).content(uri.as_bytes().to_vec()).build_with_digest().unwrap()
}

pub(super) fn bytes(found: Option<FoundData>) -> Option<Vec<u8>> {
    found.map(|found| found.data.wire().to_vec())
}

fn of(uri: &str) -> Option<Vec<u8>> {
    Some(data(uri).wire().to_vec())
}

pub(super) fn interest(uri: &str) -> Interest {
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
fn packets_that_came_together_are_acknowledged_together_and_none_that_is_not_stored() {
    let disk = SimulatedDisk::new(7);
    let (service, answers) = start(&disk, ServiceConfig::default());
    let (tell, told) = channel();
    let insert = |uris: &[&str]| {
        let tell = tell.clone();
        let packets = uris.iter().map(|uri| data(uri)).collect();
        service.handle().insert_many_and_notify(packets, move |result| tell.send(result).unwrap()).unwrap();
    };
    insert(&["/a/seg=0", "/a/seg=1", "/b"]);
    insert(&[]);
    assert_eq!((told.recv().unwrap(), told.recv().unwrap()), (Ok(()), Ok(())));
    service.ask(1, interest("/a/seg=1")).unwrap();
    assert_eq!(bytes(answers.recv().unwrap().1), of("/a/seg=1"));
    // A deletion commits what has come before it, and fails.
    disk.set_faults(Faults { failing_syncs: 1.0, ..Faults::default() });
    insert(&["/c"]);
    let gone = Selection::Object(Dialect::Ndn, "/b".parse::<Name>().unwrap());
    assert!(service.call(move |store, now| store.delete(now, &gone)).unwrap().is_err());
    assert_eq!(told.recv().unwrap(), Err(Rejection::DiskFailed));
    // Where one is refused the others are stored.
    disk.set_faults(Faults::default());
    let long = format!("/{}", "x".repeat(crate::Limits::MAX_NAME_BYTES)).parse().unwrap();
    let packets = vec![data("/d"), DataBuilder::new(long).build_with_digest().unwrap()];
    let tell = tell.clone();
    service.handle().insert_many_and_notify(packets, move |result| tell.send(result).unwrap()).unwrap();
    assert_eq!(told.recv().unwrap(), Err(Rejection::NameTooLong));
    service.ask(2, interest("/d")).unwrap();
    assert_eq!(bytes(answers.recv().unwrap().1), of("/d"));
}

/// Inserts packets, each as soon as the one before is stored and before the store thread can rest.
fn insert_without_a_pause(service: &ServiceHandle, left: u32, over: std::sync::mpsc::Sender<()>) {
    let Some(left) = left.checked_sub(1) else { return over.send(()).unwrap() };
    let next = service.clone();
    let done = move |_| insert_without_a_pause(&next, left, over);
    service.insert_and_notify(data(&format!("/{left}")), done).unwrap();
}

#[test]
fn the_store_is_maintained_also_while_insertions_never_pause() {
    let often = StoreConfig { checkpoint_objects: 10, ..StoreConfig::default() };
    let disk = Arc::new(SimulatedDisk::new(8));
    let (service, _answers) = start_with(disk, ServiceConfig::default(), often);
    let (over, is_over) = channel();
    insert_without_a_pause(&service.handle(), 1000, over);
    is_over.recv().unwrap();
    let checkpoints = service.call(|store, _| store.counters().checkpoints).unwrap();
    assert!(checkpoints >= 50, "{checkpoints}");
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
    for number in 1..=2 {
        assert_eq!(service.ask(number, interest("/a")), Ok(()));
    }
    assert_eq!(service.ask(3, interest("/a")), Err(Busy::Full));
    // That there are questions takes a place beside it.
    assert_eq!(service.offer(data("/b")), Ok(()));
    assert_eq!(service.offer(data("/c")), Err(Busy::Full));
    assert_eq!(service.status().busy, 2);
    release.send(()).unwrap();
    holder.join().unwrap().unwrap();
    assert!(matches!(answers.recv().unwrap(), (1, None)));
}

/// A disk on which syncs wait for as long as somebody holds them.
#[derive(Clone, Debug)]
pub(super) struct HeldDisk {
    disk: SimulatedDisk,
    gate: Arc<(Mutex<Gate>, Condvar)>,
}

#[derive(Debug, Default)]
struct Gate {
    is_held: bool,
    is_in_memory: bool,
    waiting: usize,
}

impl HeldDisk {
    pub(super) fn new(seed: u64) -> Self {
        HeldDisk { disk: SimulatedDisk::new(seed), gate: Arc::default() }
    }

    /// Whether all that is read is in memory, or nothing.
    pub(super) fn keep_in_memory(&self, is_in_memory: bool) {
        self.gate.0.lock().unwrap().is_in_memory = is_in_memory;
    }

    fn hold(&self, is_held: bool) {
        self.gate.0.lock().unwrap().is_held = is_held;
        self.gate.1.notify_all();
    }

    /// Waits until a sync waits.
    fn wait(&self) {
        let waits = |gate: &mut Gate| gate.waiting == 0;
        drop(self.gate.1.wait_while(self.gate.0.lock().unwrap(), waits).unwrap());
    }

    fn pass(&self) {
        let mut gate = self.gate.0.lock().unwrap();
        gate.waiting += 1;
        self.gate.1.notify_all();
        let mut gate = self.gate.1.wait_while(gate, |gate| gate.is_held).unwrap();
        gate.waiting -= 1;
    }
}

impl Disk for HeldDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(HeldFile { file: self.disk.open(name, create)?, disk: self.clone() }))
    }
    fn list(&self) -> io::Result<Vec<String>> {
        self.disk.list()
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }
    fn sync_folder(&self) -> io::Result<()> {
        self.disk.sync_folder()
    }
    fn lock(&self, holder: &str) -> io::Result<Box<dyn FolderLock>> {
        self.disk.lock(holder)
    }
}

#[derive(Debug)]
struct HeldFile {
    file: Arc<dyn DiskFile>,
    disk: HeldDisk,
}

impl DiskFile for HeldFile {
    fn len_bytes(&self) -> io::Result<u64> {
        self.file.len_bytes()
    }
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read_at(offset, out)
    }
    fn read_in_memory(&self, offset: u64, out: &mut [u8]) -> bool {
        self.disk.gate.0.lock().unwrap().is_in_memory && self.file.read_at(offset, out).is_ok()
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_at(offset, bytes)
    }
    fn sync(&self) -> io::Result<()> {
        self.disk.pass();
        self.file.sync()
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }
    fn punch_hole(&self, range: std::ops::Range<u64>) -> io::Result<()> {
        self.file.punch_hole(range)
    }
    fn allocated(&self) -> io::Result<u64> {
        self.file.allocated()
    }
}

/// What the store thread does with the disk, by the sync that it waits for.
type DoSync = fn(&ServiceHandle);

#[test]
fn questions_are_answered_while_a_sync_is_under_way_whatever_it_is_for() {
    let works: [(&str, DoSync); 4] = [
        ("commit", |service| service.insert(data("/new/v=1/seg=0")).unwrap()),
        ("delete", |service| {
            let gone = Selection::Object(Dialect::Ndn, "/old".parse().unwrap());
            assert_eq!(service.call(move |store, now| store.delete(now, &gone)).unwrap().unwrap().objects, 1);
        }),
        ("pin", |service| {
            assert_eq!(service.call(|store, now| store.pin(now, &[0], true)).unwrap(), Ok(1));
        }),
        ("checkpoint", |service| service.call(|store, _| store.checkpoint()).unwrap().unwrap()),
    ];
    for (what, work) in works {
        let disk = HeldDisk::new(5);
        let (service, answers) = start_on(Arc::new(disk.clone()), ServiceConfig::default());
        service.insert(data("/a/v=1/seg=0")).unwrap();
        service.insert(data("/old")).unwrap();
        disk.disk.record();
        disk.hold(true);
        let handle = service.handle();
        let worker = std::thread::spawn(move || work(&handle));
        disk.wait();
        for (number, uri) in [(1, "/a/v=1/seg=0"), (2, "/old"), (3, "/nowhere")] {
            service.ask(number, interest(uri)).unwrap();
            let (question, found) = answers.recv_timeout(Duration::from_secs(60)).expect(what);
            let expected = of(uri).filter(|_| number < 3);
            assert_eq!((question, bytes(found)), (number, expected), "{what}");
        }
        disk.disk.note("answered");
        disk.hold(false);
        worker.join().unwrap();
        let calls = disk.disk.record();
        let answered = calls.iter().position(|call| matches!(call, Call::Note(_))).unwrap();
        assert!(calls[..answered].iter().any(|call| matches!(call, Call::Write(..))), "{what}: {calls:?}");
        assert!(!calls[..answered].iter().any(|call| matches!(call, Call::Sync(_))), "{what}: {calls:?}");
        assert!(calls[answered..].iter().any(|call| matches!(call, Call::Sync(_))), "{what}: {calls:?}");
    }
}

#[test]
fn stored_metadata_is_not_given_once_a_newer_version_is_here() {
    let (service, answers) = start(&SimulatedDisk::new(6), ServiceConfig::default());
    let metadata = flow::Metadata {
        name: "/a/v=1".parse().unwrap(),
        last_segment: None,
        segment_bytes: None,
        size_bytes: None,
    };
    let mut content = Vec::new();
    metadata.encode(&mut content);
    let stored = DataBuilder::new("/a/32=metadata/v=1/seg=0".parse().unwrap());
    let stored = stored.freshness(packet::time::Duration::from_secs(3600)).content(content);
    service.insert(stored.build_with_digest().unwrap()).unwrap();
    let question = InterestBuilder::new("/a/32=metadata".parse().unwrap());
    let question = question.can_be_prefix(true).must_be_fresh(true).build().unwrap();
    for version in 1..=3 {
        service.insert(data(&format!("/a/v={version}/seg=0"))).unwrap();
        service.ask(version, question.clone()).unwrap();
        let (_, found) = answers.recv().unwrap();
        let told = flow::Metadata::decode(found.unwrap().data.content()).unwrap();
        assert_eq!(told.name.to_string(), format!("/a/v={version}"));
    }
}
