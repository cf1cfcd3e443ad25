//! What a measure comes to in any run that counts, whatever a forwarder does: by the work that is ordered and
//! the gates, by what processors have, by what links carry, and by how long a way is.

use super::concerned::overlap;
use super::shortest_path;
use crate::experiment::measure::Measure;
use crate::experiment::plan::{
    Activity, Change, ConsumerKind, ContentPlan, LinkIndex, NodeIndex, Plan, Software, Workload,
};

/// Where a measure ends, and why.
#[derive(Debug, Clone)]
pub(super) struct Limit {
    /// Nothing is below it.
    pub(super) least: f64,
    /// Nothing is above it, but for what clocks and buckets add.
    pub(super) most: f64,
    /// As in "`it` …".
    pub(super) why: String,
    /// What would be a real bound.
    pub(super) instead: String,
}

/// The workloads that are measured by that name.
pub(super) fn measured<'a>(plan: &'a Plan, name: &'a str) -> impl Iterator<Item = &'a Workload> + Clone {
    plan.workloads.iter().filter(move |workload| workload.measured_as() == name)
}

/// Seconds from when a workload begins until the run ends.
pub(super) fn longest(plan: &Plan, workload: &Workload) -> f64 {
    plan.schedule.duration_ns.saturating_sub(workload.start_ns) as f64 / 1e9
}

/// How many transfers a workload is told to make, where that is a number.
fn ordered(plan: &Plan, workload: &Workload) -> Option<u64> {
    let is_stopped = workload.stop_ns < plan.schedule.duration_ns;
    match &workload.does {
        Activity::Download { count, arrivals: None, .. } => Some(u64::from(*count)),
        Activity::Download { count, arrivals: Some(arrivals), .. } if !is_stopped => arrivals.ordered(*count),
        Activity::Program(program) if !program.serves => Some(u64::from(program.count)),
        _ => None,
    }
}

/// Has a node a clock of its own, by which times are other than they are?
pub(super) fn has_clocks(plan: &Plan) -> bool {
    plan.nodes.iter().any(|node| node.clock.is_some())
}

/// Is all of the run measured?
pub(super) fn is_whole(plan: &Plan) -> bool {
    plan.evaluation.window.from_ns.is_none() && plan.evaluation.window.until_ns.is_none()
}

/// Of so many transfers that are measured by a name, how many may be left in a run that is valid.
fn may_be_left(plan: &Plan, name: &str) -> Option<(u64, u64)> {
    let own: u64 = measured(plan, name).map(|workload| ordered(plan, workload)).sum::<Option<u64>>()?;
    let allowed = plan.evaluation.gates.unfinished;
    if allowed <= 0.0 {
        return (own > 0).then_some((own, 0));
    }
    // The gate is one of all work together.
    let of_others = |workload: &Workload| match &workload.does {
        Activity::Consume(_) => None,
        Activity::Program(program) if program.serves => Some(0),
        Activity::Download { .. } | Activity::Program(_) => ordered(plan, workload),
        _ => Some(0),
    };
    let all: u64 = plan.workloads.iter().map(of_others).sum::<Option<u64>>()?;
    let left = (allowed * all as f64 + 1e-9).floor() as u64;
    (left < own).then_some((own, left))
}

/// Is all that is measured by a name finished in every run that is valid?
pub(super) fn is_all_finished(plan: &Plan, name: &str) -> bool {
    is_whole(plan) && matches!(may_be_left(plan, name), Some((_, 0)))
}

/// Transfers of which the gate lets some number be left, and no more.
pub(super) fn of_ordered_work(plan: &Plan, measure: &Measure) -> Option<Limit> {
    let (all, left) = may_be_left(plan, &measure.subject)?;
    let (own, open) = (all as f64, left as f64);
    // Of a part of the run that is measured, nothing is left but what is left of the whole.
    if !is_whole(plan) && (measure.quantity != "unfinished" && (measure.quantity != "loss" || left > 0)) {
        return None;
    }
    let has_bytes = |workload: &Workload| match workload.does {
        Activity::Download { content, .. } => plan
            .contents
            .get(content)
            .is_some_and(|content| content.size_bytes > 0 && content.sizes.is_none()),
        _ => false,
    };
    let (least, most) = match measure.quantity.as_str() {
        "started" | "finished" => (own - open, own),
        "unfinished" => (0.0, open),
        "loss" => (0.0, open / own * 100.0),
        "goodput" if measured(plan, &measure.subject).all(has_bytes) => (f64::MIN_POSITIVE, f64::INFINITY),
        _ => return None,
    };
    let allowed = plan.evaluation.gates.unfinished * 100.0;
    Some(Limit {
        least,
        most,
        why: format!(
            "is of {all} that are ordered, and a run in which more than {left} of them are left is not valid, for \
             `gates.unfinished` allows {allowed} %"
        ),
        instead: "state how fast it is, or let `gates.unfinished` allow as much as is to be told apart"
            .to_owned(),
    })
}

/// What takes longer than the run is not finished in it.
pub(super) fn of_time(plan: &Plan, measure: &Measure) -> Option<Limit> {
    if measure.quantity != "duration" {
        return None;
    }
    let most = measured(plan, &measure.subject).map(|workload| longest(plan, workload)).reduce(f64::max)?;
    Some(Limit {
        least: 0.0,
        most,
        why: format!("is of what was finished, and the run ends {most} s after the first of it begins"),
        instead: format!("write a bound below {most} s"),
    })
}

/// Cores that a forwarder may keep busy which is not bound to one, and the server beside it.
const MAX_CORES: f64 = 8.0;

pub(super) fn of_processor(plan: &Plan, measure: &Measure, is_virtual: bool) -> Option<Limit> {
    let index = plan.node(&measure.subject)?;
    let node = plan.nodes.get(index)?;
    // Who begins with a whole core has one until an event takes it away.
    let share = plan.shares(index).chain(node.cpu.is_none().then_some(1.0)).reduce(f64::max);
    let has_share = plan.shares(index).next().is_some();
    let has_one = is_virtual || plan.software == Software::Cairn && node.server.is_none();
    let cores = if has_one { 1.0 } else { MAX_CORES };
    let most = 100.0
        * match measure.quantity.as_str() {
            "cpu" if is_virtual => share.unwrap_or(cores).min(cores),
            "busy" if is_virtual && has_share => 1.0,
            // The kernel lets a share be exceeded, and takes it back later.
            "busy" if has_share => return None,
            // The kernel sums over threads, and what a share takes over processors.
            "waited" if !is_virtual => return None,
            "cpu" | "busy" | "waited" => cores,
            _ => return None,
        };
    Some(Limit {
        least: 0.0,
        most,
        why: format!("is a part of what its processor has, {most} %"),
        instead: format!("write a bound below {most} %"),
    })
}

/// The most that a link carries in a second, in bytes: nothing where it is as fast as it goes, or is shared.
fn carries(plan: &Plan, place: LinkIndex) -> Option<f64> {
    let link = plan.links.get(place).filter(|link| link.shared.is_none())?;
    let later = plan.events.iter().filter_map(|event| match event.change {
        Change::LinkChange { link, rate_bps, .. } if link == place => rate_bps,
        _ => None,
    });
    let rate = later.fold(link.rate_bps?, u64::max);
    Some(rate as f64 / 8.0)
}

/// What a link that was idle lets go at once, in seconds of its rate, and in bytes at least: two frames.
const AT_ONCE_S: f64 = 0.004;
const AT_ONCE_BYTES: f64 = 2.0 * 9000.0;

/// The bytes that links of this rate together let go at once, which are so many.
pub(super) fn at_once(rate: f64, links: usize) -> f64 {
    (rate * AT_ONCE_S).max(AT_ONCE_BYTES * links as f64)
}

/// Do links of a node let go something at once? Those of real forwarders do, and those that say so.
pub(super) fn has_buckets(plan: &Plan, at: NodeIndex, is_virtual: bool) -> bool {
    !is_virtual || plan.links_of(at).any(|(place, _)| has_bucket(plan, place))
}

fn has_bucket(plan: &Plan, place: LinkIndex) -> bool {
    plan.links.get(place).is_some_and(|link| link.simulated.token_bucket)
}

/// Bytes of packets that a mean over a window may count whole and the link has carried in part: those at the
/// ends of the window, and of the rows that these cut.
const MAX_CUT_BYTES: f64 = 4.0 * 9000.0;

/// Seconds of the window that the file sets, where every run lasts until its end. From the first to the last
/// activity it may be an instant, which one packet fills.
fn window_s(plan: &Plan) -> Option<f64> {
    let window = plan.evaluation.window;
    let (from_ns, until_ns) = (window.from_ns?, window.until_ns?);
    let is_there = !plan.schedule.until_done && until_ns <= plan.schedule.duration_ns;
    is_there.then(|| until_ns.saturating_sub(from_ns) as f64 / 1e9).filter(|seconds| *seconds > 0.0)
}

/// The mean of what a link carries in virtual time, but for a few packets. A row of a second may hold more,
/// and copies of a packet, and packets that overtake others, take no time of the link.
pub(super) fn of_watched_link(plan: &Plan, measure: &Measure, is_virtual: bool) -> Option<Limit> {
    let node = plan.node(&measure.subject).and_then(|node| plan.nodes.get(node))?;
    let watched = node.watch?;
    let is_rate = ["goodput", "goodput_interests", "throughput", "throughput_interests"]
        .contains(&measure.quantity.as_str());
    let link = plan.links.get(watched)?;
    let is_plain = !has_bucket(plan, watched) && !link.simulated.is_random();
    let is_mean = is_rate && measure.summary == "mean";
    let rate = carries(plan, watched).filter(|_| is_mean && is_virtual && is_plain)?;
    let most = rate + MAX_CUT_BYTES / window_s(plan)?;
    Some(Limit { most, ..carried(&format!("the link `{}`, but for a few packets", link.name), rate) })
}

fn carried(by: &str, rate: f64) -> Limit {
    let megabits = rate * 8.0 / 1e6;
    Limit {
        least: 0.0,
        most: rate,
        why: format!("is carried by {by}, and that is {megabits} Mbit/s, {rate} bytes a second"),
        instead: format!("write a bound below {megabits} Mbit/s"),
    }
}

/// The prefix below which a workload asks for names that others may ask for, too.
fn prefix<'a>(plan: &'a Plan, workload: &'a Workload) -> Option<&'a str> {
    match &workload.does {
        Activity::Download { content, .. } | Activity::Traffic { content, .. } => {
            plan.contents.get(*content).map(|content| content.prefix.as_str())
        }
        Activity::Program(program) => {
            let fetch = program.fetch.as_ref()?;
            plan.contents.get(fetch.content).map(|content| content.prefix.as_str())
        }
        Activity::Consume(consumer) => Some(&consumer.prefix),
        Activity::Ping { prefix, .. } | Activity::Flood { prefix, .. } => Some(prefix),
        Activity::Register(_) | Activity::Load { .. } => None,
    }
}

/// What the links of a client's node carry together in a second, where all that it asks for comes by them: it
/// asks for each file once, and nobody else does. What others fetch through its node, its content store has.
pub(super) fn by_links(plan: &Plan, workload: &Workload) -> Option<f64> {
    let content = each_once(plan, workload)?;
    let wanted = prefix(plan, workload)?;
    if content.at == workload.at || is_asked_for_by_several(plan, wanted) {
        return None;
    }
    let rates = plan.links_of(workload.at).map(|(link, _)| carries(plan, link));
    rates.sum::<Option<f64>>().filter(|rate| *rate > 0.0)
}

/// Those who ask for something below a prefix. What a program of one's own asks for nobody knows.
fn askers<'a>(plan: &'a Plan, wanted: &'a str) -> impl Iterator<Item = &'a Workload> {
    plan.workloads.iter().filter(move |workload| match prefix(plan, workload) {
        Some(prefix) => overlap(prefix, wanted),
        None => matches!(workload.does, Activity::Program(_)),
    })
}

fn is_asked_for_by_several(plan: &Plan, wanted: &str) -> bool {
    let places = askers(plan, wanted).map(|workload| match &workload.does {
        Activity::Consume(consumer) => consumer.nodes.len(),
        _ => 1,
    });
    places.sum::<usize>() > 1
}

/// The content of a download that asks for each of its files once.
pub(super) fn each_once<'a>(plan: &'a Plan, workload: &Workload) -> Option<&'a ContentPlan> {
    let Activity::Download { content, count, arrivals: None, .. } = workload.does else { return None };
    plan.contents.get(content).filter(|content| count <= content.count)
}

/// What comes to clients by the links of their nodes, where no store of theirs holds it already.
pub(super) fn of_links_of_clients(plan: &Plan, measure: &Measure, is_virtual: bool) -> Option<Limit> {
    let mut most = 0.0;
    measured(plan, &measure.subject).next()?;
    for workload in measured(plan, &measure.subject) {
        let (nodes, from): (Vec<NodeIndex>, Vec<NodeIndex>) =
            match (&workload.does, measure.quantity.as_str()) {
                (Activity::Download { .. }, "goodput") => {
                    (vec![workload.at], vec![each_once(plan, workload)?.at])
                }
                (Activity::Consume(consumer), "throughput") => {
                    let is_in_turn = matches!(
                        consumer.kind,
                        ConsumerKind::Rate(..)
                            | ConsumerKind::Window(_)
                            | ConsumerKind::Batches(_)
                            | ConsumerKind::Transfer(_)
                    );
                    let asked = plan.producers.iter().filter(|one| overlap(&one.prefix, &consumer.prefix));
                    let from = asked.flat_map(|producer| producer.nodes.clone()).collect();
                    (consumer.nodes.clone(), is_in_turn.then_some(from)?)
                }
                _ => return None,
            };
        let wanted = prefix(plan, workload)?;
        if is_asked_for_by_several(plan, wanted) {
            return None;
        }
        for node in nodes {
            if from.contains(&node) {
                return None;
            }
            let rates = plan.links_of(node).map(|(link, _)| carries(plan, link));
            let rate = rates.sum::<Option<f64>>()?;
            most += match has_buckets(plan, node, is_virtual) {
                false => rate,
                // So much of each file comes at once.
                true => rate * faster_by_buckets(plan, each_once(plan, workload)?, node, rate)?,
            };
        }
    }
    (most > 0.0).then(|| carried("the links of its node", most))
}

/// How much faster a file comes by links of this rate that let go a part of it at once; nothing where that
/// may be all of it.
pub(super) fn faster_by_buckets(plan: &Plan, content: &ContentPlan, at: NodeIndex, rate: f64) -> Option<f64> {
    let size = content.sizes.is_none().then_some(content.size_bytes as f64)?;
    let slow = size - at_once(rate, plan.links_of(at).count());
    (slow > 0.0).then(|| size / slow)
}

/// There and back over the shortest way, for whom no store on the way can answer.
pub(super) fn of_way(plan: &Plan, measure: &Measure) -> Option<Limit> {
    let in_unit = match measure.quantity.as_str() {
        "rtt" => 1e6,
        "duration" => 1e9,
        _ => return None,
    };
    let own = measured(plan, &measure.subject);
    let (count, is_greatest) = (own.clone().count(), measure.summary == "max");
    let mut least_ns = u64::MAX;
    let mut is_slow = true;
    for workload in own {
        let to = match &workload.does {
            Activity::Ping { to, .. } => *to,
            Activity::Download { content, .. } => {
                // The first of each file finds it in no store.
                let is_new = is_greatest || count == 1 && each_once(plan, workload).is_some();
                plan.contents.get(*content).filter(|_| is_new)?.at
            }
            _ => return None,
        };
        let wanted = prefix(plan, workload)?;
        let answers = |prefix: &str, at: NodeIndex| at != to && overlap(prefix, wanted);
        let is_answered = plan.contents.iter().any(|content| answers(&content.prefix, content.at))
            || plan.producers.iter().any(|one| one.nodes.iter().any(|node| answers(&one.prefix, *node)));
        if is_answered || !askers(plan, wanted).all(|other| other.measured_as() == measure.subject) {
            return None;
        }
        least_ns = least_ns.min(shortest_path::delay_ns(plan, workload.at, to)?.saturating_mul(2));
        is_slow &= workload.at != to && plan.links_of(workload.at).all(|(_, link)| link.rate_bps.is_some());
    }
    let least = match least_ns {
        u64::MAX => return None,
        0 if is_slow => f64::MIN_POSITIVE,
        0 => return None,
        ns => ns as f64 / in_unit,
    };
    let unit = if in_unit == 1e6 { "ms" } else { "s" };
    let shown = if least_ns == 0 { 0.0 } else { least };
    Some(Limit {
        least,
        most: f64::INFINITY,
        why: format!(
            "is never less than there and back over the shortest way takes, more than {shown} {unit}"
        ),
        instead: format!("write a bound above {shown} {unit}"),
    })
}
