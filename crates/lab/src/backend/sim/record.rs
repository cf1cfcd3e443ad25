//! What the lab records of a real run, read off the simulated one.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use engine::{Engine, FaceScope};
use formats::csv;
use packet::{Name, PacketCounts, PacketKind};
use sim::trace::PacketRecord;
use sim::{EndId, LinkId, OccupancyKnot};

use super::network::{Built, overhead_bytes};
use super::processor::{idle_percent, left_for_packets, part_of_a_core};
use crate::analysis::{LinkHistory, Origins, Repetition, TRAFFIC_COLUMNS, Table};
use crate::experiment::plan::{Arena, LinkIndex, NodeIndex, Plan, TracePlan};
use crate::memory_files;
use crate::order::Event;
use crate::order::sample::{self, Answer, Carried, Load, LogOf};

#[derive(Debug, Clone, Copy, Default)]
struct EarlierSample {
    at_ns: u64,
    busy_ns: u64,
    /// Work that a processor has been given and not yet done.
    waiting_ns: u64,
    received: u64,
    sent: u64,
}

/// Bytes of headers below a packet on a link. The simulated link carries each packet as one frame and charges
/// one set of headers: with more of them a full link would seem to carry more than its rate.
fn below(plan: &Plan, link: LinkIndex) -> f64 {
    plan.links.get(link).map_or(0.0, |link| f64::from(overhead_bytes(link)))
}

/// The logs of all nodes, and their watched links by the second.
pub(super) struct Recorder {
    logs: Arena<NodeIndex, String>,
    occupancy: Arena<NodeIndex, String>,
    /// By the second, as far as anything was seen.
    traffic: Arena<NodeIndex, Table>,
    /// So many seconds the run lasts at most.
    seconds: usize,
    before: Arena<NodeIndex, EarlierSample>,
    origins: Origins,
    seen: Arena<NodeIndex, LinkHistory>,
    /// For each link its place in the plan, and the nodes that watch it: is the node at end 0, and does Data
    /// come in there?
    watchers: BTreeMap<LinkId, (LinkIndex, Vec<Watcher>)>,
    /// Packets that the experiment wants to have written down, and how many there were in all.
    kept: (Vec<PacketRecord>, u64),
}

/// A node that watches a link.
#[derive(Debug, Clone, Copy)]
struct Watcher {
    node: NodeIndex,
    /// The end of the link that it is.
    end: EndId,
    /// Has it a route over the link? Then Data comes in; at a node without one it goes out.
    is_route: bool,
}

/// Who watches which link.
fn watchers(plan: &Plan, built: &Built) -> BTreeMap<LinkId, (LinkIndex, Vec<Watcher>)> {
    let routes: BTreeSet<(NodeIndex, LinkIndex)> =
        plan.routing.hops.iter().map(|hop| (hop.node, hop.link)).collect();
    let mut watchers: Arena<LinkIndex, Vec<Watcher>> = Arena::filled(&plan.links, Vec::new());
    for (node, link) in plan.nodes.indexed().filter_map(|(node, plan)| Some((node, plan.watch?))) {
        let end = plan.links.get(link).and_then(|link| link.ends().position(|end| end == node));
        if let (Some(list), Some(end)) = (watchers.get_mut(link), end) {
            list.push(Watcher { node, end: EndId(end as u32), is_route: routes.contains(&(node, link)) });
        }
    }
    built.links.iter().copied().zip(watchers.ids().zip(watchers)).collect()
}

/// Processor time in percent of a core, and of the part of it that a forwarder has. It takes some for itself,
/// and the third number is in percent of what that leaves.
fn used(part: f64, idle: f64, with_packets: f64) -> (f64, f64) {
    let cpu = (with_packets * left_for_packets(part, idle) + idle).min(100.0 * part);
    let busy = if idle > 0.0 { cpu / part.max(f64::MIN_POSITIVE) } else { with_packets };
    (cpu, busy)
}

/// So many rows by the second a time takes.
fn whole_seconds(ns: u64) -> usize {
    usize::try_from(ns.div_ceil(1_000_000_000)).unwrap_or(usize::MAX)
}

/// Makes a table by the second at least so many seconds long. An experiment may last for years at most, and
/// end after a second: there is a row of what was seen, and not of what might have been.
fn reach(table: &mut Table, seconds: usize) {
    for second in table.rows.len()..seconds {
        let mut row = vec![0.0; TRAFFIC_COLUMNS.len()];
        if let Some(time) = row.first_mut() {
            *time = second as f64;
        }
        table.rows.push(row);
    }
}

impl Recorder {
    pub(super) fn new(plan: &Plan, built: &Built) -> Self {
        let nodes = &plan.nodes;
        Recorder {
            logs: Arena::filled(nodes, sample::head(LogOf::VirtualTime)),
            occupancy: Arena::filled(nodes, csv::to_string([sample::OCCUPANCY_COLUMNS])),
            traffic: Arena::filled(nodes, Table::new(TRAFFIC_COLUMNS)),
            seconds: whole_seconds(plan.schedule.duration_ns),
            before: Arena::filled(nodes, EarlierSample::default()),
            origins: Origins::of(plan),
            seen: Arena::filled(nodes, LinkHistory::default()),
            watchers: watchers(plan, built),
            kept: (Vec::new(), 0),
        }
    }

    /// Writes down how full the tables of every node have been since the last time.
    pub(super) fn look(&mut self, built: &mut Built) {
        let now_ns = built.network.now().as_nanos();
        for (id, text) in built.nodes.iter().zip(&mut self.occupancy) {
            let Some(occupancy) = built.network.take_occupancy(*id) else { continue };
            let fields = |OccupancyKnot { at, entry_seconds }| {
                (format!("{:.9}", at.as_nanos() as f64 / 1e9), entry_seconds.to_string())
            };
            let empty = String::new;
            let most = [occupancy.pending_most, occupancy.cached_most].map(|most| most.to_string());
            let pending = occupancy.pending.into_iter().map(fields);
            let cached = occupancy.cached.into_iter().map(fields);
            let rows = pending.map(|(at, pending)| [at, pending, empty(), empty(), empty()]);
            let rows = rows.chain(cached.map(|(at, cached)| [at, empty(), cached, empty(), empty()]));
            let [pending, cached] = most;
            let now = format!("{:.9}", now_ns as f64 / 1e9);
            let most = [now, empty(), empty(), pending, cached];
            text.push_str(&csv::to_string(rows.chain([most])));
        }
    }

    /// Asks every forwarder for its counters.
    pub(super) fn sample(&mut self, plan: &Plan, built: &mut Built, mut observe: impl FnMut(&Event)) {
        self.look(built);
        let now_ns = built.network.now().as_nanos();
        let seconds = now_ns as f64 / 1e9;
        for (index, id) in built.nodes.indexed() {
            let Some(engine) = built.network.engine(*id) else { continue };
            let (Some(log), Some(before)) = (self.logs.get_mut(index), self.before.get_mut(index)) else {
                continue;
            };
            let (counters, sizes) = (engine.counters(), engine.table_sizes());
            let busy_ns = built.network.processor_use(*id).map_or(0, |(_, busy)| busy.as_nanos());
            // The simulator books the work of a packet when it comes; here it counts when it is done.
            let given_ns = busy_ns.saturating_sub(before.busy_ns) + before.waiting_ns;
            let passed_ns = now_ns.saturating_sub(before.at_ns);
            let part = part_of_a_core(plan, index, now_ns.saturating_sub(passed_ns / 2));
            // Work by a profile is booked in the time of a core, other work in that of the share.
            let is_by_profile = plan.nodes.get(index).is_some_and(|node| node.costs.is_some());
            let idle = idle_percent(plan, index);
            let free = left_for_packets(part, idle);
            let room_ns = if is_by_profile { (passed_ns as f64 * free) as u64 } else { passed_ns };
            let done_ns = given_ns.min(room_ns);
            let with_packets = done_ns as f64 / room_ns.max(1) as f64 * 100.0;
            let (cpu, busy) = used(part, idle, with_packets);
            let faces = engine.faces().filter_map(|(face, _)| engine.face_counters(face));
            let packets: PacketCounts = faces.map(|face| face.packets).sum();
            let sent = counters.interests_sent;
            let per_second = |more: u64| more as f64 / (passed_ns.max(1) as f64 / 1e9);
            let propagated = per_second(sent.saturating_sub(before.sent));
            let not_sent = packets.in_interests.saturating_sub(sent);
            let noted = per_second(not_sent.saturating_sub(before.received));
            let memory = sizes.footprint_bytes as u64 + sizes.pending_bytes + sizes.cached_bytes;
            // As the daemon counts them: the names of pending Interests, and the prefixes of routes.
            let names = sizes.pending + sizes.routes;
            let answer = Answer {
                names: names.into(),
                pending: sizes.pending.into(),
                propagated,
                noted,
                cached: sizes.cached.into(),
                in_interests: packets.in_interests,
                out_interests: sent,
                in_data: packets.in_data,
                out_data: counters.data_sent,
                in_nacks: packets.in_nacks,
                out_nacks: counters.nacks_sent,
                satisfied: counters.satisfied,
                unsatisfied: counters.unsatisfied,
            };
            let load = Load { cpu, memory_bytes: memory, busy: Some(busy), ..Load::default() };
            log.push_str(&sample::line(now_ns, Some(&answer), &load));
            let waiting_ns = given_ns - done_ns;
            *before = EarlierSample { at_ns: now_ns, busy_ns, waiting_ns, received: not_sent, sent };
            observe(&Event::Sample {
                node: plan.node_name(index).to_owned(),
                seconds,
                pending: Some(u64::from(sizes.pending)),
                cpu_percent: cpu,
                memory_bytes: memory,
            });
        }
    }

    /// Notes Interests with which transfers ask again, before they are counted on any link.
    pub(super) fn again(&mut self, list: &[(Name, u32)]) {
        list.iter().for_each(|(name, nonce)| self.origins.note(name, *nonce));
    }

    /// Counts the packets that have crossed links since the last time.
    pub(super) fn count(&mut self, plan: &Plan, built: &mut Built) {
        let rows = built.network.trace_mut().packets.take();
        let all = std::mem::take(&mut self.watchers);
        for record in &rows {
            let Some((link, watchers)) = all.get(&record.link) else { continue };
            for watcher in watchers {
                self.add(*watcher, record, below(plan, *link));
            }
        }
        self.watchers = all;
        if plan.recording.trace.packets {
            self.keep(&plan.recording.trace, rows);
        }
    }

    /// Keeps the packets that the experiment wants to have: one of so many, and as many as have room.
    fn keep(&mut self, plan: &TracePlan, rows: Vec<PacketRecord>) {
        let (kept, seen) = &mut self.kept;
        for row in rows {
            *seen += 1;
            // One more than have room, so that the table tells that something was lost.
            if (*seen - 1).is_multiple_of(plan.one_in.max(1).into()) && kept.len() <= plan.max_records {
                kept.push(row);
            }
        }
    }

    /// The packets that the experiment wants to have.
    pub(super) fn take_kept(&mut self) -> Vec<PacketRecord> {
        std::mem::take(&mut self.kept.0)
    }

    fn add(&mut self, Watcher { node, end, is_route }: Watcher, record: &PacketRecord, below: f64) {
        let outwards = record.from_end == end;
        let with_data = outwards != is_route;
        let PacketRecord { time, kind, bytes, name, nonce, .. } = record;
        let second = usize::try_from(time.as_nanos() / 1_000_000_000).unwrap_or(usize::MAX);
        let seen = self.seen.get_mut(node).filter(|_| *kind == PacketKind::Interest);
        let asked = seen.map(|seen| self.origins.ask(seen, outwards, name.as_ref().canonical(), *nonce));
        let table = self.traffic.get_mut(node).filter(|_| second < self.seconds);
        let row = table.and_then(|table| {
            reach(table, second + 1);
            table.rows.get_mut(second)
        });
        let Some(
            [_, goodput, goodput_back, through, through_back, again, interests, data, nacks, same, last_at],
        ) = row.map(Vec::as_mut_slice)
        else {
            return;
        };
        *last_at = last_at.max(time.as_nanos() as f64 / 1e9);
        let (good, all) = if with_data { (goodput, through) } else { (goodput_back, through_back) };
        *good += f64::from(*bytes);
        *all += f64::from(*bytes) + below;
        *again += f64::from(u8::from(asked == Some(Repetition::Again)));
        *same += f64::from(u8::from(asked == Some(Repetition::SameName)));
        match kind {
            PacketKind::Interest => *interests += 1.0,
            PacketKind::Data => *data += 1.0,
            PacketKind::Nack => *nacks += 1.0,
        }
    }

    /// Writes everything into the run's raw folder.
    pub(super) fn write(&self, plan: &Plan, built: &Built, folder: &Path) -> io::Result<()> {
        for (node, id) in plan.nodes.iter().zip(&built.nodes) {
            let Some(engine) = built.network.engine(*id) else { continue };
            let counters = engine.content_store_counters();
            let store = sample::store(counters.hits, counters.misses);
            memory_files::write(&folder.join(sample::store_file(&node.name)), store)?;
            memory_files::write(&folder.join(sample::faces_file(&node.name)), carried(engine).table())?;
        }
        for (node, text) in plan.nodes.iter().zip(&self.occupancy) {
            memory_files::write(&folder.join(sample::occupancy_file(&node.name)), text)?;
        }
        for ((node, log), traffic) in plan.nodes.iter().zip(&self.logs).zip(&self.traffic) {
            memory_files::write(&folder.join(format!("forwarder-{}.csv", node.name)), log)?;
            let mut traffic = traffic.clone();
            reach(&mut traffic, whole_seconds(built.network.now().as_nanos()));
            traffic.write(&folder.join(format!("traffic-{}.csv", node.name)))?;
        }
        Ok(())
    }
}

/// What the faces of a node have carried.
fn carried(engine: &Engine) -> Carried {
    let mut carried = Carried { nacks_sent: engine.counters().nacks_sent, ..Carried::default() };
    for (face, config) in engine.faces() {
        let Some(counted) = engine.face_counters(face) else { continue };
        match config.scope {
            FaceScope::Local => carried.application_data += counted.packets.out_data,
            FaceScope::NonLocal => {
                carried.link_packets += counted.packets.received();
                carried.link_data += counted.packets.in_data;
            }
        }
    }
    carried
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    const TEXT: &str = "title = 't'
duration = '10 s'
[node]
a = {}
b = {}
[link]
a-b = { kind = 'tcp' }
[content.c]
prefix = '/c'
at = 'b'
size = '1 kB'
";

    fn plan(text: &str) -> Plan {
        let experiment = Experiment::parse("t", "t.toml", text).unwrap_or_else(|wrong| panic!("{wrong}"));
        experiment.plans("sim").unwrap_or_default().pop().unwrap_or_else(|| panic!("one case"))
    }

    #[test]
    fn a_forwarder_is_busy_with_what_it_takes_for_itself_too() {
        let (cpu, busy) = used(0.0625, 0.45, 50.0);
        assert!((cpu - 3.35).abs() < 1e-9 && (busy - 53.6).abs() < 1e-9, "{cpu} {busy}");
        assert_eq!(used(0.0625, 0.45, 100.0), (6.25, 100.0));
        assert_eq!(used(0.25, 0.0, 30.0), (7.5, 30.0), "a node without a profile takes nothing for itself");
    }

    #[test]
    fn headers_are_counted_as_the_link_charges_them() {
        // An Ethernet header, that of IP, and 32, 8 or no bytes above it.
        for (kind, headers) in [("tcp", 66.0), ("udp", 42.0), ("ether", 14.0)] {
            let plan = plan(&TEXT.replace("'tcp'", &format!("'{kind}'")));
            assert_eq!(below(&plan, LinkIndex(0)), headers, "{kind}");
        }
    }
}
