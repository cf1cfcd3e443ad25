//! Power cuts on a disk that loses, tears and reorders what was not synced: whatever the instant, nothing
//! that was acknowledged is missing, nothing is half-deleted, and no byte is served that was not stored.
//!
//! `CAIRN_REPO_SEEDS` says how many seeds are tried, `CAIRN_REPO_FIRST_SEED` from which on.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cairn_repo::cold::{SimulatedBucket, TieredDisk};
use cairn_repo::disk::{Disk, Faults, SimulatedDisk};
use cairn_repo::eviction::{DeleteQueue, DeletionRule};
use cairn_repo::{Answer, PendingMaintenance, Rejection, Selection, Store, StoreConfig, StoreKeys, UnixTime};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::random::Random;
use packet::time::Duration;
use packet::{Data, Dialect, Name, NameHasher};

const USUAL_SEEDS: u64 = 60;
const OBJECTS: u64 = 8;
const SEGMENTS: u64 = 6;

type Packet = (u64, u64);

/// What a client knows: what must be there, and what may be.
#[derive(Default)]
struct Client {
    /// Acknowledged packets, by object and segment, with the only bytes they may have.
    must: BTreeMap<Packet, Data>,
    /// Every packet that was ever sent under a name.
    ever: BTreeMap<Packet, Vec<Data>>,
    /// Packets whose fate nobody was told: inserted and not acknowledged, or an object whose deletion was
    /// not acknowledged.
    unsure: BTreeSet<Packet>,
    /// Objects whose deletion was not acknowledged: all that is known of them is there, or nothing.
    deleting: BTreeSet<u64>,
}

struct World {
    disk: SimulatedDisk,
    random: Random,
    client: Client,
    config: StoreConfig,
    now: UnixTime,
    /// Where volumes may be moved to.
    cold: Option<Cold>,
}

struct Cold {
    bucket: SimulatedBucket,
    /// That of the last start.
    disk: Option<Arc<TieredDisk>>,
}

fn name(object: u64, segment: u64) -> Name {
    // Some objects are single packets.
    let uri = if object % 4 == 3 {
        format!("/single/{object}")
    } else {
        format!("/many/{object}/v=1/seg={segment}")
    };
    uri.parse().unwrap()
}

fn object_name(object: u64) -> Name {
    let packet = name(object, 0);
    if object % 4 == 3 { packet } else { packet.prefix(3) }
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random::derive(seed, 7);
        let config = StoreConfig {
            volume_bytes: 4 << 10 << random.below(4),
            checkpoint_bytes: 2 << 10 << random.below(5),
            compact_below: 0.6,
            compact_bytes_per_second: u64::MAX,
            deletion: DeletionRule { threshold_bytes: u64::MAX, ratio: 0.0 },
            ..StoreConfig::default()
        };
        let now = UnixTime::from_millis(1_700_000_000_000);
        World { disk: SimulatedDisk::new(seed), random, client: Client::default(), config, now, cold: None }
    }

    fn with_cold_tier(seed: u64) -> Self {
        let mut world = World::new(seed);
        // Many small volumes, few of which are compacted.
        world.config.volume_bytes = 2 << 10 << world.random.below(3);
        world.config.checkpoint_bytes = 2 << 10 << world.random.below(3);
        world.config.compact_below = [0.05, 0.2, 0.5][world.random.below(3) as usize];
        world.cold = Some(Cold { bucket: SimulatedBucket::new(seed), disk: None });
        world
    }

    fn open(&mut self) -> Store {
        let keys = StoreKeys { records: [1, 2], names: NameHasher::new([3, 4]) };
        let mut disk: Arc<dyn Disk> = Arc::new(self.disk.clone());
        if let Some(cold) = &mut self.cold {
            // Whoever opens a store can wait for the network to come back.
            cold.bucket.set_failing(0.0);
            let bucket = Arc::new(cold.bucket.clone());
            let tiered = Arc::new(TieredDisk::new(disk, bucket, self.random.next_u64()));
            cold.disk = Some(Arc::clone(&tiered));
            disk = tiered;
        }
        Store::open(disk, self.config.clone(), keys).unwrap().0
    }

    /// Moves a volume out, or tries to: the network and the disk may fail, and so may the process meanwhile.
    fn migrate_one(&mut self, store: &Store) {
        let Some(cold) = &self.cold else { return };
        let Some(disk) = &cold.disk else { return };
        cold.bucket.set_failing(if self.random.chance(0.5) { 0.3 } else { 0.0 });
        if let Some(volume) = store.volume_to_migrate(0) {
            let pieces = std::cell::Cell::new(self.random.below(12));
            let goes_on = || {
                pieces.set(pieces.get().saturating_sub(1));
                pieces.get() > 0
            };
            let _ = disk.migrate(volume, &goes_on);
        }
        if self.random.chance(0.3) {
            disk.remove_orphans();
        }
        cold.bucket.set_failing(0.0);
    }

    fn insert_some(&mut self, store: &mut Store, then_commit: bool) {
        let mut sent = Vec::new();
        for _ in 0..1 + self.random.below(12) {
            let object = self.random.below(OBJECTS);
            let segment = if object % 4 == 3 { 0 } else { self.random.below(SEGMENTS) };
            let content = vec![self.random.below(256) as u8; self.random.below(700) as usize];
            let freshness = Duration::from_millis(self.random.below(2) * 1000);
            let data = DataBuilder::new(name(object, segment)).content(content).freshness(freshness);
            let data = data.build_with_digest().unwrap();
            if store.insert(self.now, &data).is_ok() {
                self.client.ever.entry((object, segment)).or_default().push(data.clone());
                sent.push(((object, segment), data));
            }
        }
        let acknowledged = then_commit && store.commit().is_ok();
        for (packet, data) in sent {
            if acknowledged {
                self.client.must.insert(packet, data);
                self.client.unsure.remove(&packet);
            } else {
                self.client.unsure.insert(packet);
            }
        }
    }

    fn delete_one(&mut self, store: &mut Store) {
        let object = self.random.below(OBJECTS);
        if self.random.chance(0.3) && object % 4 != 3 {
            let (first, last) = (self.random.below(SEGMENTS), self.random.below(SEGMENTS));
            let selection = Selection::Segments(Dialect::Ndn, object_name(object), first as u32, last as u32);
            let gone = |packet: &Packet| packet.0 == object && packet.1 >= first && packet.1 <= last;
            if first > last {
                return;
            }
            let is_deleted = store.delete(self.now, &selection).is_ok();
            let known: Vec<Packet> = self.client.must.keys().copied().filter(gone).collect();
            self.client.must.retain(|packet, _| !gone(packet));
            if is_deleted {
                self.client.unsure.retain(|packet| !gone(packet));
            } else {
                self.client.unsure.extend(known);
            }
            return;
        }
        let selection = Selection::Object(Dialect::Ndn, object_name(object));
        if store.delete(self.now, &selection).is_ok() {
            self.client.must.retain(|packet, _| packet.0 != object);
            self.client.unsure.retain(|packet| packet.0 != object);
        } else {
            self.client.deleting.insert(object);
        }
    }

    fn get(&self, store: &mut Store, packet: Packet) -> Option<Data> {
        let interest = InterestBuilder::new(name(packet.0, packet.1)).build().unwrap();
        match store.answer(self.now, &interest)? {
            Answer::Data(data) => Some(data),
            Answer::Metadata(_) => None,
        }
    }

    /// Compares what is there with what must be there; the client believes what it sees from then on.
    fn check(&mut self, store: &mut Store, when: &str) {
        for object in 0..OBJECTS {
            let packets: Vec<Packet> = (0..SEGMENTS)
                .map(|segment| (object, segment))
                .filter(|&(object, segment)| object % 4 != 3 || segment == 0)
                .collect();
            let seen: BTreeMap<Packet, Data> =
                packets.iter().filter_map(|&packet| Some((packet, self.get(store, packet)?))).collect();
            let must: Vec<Packet> =
                packets.iter().copied().filter(|packet| self.client.must.contains_key(packet)).collect();
            let gone = must.iter().filter(|packet| !seen.contains_key(packet)).count();
            if self.client.deleting.remove(&object) && gone == must.len() {
                self.client.must.retain(|packet, _| packet.0 != object);
            } else {
                assert_eq!(
                    gone,
                    0,
                    "{when}: acknowledged packets of object {object} are missing, of {must:?} are there {:?}",
                    seen.keys()
                );
            }
            for packet in packets {
                let Some(data) = seen.get(&packet) else {
                    self.client.unsure.remove(&packet);
                    continue;
                };
                let ever = self.client.ever.get(&packet).map_or(&[][..], Vec::as_slice);
                assert!(
                    ever.iter().any(|sent| sent.wire() == data.wire()),
                    "{when}: {packet:?} was never sent like this"
                );
                let expected = self.client.must.get(&packet);
                if !self.client.unsure.remove(&packet) {
                    let expected = expected.unwrap_or_else(|| panic!("{when}: {packet:?} was deleted"));
                    assert_eq!(expected.wire(), data.wire(), "{when}: {packet:?} is an older one");
                }
                self.client.must.insert(packet, data.clone());
            }
        }
        while let Ok(PendingMaintenance::More) = store.maintain(self.now) {}
        let volumes = self.disk.list().unwrap().into_iter().filter(|name| name.ends_with(".volume"));
        let on_disk: u64 =
            volumes.map(|name| self.disk.open(&name, false).unwrap().allocated().unwrap()).sum();
        let stats = store.stats();
        // Parts of blocks are not given back.
        assert!(
            on_disk <= stats.disk_bytes + stats.volumes * 4096,
            "{when}: {on_disk} bytes on the disk, {stats:?}"
        );
        // A power cut leaves nothing behind that the store believes in and cannot read.
        assert_eq!(store.rejections().get(Rejection::Corrupt), 0, "{when}");
    }
}

fn seeds() -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("CAIRN_REPO_FIRST_SEED").unwrap_or(0);
    first..first + number("CAIRN_REPO_SEEDS").unwrap_or(USUAL_SEEDS)
}

fn maintain(world: &World, store: &mut Store) {
    for _ in 0..3 {
        if !matches!(store.maintain(world.now), Ok(PendingMaintenance::More)) {
            break;
        }
    }
}

fn step(world: &mut World, store: &mut Store) {
    if world.cold.is_some() && world.random.chance(0.3) {
        return world.migrate_one(store);
    }
    match world.random.below(10) {
        0..4 => world.insert_some(store, true),
        4 => world.insert_some(store, false),
        5 | 6 => world.delete_one(store),
        7 => _ = store.checkpoint(),
        _ => maintain(world, store),
    }
}

#[test]
fn power_cuts_lose_nothing_that_was_acknowledged_and_half_delete_nothing() {
    for seed in seeds() {
        let mut world = World::new(seed);
        let mut store = world.open();
        for round in 0..4 {
            for _ in 0..world.random.below(30) {
                step(&mut world, &mut store);
            }
            world.disk.crash();
            drop(store);
            store = world.open();
            world.check(&mut store, &format!("seed {seed}, round {round}"));
        }
    }
}

#[test]
fn a_disk_that_fails_and_fills_up_loses_nothing_that_was_acknowledged() {
    for seed in seeds() {
        let mut world = World::new(seed);
        let mut store = world.open();
        for round in 0..3 {
            let capacity_bytes = world.disk.used_bytes() + world.random.below(20_000);
            let failing_syncs = if world.random.chance(0.5) { 0.1 } else { 0.0 };
            world.disk.set_faults(Faults { capacity_bytes, failing_syncs, failing_reads: 0.0 });
            for _ in 0..world.random.below(30) {
                step(&mut world, &mut store);
            }
            world.disk.set_faults(Faults::default());
            if world.random.chance(0.5) {
                world.disk.crash();
            }
            drop(store);
            store = world.open();
            world.check(&mut store, &format!("seed {seed}, round {round}"));
        }
    }
}

#[test]
fn volumes_that_move_to_a_bucket_lose_nothing_and_bring_nothing_back() {
    let mut moved = 0;
    for seed in seeds() {
        let mut world = World::with_cold_tier(seed);
        let mut store = world.open();
        for round in 0..4 {
            let fails = world.random.chance(0.3);
            let capacity_bytes = if fails { world.disk.used_bytes() + 10_000 } else { u64::MAX };
            let failing_syncs = if fails { 0.1 } else { 0.0 };
            world.disk.set_faults(Faults { capacity_bytes, failing_syncs, failing_reads: 0.0 });
            for _ in 0..world.random.below(60) {
                step(&mut world, &mut store);
            }
            world.disk.set_faults(Faults::default());
            moved += world.cold.as_ref().and_then(|cold| cold.disk.as_ref()).unwrap().counters().migrations;
            world.disk.crash();
            drop(store);
            if world.random.chance(0.2) {
                // The index is lost, and made anew from what is here and what is there.
                for name in world.disk.list().unwrap().into_iter().filter(|name| name.starts_with("index")) {
                    world.disk.remove(&name).unwrap();
                }
                world.disk.sync_folder().unwrap();
            }
            store = world.open();
            world.check(&mut store, &format!("seed {seed}, round {round}"));
        }
        // Of what is in the bucket all is in use, or known to be of none.
        let cold = world.cold.as_ref().unwrap();
        let disk = cold.disk.as_ref().unwrap();
        disk.remove_orphans();
        assert_eq!(disk.counters().orphans, 0, "seed {seed}");
    }
    assert!(moved > seeds().count() as u64, "{moved} volumes moved");
}

#[test]
fn a_bucket_that_cannot_be_reached_costs_answers_and_nothing_else() {
    for seed in seeds().take(20) {
        let mut world = World::with_cold_tier(seed);
        let mut store = world.open();
        for _ in 0..60 {
            step(&mut world, &mut store);
        }
        world.insert_some(&mut store, true);
        let bucket = world.cold.as_ref().unwrap().bucket.clone();
        bucket.set_reachable(false);
        drop(store);
        // It opens, takes packets in and deletes without it.
        let mut store = world.open();
        world.insert_some(&mut store, true);
        world.delete_one(&mut store);
        for (packet, data) in world.client.must.clone() {
            if let Some(found) = world.get(&mut store, packet) {
                let is_known = !world.client.unsure.contains(&packet);
                let ever = &world.client.ever[&packet];
                let is_right = |sent: &Data| sent.wire() == found.wire();
                assert!(ever.iter().any(is_right), "seed {seed}: {packet:?}");
                assert!(!is_known || is_right(&data), "seed {seed}: {packet:?} is an older one");
            }
        }
        bucket.set_reachable(true);
        world.check(&mut store, &format!("seed {seed}"));
    }
}

#[test]
fn reads_that_fail_and_bits_that_flip_serve_no_wrong_byte() {
    for seed in seeds() {
        let mut world = World::new(seed);
        let mut store = world.open();
        for _ in 0..2 {
            for _ in 0..world.random.below(20) {
                step(&mut world, &mut store);
            }
            let _ = store.checkpoint();
            world.disk.set_faults(Faults { failing_reads: 0.2, ..Faults::default() });
            for _ in 0..world.random.below(4) {
                world.disk.flip_a_bit(|name| name.ends_with(".volume"), 64);
            }
            let packets = (0..OBJECTS).flat_map(|object| (0..SEGMENTS).map(move |segment| (object, segment)));
            for packet in packets {
                let Some(data) = world.get(&mut store, packet) else { continue };
                let ever = &world.client.ever[&if packet.0 % 4 == 3 { (packet.0, 0) } else { packet }];
                assert!(ever.iter().any(|sent| sent.wire() == data.wire()), "seed {seed}: {packet:?}");
            }
            world.disk.set_faults(Faults::default());
            drop(store);
            store = world.open();
        }
    }
}

#[test]
fn after_evictions_and_a_power_cut_only_the_newest_packets_are_served() {
    for seed in seeds().take(20) {
        let mut world = World::new(seed);
        world.config.deletion = DeletionRule { threshold_bytes: 12_000, ratio: 0.5 };
        let mut store = world.open();
        store.set_eviction(Box::new(DeleteQueue::default()));
        for _ in 0..40 {
            world.insert_some(&mut store, true);
            maintain(&world, &mut store);
        }
        world.disk.crash();
        drop(store);
        let mut store = world.open();
        for object in 0..OBJECTS {
            let must = world.client.must.keys().copied().filter(|packet| packet.0 == object);
            for packet in must.collect::<Vec<_>>() {
                if let Some(data) = world.get(&mut store, packet) {
                    assert_eq!(data.wire(), world.client.must[&packet].wire(), "seed {seed}");
                }
            }
        }
    }
}
