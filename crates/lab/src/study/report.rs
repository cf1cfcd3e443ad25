//! What a study found: tables, figures and remarks, and the files that hold them.
//!
//! Its tables are not those of a run's report (`report/document.rs`): these hold numbers, by which statements
//! are judged and from which text, CSV and PDF are written, and those hold words that are only read.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io, iter};

use formats::csv;
use serde::Serialize;

use crate::figure::Drawing;
use crate::report::pdf;

/// The column of a table of statements in which the verdicts stand.
pub(super) const VERDICT: &str = "verdict";

/// One cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum StudyCell {
    /// A word.
    Text(String),
    /// A number, and how many digits behind the point are worth showing.
    Number(f64, #[serde(skip)] usize),
    /// Nothing to say.
    Empty,
}

impl StudyCell {
    /// A whole number.
    pub fn count(number: u64) -> Self {
        StudyCell::Number(number as f64, 0)
    }

    /// How much `ours` is above `theirs`, as a part of theirs.
    pub fn difference(ours: f64, theirs: f64) -> Self {
        StudyCell::Text(format!("{:+.1} %", (ours / theirs - 1.0) * 100.0))
    }
}

impl From<&str> for StudyCell {
    fn from(text: &str) -> Self {
        StudyCell::Text(text.into())
    }
}

impl From<String> for StudyCell {
    fn from(text: String) -> Self {
        StudyCell::Text(text)
    }
}

impl std::fmt::Display for StudyCell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StudyCell::Text(text) => f.write_str(text),
            StudyCell::Number(number, digits) => write!(f, "{number:.digits$}"),
            StudyCell::Empty => Ok(()),
        }
    }
}

/// A table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudyTable {
    /// Name of its file, without ending.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Names of the columns, with units.
    pub columns: Vec<String>,
    /// The rows; each has as many cells as there are columns.
    pub rows: Vec<Vec<StudyCell>>,
    /// What to know when reading it.
    pub notes: Vec<String>,
}

impl StudyTable {
    /// Is it one of statements and what came of each?
    pub(super) fn has_verdicts(&self) -> bool {
        self.columns.iter().any(|column| column == VERDICT)
    }

    /// A table without rows.
    pub fn new(name: &str, title: &str, columns: &[&str]) -> Self {
        StudyTable {
            name: name.into(),
            title: title.into(),
            columns: columns.iter().map(|column| (*column).to_owned()).collect(),
            rows: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// For a terminal: columns in line, numbers to the right.
    pub fn to_text(&self) -> String {
        let cells: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(ToString::to_string).collect()).collect();
        let width = |column: usize| {
            let longest =
                cells.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
            longest.unwrap_or(0).max(self.columns[column].chars().count())
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let is_of_words = self.has_verdicts();
        let mut out = format!("{}\n", self.title);
        let mut line = |row: &[String], left: bool| {
            let mut text = String::new();
            for (place, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let _ = match place == 0 || left || is_of_words {
                    true => write!(text, "{cell:<width$}  "),
                    false => write!(text, "{cell:>width$}  "),
                };
            }
            out.push_str(text.trim_end());
            out.push('\n');
        };
        line(&self.columns, false);
        line(&widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>(), true);
        for row in &cells {
            line(row, false);
        }
        for note in &self.notes {
            let _ = writeln!(out, "{note}");
        }
        out
    }

    /// Comma-separated values, all digits.
    pub fn to_csv(&self) -> String {
        let all_digits = |cell: &StudyCell| match cell {
            StudyCell::Number(number, _) => number.to_string(),
            other => other.to_string(),
        };
        let rows = self.rows.iter().map(|row| row.iter().map(all_digits).collect());
        csv::to_string(iter::once(self.columns.clone()).chain(rows))
    }
}

/// A figure and the numbers it was drawn from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudyFigure {
    /// Name of its files, without ending.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The drawing.
    #[serde(skip)]
    pub drawing: Drawing,
    /// The numbers as comma-separated values.
    #[serde(skip)]
    pub csv: String,
}

impl StudyFigure {
    /// The figure of a line chart.
    pub fn lines(name: &str, chart: &crate::figure::LineChart) -> Self {
        let names = ["series".to_owned(), chart.x.caption(), chart.y.column(&chart.title)];
        let points = chart.series.iter().flat_map(|series| {
            series.points.iter().map(|(x, y)| [series.label.clone(), x.to_string(), y.to_string()])
        });
        let csv = csv::to_string(iter::once(names).chain(points));
        StudyFigure { name: name.into(), title: chart.title.clone(), drawing: chart.drawing(), csv }
    }

    /// The figure of a grid, with its words as values.
    pub fn grid(name: &str, chart: &crate::figure::GridChart) -> Self {
        let names = iter::once(&chart.y).chain(&chart.columns).cloned().collect::<Vec<_>>();
        let rows = chart.rows.iter().map(|row| {
            iter::once(&row.name).chain(row.cells.iter().map(|cell| &cell.text)).cloned().collect()
        });
        let csv = csv::to_string(iter::once(names).chain(rows));
        StudyFigure { name: name.into(), title: chart.title.clone(), drawing: chart.drawing(), csv }
    }

    /// The figure of boxes, with the five numbers of each.
    pub fn boxes(name: &str, chart: &crate::figure::BoxChart) -> Self {
        let names = [&chart.x, "series", "low", "lower quartile", "median", "upper quartile", "high"];
        let mut rows = vec![names.map(str::to_owned).to_vec()];
        for group in &chart.groups {
            for (label, quartiles) in chart.labels.iter().zip(&group.boxes) {
                let Some(of) = quartiles else { continue };
                let numbers =
                    [of.low, of.lower, of.median, of.upper, of.high].map(|number| number.to_string());
                rows.push([group.name.clone(), label.clone()].into_iter().chain(numbers).collect());
            }
        }
        let csv = csv::to_string(rows);
        StudyFigure { name: name.into(), title: chart.title.clone(), drawing: chart.drawing(), csv }
    }

    /// The figure of a bar chart.
    pub fn bars(name: &str, chart: &crate::figure::BarChart) -> Self {
        let names = iter::once(&chart.x).chain(&chart.labels).cloned().collect::<Vec<_>>();
        let rows = chart.groups.iter().map(|group| {
            iter::once(group.name.clone()).chain(group.values.iter().map(ToString::to_string)).collect()
        });
        let csv = csv::to_string(iter::once(names).chain(rows));
        StudyFigure { name: name.into(), title: chart.title.clone(), drawing: chart.drawing(), csv }
    }
}

/// What a study found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Title of the experiment.
    pub title: String,
    /// What to know before reading on.
    pub remarks: Vec<String>,
    /// Its tables.
    pub tables: Vec<StudyTable>,
    /// Its figures.
    pub figures: Vec<StudyFigure>,
    /// What was hoped for and did not come out, in words.
    pub misses: Vec<String>,
    /// A number over all that happened in all runs: the same wherever it is run.
    pub hash: String,
}

impl Report {
    /// With the tables of statements and their verdicts before all others.
    #[must_use]
    pub(super) fn statements_first(mut self) -> Self {
        self.tables.sort_by_key(|table| !table.has_verdicts());
        self
    }

    /// For a terminal.
    pub fn to_text(&self) -> String {
        let mut out = format!("{}\n\n", self.title);
        for remark in &self.remarks {
            let _ = writeln!(out, "{remark}");
        }
        for table in &self.tables {
            let _ = write!(out, "\n{}", table.to_text());
        }
        if !self.misses.is_empty() {
            out.push_str("\nOutside the bounds:\n");
        }
        for miss in &self.misses {
            let _ = writeln!(out, "- {miss}");
        }
        let _ = writeln!(out, "\nHash over all runs: {}", self.hash);
        out
    }

    /// Writes every table and figure into `folder`, which is made if it is not there. Gives the names of the
    /// files.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write_to(&self, folder: &Path) -> io::Result<Vec<String>> {
        fs::create_dir_all(folder)?;
        let mut names = Vec::new();
        let mut write = |name: String, content: &[u8]| -> io::Result<()> {
            fs::write(folder.join(&name), content)?;
            names.push(name);
            Ok(())
        };
        for table in &self.tables {
            write(format!("{}.csv", table.name), table.to_csv().as_bytes())?;
        }
        for figure in &self.figures {
            write(format!("{}.svg", figure.name), figure.drawing.to_svg().as_bytes())?;
            write(format!("{}.pdf", figure.name), &pdf::figure(&figure.drawing))?;
            write(format!("{}.csv", figure.name), figure.csv.as_bytes())?;
        }
        write("report.txt".into(), self.to_text().as_bytes())?;
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_line_up_and_their_files_keep_all_digits() {
        let mut table = StudyTable::new("t", "Table I", &["tick", "Mbps", "note"]);
        table.rows.push(vec!["50 ms".into(), StudyCell::Number(7.72345, 2), "a, b".into()]);
        table.rows.push(vec!["fine".into(), StudyCell::Number(18.75, 2), StudyCell::Empty]);
        assert_eq!(
            table.to_text(),
            "Table I\ntick    Mbps  note\n-----  -----  ----\n50 ms   7.72  a, b\nfine   18.75\n"
        );
        assert_eq!(table.to_csv(), "tick,Mbps,note\n50 ms,7.72345,\"a, b\"\nfine,18.75,\n");
    }

    #[test]
    fn a_report_begins_with_its_statements_and_their_words_begin_in_line() {
        let numbers = StudyTable::new("n", "Table I", &["tick", "Mbps"]);
        let mut statements = StudyTable::new("s", "Statements", &["section", "statement", "verdict"]);
        for (says, verdict) in [("It falls.", "confirmed"), ("It falls to 1.", "not testable here")] {
            statements.rows.push(vec!["III".into(), says.into(), verdict.into()]);
        }
        let tables = vec![numbers.clone(), statements, numbers];
        let report = Report { title: "t".into(), tables, ..Report::default() }.statements_first();
        let names: Vec<&str> = report.tables.iter().map(|table| table.name.as_str()).collect();
        assert_eq!(names, ["s", "n", "n"]);
        let text = report.to_text();
        assert!(text.contains("\nIII      It falls.       confirmed\n"), "{text}");
        assert!(text.contains("\nIII      It falls to 1.  not testable here\n"), "{text}");
    }

    #[test]
    fn differences_are_parts_of_their_number() {
        assert_eq!(StudyCell::difference(7.5, 10.0).to_string(), "-25.0 %");
    }
}
