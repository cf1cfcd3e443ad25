//! What producers sent of their content, and what part of what consumers got came from elsewhere.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::data::RepeatData;
use super::table::Table;
use super::window::Window;
use crate::agent::SERVED;
use crate::experiment::plan::{Activity, Plan};
use crate::run::open_table;
use crate::stats::Counted;

/// Sums over packets, their bytes, and packets that were the first of a file.
type Sums = [f64; 3];

/// Reads what agents wrote: a table for each content, by its place in the plan.
pub(super) fn read(plan: &Plan, raw: &Path) -> io::Result<BTreeMap<usize, Table>> {
    let mut tables: BTreeMap<usize, Table> = BTreeMap::new();
    for node in &plan.nodes {
        let table = match open_table(&raw.join(format!("{SERVED}{}.csv", node.name))) {
            Ok(file) => Table::read(file)?,
            // Nothing is served there, or not by an agent.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for (place, content) in plan.contents.iter().enumerate() {
            if plan.node_name(content.at) == node.name {
                let rows = table.rows.iter().filter(|row| row.get(1) == Some(&(place as f64))).cloned();
                tables.insert(place, Table { columns: table.columns.clone(), rows: rows.collect() });
            }
        }
    }
    Ok(tables)
}

/// What a content's producer sent in the seconds that lie in the window.
fn sums(table: &Table, window: Window) -> Sums {
    let counts = |second: f64| {
        window.holds_all || (second >= window.from - 1e-9 && second + 1.0 <= window.until + 1e-9)
    };
    let mut sums = [0.0; 3];
    for row in table.rows.iter().filter(|row| row.first().is_some_and(|second| counts(*second))) {
        for (sum, more) in sums.iter_mut().zip(row.iter().skip(2)) {
            *sum += more;
        }
    }
    sums
}

/// The measures of each content.
pub(super) fn values(plan: &Plan, data: &RepeatData, window: Window) -> Vec<(String, f64)> {
    let mut values = Vec::new();
    for (place, table) in &data.served {
        let Some(content) = plan.contents.get(*place) else { continue };
        let [packets, bytes, objects] = sums(table, window);
        let mut put = |key: &str, value: f64| values.push((format!("{}.{key}", content.name), value));
        put("served", packets);
        put("served_bytes", bytes);
        put("served_objects", objects);
        if let Some(Downloaded { begun, bytes: got }) = downloaded(plan, data, *place, window) {
            let share = |from_producer: f64, all: f64| 100.0 * (1.0 - from_producer / all);
            if begun > 0.0 {
                put("object_hits", share(objects, begun));
            }
            if got > 0.0 {
                put("byte_hits", share(bytes, got));
            }
        }
    }
    values
}

/// For each content by its name, how many of the files that were begun its producer did not send.
pub(super) fn objects(plan: &Plan, data: &RepeatData, window: Window) -> Vec<(String, Counted)> {
    let of = |(place, table): (&usize, &Table)| {
        let [_, _, objects] = sums(table, window);
        let begun = downloaded(plan, data, *place, window)?.begun as u64;
        let part = begun.checked_sub(objects as u64)?;
        Some((plan.contents.get(*place)?.name.clone(), Counted { part, whole: begun }))
    };
    data.served.iter().filter_map(of).collect()
}

/// What was downloaded of a content.
struct Downloaded {
    /// Files that were begun.
    begun: f64,
    /// Bytes of them that came.
    bytes: f64,
}

/// What was downloaded of a content; nothing where others ask for it whose bytes nobody has counted.
fn downloaded(plan: &Plan, data: &RepeatData, of: usize, window: Window) -> Option<Downloaded> {
    let mut names = Vec::new();
    for workload in &plan.workloads {
        match &workload.does {
            Activity::Download { content, .. } if *content == of => names.push(workload.measured_as()),
            Activity::Traffic { content, .. } if *content == of => return None,
            Activity::Program(_) | Activity::Consume(_) => return None,
            _ => {}
        }
    }
    names.sort_unstable();
    names.dedup();
    let mut sum = Downloaded { begun: 0.0, bytes: 0.0 };
    let tables = names.iter().filter_map(|name| data.transfers.get(*name));
    for transfer in tables.flat_map(|table| &table.transfers) {
        if transfer.start.is_some_and(|start| window.holds_all || window.holds(start)) {
            sum.begun += 1.0;
            sum.bytes += transfer.bytes as f64;
        }
    }
    (sum.begun > 0.0).then_some(sum)
}
