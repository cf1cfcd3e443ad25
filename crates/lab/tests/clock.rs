//! The clock study keeps what it says about the paper's numbers, whoever runs it.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

use cairn_lab::experiment::Experiment;
use cairn_lab::study::report::Report;
use cairn_lab::study::{Runner, run};

const LINEAR: &str = include_str!("../../../experiments/clock-linear.toml");
const DUMBBELL: &str = include_str!("../../../experiments/clock-dumbbell.toml");
const STARTS: &str = include_str!("../../../experiments/clock-starts.toml");
const TICKS: &str = "ticks = [\"0 s\", \"1 ms\", \"5 ms\", \"10 ms\"]";
const BEYOND: &str = include_str!("../../../experiments/clock-beyond.toml");

fn report(text: &str, workers: usize) -> Report {
    let experiment = Experiment::parse("study", "study.toml", text).unwrap_or_else(|wrong| panic!("{wrong}"));
    run(&experiment, &Runner { workers: Some(workers), progress: &|_, _| {} }).unwrap()
}

/// The text with one line replaced, which must be there.
fn with(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old}");
    text.replace(old, new)
}

#[test]
fn tables_one_and_two_are_within_the_bounds_of_the_papers() {
    let report = report(&with(LINEAR, "other_starts = 24", "other_starts = 0"), 2);
    assert_eq!(report.misses, [""; 0]);
    let smooth = report.tables.iter().find(|table| table.name == "table-2-ndnsim").unwrap();
    let ours: Vec<[String; 2]> =
        smooth.rows.iter().map(|row| [row[1].to_string(), row[2].to_string()]).collect();
    assert_eq!(ours, [["8.73", "8.73"], ["8.70", "8.70"], ["8.69", "8.69"]], "the paper's and ours");
    // Four tables and six figures for each of two readings.
    assert_eq!((report.tables.len(), report.figures.len()), (8, 12));
    // The first overflow halves the rate. It takes more of them, and never gets to 1 a second.
    let falls = report.tables.iter().find(|table| table.name == "trajectory-ndnsim").unwrap();
    let row = |tick: &str| falls.rows.iter().find(|row| row[0].to_string() == tick).unwrap();
    assert_eq!([row("100 ms")[2].to_string(), row("100 ms")[3].to_string()], ["514", "257"]);
    assert_eq!([row("100 ms")[4].to_string(), row("200 ms")[4].to_string()], ["34.3", "2.4"]);
    for figure in &report.figures {
        assert_eq!(figure.drawing.misplaced(), [""; 0], "{}", figure.name);
    }
    assert!(
        report
            .figures
            .iter()
            .all(|figure| figure.drawing.to_svg().contains("<polyline") && figure.csv.len() > 1000)
    );
}

/// The study with the first of its readings alone.
fn of_the_first_reading(text: &str) -> String {
    let (head, rest) = text.split_once("[[study.clock.reading]]").unwrap();
    let (first, _) = rest.split_once("[[study.clock.reading]]").unwrap();
    let (_, sweep) = rest.split_once("[study.clock.sweep]").unwrap();
    format!("{head}[[study.clock.reading]]{first}[study.clock.sweep]{sweep}")
}

/// The verdict on each statement of a table, and its control.
fn verdicts(report: &Report, table: &str) -> Vec<[String; 3]> {
    let table = report.tables.iter().find(|other| other.name == table).unwrap();
    table.rows.iter().map(|row| [1, 2, 4].map(|column| row[column].to_string())).collect()
}

#[test]
fn what_is_confirmed_of_one_flow_fails_without_its_cause_and_what_is_not_is_contradicted() {
    let report = report(LINEAR, 2);
    let verdicts = verdicts(&report, "statements-ndnsim");
    let with = |word: &str| verdicts.iter().filter(|row| row[1] == word).collect::<Vec<_>>();
    assert_eq!([with("confirmed").len(), with("by construction").len()], [8, 2], "{verdicts:#?}");
    assert!(with("confirmed").iter().all(|row| row[2].starts_with("fails ")), "{verdicts:#?}");
    let [contradicted] = with("contradicted")[..] else { panic!("{verdicts:#?}") };
    assert!(contradicted[0].contains("reduced to 1"), "{contradicted:?}");
    // Where buckets leak whole packets, a tick of 50 ms takes nothing away.
    let whole = self::verdicts(&report, "statements-whole");
    let slightly = whole.iter().find(|row| row[0].starts_with("50 ms: the throughput")).unwrap();
    assert_eq!(slightly[1], "contradicted");
}

#[test]
fn a_statement_whose_control_has_no_runs_says_so() {
    let text = with(&of_the_first_reading(STARTS), "pairs = [2, 5, 10]", "pairs = [2]");
    let report = report(&with(&text, "other_starts = 7", "other_starts = 0"), 2);
    let verdicts = verdicts(&report, "statements-adapting");
    let trend = verdicts.iter().find(|row| row[0].starts_with("The same as a trend")).unwrap();
    assert_eq!([&trend[1], &trend[2]], ["confirmed", "none: no runs with a depth of 500"]);
}

#[test]
fn the_cells_of_one_flow_that_the_paper_names_are_within_ten_percent() {
    // One flow, and only the ticks and depths that are named.
    let text = with(&of_the_first_reading(DUMBBELL), "pairs = [1, 2, 5, 10]", "pairs = [1]");
    let text = with(&text, TICKS, "ticks = [\"5 ms\", \"10 ms\"]");
    let text = with(&text, "bucket_depths = [50, 100, 500]", "bucket_depths = [50, 100]");
    let report = report(&text, 2);
    let cells = &report.tables.iter().find(|table| table.name == "named-cells-adapting").unwrap().rows;
    assert_eq!(cells.len(), 6);
    for row in cells {
        let difference = row[3].to_string();
        let percent: f64 = difference.trim_end_matches(" %").parse().unwrap();
        assert!(percent.abs() <= 10.0, "{row:?}");
    }
}

#[test]
fn means_over_start_times_say_how_sure_they_are() {
    let text = with(STARTS, "pairs = [2, 5, 10]", "pairs = [2]");
    let text = with(&text, TICKS, "ticks = [\"5 ms\"]");
    let text = with(&text, "duration = \"10 s\"", "duration = \"1 s\"");
    let report = report(&with(&text, "other_starts = 7", "other_starts = 2"), 2);
    let table = |name: &str| report.tables.iter().find(|table| table.name == name).unwrap();
    let cell = table("throughput-per-fib").rows[0][1].to_string();
    let (mean, half) = cell.split_once(" ± ").unwrap();
    let (mean, half): (f64, f64) = (mean.parse().unwrap(), half.parse().unwrap());
    assert!(mean > 10.0 && half > 0.0 && half < mean, "{cell}");
    assert!(report.to_text().contains("means over 3 start times"));
    assert!(!report.to_text().contains("NaN"), "{}", report.to_text());
}

#[test]
fn results_do_not_depend_on_the_number_of_workers() {
    let text = with(LINEAR, "other_starts = 24", "other_starts = 1");
    let text = with(&text, "duration = \"10 s\"", "duration = \"2 s\"");
    assert_eq!(report(&text, 1), report(&text, 5));
}

/// The text with another value for a key wherever that is set.
fn with_lines(text: &str, key: &str, value: &str) -> String {
    let start = format!("{key} = ");
    assert!(text.lines().any(|line| line.starts_with(&start)), "{key}");
    let line =
        |line: &str| if line.starts_with(&start) { format!("{start}{value}\n") } else { format!("{line}\n") };
    text.lines().map(line).collect()
}

#[test]
fn every_variant_beyond_the_paper_runs() {
    const AGAIN: &str = "[[study.clock_beyond.speeds.again]]";
    let (first, again) = BEYOND.split_once(AGAIN).unwrap();
    let first = with_lines(&with_lines(first, "rates", "[\"10 Mbit/s\"]"), "warm_ups", "[\"1 s\"]");
    let first = with_lines(&first, "durations", "[\"1 s\"]");
    let again = with_lines(&with_lines(again, "warm_ups", "[\"1 s\"]"), "durations", "[\"2 s\"]");
    let text = with_lines(&format!("{first}{AGAIN}{again}"), "duration", "\"1 s\"");
    let several = "rate = \"100 Mbit/s\"\nwarm_up = \"3 s\"";
    let text = with(&text, several, "rate = \"10 Mbit/s\"\nwarm_up = \"0 s\"");
    let text = with(&text, "repeats = 2", "repeats = 1");
    let report = report(&text, 2);
    let cells: Vec<String> =
        report.tables.iter().flat_map(|table| table.rows.iter().flatten()).map(ToString::to_string).collect();
    assert!(cells.len() > 100);
    assert!(!cells.iter().any(|cell| cell.contains("NaN")), "{}", report.to_text());
    // The answer, its only speed, and three numbers of flows.
    assert_eq!(report.figures.len(), 1 + 1 + 3);
    // Every table and figure has files of its own.
    let names =
        report.tables.iter().map(|table| &table.name).chain(report.figures.iter().map(|figure| &figure.name));
    let names: Vec<&String> = names.collect();
    let different: std::collections::BTreeSet<&String> = names.iter().copied().collect();
    assert_eq!(different.len(), names.len(), "{names:?}");
}
