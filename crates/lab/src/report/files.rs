//! The report's files: the page, the paper, figures with their data, and every number of every repeat.

use std::fs;
use std::path::{Path, PathBuf};

use super::compose::document;
use super::data::{ReportError, RunData};
use super::document::Document;
use super::verdict::verdicts;
use super::{every_number, html, overview, pdf};
use crate::figure::Drawing;
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
    every_number::write(run, folder.path())?;
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
