//! The folder of a study tells what of it is not as the study left it.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

mod common;

use std::fs;

use cairn_lab::experiment::Experiment;
use cairn_lab::run::{RunRecord, execute_study, study_faults};
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
    // Earlier versions noted no file, and what everybody reads must be there all the same.
    let noted = folder.record().unwrap();
    let unnoted = RunRecord { study_files: std::collections::BTreeMap::new(), ..noted.clone() };
    folder.write_record(&unnoted).unwrap();
    assert_eq!(found().sentences, [""; 0]);
    fs::rename(folder.path().join("report.json"), folder.path().join("kept")).unwrap();
    assert_eq!(found().sentences, ["report.json is missing"]);
    assert!(found().way_out.unwrap().starts_with("put it back, or run the study again with: cairn lab run "));
    fs::rename(folder.path().join("kept"), folder.path().join("report.json")).unwrap();
    // One that has not come to its end has none of it, which is no loss.
    folder.write_record(&RunRecord { complete: false, ..noted }).unwrap();
    let open = found();
    assert!(open.is_open && open.sentences == ["the study is not complete"], "{open:?}");
    assert!(
        open.way_out.unwrap().starts_with("a study cannot be resumed; start it anew with: cairn lab run ")
    );
    let held = folder.lock().unwrap();
    assert!(found().way_out.unwrap().starts_with("somebody is at work on it: process "));
    drop(held);
    fs::remove_file(&record).unwrap();
    let lost = study_faults(&folder).unwrap_err().to_string();
    assert!(lost.contains("its run.json is missing; put it back, or start it anew with: "), "{lost}");
}
