//! What was derived of a repeat, read back.

use std::io;
use std::path::Path;

use trust::whole_file;

use super::data::{NodeData, RepeatData};
use super::raw_files::{DERIVED, RAW, RawCheck};
use super::repeat::clients;
use super::result::RepeatResult;
use super::table::Table;
use crate::experiment::Plan;
use crate::seal::Seal;

/// Reads back what [`derive()`](super::derive()) has found. Of a file that cannot be read any more there is
/// nothing, and the result names it among those that were changed.
///
/// # Errors
///
/// When the result itself cannot be read.
pub fn load_derived(
    plan: &Plan,
    folder: &Path,
    check: &mut RawCheck<'_>,
) -> io::Result<(RepeatData, RepeatResult)> {
    let mut result = RepeatResult::read(&folder.join("result.json"))?;
    if result.is_of_another_place(plan, folder) {
        result.seal = Seal::Broken;
    }
    result.find_changed_files(folder, check);
    let mut data = RepeatData { seconds: result.seconds, ..RepeatData::default() };
    for node in &plan.nodes {
        let mut read = |kind: &str| {
            let name = format!("{DERIVED}/{kind}-{}.csv", node.name);
            let table = whole_file::open(&folder.join(&name)).and_then(Table::read);
            table.unwrap_or_else(|_| {
                result.note_changed(name);
                Table::default()
            })
        };
        let (log, traffic) = (read("forwarder"), read("traffic"));
        data.nodes.push(NodeData { log, traffic, ..NodeData::default() });
    }
    if let Err(error) = clients(plan, &folder.join(RAW), &result.outcome, &mut data)
        && !result.changed_files.iter().any(|name| name.starts_with(RAW))
    {
        result.note_changed(format!("{RAW}/{error}"));
    }
    Ok((data, result))
}
