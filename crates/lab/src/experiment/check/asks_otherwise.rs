//! Controls that change the question instead of the cause: of the very workload that a statement measures
//! they let less be asked for, or more.

use std::collections::BTreeSet;

use super::concerned::Concerned;
use super::without_effect::asks;
use crate::experiment::measure::Measure;
use crate::experiment::model::{Control, Expect};
use crate::experiment::plan::{Activity, ConsumerKind, ContentPlan, Plan, Workload};
use crate::experiment::read::findings::Finding;

/// What a workload is told to do, where less of it is a smaller question and more a greater: each by its key.
type Amounts = Vec<(&'static str, f64)>;

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
        let texts = expect.others().into_iter().map(|(_, text)| text).chain([expect.value.as_str()]);
        let measures: Vec<Measure> = texts.filter_map(|text| text.parse().ok()).collect();
        for workload in case.workloads.iter().filter(|workload| is_measured(case, workload, &measures)) {
            // Who is taken away as a whole is looked after elsewhere.
            let Some(other) = control_plan.workloads.iter().find(|other| other.name == workload.name) else {
                continue;
            };
            let (before, after) = (asked(case, workload), asked(control_plan, other));
            let table = workload.does.table();
            let named = |key: &str| match key.strip_prefix("content.") {
                Some(key) => {
                    format!("content.{}.{key}", content(case, workload).map_or("*", |content| &content.name))
                }
                None => format!("{table}.{}.{key}", workload.measured_as()),
            };
            let told = |(key, before): &(&str, f64)| {
                let (_, after) = after.iter().find(|(other, _)| key == other)?;
                let word = if after < before { "less" } else { "more" };
                (after != before).then(|| (named(key), word))
            };
            keys.extend(before.iter().filter_map(told));
        }
    }
    keys
}

/// Is it what these measures are of, or the only one that comes where they are measured?
fn is_measured(plan: &Plan, workload: &Workload, measures: &[Measure]) -> bool {
    let is_subject = |measure: &Measure| {
        measure.subject == workload.measured_as()
            || content(plan, workload).is_some_and(|content| content.name == measure.subject)
    };
    let concerned = Concerned::by(plan, measures);
    let comes_there =
        |other: &&Workload| asks(&other.does) && concerned.holds(other.does.table(), other.measured_as());
    let mut there = plan.workloads.iter().filter(comes_there).map(Workload::measured_as);
    let is_alone = there.clone().any(|name| name == workload.measured_as())
        && there.all(|name| name == workload.measured_as());
    measures.iter().any(is_subject) || is_alone
}

fn content<'a>(plan: &'a Plan, workload: &Workload) -> Option<&'a ContentPlan> {
    match &workload.does {
        Activity::Download { content, .. } | Activity::Traffic { content, .. } => plan.contents.get(*content),
        _ => None,
    }
}

/// How much a workload asks for, key by key: the smaller, the less.
fn asked(plan: &Plan, workload: &Workload) -> Amounts {
    // Who starts later or asks more seldom asks for less.
    let mut list: Amounts = vec![("start", -(workload.start_ns as f64)), ("stop", workload.stop_ns as f64)];
    if let Some(content) = content(plan, workload) {
        list.extend([
            ("content.size", content.size_bytes as f64),
            ("content.count", f64::from(content.count)),
            // As much in smaller segments takes more Interests.
            ("content.segment", -f64::from(content.segment_bytes)),
        ]);
    }
    match &workload.does {
        Activity::Download { count, per_second, arrivals, .. } => {
            // Of a file each what the content has is not asked for by itself.
            let files = content(plan, workload).map_or(1, |content| content.count);
            list.push(("count", f64::from(*count) / f64::from(files.max(1))));
            // At no rate, all at once.
            list.push(("rate", per_second.unwrap_or(f64::INFINITY)));
            let of_trace = arrivals.as_ref().and_then(|plan| plan.ordered(u32::MAX));
            list.extend(of_trace.map(|number| ("workload", number as f64)));
        }
        Activity::Ping { every_ns, count, .. } => {
            list.extend([("every", -(*every_ns as f64)), ("count", *count as f64)]);
        }
        Activity::Flood { burst, every_ns, until, .. } => {
            list.extend([
                ("burst", f64::from(*burst)),
                ("every", -(*every_ns as f64)),
                ("until", f64::from(*until)),
            ]);
        }
        Activity::Program(program) => list.push(("count", f64::from(program.count))),
        Activity::Consume(consumer) => {
            list.extend(consumer.items.map(|items| ("items", items as f64)));
            list.push(("at", consumer.nodes.len() as f64));
            match &consumer.kind {
                ConsumerKind::Rate(rate, _)
                | ConsumerKind::Zipf { per_second: rate, .. }
                | ConsumerKind::Flood(rate) => {
                    list.push(("rate", *rate));
                }
                ConsumerKind::Batches(batches) => {
                    list.push(("batch", batches.iter().map(|(_, count)| *count).sum::<u64>() as f64));
                }
                _ => {}
            }
        }
        Activity::Traffic { workload: text, trace, .. } => {
            list.extend(trace.as_ref().map(|trace| ("trace", trace.own().count() as f64)));
            let rate = crate::experiment::plan::parameter(text, "rate").and_then(|rate| rate.parse().ok());
            list.extend(rate.map(|rate| ("workload", rate)));
        }
        Activity::Register(_) | Activity::Load { .. } => {}
    }
    list
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    fn told(value: &str, set: &str, removes: &str) -> String {
        let text = format!(
            "title = 't'\nduration = '60 s'\n[node]\na = {{}}\nb = {{}}\nc = {{}}\n[link]\na-b = {{}}\nb-c = {{}}\n\
             [content.c1]\nprefix = '/c'\nat = 'c'\nsize = '100 kB'\ncount = 5\n[download.d]\nat = 'a'\ncontent = 'c1'\n\
             rate = '5/s'\ncount = 20\n[ping.p]\nat = 'b'\nto = 'c'\nprefix = '/c/p'\ncount = 4\n[[route]]\n\
             prefix = '/c'\npath = ['a', 'b', 'c']\n[[expect]]\nname = 'e'\nsay = 'S'\nvalue = '{value}'\nmore_than = 3\n\
             [[control]]\nname = 'x'\nremoves = '{removes}'\nset = {{ {set} }}\nfails = ['e']\n"
        );
        Experiment::parse("t", "t.toml", &text).map_or_else(|wrong| wrong.to_string(), |_| String::new())
    }

    #[test]
    fn a_control_that_only_asks_for_less_removes_no_cause() {
        for (value, set, key) in [
            ("d.duration", "'content.c1.segment' = '8000 B'", "content.c1.segment"),
            ("d.goodput", "'download.d.count' = 2", "download.d.count"),
            ("d.goodput", "'download.d.rate' = '1/s'", "download.d.rate"),
            ("d.duration", "'content.c1.size' = '1 kB'", "content.c1.size"),
            ("c1.served", "'content.c1.size' = '1 kB'", "content.c1.size"),
            ("d.goodput", "'download.d.start' = '3 s'", "download.d.start"),
            ("p.rtt", "'ping.p.count' = 2", "ping.p.count"),
            ("a.goodput.sum", "'download.d.count' = 2", "download.d.count"),
        ] {
            let found = told(value, set, "the cause");
            assert!(found.contains(&format!("less be asked for by `{key}`")), "{set}: {found}");
            assert_eq!(told(value, set, &format!("what is asked for: `{key}`")), "", "{set}");
        }
    }

    #[test]
    fn a_control_that_only_asks_for_more_removes_no_cause() {
        for (value, set, key) in [
            ("d.goodput", "'download.d.count' = 30", "download.d.count"),
            ("d.goodput", "'download.d.rate' = '9/s'", "download.d.rate"),
            ("d.goodput", "'download.d.rate' = ''", "download.d.rate"),
            ("d.duration", "'content.c1.size' = '5 MB'", "content.c1.size"),
            ("d.duration", "'content.c1.segment' = '100 B'", "content.c1.segment"),
            ("p.rtt", "'ping.p.count' = 20", "ping.p.count"),
            ("p.rtt", "'ping.p.every' = '1 ms'", "ping.p.every"),
        ] {
            let found = told(value, set, "the moon");
            assert!(found.contains(&format!("more be asked for by `{key}`")), "{set}: {found}");
            assert_eq!(told(value, set, &format!("what is asked for: `{key}`")), "", "{set}");
        }
    }

    #[test]
    fn a_control_may_change_what_others_ask_for_and_how_it_is_asked() {
        for (value, set) in [
            ("d.goodput", "'ping.p.count' = 2"),
            ("p.rtt", "'download.d.count' = 2"),
            ("b.goodput.sum", "'ping.p.count' = 2"),
            ("p.rtt", "'download.d.count' = 30"),
            ("d.goodput", "'download.d.window' = 1"),
            ("d.goodput", "'link.*.rate' = '9 kbit/s'"),
        ] {
            assert_eq!(told(value, set, "the cause"), "", "{set}");
        }
    }
}
