//! Every number of every repeat in one table, for people's own tools: what was varied, then what was found.
//! Repeats of controls have a table of their own, of the same shape, in which each names its control.
//! It is written some cases at a time, so that it is never in memory as a whole.

use std::collections::HashMap;
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

/// Writes `results.csv` and `results.parquet`, the same of controls where there are any, and the hashes.
pub(super) fn write(run: &RunData, folder: &Path) -> io::Result<()> {
    let create = |name: &str| File::create(folder.join(name)).map(BufWriter::new);
    let columns = Columns::of(run, Repeats::OfCases);
    columns.write_csv(&run.cases, create("results.csv")?)?;
    columns.write_parquet(&run.cases, &mut create("results.parquet")?)?;
    if !run.controls.is_empty() {
        let columns = Columns::of(run, Repeats::OfControls);
        columns.write_csv(&run.controls, create("controls.csv")?)?;
        columns.write_parquet(&run.controls, &mut create("controls.parquet")?)?;
    }
    write_table_hashes(folder)
}

/// Writes the same table as `results.parquet`, as it is made from what the run's folder holds now.
///
/// # Errors
///
/// What `out` refuses.
pub fn write_results(run: &RunData, out: &mut impl Write) -> io::Result<()> {
    Columns::of(run, Repeats::OfCases).write_parquet(&run.cases, out)
}

/// Writes the same table as `controls.parquet`; it has no rows where no control was run.
///
/// # Errors
///
/// What `out` refuses.
pub fn write_controls(run: &RunData, out: &mut impl Write) -> io::Result<()> {
    Columns::of(run, Repeats::OfControls).write_parquet(&run.controls, out)
}

fn rows_of(case: &CaseData) -> usize {
    case.results.iter().map(|result| result.values.len()).sum()
}

/// The cases, as many at a time as have room.
fn blocks(cases: &[CaseData]) -> impl Iterator<Item = &[CaseData]> {
    let mut rest = cases;
    std::iter::from_fn(move || {
        let mut rows = 0;
        let has_room = |case: &&CaseData| {
            rows += rows_of(case);
            rows <= ROWS_AT_ONCE
        };
        let count = rest.iter().take_while(has_room).count().max(1);
        let (block, after) = rest.split_at_checked(count)?;
        rest = after;
        Some(block)
    })
}

/// Whose numbers a table has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeats {
    OfCases,
    /// With a column for the control's name.
    OfControls,
}

/// What every row of a table has.
struct Columns<'r> {
    repeats: Repeats,
    /// What was varied, by the places of cases.
    varied: Vec<(String, Factor)>,
    /// The place of each case.
    places: HashMap<&'r str, usize>,
}

impl<'r> Columns<'r> {
    fn of(run: &'r RunData, repeats: Repeats) -> Self {
        let places = run.cases.iter().enumerate().map(|(place, case)| (case.plan.case.as_str(), place));
        Columns { repeats, varied: factors::of_cases(run), places: places.collect() }
    }

    fn write_csv(&self, cases: &[CaseData], out: impl Write) -> io::Result<()> {
        let mut table = csv::Writer::new(out);
        self.rows(&[]).write_csv_head(&mut table)?;
        for block in blocks(cases) {
            self.rows(block).write_csv_rows(&mut table)?;
        }
        table.flush()
    }

    fn write_parquet(&self, cases: &[CaseData], out: &mut impl Write) -> io::Result<()> {
        let none = self.rows(&[]);
        let shape = none.parquet_columns();
        let mut table = parquet::Writer::new(&mut *out, &shape, Some(Data::gzip))?;
        for block in blocks(cases) {
            self.rows(block).write_parquet_group(&mut table)?;
        }
        table.finish(concat!("cairn ", env!("CARGO_PKG_VERSION")))?;
        out.flush()
    }

    /// The rows of some cases, or of some controls.
    fn rows(&self, block: &[CaseData]) -> Data {
        let (mut cases, mut controls, mut measures) = (Vec::new(), Vec::new(), Vec::new());
        let (mut repeats, mut valid) = (Vec::new(), Vec::new());
        let mut places = Vec::new();
        let mut numbers: [Vec<f64>; NUMBERS.len()] = Default::default();
        for case in block {
            let (of, control) = match &case.plan.control {
                Some(control) => (&control.case, control.name.as_str()),
                None => (&case.plan.case, ""),
            };
            let place = self.places.get(of.as_str()).copied().unwrap_or(usize::MAX);
            for (repeat, result) in (1i64..).zip(&case.results) {
                for (key, summary) in &result.values {
                    cases.push(of.clone());
                    controls.push(control.to_owned());
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
        let data = Data::default().words("case", cases);
        let data = match self.repeats {
            Repeats::OfCases => data,
            Repeats::OfControls => data.words("control", controls),
        };
        let data = factors::add(&self.varied, &places, data);
        let data = data.whole("repeat", repeats).booleans("valid", valid).words("measure", measures);
        NUMBERS.iter().zip(numbers).fold(data, |data, (name, list)| data.numbers(name, list))
    }
}
