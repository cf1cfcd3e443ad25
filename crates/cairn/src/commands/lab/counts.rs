//! What virtual time counted: a line for each case, with means over its valid repeats, and for a single run a
//! line for each consumer at each of its nodes.

use std::io::{self, Write};

use lab::analysis::{ConsumerCounts, NetworkCounts, RepeatResult};
use lab::report::{CaseData, RunData};
use lab::stats::{Estimate, fairness};

use crate::tool::output::printable;

/// The title, the tables, and the hash over every packet of every repeat.
pub(super) fn text(run: &RunData) -> io::Result<Vec<u8>> {
    let mut to = Vec::new();
    writeln!(to, "{}", printable(&run.record.title))?;
    if let [case] = run.cases.as_slice()
        && let [counts] = case.counts.as_slice()
        && case.is_valid()
        && !counts.consumers.is_empty()
    {
        consumers(&mut to, counts)?;
        writeln!(to)?;
    }
    cases(&mut to, &run.cases)?;
    writeln!(to, "trace hash {:016x}", hash(&run.cases))?;
    Ok(to)
}

/// One number over the hashes of all repeats. A study mixes its numbers in another order; both orders stay,
/// since people compare such numbers with those that they have noted.
fn hash(cases: &[CaseData]) -> u64 {
    cases.iter().flat_map(|case| &case.counts).fold(0u64, |hash, counts| {
        let of_repeat = u64::from_str_radix(&counts.trace_hash, 16).unwrap_or(0);
        (hash ^ of_repeat).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)
    })
}

/// Consumers that fetch what exists.
fn fetching(counts: &NetworkCounts) -> impl Iterator<Item = &ConsumerCounts> {
    counts.consumers.iter().filter(|consumer| consumer.kind != "flood")
}

/// The units of those numbers that are no bare ones.
const UNITS: [(&str, &str); 3] = [("Mbit/s", "Mbit/s"), ("delay_ms", "ms"), ("cache_hits", "%")];

/// The numbers of a repeat, each with its name.
fn metrics(counts: &NetworkCounts) -> Vec<(&'static str, f64)> {
    let mut metrics = Vec::new();
    let rates: Vec<f64> = fetching(counts).map(|consumer| consumer.megabits(counts.seconds)).collect();
    if !rates.is_empty() {
        let sum = |value: fn(&ConsumerCounts) -> u64| fetching(counts).map(value).sum::<u64>() as f64;
        let received = sum(|consumer| consumer.received);
        let delays: f64 =
            fetching(counts).map(|consumer| consumer.mean_delay_ms * consumer.received as f64).sum();
        metrics.push(("received", received));
        metrics.push(("Mbit/s", rates.iter().sum()));
        metrics.push(("delay_ms", if received == 0.0 { 0.0 } else { delays / received }));
        metrics.push(("repeated", sum(|consumer| consumer.repeated)));
        metrics.push(("nacks", sum(|consumer| consumer.nacks)));
        metrics.push(("failed", sum(|consumer| consumer.failed)));
    }
    metrics.push(("cache_hits", counts.hit_share() * 100.0));
    metrics.push(("link_drops", counts.link_drops as f64));
    metrics.push(("engine_drops", counts.engine_drops as f64));
    metrics.push(("nacks_sent", counts.nacks_sent as f64));
    if !rates.is_empty() {
        metrics.push(("fairness", fairness(&rates)));
    }
    metrics.push(("hops", counts.hops as f64));
    metrics
}

/// Of what no repeat that counts has told.
const NOTHING: &str = "–";

/// A line for each case, with means over its valid repeats and, where there are several, their 95 %
/// confidence intervals. Where a repeat is not valid, each line says how many are.
fn cases(to: &mut impl Write, cases: &[CaseData]) -> io::Result<()> {
    let with_name = cases.len() > 1;
    let valid = |case: &CaseData| case.results.iter().filter(|result| result.is_valid()).count();
    let with_valid = cases.iter().any(|case| valid(case) < case.results.len());
    let mut rows: Vec<Vec<String>> = Vec::new();
    for case in cases {
        let Some(first) = case.counts.first().map(metrics) else { continue };
        if rows.is_empty() {
            let before = [(with_name, "case"), (with_valid, "valid")];
            let before = before.into_iter().filter(|(is_there, _)| *is_there).map(|(_, name)| name);
            let names = before.chain(first.iter().map(|(name, _)| *name));
            rows.push(names.map(str::to_owned).collect());
        }
        let mut row: Vec<String> = with_name.then(|| printable(case.name())).into_iter().collect();
        row.extend(with_valid.then(|| format!("{} of {}", valid(case), case.results.len())));
        for (place, (name, _)) in first.iter().enumerate() {
            let found = case.estimate_of(|counts| metrics(counts).get(place).map(|(_, value)| *value));
            let unit = if *name == "cache_hits" { "%" } else { "" };
            row.push(found.map_or_else(|| NOTHING.to_owned(), |found| mean(found) + unit));
        }
        rows.push(row);
    }
    table(to, &rows)
}

/// A mean with the half width of its interval (Student's t), where it has one that is more than rounding.
fn mean(found: Estimate) -> String {
    let (middle, half) = (found.mean, found.half95.unwrap_or(0.0));
    if half <= middle.abs() * 1e-6 { short(middle) } else { format!("{}±{}", short(middle), short(half)) }
}

/// More lines are not read.
const MAX_LINES: usize = 20;

/// A line for each consumer.
fn consumers(to: &mut impl Write, counts: &NetworkCounts) -> io::Result<()> {
    const HEADER: [&str; 8] =
        ["node", "kind", "received", "Mbit/s", "delay_ms", "repeated", "nacks", "failed"];
    let mut rows = vec![HEADER.map(str::to_owned).to_vec()];
    for row in counts.consumers.iter().take(MAX_LINES) {
        rows.push(vec![
            printable(&row.node),
            row.kind.clone(),
            row.received.to_string(),
            short(row.megabits(counts.seconds)),
            short(row.mean_delay_ms),
            row.repeated.to_string(),
            row.nacks.to_string(),
            row.failed.to_string(),
        ]);
    }
    table(to, &rows)?;
    if let Some(more) = counts.consumers.len().checked_sub(MAX_LINES).filter(|more| *more > 0) {
        writeln!(to, "… and {more} more; --json shows them all")?;
    }
    Ok(())
}

/// A number with four significant digits, or all of them if it is whole.
fn short(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e15 {
        return format!("{value}");
    }
    let digits = (3.0 - value.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.digits$}")
}

fn table(to: &mut impl Write, rows: &[Vec<String>]) -> io::Result<()> {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
        writeln!(to, "{}", cells.collect::<Vec<_>>().join("  "))?;
    }
    Ok(())
}

/// The same for programs: every repeat of every case, and whether it is valid, or why not.
pub(super) fn json(run: &RunData) -> serde_json::Value {
    let repeat = |case: &CaseData, result: &RepeatResult, counts: &NetworkCounts| {
        let numbers = metrics(counts);
        let is_there = |name: &str| numbers.iter().any(|(other, _)| *other == name);
        let units = UNITS.iter().filter(|(name, _)| is_there(name));
        let units = units.map(|(name, unit)| ((*name).to_owned(), (*unit).into()));
        let metrics = numbers.iter().map(|(name, value)| ((*name).to_owned(), (*value).into()));
        let consumers = counts.consumers.iter().map(|row| {
            serde_json::json!({
                "workload": row.workload, "node": row.node, "kind": row.kind, "received": row.received,
                "megabits_per_second": row.megabits(counts.seconds), "mean_delay_ms": row.mean_delay_ms,
                "repeated": row.repeated, "nacks": row.nacks, "failed": row.failed,
            })
        });
        serde_json::json!({
            "case": case.plan.case,
            "seed": counts.seed,
            "valid": result.is_valid(),
            "reasons": result.reasons(),
            "trace_hash": counts.trace_hash,
            "metrics": metrics.collect::<serde_json::Map<_, _>>(),
            "units": units.collect::<serde_json::Map<_, _>>(),
            "consumers": consumers.collect::<Vec<_>>(),
        })
    };
    let of_case = |case| CaseData::counted(case).map(move |(result, counts)| repeat(case, result, counts));
    run.cases.iter().flat_map(of_case).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_whole_ones_whole() {
        for (value, text) in [(0.0, "0"), (1234567.0, "1234567"), (3.15159, "3.152"), (0.0123456, "0.01235")]
        {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn a_mean_has_its_interval_beside_it_where_values_differ() {
        let of = |values: &[f64]| mean(Estimate::of(values).unwrap());
        assert_eq!(of(&[3.0]), "3");
        assert_eq!(of(&[3.0, 3.0]), "3");
        // Deviation 1, three values: 4.303 / sqrt(3).
        assert_eq!(of(&[1.0, 2.0, 3.0]), "2±2.484");
    }
}
