//! A disk in memory that fails as disks do, repeatably.
//!
//! What was written is read back at once, but is durable only after a sync. In a crash each sector that was
//! written since is lost or kept by chance, whatever the order; so is each file that was made, renamed or
//! removed since the folder was synced.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use packet::random::Random;

use super::{Disk, DiskFile, FolderLock};

/// Disks write sectors whole or not at all.
const SECTOR: usize = 512;

/// What goes wrong beside crashes.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    /// Bytes that all files may have together, holes not counted.
    pub capacity_bytes: u64,
    /// How probable it is that a read fails.
    pub failing_reads: f64,
    /// How probable it is that a sync fails.
    pub failing_syncs: f64,
}

impl Default for Faults {
    fn default() -> Self {
        Faults { capacity_bytes: u64::MAX, failing_reads: 0.0, failing_syncs: 0.0 }
    }
}

/// One call that changed or synced something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Bytes were written to a file, in this range.
    Write(String, Range<u64>),
    /// A file was synced.
    Sync(String),
    /// A hole was punched.
    Punch(String, Range<u64>),
    /// A file got another length.
    SetLen(String, u64),
    /// A file was made.
    Create(String),
    /// A file was removed.
    Remove(String),
    /// A file got another name.
    Rename(String, String),
    /// The folder was synced.
    SyncFolder,
    /// Whoever uses the disk says something.
    Note(String),
}

/// The disk. Clones are the same disk.
#[derive(Clone, Debug)]
pub struct SimulatedDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    random: Random,
    faults: Faults,
    files: Vec<Contents>,
    /// Which files there are, by name.
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    /// Names that the folder's next sync makes durable.
    changed_names: BTreeSet<String>,
    calls: Option<Vec<Call>>,
    /// Counts crashes: files that were opened before the last one are dead.
    boot: u32,
    locked_by: Option<String>,
}

#[derive(Debug, Default)]
struct Contents {
    name: String,
    bytes: Vec<u8>,
    durable: Vec<u8>,
    /// Sectors that differ from what is durable.
    changed: BTreeSet<usize>,
    /// Bytes in punched holes, by sector.
    holes: BTreeSet<usize>,
}

impl SimulatedDisk {
    /// An empty disk.
    pub fn new(seed: u64) -> Self {
        let state = State {
            random: Random::from_seed(seed),
            faults: Faults::default(),
            files: Vec::new(),
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            changed_names: BTreeSet::new(),
            calls: None,
            boot: 0,
            locked_by: None,
        };
        SimulatedDisk { state: Arc::new(Mutex::new(state)) }
    }

    /// Changes what goes wrong from now on.
    pub fn set_faults(&self, faults: Faults) {
        self.lock_state().faults = faults;
    }

    /// Writes all calls down from now on; returns those that have been written down.
    pub fn record(&self) -> Vec<Call> {
        self.lock_state().calls.replace(Vec::new()).unwrap_or_default()
    }

    /// Writes a remark among the calls.
    pub fn note(&self, what: &str) {
        self.lock_state().call(|| Call::Note(what.to_owned()));
    }

    /// The power fails and comes back. Open files are dead; what was not synced is kept or lost by chance.
    pub fn crash(&self) {
        let mut state = self.lock_state();
        let state = &mut *state;
        state.boot += 1;
        state.locked_by = None;
        for name in std::mem::take(&mut state.changed_names) {
            if state.random.chance(0.5) {
                state.make_name_durable(&name);
            }
        }
        state.names = state.durable_names.clone();
        // All, nothing, or some of it.
        let kept = [0.0, 1.0, 0.3, 0.7, 0.95][state.random.below(5) as usize % 5];
        for file in &mut state.files {
            let len_is_kept = state.random.chance(kept);
            let len = if len_is_kept { file.bytes.len() } else { file.durable.len() };
            let mut after = file.durable.clone();
            after.resize(len, 0);
            for sector in std::mem::take(&mut file.changed) {
                let range = sector * SECTOR..((sector + 1) * SECTOR).min(len).min(file.bytes.len());
                if state.random.chance(kept)
                    && let (Some(place), Some(bytes)) = (after.get_mut(range.clone()), file.bytes.get(range))
                {
                    place.copy_from_slice(bytes);
                }
            }
            file.bytes.clone_from(&after);
            file.durable = after;
        }
    }

    /// Flips one bit that is not zero all around it, in a file that `which` chooses by name; false if there
    /// is none.
    pub fn flip_a_bit(&self, which: impl Fn(&str) -> bool, from: u64) -> bool {
        let mut state = self.lock_state();
        let State { names, files, random, .. } = &mut *state;
        let mut places = Vec::new();
        for (_, &file) in names.iter().filter(|(name, _)| which(name)) {
            let bytes = files.get(file).map_or(&[][..], |file| &file.bytes);
            let there = |&(at, &byte): &(usize, &u8)| byte != 0 && at as u64 >= from;
            places.extend(bytes.iter().enumerate().filter(there).map(|(at, _)| (file, at)));
        }
        let chosen = places.get(random.below(places.len() as u64) as usize);
        let Some(&(file, at)) = chosen else { return false };
        let bit = 1 << random.below(8);
        if let Some(file) = files.get_mut(file) {
            for bytes in [&mut file.bytes, &mut file.durable] {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= bit;
                }
            }
        }
        true
    }

    /// Bytes that all files take, holes not counted.
    pub fn used_bytes(&self) -> u64 {
        self.lock_state().used_bytes()
    }

    fn lock_state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn call(&mut self, call: impl FnOnce() -> Call) {
        if let Some(calls) = &mut self.calls {
            calls.push(call());
        }
    }

    fn make_name_durable(&mut self, name: &str) {
        match self.names.get(name) {
            Some(&file) => self.durable_names.insert(name.to_owned(), file),
            None => self.durable_names.remove(name),
        };
    }

    fn used_bytes(&self) -> u64 {
        let used = |&file: &usize| {
            let file = self.files.get(file)?;
            Some(file.bytes.len().saturating_sub(file.holes.len() * SECTOR) as u64)
        };
        self.names.values().filter_map(used).sum()
    }
}

impl Contents {
    fn changed(&mut self, range: Range<usize>) {
        self.changed.extend(range.start / SECTOR..range.end.div_ceil(SECTOR));
    }

    fn sync(&mut self) {
        self.durable.resize(self.bytes.len(), 0);
        for sector in std::mem::take(&mut self.changed) {
            let range = sector * SECTOR..((sector + 1) * SECTOR).min(self.bytes.len());
            if let (Some(place), Some(bytes)) = (self.durable.get_mut(range.clone()), self.bytes.get(range)) {
                place.copy_from_slice(bytes);
            }
        }
    }
}

fn not_found(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("{name} is not there"))
}

impl Disk for SimulatedDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.lock_state();
        let file = match state.names.get(name) {
            Some(&file) => file,
            None if create => {
                let file = state.files.len();
                state.files.push(Contents { name: name.to_owned(), ..Contents::default() });
                state.names.insert(name.to_owned(), file);
                state.changed_names.insert(name.to_owned());
                state.call(|| Call::Create(name.to_owned()));
                file
            }
            None => return Err(not_found(name)),
        };
        let boot = state.boot;
        Ok(Arc::new(SimulatedFile { disk: self.clone(), file, boot }))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.lock_state().names.keys().cloned().collect())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.lock_state();
        let file = state.names.remove(from).ok_or_else(|| not_found(from))?;
        state.names.insert(to.to_owned(), file);
        state.changed_names.extend([from.to_owned(), to.to_owned()]);
        state.call(|| Call::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.lock_state();
        state.names.remove(name).ok_or_else(|| not_found(name))?;
        state.changed_names.insert(name.to_owned());
        state.call(|| Call::Remove(name.to_owned()));
        Ok(())
    }

    fn sync_folder(&self) -> io::Result<()> {
        let mut state = self.lock_state();
        for name in std::mem::take(&mut state.changed_names) {
            state.make_name_durable(&name);
        }
        state.call(|| Call::SyncFolder);
        Ok(())
    }

    fn lock(&self, holder: &str) -> io::Result<Box<dyn FolderLock>> {
        let mut state = self.lock_state();
        if let Some(by) = &state.locked_by {
            return Err(io::Error::new(io::ErrorKind::WouldBlock, format!("the disk is in use by {by}")));
        }
        state.locked_by = Some(holder.to_owned());
        Ok(Box::new(SimulatedLock { disk: self.clone(), boot: state.boot }))
    }
}

#[derive(Debug)]
struct SimulatedLock {
    disk: SimulatedDisk,
    boot: u32,
}

impl FolderLock for SimulatedLock {}

impl Drop for SimulatedLock {
    fn drop(&mut self) {
        let mut state = self.disk.lock_state();
        if state.boot == self.boot {
            state.locked_by = None;
        }
    }
}

#[derive(Debug)]
struct SimulatedFile {
    disk: SimulatedDisk,
    file: usize,
    boot: u32,
}

impl SimulatedFile {
    fn with<T>(&self, act: impl FnOnce(&mut State, usize) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.disk.lock_state();
        if state.boot != self.boot || self.file >= state.files.len() {
            return Err(io::Error::other("the power failed"));
        }
        act(&mut state, self.file)
    }
}

impl DiskFile for SimulatedFile {
    fn len_bytes(&self) -> io::Result<u64> {
        self.with(|state, file| Ok(state.files[file].bytes.len() as u64))
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.with(|state, file| {
            if state.faults.failing_reads > 0.0 && state.random.chance(state.faults.failing_reads) {
                return Err(io::Error::other("unreadable sector"));
            }
            let start = offset as usize;
            let bytes = state.files[file].bytes.get(start..start.saturating_add(out.len()));
            out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        })
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.with(|state, file| {
            let range = offset as usize..offset as usize + bytes.len();
            let longer = range.end.saturating_sub(state.files[file].bytes.len()) as u64;
            if longer > 0 && state.used_bytes().saturating_add(longer) > state.faults.capacity_bytes {
                return Err(io::Error::new(io::ErrorKind::StorageFull, "no space left on the disk"));
            }
            let contents = &mut state.files[file];
            if contents.bytes.len() < range.end {
                contents.bytes.resize(range.end, 0);
            }
            contents.bytes[range.clone()].copy_from_slice(bytes);
            contents.changed(range.clone());
            for sector in range.start / SECTOR..range.end.div_ceil(SECTOR) {
                contents.holes.remove(&sector);
            }
            let name = contents.name.clone();
            state.call(|| Call::Write(name, range.start as u64..range.end as u64));
            Ok(())
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.with(|state, file| {
            if state.faults.failing_syncs > 0.0 && state.random.chance(state.faults.failing_syncs) {
                return Err(io::Error::other("the disk did not take it"));
            }
            state.files[file].sync();
            let name = state.files[file].name.clone();
            state.call(|| Call::Sync(name));
            Ok(())
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.with(|state, file| {
            let old = state.files[file].bytes.len();
            let longer = (len as usize).saturating_sub(old) as u64;
            if longer > 0 && state.used_bytes().saturating_add(longer) > state.faults.capacity_bytes {
                return Err(io::Error::new(io::ErrorKind::StorageFull, "no space left on the disk"));
            }
            let contents = &mut state.files[file];
            contents.bytes.resize(len as usize, 0);
            contents.changed(old.min(len as usize)..old.max(len as usize));
            contents.holes.retain(|&sector| sector * SECTOR < len as usize);
            let name = contents.name.clone();
            state.call(|| Call::SetLen(name, len));
            Ok(())
        })
    }

    fn punch_hole(&self, range: Range<u64>) -> io::Result<()> {
        self.with(|state, file| {
            let contents = &mut state.files[file];
            let whole = range.start as usize..(range.end as usize).min(contents.bytes.len());
            if let Some(bytes) = contents.bytes.get_mut(whole.clone()) {
                bytes.fill(0);
                contents.changed(whole.clone());
                contents.holes.extend(whole.start.div_ceil(SECTOR)..whole.end / SECTOR);
            }
            let name = contents.name.clone();
            state.call(|| Call::Punch(name, range));
            Ok(())
        })
    }

    fn allocated(&self) -> io::Result<u64> {
        self.with(|state, file| {
            let contents = &state.files[file];
            Ok(contents.bytes.len().saturating_sub(contents.holes.len() * SECTOR) as u64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_synced_survives_and_what_was_not_survives_in_part() {
        let (mut torn, mut lost, mut vanished) = (0, 0, 0);
        for seed in 0..200 {
            let disk = SimulatedDisk::new(seed);
            let file = disk.open("a", true).unwrap();
            file.write_at(0, &[1; 2000]).unwrap();
            file.sync().unwrap();
            disk.sync_folder().unwrap();
            file.write_at(1000, &[2; 4000]).unwrap();
            disk.open("b", true).unwrap();
            disk.crash();
            assert!(file.len_bytes().is_err(), "files opened before a crash are dead");
            let file = disk.open("a", false).unwrap();
            let bytes = read(&*file);
            assert!(bytes[..512].iter().all(|&byte| byte == 1));
            let twos = bytes.iter().filter(|&&byte| byte == 2).count();
            torn += usize::from(twos > 0 && twos < 4000);
            lost += usize::from(twos == 0);
            vanished += usize::from(disk.open("b", false).is_err());
        }
        assert!(torn > 20 && lost > 20 && vanished > 20, "{torn} {lost} {vanished}");
    }

    #[test]
    fn a_full_disk_takes_no_more_until_holes_are_punched() {
        let disk = SimulatedDisk::new(1);
        disk.set_faults(Faults { capacity_bytes: 10_000, ..Faults::default() });
        let file = disk.open("a", true).unwrap();
        file.write_at(0, &[1; 8000]).unwrap();
        assert_eq!(file.write_at(8000, &[1; 4000]).unwrap_err().kind(), io::ErrorKind::StorageFull);
        file.punch_hole(0..4096).unwrap();
        file.write_at(8000, &[1; 4000]).unwrap();
        assert_eq!((disk.used_bytes(), file.allocated().unwrap()), (12_000 - 4096, 12_000 - 4096));
    }

    fn read(file: &dyn DiskFile) -> Vec<u8> {
        let mut bytes = vec![0; file.len_bytes().unwrap() as usize];
        file.read_at(0, &mut bytes).unwrap();
        bytes
    }
}
