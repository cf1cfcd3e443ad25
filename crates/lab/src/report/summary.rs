//! The summary in words, made from the numbers.

use super::data::{CaseData, RunData};
use super::verdict::{Conclusion, Outcome, Verdict, conclusion};
use crate::analysis::RepeatResult;
use crate::experiment::plan::{Activity, ProgramPlan};
use crate::figure::number::{short, with_unit};
use crate::prose::sentence;

/// The most important numbers, each with its name.
pub(super) fn facts(run: &RunData, verdicts: &[Verdict]) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    if !verdicts.is_empty() {
        for wanted in Outcome::ALL {
            let count = verdicts.iter().filter(|verdict| verdict.outcome == wanted).count();
            if count > 0 {
                facts.push((format!("{count} of {}", verdicts.len()), wanted.word().to_owned()));
            }
        }
    }
    let repeats: usize = run.cases.iter().map(|case| case.results.len()).sum();
    let valid: usize =
        run.cases.iter().map(|case| case.results.iter().filter(|result| result.is_valid()).count()).sum();
    facts.push((format!("{valid} of {repeats}"), "runs valid".to_owned()));
    if let [case] = run.cases.as_slice() {
        for workload in case.plan.measured() {
            let get = |key: &str, summary: &str| {
                case.estimate(&format!("{}.{key}", workload.measured_as()), summary)
            };
            match workload.does {
                Activity::Download { .. } => {
                    if let Some(goodput) = get("goodput", "mean") {
                        facts.push((
                            with_unit(goodput.mean * 8.0, "bit/s"),
                            format!("goodput of {}", workload.measured_as()),
                        ));
                    }
                    if let Some(duration) = get("duration", "mean") {
                        facts.push((
                            with_unit(duration.mean, "s"),
                            format!("a file of {}", workload.measured_as()),
                        ));
                    }
                }
                Activity::Ping { .. } => {
                    if let Some(rtt) = get("rtt", "median") {
                        facts.push((
                            with_unit(rtt.mean, "ms"),
                            format!("median round trip of {}", workload.measured_as()),
                        ));
                    }
                }
                Activity::Consume(_) => {
                    if let Some(rate) = get("throughput", "mean").filter(|rate| rate.mean > 0.0) {
                        facts.push((
                            with_unit(rate.mean * 8.0, "bit/s"),
                            format!("received by {}", workload.measured_as()),
                        ));
                    }
                }
                _ => {}
            }
        }
    }
    facts
}

/// What came of the expectations, in a sentence; nothing when nothing was expected.
pub(super) fn outcome(run: &RunData, verdicts: &[Verdict]) -> Option<String> {
    if verdicts.is_empty() {
        return None;
    }
    let one = |verdict: &&Verdict| {
        let case = if verdict.case.is_empty() { String::new() } else { format!(" ({})", verdict.case) };
        format!(
            "“{}”{case}: {}, and not {}",
            verdict.say.trim_start_matches("… "),
            verdict.found().0,
            verdict.bound
        )
    };
    let list = |wanted: Outcome| verdicts.iter().filter(move |verdict| verdict.outcome == wanted);
    let contradicted: Vec<&Verdict> = list(Outcome::Contradicted).collect();
    let open = list(Outcome::NotTestable).count();
    let open = match open {
        0 => String::new(),
        1 => " One thing is not testable here.".to_owned(),
        many => format!(" {many} things are not testable here."),
    };
    if !contradicted.is_empty() {
        let list: Vec<String> = contradicted.iter().map(one).collect();
        return Some(format!("Otherwise than expected: {}.{open}", list.join("; ")));
    }
    Some(match conclusion(run, verdicts) {
        Conclusion::Incomplete => {
            format!("The run is not complete, so nothing is concluded from what is there so far.{open}")
        }
        Conclusion::AsExpected if open.is_empty() => "Everything came out as it was expected.".to_owned(),
        _ if verdicts.iter().any(Verdict::is_good) => {
            format!("Nothing came out otherwise than expected.{open}")
        }
        _ => format!("Nothing that was expected could be tested.{open}"),
    })
}

/// Sentences about one case. Of one without a valid repeat nothing can be said.
pub(super) fn sentences(case: &CaseData) -> Vec<String> {
    if !case.is_valid() {
        return vec!["No repeat is valid, so nothing is said of it.".to_owned()];
    }
    let mut list = Vec::new();
    for workload in case.plan.measured() {
        let get = |key: &str, summary: &str| {
            case.estimate(&format!("{}.{key}", workload.measured_as()), summary).map(|estimate| estimate.mean)
        };
        match &workload.does {
            Activity::Download { count, arrivals, .. } => {
                // Of what is drawn nobody knows before how many there are.
                let begun = arrivals.as_ref().and_then(|_| get("started", "mean"));
                let count = begun.map_or(*count, |begun| begun.round() as u32);
                list.push(downloads(workload.measured_as(), count, &get));
            }
            Activity::Ping { .. } | Activity::Traffic { .. } => {
                let (Some(begun), Some(loss)) = (get("started", "mean"), get("loss", "mean")) else {
                    continue;
                };
                let interests = if begun == 1.0 { "Interest" } else { "Interests" };
                let mut text = format!(
                    "Of {} {interests} of `{}` {}\u{a0}% had no answer",
                    short(begun),
                    workload.measured_as(),
                    short(loss)
                );
                if let (Some(median), Some(most)) = (get("rtt", "median"), get("rtt", "p99")) {
                    text += &format!(
                        "; the round trip was {} (median), {} for the slowest hundredth",
                        with_unit(median, "ms"),
                        with_unit(most, "ms")
                    );
                }
                list.push(text + ".");
            }
            Activity::Flood { .. } => {
                let (Some(sent), Some(again)) = (get("started", "mean"), get("retransmissions", "mean"))
                else {
                    continue;
                };
                if sent <= 0.0 {
                    list.push(format!("`{}` sent nothing.", workload.measured_as()));
                    continue;
                }
                let nacks = get("nacks", "mean").unwrap_or(0.0);
                list.push(format!(
                    "`{}` sent {} different Interests for content that does not exist, refreshed them {} times, and got {} Nacks.",
                    workload.measured_as(),
                    short(sent),
                    short(again),
                    short(nacks)
                ));
            }
            Activity::Consume(consumer) => {
                list.push(consumers(workload.measured_as(), consumer.nodes.len(), &get));
            }
            Activity::Program(program) => list.extend(programs(workload.measured_as(), program, &get)),
            Activity::Load { .. } | Activity::Register(_) => {}
        }
    }
    list.extend(competitors(case));
    list.extend(extremes(case));
    list
}

/// What came of a program of one's own; of one that serves there is nothing to say.
fn programs(name: &str, program: &ProgramPlan, get: &dyn Fn(&str, &str) -> Option<f64>) -> Option<String> {
    let (all, good) = (get("started", "mean")?, get("finished", "mean")?);
    let command = program.command.join(" ");
    let mut text = format!("`{name}` ran `{command}` {} times", short(all));
    if good < all {
        text += &format!(", {} times without success", short(all - good));
    }
    if let Some(duration) = get("duration", "mean") {
        text += &format!("; it took {}", with_unit(duration, "s"));
    }
    Some(text + ".")
}

/// Competing loads, those that are alike in one sentence.
fn competitors(case: &CaseData) -> Vec<String> {
    struct Kind {
        /// Part of the processor, and for how long in turn.
        cpu: f64,
        busy_ns: u64,
        idle_ns: u64,
        nodes: Vec<String>,
    }
    let mut kinds: Vec<Kind> = Vec::new();
    for workload in &case.plan.workloads {
        let Activity::Load { cpu, busy_ns, idle_ns } = workload.does else { continue };
        let node = format!("`{}`", case.plan.node_name(workload.at));
        let alike =
            kinds.iter_mut().find(|kind| (kind.cpu, kind.busy_ns, kind.idle_ns) == (cpu, busy_ns, idle_ns));
        match alike {
            Some(kind) => kind.nodes.push(node),
            None if cpu > 0.0 => kinds.push(Kind { cpu, busy_ns, idle_ns, nodes: vec![node] }),
            None => {}
        }
    }
    let sentence = |Kind { cpu, busy_ns, idle_ns, nodes }: &Kind| {
        format!(
            "A competing process took {}\u{a0}% of the processor for {} s and slept for {} s, in turn, at {}.",
            short(cpu * 100.0),
            short(*busy_ns as f64 / 1e9),
            short(*idle_ns as f64 / 1e9),
            nodes.join(", ")
        )
    };
    kinds.iter().map(sentence).collect()
}

/// What came of a consumer at all its nodes.
fn consumers(name: &str, nodes: usize, get: &dyn Fn(&str, &str) -> Option<f64>) -> String {
    let received = get("finished", "mean").unwrap_or(0.0);
    let place = if nodes == 1 { String::new() } else { format!(" at {nodes} nodes together") };
    let mut text = format!("`{name}` received {} Data{place}", short(received));
    if let Some(rate) = get("throughput", "mean").filter(|rate| *rate > 0.0) {
        text += &format!(", {}", with_unit(rate * 8.0, "bit/s"));
    }
    if let Some(delay) = get("rtt", "mean").filter(|delay| *delay > 0.0) {
        text += &format!("; an answer took {}", with_unit(delay, "ms"));
    }
    let again = get("retransmissions", "mean").unwrap_or(0.0);
    let nacks = get("nacks", "mean").unwrap_or(0.0);
    text + &format!("; {} Interests were sent again, {} Nacks came.", short(again), short(nacks))
}

/// A part of all in percent.
fn share(part: f64) -> String {
    format!("{}\u{a0}%", short(part * 100.0))
}

/// What came of downloads.
fn downloads(name: &str, count: u32, get: &dyn Fn(&str, &str) -> Option<f64>) -> String {
    let done = get("finished", "mean").unwrap_or(0.0);
    let mut text = match (count, done >= 1.0) {
        (1, true) => format!("The one download of `{name}` was complete"),
        (1, false) => format!("The one download of `{name}` was complete in {} of the repeats", share(done)),
        _ => format!("Of {count} downloads of `{name}` {} were complete", short(done)),
    };
    if let (Some(mean), Some(least), Some(most)) =
        (get("duration", "mean"), get("duration", "min"), get("duration", "max"))
    {
        let (mean, least, most) = (with_unit(mean, "s"), with_unit(least, "s"), with_unit(most, "s"));
        text += &format!("; one took {mean} on average, {least} to {most}");
    }
    if let (Some(goodput), Some(again)) = (get("goodput", "mean"), get("retransmissions", "mean")) {
        let goodput = with_unit(goodput * 8.0, "bit/s");
        text += &format!(". Together they brought {goodput}, and {} Interests were sent again", short(again));
    }
    text + "."
}

/// Which node had most of what.
fn extremes(case: &CaseData) -> Vec<String> {
    let most = |key: &str| {
        case.plan
            .nodes
            .iter()
            .filter_map(|node| {
                Some((case.estimate(&format!("{}.{key}", node.name), "max")?.mean, node.name.as_str()))
            })
            .max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let mut list = Vec::new();
    if let (Some((pending, at)), Some((cpu, hot))) = (most("pending"), most("cpu")) {
        list.push(format!(
            "At most {} Interests were pending (at `{at}`), and the busiest forwarder used {}\u{a0}% of a core (`{hot}`).",
            short(pending),
            short(cpu)
        ));
    }
    list
}

/// How the note begins that says which trace a run in virtual time left.
pub(super) const TRACE_HASH: &str = "trace hash ";

/// What a reader must know before believing the numbers.
pub(super) fn warnings(run: &RunData) -> Vec<String> {
    let mut list: Vec<String> = run.notes().iter().map(|note| sentence(note)).collect();
    for case in &run.cases {
        let invalid = case.results.iter().filter(|result| !result.is_valid()).count();
        if invalid == case.results.len() {
            list.push(format!(
                "No repeat of “{}” is valid: none of its numbers is used. Its graphs are shown to find out why.",
                case.name()
            ));
        } else if invalid > 0 {
            list.push(format!(
                "{invalid} of {} repeats of “{}” are not valid and left out of all means.",
                case.results.len(),
                case.name()
            ));
        }
    }
    for case in &run.cases {
        for (repeat, result) in (1..).zip(&case.results).filter(|(_, result)| !result.thrown_away.is_empty())
        {
            list.push(format!(
                "Repeat {repeat} of “{}” is attempt {}. What was measured before was not valid, and is kept aside: {}.",
                case.name(),
                result.thrown_away.len() + 1,
                result.thrown_away.join("; ")
            ));
        }
    }
    let notes = run
        .cases
        .iter()
        .flat_map(|case| &case.results)
        .flat_map(|result: &RepeatResult| &result.outcome.notes);
    for note in notes.filter(|note| !note.starts_with(TRACE_HASH)) {
        if !list.contains(note) {
            list.push(note.clone());
        }
    }
    list
}
