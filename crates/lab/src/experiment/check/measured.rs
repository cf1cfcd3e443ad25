//! What is measured where. Every backend and every workload has measures that others lack, and a statement of
//! what nobody measures is never judged.

use crate::experiment::backends::{NETNS, VIRTUAL_TIME};
use crate::experiment::measure::{
    CONTENT_VALUES, Measure, NETWORK, NETWORK_VALUES, NODE_SERIES, NODE_TOTALS, WORKLOAD_VALUES,
};
use crate::experiment::plan::{Activity, NodePlan, Plan, Workload};

/// Quantities of a link that a node watches.
const OF_LINKS: &[&str] = &[
    "goodput",
    "goodput_interests",
    "throughput",
    "throughput_interests",
    "retransmissions",
    "repeated_names",
    "load",
];

/// What is measured of a measure's subject on a backend, where the measure is not; nothing where it is.
pub(super) fn in_place_of(plan: &Plan, backend: &str, measure: &Measure) -> Option<Vec<&'static str>> {
    let subject = measure.subject.as_str();
    let mut there: Vec<&'static str> = Vec::new();
    let words = |list: &'static [(&'static str, &'static str)]| list.iter().map(|(word, _)| *word);
    if let Some(node) = plan.node(subject).and_then(|node| plan.nodes.get(node)) {
        there.extend(
            words(NODE_SERIES).chain(words(NODE_TOTALS)).filter(|word| of_node(plan, backend, node, word)),
        );
    } else if subject == NETWORK {
        let dropped = |word: &str| matches!(word, "link_drops" | "engine_drops");
        there.extend(words(NETWORK_VALUES).filter(|word| backend == VIRTUAL_TIME || !dropped(word)));
    } else {
        for workload in plan.workloads.iter().filter(|workload| workload.measured_as() == subject) {
            there.extend(words(WORKLOAD_VALUES).filter(|word| of_workload(&workload.does, word)));
        }
        if let Some(content) = plan.contents.iter().position(|content| content.name == subject) {
            there.extend(words(CONTENT_VALUES).filter(|word| of_content(plan, content, word)));
        }
        // Prefixes, and what has no such name: that is told elsewhere.
        if there.is_empty() && !plan.workloads.iter().any(|workload| workload.measured_as() == subject) {
            return None;
        }
    }
    // Of several workloads that are measured together each has them.
    let mut once = std::collections::BTreeSet::new();
    there.retain(|word| once.insert(*word));
    (!there.contains(&measure.quantity.as_str())).then_some(there)
}

fn of_node(plan: &Plan, backend: &str, node: &NodePlan, quantity: &str) -> bool {
    let is_virtual = backend == VIRTUAL_TIME;
    match quantity {
        "memory" | "throttled" => !is_virtual,
        "table_bytes" => is_virtual,
        "processor" | "sent" | "received" => backend == NETNS,
        "requests" | "request_hits" | "request_misses" => backend == NETNS && node.server.is_some(),
        link if OF_LINKS.contains(&link) => {
            let watched = node.watch.and_then(|link| plan.links.get(link));
            let is_seen = watched.is_some() && (is_virtual || plan.recording.probe.capture);
            is_seen && (link != "load" || watched.is_some_and(|watched| watched.rate_bps.is_some()))
        }
        _ => true,
    }
}

fn of_workload(does: &Activity, quantity: &str) -> bool {
    let counted = ["started", "finished", "unfinished", "loss", "nacks"].contains(&quantity);
    match does {
        Activity::Download { .. } => {
            counted || ["goodput", "duration", "retransmissions"].contains(&quantity)
        }
        Activity::Program(program) => {
            !program.serves && (counted || ["goodput", "duration", "retransmissions"].contains(&quantity))
        }
        Activity::Ping { .. } | Activity::Traffic { .. } => counted || quantity == "rtt",
        Activity::Flood { .. } => ["started", "finished", "nacks", "retransmissions"].contains(&quantity),
        Activity::Consume(_) => !["goodput", "duration"].contains(&quantity),
        Activity::Register(_) | Activity::Load { .. } => false,
    }
}

/// Does a measure of a client or of the network come as several numbers a repeat, such as a time for each
/// transfer?
pub(super) fn is_drawn_out(plan: &Plan, measure: &Measure) -> bool {
    let of = |workload: &&Workload| workload.measured_as() == measure.subject;
    plan.workloads.iter().any(|workload| of(&workload))
        && matches!(measure.quantity.as_str(), "duration" | "rtt")
}

fn of_content(plan: &Plan, content: usize, quantity: &str) -> bool {
    if !matches!(quantity, "object_hits" | "byte_hits") {
        return true;
    }
    // What came of it is known of downloads alone.
    let is_download =
        |does: &Activity| matches!(does, Activity::Download { content: of, .. } if *of == content);
    let is_other = |does: &Activity| match does {
        Activity::Traffic { content: of, .. } => *of == content,
        Activity::Program(_) | Activity::Consume(_) => true,
        _ => false,
    };
    let mut all = plan.workloads.iter().map(|workload| &workload.does);
    all.clone().any(is_download) && !all.any(is_other)
}

#[cfg(test)]
mod tests {
    use testkit::experiment::ROW;

    use crate::experiment::Experiment;

    #[test]
    fn of_workloads_that_are_measured_together_each_measure_is_named_once() {
        let row = ROW.replace("at = \"a\"", "at = [\"a\", \"b\"]");
        assert_ne!(row, ROW);
        let text = format!(
            "title = 't'\nduration = '9 s'\n{row}[[expect]]\nsay = 'S'\nvalue = 'files.rtt'\nat_most = 4\n"
        );
        let told = Experiment::parse("t", "t.toml", &text).unwrap_err().to_string();
        assert!(told.contains("`rtt` is not measured of `files`"), "{told}");
        for word in ["started", "finished", "goodput", "duration"] {
            assert_eq!(told.split([' ', ',']).filter(|other| *other == word).count(), 1, "{word}: {told}");
        }
    }
}
