//! Whether the raw files of a repeat are as they were measured, and those that were derived from them as they
//! were written: its `result.json` has a hash of each.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

use trust::Sha256;
use trust::whole_file;

use super::result::RepeatResult;

/// SHA-256 of files, by their names.
pub type FileHashes = BTreeMap<String, String>;

/// The folder in that of a repeat that has what was measured …
pub(crate) const RAW: &str = "raw";
/// … and the one that has what was derived from that.
pub(crate) const DERIVED: &str = "derived";

/// Writes the numbers of a repeat into `folder`, with a hash of each of its raw and derived files, which are
/// stored as they stay. Whoever finds the file finds the hashes in it.
pub(crate) fn write_with_hashes(result: RepeatResult, folder: &Path) -> io::Result<()> {
    let (raw_files, derived_files) = (hashes(&folder.join(RAW))?, hashes(&folder.join(DERIVED))?);
    RepeatResult { raw_files, derived_files, ..result }.write(&folder.join("result.json"))
}

/// The same of a repeat of an earlier version, which has hashes of raw files at most, and whose run has no
/// seal.
pub(crate) fn write_as_earlier_version(result: RepeatResult, folder: &Path) -> io::Result<()> {
    let raw_files = if result.raw_files.is_empty() { BTreeMap::new() } else { hashes(&folder.join(RAW))? };
    RepeatResult { raw_files, derived_files: BTreeMap::new(), ..result }.write(&folder.join("result.json"))
}

/// The hash of a file, as results have it.
pub(crate) fn hash_of_file(path: &Path) -> io::Result<String> {
    hash(path, &mut |_| ())
}

/// How much of a run was read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadProgress {
    /// Repeats that were read.
    pub repeats: usize,
    /// Of how many.
    pub of_repeats: usize,
    /// The part of the work that is done, from 0 to 1: bytes of raw files that were looked at count by
    /// themselves, where there are hashes of them.
    pub share: f64,
}

/// What a repeat takes beside its raw files, in bytes of them: to look for it and to read its numbers.
const BESIDE: u64 = 1 << 14;

/// Looks at the raw files of repeats, and says how far that is: there may be gigabytes, or thousands of
/// repeats.
pub struct RawCheck<'a> {
    /// What each repeat takes, in the order in which they are read.
    weights: Vec<u64>,
    all: u64,
    repeats: usize,
    /// What the repeats that were read have taken, and what was looked at of the one that is read.
    done: u64,
    looked_at: u64,
    on_progress: &'a mut dyn FnMut(ReadProgress),
}

impl<'a> RawCheck<'a> {
    /// Of repeats in these folders, in the order in which they are read. `on_progress` is called whenever
    /// something was read.
    pub fn new<'p>(
        repeats: impl Iterator<Item = &'p Path>,
        on_progress: &'a mut dyn FnMut(ReadProgress),
    ) -> Self {
        let weight = |repeat: &Path| -> u64 {
            let entries = [RAW, DERIVED].map(|folder| fs::read_dir(repeat.join(folder)));
            let entries = entries.into_iter().flatten().flatten().flatten();
            let files = entries.filter_map(|entry| entry.metadata().ok()).filter(Metadata::is_file);
            files.map(|file| file.len()).sum::<u64>() + BESIDE
        };
        let weights: Vec<u64> = repeats.map(weight).collect();
        let all = weights.iter().sum();
        RawCheck { weights, all, repeats: 0, done: 0, looked_at: 0, on_progress }
    }

    /// The next repeat was read, whether or not there were files to look at.
    pub fn repeat_was_read(&mut self) {
        self.done += self.weights.get(self.repeats).copied().unwrap_or(0);
        self.repeats += 1;
        self.looked_at = 0;
        self.told();
    }

    /// The names of those files that are gone or not as they were.
    fn changed(&mut self, noted: &FileHashes, folder: &Path) -> Vec<String> {
        let mut is_changed = |name: &str, noted: &str| {
            let path = folder.join(name);
            let found = hash(&path, &mut |bytes| self.read(bytes));
            found.map_or(true, |found| found != noted)
        };
        noted.iter().filter(|(name, noted)| is_changed(name, noted)).map(|(name, _)| name.clone()).collect()
    }

    fn read(&mut self, bytes: u64) {
        self.looked_at += bytes;
        self.told();
    }

    fn told(&mut self) {
        // A file may have grown since its repeat was weighed.
        let most = self.weights.get(self.repeats).copied().unwrap_or(0);
        let done = self.done + self.looked_at.min(most);
        let share = done as f64 / self.all.max(1) as f64;
        (self.on_progress)(ReadProgress { repeats: self.repeats, of_repeats: self.weights.len(), share });
    }
}

impl RepeatResult {
    /// Looks for files of its folder that are not as they were.
    pub(crate) fn find_changed_files(&mut self, folder: &Path, check: &mut RawCheck<'_>) {
        let both = [(RAW, &self.raw_files), (DERIVED, &self.derived_files)];
        let changed = both.map(|(kind, noted)| {
            let names = check.changed(noted, &folder.join(kind)).into_iter();
            names.map(|name| format!("{kind}/{name}")).collect::<Vec<_>>()
        });
        self.changed_files = changed.concat();
    }

    /// That a file of its folder is not as it was, too.
    pub(super) fn note_changed(&mut self, name: String) {
        if !self.changed_files.contains(&name) {
            self.changed_files.push(name);
        }
    }

    /// Files of it of which nobody would see that they were changed: runs of earlier versions have no hashes
    /// of them.
    #[must_use]
    pub fn unhashed(&self) -> Option<&'static str> {
        match (self.raw_files.is_empty(), self.derived_files.is_empty()) {
            (true, _) => Some("raw/derived files"),
            (false, true) => Some("derived files"),
            (false, false) => None,
        }
    }
}

/// The hashes of all files in a folder, as they are stored. Places for sockets and the like are no files.
fn hashes(folder: &Path) -> io::Result<FileHashes> {
    let mut all = FileHashes::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            all.insert(entry.file_name().to_string_lossy().into_owned(), hash(&entry.path(), &mut |_| ())?);
        }
    }
    Ok(all)
}

/// A file as the system knows it. Whatever is written to it later makes another of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Version {
    device: u64,
    inode: u64,
    bytes: u64,
    changed: (i64, i64),
}

/// Files of less are read again: that takes no time.
const WORTH_KEEPING: u64 = 1 << 16;
/// What was written so shortly before may have the time of a later change: clocks of file systems are coarse.
const COARSE_MS: u64 = 50;

/// Hashes of large files that this process has read: a run that is reported when it is done reads none twice.
static KNOWN: LazyLock<Mutex<HashMap<Version, String>>> = LazyLock::new(Mutex::default);

impl Version {
    fn of(file: &Metadata) -> Self {
        let changed = (file.ctime(), file.ctime_nsec());
        Version { device: file.dev(), inode: file.ino(), bytes: file.size(), changed }
    }

    /// Can no later change have the same time?
    fn is_settled(self, now_ms: u64) -> bool {
        let changed_ms = self.changed.0.saturating_mul(1000).saturating_add(self.changed.1 / 1_000_000);
        self.bytes >= WORTH_KEEPING
            && i64::try_from(now_ms.saturating_sub(COARSE_MS)).is_ok_and(|now| changed_ms < now)
    }
}

/// The hash of a file. `tell` is told of its bytes as they are read, or known.
fn hash(path: &Path, tell: &mut dyn FnMut(u64)) -> io::Result<String> {
    let version = Version::of(&fs::metadata(path)?);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(hash) = known().get(&version) {
        tell(version.bytes);
        return Ok(hash.clone());
    }
    let now_ms = system::unix_now().as_millis();
    let hash = read(path, tell)?;
    if version.is_settled(now_ms) && Version::of(&fs::metadata(path)?) == version {
        known().insert(version, hash.clone());
    }
    Ok(hash)
}

fn read(path: &Path, tell: &mut dyn FnMut(u64)) -> io::Result<String> {
    let (mut file, mut hasher) = (whole_file::open(path)?, Sha256::new());
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => {
                hasher.update(buffer.get(..read).unwrap_or_default());
                tell(read as u64);
            }
        }
    }
    Ok(packet::hex::encode(&hasher.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_changed_or_taken_away_is_named_and_one_that_was_added_is_not() {
        let folder = testkit::folder::TestFolder::new("raw-files");
        let raw = folder.join("raw");
        fs::create_dir(&raw).unwrap();
        for name in ["a.csv", "b.csv", "c.csv"] {
            fs::write(raw.join(name), name).unwrap();
        }
        fs::create_dir(raw.join("sockets")).unwrap();
        let noted = hashes(&raw).unwrap();
        let changed = |told: &mut Vec<(usize, f64)>| {
            let mut tell = |read: ReadProgress| told.push((read.repeats, (read.share * 1e4).round()));
            let repeat: &Path = &folder;
            let mut check = RawCheck::new([repeat, repeat].into_iter(), &mut tell);
            let changed = check.changed(&noted, &raw);
            check.repeat_was_read();
            changed
        };
        let mut told = Vec::new();
        assert_eq!((noted.len(), changed(&mut told)), (3, Vec::new()));
        let share = |bytes: u64| (bytes as f64 / (2 * (15 + BESIDE)) as f64 * 1e4).round();
        let far = [(0, share(5)), (0, share(10)), (0, share(15)), (1, 5e3)];
        assert_eq!(told, far, "how far it is");
        fs::write(raw.join("a.csv"), "a.csw").unwrap();
        fs::remove_file(raw.join("c.csv")).unwrap();
        fs::write(raw.join("d.csv"), "").unwrap();
        assert_eq!(changed(&mut told), ["a.csv", "c.csv"]);
    }

    #[test]
    fn repeats_without_hashes_are_told_one_by_one() {
        let folder = testkit::folder::TestFolder::new("no-hashes");
        let places: Vec<_> = (0..4).map(|number| folder.join(format!("repeat-{number}"))).collect();
        let mut told = Vec::new();
        let mut tell = |read: ReadProgress| told.push((read.repeats, read.of_repeats, read.share));
        let mut check = RawCheck::new(places.iter().map(|place| place.as_path()), &mut tell);
        for place in &places {
            assert_eq!(check.changed(&FileHashes::new(), place), Vec::<String>::new());
            check.repeat_was_read();
        }
        assert_eq!(told, [(1, 4, 0.25), (2, 4, 0.5), (3, 4, 0.75), (4, 4, 1.0)]);
    }

    #[test]
    fn a_large_file_is_read_once_until_it_is_changed() {
        let folder = testkit::folder::TestFolder::new("raw-once");
        let path = folder.join("capture");
        let reads = || {
            let mut times = 0;
            let hash = hash(&path, &mut |_| times += 1).unwrap();
            (hash, times)
        };
        let long_ago = std::time::SystemTime::UNIX_EPOCH;
        let large = |byte: u8| vec![byte; 3 << 16];
        fs::write(&path, large(1)).unwrap();
        let version = Version::of(&fs::metadata(&path).unwrap());
        let now_ms = system::unix_now().as_millis();
        assert!(!version.is_settled(now_ms) && version.is_settled(now_ms + 1000));
        let (first, times) = reads();
        assert_eq!(times, 3);
        // As if it had been read later.
        KNOWN.lock().unwrap().insert(version, first.clone());
        assert_eq!(reads(), (first.clone(), 1));
        // Another content with the same length and an old date is another file all the same.
        fs::write(folder.join("other"), large(2)).unwrap();
        fs::rename(folder.join("other"), &path).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        let (second, times) = reads();
        assert!(second != first && times == 3, "{times}");
    }
}
