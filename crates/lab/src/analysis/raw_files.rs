//! Whether the raw files of a repeat are as they were measured: its `result.json` has a hash of each.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};
use trust::whole_file;

use super::repeat::RepeatResult;

/// SHA-256 of files, by their names.
pub type FileHashes = BTreeMap<String, String>;

/// Notes a hash of each raw file in the result of the repeat in `folder`, once they are stored as they stay.
pub(crate) fn note_raw_files(folder: &Path) -> io::Result<()> {
    let path = folder.join("result.json");
    let result = RepeatResult::read(&path)?;
    RepeatResult { raw_files: hashes(&folder.join("raw"))?, ..result }.write(&path)
}

impl RepeatResult {
    /// Looks for raw files of its folder that are not as they were.
    pub(crate) fn find_changed_files(&mut self, folder: &Path) {
        self.changed_files = changed(&self.raw_files, &folder.join("raw"));
    }
}

/// The hashes of all files in a folder, as they are stored. Places for sockets and the like are no files.
fn hashes(folder: &Path) -> io::Result<FileHashes> {
    let mut all = FileHashes::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            all.insert(entry.file_name().to_string_lossy().into_owned(), hash(&entry.path())?);
        }
    }
    Ok(all)
}

/// The names of those files that are gone or not as they were.
fn changed(noted: &FileHashes, folder: &Path) -> Vec<String> {
    let is_changed = |name: &str, noted: &str| hash(&folder.join(name)).map_or(true, |found| found != noted);
    noted.iter().filter(|(name, noted)| is_changed(name, noted)).map(|(name, _)| name.clone()).collect()
}

fn hash(path: &Path) -> io::Result<String> {
    let (mut file, mut hasher) = (whole_file::open(path)?, Sha256::new());
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => hasher.update(buffer.get(..read).unwrap_or_default()),
        }
    }
    Ok(packet::hex::encode(&hasher.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_changed_or_taken_away_is_named_and_one_that_was_added_is_not() {
        let folder = testkit::folder::TestFolder::new("raw-files");
        for name in ["a.csv", "b.csv", "c.csv"] {
            fs::write(folder.join(name), name).unwrap();
        }
        fs::create_dir(folder.join("sockets")).unwrap();
        let noted = hashes(&folder).unwrap();
        assert_eq!((noted.len(), changed(&noted, &folder)), (3, Vec::new()));
        fs::write(folder.join("a.csv"), "a.csw").unwrap();
        fs::remove_file(folder.join("c.csv")).unwrap();
        fs::write(folder.join("d.csv"), "").unwrap();
        assert_eq!(changed(&noted, &folder), ["a.csv", "c.csv"]);
    }
}
