//! Work that a file orders and a run has no time for: it would neither be begun nor missed.

use crate::experiment::plan::{Activity, ArrivalsPlan, ConsumerKind, Plan, Workload, parameter};
use crate::experiment::read::findings::Finding;

/// The last of what a workload is told to do.
struct Last {
    /// The key that orders it.
    key: &'static str,
    what: String,
    at_ns: f64,
}

/// What workloads are told to begin after the run has ended.
///
/// Where the file says that a workload stops, it says that the rest is not meant; and of downloads
/// `gates.unfinished` says how much may be left.
pub(super) fn of_plan(plan: &Plan) -> Vec<Finding> {
    let end_ns = plan.schedule.duration_ns;
    let mut findings = Vec::new();
    for workload in &plan.workloads {
        let is_left =
            matches!(workload.does, Activity::Download { .. }) && plan.evaluation.gates.unfinished > 0.0;
        let is_late = |last: &Last| last.at_ns >= end_ns as f64;
        let Some((table, last)) = last(workload, end_ns).filter(|(_, last)| !is_left && is_late(last)) else {
            continue;
        };
        let seconds = |ns: f64| (ns / 1e6).round() / 1e3;
        findings.push(Finding {
            key: format!("{table}.{}.{}", workload.measured_as(), last.key),
            message: format!(
                "{} would begin after {} s, and the run ends after {} s: it would neither be done nor missed",
                last.what,
                seconds(last.at_ns),
                seconds(end_ns as f64)
            ),
            suggestion: Some("order less, or make `duration` longer".to_owned()),
            ..Finding::default()
        });
    }
    findings
}

/// The last of what a workload is told to do, and its table; nothing where that has no end, or another one. A
/// flood goes on until so many are pending, which is no order.
fn last(workload: &Workload, end_ns: u64) -> Option<(&'static str, Last)> {
    let start = workload.start_ns as f64;
    let is_stopped = workload.stop_ns < end_ns;
    let after = |count: f64, per_second: f64| start + (count - 1.0).max(0.0) / per_second * 1e9;
    match &workload.does {
        Activity::Download { arrivals: Some(plan), count, .. } if !is_stopped => {
            of_arrivals(plan, *count, start).map(|last| ("download", last))
        }
        Activity::Download { arrivals: None, per_second: Some(rate), count, .. } => {
            let at_ns = after(f64::from(*count), *rate);
            Some(("download", Last { key: "count", what: format!("the last of {count} downloads"), at_ns }))
        }
        Activity::Traffic { trace: Some(trace), .. } if !is_stopped => {
            of_arrivals(&ArrivalsPlan::Trace(trace.clone()), u32::MAX, start).map(|last| ("traffic", last))
        }
        Activity::Traffic { workload: text, .. } if !is_stopped => {
            of_arrivals(&ArrivalsPlan::Workload(text.clone()), u32::MAX, start).map(|last| ("traffic", last))
        }
        Activity::Consume(consumer) => {
            let items = consumer.items.filter(|_| !consumer.stops).map(|items| items as f64);
            let last = match &consumer.kind {
                ConsumerKind::Batches(batches) => {
                    let at_ns = batches.iter().map(|(at, _)| *at as f64).reduce(f64::max)?;
                    // What a consumer that has stopped is told to ask for is not asked for, either.
                    let at_ns =
                        if at_ns >= workload.stop_ns as f64 { at_ns.max(end_ns as f64) } else { at_ns };
                    Last { key: "batch", what: "the last batch".to_owned(), at_ns }
                }
                ConsumerKind::Rate(rate, _) | ConsumerKind::Zipf { per_second: rate, .. } => {
                    let at_ns = after(items?, *rate);
                    Last { key: "items", what: "the last of its items".to_owned(), at_ns }
                }
                ConsumerKind::Workload { spec, .. } if !consumer.stops => {
                    of_arrivals(&ArrivalsPlan::Workload(spec.clone()), u32::MAX, start)?
                }
                _ => return None,
            };
            Some(("consumer", last))
        }
        _ => None,
    }
}

/// The last that a trace asks for, or, on average, a workload that is over after so many.
fn of_arrivals(plan: &ArrivalsPlan, count: u32, start: f64) -> Option<Last> {
    match plan {
        ArrivalsPlan::Trace(trace) => {
            let at_ns = start + trace.own().map(|(at, _)| at).max()? as f64;
            Some(Last { key: "trace", what: "the last request of the trace".to_owned(), at_ns })
        }
        ArrivalsPlan::Workload(text) => {
            let ordered = plan.ordered(count)?;
            // A crowd asks sooner, and nobody knows how long one of another making takes.
            let is_ours =
                ["sequential", "uniform", "zipf"].iter().any(|word| text.split('/').next() == Some(word));
            let is_even = parameter(text, "crowd").is_none() && parameter(text, "burst").is_none();
            let rate: f64 = parameter(text, "rate").map_or(Some(1.0), |rate| rate.parse().ok())?;
            let at_ns = start + (ordered - 1) as f64 / rate * 1e9;
            let key = if u64::from(count) == ordered { "count" } else { "workload" };
            let what = format!("the last of {ordered} requests");
            (is_ours && is_even && ordered > 0).then_some(Last { key, what, at_ns })
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    const HEAD: &str = "title = 't'\nduration = '5 s'\n[node]\na = {}\nb = {}\n[link]\na-b = { rate = '9 Mbit/s' }\n\
        [[route]]\nprefix = '/b'\npath = ['a', 'b']\n[[expect]]\nsay = 'S'\nvalue = 'b.out_data.last'\nat_least = 2\n";
    const CONTENT: &str = "[content.c]\nprefix = '/b'\nat = 'b'\nsize = '1 kB'\ncount = 50\n";

    fn told(text: &str) -> String {
        Experiment::parse("t", "t.toml", &format!("{HEAD}{text}"))
            .map_or_else(|problems| problems.to_string(), |_| String::new())
    }

    #[test]
    fn work_that_is_ordered_for_after_the_end_is_a_mistake() {
        let download =
            |rest: &str| told(&format!("{CONTENT}[download.d]\nat = 'a'\ncontent = 'c'\n{rest}\n"));
        let late = "it would neither be done nor missed";
        for (rest, key) in [
            ("workload = 'sequential/rate~10/limit~41'", "download.d.workload: the last of 41 requests"),
            (
                "workload = 'zipf/rate~10/spacing~poisson'\ncount = 50",
                "download.d.count: the last of 50 requests",
            ),
            ("rate = '2/s'\ncount = 9", "download.d.count: the last of 9 downloads"),
        ] {
            let told = download(rest);
            assert!(told.contains(key) && told.contains(late), "{rest}: {told}");
        }
        for rest in [
            "workload = 'sequential/rate~10/limit~40'",
            "workload = 'sequential/rate~10/limit~400'\nstop = '4 s'",
            "workload = 'zipf/rate~10/spacing~poisson'",
            "rate = '2/s'\ncount = 9\n[gates]\nunfinished = '50 %'",
            "rate = '2/s'\ncount = 8",
        ] {
            assert_eq!(download(rest), "", "{rest}");
        }
        let traffic = told(&format!(
            "{CONTENT}[traffic.t]\nat = 'a'\ncontent = 'c'\nworkload = 'sequential/rate~10/limit~100'\n"
        ));
        assert!(traffic.contains(late), "{traffic}");
    }

    #[test]
    fn a_batch_or_items_for_after_the_end_are_a_mistake() {
        let consumer = |rest: &str| {
            told(&format!(
                "[producer.p]\nat = 'b'\nprefix = '/b'\n[consumer.c]\nat = 'a'\nprefix = '/b'\n{rest}\n"
            ))
        };
        let batches = |late: &str, rest: &str| {
            consumer(&format!(
                "kind = 'batch'\nbatch = [{{ at = '1 s', count = 9 }}, {{ at = '{late}', count = 9 }}]\n{rest}"
            ))
        };
        assert!(batches("5 s", "").contains("consumer.c.batch: the last batch"), "{}", batches("5 s", ""));
        assert!(
            batches("4 s", "stop = '3 s'").contains("consumer.c.batch"),
            "{}",
            batches("4 s", "stop = '3 s'")
        );
        assert_eq!(batches("4 s", ""), "");
        let rate = |items| consumer(&format!("kind = 'rate'\nrate = '10/s'\nitems = {items}"));
        assert!(rate(51).contains("consumer.c.items"), "{}", rate(51));
        assert_eq!(rate(50), "");
    }
}
