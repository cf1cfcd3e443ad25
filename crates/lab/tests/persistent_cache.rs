//! The study of the persistent cache, smaller than in its file.

#![allow(clippy::unwrap_used, reason = "what is run stands in the file of the study")]

use cairn_lab::experiment::Experiment;
use cairn_lab::study::report::{Cell, Report, Table};
use cairn_lab::study::{Runner, run};

const STUDY: &str = include_str!("../../../experiments/persistent-cache.toml");

fn small() -> String {
    STUDY
        .replace("repeats = 100", "repeats = 6")
        .replace(
            "\nratios = [\"50 %\", \"25 %\"]   #",
            "\ndeparture_repeats = 2\nratios = [\"50 %\", \"25 %\"]   #",
        )
        .replace("repeats = 10\n", "repeats = 1\n")
        .replace("objects = 20000", "objects = 1000")
        .replace("requests = 200000", "requests = 5000")
}

fn study(workers: usize) -> Report {
    let study = Experiment::parse("study", "study.toml", &small()).unwrap_or_else(|wrong| panic!("{wrong}"));
    run(&study, &Runner { workers: Some(workers), progress: &|_, _| {} }).unwrap()
}

fn table<'r>(report: &'r Report, name: &str) -> &'r Table {
    report.tables.iter().find(|table| table.name == name).unwrap()
}

#[test]
fn the_study_says_the_same_with_any_number_of_workers() {
    let (one, two) = (study(1), study(2));
    assert_eq!(one, two);
    assert_eq!(table(&one, "overall").rows.len(), 12);
    let boxes = one.figures.iter().filter(|figure| figure.name.starts_with("figure-5"));
    assert!(boxes.clone().count() == 6 && boxes.clone().all(|figure| figure.csv.lines().count() > 70));
    let verdicts: Vec<String> = table(&one, "statements").rows.iter().map(|row| row[2].to_string()).collect();
    for word in ["confirmed", "contradicted", "by construction", "not testable here"] {
        assert!(verdicts.iter().any(|verdict| verdict == word), "{word}: {verdicts:?}");
    }
    // The text alone does not give the paper's numbers, and no policy does better than the bound.
    assert_eq!(table(&one, "departures").rows[1][0], Cell::from("none: the text"));
    for name in ["policies-webserver", "policies-youtube", "policies-zipf"] {
        let rows = &table(&one, name).rows;
        let Some((bound, others)) = rows.split_last() else { panic!("{name}") };
        for column in 1..bound.len() {
            let number = |row: &[Cell]| row[column].to_string().parse::<f64>().unwrap();
            assert!(others.iter().all(|row| number(row) <= number(bound) + 0.05), "{name}, {column}");
        }
    }
}

#[test]
fn what_cannot_be_run_is_said() {
    let problem = |from: &str, to: &str| {
        let text = STUDY.replacen(from, to, 1);
        Experiment::parse("study", "study.toml", &text).map(drop).unwrap_err().to_string()
    };
    assert!(problem("policy = \"lru\"", "policy = \"lucky\"").contains("there is no policy lucky"));
    assert!(problem("request_every = \"5 s\"", "request_every = \"0 s\"").contains("request_every: it must"));
    assert!(problem("min_size = \"50 kB\"\n", "min_size = \"90 MB\"\n").contains("min_size: it must"));
    assert!(problem("[\"2 GB\", \"4 GB\"", "[\"2 MB\", \"4 GB\"").contains("thresholds: they must"));
}
