//! What an experiment was when its run began, so that a change behind its back is seen.

use std::collections::BTreeMap;

use toml::Table;

use super::folder::RunRecord;
use crate::experiment::Experiment;

/// Keys that only tell people what an experiment is.
const WORDS: [&str; 3] = ["title", "about", "source"];
/// Keys that say how a run is looked at, and nothing of what happens in it.
const LOOKING: [&str; 7] = ["title", "about", "source", "expect", "figure", "gates", "measure"];

/// A hash of each part of an experiment: of each key of its file, and of each file that it names.
pub(super) fn hashes(experiment: &Experiment) -> BTreeMap<String, String> {
    let hash = |bytes: &[u8]| packet::hex::encode(&trust::sha256(bytes)[..16]);
    let content: Table = toml::from_str(&experiment.text).unwrap_or_default();
    let keys = content.iter().map(|(key, value)| (key.clone(), hash(value.to_string().as_bytes())));
    let files = experiment.files.iter().map(|(name, bytes)| (format!("files/{name}"), hash(bytes)));
    keys.chain(files).collect()
}

/// The parts of an experiment that are not what they were when its run began; none of a run of an earlier
/// version, which does not say what they were.
#[must_use]
pub fn changed_since(record: &RunRecord, experiment: &Experiment) -> Vec<String> {
    if record.hashes.is_empty() {
        return Vec::new();
    }
    let now = hashes(experiment);
    let mut parts: Vec<String> = now.keys().chain(record.hashes.keys()).cloned().collect();
    parts.sort();
    parts.dedup();
    parts.retain(|part| now.get(part) != record.hashes.get(part));
    parts
}

/// Is a part of an experiment only for people to read? To mend it stops no run.
#[must_use]
pub(super) fn is_of_words(part: &str) -> bool {
    WORDS.contains(&part)
}

/// Does a part of an experiment say what happens, and not only how that is looked at?
#[must_use]
pub fn is_of_plan(part: &str) -> bool {
    !LOOKING.contains(&part)
}

/// Parts in a sentence.
#[must_use]
pub fn named(parts: &[String]) -> String {
    parts.iter().map(|part| format!("`{part}`")).collect::<Vec<_>>().join(", ")
}
