//! Raw files that a repeat of an earlier version has lost. There are no hashes that would name them, and some
//! are read only if they are there; so they are known by what is there beside them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::analysis::{NETWORK_FILE, RAW};
use crate::experiment::Plan;
use crate::experiment::plan::NodePlan;
use crate::order::sample;

/// The files of a node that derived numbers need.
const OF_NODES: [fn(&str) -> String; 4] =
    [|node| format!("forwarder-{node}.csv"), sample::store_file, sample::occupancy_file, sample::faces_file];

/// The raw files of one repeat, by their names before they were compressed.
struct Files<'a> {
    plan: &'a Plan,
    raw: PathBuf,
    names: HashSet<String>,
}

impl<'a> Files<'a> {
    fn of(plan: &'a Plan, repeat: &Path) -> Self {
        let raw = repeat.join(RAW);
        let entries = fs::read_dir(&raw).into_iter().flatten().flatten();
        let name = |entry: fs::DirEntry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.strip_suffix(".gz").map_or_else(|| name.clone(), str::to_owned)
        };
        Files { plan, names: entries.map(name).collect(), raw }
    }
}

/// The first raw file that one of these repeats has lost, as far as the others and its other nodes show what
/// there was.
pub(super) fn first_missing<'a>(repeats: impl Iterator<Item = (&'a Plan, &'a Path)>) -> Option<PathBuf> {
    let all: Vec<Files<'_>> = repeats.map(|(plan, place)| Files::of(plan, place)).collect();
    let has_forwarder = |node: &&NodePlan| !node.switch && node.server.is_none();
    for files in &all {
        let was_there = |name: &str| all.iter().any(|other| other.names.contains(name));
        let lost = |name: &str| (!files.names.contains(name)).then(|| files.raw.join(name));
        if was_there(NETWORK_FILE)
            && let Some(lost) = lost(NETWORK_FILE)
        {
            return Some(lost);
        }
        let nodes = || files.plan.nodes.iter().filter(has_forwarder);
        for of_node in OF_NODES {
            let is_kind = nodes().any(|node| was_there(&of_node(&node.name)));
            let mut names = nodes().map(|node| of_node(&node.name)).filter(|_| is_kind);
            if let Some(lost) = names.find_map(|name| lost(&name)) {
                return Some(lost);
            }
        }
    }
    None
}
