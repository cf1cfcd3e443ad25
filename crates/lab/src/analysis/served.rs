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

/// Packets, their bytes, and those that were the first of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sums {
    packets: f64,
    bytes: f64,
    objects: f64,
}

impl Sums {
    fn add(&mut self, more: Sums) {
        self.packets += more.packets;
        self.bytes += more.bytes;
        self.objects += more.objects;
    }
}

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

/// What a producer sent of a file, of segments that it had sent so many times by then.
#[derive(Debug, Clone, Copy)]
struct Sent {
    /// Nothing in tables of earlier versions, which do not tell files apart.
    file: Option<(u32, f64)>,
    sums: Sums,
}

/// What a content's producer sent in the seconds that lie in the window.
fn sent(table: &Table, window: Window) -> Vec<Sent> {
    let counts = |second: f64| {
        window.holds_all || (second >= window.from - 1e-9 && second + 1.0 <= window.until + 1e-9)
    };
    let place = |name: &str| table.columns.iter().position(|column| column == name);
    let [second, file, times, packets, bytes, objects] =
        ["second", "file", "time", "packets", "bytes", "objects"].map(place);
    let of_row = |row: &Vec<f64>| {
        let number = |place: Option<usize>| place.and_then(|place| row.get(place)).copied();
        number(second).filter(|second| counts(*second))?;
        let count = |place| number(place).unwrap_or(0.0);
        Some(Sent {
            file: number(file).map(|file| file as u32).zip(number(times)),
            sums: Sums { packets: count(packets), bytes: count(bytes), objects: count(objects) },
        })
    };
    table.rows.iter().filter_map(of_row).collect()
}

/// What downloads did not find on their way. What a producer sends of a segment more often than the file was
/// asked for is sent again, because something was lost or late, and is no miss of another download; and what
/// it sent and nobody got is no miss of what came.
fn missed(sent: &[Sent], wanted: &Downloaded) -> Sums {
    let mut by_file: BTreeMap<Option<u32>, Sums> = BTreeMap::new();
    for Sent { file, sums } in sent {
        let (file, times) = file.unzip();
        let begun = wanted.of(file).objects;
        if times.is_none_or(|times| times <= begun) {
            by_file.entry(file).or_default().add(*sums);
        }
    }
    let mut all = Sums::default();
    for (file, sums) in by_file {
        let got = wanted.of(file);
        let (bytes, objects) = (sums.bytes.min(got.bytes), sums.objects.min(got.objects));
        all.add(Sums { bytes, objects, ..sums });
    }
    all
}

/// The measures of each content.
pub(super) fn values(plan: &Plan, data: &RepeatData, window: Window) -> Vec<(String, f64)> {
    let mut values = Vec::new();
    for (place, table) in &data.served {
        let Some(content) = plan.contents.get(*place) else { continue };
        let sent = sent(table, window);
        let mut sums = Sums::default();
        sent.iter().for_each(|sent| sums.add(sent.sums));
        let mut put = |key: &str, value: f64| values.push((format!("{}.{key}", content.name), value));
        put("served", sums.packets);
        put("served_bytes", sums.bytes);
        put("served_objects", sums.objects);
        if let Some(wanted) = downloaded(plan, data, *place, window) {
            let (missed, all) = (missed(&sent, &wanted), wanted.of(None));
            let share = |missed: f64, all: f64| 100.0 * (1.0 - missed / all);
            if all.objects > 0.0 {
                put("object_hits", share(missed.objects, all.objects));
            }
            if all.bytes > 0.0 {
                put("byte_hits", share(missed.bytes, all.bytes));
            }
        }
    }
    values
}

/// For each content by its name, how many of the files that were begun its producer did not send.
pub(super) fn objects(plan: &Plan, data: &RepeatData, window: Window) -> Vec<(String, Counted)> {
    let of = |(place, table): (&usize, &Table)| {
        let wanted = downloaded(plan, data, *place, window)?;
        let begun = wanted.of(None).objects as u64;
        let part = begun.checked_sub(missed(&sent(table, window), &wanted).objects as u64)?;
        Some((plan.contents.get(*place)?.name.clone(), Counted { part, whole: begun }))
    };
    data.served.iter().filter_map(of).collect()
}

/// What was downloaded of a content, by file: how many downloads of it were begun, and bytes of them that
/// came. By no file, of all.
struct Downloaded(BTreeMap<Option<u32>, Sums>);

impl Downloaded {
    fn of(&self, file: Option<u32>) -> Sums {
        self.0.get(&file).copied().unwrap_or_default()
    }
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
    let mut all = Downloaded(BTreeMap::new());
    let tables = names.iter().filter_map(|name| data.transfers.get(*name));
    for transfer in tables.flat_map(|table| &table.transfers) {
        if transfer.start.is_some_and(|start| window.holds_all || window.holds(start)) {
            let file = transfer.name.rsplit('/').next().and_then(|last| last.parse().ok());
            let more = Sums { objects: 1.0, bytes: transfer.bytes as f64, packets: 0.0 };
            all.0.entry(None).or_default().add(more);
            if file.is_some() {
                all.0.entry(file).or_default().add(more);
            }
        }
    }
    (!all.0.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: [(u32, f64, f64); 2] = [(0, 1.0, 3000.0), (1, 2.0, 6000.0)];

    fn wanted() -> Downloaded {
        let of = |(file, objects, bytes)| (Some(file), Sums { objects, bytes, packets: 0.0 });
        let all = Sums { objects: 3.0, bytes: 9000.0, packets: 0.0 };
        Downloaded(WANTED.into_iter().map(of).chain([(None, all)]).collect())
    }

    /// What was missed, in objects and bytes, of rows of a file, how often, packets and objects.
    fn missed_of(rows: &[[f64; 4]]) -> (f64, f64) {
        let mut table = Table::new(&["second", "content", "file", "time", "packets", "bytes", "objects"]);
        table.rows = rows
            .iter()
            .map(|[file, times, packets, objects]| {
                vec![0.0, 0.0, *file, *times, *packets, packets * 1000.0, *objects]
            })
            .collect();
        let whole = Window { from: 0.0, until: 9.0, holds_all: true, holds_end: true };
        let missed = missed(&sent(&table, whole), &wanted());
        (missed.objects, missed.bytes)
    }

    #[test]
    fn what_a_producer_sends_again_for_the_same_download_is_no_miss_of_another() {
        let once = [[0.0, 1.0, 3.0, 1.0], [1.0, 1.0, 3.0, 1.0]];
        assert_eq!(missed_of(&once), (2.0, 6000.0));
        let again = [[0.0, 2.0, 3.0, 1.0], [0.0, 3.0, 1.0, 1.0]];
        assert_eq!(missed_of(&[once.as_slice(), &again].concat()), (2.0, 6000.0), "one download of the file");
        let other = [[1.0, 2.0, 3.0, 1.0], [1.0, 3.0, 2.0, 1.0]];
        assert_eq!(
            missed_of(&[once.as_slice(), &other].concat()),
            (3.0, 9000.0),
            "two downloads of the file"
        );
    }

    #[test]
    fn what_was_sent_and_never_came_is_no_miss_of_what_came() {
        assert_eq!(missed_of(&[[0.0, 1.0, 90.0, 1.0]]), (1.0, 3000.0));
        // Tables of earlier versions tell no files apart.
        let mut table = Table::new(&["second", "content", "packets", "bytes", "objects"]);
        table.rows = vec![vec![0.0, 0.0, 12.0, 12_000.0, 5.0]];
        let whole = Window { from: 0.0, until: 9.0, holds_all: true, holds_end: true };
        let missed = missed(&sent(&table, whole), &wanted());
        assert_eq!((missed.objects, missed.bytes), (3.0, 9000.0));
    }
}
