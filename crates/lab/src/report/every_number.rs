//! Every number of every repeat in one table, for people's own tools: what was varied, then what was found.
//! It is written some cases at a time, so that it is never in memory as a whole.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use formats::{csv, parquet};

use super::data::{CaseData, RunData};
use super::factors::{self, Factor};
use crate::figure::Data;

const NUMBERS: [&str; 11] =
    ["count", "mean", "deviation", "min", "p5", "median", "p95", "p99", "max", "last", "sum"];

/// Rows that are in memory at once: those of as many cases as have so many, and of one at least.
const ROWS_AT_ONCE: usize = 100_000;

/// Writes `results.csv` and `results.parquet`.
pub(super) fn write(run: &RunData, folder: &Path) -> io::Result<()> {
    let varied = factors::of_cases(run);
    let shape = rows(&[], 0, &varied);
    let columns = shape.parquet_columns();
    let create = |name: &str| File::create(folder.join(name)).map(BufWriter::new);
    let mut text = csv::Writer::new(create("results.csv")?);
    let mut packed = create("results.parquet")?;
    shape.write_csv_head(&mut text)?;
    let mut table = parquet::Writer::new(&mut packed, &columns, Some(Data::gzip))?;
    let mut first = 0;
    for cases in blocks(&run.cases) {
        let rows = rows(cases, first, &varied);
        rows.write_csv_rows(&mut text)?;
        rows.write_parquet_group(&mut table)?;
        first += cases.len();
    }
    table.finish(concat!("cairn ", env!("CARGO_PKG_VERSION")))?;
    text.flush()?;
    packed.flush()
}

fn rows_of(case: &CaseData) -> usize {
    case.results.iter().map(|result| result.values.len()).sum()
}

/// The cases, as many at a time as have room.
fn blocks(mut cases: &[CaseData]) -> impl Iterator<Item = &[CaseData]> {
    std::iter::from_fn(move || {
        let mut rows = 0;
        let has_room = |case: &&CaseData| {
            rows += rows_of(case);
            rows <= ROWS_AT_ONCE
        };
        let count = cases.iter().take_while(has_room).count().max(1);
        let (block, rest) = cases.split_at_checked(count)?;
        cases = rest;
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
