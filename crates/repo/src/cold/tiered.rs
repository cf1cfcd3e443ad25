//! A folder of which some volumes live elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IoSlice};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use packet::random::Random;

use super::stub::Stub;
use super::{Bucket, UploadBody};
use crate::disk::{Disk, DiskFile, FolderLock};
use crate::volume::{self, name_with, number_before};

/// The stub of a volume that lives elsewhere.
const COLD: &str = "cold";
/// The stub of a volume that is being put there; nobody knows whether it is there already.
const UPLOADING: &str = "uploading";
/// The stub of a volume that has been removed, and whose object has not.
const REMOVED: &str = "removed";
/// What is read back of an object before it is believed to be there.
const PROBE_BYTES: u64 = 4096;

/// What was moved and read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TieredCounters {
    /// Volumes moved out.
    pub migrations: u64,
    /// Volumes that could not be moved out, and stayed.
    pub failed_migrations: u64,
    /// Reads that went to the bucket.
    pub reads: u64,
    /// Those of them that failed.
    pub failed_reads: u64,
    /// Objects that are in the bucket and of no use, and could not be removed yet.
    pub orphans: u64,
}

#[derive(Debug, Default)]
struct Counters {
    migrations: AtomicU64,
    failed_migrations: AtomicU64,
    reads: AtomicU64,
    failed_reads: AtomicU64,
}

/// The folder. It is known which volumes live elsewhere once it is [locked](Disk::lock).
#[derive(Debug)]
pub struct TieredDisk {
    base: Arc<dyn Disk>,
    bucket: Arc<dyn Bucket>,
    counters: Arc<Counters>,
    /// For names of objects.
    random: Mutex<Random>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Volumes that were opened, and those that live elsewhere.
    files: BTreeMap<u32, Arc<TieredFile>>,
    /// Stubs of objects that are to be removed from the bucket, with their names.
    orphans: BTreeMap<String, String>,
}

#[derive(Debug)]
struct TieredFile {
    tier: RwLock<Tier>,
    bucket: Arc<dyn Bucket>,
    counters: Arc<Counters>,
}

/// Where a volume lives.
#[derive(Clone, Debug)]
enum Tier {
    Hot(Arc<dyn DiskFile>),
    /// Here, and a copy is being made; what is punched is punched in both.
    Migrating(Arc<dyn DiskFile>, Arc<Stub>),
    Cold(Arc<Stub>),
}

/// Whether this is the stub of a volume that lives elsewhere. A [`TieredDisk`] shows nobody such a file.
pub(crate) fn is_stub(file_name: &str) -> bool {
    number_before(file_name, COLD).is_some()
}

impl TieredDisk {
    /// The folder `base`, whose volumes may go to `bucket`. `seed` comes from the system's random source: it
    /// keeps names of objects apart.
    pub fn new(base: Arc<dyn Disk>, bucket: Arc<dyn Bucket>, seed: u64) -> Self {
        TieredDisk {
            base,
            bucket,
            counters: Arc::default(),
            random: Mutex::new(Random::from_seed(seed)),
            state: Mutex::default(),
        }
    }

    /// What was moved and read.
    pub fn counters(&self) -> TieredCounters {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        TieredCounters {
            migrations: of(&self.counters.migrations),
            failed_migrations: of(&self.counters.failed_migrations),
            reads: of(&self.counters.reads),
            failed_reads: of(&self.counters.failed_reads),
            orphans: self.state().orphans.len() as u64,
        }
    }

    /// Puts a volume that nobody writes to any longer into the bucket, and removes its file. False if it
    /// lives there already, or is unknown. Takes as long as the network does; what is read and punched
    /// meanwhile goes on. `goes_on` is asked before each piece.
    ///
    /// # Errors
    /// The network or the file system failed; the volume is where it was. To be tried again.
    pub fn migrate(&self, number: u32, goes_on: &dyn Fn() -> bool) -> io::Result<bool> {
        let file = self.state().files.get(&number).cloned();
        let Some(file) = file else { return Ok(false) };
        let result = self.try_to_migrate(number, &file, goes_on);
        match result {
            Ok(true) => self.counters.migrations.fetch_add(1, Ordering::Relaxed),
            Ok(false) => 0,
            Err(_) => self.counters.failed_migrations.fetch_add(1, Ordering::Relaxed),
        };
        result
    }

    fn try_to_migrate(
        &self,
        number: u32,
        file: &Arc<TieredFile>,
        goes_on: &dyn Fn() -> bool,
    ) -> io::Result<bool> {
        let tier = file.tier().clone();
        match tier {
            Tier::Cold(_) => Ok(false),
            // The object is there; only the folder has failed.
            Tier::Migrating(_, stub) => self.finish_migration(number, file, stub),
            Tier::Hot(here) => {
                let stub = self.upload(number, file, &here, goes_on)?;
                self.finish_migration(number, file, stub)
            }
        }
    }

    /// Makes a copy in the bucket, and the stub of it.
    fn upload(
        &self,
        number: u32,
        file: &TieredFile,
        here: &Arc<dyn DiskFile>,
        goes_on: &dyn Fn() -> bool,
    ) -> io::Result<Arc<Stub>> {
        let len_bytes = here.len_bytes()?;
        let object = {
            let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
            format!("{:016x}{:016x}", random.next_u64(), random.next_u64())
        };
        let stub_file = name_with(number, UPLOADING);
        // Until the object of an earlier attempt is gone, its stub must not be overwritten.
        if self.state().orphans.contains_key(&stub_file) {
            self.remove_orphans();
            if self.state().orphans.contains_key(&stub_file) {
                return Err(io::ErrorKind::NotConnected.into());
            }
        }
        let stub = Arc::new(Stub::create(&*self.base, &stub_file, len_bytes, object.clone())?);
        self.base.sync_folder()?;
        // From here on the stub hears of what is punched; what was punched before is zeros already.
        *file.tier.write().unwrap_or_else(PoisonError::into_inner) =
            Tier::Migrating(Arc::clone(here), Arc::clone(&stub));
        let mut source = |offset: u64, out: &mut [u8]| {
            if goes_on() { here.read_at(offset, out) } else { Err(io::ErrorKind::Interrupted.into()) }
        };
        let copied = self.put_and_verify(&object, len_bytes, &mut source);
        if let Err(error) = copied {
            *file.tier.write().unwrap_or_else(PoisonError::into_inner) = Tier::Hot(Arc::clone(here));
            self.state().orphans.insert(stub_file, object);
            return Err(error);
        }
        Ok(stub)
    }

    /// Puts an object, and reads its ends back.
    fn put_and_verify(&self, object: &str, len_bytes: u64, source: &mut UploadBody<'_>) -> io::Result<()> {
        self.bucket.put(object, len_bytes, source)?;
        for start in [0, len_bytes.saturating_sub(PROBE_BYTES)] {
            let count = (len_bytes - start).min(PROBE_BYTES) as usize;
            let mut there = vec![0; count];
            self.bucket.read_at(object, start, &mut there)?;
            let mut here = vec![0; count];
            source(start, &mut here)?;
            // What is here may have been punched meanwhile.
            let differs = there.iter().zip(&here).any(|(there, here)| here != there && *here != 0);
            if differs {
                return Err(io::Error::other("the bucket does not give back what it was given"));
            }
        }
        Ok(())
    }

    /// The object is there: the stub takes the place of the file. What is done of it stays done if the rest
    /// fails, and is done again. False if nobody wants the volume any longer.
    fn finish_migration(&self, number: u32, file: &Arc<TieredFile>, stub: Arc<Stub>) -> io::Result<bool> {
        stub.sync()?;
        let (uploading, cold) = (name_with(number, UPLOADING), name_with(number, COLD));
        let mut state = self.state();
        if !state.files.get(&number).is_some_and(|known| Arc::ptr_eq(known, file)) {
            state.orphans.insert(uploading, stub.object.clone());
            return Ok(false);
        }
        // An attempt that failed later than this has renamed it already.
        if self.base.list()?.contains(&uploading) {
            self.base.rename(&uploading, &cold)?;
        }
        self.base.sync_folder()?;
        *file.tier.write().unwrap_or_else(PoisonError::into_inner) = Tier::Cold(stub);
        // If it stays, it is removed when the folder is locked the next time.
        let _ = self.base.remove(&volume::file_name(number));
        let _ = self.base.sync_folder();
        Ok(true)
    }

    /// Removes objects from the bucket that are of no use any longer. To be called now and then, by whoever
    /// may wait for the network.
    pub fn remove_orphans(&self) {
        let orphans = self.state().orphans.clone();
        // After a power cut no stub may say again that an object is in use.
        if orphans.is_empty() || self.base.sync_folder().is_err() {
            return;
        }
        for (stub_file, object) in orphans {
            if self.bucket.remove(&object).is_err() {
                return;
            }
            let is_gone = self.base.remove(&stub_file);
            if is_gone.is_ok() || is_gone.is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
                self.state().orphans.remove(&stub_file);
            }
        }
    }

    /// Finds out what lives elsewhere, and what is left of moves that were not completed.
    fn recover_tiers(&self) -> io::Result<()> {
        // What was renamed before the last end is so for good, before anything is removed that it replaces.
        self.base.sync_folder()?;
        let names = self.base.list()?;
        let of = |suffix| {
            names.iter().filter_map(move |name| number_before(name, suffix)).collect::<BTreeSet<u32>>()
        };
        let mut state = State::default();
        for number in of(COLD) {
            // Without a stub there is no volume: what lay in it is missing.
            let Some(stub) = Stub::open(&*self.base, &name_with(number, COLD))? else { continue };
            state.files.insert(number, Arc::new(self.file(Tier::Cold(Arc::new(stub)))));
            // The stub was durable before the file was to be removed.
            if names.contains(&volume::file_name(number)) {
                self.base.remove(&volume::file_name(number))?;
            }
        }
        for suffix in [UPLOADING, REMOVED] {
            for number in of(suffix) {
                let file_name = name_with(number, suffix);
                let stub = Stub::open(&*self.base, &file_name)?;
                // Where the stub is there by its other name, too, the object is in use.
                match stub.filter(|_| !state.files.contains_key(&number)) {
                    Some(stub) => drop(state.orphans.insert(file_name, stub.object)),
                    None => self.base.remove(&file_name)?,
                }
            }
        }
        self.base.sync_folder()?;
        *self.state() = state;
        Ok(())
    }

    fn file(&self, place: Tier) -> TieredFile {
        let (bucket, counters) = (Arc::clone(&self.bucket), Arc::clone(&self.counters));
        TieredFile { tier: RwLock::new(place), bucket, counters }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk for TieredDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let Some(number) = volume::number_of(name) else { return self.base.open(name, create) };
        let mut state = self.state();
        if let Some(file) = state.files.get(&number) {
            return Ok(Arc::clone(file) as Arc<dyn DiskFile>);
        }
        let file = Arc::new(self.file(Tier::Hot(self.base.open(name, create)?)));
        state.files.insert(number, Arc::clone(&file));
        Ok(file)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = self.base.list()?;
        names.retain(|name| {
            [COLD, UPLOADING, REMOVED].iter().all(|suffix| number_before(name, suffix).is_none())
        });
        for (number, file) in &self.state().files {
            let name = volume::file_name(*number);
            if file.is_remote() && !names.contains(&name) {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.base.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let Some(number) = volume::number_of(name) else { return self.base.remove(name) };
        let mut state = self.state();
        let tier = state.files.get(&number).map(|file| file.tier().clone());
        match tier {
            Some(Tier::Cold(stub)) => {
                let removed = name_with(number, REMOVED);
                self.base.rename(&name_with(number, COLD), &removed)?;
                state.orphans.insert(removed, stub.object.clone());
            }
            // Of one that is being moved the object is removed when it is there.
            Some(Tier::Migrating(_, stub)) if self.base.list()?.contains(&name_with(number, COLD)) => {
                let removed = name_with(number, REMOVED);
                self.base.rename(&name_with(number, COLD), &removed)?;
                state.orphans.insert(removed, stub.object.clone());
                self.base.remove(name)?;
            }
            Some(Tier::Hot(_) | Tier::Migrating(..)) | None => self.base.remove(name)?,
        }
        state.files.remove(&number);
        Ok(())
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.base.sync_folder()
    }

    fn lock(&self, holder: &str) -> io::Result<Box<dyn FolderLock>> {
        let lock = self.base.lock(holder)?;
        self.recover_tiers()?;
        Ok(lock)
    }
}

impl TieredFile {
    fn tier(&self) -> RwLockReadGuard<'_, Tier> {
        self.tier.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its file, if it may be written to.
    fn writable(&self) -> io::Result<Arc<dyn DiskFile>> {
        match &*self.tier() {
            Tier::Hot(file) => Ok(Arc::clone(file)),
            Tier::Migrating(..) | Tier::Cold(_) => Err(io::ErrorKind::ReadOnlyFilesystem.into()),
        }
    }

    fn read_out(&self, stub: &Stub, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let range = offset..offset.saturating_add(out.len() as u64);
        if range.end > stub.len_bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if stub.is_punched(&range) {
            out.fill(0);
            return Ok(());
        }
        self.counters.reads.fetch_add(1, Ordering::Relaxed);
        if let Err(error) = self.bucket.read_at(&stub.object, offset, out) {
            self.counters.failed_reads.fetch_add(1, Ordering::Relaxed);
            return Err(error);
        }
        stub.blank(offset, out);
        Ok(())
    }
}

impl DiskFile for TieredFile {
    fn len_bytes(&self) -> io::Result<u64> {
        match &*self.tier() {
            Tier::Hot(file) | Tier::Migrating(file, _) => file.len_bytes(),
            Tier::Cold(stub) => Ok(stub.len_bytes),
        }
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        // Whoever moves it need not wait for the network.
        let tier = self.tier().clone();
        match tier {
            Tier::Hot(file) | Tier::Migrating(file, _) => file.read_at(offset, out),
            Tier::Cold(stub) => self.read_out(&stub, offset, out),
        }
    }

    fn read_in_memory(&self, offset: u64, out: &mut [u8]) -> bool {
        // The data plane waits for nobody.
        let Ok(tier) = self.tier.try_read() else { return false };
        match &*tier {
            Tier::Hot(file) | Tier::Migrating(file, _) => file.read_in_memory(offset, out),
            Tier::Cold(_) => false,
        }
    }

    fn is_remote(&self) -> bool {
        matches!(&*self.tier(), Tier::Cold(_))
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.writable()?.write_at(offset, bytes)
    }

    fn write_parts_at(&self, offset: u64, parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        self.writable()?.write_parts_at(offset, parts)
    }

    fn sync(&self) -> io::Result<()> {
        let tier = self.tier().clone();
        match tier {
            Tier::Hot(file) => file.sync(),
            Tier::Migrating(file, stub) => file.sync().and_then(|()| stub.sync()),
            Tier::Cold(stub) => stub.sync(),
        }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        if self.len_bytes()? == len && self.is_remote() {
            return Ok(());
        }
        self.writable()?.set_len(len)
    }

    fn punch_hole(&self, range: Range<u64>) -> io::Result<()> {
        // Nobody begins or ends a move meanwhile.
        match &*self.tier() {
            Tier::Hot(file) => file.punch_hole(range),
            Tier::Migrating(file, stub) => {
                file.punch_hole(range.clone())?;
                stub.punch(range)
            }
            Tier::Cold(stub) => stub.punch(range),
        }
    }

    fn allocated(&self) -> io::Result<u64> {
        match &*self.tier() {
            Tier::Hot(file) | Tier::Migrating(file, _) => file.allocated(),
            Tier::Cold(stub) => stub.allocated(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cold::SimulatedBucket;
    use crate::disk::SimulatedDisk;

    const NAME: &str = "00000001.volume";

    fn start(disk: &SimulatedDisk, bucket: &SimulatedBucket) -> TieredDisk {
        let tiered = TieredDisk::new(Arc::new(disk.clone()), Arc::new(bucket.clone()), 5);
        drop(tiered.lock("a test").unwrap());
        tiered
    }

    fn with_a_volume() -> (SimulatedDisk, SimulatedBucket, TieredDisk) {
        let (disk, bucket) = (SimulatedDisk::new(1), SimulatedBucket::new(1));
        let tiered = start(&disk, &bucket);
        let file = tiered.open(NAME, true).unwrap();
        file.write_at(0, &[7; 50_000]).unwrap();
        file.sync().unwrap();
        tiered.sync_folder().unwrap();
        (disk, bucket, tiered)
    }

    fn read(file: &dyn DiskFile, range: Range<usize>) -> Vec<u8> {
        let mut out = vec![1; range.len()];
        file.read_at(range.start as u64, &mut out).unwrap();
        out
    }

    #[test]
    fn a_volume_that_was_moved_reads_as_before_by_one_request_and_forgets_what_is_punched() {
        let (disk, bucket, tiered) = with_a_volume();
        let file = tiered.open(NAME, false).unwrap();
        file.punch_hole(0..4096).unwrap();
        assert!(tiered.migrate(1, &|| true).unwrap() && file.is_remote());
        assert!(!tiered.migrate(1, &|| true).unwrap());
        assert!(disk.list().unwrap().iter().all(|name| name != NAME));
        assert_eq!(tiered.list().unwrap(), [NAME]);
        let before = bucket.calls();
        assert_eq!(read(&*file, 4090..4100), [[0; 6].as_slice(), &[7; 4]].concat());
        assert_eq!(bucket.calls(), before + 1);
        file.punch_hole(10_000..20_000).unwrap();
        file.sync().unwrap();
        assert!(file.write_at(0, &[1]).is_err() && !file.read_in_memory(0, &mut [0]));
        disk.crash();
        let tiered = start(&disk, &bucket);
        let file = tiered.open(NAME, false).unwrap();
        assert_eq!(file.len_bytes().unwrap(), 50_000);
        let bytes = read(&*file, 0..50_000);
        assert!((0..50_000).all(|at| (bytes[at] == 0) == (at < 4096 || (10_000..20_000).contains(&at))));
        // What is all zeros is known without asking.
        let before = bucket.calls();
        assert_eq!(read(&*file, 12_000..13_000), [0; 1000]);
        assert_eq!(bucket.calls(), before);
    }

    #[test]
    fn what_is_punched_or_removed_while_it_is_moved_stays_so() {
        for removes in [false, true] {
            let (_, bucket, tiered) = with_a_volume();
            let file = tiered.open(NAME, false).unwrap();
            let pieces = AtomicU64::new(0);
            let moved = tiered.migrate(1, &|| {
                if pieces.fetch_add(1, Ordering::Relaxed) == 30 {
                    // Of what has been read already.
                    file.punch_hole(8192..16_384).unwrap();
                    if removes {
                        tiered.remove(NAME).unwrap();
                    }
                }
                true
            });
            assert_eq!(moved.unwrap(), !removes);
            if removes {
                assert_eq!((tiered.list().unwrap().len(), tiered.counters().orphans), (0, 1));
            } else {
                assert_eq!(read(&*file, 8000..8400), [[7; 192].as_slice(), &[0; 208]].concat());
                tiered.remove(NAME).unwrap();
            }
            tiered.remove_orphans();
            assert_eq!((bucket.objects().len(), tiered.counters().orphans), (0, 0));
        }
    }

    #[test]
    fn a_bucket_that_fails_or_lies_leaves_the_volume_where_it_is() {
        let (disk, bucket, tiered) = with_a_volume();
        let file = tiered.open(NAME, false).unwrap();
        bucket.set_reachable(false);
        assert!(tiered.migrate(1, &|| true).is_err());
        assert!(!file.is_remote() && read(&*file, 0..10) == [7; 10]);
        tiered.remove_orphans();
        assert_eq!(tiered.counters().orphans, 1);
        bucket.set_reachable(true);
        // The process ends in the middle.
        assert!(tiered.migrate(1, &|| false).is_err());
        let tiered = start(&disk, &bucket);
        tiered.remove_orphans();
        assert_eq!((tiered.counters().orphans, bucket.objects().len()), (0, 0));
        assert!(disk.list().unwrap().iter().any(|name| name == NAME));
    }
}
