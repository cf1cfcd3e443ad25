//! Everything needed to do it again.

use super::data::RunData;
use super::document::{Block, Cell, Table, Tone};
use super::results::command;
use super::summary::TRACE_HASH;
use crate::figure::number::with_unit;
use crate::run::command_beside;

pub(super) fn chapter(blocks: &mut Vec<Block>, run: &RunData) {
    blocks.push(Block::Code(command_beside(&run.folder, &run.record)));
    let mut table = Table::new(&["", ""]);
    for (name, value) in circumstances(run) {
        table.rows.push(vec![Cell::new(name).toned(Tone::Soft), value.into()]);
    }
    blocks.push(Block::Table(table));
    blocks.push(Block::Paragraph(
        "Beside this report are the figures as SVG with their data as CSV and Parquet (`figures/`), all numbers of all repeats \
         (`results.csv`, `results.parquet`), and for each repeat the raw captures, logs and transfers, compressed \
         (`case-…/repeat-…/raw/`), and what was derived from them (`derived/`)."
            .to_owned(),
    ));
    blocks.push(Block::Folded {
        title: "The experiment as it was given".to_owned(),
        blocks: vec![Block::Code(run.experiment.text.clone())],
    });
}

/// What the run was made of and with: name and value of each thing.
fn circumstances(run: &RunData) -> Vec<(&'static str, String)> {
    let record = &run.record;
    let machine = &record.machine;
    let control = run
        .cases
        .iter()
        .flat_map(|case| &case.results)
        .map(|result| result.outcome.control.as_str())
        .find(|words| !words.is_empty());
    let mut rows = vec![
        ("experiment", format!("{}.toml, printed below and kept as `experiment.toml`", record.experiment)),
        ("began", record.began.clone()),
        ("begun with", command(run)),
        ("backend", record.backend.clone()),
        ("lab", format!("cairn {}, {}", record.version, record.program.words())),
        ("software under test", record.software.clone()),
        (
            "seed",
            format!(
                "{}; repeat number n uses the seed + n − 1, an attempt after one that was not valid 2³² more",
                record.seed
            ),
        ),
        (
            "machine",
            format!(
                "{} × {}, {}",
                machine.processors,
                machine.processor,
                with_unit(machine.memory_bytes as f64, "B")
            ),
        ),
        ("system", machine.kernel.clone()),
    ];
    rows.extend(control.map(|control| ("shares", control.to_owned())));
    let hashes: Vec<&str> = run
        .cases
        .iter()
        .flat_map(|case| &case.results)
        .flat_map(|result| &result.outcome.notes)
        .filter_map(|note| note.strip_prefix(TRACE_HASH))
        .collect();
    if !hashes.is_empty() {
        rows.push((
            "trace of each repeat",
            format!("{}; the same again with the same seed", hashes.join(", ")),
        ));
    }
    let scaling = run.cases.first().and_then(|case| case.plan.scaling.clone());
    rows.extend(
        scaling.map(|why| ("scaled for this backend", why.split_whitespace().collect::<Vec<_>>().join(" "))),
    );
    rows
}
