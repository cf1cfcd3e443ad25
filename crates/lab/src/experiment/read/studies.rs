//! Studies have keys of their own, and few of those that every other experiment has.

use toml::Table;

use super::findings::{Finding, Findings};
use super::named_files::Files;
use crate::experiment::model::File;
use crate::study;

/// What a study has of the keys of a file.
const KEYS: [&str; 7] = ["title", "about", "source", "duration", "repeats", "seed", "study"];

/// What is wrong with the study of a file.
pub(super) fn findings(file: &File, content: &Table, files: &Files) -> Vec<Finding> {
    let mut f = Findings::default();
    for key in content.keys().filter(|key| !KEYS.contains(&key.as_str())) {
        let hint = format!("of the keys of the file it has {}", KEYS.join(", "));
        f.add(key.as_str(), "a study has none", Some(hint));
    }
    if file.duration.0 == 0 {
        f.add("duration", "a study must last", Some("write for example duration = \"20 s\"".to_owned()));
    }
    if file.repeats == Some(0) {
        f.add("repeats", "at least one repeat is needed", None);
    }
    study::check(file, files, &mut f);
    f.0
}
