//! The files that an experiment names: its map, its profile, sizes of its content, a trace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use toml::{Table, Value};
use trust::whole_file;

use super::recorded::Recorded;

/// Files that an experiment names, by the names it gives them.
#[derive(Debug, Clone, Default)]
pub struct Files {
    bytes: BTreeMap<String, Vec<u8>>,
    /// Traces that were read, by name and format: every case of a sweep has the same.
    traces: Arc<Mutex<BTreeMap<(String, String), TraceResult>>>,
}

/// A trace, or why it cannot be read.
type TraceResult = Result<Recorded, String>;

impl Files {
    /// The file of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&[u8]> {
        self.bytes.get(name).map(Vec::as_slice)
    }

    /// The file of that name, if it is text.
    pub(in crate::experiment) fn text(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.get(name)?).ok()
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &Vec<u8>)> {
        self.bytes.iter()
    }

    /// The trace in the file of that name, or what is wrong with it.
    pub(in crate::experiment) fn trace(&self, name: &str, format: &str) -> TraceResult {
        let bytes = self.get(name).ok_or_else(|| format!("`{name}` cannot be read"))?;
        // Whoever held it has only read a trace: what is there is whole.
        let mut traces = self.traces.lock().unwrap_or_else(PoisonError::into_inner);
        let place = traces.entry((name.to_owned(), format.to_owned()));
        place
            .or_insert_with(|| Recorded::read(bytes, format).map_err(|why| format!("`{name}`: {why}")))
            .clone()
    }
}

impl FromIterator<(String, Vec<u8>)> for Files {
    fn from_iter<T: IntoIterator<Item = (String, Vec<u8>)>>(files: T) -> Self {
        Files { bytes: files.into_iter().collect(), ..Files::default() }
    }
}

/// The folder of a run that files are copied to which its experiment names.
pub(crate) const FILES_FOLDER: &str = "files";
/// A longer file is no topology that people use, and no trace that one run can replay.
const MAX_BYTES_OF_A_FILE: u64 = 256 << 20;

/// Where a file is named, as ways to its key; `*` stands for every name.
const KEYS: [&[&str]; 8] = [
    &["topology", "file"],
    &["study", "cache_placement", "topology", "file"],
    &["mobility", "handovers"],
    &["mobility", "movements"],
    &["profile"],
    &["content", "*", "sizes", "file"],
    &["content", "*", "sizes", "trace"],
    &["download", "*", "trace", "file"],
];

/// The files that an experiment names, as far as they can be read: beside it, or where a run keeps them. One
/// that is missing is told where it is needed.
pub(in crate::experiment) fn named_files(content: &Table, folder: Option<&Path>) -> Files {
    let mut files = Files::default();
    let Some(folder) = folder else { return files };
    let mut names = Vec::new();
    KEYS.iter().for_each(|way| collect(content, way, &mut names));
    // Cases, sweeps and changes of one backend may name others.
    let list = |key: &str| content.get(key).and_then(Value::as_array).into_iter().flatten();
    let of_backends = content.get("on").and_then(Value::as_table).into_iter().flat_map(|on| on.values());
    for case in list("case").chain(list("control")).chain(of_backends) {
        let set = case.get("set").and_then(Value::as_table).into_iter().flatten();
        let set = set.filter(|(key, _)| names_a_file(key));
        names.extend(set.filter_map(|(_, value)| value.as_str()).map(str::to_owned));
    }
    for sweep in
        list("sweep").filter(|sweep| sweep.get("key").and_then(Value::as_str).is_some_and(names_a_file))
    {
        let values = sweep.get("values").and_then(Value::as_array).into_iter().flatten();
        names.extend(values.filter_map(Value::as_str).map(str::to_owned));
    }
    for name in names {
        let kept = folder.join(FILES_FOLDER).join(kept_name(&name));
        let place = [folder.join(&name), kept].into_iter().find(|path| {
            std::fs::metadata(path).is_ok_and(|data| data.is_file() && data.len() <= MAX_BYTES_OF_A_FILE)
        });
        let read = |path: PathBuf| whole_file::read(&path, MAX_BYTES_OF_A_FILE).ok();
        if let Some(bytes) = place.and_then(read) {
            files.bytes.insert(name, bytes);
        }
    }
    files
}

/// The texts at the ends of a way.
fn collect(content: &Table, way: &[&str], names: &mut Vec<String>) {
    match way {
        [] => {}
        [key] => names.extend(content.get(*key).and_then(Value::as_str).map(str::to_owned)),
        ["*", rest @ ..] => {
            content.values().filter_map(Value::as_table).for_each(|table| collect(table, rest, names));
        }
        [key, rest @ ..] => {
            if let Some(table) = content.get(*key).and_then(Value::as_table) {
                collect(table, rest, names);
            }
        }
    }
}

/// Whether a key as `set` and sweeps write it is one of a file.
fn names_a_file(key: &str) -> bool {
    let parts: Vec<&str> = key.split('.').collect();
    KEYS.iter().any(|way| {
        way.len() == parts.len() && way.iter().zip(&parts).all(|(way, part)| *way == "*" || way == part)
    })
}

/// What a file that an experiment names is called in a run's folder, wherever it was.
pub(crate) fn kept_name(name: &str) -> String {
    name.replace(['/', '\\'], "-").trim_start_matches(['.', '-']).to_owned()
}
