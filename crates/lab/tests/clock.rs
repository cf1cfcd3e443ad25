//! The clock study keeps what it says about the paper's numbers, whoever runs it.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

use lab::experiment::{Runner, run};
use lab::report::Report;

const LINEAR: &str = include_str!("../../../experiments/clock-linear.toml");
const DUMBBELL: &str = include_str!("../../../experiments/clock-dumbbell.toml");
const BEYOND: &str = include_str!("../../../experiments/clock-beyond.toml");

fn report(text: &str, workers: usize) -> Report {
    run(text, &Runner { workers: Some(workers), progress: &|_, _| {} }).unwrap()
}

/// The text with one line replaced, which must be there.
fn with(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old}");
    text.replace(old, new)
}

#[test]
fn tables_one_and_two_are_within_the_bounds_of_the_papers() {
    let report = report(&with(LINEAR, "other-starts = 24", "other-starts = 0"), 2);
    assert_eq!(report.misses, [""; 0]);
    let text = report.to_text();
    for row in ["8.73  8.73", "8.70  8.70", "8.69  8.69"] {
        assert!(text.contains(row), "{text}");
    }
    // Two tables and seven figures for each of two readings.
    assert_eq!((report.tables.len(), report.figures.len()), (4, 14));
    assert!(report.figures.iter().all(|figure| figure.svg.contains("<polyline") && figure.csv.len() > 1000));
}

#[test]
fn the_cells_of_one_flow_that_the_paper_names_are_within_ten_percent() {
    // One flow, and only the ticks and depths that are named.
    let text = with(DUMBBELL, "pairs = [1, 2, 5, 10]", "pairs = [1]");
    let text = with(&text, "ticks-ms = [0, 1, 5, 10]", "ticks-ms = [5, 10]");
    let text = with(&text, "bucket-depths = [50, 100, 500]", "bucket-depths = [50, 100]");
    let report = report(&text, 2);
    let cells = &report.tables.iter().find(|table| table.name == "named-cells-per-face").unwrap().rows;
    assert_eq!(cells.len(), 6);
    for row in cells {
        let difference = row[3].to_string();
        let percent: f64 = difference.trim_end_matches(" %").parse().unwrap();
        assert!(percent.abs() <= 10.0, "{row:?}");
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_workers() {
    let text = with(LINEAR, "other-starts = 24", "other-starts = 1");
    let text = with(&text, "length-s = 10", "length-s = 2");
    assert_eq!(report(&text, 1), report(&text, 5));
}

#[test]
fn every_variant_beyond_the_paper_runs() {
    let text = with(BEYOND, "links-mbps = [10, 100, 1000, 10000]", "links-mbps = [10]");
    let text = with(&text, "lengths-s = [10, 10, 4, 1]", "lengths-s = [2]");
    let text = with(&text, "link-mbps = 100\nlength-s = 10", "link-mbps = 10\nlength-s = 2");
    let text = with(&text, "repeats = 2", "repeats = 1");
    let report = report(&text, 2);
    let cells: Vec<String> =
        report.tables.iter().flat_map(|table| table.rows.iter().flatten()).map(ToString::to_string).collect();
    assert!(cells.len() > 100);
    assert!(!cells.iter().any(|cell| cell.contains("NaN")), "{}", report.to_text());
    assert_eq!(report.figures.len(), 1 + 3);
}
