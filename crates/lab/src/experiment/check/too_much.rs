//! What a run would have to note down if it lasted as long as its file says, where no memory holds it.

use crate::experiment::plan::{Activity, MAX_REPEATS, Plan, Workload};
use crate::experiment::read::findings::Finding;
use crate::experiment::units::Size;

/// Samples of all forwarders together, each a line of some hundred bytes.
const MAX_SAMPLES: u64 = 50_000_000;

/// Times that a competing load begins, and ends.
const MAX_TURNS: u64 = 1_000_000;

/// Seconds of watched links, each a row.
const MAX_SECONDS: u64 = 10_000_000;

/// Downloads of a workload, each of which is noted.
const MAX_DOWNLOADS: u32 = 10_000_000;

/// What is kept in memory of a download while a run is read.
const BYTES_OF_A_DOWNLOAD: u64 = 200;

/// That more downloads are ordered than memory holds what is noted of them.
fn downloads(plan: &Plan) -> Vec<Finding> {
    let of = |workload: &Workload| {
        let Activity::Download { count, arrivals: None, .. } = workload.does else { return None };
        let memory = Size(u64::from(count).saturating_mul(BYTES_OF_A_DOWNLOAD));
        (count > MAX_DOWNLOADS).then(|| Finding {
            key: format!("download.{}", workload.measured_as()),
            message: format!(
                "what is noted of {count} downloads would take {memory} of memory: {MAX_DOWNLOADS} are the most"
            ),
            suggestion: Some("set a smaller `count`, of the download or of its content".to_owned()),
            ..Finding::default()
        })
    };
    plan.workloads.iter().filter_map(of).collect()
}

/// That there are more repeats than one case may have.
fn repeats(plan: &Plan) -> Option<Finding> {
    let repeats = plan.schedule.repeats;
    (repeats > MAX_REPEATS).then(|| Finding {
        key: "repeats".to_owned(),
        message: format!("{repeats} repeats are too many: {MAX_REPEATS} of all cases together are the most"),
        ..Finding::default()
    })
}

/// How long a run lasts at least: to its end, or where it ends with its work until the last of that has
/// begun.
fn least_ns(plan: &Plan) -> (u64, Option<&Workload>) {
    if !plan.schedule.until_done {
        return (plan.schedule.duration_ns, None);
    }
    // What has no end keeps no run going.
    let keeps_going = |workload: &&Workload| match &workload.does {
        Activity::Load { .. } => false,
        Activity::Consume(consumer) => consumer.items.is_some(),
        _ => true,
    };
    let last = plan.workloads.iter().filter(keeps_going).max_by_key(|workload| workload.start_ns);
    (last.map_or(0, |last| last.start_ns).min(plan.schedule.duration_ns), last)
}

/// Samples, and seconds of what links carry, as long as the run lasts at least; and turns of competing loads.
pub(super) fn of_plan(plan: &Plan) -> Vec<Finding> {
    let (least_ns, last) = least_ns(plan);
    let (duration_ns, every_ns) = (plan.schedule.duration_ns, plan.recording.sample_every_ns.max(1));
    let mut findings = downloads(plan);
    findings.extend(repeats(plan));
    let samples = (least_ns / every_ns).saturating_mul(plan.nodes.len() as u64);
    let watched = plan.nodes.iter().filter(|node| node.watch.is_some()).count() as u64;
    let seconds = (least_ns / 1_000_000_000).saturating_mul(watched);
    let until = match last {
        Some(last) => (format!("{}.{}.start", last.does.table(), last.measured_as()), "let it start sooner"),
        None => ("duration".to_owned(), "set `until_done`"),
    };
    let ((key, hint), more) =
        (until, if samples > MAX_SAMPLES { ", or a longer `sample_every`" } else { "" });
    let message = match () {
        () if samples > MAX_SAMPLES => {
            format!("forwarders would be asked {samples} times until then, of {MAX_SAMPLES} at most")
        }
        () => format!(
            "what links carry would be noted for {seconds} seconds until then, of {MAX_SECONDS} at most"
        ),
    };
    if samples > MAX_SAMPLES || seconds > MAX_SECONDS {
        let suggestion = Some(format!("{hint}{more}"));
        findings.push(Finding { key, message, suggestion, ..Finding::default() });
    }
    for workload in &plan.workloads {
        let Activity::Load { busy_ns, idle_ns, .. } = workload.does else { continue };
        let turns = duration_ns.saturating_sub(workload.start_ns) / busy_ns.saturating_add(idle_ns).max(1);
        if turns > MAX_TURNS {
            findings.push(Finding {
                key: format!("load.{}", workload.name),
                message: format!("it would be busy {turns} times until the end, of {MAX_TURNS} at most"),
                suggestion: Some("let `duration` be shorter, or `busy` and `idle` longer".to_owned()),
                ..Finding::default()
            });
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use testkit::experiment::ROW;

    use crate::experiment::Experiment;

    #[test]
    fn what_no_memory_holds_is_refused_and_a_long_run_that_ends_with_its_work_is_not() {
        let refused = |head: &str, rest: &str| {
            let text = format!("title = 't'\n{head}\n{ROW}\n{rest}");
            Experiment::parse("t", "t.toml", &text).err().map(|problems| problems.to_string())
        };
        let load = |busy: &str| format!("[load.l]\nat = 'b'\ncpu = '50 %'\nbusy = '{busy}'\nidle = '1 s'\n");
        assert_eq!(refused("duration = '500000 h'\nuntil_done = true", ""), None);
        let endless = refused("duration = '500000 h'", "").unwrap_or_default();
        assert!(endless.contains("10800000000 times") && endless.contains("until_done"), "{endless}");
        // What begins late lasts as long, also where the run ends with its work.
        let late = |start: &str, head: &str| {
            let ping = format!(
                "[ping.p]\nat = 'a'\nto = 'c'\nprefix = '/small/ping'\ncount = 1\nstart = '{start}'\n"
            );
            refused(&format!("duration = '500000 h'\nuntil_done = true\n{head}"), &ping).unwrap_or_default()
        };
        assert!(
            late("400000 h", "").contains("ping.p.start: forwarders would be asked"),
            "{}",
            late("400000 h", "")
        );
        let seldom = late("400000 h", "sample_every = '1000 h'");
        assert!(
            seldom.contains("4320000000 seconds until then") && seldom.contains("start sooner"),
            "{seldom}"
        );
        assert_eq!(late("400 h", "sample_every = '1 h'"), "");
        let often = refused("duration = '9 s'\nrepeats = 4000000000", "").unwrap_or_default();
        assert!(often.contains("repeats: 4000000000 repeats are too many"), "{often}");
        let many = "[content.many]\nprefix = '/small/many'\nat = 'c'\nsize = '1 kB'\ncount = 1000000000\n\
                    [download.many]\nat = 'a'\ncontent = 'many'\n";
        let many = refused("duration = '9 s'", many).unwrap_or_default();
        assert!(many.contains("download.many: what is noted of 1000000000 downloads would take"), "{many}");
        assert_eq!(refused("duration = '500 h'", &load("1 s")), None);
        let busy = refused("duration = '500000 h'\nuntil_done = true", &load("1 s")).unwrap_or_default();
        assert!(busy.contains("load.l") && busy.contains("900000000 times"), "{busy}");
    }
}
