//! Numbers as a table or as JSON.

use std::io;

use super::workbench::Row;
use crate::tool::output;

/// What was asked for.
pub(super) fn print(rows: &[Row], as_json: bool) -> io::Result<()> {
    if as_json { print_json(rows) } else { print_table(rows) }
}

/// A table for people.
fn print_table(rows: &[Row]) -> io::Result<()> {
    let mut part = "";
    for row in rows {
        if row.part != part {
            part = row.part;
            output::line(format_args!("\n{part}"))?;
        }
        let values = row.values.iter().map(|(what, value, unit)| format!("{what} {}{unit}", number(*value)));
        output::line(format_args!("  {:11} {}", row.subject, values.collect::<Vec<_>>().join("   ")))?;
    }
    Ok(())
}

/// One object for each row.
fn print_json(rows: &[Row]) -> io::Result<()> {
    let lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let values = row.values.iter().map(|(what, value, unit)| {
                let key = format!("{what} {}", unit.trim()).trim().replace([' ', '/'], "_");
                format!("\"{key}\": {value:.6}")
            });
            let values = values.collect::<Vec<_>>().join(", ");
            format!("  {{\"part\": \"{}\", \"subject\": \"{}\", {values}}}", row.part, row.subject)
        })
        .collect();
    output::line(format_args!("[\n{}\n]", lines.join(",\n")))
}

/// With three digits that count at least, if it is not next to nothing.
pub(super) fn number(value: f64) -> String {
    match value {
        value if value >= 1000.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 1.0 => format!("{value:.3}"),
        value => format!("{value:.4}"),
    }
}
