//! What must hold between measures, and of each, whatever a run brings: by arithmetic, and by what the file
//! asks for.

use super::limits::{has_clocks, is_all_finished, longest};
use super::measured::is_drawn_out;
use crate::experiment::measure::{Measure, NODE_SERIES};
use crate::experiment::plan::{Activity, Change, Plan, Workload};

/// How one measure stands to another in every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// They are one number.
    Same,
    /// The first is never above the second.
    NeverAbove,
    /// The first is never below the second.
    NeverBelow,
}

impl Relation {
    fn reversed(self) -> Self {
        match self {
            Relation::Same => Relation::Same,
            Relation::NeverAbove => Relation::NeverBelow,
            Relation::NeverBelow => Relation::NeverAbove,
        }
    }
}

/// What is a part of something else, moment by moment.
const PARTS: &[(&str, &str)] = &[
    ("finished", "started"),
    ("satisfied", "asked"),
    ("refused", "asked"),
    ("timed_out", "asked"),
    ("hits", "asked"),
    ("served_objects", "served"),
    ("request_hits", "requests"),
    ("request_misses", "requests"),
    ("cpu", "busy"),
    ("goodput", "throughput"),
    ("goodput_interests", "throughput_interests"),
];

/// Packets of a node that answer others of it: nobody sends Data, or a Nack, that nobody has asked for.
const ANSWERS: &[(&str, &str)] = &[
    ("in_data", "out_interests"),
    ("in_nacks", "out_interests"),
    ("out_data", "in_interests"),
    ("out_nacks", "in_interests"),
    ("in_data", "in_interests"),
];

/// Parts that are all of it only where there is nothing: frames have headers.
const LESS: &[&str] = &["goodput", "goodput_interests"];

/// Has the watched link of a node no headers in virtual time, by what the file says? Then all that it carries
/// is goodput.
fn has_no_headers(plan: &Plan, node: &str) -> bool {
    let node = plan.node(node).and_then(|node| plan.nodes.get(node));
    let link = node.and_then(|node| plan.links.get(node.watch?));
    link.is_some_and(|link| link.simulated.overhead_bytes == Some(0))
}

/// The quantity of a measure; where there are no headers, the one that is the same with them.
fn with_headers<'a>(plan: &Plan, measure: &'a Measure) -> &'a str {
    match measure.quantity.as_str() {
        "goodput" if has_no_headers(plan, &measure.subject) => "throughput",
        "goodput_interests" if has_no_headers(plan, &measure.subject) => "throughput_interests",
        other => other,
    }
}

/// Is a measure that is never above another less than that wherever there is anything?
pub(super) fn is_less(plan: &Plan, one: &Measure, two: &Measure) -> bool {
    one.quantity != two.quantity
        && !has_no_headers(plan, &one.subject)
        && [one, two].into_iter().any(|measure| LESS.contains(&measure.quantity.as_str()))
}

/// Are two measures that stand to each other in a relation never equal, but where nothing differs or happens?
/// A part may well be the whole, such as of transfers that are finished.
pub(super) fn is_strict(one: &Measure, two: &Measure) -> bool {
    one.quantity == two.quantity
        || [one, two].into_iter().any(|measure| LESS.contains(&measure.quantity.as_str()))
}

/// Summaries in the order in which they never are the other way round.
const ORDER: [&str; 6] = ["min", "p5", "median", "p95", "p99", "max"];

/// How two measures of one case stand to each other; nothing where either may be the greater one.
pub(super) fn relation(plan: &Plan, one: &Measure, two: &Measure) -> Option<Relation> {
    if one.subject != two.subject {
        return None;
    }
    let summaries = [one, two].map(|measure| summary(plan, measure));
    if with_headers(plan, one) == with_headers(plan, two) {
        return of_summaries(summaries, is_series(plan, one));
    }
    let is_part = |part: &Measure, whole: &Measure| {
        let both = (part.quantity.as_str(), whole.quantity.as_str());
        PARTS.contains(&both) || ANSWERS.contains(&both) && answers(plan, part, whole)
    };
    let is_done =
        [one, two].iter().all(|measure| matches!(measure.quantity.as_str(), "finished" | "started"));
    if is_done && summaries == ["mean"; 2] && is_all_finished(plan, &one.subject) {
        return Some(Relation::Same);
    }
    let as_parts = |summaries: [&str; 2]| {
        let relation = of_summaries(summaries, is_series(plan, one))?;
        let keeps_order = !summaries.iter().any(|word| ["deviation", "count"].contains(word));
        (keeps_order && relation != Relation::NeverBelow).then_some(Relation::NeverAbove)
    };
    if is_part(one, two) {
        as_parts(summaries)
    } else if is_part(two, one) {
        as_parts([summaries[1], summaries[0]]).map(Relation::reversed)
    } else {
        None
    }
}

/// Does each packet of the one kind answer one of the other, at most? So it is where no packet comes twice,
/// all of the run counts, and no forwarder sends on more Interests than it has received.
fn answers(plan: &Plan, part: &Measure, whole: &Measure) -> bool {
    let Some(node) = plan.node(&part.subject).and_then(|node| plan.nodes.get(node)) else { return false };
    let window = plan.evaluation.window;
    let is_whole = window.from_ns.is_none() && window.until_ns.is_none();
    let is_plain = plan.links.iter().all(|link| link.shared.is_none() && link.simulated.duplicate == 0.0);
    let is_kept = !plan.events.iter().any(|event| matches!(event.change, Change::Restart(_)));
    let forwarder = &node.forwarder;
    let sends_once = forwarder.strategy.as_ref().is_none_or(|strategy| strategy == "best-route");
    let is_sent_on = part.quantity == "in_data" && whole.quantity == "in_interests";
    is_whole && is_plain && is_kept && (!is_sent_on || sends_once && forwarder.settings.is_none())
}

/// How two summaries of the same numbers stand to each other. None of the numbers is below 0.
fn of_summaries([one, two]: [&str; 2], is_series: bool) -> Option<Relation> {
    let place = |word: &str| ORDER.iter().position(|other| *other == word);
    let is_below = |one: &str, two: &str| match (place(one), place(two)) {
        (Some(one), Some(two)) => one < two,
        (Some(0), None) => matches!(two, "mean" | "last" | "sum") && !(is_series && two == "sum"),
        // That of a series is an integral over time, which may be short.
        (_, None) => two == "sum" && one != "count" && !is_series,
        (None, Some(_)) => two == "max" && matches!(one, "mean" | "last" | "deviation"),
    };
    match one == two {
        true => Some(Relation::Same),
        false if is_below(one, two) => Some(Relation::NeverAbove),
        false if is_below(two, one) => Some(Relation::NeverBelow),
        false => None,
    }
}

/// Is it of a node from moment to moment?
fn is_series(plan: &Plan, measure: &Measure) -> bool {
    plan.node(&measure.subject).is_some() && NODE_SERIES.iter().any(|(word, _)| *word == measure.quantity)
}

/// The summary of a measure; the mean wherever it is the same, as of a single number.
fn summary<'a>(plan: &Plan, measure: &'a Measure) -> &'a str {
    let word = measure.summary.as_str();
    if is_number(plan, measure) && !["deviation", "count"].contains(&word) { "mean" } else { word }
}

/// The least and the most that a measure can be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub(super) least: f64,
    pub(super) most: f64,
    /// Is that so by what the file sets, and not by what is measured?
    pub(super) is_set: bool,
}

/// Does it come as one number a repeat?
fn is_number(plan: &Plan, measure: &Measure) -> bool {
    !is_series(plan, measure) && !is_drawn_out(plan, measure)
}

/// Is it one of the numbers that were measured, or between the least and the greatest of them?
pub(super) fn is_value(plan: &Plan, measure: &Measure) -> bool {
    match measure.summary.as_str() {
        "deviation" | "count" => false,
        "sum" => is_number(plan, measure),
        _ => true,
    }
}

/// The range of a measure: by what it is, and by what the file asks for.
pub(super) fn range(plan: &Plan, measure: &Measure) -> Range {
    let is_number = is_number(plan, measure);
    let only = |number| Range { least: number, most: number, is_set: false };
    let most = match measure.summary.as_str() {
        "count" if is_number => return only(1.0),
        "deviation" if is_number => return only(0.0),
        "count" => f64::INFINITY,
        "sum" | "deviation" if !is_number => f64::INFINITY,
        _ => measure.most().or_else(|| most(plan, measure)).unwrap_or(f64::INFINITY),
    };
    let is_index =
        measure.quantity == "fairness" && !["sum", "deviation"].contains(&measure.summary.as_str());
    let least = if is_index { least_index(plan, measure) } else { 0.0 };
    Range { least, most, is_set: measure.most().is_none() && most.is_finite() }
}

/// The least that Jain's index can be: that of one who has everything.
fn least_index(plan: &Plan, measure: &Measure) -> f64 {
    let of = plan.workloads.iter().filter(|workload| workload.measured_as() == measure.subject);
    let nodes = of.filter_map(|workload| match &workload.does {
        Activity::Consume(consumer) => Some(consumer.nodes.len()),
        _ => None,
    });
    nodes.max().map_or(0.0, |nodes| 1.0 / nodes.max(1) as f64)
}

/// The most of what the file asks for: of so many transfers no more are begun, and none takes longer than the
/// run. By a clock that is not the run's a transfer may take longer, and more pings may leave.
fn most(plan: &Plan, measure: &Measure) -> Option<f64> {
    let of = plan.workloads.iter().filter(|workload| workload.measured_as() == measure.subject);
    match measure.quantity.as_str() {
        "started" | "finished" | "unfinished" => {
            // Another one may leave at either end.
            let until_end = |workload| Some(pings(plan, workload).filter(|_| !has_clocks(plan))? + 1.0);
            of.map(|workload| asked(workload).or_else(|| until_end(workload))).sum()
        }
        "duration" if !has_clocks(plan) => {
            of.map(|workload| longest(plan, workload) + STOPPING_S).reduce(f64::max)
        }
        _ => None,
    }
}

/// How much a workload asks for, where that has an end.
fn asked(workload: &Workload) -> Option<f64> {
    match &workload.does {
        Activity::Download { count, arrivals: None, .. } => Some(f64::from(*count)),
        Activity::Program(program) => Some(f64::from(program.count)),
        Activity::Ping { count, .. } if *count < u64::MAX => Some(*count as f64),
        _ => None,
    }
}

/// How many pings leave until the run ends, one in each period, where nothing else ends them.
pub(super) fn pings(plan: &Plan, workload: &Workload) -> Option<f64> {
    let Activity::Ping { every_ns, count: u64::MAX, .. } = &workload.does else { return None };
    let end_ns = workload.stop_ns.min(plan.schedule.duration_ns);
    Some((end_ns.saturating_sub(workload.start_ns) / (*every_ns).max(1)) as f64)
}

/// How many a workload has begun in every run that is valid; nothing where it may be fewer. Of those
/// that were not begun the gates take notice.
pub(super) fn least_begun(plan: &Plan, measure: &Measure) -> Option<f64> {
    let window = plan.evaluation.window;
    let is_whole = window.from_ns.is_none() && window.until_ns.is_none();
    let mut of =
        plan.workloads.iter().filter(|workload| workload.measured_as() == measure.subject).peekable();
    of.peek()?;
    let least = |workload: &Workload| match &workload.does {
        // By a clock that is too slow the last may leave behind the end.
        Activity::Ping { .. } if !has_clocks(plan) => asked(workload),
        Activity::Download { .. } | Activity::Program(_) => asked(workload),
        _ => None,
    };
    let is_number = !["deviation", "count"].contains(&measure.summary.as_str());
    let is_all_done = is_whole && plan.evaluation.gates.unfinished == 0.0;
    (is_all_done && is_number && measure.quantity == "started").then(|| of.map(least).sum())?
}

/// What real workloads take to be stopped.
const STOPPING_S: f64 = 5.0;
