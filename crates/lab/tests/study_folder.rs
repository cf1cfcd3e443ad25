//! The folder of a study tells what of it is not as the study left it.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

mod common;

use std::fs;

use cairn_lab::experiment::Experiment;
use cairn_lab::run::{execute_study, study_faults};
use testkit::folder::TestFolder;

const LINEAR: &str = include_str!("../../../experiments/clock-linear.toml");

/// A study with the first of its readings alone.
fn of_the_first_reading(text: &str) -> String {
    let text = text.replace("other_starts = 24", "other_starts = 0");
    let (head, rest) = text.split_once("[[study.clock.reading]]").unwrap();
    let (first, _) = rest.split_once("[[study.clock.reading]]").unwrap();
    let (_, sweep) = rest.split_once("[study.clock.sweep]").unwrap();
    format!("{head}[[study.clock.reading]]{first}[study.clock.sweep]{sweep}")
}

#[test]
fn whatever_of_a_study_is_changed_or_taken_away_is_named() {
    let above = TestFolder::new("study-folder");
    let experiment = Experiment::parse("study", "study.toml", &of_the_first_reading(LINEAR))
        .unwrap_or_else(|wrong| panic!("{wrong}"));
    let (folder, report) = execute_study(&experiment, &common::options(&above), &|_, _| {}).unwrap();
    let found = || study_faults(&folder).unwrap();
    assert_eq!((found().sentences, found().way_out, found().unhashed), (Vec::new(), None, None));
    let table = format!("{}.csv", report.tables[0].name);
    let figure = format!("{}.svg", report.figures[0].name);
    for name in ["report.json", "report.txt", &table, &figure] {
        let path = folder.path().join(name);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, [whole.as_slice(), b" "].concat()).unwrap();
        assert_eq!(found().sentences, [format!("{name} was changed after it was written")]);
        fs::remove_file(&path).unwrap();
        assert_eq!(found().sentences, [format!("{name} is missing")]);
        fs::write(&path, whole).unwrap();
    }
    let text = fs::read_to_string(folder.experiment()).unwrap();
    let changed = text.replace("other_starts = 0", "other_starts = 1");
    assert_ne!(changed, text);
    fs::write(folder.experiment(), changed).unwrap();
    assert_eq!(found().sentences, ["`study` of experiment.toml was changed since the study began"]);
    assert!(found().way_out.unwrap().contains("cairn lab run "), "the command that runs it again");
    fs::write(folder.experiment(), &text).unwrap();
    let record = folder.path().join("run.json");
    let whole = fs::read_to_string(&record).unwrap();
    fs::write(&record, whole.replace("\"seed\": 1", "\"seed\": 2")).unwrap();
    assert_eq!(found().sentences, ["run.json was changed after it was written"]);
    fs::write(&record, whole).unwrap();
    assert_eq!(found().sentences, [""; 0]);
}
