//! What of a study's folder is not as the study left it, in sentences, and what can be done about it.

use std::collections::BTreeMap;
use std::io;

use super::anew::{command_again, experiment_of};
use super::begun::{anew, record_of};
use super::error::RunError;
use super::experiment_hashes::{changed_since, named};
use super::folder::{RunFolder, RunRecord};
use super::study::{REPORT, TEXT};
use crate::analysis::hash_of_file;
use crate::prose::was;
use crate::seal::Seal;

/// What is said of a study whose files have no hashes.
const UNHASHED: &str =
    "files of the study not hashed (run by an earlier version): changes would go unnoticed";

/// What was found of a study's folder beside its statements.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StudyFaults {
    /// What is not as the study left it, a sentence each.
    pub sentences: Vec<String>,
    /// What can be done about it, with the command; nothing where there is nothing to be done.
    pub way_out: Option<String>,
    /// That changes of its files would go unnoticed; nothing where they would not.
    pub unhashed: Option<String>,
    /// Has it not come to its end?
    pub is_open: bool,
}

/// The hashes of files of a study, by their names.
pub(super) fn hashes_of(folder: &RunFolder, names: &[String]) -> io::Result<BTreeMap<String, String>> {
    let hash = |name: &String| Ok((name.clone(), hash_of_file(&folder.path().join(name))?));
    names.iter().map(hash).collect()
}

/// Looks for what of a study's folder is not as the study left it: its experiment, its tables, figures and
/// statements, and what it says of itself.
///
/// # Errors
///
/// Where the record or the experiment cannot be read.
pub fn study_faults(folder: &RunFolder) -> Result<StudyFaults, RunError> {
    let record = record_of(folder)?;
    let experiment = experiment_of(folder, &record)?;
    let mut sentences = Vec::new();
    if !record.complete {
        let holder = folder.holder();
        let at_work = holder.map(|holder| format!("somebody is at work on it: {holder}"));
        let way_out = at_work.unwrap_or_else(|| anew(folder, "a study cannot be resumed", Some(&record)));
        let sentences = vec!["the study is not complete".to_owned()];
        return Ok(StudyFaults { sentences, way_out: Some(way_out), unhashed: None, is_open: true });
    }
    let parts = changed_since(&record, &experiment);
    if !parts.is_empty() {
        let were = was(parts.len());
        sentences.push(format!("{} of experiment.toml {were} changed since the study began", named(&parts)));
    }
    sentences.extend(changed_files(folder, &record));
    // Those of earlier versions are not noted.
    let are_written = [REPORT, TEXT].into_iter().filter(|name| !record.study_files.contains_key(*name));
    let lost = are_written.filter(|name| !folder.path().join(name).is_file());
    sentences.extend(lost.map(|name| format!("{name} is missing")));
    if record.seal == Seal::Broken || record.seal == Seal::None && !record.study_files.is_empty() {
        sentences.push("run.json was changed after it was written".to_owned());
    }
    let again = || format!("put it back, or run the study again with: {}", command_again(folder, &record));
    Ok(StudyFaults {
        way_out: (!sentences.is_empty()).then(again),
        unhashed: (record.complete && record.study_files.is_empty()).then(|| UNHASHED.to_owned()),
        sentences,
        is_open: false,
    })
}

/// Files that are gone or not as they were written, a sentence each.
fn changed_files(folder: &RunFolder, record: &RunRecord) -> Vec<String> {
    let found = |name: &str| hash_of_file(&folder.path().join(name));
    let told = |(name, noted): (&String, &String)| match found(name) {
        Ok(found) if found == *noted => None,
        Ok(_) => Some(format!("{name} was changed after it was written")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(format!("{name} is missing")),
        Err(error) => Some(format!("{name} cannot be read ({error})")),
    };
    record.study_files.iter().filter_map(told).collect()
}
