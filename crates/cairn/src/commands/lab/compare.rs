//! Two runs side by side.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use lab::report::{Comparison, Pair, RunData};
use lab::run::RunFolder;

use super::Outcome;
use super::verdicts::{self, Form, NOT_COMPLETE};
use crate::tool::{ToolError, output};

fn read(path: &Path) -> Result<RunData, ToolError> {
    let folder = RunFolder::open(path).map_err(ToolError::file(path))?;
    super::study::refuse(&folder)?;
    super::runs::read_only(&folder)
}

/// Means of measures of every case in both runs, and how far they are apart: of those that differ, or of all;
/// as a page, too, when a folder is named.
pub(super) fn compare(a: &Path, b: &Path, form: Form, all: bool, report: Option<&Path>) -> Outcome {
    let (a, b) = (read(a)?, read(b)?);
    let unhashed =
        [("A", &a), ("B", &b)].map(|(name, run)| Some(format!("{name}: {}", run.unhashed.as_ref()?)));
    let unhashed: Vec<String> = unhashed.into_iter().flatten().collect();
    verdicts::ways_out(&a);
    verdicts::ways_out(&b);
    let comparison = Comparison::of(a, b);
    if comparison.pairs.is_empty() && !comparison.leaves_some_out() {
        let why = comparison.summary().join(" ");
        return Err(ToolError::other(format!("nothing can be compared: {}", output::printable(&why))));
    }
    let page = report.map(|folder| comparison.write(folder)).transpose().map_err(ToolError::other)?;
    if matches!(form, Form::Json) {
        let pairs = comparison.pairs.iter().map(row).collect::<Result<Vec<_>, _>>()?;
        output::json(
            &serde_json::json!({ "summary": comparison.summary(), "unhashed": unhashed, "pairs": pairs }),
        )?;
        return Ok(code(&comparison));
    }
    let mut out = Vec::new();
    for (name, record) in ["A", "B"].iter().zip(comparison.records()) {
        let title = verdicts::one_line(&record.title);
        writeln!(out, "{name}: {title} ({}, {})", record.backend, record.began)?;
    }
    for line in comparison.summary().into_iter().chain(unhashed) {
        writeln!(out, "{}", output::printable(&line))?;
    }
    let shown: Vec<&Pair> =
        comparison.pairs.iter().filter(|pair| all || pair.differs() == Some(true)).collect();
    list(&mut out, &shown)?;
    let left_out = comparison.pairs.len() - shown.len();
    if left_out > 0 {
        writeln!(out, "\n{left_out} measures do not differ, or nobody can say; --all lists them, too.")?;
    }
    if let Some(page) = page {
        writeln!(out, "\nreport: {}", page.display())?;
    }
    output::text(&out)?;
    Ok(code(&comparison))
}

/// A measure of both, whether they differ, and of what that is known.
fn row(pair: &Pair) -> Result<serde_json::Value, ToolError> {
    let mut row = serde_json::to_value(pair).map_err(ToolError::other)?;
    if let Some(fields) = row.as_object_mut() {
        fields.insert("differs".to_owned(), pair.differs().into());
        let of = serde_json::to_value(pair.of()).map_err(ToolError::other)?;
        fields.insert("of".to_owned(), of);
    }
    Ok(row)
}

/// Two runs that are there whole can be compared; of others the numbers say less.
fn code(comparison: &Comparison) -> ExitCode {
    if comparison.is_incomplete() { ExitCode::from(NOT_COMPLETE) } else { ExitCode::SUCCESS }
}

/// How wide the measures and the numbers of both sides are, so that all lines have them below each other.
fn widths(pairs: &[&Pair]) -> [usize; 3] {
    let mut widths = [28, 26, 26];
    for pair in pairs {
        let (left, right) = pair.words();
        for (width, cell) in widths.iter_mut().zip([&pair.measure, &left, &right]) {
            *width = cell.chars().count().max(*width);
        }
    }
    widths
}

/// Case by case, a line for each measure.
fn list(out: &mut Vec<u8>, pairs: &[&Pair]) -> Result<(), ToolError> {
    let mut last = None;
    let widths = widths(pairs);
    let line = |[measure, a, b, ratio]: [&str; 4]| {
        let [first, second, third] = widths;
        format!("  {measure:<first$} {a:>second$} {b:>third$} {ratio:>9}")
    };
    for pair in pairs {
        if last != Some(&pair.case) {
            let also = if pair.case == pair.case_b { String::new() } else { format!(" / {}", pair.case_b) };
            let case = verdicts::one_line(&format!("{}{also}", pair.case));
            writeln!(out, "{}{case}", if case.is_empty() { "" } else { "\n" })?;
            writeln!(out, "{}", line(["measure", "A", "B", "B / A"]))?;
        }
        last = Some(&pair.case);
        let (left, right) = pair.words();
        let ratio = pair.ratio().map_or_else(String::new, |ratio| format!("{ratio:.2}"));
        let mark = if pair.differs() == Some(true) { " *" } else { "" };
        writeln!(out, "{}{mark}", line([&pair.measure, &left, &right, &ratio]))?;
    }
    if pairs.iter().any(|pair| pair.differs().is_some()) {
        writeln!(
            out,
            "\n± is 95 % confidence by how repeats spread; * marks means that differ beyond what repeats leave \
             open, or in most of the orders that were drawn, and by more than 1 %."
        )?;
    }
    Ok(())
}
