//! Every number of every repeat in one table, for people's own tools: what was varied, then what was found.
//! It is written some cases at a time, so that it is never in memory as a whole.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use formats::{csv, parquet};

use super::data::{CaseData, RunData};
use super::factors::{self, Factor};
use super::faults::write_table_hashes;
use crate::figure::Data;

const NUMBERS: [&str; 11] =
    ["count", "mean", "deviation", "min", "p5", "median", "p95", "p99", "max", "last", "sum"];

/// Rows that are in memory at once: those of as many cases as have so many, and of one at least.
const ROWS_AT_ONCE: usize = 100_000;

/// Writes `results.csv` and `results.parquet`, and the hashes of both.
pub(super) fn write(run: &RunData, folder: &Path) -> io::Result<()> {
    let create = |name: &str| File::create(folder.join(name)).map(BufWriter::new);
    write_csv(run, create("results.csv")?)?;
    write_results(run, &mut create("results.parquet")?)?;
    write_table_hashes(folder)
}

fn write_csv(run: &RunData, out: impl Write) -> io::Result<()> {
    let varied = factors::of_cases(run);
    let mut table = csv::Writer::new(out);
    rows(&[], 0, &varied).write_csv_head(&mut table)?;
    for (first, cases) in blocks(&run.cases) {
        rows(cases, first, &varied).write_csv_rows(&mut table)?;
    }
    table.flush()
}

/// Every number of every repeat, as Parquet.
///
/// # Errors
///
/// What `out` refuses.
pub fn write_results(run: &RunData, out: &mut impl Write) -> io::Result<()> {
    let varied = factors::of_cases(run);
    let shape = rows(&[], 0, &varied);
    let columns = shape.parquet_columns();
    let mut table = parquet::Writer::new(&mut *out, &columns, Some(Data::gzip))?;
    for (first, cases) in blocks(&run.cases) {
        rows(cases, first, &varied).write_parquet_group(&mut table)?;
    }
    table.finish(concat!("cairn ", env!("CARGO_PKG_VERSION")))?;
    out.flush()
}

fn rows_of(case: &CaseData) -> usize {
    case.results.iter().map(|result| result.values.len()).sum()
}

/// The cases, as many at a time as have room, and the place of the first of them among all.
fn blocks(cases: &[CaseData]) -> impl Iterator<Item = (usize, &[CaseData])> {
    let mut first = 0;
    std::iter::from_fn(move || {
        let rest = cases.get(first..).filter(|rest| !rest.is_empty())?;
        let mut rows = 0;
        let has_room = |case: &&CaseData| {
            rows += rows_of(case);
            rows <= ROWS_AT_ONCE
        };
        let count = rest.iter().take_while(has_room).count().max(1);
        let block = (first, rest.get(..count)?);
        first += count;
        Some(block)
    })
}

/// The rows of some cases, of which the first has the place `first` among all.
fn rows(block: &[CaseData], first: usize, varied: &[(String, Factor)]) -> Data {
    let (mut cases, mut measures) = (Vec::new(), Vec::new());
    let (mut repeats, mut valid) = (Vec::new(), Vec::new());
    let mut places = Vec::new();
    let mut numbers: [Vec<f64>; NUMBERS.len()] = Default::default();
    for (place, case) in (first..).zip(block) {
        for (repeat, result) in (1i64..).zip(&case.results) {
            for (key, summary) in &result.values {
                cases.push(case.plan.case.clone());
                measures.push(key.clone());
                places.push(place);
                repeats.push(repeat);
                valid.push(result.is_valid());
                for (name, list) in NUMBERS.iter().zip(&mut numbers) {
                    list.push(summary.named(name).unwrap_or(f64::NAN));
                }
            }
        }
    }
    let data = factors::add(varied, &places, Data::default().words("case", cases));
    let data = data.whole("repeat", repeats).booleans("valid", valid).words("measure", measures);
    NUMBERS.iter().zip(numbers).fold(data, |data, (name, list)| data.numbers(name, list))
}
