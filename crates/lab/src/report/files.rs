//! The report's files: the page, the paper, figures with their data, and every number of every repeat.

use std::fs;
use std::path::{Path, PathBuf};

use super::compose::document;
use super::data::{ReportError, RunData};
use super::document::Document;
use super::verdict::verdicts;
use super::{factors, html, overview, pdf};
use crate::figure::{Data, Drawing};
use crate::run::RunFolder;

/// Makes the report of a run, its figures and its table of results. Returns the page's path.
///
/// # Errors
///
/// When nothing of the run is complete, or files cannot be read or written.
pub fn write_report(folder: &RunFolder) -> Result<PathBuf, ReportError> {
    write_report_of(&RunData::read(folder)?)
}

/// As [`write_report`], of a run that was read.
///
/// # Errors
///
/// When files cannot be written.
pub fn write_report_of(run: &RunData) -> Result<PathBuf, ReportError> {
    let folder = &run.folder;
    let document = document(run, &verdicts(run));
    let path = folder.report();
    fs::write(&path, html::page(&document))?;
    fs::write(path.with_extension("pdf"), pdf::render(&document))?;
    fs::write(folder.path().join("overview.pdf"), pdf::pages(&document.title, &overview::pages(run)))?;
    let place = folder.path().join("figures");
    // A report that is made again leaves nothing of the one before.
    let _ = fs::remove_dir_all(&place);
    write_figures(&document, &place)?;
    let results = results_table(run);
    fs::write(folder.path().join("results.csv"), results.to_csv())?;
    fs::write(folder.path().join("results.parquet"), results.to_parquet())?;
    Ok(path)
}

/// Every figure of a run's report and every page of its overview, with the name of its files.
///
/// # Errors
///
/// When nothing of the run is complete, or files cannot be read.
pub fn drawings(folder: &RunFolder) -> Result<Vec<(String, Drawing)>, ReportError> {
    let run = RunData::read(folder)?;
    let document = document(&run, &verdicts(&run));
    let figures = document.figures().into_iter().map(|figure| (figure.name.clone(), figure.drawing.clone()));
    let overview = overview::pages(&run).into_iter().map(|page| ("overview".to_owned(), page));
    Ok(figures.chain(overview).collect())
}

/// Each figure as SVG and PDF, its numbers as CSV and Parquet.
pub(super) fn write_figures(document: &Document, place: &Path) -> std::io::Result<()> {
    fs::create_dir_all(place)?;
    for figure in document.figures() {
        let file = |ending: &str| place.join(format!("{}.{ending}", figure.name));
        fs::write(file("svg"), figure.drawing.to_svg())?;
        fs::write(file("pdf"), pdf::figure(&figure.drawing))?;
        if let Some(data) = &figure.data {
            fs::write(file("csv"), data.to_csv())?;
            fs::write(file("parquet"), data.to_parquet())?;
        }
    }
    Ok(())
}

/// Every number of every repeat in one table, for people's own tools: what was varied, then what was found.
/// `results.csv` and `results.parquet` are this table.
#[must_use]
pub fn results_table(run: &RunData) -> Data {
    const NUMBERS: [&str; 11] =
        ["count", "mean", "deviation", "min", "p5", "median", "p95", "p99", "max", "last", "sum"];
    let (mut cases, mut measures) = (Vec::new(), Vec::new());
    let (mut repeats, mut valid) = (Vec::new(), Vec::new());
    let mut places = Vec::new();
    let mut numbers: [Vec<f64>; NUMBERS.len()] = Default::default();
    for case in &run.cases {
        for (repeat, result) in (1i64..).zip(&case.results) {
            for (key, summary) in &result.values {
                cases.push(case.plan.case.clone());
                measures.push(key.clone());
                places.push(case.plan.case.as_str());
                repeats.push(repeat);
                valid.push(result.is_valid());
                for (name, list) in NUMBERS.iter().zip(&mut numbers) {
                    list.push(summary.named(name).unwrap_or(f64::NAN));
                }
            }
        }
    }
    let data = factors::columns(run, &places, Data::default().words("case", cases))
        .whole("repeat", repeats)
        .booleans("valid", valid)
        .words("measure", measures);
    NUMBERS.iter().zip(numbers).fold(data, |data, (name, list)| data.numbers(name, list))
}
