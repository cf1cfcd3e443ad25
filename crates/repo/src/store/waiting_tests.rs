//! Nobody who asks waits for what the store does: what may have to wait for the disk is handed over, and what
//! takes long without it stops now and then.

use std::io;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use packet::Dialect;
use packet::ndn::DataBuilder;

use super::*;
use crate::disk::{DiskFile, SimulatedDisk};
use crate::eviction::DeleteQueue;

const NOW: UnixTime = UnixTime::from_millis(1_700_000_000_000);

/// What the store does by itself, and how often it stops for those who ask.
#[derive(Debug, Default)]
struct Watch {
    is_handed_over: AtomicBool,
    handed_over: AtomicU64,
    stops: AtomicU64,
    by_itself: Mutex<Vec<String>>,
}

impl Watch {
    fn note(&self, what: &str) {
        if !self.is_handed_over.load(Ordering::Relaxed) {
            self.by_itself.lock().unwrap().push(what.to_owned());
        }
    }

    fn take_stops(&self) -> u64 {
        self.stops.swap(0, Ordering::Relaxed)
    }
}

#[derive(Debug)]
struct WatchedExecutor(Arc<Watch>);

impl DiskExecutor for WatchedExecutor {
    fn execute(&mut self, _store: &Store, job: DiskJob) {
        self.0.is_handed_over.store(true, Ordering::Relaxed);
        job();
        self.0.is_handed_over.store(false, Ordering::Relaxed);
        self.0.handed_over.fetch_add(1, Ordering::Relaxed);
    }

    fn answer_waiting(&mut self, _store: &Store) {
        self.0.stops.fetch_add(1, Ordering::Relaxed);
    }
}

#[derive(Debug)]
struct WatchedDisk(SimulatedDisk, Arc<Watch>);

impl Disk for WatchedDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        self.1.note("open");
        Ok(Arc::new(WatchedFile(self.0.open(name, create)?, Arc::clone(&self.1))))
    }
    fn list(&self) -> io::Result<Vec<String>> {
        self.1.note("list");
        self.0.list()
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.1.note("rename");
        self.0.rename(from, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.1.note("remove");
        self.0.remove(name)
    }
    fn sync_folder(&self) -> io::Result<()> {
        self.1.note("sync the folder");
        self.0.sync_folder()
    }
    fn lock(&self, holder: &str) -> io::Result<Box<dyn FolderLock>> {
        self.0.lock(holder)
    }
}

#[derive(Debug)]
struct WatchedFile(Arc<dyn DiskFile>, Arc<Watch>);

/// The last one that lets go of a file waits for the file system, too.
impl Drop for WatchedFile {
    fn drop(&mut self) {
        self.1.note("close");
    }
}

impl DiskFile for WatchedFile {
    fn len_bytes(&self) -> io::Result<u64> {
        self.0.len_bytes()
    }
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.1.note("read");
        self.0.read_at(offset, out)
    }
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.1.note("write");
        self.0.write_at(offset, bytes)
    }
    fn sync(&self) -> io::Result<()> {
        self.1.note("sync");
        self.0.sync()
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.1.note("set the length");
        self.0.set_len(len)
    }
    fn punch_hole(&self, range: Range<u64>) -> io::Result<()> {
        self.1.note("punch");
        self.0.punch_hole(range)
    }
    fn allocated(&self) -> io::Result<u64> {
        self.0.allocated()
    }
}

fn open(config: StoreConfig) -> (Store, Arc<Watch>) {
    let watch = Arc::<Watch>::default();
    let disk = WatchedDisk(SimulatedDisk::new(1), Arc::clone(&watch));
    let keys = StoreKeys { records: [1, 2], names: NameHasher::new([3, 4]) };
    let (mut store, _) = Store::open(Arc::new(disk), config, keys).unwrap();
    store.set_disk_executor(Some(Box::new(WatchedExecutor(Arc::clone(&watch)))));
    watch.by_itself.lock().unwrap().clear();
    (store, watch)
}

fn put(store: &mut Store, uri: &str, bytes: usize) {
    let data = DataBuilder::new(uri.parse().unwrap()).content(vec![7; bytes]).build_with_digest().unwrap();
    store.insert(NOW, &data).unwrap();
}

fn below(prefix: &str) -> Selection {
    Selection::Prefix(Dialect::Ndn, prefix.parse().unwrap())
}

#[test]
fn the_store_does_nothing_with_the_disk_by_itself_that_it_may_have_to_wait_for() {
    let (mut store, watch) = open(StoreConfig {
        volume_bytes: 32 << 10,
        checkpoint_bytes: 16 << 10,
        compact_below: 0.5,
        deletion: DeletionRule { threshold_bytes: 120_000, ratio: 0.5 },
        ..StoreConfig::default()
    });
    store.set_eviction(Box::new(DeleteQueue::default()));
    let mut now = NOW;
    for object in 0..300 {
        (0..2).for_each(|segment| put(&mut store, &format!("/o{object}/seg={segment}"), 500));
        // One that is there already is compared with what is.
        put(&mut store, &format!("/o{}/seg=0", object.max(1) - 1), 500);
        store.commit().unwrap();
        match object % 5 {
            0 => _ = store.pin(now, &[0], object % 2 == 0).unwrap(),
            1 => {}
            2 => {
                let segment = Selection::Segments(Dialect::Ndn, "/o1".parse().unwrap(), 0, 0);
                _ = store.delete(now, &segment).unwrap();
            }
            _ => _ = store.delete(now, &below(&format!("/o{}", object - 1))).unwrap(),
        }
        loop {
            match store.maintain(now).unwrap() {
                PendingMaintenance::More => {}
                PendingMaintenance::Later(then) => now = then,
                PendingMaintenance::Idle => break,
            }
        }
    }
    let counters = store.counters();
    assert!(counters.duplicates > 0 && counters.evictions > 0 && counters.punches > 0, "{counters:?}");
    assert!(counters.compacted_bytes > 0 && counters.volumes_removed > 0, "{counters:?}");
    assert!(counters.checkpoints > 1 && watch.handed_over.load(Ordering::Relaxed) > 300, "{counters:?}");
    assert_eq!(*watch.by_itself.lock().unwrap(), Vec::<String>::new());
}

#[test]
fn whatever_is_done_with_thousands_of_objects_stops_for_those_who_ask() {
    let (mut store, watch) = open(StoreConfig {
        checkpoint_bytes: u64::MAX,
        checkpoint_objects: usize::MAX,
        ..StoreConfig::default()
    });
    let objects = 5 * OBJECTS_AT_ONCE;
    for object in 0..objects {
        put(&mut store, &format!("/{}/{object}", if object % 2 == 0 { "even" } else { "odd" }), 10);
    }
    store.commit().unwrap();
    assert_eq!(watch.take_stops(), 0);
    store.checkpoint().unwrap();
    assert!(watch.take_stops() >= 4, "the index learns of them all");
    let mut between = 0;
    let stats = store.stats_in_pieces(|_| between += 1);
    assert!(stats.objects == objects as u64 && between >= 4, "{between}");
    assert_eq!(store.delete(NOW, &below("/even")).unwrap().objects, objects as u64 / 2);
    assert!(watch.take_stops() >= 2, "half of them are deleted");
    store.checkpoint().unwrap();
    assert!(watch.take_stops() >= 2, "and their records are needed no more");
    let rule = DeletionRule { threshold_bytes: 1, ratio: 1.0 };
    store.config.deletion = rule;
    store.set_eviction(Box::new(DeleteQueue::default()));
    store.maintain(NOW).unwrap();
    assert_eq!(store.counters().evictions, objects as u64 / 2);
    assert!(watch.take_stops() >= 4, "they are chosen, and then deleted");
}
