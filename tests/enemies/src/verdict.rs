//! Whether what was seen is what is demanded. Everything that was not seen counts as missed.

use std::time::Duration;

use crate::figures::Figures;
use crate::measured::{LOOK_INTERVAL, Measured, Newcomer, Phases};
use crate::plan::Requirements;

/// A demand, and whether it was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DemandVerdict {
    pub(crate) demand: &'static str,
    pub(crate) met: bool,
    /// What was seen.
    pub(crate) found: String,
    /// What is demanded.
    pub(crate) limit: String,
}

/// Holds what was seen of an attack against what is demanded.
pub(crate) fn judge(measured: &Measured, demands: &Requirements) -> Vec<DemandVerdict> {
    let mut judged = vec![DemandVerdict {
        demand: "the node runs",
        met: measured.ended.is_none() && measured.trouble.is_empty(),
        found: measured.ended.iter().chain(&measured.trouble).cloned().collect::<Vec<_>>().join("; "),
        limit: "to the end".to_owned(),
    }];
    let control = &measured.pairs.control.attack;
    // What the machine itself lost, nobody can be blamed for.
    let excused = if control.sent == 0 { 0.0 } else { control.loss() };
    for (names, pair) in [
        (["local loss", "local loss after", "local p99", "local p99 after"], &measured.pairs.local),
        (["remote loss", "remote loss after", "remote p99", "remote p99 after"], &measured.pairs.remote),
    ] {
        let [attacked, afterwards, slow, slow_after] = names;
        judged.push(loss(attacked, &pair.attack, demands.loss + excused));
        judged.push(loss(afterwards, &pair.after, demands.loss));
        if let Some(slower) = demands.slower {
            let beside =
                [&measured.pairs.beside.attack, &measured.pairs.beside.after].map(|echo| echo.quantile(0.99));
            let [attacked, after] = [control.quantile(0.99).max(beside[0]), beside[1]];
            judged.push(round_trip(slow, pair, &pair.attack, attacked, slower, demands.floor));
            judged.push(round_trip(slow_after, pair, &pair.after, after, slower, demands.floor));
        }
    }
    judged.push(newcomers("newcomer", &measured.newcomers.during, demands.newcomer));
    judged.push(newcomers("newcomer after", &measured.newcomers.after, demands.newcomer));
    judged.push(status(&measured.status, demands.status));
    judged.push(memory(measured, demands.memory_bytes));
    if let Some(limit) = demands.gone {
        judged.extend(gone(measured, limit));
    }
    judged
}

fn loss(demand: &'static str, figures: &Figures, limit: f64) -> DemandVerdict {
    let found = match figures.sent {
        0 => "nothing was asked".to_owned(),
        sent => format!("{} of {sent}{}", figures.lost(), reasons(figures)),
    };
    DemandVerdict { demand, met: figures.loss() < limit, found, limit: format!("< {:.2} %", limit * 100.0) }
}

fn reasons(figures: &Figures) -> String {
    match (figures.nacked, figures.forged) {
        (0, 0) => String::new(),
        (nacked, 0) => format!(" ({nacked} Nacks)"),
        (0, forged) => format!(" ({forged} forged)"),
        (nacked, forged) => format!(" ({nacked} Nacks, {forged} forged)"),
    }
}

/// The base is the quiet round trip, but no less than `floor`, and no less than what the machine itself
/// takes: in the control, and beside the node in the same phase.
fn round_trip(
    demand: &'static str,
    pair: &Phases,
    figures: &Figures,
    machine: Option<Duration>,
    slower: f64,
    floor: Duration,
) -> DemandVerdict {
    let base = pair.quiet.quantile(0.99).map(|quiet| quiet.max(floor).max(machine.unwrap_or_default()));
    let limit = base.map(|base| base.mul_f64(slower));
    let found = figures.quantile(0.99);
    DemandVerdict {
        demand,
        met: found.zip(limit).is_some_and(|(found, limit)| found <= limit),
        found: time(found),
        limit: format!("≤ {}", time(limit)),
    }
}

fn newcomers(demand: &'static str, newcomers: &[Newcomer], limit: Duration) -> DemandVerdict {
    let found = newcomers.iter().map(|(way, took)| format!("{way:?} {}", time(*took)));
    DemandVerdict {
        demand,
        met: !newcomers.is_empty()
            && newcomers.iter().all(|(_, took)| took.is_some_and(|took| took <= limit)),
        found: found.collect::<Vec<_>>().join(", "),
        limit: format!("≤ {}", time(Some(limit))),
    }
}

fn status(answers: &[Option<Duration>], limit: Duration) -> DemandVerdict {
    let slowest = answers.iter().copied().max_by_key(|took| took.unwrap_or(Duration::MAX)).flatten();
    let failed = answers.iter().filter(|took| took.is_none()).count();
    DemandVerdict {
        demand: "status",
        met: slowest.is_some_and(|slowest| slowest <= limit) && failed == 0,
        found: match failed {
            0 => time(slowest),
            _ => format!("{failed} of {} without an answer", answers.len()),
        },
        limit: format!("≤ {}", time(Some(limit))),
    }
}

fn memory(measured: &Measured, assumed: u64) -> DemandVerdict {
    let budget =
        measured.memory.budget_told.unwrap_or(assumed).min(measured.memory.cage_bytes.unwrap_or(u64::MAX));
    let source = match (measured.memory.cage_bytes, measured.memory.budget_told) {
        (Some(cage), _) if cage == budget => "the machine has it",
        (_, Some(_)) => "the node tells it",
        _ => "assumed",
    };
    DemandVerdict {
        demand: "memory",
        met: measured.memory.resident_peak > 0 && measured.memory.resident_peak <= budget,
        found: megabytes(measured.memory.resident_peak),
        limit: format!("≤ {} ({source})", megabytes(budget)),
    }
}

fn gone(measured: &Measured, limit: Duration) -> [DemandVerdict; 2] {
    let left = measured.left.as_ref();
    let found = match left {
        None => "not seen".to_owned(),
        Some(left) => match left.gone_after {
            Some(after) => time(Some(after)),
            None => format!(
                "{} pending, {} incomplete, {} waiting",
                left.pending,
                megabytes(left.reassembly_bytes),
                megabytes(left.queued_bytes)
            ),
        },
    };
    let soon = left.and_then(|left| left.gone_after).is_some_and(|after| after <= limit + LOOK_INTERVAL);
    let faces = left.map(|left| left.faces);
    [
        DemandVerdict { demand: "state gone", met: soon, found, limit: format!("≤ {}", time(Some(limit))) },
        DemandVerdict {
            demand: "faces gone",
            met: faces == Some(0),
            found: faces.map_or("not seen".to_owned(), |faces| format!("{faces} left")),
            limit: format!("0 after {}", time(Some(limit))),
        },
    ]
}

/// A time for people; a dash for none.
pub(crate) fn time(time: Option<Duration>) -> String {
    match time {
        None => "–".to_owned(),
        Some(time) if time < Duration::from_millis(1) => format!("{} µs", time.as_micros()),
        Some(time) if time < Duration::from_secs(1) => format!("{:.1} ms", time.as_secs_f64() * 1e3),
        Some(time) => format!("{:.1} s", time.as_secs_f64()),
    }
}

/// Memory for people.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.0} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::honest::Protocol;
    use crate::measured::{Left, MemoryUse, Newcomers, Pairs};
    use crate::plan::Plan;

    fn figures(sent: u64, answered: u64, micros: u64) -> Figures {
        let mut figures = Figures::default();
        figures.sent = sent;
        (0..answered).for_each(|_| figures.answered(Duration::from_micros(micros)));
        figures
    }

    fn good() -> Measured {
        let pair = Phases {
            quiet: figures(1000, 1000, 120),
            attack: figures(5000, 5000, 300),
            after: figures(1000, 1000, 130),
        };
        Measured {
            pairs: Pairs { local: pair.clone(), remote: pair, ..Pairs::default() },
            newcomers: Newcomers {
                during: vec![(Protocol::Udp, Some(Duration::from_millis(3)))],
                after: vec![(Protocol::Tcp, Some(Duration::from_millis(3)))],
            },
            status: vec![Some(Duration::from_millis(20))],
            memory: MemoryUse { resident_peak: 50_000_000, ..MemoryUse::default() },
            left: Some(Left { gone_after: Some(Duration::from_secs(5)), ..Left::default() }),
            ..Measured::default()
        }
    }

    /// The demands that are missed after a change to a run that meets all.
    fn missed(change: impl FnOnce(&mut Measured)) -> Vec<&'static str> {
        let mut measured = good();
        change(&mut measured);
        let judged = judge(&measured, &Plan::long().demands);
        judged.into_iter().filter(|judged| !judged.met).map(|judged| judged.demand).collect()
    }

    #[test]
    fn a_good_run_misses_nothing() {
        assert_eq!(missed(|_| {}), [""; 0]);
    }

    #[test]
    fn a_run_in_which_nothing_was_seen_misses_everything() {
        let judged = judge(&Measured::default(), &Plan::long().demands);
        let met: Vec<&str> = judged.iter().filter(|judged| judged.met).map(|judged| judged.demand).collect();
        // Nobody has seen it end.
        assert_eq!(met, ["the node runs"]);
    }

    #[test]
    fn each_demand_can_be_missed_by_itself() {
        assert_eq!(missed(|run| run.ended = Some("killed".into())), ["the node runs"]);
        assert_eq!(missed(|run| run.trouble.push("no answer".into())), ["the node runs"]);
        assert_eq!(missed(|run| run.pairs.local.attack = figures(5000, 4995, 300)), ["local loss"]);
        assert_eq!(missed(|run| run.pairs.local.after = figures(1000, 998, 130)), ["local loss after"]);
        assert_eq!(missed(|run| run.pairs.local.attack = figures(5000, 5000, 361)), ["local p99"]);
        assert_eq!(missed(|run| run.pairs.local.after = figures(1000, 1000, 361)), ["local p99 after"]);
        assert_eq!(missed(|run| run.pairs.remote.attack = figures(5000, 4995, 300)), ["remote loss"]);
        assert_eq!(missed(|run| run.pairs.remote.attack = figures(5000, 5000, 361)), ["remote p99"]);
        assert_eq!(missed(|run| run.newcomers.during.push((Protocol::Tcp, None))), ["newcomer"]);
        let late = (Protocol::Udp, Some(Duration::from_millis(2001)));
        assert_eq!(missed(|run| run.newcomers.after.push(late)), ["newcomer after"]);
        assert_eq!(missed(|run| run.status.push(None)), ["status"]);
        assert_eq!(missed(|run| run.status.push(Some(Duration::from_millis(1001)))), ["status"]);
        assert_eq!(missed(|run| run.memory.resident_peak = 600_000_000), ["memory"]);
        assert_eq!(missed(|run| run.memory.budget_told = Some(49_000_000)), ["memory"]);
        assert_eq!(missed(|run| run.memory.cage_bytes = Some(49_000_000)), ["memory"]);
        assert_eq!(missed(|run| run.left = Some(Left::default())), ["state gone"]);
        let faces = |run: &mut Measured| run.left.iter_mut().for_each(|left| left.faces = 1);
        assert_eq!(missed(faces), ["faces gone"]);
    }

    #[test]
    fn what_the_machine_itself_loses_is_excused_and_no_more() {
        let with_control = |lost_in_ten_thousand: u64| {
            missed(move |run| {
                run.pairs.control.attack = figures(10_000, 9_900, 100);
                run.pairs.remote.attack = figures(10_000, 10_000 - lost_in_ten_thousand, 300);
            })
        };
        assert_eq!(with_control(105), [""; 0]);
        assert_eq!(with_control(115), ["remote loss"]);
    }

    #[test]
    fn what_an_echo_takes_in_the_same_phase_is_the_machine_s_and_no_node_s() {
        let beside = |attack_micros, after_micros| {
            missed(move |run| {
                run.pairs.beside.attack = figures(5000, 5000, 200);
                run.pairs.beside.after = figures(1000, 1000, 400);
                run.pairs.local.attack = figures(5000, 5000, attack_micros);
                run.pairs.remote.after = figures(1000, 1000, after_micros);
            })
        };
        assert_eq!(beside(600, 1200), [""; 0]);
        assert_eq!(beside(601, 1200), ["local p99"]);
        assert_eq!(beside(600, 1201), ["remote p99 after"]);
    }

    #[test]
    fn a_short_quiet_round_trip_counts_as_the_floor() {
        let quick = |micros| {
            missed(move |run| {
                run.pairs.local.quiet = figures(1000, 1000, 20);
                run.pairs.local.after = figures(1000, 1000, 20);
                run.pairs.local.attack = figures(5000, 5000, micros);
            })
        };
        assert_eq!(quick(300), [""; 0]);
        assert_eq!(quick(301), ["local p99"]);
    }
}
