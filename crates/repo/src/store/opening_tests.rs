//! What opening has to do after a crash does not grow with how long the store was busy, nor with what.

use packet::ndn::DataBuilder;

use super::*;
use crate::disk::SimulatedDisk;
use crate::eviction::DeleteQueue;

const NOW: UnixTime = UnixTime::from_millis(1_700_000_000_000);
const OBJECTS: usize = 64;
const RECORDS: u64 = 512;
const BYTES: u64 = 64 << 10;
/// What one commit takes in.
const RECORDS_OF_A_COMMIT: u64 = 20;

fn config() -> StoreConfig {
    StoreConfig {
        checkpoint_objects: OBJECTS,
        checkpoint_records: RECORDS,
        checkpoint_bytes: BYTES,
        ..StoreConfig::default()
    }
}

/// Lets a store be as busy as may be, with one step of maintenance for each commit, and then dies. What
/// opening had to read again.
fn replayed(config: &StoreConfig, mut keep_busy: impl FnMut(&mut Store, u64)) -> Recovery {
    let disk = SimulatedDisk::new(1);
    let open = || {
        let keys = StoreKeys { records: [1, 2], names: NameHasher::new([3, 4]) };
        Store::open(Arc::new(disk.clone()), config.clone(), keys).unwrap()
    };
    let mut store = open().0;
    store.set_eviction(Box::new(DeleteQueue::default()));
    for round in 0..300 {
        keep_busy(&mut store, round);
        store.commit().unwrap();
        store.maintain(NOW).unwrap();
    }
    drop(store);
    let (store, recovery) = open();
    assert!(store.stats().objects > 0 && !recovery.rebuilt);
    recovery
}

fn put(store: &mut Store, uri: &str, bytes: usize) {
    let data = DataBuilder::new(uri.parse().unwrap()).content(vec![7; bytes]).build_with_digest().unwrap();
    store.insert(NOW, &data).unwrap();
}

fn put_objects(store: &mut Store, round: u64, bytes: usize) {
    for number in 0..RECORDS_OF_A_COMMIT {
        put(store, &format!("/{round}/{number}"), bytes);
    }
}

fn is_bounded(recovery: &Recovery) -> bool {
    let records = RECORDS * 3 / 2 + 2 * RECORDS_OF_A_COMMIT;
    recovery.replayed_records <= records && recovery.replayed_bytes <= BYTES * 3 / 2 + 20_000
}

#[test]
fn no_more_is_read_again_where_every_commit_makes_the_store_evict() {
    let deletion = DeletionRule { threshold_bytes: 20_000, ratio: 0.0 };
    let recovery =
        replayed(&StoreConfig { deletion, ..config() }, |store, round| put_objects(store, round, 10));
    // An object changes when it comes and when it goes, and each commit lets as many come as go.
    let changes = OBJECTS as u64 * 3 / 2 + 2 * RECORDS_OF_A_COMMIT;
    assert!(is_bounded(&recovery) && recovery.replayed_records <= 2 * changes, "{recovery:?}");
}

#[test]
fn no_more_is_read_again_where_there_are_always_holes_to_be_punched() {
    let recovery = replayed(&config(), |store, round| {
        put_objects(store, round, 10);
        // More than a step of maintenance punches.
        for more in 0..3 {
            put_objects(store, 1000 * more + 1000 + round, 10);
        }
        if let Some(before) = round.checked_sub(1) {
            for of in [before, 1000 + before, 2000 + before] {
                let gone = Selection::Prefix(packet::Dialect::Ndn, format!("/{of}").parse().unwrap());
                assert_eq!(store.delete(NOW, &gone).unwrap().objects, RECORDS_OF_A_COMMIT);
            }
        }
    });
    assert!(is_bounded(&recovery), "{recovery:?}");
}

#[test]
fn no_more_is_read_again_where_one_object_grows_by_small_segments() {
    let small = StoreConfig { checkpoint_bytes: u64::MAX, ..config() };
    let recovery = replayed(&small, |store, round| {
        for number in 0..RECORDS_OF_A_COMMIT {
            put(store, &format!("/one/seg={}", round * RECORDS_OF_A_COMMIT + number), 10);
        }
    });
    assert!(recovery.replayed_records <= RECORDS + RECORDS_OF_A_COMMIT, "{recovery:?}");
}

#[test]
fn who_stores_without_maintaining_can_keep_the_log_short() {
    let disk = SimulatedDisk::new(1);
    let keys = StoreKeys { records: [1, 2], names: NameHasher::new([3, 4]) };
    let mut store = Store::open(Arc::new(disk.clone()), config(), keys.clone()).unwrap().0;
    for round in 0..100 {
        put_objects(&mut store, round, 10);
        store.commit().unwrap();
        store.checkpoint_if_due().unwrap();
    }
    let checkpoints = store.counters().checkpoints;
    assert!((20..50).contains(&checkpoints), "{checkpoints}: neither never nor at each commit");
    drop(store);
    let (store, recovery) = Store::open(Arc::new(disk), config(), keys).unwrap();
    assert_eq!(store.stats().objects, 100 * RECORDS_OF_A_COMMIT);
    assert!(recovery.replayed_records <= OBJECTS as u64 + RECORDS_OF_A_COMMIT, "{recovery:?}");
}

#[test]
fn what_another_version_has_written_is_refused_and_left_as_it_is() {
    let disk = SimulatedDisk::new(1);
    let open = || {
        let keys = StoreKeys { records: [1, 2], names: NameHasher::new([3, 4]) };
        Store::open(Arc::new(disk.clone()), config(), keys)
    };
    let mut store = open().unwrap().0;
    put_objects(&mut store, 0, 10);
    store.commit().unwrap();
    drop(store);
    let file = disk.open("00000001.volume", false).unwrap();
    let len = file.len_bytes().unwrap();
    let mut head = [0; 36];
    file.read_at(0, &mut head).unwrap();
    let (ours, mut theirs) = (head, head);
    theirs[8] = 2;
    let crc = crc32fast::hash(&theirs[..32]);
    theirs[32..36].copy_from_slice(&crc.to_le_bytes());
    file.write_at(0, &theirs).unwrap();
    // Its index may look like anything.
    disk.rename("index.redb", "index.away").unwrap();
    let refused = open().unwrap_err().to_string();
    assert!(refused.contains("format 2"), "{refused}");
    assert_eq!(
        (file.len_bytes().unwrap(), disk.list().unwrap().contains(&"index.redb".to_owned())),
        (len, false)
    );
    disk.rename("index.away", "index.redb").unwrap();
    // A flipped bit is no version.
    let mut flipped = ours;
    flipped[8] ^= 4;
    file.write_at(0, &flipped).unwrap();
    assert_eq!(open().unwrap().0.stats().objects, RECORDS_OF_A_COMMIT);
}

#[test]
fn a_clock_that_is_set_back_does_not_put_compaction_off() {
    let disk = SimulatedDisk::new(1);
    let keys = StoreKeys { records: [1, 2], names: NameHasher::new([3, 4]) };
    let slow = StoreConfig {
        volume_bytes: 16 << 10,
        compact_below: 0.9,
        compact_bytes_per_second: 1,
        ..StoreConfig::default()
    };
    let mut store = Store::open(Arc::new(disk), slow, keys).unwrap().0;
    (0..8).for_each(|round| {
        put_objects(&mut store, round, 200);
        store.commit().unwrap();
        let gone = Selection::Prefix(packet::Dialect::Ndn, format!("/{round}/1").parse().unwrap());
        store.delete(NOW, &gone).unwrap();
    });
    store.checkpoint().unwrap();
    for round in [0, 4] {
        let gone = Selection::Prefix(packet::Dialect::Ndn, format!("/{round}").parse().unwrap());
        store.delete(NOW, &gone).unwrap();
    }
    let settle = |store: &mut Store, now| loop {
        let pending = store.maintain(now).unwrap();
        if pending != PendingMaintenance::More {
            return pending;
        }
    };
    let PendingMaintenance::Later(then) = settle(&mut store, NOW) else { panic!("nothing is compacted") };
    let copied = store.counters().compacted_bytes;
    assert!(then > NOW && copied > 0);
    let a_year_ago = UnixTime::from_millis(NOW.as_millis() - 365 * 86_400_000);
    settle(&mut store, a_year_ago);
    assert!(store.counters().compacted_bytes > copied, "{:?}", store.counters());
}
