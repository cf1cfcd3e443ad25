//! The study of the persistent cache, smaller than in its file.

#![allow(clippy::unwrap_used, reason = "what is run stands in the file of the study")]

use cairn_lab::experiment::Experiment;
use cairn_lab::study::report::{Report, StudyCell, StudyTable};
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
        .replace("repeats = 2\n", "repeats = 1\n")
        .replace("repeats = 5\n", "repeats = 1\n")
        .replace("ranges = [0, 1000, 100, 10, 1]", "ranges = [0, 10, 1]")
        .replace("evictions = [\"delete-queue\", \"lru\"]", "evictions = [\"delete-queue\"]")
        .replace("segment = \"8 kB\"", "segment = \"100 kB\"")
        .replace("loads = [\"50 %\", \"90 %\", \"120 %\", \"200 %\"]", "loads = [\"120 %\"]")
}

fn study(workers: usize) -> Report {
    let study = Experiment::parse("study", "study.toml", &small()).unwrap_or_else(|wrong| panic!("{wrong}"));
    run(&study, &Runner { workers: Some(workers), progress: &|_, _| {} }).unwrap()
}

fn table<'r>(report: &'r Report, name: &str) -> &'r StudyTable {
    report.tables.iter().find(|table| table.name == name).unwrap()
}

#[test]
fn what_earlier_versions_called_policies_are_evictions() {
    let table = |word: &str| format!("[study.persistent_cache.{word}]");
    let list = |word: &str| format!("\n{word} = [\"delete-queue\"");
    let earlier = STUDY.replace(&table("evictions"), &table("policies"));
    let earlier = earlier.replace(&list("evictions"), &list("policies"));
    assert!(earlier.matches("policies").count() > STUDY.matches("policies").count() + 1);
    let read =
        |text: &str| Experiment::parse("study", "study.toml", text).unwrap_or_else(|wrong| panic!("{wrong}"));
    assert_eq!(read(&earlier).file, read(STUDY).file);
    let wrong = earlier.replace(&list("policies"), "\npolicies = [\"newest\"");
    let told = Experiment::parse("study", "study.toml", &wrong).unwrap_err().to_string();
    assert!(told.contains("newest"), "{told}");
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
    check_beyond(&one);
    // The text alone does not give the paper's numbers, and no policy does better than the bound.
    assert_eq!(table(&one, "departures").rows[1][0], StudyCell::from("none: the text"));
    for name in ["policies-webserver", "policies-youtube", "policies-zipf"] {
        let rows = &table(&one, name).rows;
        let Some((bound, others)) = rows.split_last() else { panic!("{name}") };
        for column in 1..bound.len() {
            let number = |row: &[StudyCell]| row[column].to_string().parse::<f64>().unwrap();
            assert!(others.iter().all(|row| number(row) <= number(bound) + 0.05), "{name}, {column}");
        }
    }
}

fn number(row: &[StudyCell], column: usize) -> f64 {
    row[column].to_string().parse().unwrap()
}

/// Segments hit, requests hit as a whole, and changes grow as ranges shrink; who answers adds up.
fn check_beyond(report: &Report) {
    for workload in ["webserver", "youtube"] {
        let rows = &table(report, &format!("ranges-{workload}")).rows;
        let column = |column: usize| rows.iter().map(|row| number(row, column)).collect::<Vec<_>>();
        // Nobody ends early: three ranges; then the same with half of the requests.
        assert_eq!((rows.len(), column(5)[0]), (6, 0.0));
        assert!(column(8)[3..].is_sorted(), "changes: {:?}", column(8));
        let rows = &table(report, &format!("hierarchy-{workload}")).rows;
        for row in rows {
            let answered: f64 = (2..6).map(|level| number(row, level)).sum();
            assert!((answered - 100.0).abs() < 0.3, "{row:?}");
        }
        // Repositories at all levels spare the link to the source something.
        assert!(number(&rows[4], 11) > 20.0 && number(&rows[0], 11) == 0.0);
        let rows = &table(report, &format!("hierarchy-cut-{workload}")).rows;
        assert!(number(&rows[0], 3) == 0.0 && rows[1..].iter().all(|row| number(row, 3) > 10.0));
    }
    // Whoever does not delete refuses no more than who is chosen by name, and less where deletions are slow.
    let rows = &table(report, "several").rows;
    let by_name = rows.iter().filter(|row| row[2].to_string().starts_with("the one"));
    let by_anybody = rows.iter().filter(|row| row[2].to_string().starts_with("whoever"));
    let pairs: Vec<_> =
        by_anybody.zip(by_name).map(|(one, other)| (number(one, 4), number(other, 4))).collect();
    assert!(pairs.iter().all(|(anybody, name)| anybody <= name), "{pairs:?}");
    assert!(pairs.last().is_some_and(|(anybody, name)| anybody < name), "{pairs:?}");
}

#[test]
fn what_cannot_be_run_is_said() {
    let problem = |from: &str, to: &str| {
        let text = STUDY.replacen(from, to, 1);
        Experiment::parse("study", "study.toml", &text).map(drop).unwrap_err().to_string()
    };
    assert!(problem("eviction = \"lru\"", "eviction = \"lucky\"").contains("there is no policy lucky"));
    assert!(problem("request_every = \"5 s\"", "request_every = \"0 s\"").contains("request_every: it must"));
    assert!(problem("min_size = \"50 kB\"\n", "min_size = \"90 MB\"\n").contains("min_size: it must"));
    assert!(problem("workload = \"youtube\"", "workload = \"tube\"").contains("there is no workload tube"));
    assert!(problem("above = \"P-GW\"", "above = \"GW\"").contains("there is no level GW"));
    assert!(problem("\"eNB\", nodes = 8", "\"eNB\", nodes = 7").contains("must serve as many"));
    assert!(problem("[\"2 GB\", \"4 GB\"", "[\"2 MB\", \"4 GB\"").contains("thresholds: they must"));
}
