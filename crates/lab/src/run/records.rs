//! Results of many cases in few files: what a sweep of ten thousand simulated cases keeps in place of ten
//! thousand folders.
//!
//! `records/00000.jsonl.gz` has the repeats of cases 1 to 1,000 and so on, one a line, in the order in which
//! they were done. Each is compressed by itself and appended, so that a run that is interrupted loses no more
//! than the one that was being written. One that is damaged later is found by its checksum; those behind it
//! are read all the same.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use trust::whole_file::{self, Durability, Readers, Replacement, Writers};

use super::folder::{RunFolder, RunRecord};
use crate::analysis::{NetworkCounts, RepeatResult};
use crate::seal::{seal_of, sealed};

/// The folder that they are in.
const FOLDER: &str = "records";
/// So many cases share a file.
const CASES_OF_A_FILE: usize = 1000;
/// More simulated cases than these are recorded …
const MAX_FOLDERS: usize = 2000;
/// … but for the first of them, whose details a report shows, and those that are not valid.
pub(super) const FOLDERS_KEPT: usize = 16;
/// Bytes of a record, unpacked.
const MAX_BYTES_OF_A_RECORD: u64 = 64 << 20;

/// What is kept of a repeat.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The case and the repeat, both from 0.
    pub(crate) case: usize,
    pub(crate) repeat: u32,
    /// Its numbers.
    pub(crate) result: RepeatResult,
    /// What was counted of the network.
    pub(crate) network: Option<NetworkCounts>,
}

/// The records of a run that is going on.
#[derive(Debug)]
pub(super) struct Records {
    folder: PathBuf,
    done: HashSet<(usize, u32)>,
    /// Cases before this one keep their folders.
    from: usize,
    /// One appends at a time.
    writing: Mutex<()>,
}

/// Does a run have so many cases, with those in the shares of others, that not each has a folder?
pub(super) fn are_kept(is_virtual: bool, cases: usize) -> bool {
    is_virtual && cases > MAX_FOLDERS
}

/// From which case on a run has records, and none if each has a folder.
pub(super) fn from(record: &RunRecord) -> Option<usize> {
    // Runs of earlier versions do not say it.
    let earlier = || are_kept(record.is_virtual(), record.cases.len()).then_some(FOLDERS_KEPT);
    record.recorded_from.or_else(earlier)
}

impl Records {
    /// Is a valid repeat of this case recorded, and does it need no folder?
    pub(super) fn takes(&self, case: usize) -> bool {
        case >= self.from
    }

    /// Records a repeat and takes its folder away.
    pub(super) fn take(&self, record: &Record, place: &Path) -> io::Result<()> {
        self.append(record)?;
        fs::remove_dir_all(place)?;
        // That of the case goes with the last of its repeats.
        let _ = place.parent().map(fs::remove_dir);
        Ok(())
    }

    /// Those of a run. What is not whole of them, such as a last one after an interruption, is taken away and
    /// told in a sentence.
    pub(super) fn open(folder: &RunFolder, from: usize) -> io::Result<(Self, Vec<String>)> {
        let folder = folder.path().join(FOLDER);
        fs::create_dir_all(&folder)?;
        let (mut done, mut told) = (HashSet::new(), Vec::new());
        for path in files(&folder)? {
            let found = RecordFile::read(&path)?;
            done.extend(found.records.iter().map(|(record, _)| (record.case, record.repeat)));
            if !found.is_whole() {
                let why =
                    found.damage().unwrap_or_else(|| "its last record was not written to its end".into());
                told.push(format!("{}: {why}; what is missing is measured again", path.display()));
                found.keep_whole(&path)?;
            }
        }
        Ok((Records { folder, done, from, writing: Mutex::new(()) }, told))
    }

    /// Was a repeat there when they were opened?
    pub(super) fn has(&self, case: usize, repeat: u32) -> bool {
        self.done.contains(&(case, repeat))
    }

    /// Appends one.
    pub(super) fn append(&self, record: &Record) -> io::Result<()> {
        // In one piece: the encoder prepares its whole output anew for each that it is given.
        let mut text = sealed(&serde_json::to_string(record)?).into_bytes();
        text.push(b'\n');
        let mut packed = GzEncoder::new(Vec::with_capacity(text.len() / 2), Compression::fast());
        packed.write_all(&text)?;
        let packed = packed.finish()?;
        let path = self.folder.join(format!("{:05}.jsonl.gz", record.case / CASES_OF_A_FILE));
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        File::options().create(true).append(true).open(path)?.write_all(&packed)
    }
}

/// Hands out every record of a run, in the order of its files; none where each case has a folder. A last one
/// that is being written is left out.
///
/// # Errors
///
/// When one is damaged that others follow, and what `take` finds.
pub(crate) fn each(folder: &RunFolder, mut take: impl FnMut(Record) -> io::Result<()>) -> io::Result<()> {
    let folder = folder.path().join(FOLDER);
    if !folder.is_dir() {
        return Ok(());
    }
    for path in files(&folder)? {
        let found = RecordFile::read(&path)?;
        if let Some(why) = found.damage() {
            let why = format!("{}: {why}", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        found.records.into_iter().try_for_each(|(record, _)| take(record))?;
    }
    Ok(())
}

/// Every record of a run, by case and repeat.
///
/// # Errors
///
/// When one is damaged that others follow.
pub(crate) fn read(folder: &RunFolder) -> io::Result<BTreeMap<(usize, u32), Record>> {
    let mut all = BTreeMap::new();
    each(folder, |record| {
        all.insert((record.case, record.repeat), record);
        Ok(())
    })?;
    Ok(all)
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "gz"));
    paths.sort();
    Ok(paths)
}

/// What a file of records has.
struct RecordFile {
    bytes: Vec<u8>,
    /// Those that are whole, with their places.
    records: Vec<(Record, Range<usize>)>,
}

impl RecordFile {
    fn read(path: &Path) -> io::Result<Self> {
        let (mut bytes, mut records) = (Vec::new(), Vec::new());
        whole_file::open(path)?.read_to_end(&mut bytes)?;
        let mut at = 0;
        while at < bytes.len() {
            if let Some((record, end)) = record_at(&bytes, at) {
                records.push((record, at..end));
                at = end;
            } else {
                let behind = bytes.get(at + 1..).unwrap_or_default();
                let next = behind.windows(MEMBER.len()).position(|window| window == MEMBER);
                at = next.map_or(bytes.len(), |next| at + 1 + next);
            }
        }
        Ok(RecordFile { bytes, records })
    }

    /// Are there only whole records?
    fn is_whole(&self) -> bool {
        self.records.iter().map(|(_, place)| place.len()).sum::<usize>() == self.bytes.len()
    }

    /// Where it is damaged before its last record, in words.
    fn damage(&self) -> Option<String> {
        let mut end = 0;
        let gaps = self.records.iter().filter_map(|(_, place)| {
            let gap = end..place.start;
            end = place.end;
            (!gap.is_empty()).then_some(gap)
        });
        let gaps: Vec<Range<usize>> = gaps.collect();
        let (first, all) = (gaps.first()?, gaps.iter().map(Range::len).sum::<usize>());
        Some(format!("{all} bytes are damaged, the first at byte {}", first.start))
    }

    /// Leaves only the whole records in the file.
    fn keep_whole(&self, path: &Path) -> io::Result<()> {
        let whole = self.records.iter().filter_map(|(_, place)| self.bytes.get(place.clone()));
        // A thousand records are put in the place of themselves: no power cut may take them.
        let replacement =
            Replacement { readers: Readers::Usual, writers: Writers::One, durability: Durability::PowerCut };
        replacement.write(path, &whole.collect::<Vec<_>>().concat())
    }
}

/// How each record begins: as gzip does, with deflate and nothing beside.
const MEMBER: [u8; 4] = [0x1f, 0x8b, 8, 0];

/// The record that begins at a place, and where it ends.
fn record_at(bytes: &[u8], at: usize) -> Option<(Record, usize)> {
    let mut member = GzDecoder::new(bytes.get(at..)?);
    let mut text = String::new();
    (&mut member).take(MAX_BYTES_OF_A_RECORD).read_to_string(&mut text).ok()?;
    let mut record: Record = serde_json::from_str(&text).ok()?;
    record.result.seal = seal_of(&text);
    Some((record, bytes.len() - member.into_inner().len()))
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;
    use crate::seal::Seal;

    /// Three records in a folder, two of them in one file.
    fn three(name: &str) -> (TestFolder, RunFolder) {
        let above = TestFolder::absent(name);
        let folder = RunFolder::create(&above, "x").unwrap();
        let (records, told) = Records::open(&folder, 0).unwrap();
        assert!(told.is_empty());
        for case in [0, 1, 999, 1000] {
            records.append(&record(case)).unwrap();
        }
        (above, folder)
    }

    fn record(case: usize) -> Record {
        Record { case, repeat: 0, result: RepeatResult::default(), network: None }
    }

    fn cases(folder: &RunFolder) -> Vec<usize> {
        read(folder).unwrap().into_keys().map(|(case, _)| case).collect()
    }

    #[test]
    fn whoever_is_interrupted_while_it_appends_loses_that_record_alone() {
        let (_above, folder) = three("records");
        let path = folder.path().join("records/00000.jsonl.gz");
        let whole = fs::metadata(&path).unwrap().len();
        File::options().write(true).open(&path).unwrap().set_len(whole - 3).unwrap();
        assert_eq!(cases(&folder), [0, 1, 1000], "whoever looks meanwhile sees the others");
        let (records, told) = Records::open(&folder, 0).unwrap();
        assert!(told.len() == 1 && told[0].contains("not written to its end"), "{told:?}");
        assert!(records.has(0, 0) && !records.has(999, 0) && records.has(1000, 0) && !records.has(0, 1));
        records.append(&record(999)).unwrap();
        assert_eq!(cases(&folder), [0, 1, 999, 1000]);
    }

    #[test]
    fn a_record_that_was_changed_and_packed_again_has_a_broken_seal() {
        let (_above, folder) = three("sealed");
        let path = folder.path().join("records/00001.jsonl.gz");
        let seal = || read(&folder).unwrap()[&(1000, 0)].result.seal;
        assert_eq!(seal(), Seal::Whole);
        let mut text = String::new();
        GzDecoder::new(&*fs::read(&path).unwrap()).read_to_string(&mut text).unwrap();
        let changed = text.replace("\"dropped_lines\":0", "\"dropped_lines\":1");
        assert_ne!(changed, text);
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(changed.as_bytes()).unwrap();
        fs::write(&path, packed.finish().unwrap()).unwrap();
        assert_eq!(seal(), Seal::Broken);
    }

    #[test]
    fn a_damaged_record_is_told_and_alone_is_missing() {
        let (_above, folder) = three("damaged");
        let path = folder.path().join("records/00000.jsonl.gz");
        let good = fs::read(&path).unwrap();
        let first = record_at(&good, 0).unwrap().1;
        // Its head, its content and its checksum; and what looks like the head of another.
        for place in [0, 1, 20, 60, first - 7] {
            let mut bad = good.clone();
            bad[first + place] ^= 0x55;
            bad.splice(first + 30..first + 34, MEMBER);
            fs::write(&path, &bad).unwrap();
            let refused = read(&folder).unwrap_err().to_string();
            assert!(refused.contains(&format!("first at byte {first}")), "{refused}");
            let (records, told) = Records::open(&folder, 0).unwrap();
            assert!(told.len() == 1 && told[0].contains(&format!("first at byte {first}")), "{told:?}");
            assert!(records.has(0, 0) && !records.has(1, 0) && records.has(999, 0));
            assert!(Records::open(&folder, 0).unwrap().1.is_empty(), "it is told once");
            records.append(&record(1)).unwrap();
            assert_eq!(cases(&folder), [0, 1, 999, 1000], "{place}");
        }
    }
}
