//! One repeat: raw files in, derived tables and numbers out.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use formats::pcapng::Direction;

use super::activity::{Measured, measured};
use super::capture::{CaptureError, PacketFiles, View, analyse_capture};
use super::data::{NodeData, RepeatData};
use super::gates::{Counts, gates};
use super::network::NetworkCounts;
use super::prefixes::{self, PrefixCounts};
use super::repetition::Origins;
use super::result::RepeatResult;
use super::table::{Table, table_if_there};
use super::window::{COUNTERS, LAST_AT, LENGTH, Window, join_short_end, rates};
use super::workloads::{PingTable, TransferTable};
use super::{parts, round_trips, served};
use crate::agent::STANDSTILL;
use crate::experiment::plan::{Activity, Change, LinkIndex, NodeIndex, Plan, Workload};
use crate::order::sample;
use crate::order::{OUTCOME_FILE, Outcome, read_json};
use crate::run::open_table;
use crate::stats::Summary;

/// Where Data comes from on a node's watched link: from the next hop when the node has routes over it, else
/// it goes out there.
fn data_direction(plan: &Plan, node: NodeIndex, link: LinkIndex) -> Direction {
    let is_route = plan.routing.hops.iter().any(|hop| hop.node == node && hop.link == link);
    if is_route { Direction::In } else { Direction::Out }
}

/// The place of a link among the interfaces that a node captures.
fn interface_place(plan: &Plan, node: NodeIndex, link: LinkIndex) -> Option<u32> {
    let captured = plan.links_of(node).map(|(index, _)| index).filter(|index| plan.is_captured(node, *index));
    captured.zip(0u32..).find(|(index, _)| *index == link).map(|(_, place)| place)
}

/// Derives everything of the repeat in `folder`: `raw` is read, `derived` is written, and its numbers are for
/// the caller to write. `thrown_away` says why attempts before this one are not used.
///
/// # Errors
///
/// When raw files are missing or damaged.
pub fn derive(
    plan: &Plan,
    folder: &Path,
    thrown_away: Vec<String>,
) -> Result<(RepeatData, RepeatResult), DeriveError> {
    let write = || {
        let derived = folder.join("derived");
        fs::create_dir_all(&derived)?;
        let (data, result) = numbers(plan, &folder.join("raw"), Some(&derived), thrown_away)?;
        Ok((data, RepeatResult { place: place_of(plan, folder), ..result }))
    };
    write().map_err(|error| match error {
        DeriveError::Io(source) => DeriveError::Repeat { folder: folder.to_owned(), source },
        other => other,
    })
}

/// The numbers of the repeat whose raw files are in a folder. Tables by the second are written into
/// `derived`, if anybody wants them.
pub(crate) fn numbers(
    plan: &Plan,
    raw: &Path,
    derived: Option<&Path>,
    thrown_away: Vec<String>,
) -> Result<(RepeatData, RepeatResult), DeriveError> {
    let keep =
        |table: &Table, name: String| derived.map_or(Ok(()), |derived| table.write(&derived.join(name)));
    let outcome: Outcome = read_json(&raw.join(OUTCOME_FILE))?;
    let seconds = outcome.stop_ns.saturating_sub(outcome.start_ns) as f64 / 1e9;
    let mut data = RepeatData { seconds, ..RepeatData::default() };
    let origins = Origins::read(plan, raw)?;
    let mut dropped_lines = 0;
    for (index, node) in plan.nodes.indexed() {
        let start_s = outcome.start_at(&node.name) as f64 / 1e9;
        let (mut log, dropped) =
            forwarder_log(&raw.join(format!("forwarder-{}.csv", node.name)), start_s, seconds)?;
        dropped_lines += dropped;
        join_short_end(&mut log, plan.recording.sample_every_ns as f64 / 1e9, &window_ends(plan));
        add_busy(node.cpu, &mut log);
        add_outcomes(&mut log);
        keep(&log, format!("forwarder-{}.csv", node.name))?;
        let mut traffic = match node.watch {
            Some(link) if plan.recording.probe.capture && outcome.taps.contains_key(&node.name) => {
                let place = derived.unwrap_or(raw);
                let capture = Capture { node: index, link, raw, derived: place };
                traffic(plan, &capture, &outcome, &origins)?
            }
            Some(_) => counted_elsewhere(&raw.join(format!("traffic-{}.csv", node.name)), seconds)?,
            None => Table::default(),
        };
        if let Some(link) = node.watch.filter(|_| !traffic.columns.is_empty()) {
            rates(&mut traffic, seconds);
            add_load(plan, link, &mut traffic);
        }
        keep(&traffic, format!("traffic-{}.csv", node.name))?;
        // Other forwarders do not tell, and runs of earlier versions have not asked.
        let store = table_if_there(&raw.join(sample::store_file(&node.name)))?;
        let occupancy = table_if_there(&raw.join(sample::occupancy_file(&node.name)))?;
        let faces = table_if_there(&raw.join(sample::faces_file(&node.name)))?;
        data.nodes.push(NodeData { log, traffic, store, occupancy, faces });
    }
    clients(plan, raw, &outcome, &mut data)?;
    for (name, table) in &data.transfers {
        keep(&table.table(), format!("transfers-{name}.csv"))?;
    }
    let result = RepeatResult { thrown_away, dropped_lines, ..result(plan, &data, outcome) };
    Ok((data, result))
}

/// Which repeat of which case a folder is of, as its result says it.
pub(super) fn place_of(plan: &Plan, folder: &Path) -> String {
    let repeat = folder.file_name().unwrap_or_default().to_string_lossy();
    format!("{repeat} of {:?}", plan.case)
}

/// What keeps a repeat from being derived.
#[derive(Debug, thiserror::Error)]
pub enum DeriveError {
    /// A capture.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A file of the repeat in a folder.
    #[error("{}: a raw file cannot be read, or a derived one not written: {source}", .folder.display())]
    Repeat {
        /// The repeat's folder.
        folder: PathBuf,
        /// What is wrong.
        source: io::Error,
    },
    /// A file that stands in no run.
    #[error("a raw file cannot be read, or a derived one not written: {0}")]
    Io(#[from] io::Error),
}

/// A forwarder's log within the run, its invalid lines dropped and counted, times from the start.
fn forwarder_log(path: &Path, start_s: f64, seconds: f64) -> io::Result<(Table, u64)> {
    let mut table = Table::read(open_table(path)?)?;
    let mut dropped = 0;
    table.rows.retain_mut(|row| {
        let Some(time) = row.first_mut() else { return false };
        *time -= start_s;
        // Samples before the start and behind the end are not of the run. The end is rounded to the
        // microsecond.
        let within = *time >= 0.0 && *time <= seconds + 1e-6;
        let valid = row.iter().all(|value| value.is_finite());
        dropped += u64::from(within && !valid);
        within && valid
    });
    Ok((table, dropped))
}

/// The ends of the window that the file sets, in seconds.
fn window_ends(plan: &Plan) -> Vec<f64> {
    let window = plan.evaluation.window;
    window.from_ns.into_iter().chain(window.until_ns).map(|ns| ns as f64 / 1e9).collect()
}

/// Processor time in percent of the share that the node has. Virtual time knows it better: there a competing
/// load takes from the share.
fn add_busy(share: Option<f64>, log: &mut Table) {
    if log.columns.iter().any(|name| name == "busy") {
        return;
    }
    let used = log.column("cpu");
    log.columns.push("busy".to_owned());
    for (row, used) in log.rows.iter_mut().zip(used) {
        row.push(used / share.unwrap_or(1.0));
    }
}

/// What became of Interests that were sent on, in a second since the line before. A forwarder that started
/// anew counts from nothing again.
fn add_outcomes(log: &mut Table) {
    let times = log.column("time");
    for (counter, rate) in [("satisfied", "answered"), ("unsatisfied", "expired")] {
        let counts = log.column(counter);
        log.columns.push(rate.to_owned());
        for (place, row) in log.rows.iter_mut().enumerate() {
            let at = |list: &[f64], place: Option<usize>| place.and_then(|place| list.get(place)).copied();
            let before = at(&times, place.checked_sub(1)).zip(at(&counts, place.checked_sub(1)));
            let (time, count) = (at(&times, Some(place)), at(&counts, Some(place)));
            let since = |(was, counted): (f64, f64)| {
                (count.unwrap_or(counted) - counted).max(0.0) / (time.unwrap_or(was) - was).max(1e-9)
            };
            row.push(before.map_or(0.0, since));
        }
    }
}

/// What a node captured on the link that it watches, and where what is found in it goes.
struct Capture<'a> {
    node: NodeIndex,
    link: LinkIndex,
    raw: &'a Path,
    derived: &'a Path,
}

fn traffic(
    plan: &Plan,
    &Capture { node, link, raw, derived }: &Capture<'_>,
    outcome: &Outcome,
    origins: &Origins,
) -> Result<Table, CaptureError> {
    let name = plan.node_name(node);
    let view = View {
        interface: interface_place(plan, node, link).unwrap_or(0),
        data_direction: data_direction(plan, node, link),
        start_ns: outcome.start_at(name),
        length_ns: outcome.stop_ns.saturating_sub(outcome.start_ns),
    };
    let list = derived.join(format!("packets-{name}.csv.gz"));
    let psml = derived.join(format!("packets-{name}.psml.gz"));
    let files = PacketFiles { list: &list, psml: plan.recording.probe.psml.then_some(psml.as_path()) };
    analyse_capture(&raw.join(format!("capture-{name}.pcapng")), view, files, origins)
}

/// The part of the link's rate that is used in the Data's direction, in percent.
fn add_load(plan: &Plan, link: LinkIndex, table: &mut Table) {
    let rate = plan.links.get(link).and_then(|link| link.rate_bps);
    table.columns.push("load".to_owned());
    for row in &mut table.rows {
        let load = rate.map_or(f64::NAN, |rate| row.get(3).copied().unwrap_or(0.0) * 800.0 / rate as f64);
        row.push(load);
    }
}

/// A table by the second that a backend counted itself, within the run; no table when it did not.
fn counted_elsewhere(path: &Path, seconds: f64) -> io::Result<Table> {
    let mut table = table_if_there(path)?;
    table.rows.retain(|row| row.first().is_some_and(|time| *time < seconds.ceil()));
    Ok(table)
}

/// Takes what a workload's client wrote in, from its start in seconds.
type ReadTable = fn(&mut RepeatData, &Workload, Box<dyn io::Read>, f64) -> io::Result<()>;

/// Reads what the clients wrote.
pub(super) fn clients(plan: &Plan, raw: &Path, outcome: &Outcome, data: &mut RepeatData) -> io::Result<()> {
    for workload in &plan.workloads {
        let (kind, read): (_, ReadTable) = match &workload.does {
            Activity::Program(program) if program.serves => continue,
            Activity::Download { .. } | Activity::Program(_) => ("transfers", transfers),
            Activity::Ping { .. } => ("pings", pings),
            Activity::Traffic { .. } => ("traffic", pings),
            Activity::Flood { .. } => ("flood", flood),
            Activity::Consume(_) | Activity::Register(_) | Activity::Load { .. } => continue,
        };
        let file = format!("{kind}-{}.csv", workload.name);
        let opened = match open_table(&raw.join(&file)) {
            // A client that was killed has written nothing, perhaps.
            Err(error) if outcome.lost.is_some() && error.kind() == io::ErrorKind::NotFound => {
                Ok(Box::new(io::empty()) as Box<dyn io::Read>)
            }
            other => other,
        };
        let start_s = outcome.start_at(plan.node_name(workload.at)) as f64 / 1e9;
        let found = opened.and_then(|input| read(data, workload, input, start_s));
        found.map_err(|error| io::Error::new(error.kind(), format!("{file}: {error}")))?;
    }
    data.served = served::read(plan, raw)?;
    data.prefixes = prefixes::read(plan, raw)?;
    data.network = NetworkCounts::read(raw)?;
    data.client_still_s = client_still(plan, raw)?;
    Ok(())
}

fn transfers(
    data: &mut RepeatData,
    workload: &Workload,
    input: Box<dyn io::Read>,
    start_s: f64,
) -> io::Result<()> {
    let table = TransferTable::read(input, start_s)?;
    data.transfers.entry(workload.measured_as().to_owned()).or_default().transfers.extend(table.transfers);
    Ok(())
}

fn pings(
    data: &mut RepeatData,
    workload: &Workload,
    input: Box<dyn io::Read>,
    start_s: f64,
) -> io::Result<()> {
    data.pings.insert(workload.name.clone(), PingTable::read(input, start_s)?);
    Ok(())
}

fn flood(
    data: &mut RepeatData,
    workload: &Workload,
    input: Box<dyn io::Read>,
    start_s: f64,
) -> io::Result<()> {
    let mut table = Table::read(input)?;
    table.rows.iter_mut().filter_map(|row| row.first_mut()).for_each(|time| *time -= start_s);
    data.floods.insert(workload.name.clone(), table);
    Ok(())
}

/// What the faces and content stores of all nodes say of the network. Where only some nodes tell there is
/// nothing, for a part of the packets is not the network's; nor where a forwarder is started anew, for it
/// has forgotten what the one before counted.
fn of_network(plan: &Plan, data: &RepeatData) -> Vec<(String, f64)> {
    if plan.events.iter().any(|event| matches!(event.change, Change::Restart(_))) {
        return Vec::new();
    }
    let sum = |table: fn(&NodeData) -> &Table, column: &str| {
        let columns = data.nodes.iter().map(|node| table(node).column(column).last().copied());
        columns.sum::<Option<f64>>()
    };
    let faces = |column: &str| sum(|node| &node.faces, column);
    let store = |column: &str| sum(|node| &node.store, column);
    let share = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
    let to_applications = faces("link_data").zip(faces("application_data"));
    let hits = store("hits").zip(store("misses"));
    let values = [
        ("hops", faces("link_packets")),
        ("data_hops", to_applications.and_then(|(crossed, got)| share(crossed, got))),
        ("cache_hits", hits.map(|(hits, misses)| share(hits, hits + misses).unwrap_or_default() * 100.0)),
        ("nacks_sent", faces("nacks_sent")),
    ];
    let named = |(name, value): (&str, Option<f64>)| Some((format!("network.{name}"), value?));
    values.into_iter().filter_map(named).collect()
}

/// The longest time in which any client stood still, in seconds, as they wrote it down.
fn client_still(plan: &Plan, raw: &Path) -> io::Result<f64> {
    let mut longest = 0.0;
    for node in &plan.nodes {
        // There is none at this node, or not in this backend or version.
        let table = table_if_there(&raw.join(format!("{STANDSTILL}{}.csv", node.name)))?;
        longest = table.column("longest_s").into_iter().fold(longest, f64::max);
    }
    Ok(longest)
}

/// All numbers of a repeat.
fn result(plan: &Plan, data: &RepeatData, outcome: Outcome) -> RepeatResult {
    let Measured { window, active } = measured(plan, data);
    let mut values = series(plan, data, window);
    let mut put = |key: String, numbers: &[f64]| {
        if let Some(summary) = Summary::of(numbers) {
            values.insert(key, summary);
        }
    };
    let (mut transfers, mut unfinished) = (0, 0);
    for (name, table) in &data.transfers {
        transfers += table.transfers.len();
        unfinished += table.transfers.len() - table.complete();
        let table = &table.within(window);
        let (all, complete) = (table.transfers.len(), table.complete());
        let repeated: u64 = table.transfers.iter().map(|transfer| transfer.repeated).sum();
        let nacks: u64 = table.transfers.iter().map(|transfer| transfer.nacks).sum();
        let began = table.transfers.iter().filter(|transfer| transfer.start.is_some()).count();
        put(format!("{name}.started"), &[began as f64]);
        put(format!("{name}.finished"), &[complete as f64]);
        if all > 0 {
            put(format!("{name}.unfinished"), &[(all - complete) as f64]);
            put(format!("{name}.loss"), &[(all - complete) as f64 / all as f64 * 100.0]);
            put(format!("{name}.goodput"), &[table.goodput(data.seconds)]);
        }
        put(format!("{name}.duration"), &table.durations());
        put(format!("{name}.retransmissions"), &[repeated as f64]);
        put(format!("{name}.nacks"), &[nacks as f64]);
    }
    for (key, numbers) in round_trips::values(plan, data, window) {
        put(key, &numbers);
    }
    served::values(plan, data, window).into_iter().for_each(|(key, number)| put(key, &[number]));
    let of_prefixes = data.prefixes.iter().flat_map(PrefixCounts::values);
    of_prefixes.for_each(|(key, number)| put(key, &[number]));
    totals(&outcome).into_iter().for_each(|(key, number)| put(key, &[number]));
    of_network(plan, data).into_iter().for_each(|(key, number)| put(key, &[number]));
    if let Some(network) = &data.network {
        for (key, numbers) in network.values() {
            put(key, &numbers);
        }
        let (all, open) = network.unfinished();
        (transfers, unfinished) = (transfers + all, unfinished + open);
    }
    // What a share denies a node is not in it.
    let whole = Window { from: 0.0, until: data.seconds, holds_all: true, holds_end: true };
    let waited = data.nodes.iter().filter_map(|node| {
        Summary::weighed(&whole.of_log(&node.log, "waited", data.seconds)).map(|summary| summary.mean / 100.0)
    });
    let silence_s = data.nodes.iter().map(|node| longest_gap(&node.log, data.seconds)).fold(0.0, f64::max);
    let samples = (data.seconds * 1e9 / plan.recording.sample_every_ns.max(1) as f64) as u64;
    let waited = waited.fold(0.0, f64::max);
    let client_still_s = data.client_still_s;
    let pings = round_trips::left(plan, data);
    let counts = Counts { transfers, unfinished, pings, samples, waited, silence_s, client_still_s };
    let gates = gates(&plan.evaluation.gates, &outcome, &counts);
    let seconds = data.seconds;
    RepeatResult {
        values,
        gates,
        prefixes: data.prefixes.clone(),
        seconds,
        counts: parts::of(plan, data, window),
        window: Some(window),
        active,
        outcome,
        ..RepeatResult::default()
    }
}

/// What nodes came to, as measures.
fn totals(outcome: &Outcome) -> Vec<(String, f64)> {
    let mut list = Vec::new();
    for (node, totals) in &outcome.nodes {
        let mut put = |key: &str, number: f64| list.push((format!("{node}.{key}"), number));
        put("processor", totals.processor_ns as f64 / 1e9);
        put("sent", totals.sent_bytes as f64);
        put("received", totals.received_bytes as f64);
        if let Some(counts) = totals.counts {
            put("requests", counts.requests as f64);
            if let (Some(hits), Some(misses)) = (counts.hits, counts.misses()) {
                put("request_hits", hits as f64);
                put("request_misses", misses as f64);
            }
        }
    }
    list
}

/// The longest time in which a forwarder gave no answer, in seconds. One that stands still answers nobody.
fn longest_gap(log: &Table, seconds: f64) -> f64 {
    let mut times = vec![0.0];
    times.extend(log.column("time"));
    times.push(seconds);
    times
        .windows(2)
        .map(|pair| pair.last().unwrap_or(&0.0) - pair.first().unwrap_or(&0.0))
        .fold(0.0, f64::max)
}

/// The numbers of every node's log and link within the window.
fn series(plan: &Plan, data: &RepeatData, window: Window) -> BTreeMap<String, Summary> {
    let mut values = BTreeMap::new();
    let put = |values: &mut BTreeMap<String, Summary>, node: &str, column: &str, numbers: &[(f64, f64)]| {
        values.extend(Summary::weighed(numbers).map(|summary| (format!("{node}.{column}"), summary)));
    };
    for (node, of_node) in plan.nodes.iter().zip(&data.nodes) {
        let counts = |column: &&String| !["time", LENGTH, LAST_AT].contains(&column.as_str());
        let (counters, of_moments): (Vec<_>, Vec<_>) =
            of_node.log.columns.iter().filter(counts).partition(|name| COUNTERS.contains(&name.as_str()));
        for column in counters {
            let grown = window.of_counter(&of_node.log, column).map(|count| vec![(count, 1.0)]);
            put(&mut values, &node.name, column, &grown.unwrap_or_default());
        }
        for column in of_moments {
            put(&mut values, &node.name, column, &window.of_log(&of_node.log, column, data.seconds));
        }
        for column in ["pending", "cached"] {
            let Some(summary) = values.get_mut(&format!("{}.{column}", node.name)) else { continue };
            if let Some(sum) = window.of_integral(&of_node.occupancy, column) {
                summary.integrated(sum, sum / (window.until - window.from));
            }
            if let Some(most) = window.of_most(&of_node.occupancy, &format!("{column}_most")) {
                summary.max = summary.max.max(most);
            }
        }
        for column in &of_node.store.columns {
            let counted = of_node.store.column(column);
            let counted: Vec<(f64, f64)> = counted.into_iter().map(|count| (count, 1.0)).collect();
            put(&mut values, &node.name, column, &counted);
        }
        for column in of_node.traffic.columns.iter().filter(counts) {
            put(&mut values, &node.name, column, &window.of_bins(&of_node.traffic, column));
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forwarder_that_stood_still_for_two_seconds_is_seen() {
        let mut log = Table::new(&["time", "pending"]);
        log.rows = [0.1, 0.6, 1.2, 3.3, 3.9].iter().map(|at| vec![*at, 1.0]).collect();
        assert!((longest_gap(&log, 4.0) - 2.1).abs() < 1e-9);
        assert!((longest_gap(&log, 6.0) - 2.1).abs() < 1e-9 && longest_gap(&Table::default(), 5.0) == 5.0);
    }
}
