//! Results of many cases in few files: what a sweep of ten thousand simulated cases keeps in place of ten
//! thousand folders.
//!
//! `records/00000.jsonl.gz` has the repeats of cases 1 to 1,000 and so on, one a line, in the order in which
//! they were done. Each is compressed by itself and appended, so that a run that is interrupted loses no more
//! than the one that was being written.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use trust::whole_file;

use super::folder::{RunFolder, RunRecord};
use crate::analysis::{NetworkCounts, RepeatResult};

/// The folder that they are in.
const FOLDER: &str = "records";
/// So many cases share a file.
const CASES_OF_A_FILE: usize = 1000;
/// More simulated cases than these are recorded …
const MOST_FOLDERS: usize = 2000;
/// … but for the first of them, whose details a report shows, and those that are not valid.
const FOLDERS_KEPT: usize = 16;
/// Bytes of a record, unpacked.
const MOST_BYTES_OF_A_RECORD: u64 = 64 << 20;

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
    /// One appends at a time.
    writing: Mutex<()>,
}

impl Records {
    /// Those of a run, if it has so many cases that not each has a folder.
    pub(super) fn of(folder: &RunFolder, record: &RunRecord) -> io::Result<Option<Self>> {
        let is_large = record.is_virtual() && record.cases.len() > MOST_FOLDERS;
        is_large.then(|| Records::open(folder)).transpose()
    }

    /// Is a valid repeat of this case recorded, and does it need no folder?
    pub(super) fn takes(&self, case: usize) -> bool {
        case >= FOLDERS_KEPT
    }

    /// Records a repeat and takes its folder away.
    pub(super) fn take(&self, record: &Record, place: &Path) -> io::Result<()> {
        self.append(record)?;
        fs::remove_dir_all(place)?;
        // That of the case goes with the last of its repeats.
        let _ = place.parent().map(fs::remove_dir);
        Ok(())
    }

    /// Those of a run; what an interruption has left of a last one is taken away.
    pub(super) fn open(folder: &RunFolder) -> io::Result<Self> {
        let folder = folder.path().join(FOLDER);
        fs::create_dir_all(&folder)?;
        let mut done = HashSet::new();
        for path in files(&folder)? {
            let (records, whole) = read_file(&path)?;
            done.extend(records.iter().map(|record| (record.case, record.repeat)));
            File::options().write(true).open(&path)?.set_len(whole)?;
        }
        Ok(Records { folder, done, writing: Mutex::new(()) })
    }

    /// Was a repeat there when they were opened?
    pub(super) fn has(&self, case: usize, repeat: u32) -> bool {
        self.done.contains(&(case, repeat))
    }

    /// Appends one.
    pub(super) fn append(&self, record: &Record) -> io::Result<()> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        serde_json::to_writer(&mut packed, record)?;
        packed.write_all(b"\n")?;
        let packed = packed.finish()?;
        let path = self.folder.join(format!("{:05}.jsonl.gz", record.case / CASES_OF_A_FILE));
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        File::options().create(true).append(true).open(path)?.write_all(&packed)
    }
}

/// Every record of a run, by case and repeat; none where each case has a folder.
pub(crate) fn read(folder: &RunFolder) -> io::Result<BTreeMap<(usize, u32), Record>> {
    let mut all = BTreeMap::new();
    let folder = folder.path().join(FOLDER);
    if folder.is_dir() {
        for path in files(&folder)? {
            let (records, _) = read_file(&path)?;
            all.extend(records.into_iter().map(|record| ((record.case, record.repeat), record)));
        }
    }
    Ok(all)
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "gz"));
    paths.sort();
    Ok(paths)
}

/// The records of a file, and up to which byte they are whole.
fn read_file(path: &Path) -> io::Result<(Vec<Record>, u64)> {
    let mut bytes = Vec::new();
    whole_file::open(path)?.read_to_end(&mut bytes)?;
    let (mut rest, mut records) = (bytes.as_slice(), Vec::new());
    while !rest.is_empty() {
        let mut member = GzDecoder::new(rest);
        let mut text = String::new();
        let record = match (&mut member).take(MOST_BYTES_OF_A_RECORD).read_to_string(&mut text) {
            Ok(_) => serde_json::from_str(&text).ok(),
            Err(_) => None,
        };
        let Some(record) = record else { break };
        records.push(record);
        rest = member.into_inner();
    }
    Ok((records, (bytes.len() - rest.len()) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_interrupted_while_it_appends_loses_that_record_alone() {
        let above = std::env::temp_dir().join(format!("cairn-records-{}", std::process::id()));
        let folder = RunFolder::create(&above, "x").unwrap();
        let record = |case| Record { case, repeat: 0, result: RepeatResult::default(), network: None };
        let records = Records::open(&folder).unwrap();
        for case in [0, 999, 1000] {
            records.append(&record(case)).unwrap();
        }
        let path = folder.path().join("records/00000.jsonl.gz");
        let whole = fs::metadata(&path).unwrap().len();
        File::options().write(true).open(&path).unwrap().set_len(whole - 3).unwrap();
        let records = Records::open(&folder).unwrap();
        assert!(records.has(0, 0) && !records.has(999, 0) && records.has(1000, 0) && !records.has(0, 1));
        records.append(&record(999)).unwrap();
        let found: Vec<usize> = read(&folder).unwrap().into_keys().map(|(case, _)| case).collect();
        assert_eq!(found, [0, 999, 1000]);
        fs::remove_dir_all(&above).unwrap();
    }
}
