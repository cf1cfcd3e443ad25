//! Numbers as a table or as JSON.

use super::forward::Row;

/// A table for people.
#[expect(clippy::print_stdout, reason = "printing is what was asked for")]
pub(super) fn print_table(rows: &[Row]) {
    let mut part = "";
    for row in rows {
        if row.part != part {
            part = row.part;
            println!("\n{part}");
        }
        let values = row.values.iter().map(|(what, value, unit)| format!("{what} {}{unit}", number(*value)));
        println!("  {:11} {}", row.subject, values.collect::<Vec<_>>().join("   "));
    }
}

/// One object for each row.
#[expect(clippy::print_stdout, reason = "printing is what was asked for")]
pub(super) fn print_json(rows: &[Row]) {
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
    println!("[\n{}\n]", lines.join(",\n"));
}

fn number(value: f64) -> String {
    match value {
        value if value >= 1000.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.3}"),
    }
}
