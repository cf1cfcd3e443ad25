//! The study of the persistent cache, smaller than in its file.

#![allow(clippy::unwrap_used, reason = "what is run stands in the file of the study")]

use cairn_lab::study::report::{Cell, Report, Table};
use cairn_lab::study::{Runner, run};

const STUDY: &str = include_str!("../../../experiments/persistent-cache.toml");

fn small() -> String {
    STUDY
        .replace("repeats = 100", "repeats = 6\ndeparture-repeats = 2")
        .replace("repeats = 10\n", "repeats = 1\n")
        .replace("objects = 20000", "objects = 1000")
        .replace("requests = 200000", "requests = 5000")
}

fn study(workers: usize) -> Report {
    run(&small(), &Runner { workers: Some(workers), progress: &|_, _| {} }).unwrap()
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
        run(&STUDY.replace(from, to), &Runner { workers: None, progress: &|_, _| {} })
            .unwrap_err()
            .to_string()
    };
    assert!(problem("policy = \"lru\"", "policy = \"lucky\"").contains("there is no policy lucky"));
    assert!(problem("request-s = 5", "request-s = 0").contains("request-s"));
    assert!(problem("min-kb = 50\n", "min-kb = 90000\n").contains("min-kb"));
}
