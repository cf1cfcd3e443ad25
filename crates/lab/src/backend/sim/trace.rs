//! What is recorded beside what every run writes: traces and captures, into `trace/` beside the raw folder.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use packet::time::Duration;
use sim::trace::{Record, Table};
use sim::{LinkId, Network, Trace, TraceConfig};

use super::error::SimulationError;
use crate::experiment::plan::{Arena, LinkIndex, TraceFormat, TracePlan};

/// What the simulator is to record. All packets are counted for the tables of nodes, whatever is asked for.
pub(super) fn config(plan: &TracePlan) -> TraceConfig {
    TraceConfig {
        sample_every: plan.sample_ns.map(Duration::from_nanos),
        packets: true,
        delays: plan.delays,
        values: plan.values,
        drops: plan.drops,
        one_in: plan.one_in,
        packets_one_in: 1,
        max_records: plan.is_asked().then_some(plan.max_records.max(1)),
    }
}

/// Captures the links that are asked for.
pub(super) fn capture(
    network: &mut Network,
    plan: &TracePlan,
    links: &Arena<LinkIndex, LinkId>,
) -> Result<(), SimulationError> {
    for (link, most) in &plan.captures {
        if let Some(link) = links.get(*link) {
            network.capture(*link, *most)?;
        }
    }
    Ok(())
}

/// Writes what was asked for into `folder`; gives what found no room, in sentences.
pub(super) fn write(
    network: &Network,
    plan: &TracePlan,
    names: &[&str],
    folder: &Path,
) -> io::Result<Vec<String>> {
    if !plan.is_asked() {
        return Ok(Vec::new());
    }
    fs::create_dir_all(folder)?;
    let trace = network.trace();
    let Trace { packets, delays, values, drops, faces, nodes, links, engine_drops, .. } = trace;
    let mut notes = Vec::new();
    let to = &Target { folder, format: plan.format };
    write_table(packets, to, "packets", &mut notes)?;
    write_table(delays, to, "delays", &mut notes)?;
    write_table(values, to, "values", &mut notes)?;
    write_table(drops, to, "drops", &mut notes)?;
    write_table(faces, to, "faces", &mut notes)?;
    write_table(nodes, to, "nodes", &mut notes)?;
    write_table(links, to, "links", &mut notes)?;
    write_table(engine_drops, to, "engine-drops", &mut notes)?;
    for (capture, name) in trace.captures().zip(names) {
        into_file(&folder.join(format!("link-{name}.pcapng")), |to| capture.write_pcapng(to))?;
    }
    Ok(notes)
}

/// Where tables go, and in which form.
struct Target<'a> {
    folder: &'a Path,
    format: TraceFormat,
}

fn write_table<R: Record>(
    table: &Table<R>,
    to: &Target<'_>,
    name: &str,
    notes: &mut Vec<String>,
) -> io::Result<()> {
    if table.rows().is_empty() {
        return Ok(());
    }
    let lost = table.lost();
    if lost > 0 {
        notes.push(format!(
            "{lost} records of the trace {name} found no room: raise trace.max_records or set trace.one_in"
        ));
    }
    let Target { folder, format } = *to;
    match format {
        TraceFormat::Csv => into_file(&folder.join(format!("{name}.csv")), |to| table.write_csv(to)),
        TraceFormat::Parquet => {
            into_file(&folder.join(format!("{name}.parquet")), |to| table.write_parquet(to))
        }
    }
}

fn into_file(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let mut to = BufWriter::new(File::create(path)?);
    write(&mut to)?;
    to.flush()
}
