//! What was seen, for people and for programs.

use std::time::Duration;

use serde_json::{Value, json};

use crate::figures::Figures;
use crate::measured::{Measured, Phases};
use crate::plan::Plan;
use crate::verdict::{DemandVerdict, megabytes, time};

/// One attack with its verdict.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) measured: Measured,
    pub(crate) judged: Vec<DemandVerdict>,
}

impl Entry {
    /// Whether every demand was met.
    pub(crate) fn is_met(&self) -> bool {
        self.judged.iter().all(|judged| judged.met)
    }
}

const HEADER: &[&str] = &[
    "attack",
    "packets/s",
    "local lost",
    "99 % quiet > attack > after",
    "remote lost",
    "99 % quiet > attack > after",
    "control lost",
    "99 %",
    "echo beside, 99 %",
    "newcomer",
    "status",
    "memory",
    "core, waited",
    "gone",
    "verdict",
];

/// The table, as Markdown, which a terminal shows as well.
pub(crate) fn table(entries: &[Entry]) -> String {
    let rows: Vec<Vec<String>> = entries.iter().map(row).collect();
    let mut widths: Vec<usize> = HEADER.iter().map(|cell| cell.chars().count()).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String]| {
        let cells = cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let header: Vec<String> = HEADER.iter().map(|&cell| cell.to_owned()).collect();
    let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
    let mut text = line(&header) + &line(&rule);
    rows.iter().for_each(|row| text.push_str(&line(row)));
    text
}

fn row(entry: &Entry) -> Vec<String> {
    let seen = &entry.measured;
    let newcomer = |newcomers: &[(_, Option<Duration>)]| match newcomers.iter().map(|(_, took)| *took).max() {
        Some(slowest) if newcomers.iter().all(|(_, took)| took.is_some()) => time(slowest),
        _ => "never".to_owned(),
    };
    let status = match seen.status.iter().copied().max_by_key(|took| took.unwrap_or(Duration::MAX)) {
        Some(Some(slowest)) => time(Some(slowest)),
        _ => "none".to_owned(),
    };
    let missed = entry.judged.iter().filter(|judged| !judged.met).count();
    vec![
        seen.attack.name.to_owned(),
        format!("{:.0}", seen.attack.sent.packets as f64 / seen.attack.seconds.max(1e-9)),
        percent(&seen.pairs.local.attack),
        slower(&seen.pairs.local),
        percent(&seen.pairs.remote.attack),
        slower(&seen.pairs.remote),
        if seen.pairs.control.attack.sent == 0 {
            "–".to_owned()
        } else {
            percent(&seen.pairs.control.attack)
        },
        time(seen.pairs.control.attack.quantile(0.99)),
        slower(&seen.pairs.beside),
        newcomer(&seen.newcomers.during),
        status,
        megabytes(seen.memory.resident_peak),
        format!("{:.0} %, {:.0} %", seen.processor.cpu_share * 100.0, seen.processor.waited_share * 100.0),
        match &seen.left {
            None => "–".to_owned(),
            Some(left) => left.gone_after.map_or("no".to_owned(), |after| time(Some(after))),
        },
        if missed == 0 { "met".to_owned() } else { format!("MISSED {missed}") },
    ]
}

fn percent(figures: &Figures) -> String {
    if figures.sent == 0 { "none asked".to_owned() } else { format!("{:.2} %", figures.loss() * 100.0) }
}

fn slower(pair: &Phases) -> String {
    [&pair.quiet, &pair.attack, &pair.after].map(|phase| time(phase.quantile(0.99))).join(" > ")
}

/// What was missed, and which limits acted, one line each.
pub(crate) fn details(entry: &Entry) -> String {
    let mut text = format!("{}: {}\n", entry.measured.attack.name, entry.measured.attack.about);
    for judged in entry.judged.iter().filter(|judged| !judged.met) {
        text.push_str(&format!("  MISSED {}: {}, demanded {}\n", judged.demand, judged.found, judged.limit));
    }
    let mut drops: Vec<_> = entry.measured.drops.iter().collect();
    drops.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let drops: Vec<String> =
        drops.iter().take(6).map(|(reason, count)| format!("{reason} {count}")).collect();
    if !drops.is_empty() {
        text.push_str(&format!("  limits that acted: {}\n", drops.join(", ")));
    }
    text
}

/// The whole run for programs.
pub(crate) fn json(plan: &Plan, seed: u64, entries: &[Entry], not_run: &[String]) -> Value {
    let demands = &plan.demands;
    let attacks = entries.iter().map(|entry| {
        let mut value = entry.measured.json();
        let verdicts = entry.judged.iter().map(|judged| {
            let DemandVerdict { demand, met, found, limit } = judged;
            json!({ "demand": demand, "met": met, "found": found, "limit": limit })
        });
        value["verdicts"] = verdicts.collect();
        value["met"] = json!(entry.is_met());
        value
    });
    json!({
        "seed": seed,
        "plan": {
            "quiet_seconds": plan.quiet.as_secs_f64(),
            "attack_seconds": plan.attack.as_secs_f64(),
            "leave_seconds": plan.leave.as_secs_f64(),
            "after_seconds": plan.after.as_secs_f64(),
            "honest_exchanges_per_second": plan.honest_rate,
            "patience_seconds": plan.patience.as_secs_f64(),
            "packets_per_second": plan.packets_per_second,
            "bits_per_second": plan.bits_per_second,
            "sockets": plan.sockets,
        },
        "demands": {
            "loss": demands.loss,
            "slower": demands.slower,
            "floor_us": demands.floor.as_micros() as u64,
            "newcomer_seconds": demands.newcomer.as_secs_f64(),
            "status_seconds": demands.status.as_secs_f64(),
            "memory_bytes": demands.memory_bytes,
            "gone_seconds": demands.gone.map(|gone| gone.as_secs_f64()),
        },
        "attacks": attacks.collect::<Vec<_>>(),
        "not_run": not_run,
        "met": entries.iter().all(Entry::is_met),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::AttackSent;
    use crate::verdict::judge;

    fn entry() -> Entry {
        let attack = AttackSent { name: "nothing", about: "nobody does anything", ..AttackSent::default() };
        let measured = Measured { attack, ..Measured::default() };
        let judged = judge(&measured, &Plan::long().demands);
        Entry { measured, judged }
    }

    #[test]
    fn what_was_missed_is_named_with_what_was_demanded() {
        let details = details(&entry());
        assert!(details.contains("MISSED local loss: nothing was asked, demanded < 0.10 %"), "{details}");
        assert!(details.contains("MISSED newcomer"), "{details}");
    }

    #[test]
    fn rows_have_as_many_cells_as_the_header() {
        let table = table(&[entry()]);
        let bars: Vec<usize> = table.lines().map(|line| line.matches('|').count()).collect();
        assert_eq!(bars, [HEADER.len() + 1; 3]);
    }

    #[test]
    fn a_missed_demand_is_a_missed_run_for_programs_too() {
        let value = json(&Plan::long(), 1, &[entry()], &[]);
        assert_eq!(value["met"], false);
        assert_eq!(value["attacks"][0]["met"], false);
    }
}
