//! Two stores keep volumes in one bucket, and delete at the same time: each loses what it deletes and nothing
//! else.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::{Arc, Barrier};
use std::thread;

use cairn_repo::cold::{SimulatedBucket, TieredDisk};
use cairn_repo::disk::SimulatedDisk;
use cairn_repo::{Answer, PendingMaintenance, Selection, Store, StoreConfig, StoreKeys, UnixTime};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::{Data, Dialect, Name, NameHasher};

const OBJECTS: u64 = 60;
const SEGMENTS: u64 = 3;
const NOW: UnixTime = UnixTime::from_millis(1_700_000_000_000);

/// One of the two. Both hold objects of the same names, with contents of their own.
struct Holder {
    number: u8,
    disk: SimulatedDisk,
    bucket: SimulatedBucket,
    tiered: Arc<TieredDisk>,
    store: Option<Store>,
}

fn name(object: u64, segment: u64) -> Name {
    format!("/lab/{object}/v=1/seg={segment}").parse().unwrap()
}

impl Holder {
    fn new(number: u8, bucket: &SimulatedBucket) -> Self {
        let disk = SimulatedDisk::new(number.into());
        let tiered = TieredDisk::new(Arc::new(disk.clone()), Arc::new(bucket.clone()), number.into());
        let tiered = Arc::new(tiered);
        let mut holder = Holder { number, disk, bucket: bucket.clone(), tiered, store: None };
        holder.open();
        holder
    }

    /// Opens it, as after a crash if it was open.
    fn open(&mut self) {
        self.store = None;
        let seed = u64::from(self.number) + 100;
        let bucket = Arc::new(self.bucket.clone());
        self.tiered = Arc::new(TieredDisk::new(Arc::new(self.disk.clone()), bucket, seed));
        let config = StoreConfig { volume_bytes: 4 << 10, compact_below: 0.01, ..StoreConfig::default() };
        let keys = StoreKeys { records: [self.number.into(), 2], names: NameHasher::new([3, 4]) };
        self.store = Some(Store::open(Arc::clone(&self.tiered) as _, config, keys).unwrap().0);
    }

    fn store(&mut self) -> &mut Store {
        self.store.as_mut().unwrap()
    }

    fn data(&self, object: u64, segment: u64) -> Data {
        let content = vec![self.number; 300];
        DataBuilder::new(name(object, segment)).content(content).build_with_digest().unwrap()
    }

    fn fill(&mut self) {
        for object in 0..OBJECTS {
            for segment in 0..SEGMENTS {
                let data = self.data(object, segment);
                self.store().insert(NOW, &data).unwrap();
            }
            self.store().commit().unwrap();
        }
        self.store().checkpoint().unwrap();
    }

    /// Moves whatever may leave to the bucket, which fails now and then.
    fn move_out(&mut self) {
        for _ in 0..1000 {
            let Some(volume) = self.store().volume_to_migrate(0) else { return };
            let _ = self.tiered.migrate(volume, &|| true);
            self.tiered.remove_orphans();
        }
        panic!("{} cannot move its volumes out", self.number);
    }

    fn delete(&mut self, selection: &Selection) {
        assert!(self.store().delete(NOW, selection).unwrap().objects > 0);
        while self.store().maintain(NOW).unwrap() == PendingMaintenance::More {}
    }

    fn check(&mut self, is_there: impl Fn(u64) -> bool) {
        for object in 0..OBJECTS {
            for segment in 0..SEGMENTS {
                let interest = InterestBuilder::new(name(object, segment)).build().unwrap();
                let found = match self.store().answer(NOW, &interest) {
                    Some(Answer::Data(data)) => Some(data.wire().to_vec()),
                    _ => None,
                };
                let expected = is_there(object).then(|| self.data(object, segment).wire().to_vec());
                assert!(found == expected, "store {}, object {object}, segment {segment}", self.number);
            }
        }
    }
}

#[test]
fn two_stores_on_one_bucket_delete_at_once_and_each_keeps_what_it_did_not_delete() {
    let (bucket, barrier) = (SimulatedBucket::new(1), Arc::new(Barrier::new(2)));
    bucket.set_failing(0.2);
    let run = |number: u8| {
        let (bucket, barrier) = (bucket.clone(), Arc::clone(&barrier));
        move || {
            let mut holder = Holder::new(number, &bucket);
            holder.fill();
            holder.move_out();
            let moved = holder.store().stats().cold_volumes;
            assert!(moved > 5, "{moved}");
            barrier.wait();
            // Each another third.
            let own = u64::from(number);
            for object in (own..OBJECTS).step_by(3) {
                holder.delete(&Selection::Object(Dialect::Ndn, name(object, 0).prefix(3)));
                holder.tiered.remove_orphans();
            }
            barrier.wait();
            bucket.set_failing(0.0);
            holder.check(|object| object % 3 != own);
            holder.open();
            holder.check(|object| object % 3 != own);
            barrier.wait();
            holder.delete(&Selection::Prefix(Dialect::Ndn, "/lab".parse().unwrap()));
            holder.store().checkpoint().unwrap();
            holder.check(|_| false);
            while holder.store().maintain(NOW).unwrap() == PendingMaintenance::More {}
            holder.tiered.remove_orphans();
            // The folder has what belongs to no volume but the one that is written to.
            holder.store().stats().cold_volumes
        }
    };
    let other = thread::spawn(run(2));
    assert_eq!((run(1)(), other.join().unwrap()), (0, 0));
    assert_eq!(bucket.objects(), Vec::<String>::new());
}
