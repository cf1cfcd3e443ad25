//! What is printed: lines, tables, JSON, and what is told beside them on standard error.

use std::io::{self, Write as _};

use serde_json::Value;

/// Prints a line.
pub(crate) fn line(text: impl std::fmt::Display) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{text}")
}

/// What `tell!` does.
pub(crate) fn tell(text: std::fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Prints bytes as they are.
pub(crate) fn bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Prints JSON, indented.
pub(crate) fn json(value: &Value) -> io::Result<()> {
    line(format_args!("{value:#}"))
}

/// Prints rows in columns that are as wide as they need to be, under a head.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
    let mut widths: Vec<usize> = head.iter().map(|text| text.chars().count()).collect();
    for row in rows {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = (*width).max(text.chars().count());
        }
    }
    let mut out = io::stdout().lock();
    let head: Vec<String> = head.iter().map(|text| (*text).to_owned()).collect();
    for row in std::iter::once(&head).chain(rows) {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(text, width)| format!("{text:<width$}")).collect();
        writeln!(out, "{}", cells.join("  ").trim_end())?;
    }
    Ok(())
}
