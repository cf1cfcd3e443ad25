//! What has to come past a node, or over any link, in every run that counts: the packets of files that are
//! all fetched from elsewhere.

use super::certain::files;
use super::concerned::overlap;
use super::limits::{Limit, is_all_finished, is_whole};
use crate::experiment::measure::{Measure, NETWORK};
use crate::experiment::plan::{Activity, Change, ContentPlan, NodeIndex, Plan, Software, Workload};

/// Real forwarders are asked so often at least that some answer is there before anything begins.
const MAX_PERIOD_NS: u64 = 500_000_000;
/// And so few answers are missing.
const MAX_INVALID: f64 = 0.05;

/// Where a node stands on the only way of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathPosition {
    Client,
    Between,
    Producer,
}

impl PathPosition {
    /// Where it is, if all files of a download come past it.
    fn of(plan: &Plan, workload: &Workload, node: NodeIndex) -> Option<Self> {
        let content = fetched(plan, workload)?;
        if node == workload.at {
            Some(PathPosition::Client)
        } else if node == content.at {
            Some(PathPosition::Producer)
        } else {
            (!is_around(plan, workload.at, content.at, node)).then_some(PathPosition::Between)
        }
    }

    /// Does a quantity count what comes past it there? At its ends what comes from the application and goes
    /// to it may be over before the forwarder is asked.
    fn counts(self, quantity: &str) -> bool {
        match quantity {
            "out_interests" | "in_data" => self != PathPosition::Producer,
            "in_interests" | "out_data" => self != PathPosition::Client,
            "satisfied" => true,
            _ => false,
        }
    }
}

/// The content of files that come to a client from elsewhere and from one place alone, all of them in a run
/// that counts.
fn fetched<'a>(plan: &'a Plan, workload: &Workload) -> Option<&'a ContentPlan> {
    let content = files(plan, workload)?;
    // Another server may be nearer.
    let others = plan.contents.iter().filter(|other| overlap(&other.prefix, &content.prefix));
    let is_alone = others.count() == 1 && plan.producers.is_empty();
    // What takes no time at all is over before anything can be counted.
    let takes_time = plan.links.iter().all(|link| link.delay_ns > 0 || link.rate_bps.is_some());
    let is_far = workload.at != content.at && takes_time;
    (is_far && is_alone && is_all_finished(plan, workload.measured_as())).then_some(content)
}

/// How many segments they are.
fn segments(workload: &Workload, content: &ContentPlan) -> f64 {
    let Activity::Download { count, .. } = workload.does else { return 0.0 };
    let of_each = content.size_bytes.div_ceil(u64::from(content.segment_bytes.max(1)));
    of_each as f64 * f64::from(count)
}

/// Is all that is counted there when the numbers are made, and are all repeats of this one plan?
fn is_kept(plan: &Plan, is_virtual: bool) -> bool {
    let is_restarted = plan.events.iter().any(|event| matches!(event.change, Change::Restart(_)));
    let has_others = plan.nodes.iter().any(|node| node.server.is_some() || node.switch);
    // Whoever overhears others has asked nobody.
    let is_shared = plan.links.iter().any(|link| link.shared.is_some());
    let is_asked = plan.recording.sample_every_ns <= MAX_PERIOD_NS
        && plan.evaluation.gates.invalid_samples <= MAX_INVALID
        && plan.software == Software::Cairn;
    let is_plain = !is_restarted && !has_others && !is_shared && !plan.schedule.drawn;
    is_whole(plan) && is_plain && (is_virtual || is_asked)
}

/// What a node counts of files that come past it, in each run that counts. Stores begin with nothing, so that
/// each segment comes past at least once, whatever is lost, cached or fetched by others. On real forwarders
/// that some do is certain, and no number: what is missing of the first answers nobody knows.
pub(super) fn of_passing(plan: &Plan, measure: &Measure, is_virtual: bool) -> Option<Limit> {
    let node = plan.node(&measure.subject)?;
    let is_total = measure.summary == "sum";
    let quantity = match measure.quantity.as_str() {
        // In a second, of which the mean and the sum are exact.
        "answered" if is_total || measure.summary == "mean" => "satisfied",
        "answered" => return None,
        other => other,
    };
    let is_most = quantity == "pending" && measure.summary == "max";
    if measure.summary == "min" || !is_kept(plan, is_virtual) {
        return None;
    }
    let passes = |workload: &Workload| -> Option<(f64, String)> {
        let place = PathPosition::of(plan, workload, node)?;
        // Samples of real forwarders may miss what is pending.
        let is_certain = place.counts(quantity) || is_most && is_virtual && place == PathPosition::Between;
        let count = segments(workload, fetched(plan, workload)?);
        let is_number = is_virtual && quantity != "satisfied" && quantity != "pending";
        is_certain.then(|| (if is_number { count } else { 0.0 }, workload.measured_as().to_owned()))
    };
    let all = plan.workloads.iter().filter_map(passes);
    let (least, of) = all.max_by(|one, other| one.0.total_cmp(&other.0))?;
    let what = match least > 0.0 {
        true => {
            format!("is at least {least}, for so many segments that `{of}` fetches have no way around it")
        }
        false => format!("is more than 0, for what `{of}` fetches has no way around it"),
    };
    Some(limit(least, what))
}

/// How many packets cross a link at least: an Interest and its Data of each segment.
pub(super) fn of_hops(plan: &Plan, measure: &Measure, is_virtual: bool) -> Option<Limit> {
    let is_of_network = measure.subject == NETWORK && plan.node(NETWORK).is_none();
    let is_counted = is_virtual || plan.events.is_empty();
    if !is_of_network || measure.quantity != "hops" || !is_counted || !is_kept(plan, is_virtual) {
        return None;
    }
    let far = plan.workloads.iter().filter_map(|workload| {
        Some((2.0 * segments(workload, fetched(plan, workload)?), workload.measured_as()))
    });
    let (count, of) = far.max_by(|one, other| one.0.total_cmp(&other.0))?;
    let least = if is_virtual { count } else { 1.0 };
    Some(limit(least, format!("is at least {least}, for `{of}` fetches what is at another node")))
}

fn limit(least: f64, why: String) -> Limit {
    Limit {
        least: least.max(f64::MIN_POSITIVE),
        most: f64::INFINITY,
        why,
        instead: "state how much more it is".to_owned(),
    }
}

/// Is there a way between two nodes that leaves out a third?
fn is_around(plan: &Plan, from: NodeIndex, to: NodeIndex, without: NodeIndex) -> bool {
    let mut known = vec![from];
    let mut next = 0;
    while let Some(node) = known.get(next).copied() {
        next += 1;
        if node == to {
            return true;
        }
        for [a, b] in plan.links.iter().flat_map(|link| link.pairs()) {
            for (one, other) in [(a, b), (b, a)] {
                if one == node && other != without && !known.contains(&other) {
                    known.push(other);
                }
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    /// Two files of 100 kB, which are 25 segments each, from `c` past `b` to `a`.
    const ROW: &str = "title = 't'\nduration = '20 s'\n[defaults.link]\nrate = '50 Mbit/s'\ndelay = '2 ms'\n[node]\n\
        a = {}\nb = {}\nc = {}\n[link]\na-b = {}\nb-c = {}\n[[route]]\nprefix = '/f'\npath = ['a', 'b', 'c']\n\
        [content.files]\nprefix = '/f'\nat = 'c'\ncount = 2\nsize = '100 kB'\n[download.files]\nat = 'a'\n\
        content = 'files'\n";

    fn said(text: &str, value: &str, bound: &str) -> String {
        let text = format!("{text}[[expect]]\nsay = 'So'\nvalue = '{value}'\n{bound}\n");
        Experiment::parse("x", "x.toml", &text).map_or_else(|wrong| wrong.to_string(), |_| String::new())
    }

    const IN_VIRTUAL_TIME: &str = "on = ['sim']";

    #[test]
    fn that_something_comes_to_its_client_from_its_producer_and_over_a_link_is_no_finding() {
        for (value, bound) in [
            ("a.in_data", "more_than = 0"),
            ("a.out_interests.sum", "more_than = 0"),
            ("c.in_interests", "more_than = 0"),
            ("c.out_data", "more_than = 0"),
            ("c.answered.sum", "more_than = 0"),
            ("b.answered", "more_than = 0"),
            ("a.satisfied", "more_than = 0"),
            ("network.hops", "at_least = 1"),
        ] {
            let shown = said(ROW, value, bound);
            assert!(shown.contains("no result contradicts this"), "{value} {bound}: {shown}");
        }
        for (value, least) in
            [("a.out_interests", 50), ("a.in_data", 50), ("b.out_data", 50), ("network.hops", 100)]
        {
            let bound = |least: u32| format!("at_least = {least}\n{IN_VIRTUAL_TIME}");
            let shown = said(ROW, value, &bound(least));
            assert!(shown.contains(&format!("is at least {least}, for")), "{value}: {shown}");
            assert_eq!(said(ROW, value, &bound(least + 1)), "", "{value}");
        }
    }

    #[test]
    fn what_a_run_may_miss_is_left_alone() {
        let more = "more_than = 0";
        // What comes from applications may be over before it is seen, and stores may keep nothing.
        for value in ["a.in_interests", "c.out_interests", "c.pending.max", "b.cached.max", "b.hits"] {
            assert_eq!(said(ROW, value, more), "", "{value}");
        }
        // On real forwarders that some come is certain, and not how many are seen to.
        assert_eq!(said(ROW, "a.out_interests", "at_least = 50"), "");
        for (key, value) in [
            ("title = 't'", "title = 't'\nsample_every = '5 s'"),
            ("[node]", "[gates]\ninvalid_samples = '50 %'\n[node]"),
        ] {
            let text = ROW.replacen(key, value, 1);
            assert_eq!(said(&text, "a.in_data", more), "", "{value}");
            let shown = said(&text, "a.in_data", &format!("{more}\n{IN_VIRTUAL_TIME}"));
            assert!(shown.contains("no result contradicts this"), "{value}: {shown}");
        }
        let ndnd = ROW.replacen("title = 't'", "title = 't'\nsoftware = 'ndnd'", 1);
        assert_eq!(said(&ndnd, "a.in_data", more), "", "other software counts in its own way");
        // A part of the run, another server, work that may be left, a node beside the way, places by chance.
        let diamond = "[node.d]\n[link.a-d]\n[link.d-c]\n";
        for (text, value) in [
            (format!("{ROW}[measure]\nfrom = '3 s'\n"), "a.in_data"),
            (format!("{ROW}[content.more]\nprefix = '/f/g'\nat = 'b'\nsize = '1 kB'\n"), "c.out_data"),
            (format!("{ROW}[gates]\nunfinished = '100 %'\n"), "network.hops"),
            (format!("{ROW}{diamond}"), "b.answered"),
            (ROW.replace("at = 'a'", "at = { random = 1 }"), "network.hops"),
        ] {
            assert_eq!(said(&text, value, more), "", "{value} in {text}");
        }
    }
}
