//! Controls that change the question instead of the cause: of what a statement measures they let less be
//! asked for, or more.

use std::collections::BTreeSet;

use super::amounts::{Amounts, content, producers};
use super::concerned::Concerned;
use super::without_effect::asks;
use crate::experiment::measure::Measure;
use crate::experiment::model::{Control, Expect};
use crate::experiment::plan::{Plan, Workload};
use crate::experiment::read::findings::Finding;

/// The controls of a file that ask for less, or for more, of what they are to fail.
pub(super) fn controls(controls: &[Control], plans: &[Plan]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (place, control) in controls.iter().enumerate() {
        let mut keys = BTreeSet::new();
        for plan in plans {
            let Some(of) = plan.control.as_ref().filter(|of| of.name == control.name) else { continue };
            let case = plans.iter().find(|other| other.control.is_none() && other.case == of.case);
            keys.extend(case.into_iter().flat_map(|case| otherwise(case, plan, control)));
        }
        findings.extend(keys.into_iter().filter(|(key, _)| !is_named(control, key)).map(|(key, word)| Finding {
            key: format!("control.{place}.set"),
            message: format!(
                "the control lets {word} be asked for by `{key}`, which is what the statement measures: that is \
                 another question, and no cause that is removed"
            ),
            suggestion: Some(format!(
                "remove the cause; if that is the cause, name it in `removes` or `parts` as `{key}`"
            )),
            ..Finding::default()
        }));
    }
    findings
}

/// Does the control say that this very key is the cause?
fn is_named(control: &Control, key: &str) -> bool {
    let parts: Vec<&str> = key.split('.').collect();
    let is_it = |word: &str| {
        let word: Vec<&str> = word.split('.').collect();
        word.len() == parts.len() && word.iter().zip(&parts).all(|(one, part)| *one == "*" || one == part)
    };
    let texts = control.parts.values().chain([&control.removes]);
    let mut words = texts.flat_map(|text| text.split('`').skip(1).step_by(2));
    words.any(is_it) || control.parts.keys().any(|part| is_it(part))
}

/// The keys by which a control asks for less or for more than its case, of the workloads that its statements
/// measure.
fn otherwise(case: &Plan, control_plan: &Plan, control: &Control) -> Vec<(String, &'static str)> {
    let is_meant = |expect: &&Expect| expect.name.as_ref().is_some_and(|name| control.fails.contains(name));
    let mut keys = Vec::new();
    for expect in case.evaluation.expectations.iter().filter(is_meant) {
        let measures = expect.measures();
        for workload in case.workloads.iter().filter(|workload| is_measured(case, workload, &measures)) {
            // Who is taken away as a whole is looked after elsewhere.
            let Some(other) = control_plan.workloads.iter().find(|other| other.name == workload.name) else {
                keys.extend(at_fewer_nodes(control_plan, workload));
                continue;
            };
            let before = Amounts::of(case, workload);
            keys.extend(before.changed(&Amounts::of(control_plan, other), &control.set));
        }
        // Who asks beside them under the same name.
        let is_more = |other: &&Workload| case.workloads.iter().all(|workload| workload.name != other.name);
        for other in control_plan.workloads.iter().filter(is_more) {
            let mut named =
                case.workloads.iter().filter(|workload| workload.measured_as() == other.measured_as());
            if named.any(|workload| is_measured(case, workload, &measures)) {
                keys.push((at(other), "more"));
            }
        }
    }
    keys
}

fn at(workload: &Workload) -> String {
    format!("{}.{}.at", workload.does.table(), workload.measured_as())
}

/// The key by which one that is measured with others is left out, where the others stay.
fn at_fewer_nodes(control_plan: &Plan, workload: &Workload) -> Option<(String, &'static str)> {
    let mut others = control_plan.workloads.iter();
    others.any(|other| other.measured_as() == workload.measured_as()).then(|| (at(workload), "less"))
}

/// Is it what these measures are of, or does it come where they are measured? Of what comes together at a
/// node each is a part of what is measured there.
fn is_measured(plan: &Plan, workload: &Workload, measures: &[Measure]) -> bool {
    let is_own = |measure: &Measure| {
        measure.subject == workload.measured_as()
            || content(plan, workload).is_some_and(|content| content.name == measure.subject)
            || producers(plan, workload).any(|producer| producer.name == measure.subject)
    };
    let is_of_one = |measure: &&Measure| {
        plan.workloads.iter().any(|other| measure.subject == other.measured_as())
            || plan.contents.iter().any(|content| content.name == measure.subject)
            || plan.producers.iter().any(|producer| producer.name == measure.subject)
    };
    let of_places: Vec<Measure> = measures.iter().filter(|measure| !is_of_one(measure)).cloned().collect();
    let comes_there = || Concerned::by(plan, &of_places).holds(workload.does.table(), workload.measured_as());
    measures.iter().any(is_own) || (!of_places.is_empty() && asks(&workload.does) && comes_there())
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    fn told(value: &str, set: &str, removes: &str) -> String {
        let text = format!(
            "title = 't'\nduration = '60 s'\n[node]\na = {{}}\nb = {{}}\nc = {{}}\nx = {{}}\n[link]\na-b = {{}}\nb-c = {{}}\nx-b = {{}}\n\
             [content.c1]\nprefix = '/c'\nat = 'c'\nsize = '100 kB'\ncount = 5\n[download.d]\nat = 'a'\ncontent = 'c1'\n\
             rate = '5/s'\ncount = 20\n[ping.p]\nat = 'b'\nto = 'c'\nprefix = '/c/p'\ncount = 4\n\
             [content.c2]\nprefix = '/c/2'\nat = 'c'\nsize = '9 kB'\ncount = 5\n[traffic.t]\nat = 'b'\n\
             content = 'c2'\nrate = '4/s'\n[traffic.w]\nat = 'b'\ncontent = 'c2'\n\
             workload = 'sequential/rate~9/limit~9'\n[download.m]\nat = ['a', 'b']\ncontent = 'c2'\n[[route]]\n\
             prefix = '/c'\npath = ['a', 'b', 'c']\n[[route]]\nprefix = '/c'\npath = ['x', 'b', 'c']\n\
             [measure]\nprefixes = ['/c']\n[[expect]]\nname = 'e'\nsay = 'S'\nvalue = '{value}'\nmore_than = 3\n\
             [[control]]\nname = 'x'\nremoves = '{removes}'\nset = {{ {set} }}\nfails = ['e']\n"
        );
        Experiment::parse("t", "t.toml", &text).map_or_else(|wrong| wrong.to_string(), |_| String::new())
    }

    /// Each of these is told, unless the control names the key as the cause.
    fn are_told(word: &str, cases: &[(&str, &str, &str)]) {
        for (value, set, key) in cases {
            let found = told(value, set, "the cause");
            assert!(found.contains(&format!("{word} be asked for by `{key}`")), "{value}, {set}: {found}");
            assert_eq!(told(value, set, &format!("what is asked for: `{key}`")), "", "{value}, {set}");
        }
    }

    #[test]
    fn a_control_that_only_asks_for_less_removes_no_cause() {
        are_told(
            "less",
            &[
                ("d.duration", "'content.c1.segment' = '8000 B'", "content.c1.segment"),
                ("d.goodput", "'download.d.count' = 2", "download.d.count"),
                ("d.goodput", "'download.d.rate' = '1/s'", "download.d.rate"),
                ("d.duration", "'content.c1.size' = '1 kB'", "content.c1.size"),
                ("c1.served", "'content.c1.size' = '1 kB'", "content.c1.size"),
                ("d.goodput", "'download.d.start' = '3 s'", "download.d.start"),
                ("p.rtt", "'ping.p.count' = 2", "ping.p.count"),
                ("t.loss", "'traffic.t.rate' = '1/s'", "traffic.t.rate"),
                ("w.loss", "'traffic.w.workload' = 'sequential/rate~1/limit~9'", "traffic.w.workload"),
                ("w.loss", "'traffic.w.workload' = 'sequential/rate~9/limit~2'", "traffic.w.workload"),
                ("d.duration", "'download.d.content' = 'c2'", "download.d.content"),
                ("m.duration", "'download.m.at' = 'a'", "download.m.at"),
            ],
        );
    }

    #[test]
    fn a_control_that_only_asks_for_more_removes_no_cause() {
        are_told(
            "more",
            &[
                ("d.goodput", "'download.d.count' = 30", "download.d.count"),
                ("d.goodput", "'download.d.rate' = '9/s'", "download.d.rate"),
                ("d.goodput", "'download.d.rate' = ''", "download.d.rate"),
                ("d.duration", "'content.c1.size' = '5 MB'", "content.c1.size"),
                ("d.duration", "'content.c1.segment' = '100 B'", "content.c1.segment"),
                ("p.rtt", "'ping.p.count' = 20", "ping.p.count"),
                ("p.rtt", "'ping.p.every' = '1 ms'", "ping.p.every"),
                ("t.loss", "'traffic.t.rate' = '8/s'", "traffic.t.rate"),
                ("m.duration", "'download.m.at' = ['a', 'b', 'x']", "download.m.at"),
            ],
        );
    }

    #[test]
    fn a_second_workload_beside_it_hides_no_change_of_what_is_asked_for() {
        are_told(
            "less",
            &[
                ("a.goodput.sum", "'download.d.count' = 2", "download.d.count"),
                ("b.goodput.sum", "'ping.p.count' = 2", "ping.p.count"),
                ("b.goodput.sum", "'content.c1.size' = '1 kB'", "content.c1.size"),
                ("b.goodput.sum", "'traffic.t.rate' = '1/s'", "traffic.t.rate"),
                ("/c.asked", "'download.d.count' = 2", "download.d.count"),
                ("network.hops", "'download.d.count' = 2", "download.d.count"),
            ],
        );
    }

    /// Two consumers of one producer, and the same.
    fn told_of_consumers(value: &str, set: &str, removes: &str) -> String {
        let text = format!(
            "title = 't'\nduration = '60 s'\n[node]\na = {{}}\nb = {{}}\nc = {{}}\n[link]\na-b = {{}}\nb-c = {{}}\n\
             [producer.s]\nat = 'c'\nprefix = '/c'\ncontent = '500 B'\n[consumer.d]\nkind = 'rate'\nat = 'a'\n\
             prefix = '/c'\nrate = '5/s'\n[consumer.e]\nkind = 'window'\nat = 'b'\nprefix = '/c'\nwindow = 2\n\
             items = 50\n[[route]]\nprefix = '/c'\npath = ['a', 'b', 'c']\n[[expect]]\nname = 'e'\nsay = 'S'\n\
             value = '{value}'\nmore_than = 3\n[[control]]\nname = 'x'\nremoves = '{removes}'\n\
             set = {{ {set} }}\nfails = ['e']\n"
        );
        Experiment::parse("t", "t.toml", &text).map_or_else(|wrong| wrong.to_string(), |_| String::new())
    }

    #[test]
    fn what_a_producer_answers_with_is_a_part_of_what_is_asked_for() {
        for (value, set, word, key) in [
            ("d.throughput", "'producer.s.content' = '50 B'", "less", "producer.s.content"),
            ("a.goodput.sum", "'producer.s.content' = '50 B'", "less", "producer.s.content"),
            ("b.goodput.sum", "'producer.s.content' = '5000 B'", "more", "producer.s.content"),
            ("b.goodput.sum", "'consumer.e.items' = 5", "less", "consumer.e.items"),
            ("b.goodput.sum", "'consumer.e.items' = ''", "more", "consumer.e.items"),
            ("b.goodput.sum", "'consumer.d.rate' = '9/s'", "more", "consumer.d.rate"),
        ] {
            let found = told_of_consumers(value, set, "the cause");
            assert!(found.contains(&format!("{word} be asked for by `{key}`")), "{value}, {set}: {found}");
            let named = told_of_consumers(value, set, &format!("what is asked for: `{key}`"));
            assert_eq!(named, "", "{value}, {set}");
        }
    }

    #[test]
    fn a_control_may_change_what_others_ask_for_and_how_it_is_asked() {
        for (value, set) in [
            ("d.goodput", "'ping.p.count' = 2"),
            ("p.rtt", "'download.d.count' = 2"),
            ("p.rtt", "'download.d.count' = 30"),
            ("d.goodput", "'download.d.window' = 1"),
            ("d.goodput", "'link.*.rate' = '9 kbit/s'"),
        ] {
            assert_eq!(told(value, set, "the cause"), "", "{set}");
        }
    }
}
