//! Traces and captures into files, results into tables.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use clap::ValueEnum;
use sim::trace::{Record, Table};
use sim::{Network, Trace};

use super::Failure;
use super::summary::{Outcome, mean};
use super::sweep::{Point, show};

/// What trace files look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text with commas.
    #[default]
    Csv,
    /// Apache Parquet.
    Parquet,
}

/// Writes all traces that were recorded and all captures of a run into a folder; gives the number of files.
pub(super) fn write_traces(network: &Network, folder: &Path, format: Format) -> Result<usize, Failure> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let Trace { packets, delays, values, drops, faces, nodes, links, engine_drops, .. } = network.trace();
    let mut files = 0;
    files += write_table(packets, folder, "packets", format)?;
    files += write_table(delays, folder, "delays", format)?;
    files += write_table(values, folder, "values", format)?;
    files += write_table(drops, folder, "drops", format)?;
    files += write_table(faces, folder, "faces", format)?;
    files += write_table(nodes, folder, "nodes", format)?;
    files += write_table(links, folder, "links", format)?;
    files += write_table(engine_drops, folder, "engine-drops", format)?;
    for capture in network.trace().captures() {
        let path = folder.join(format!("link-{}.pcapng", capture.link()));
        into_file(&path, |to| capture.write_pcapng(to))?;
        files += 1;
    }
    Ok(files)
}

fn write_table<R: Record>(
    table: &Table<R>,
    folder: &Path,
    name: &str,
    format: Format,
) -> Result<usize, Failure> {
    if table.rows().is_empty() {
        return Ok(0);
    }
    let lost = table.lost();
    if lost > 0 {
        eprintln!("{name}: {lost} records found no room; raise trace.max_records or set trace.one_in");
    }
    match format {
        Format::Csv => into_file(&folder.join(format!("{name}.csv")), |to| table.write_csv(to))?,
        Format::Parquet => into_file(&folder.join(format!("{name}.parquet")), |to| table.write_parquet(to))?,
    }
    Ok(1)
}

fn into_file(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), Failure> {
    let outcome = File::create(path).map(BufWriter::new).and_then(|mut to| {
        write(&mut to)?;
        to.flush()
    });
    outcome.map_err(|error| format!("{}: {error}", path.display()).into())
}

/// The runs of one point of a sweep.
pub(super) struct Group {
    pub(super) point: Point,
    pub(super) outcomes: Vec<Outcome>,
}

/// Prints a line for each point, with means and, where there are repeats, their 95 % confidence intervals.
pub(super) fn print_groups(to: &mut impl Write, groups: &[Group]) -> io::Result<()> {
    let Some(first) = groups.first() else { return Ok(()) };
    let keys = first.point.iter().map(|(key, _)| key.clone());
    let metrics = first.outcomes.first().map(|outcome| outcome.metrics.clone()).unwrap_or_default();
    let header: Vec<String> = keys.chain(metrics.iter().map(|(name, _)| (*name).to_owned())).collect();
    let mut rows = vec![header];
    for group in groups {
        let mut row: Vec<String> = group.point.iter().map(|(_, value)| show(value)).collect();
        for place in 0..metrics.len() {
            let values: Vec<f64> = group
                .outcomes
                .iter()
                .filter_map(|outcome| outcome.metrics.get(place).map(|(_, value)| *value))
                .collect();
            let (middle, half) = mean(&values);
            row.push(if half == 0.0 { short(middle) } else { format!("{}±{}", short(middle), short(half)) });
        }
        rows.push(row);
    }
    print_table(to, &rows)
}

/// Prints a line for each consumer of a run.
pub(super) fn print_consumers(to: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    const HEADER: [&str; 8] =
        ["node", "kind", "received", "Mbit/s", "delay_ms", "repeated", "nacks", "failed"];
    let mut rows = vec![HEADER.map(str::to_owned).to_vec()];
    for row in outcome.consumers.iter().take(MAX_CONSUMERS) {
        rows.push(vec![
            row.node.clone(),
            row.what.to_owned(),
            row.received.to_string(),
            short(row.megabits_per_second),
            short(row.mean_delay_ms),
            row.repeated.to_string(),
            row.nacks.to_string(),
            row.failed.to_string(),
        ]);
    }
    print_table(to, &rows)?;
    if let Some(more) = outcome.consumers.len().checked_sub(MAX_CONSUMERS).filter(|more| *more > 0) {
        writeln!(to, "… and {more} more; --json shows them all")?;
    }
    Ok(())
}

const MAX_CONSUMERS: usize = 20;

/// A number with four significant digits, or all of them if it is whole.
fn short(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e15 {
        return format!("{value}");
    }
    let digits = (3.0 - value.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.digits$}")
}

fn print_table(to: &mut impl Write, rows: &[Vec<String>]) -> io::Result<()> {
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

/// The same for programs.
pub(super) fn json(groups: &[Group]) -> serde_json::Value {
    let run = |outcome: &Outcome| {
        let metrics = outcome.metrics.iter().map(|(name, value)| ((*name).to_owned(), (*value).into()));
        let consumers = outcome.consumers.iter().map(|row| {
            serde_json::json!({
                "node": row.node, "kind": row.what, "received": row.received,
                "megabits_per_second": row.megabits_per_second, "mean_delay_ms": row.mean_delay_ms,
                "repeated": row.repeated, "nacks": row.nacks, "failed": row.failed,
            })
        });
        serde_json::json!({
            "seed": outcome.seed,
            "trace_hash": format!("{:016x}", outcome.hash),
            "metrics": metrics.collect::<serde_json::Map<_, _>>(),
            "consumers": consumers.collect::<Vec<_>>(),
        })
    };
    let group = |group: &Group| {
        let point = group.point.iter().map(|(key, value)| (key.clone(), show(value).into()));
        serde_json::json!({
            "point": point.collect::<serde_json::Map<_, _>>(),
            "runs": group.outcomes.iter().map(run).collect::<Vec<_>>(),
        })
    };
    groups.iter().map(group).collect()
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
}
