//! Work that a file orders and a run has no time for: it would neither be begun nor missed.

use flow::workload::Spacing;

use crate::experiment::plan::{Activity, ArrivalsPlan, ConsumerKind, Plan, Workload, parameter};
use crate::experiment::read::findings::Finding;

/// The last of what a workload is told to do.
struct Last {
    /// The key that orders it.
    key: &'static str,
    what: String,
    /// When it begins, on average where that is random.
    at_ns: f64,
    /// When it has begun in all but one of a thousand runs.
    surely_ns: f64,
}

impl Last {
    /// One whose time the file says.
    fn at(key: &'static str, what: String, at_ns: f64) -> Self {
        Last { key, what, at_ns, surely_ns: at_ns }
    }

    /// The last of several, at a rate from the start on.
    fn of(key: &'static str, what: String, count: f64, rate: Rate, start_ns: f64) -> Self {
        let gaps = (count - 1.0).max(0.0);
        let after = |gaps: f64| start_ns + gaps / rate.per_second * 1e9;
        Last { key, what, at_ns: after(gaps), surely_ns: after(most_gaps(gaps, rate.spacing)) }
    }
}

/// How often something is asked for.
#[derive(Clone, Copy)]
struct Rate {
    per_second: f64,
    spacing: Spacing,
}

/// How many mean gaps so many gaps are together, in all but one of a thousand runs. Sums of exponential ones
/// follow a gamma distribution, whose quantile is by Wilson and Hilferty; those of uniform ones are normal.
fn most_gaps(gaps: f64, spacing: Spacing) -> f64 {
    const NORMAL: f64 = 3.09;
    match spacing {
        _ if gaps < 1.0 => gaps,
        Spacing::Constant => gaps,
        Spacing::Uniform => (gaps + NORMAL * (gaps / 3.0).sqrt()).min(2.0 * gaps),
        Spacing::Poisson => gaps * (1.0 - 1.0 / (9.0 * gaps) + NORMAL / (3.0 * gaps.sqrt())).powi(3),
    }
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
        let end = end_ns as f64;
        let is_late = |last: &Last| last.surely_ns >= end;
        let Some((table, last)) = last(workload, end_ns).filter(|(_, last)| !is_left && is_late(last)) else {
            continue;
        };
        let seconds = |ns: f64| (ns / 1e6).round() / 1e3;
        let (what, at, end_s) = (&last.what, seconds(last.at_ns), seconds(end));
        let (message, suggestion) = match last.at_ns >= end {
            true => (
                format!(
                    "{what} would begin after {at} s, and the run ends after {end_s} s: it would neither be done nor missed"
                ),
                "order less, or make `duration` longer".to_owned(),
            ),
            false => (
                format!(
                    "{what} begins at random, after {at} s on average, and in more than one of a thousand runs not \
                     before the end after {end_s} s: such a run would not be valid, by chance"
                ),
                format!(
                    "make `duration` longer than {} s, order less, or order no number and let the time end it",
                    seconds(last.surely_ns)
                ),
            ),
        };
        let key = format!("{table}.{}.{}", workload.measured_as(), last.key);
        findings.push(Finding { key, message, suggestion: Some(suggestion), ..Finding::default() });
    }
    findings
}

/// The last of what a workload is told to do, and its table; nothing where that has no end, or another one. A
/// flood goes on until so many are pending, which is no order.
fn last(workload: &Workload, end_ns: u64) -> Option<(&'static str, Last)> {
    let start = workload.start_ns as f64;
    let is_stopped = workload.stop_ns < end_ns;
    match &workload.does {
        Activity::Download { arrivals: Some(plan), count, .. } if !is_stopped => {
            of_arrivals(plan, *count, start).map(|last| ("download", last))
        }
        Activity::Download { arrivals: None, per_second: Some(rate), count, .. } => {
            let rate = Rate { per_second: *rate, spacing: Spacing::Constant };
            let what = format!("the last of {count} downloads");
            Some(("download", Last::of("count", what, f64::from(*count), rate, start)))
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
                    Last::at("batch", "the last batch".to_owned(), at_ns)
                }
                ConsumerKind::Rate(per_second, spacing) | ConsumerKind::Zipf { per_second, spacing, .. } => {
                    let rate = Rate { per_second: *per_second, spacing: *spacing };
                    Last::of("items", "the last of its items".to_owned(), items?, rate, start)
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
            Some(Last::at("trace", "the last request of the trace".to_owned(), at_ns))
        }
        ArrivalsPlan::Workload(text) => {
            let ordered = plan.ordered(count)?;
            // A crowd asks sooner, and nobody knows how long one of another making takes.
            let is_ours =
                ["sequential", "uniform", "zipf"].iter().any(|word| text.split('/').next() == Some(word));
            let is_even = parameter(text, "crowd").is_none() && parameter(text, "burst").is_none();
            let per_second: f64 = parameter(text, "rate").map_or(Some(1.0), |rate| rate.parse().ok())?;
            let spacing = parameter(text, "spacing").unwrap_or_default();
            let spacing = Spacing::WORDS.into_iter().find(|(word, _)| *word == spacing);
            let rate = Rate { per_second, spacing: spacing.map(|(_, spacing)| spacing).unwrap_or_default() };
            let key = if u64::from(count) == ordered { "count" } else { "workload" };
            let what = format!("the last of {ordered} requests");
            (is_ours && is_even && ordered > 0).then(|| Last::of(key, what, ordered as f64, rate, start))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn work_that_chance_would_leave_is_a_mistake_unless_it_is_left_once_in_a_thousand_runs() {
        // The quantile of a gamma distribution, from a table: that of chi squared with 18 degrees, halved.
        assert!((most_gaps(9.0, Spacing::Poisson) - 42.312 / 2.0).abs() < 0.1);
        assert_eq!((most_gaps(0.0, Spacing::Poisson), most_gaps(9.0, Spacing::Constant)), (0.0, 9.0));
        assert_eq!(most_gaps(1.0, Spacing::Uniform), 2.0, "never more than twice the mean");
        let download =
            |rest: &str| told(&format!("{CONTENT}[download.d]\nat = 'a'\ncontent = 'c'\n{rest}\n"));
        // Forty of them take 3.9 s of the four that there are, on average.
        for spacing in ["poisson", "uniform"] {
            let of =
                |limit: u32| download(&format!("workload = 'zipf/rate~10/spacing~{spacing}/limit~{limit}'"));
            assert!(of(40).contains("such a run would not be valid, by chance"), "{}", of(40));
            assert!(of(40).contains("make `duration` longer than"), "{}", of(40));
            assert_eq!(of(20), "", "{spacing}");
        }
        assert_eq!(
            download("workload = 'zipf/rate~10/spacing~poisson/limit~40'\n[gates]\nunfinished = '20 %'"),
            ""
        );
        assert_eq!(download("workload = 'zipf/rate~10/limit~40'"), "");
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
