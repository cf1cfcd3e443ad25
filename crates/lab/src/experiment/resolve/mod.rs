//! From what was written to what is carried out: defaults filled in, names looked up, nonsense refused.

mod arrivals;
pub(super) mod choice;
mod contents;
mod events;
mod link_keys;
mod links;
mod mobility;
mod named_workload;
mod ndnlp;
pub(super) mod network;
mod nodes;
mod paths;
mod prefixes;
pub(crate) mod registrations;
mod routes;
mod servers;
mod simulated;
mod software;
mod workloads;

use packet::Dialect;
use sim::paths::RouteSelection;

use self::nodes::Costs;
use self::paths::ProducersByPrefix;
use self::routes::routes;
use crate::experiment::model::File;
use crate::experiment::plan::{
    ContentPlan, EvaluationPlan, GatePlan, Hop, NodeIndex, Plan, ProbePlan, ProducerPlan, RecordingPlan,
    RoutingPlan, SchedulePlan, Software, WindowPlan,
};
use crate::experiment::profile;
use crate::experiment::read::findings::{Finding, Findings};
use crate::experiment::read::named_files::Files;

/// What everything else is resolved with.
struct Basis<'a> {
    /// The file.
    file: &'a File,
    /// The names of its nodes.
    names: &'a [&'a str],
    /// The files that it names.
    files: &'a Files,
    /// What is drawn is drawn with it.
    seed: u64,
}

/// How next hops are found beside static routes.
const SELECTIONS: [(&str, Option<RouteSelection>); 3] = [
    ("static", None),
    ("shortest", Some(RouteSelection::Shortest)),
    ("all", Some(RouteSelection::AllLoopFree)),
];

/// Makes the plan of a file, or says everything that is wrong with it. What is drawn is drawn with `seed`;
/// `files` are those that the experiment names.
///
/// # Errors
///
/// All mistakes that could be found.
pub(super) fn resolve(file: &File, case: &str, files: &Files, seed: u64) -> Result<Plan, Vec<Finding>> {
    let mut findings = Findings::default();
    let f = &mut findings;
    let shape = network::shape(file, files, seed, f);
    let names: Vec<&str> = shape.nodes.iter().map(String::as_str).collect();
    let (dialect, software) = (dialect(file, f), software(file, f));
    let links = links::links(file, &shape, dialect, f);
    let (routes, mut hops) = routes(file, &names, &links, shape.lacks_links, seed, f);
    let contents = contents::contents(file, &names, files, f);
    let producers = simulated::producers(file, &names, seed, f);
    if let Some(ways) = f.word("routes", file.routes.as_deref().unwrap_or("static"), &SELECTIONS).flatten() {
        let by_prefix = producers_by_prefix(file, &names, &contents, &producers);
        add_paths(&mut hops, paths::hops(names.len(), &links, &by_prefix, ways));
    }
    hops.extend(registrations::hops(file, &names, &links));
    let profile = profile::named(file, files, f);
    let content_bytes = contents.iter().map(|content| content.segment_bytes).max().unwrap_or(0);
    let costs = profile.as_ref().map(|profile| Costs { profile, content_bytes });
    let basis = Basis { file, names: &names, files, seed };
    let nodes = nodes::nodes(&basis, &links, &hops, costs, f);
    let mut events = events::events(file, &names, &links, f);
    let later = events.iter().filter_map(|event| event.change.route()).filter(|hop| !hops.contains(hop));
    let at_any_time: Vec<Hop> = hops.iter().chain(later).cloned().collect();
    let mut workloads = workloads::workloads(&basis, &links, &at_any_time, &contents, f);
    let consumers = simulated::consumers(file, &names, seed, profile.as_ref(), f);
    workloads.extend(consumers.into_iter().chain(registrations::workloads(file, &names, &links, f)));
    // Of a run that does not last it is one mistake that nothing begins in it.
    let duration_ns = if file.duration.0 == 0 { u64::MAX } else { file.duration.0 };
    workloads::told_apart(&workloads, &names, duration_ns, f);
    events.extend(mobility::events(file, &names, &links, files, f));
    let trace = simulated::trace(file, &links, f);
    let prefixes = prefixes::prefixes(file, &workloads, &contents, f);
    let sample_every_ns = file.sample_every.map_or(500_000_000, |span| span.0);
    let plan = Plan {
        title: file.title.clone(),
        case: case.to_owned(),
        control: None,
        scaling: None,
        schedule: schedule(file),
        software,
        dialect,
        nodes,
        links,
        routing: RoutingPlan { hops, routes },
        contents,
        producers,
        workloads,
        events,
        recording: RecordingPlan {
            sample_every_ns,
            is_sampling_stated: file.sample_every.is_some(),
            probe: probe(file),
            trace,
        },
        evaluation: EvaluationPlan {
            window: window(file),
            prefixes,
            gates: gates(file, sample_every_ns, f),
            expectations: file.expect.clone(),
            elsewhere: Vec::new(),
        },
    };
    whole(&plan, f);
    software::check(&plan, f);
    servers::whole(&plan, file, f);
    if findings.0.is_empty() { Ok(plan) } else { Err(findings.0) }
}

fn schedule(file: &File) -> SchedulePlan {
    SchedulePlan {
        duration_ns: file.duration.0,
        until_done: file.until_done.unwrap_or(false),
        keep_awake: file.keep_awake.unwrap_or(true),
        one_processor: file.one_processor.unwrap_or(false),
        repeats: file.repeats.unwrap_or(1),
        seed: file.seed.unwrap_or(1),
        drawn: simulated::is_drawn(file),
    }
}

/// Which part of a run is measured.
fn window(file: &File) -> WindowPlan {
    let window = file.measure.as_ref();
    WindowPlan {
        from_ns: window.and_then(|window| window.from).map(|span| span.0),
        until_ns: window.and_then(|window| window.until).map(|span| span.0),
    }
}

/// What a run must keep to count.
fn gates(file: &File, sample_every_ns: u64, f: &mut Findings) -> GatePlan {
    let gates = file.gates.as_ref();
    let mut share = |key: &str, value: Option<crate::experiment::units::Share>, default| {
        let share = value.map_or(default, |share| share.0);
        if !(0.0..=1.0).contains(&share) {
            f.add(format!("gates.{key}"), "a part of the whole is from 0 % to 100 %", None);
        }
        share
    };
    let standstill_ns = sample_every_ns.saturating_mul(3).max(1_500_000_000);
    GatePlan {
        capture_drops: share("capture_drops", gates.and_then(|gates| gates.capture_drops), 0.001),
        invalid_samples: share("invalid_samples", gates.and_then(|gates| gates.invalid_samples), 0.05),
        unfinished: share("unfinished", gates.and_then(|gates| gates.unfinished), 0.0),
        steal: share("steal", gates.and_then(|gates| gates.steal), 0.05),
        waited: share("waited", gates.and_then(|gates| gates.waited), 0.25),
        forwarder_standstill_ns: gates
            .and_then(|gates| gates.forwarder_standstill)
            .map_or(standstill_ns, |span| span.0),
        client_standstill_ns: gates
            .and_then(|gates| gates.client_standstill)
            .map_or(CLIENT_STANDSTILL_NS, |span| span.0),
        clock_error_ns: gates.and_then(|gates| gates.clock_error).map_or(1_000_000, |span| span.0),
        retries: gates.and_then(|gates| gates.retries).unwrap_or(0),
    }
}

/// A client that takes longer from one turn to the next does not do what its workload says.
const CLIENT_STANDSTILL_NS: u64 = 1_000_000_000;

/// What must hold for the plan as a whole.
fn whole(plan: &Plan, f: &mut Findings) {
    if plan.schedule.duration_ns == 0 {
        f.add(
            "duration",
            "an experiment must last",
            Some("write for example duration = \"20 s\"".to_owned()),
        );
    }
    let from_ns = plan.evaluation.window.from_ns.unwrap_or(0);
    if plan.evaluation.window.until_ns.unwrap_or(plan.schedule.duration_ns).min(plan.schedule.duration_ns)
        <= from_ns
        && from_ns > 0
    {
        f.add("measure.from", "what is measured ends before it begins", None);
    }
    if plan.schedule.repeats == 0 {
        f.add("repeats", "at least one repeat is needed", None);
    }
    if plan.recording.sample_every_ns < 10_000_000 {
        f.add(
            "sample_every",
            "sampling that often measures itself",
            Some("write at least \"10 ms\"".to_owned()),
        );
    }
}

fn software(file: &File, f: &mut Findings) -> Software {
    let given = file.software.as_deref().unwrap_or("cairn");
    let known = [
        ("cairn", Software::Cairn),
        ("ndnd", Software::Ndnd),
        ("nfd", Software::Nfd),
        ("none", Software::None),
    ];
    f.word("software", given, &known).unwrap_or(Software::Cairn)
}

fn dialect(file: &File, f: &mut Findings) -> Dialect {
    let given = file.dialect.as_deref().unwrap_or("ndn");
    let dialects = Dialect::ALL.map(|dialect| (dialect.as_str(), dialect));
    let dialect = f.word("dialect", given, &dialects).unwrap_or(Dialect::Ndn);
    if dialect == Dialect::Ccnx {
        let others = [("producer", file.producer.is_empty()), ("consumer", file.consumer.is_empty())];
        for (key, _) in others.iter().filter(|(_, is_empty)| !is_empty) {
            let hint = Some("use `content`, `download`, `ping`, `traffic` or `flood`".to_owned());
            f.add(*key, "these applications speak NDN alone", hint);
        }
    }
    dialect
}

fn probe(file: &File) -> ProbePlan {
    let probe = file.probe.as_ref();
    ProbePlan {
        capture: probe.and_then(|probe| probe.capture).unwrap_or(true),
        snap_bytes: probe
            .and_then(|probe| probe.snap)
            .map_or(500, |size| u32::try_from(size.0).unwrap_or(u32::MAX)),
        psml: probe.and_then(|probe| probe.psml).unwrap_or(false),
    }
}

/// Adds hops along computed paths to those that are written down. A node that has a route for a prefix over a
/// link keeps its cost.
fn add_paths(hops: &mut Vec<Hop>, computed: Vec<Hop>) {
    let is_said = |hop: &Hop| {
        hops.iter().any(|said| said.node == hop.node && said.link == hop.link && said.prefix == hop.prefix)
    };
    let mut all: Vec<Hop> = computed.into_iter().filter(|hop| !is_said(hop)).collect();
    all.append(hops);
    *hops = all;
}

/// Who answers for which prefix: contents, those who answer pings, producers, and programs that say so.
fn producers_by_prefix(
    file: &File,
    names: &[&str],
    contents: &[ContentPlan],
    producers: &[ProducerPlan],
) -> ProducersByPrefix {
    let place = |node: &str| names.iter().position(|name| *name == node).map(NodeIndex);
    let mut by_prefix = ProducersByPrefix::new();
    let mut add = |prefix: &str, node: NodeIndex| {
        let trimmed = prefix.trim_end_matches('/');
        let prefix = if trimmed.is_empty() { "/" } else { trimmed };
        let nodes: &mut Vec<NodeIndex> = by_prefix.entry(prefix.to_owned()).or_default();
        if !nodes.contains(&node) {
            nodes.push(node);
        }
    };
    contents.iter().for_each(|content| add(&content.prefix, content.at));
    for ping in file.ping.values() {
        if let Some(to) = place(&ping.to) {
            add(&ping.prefix, to);
        }
    }
    for program in file.program.values() {
        if let Some(at) = place(&program.at) {
            program.answers.iter().for_each(|prefix| add(prefix, at));
        }
    }
    for producer in producers {
        producer.nodes.iter().for_each(|node| add(&producer.prefix, *node));
    }
    by_prefix
}
