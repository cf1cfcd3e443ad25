//! A run that is asked to end early: it ends, what it has stays, and it can be gone on with.

mod common;

use cairn_lab::experiment::Experiment;
use cairn_lab::report::{
    Conclusion, RunData, conclusion, estimates_table, report_figures, result_rows, verdicts,
};
use cairn_lab::run::progress::Progress;
use cairn_lab::run::{Build, Options, RunError, RunFolder, Stop, execute, resume, resume_until};
use testkit::folder::TestFolder;

const TEXT: &str = r#"
title = "One link"
duration = "20 s"
repeats = 3

[node]
a = {}
b = {}

[link]
a-b = { rate = "10 Mbit/s", loss = "1 %" }

[[route]]
prefix = "/f"
path = ["a", "b"]

[content.small]
prefix = "/f"
at = "b"
size = "100 kB"
count = 5

[download.files]
at = "a"
content = "small"
rate = "1/s"

[[expect]]
say = "Files take less than 18 s"
value = "files.duration"
at_most = 18
"#;

#[test]
fn a_run_that_is_asked_to_end_ends_and_goes_on_to_the_same_numbers() {
    let place = TestFolder::absent("stopped");
    let experiment = Experiment::parse("x", "x.toml", TEXT).unwrap();
    let options = Options { workers: Some(1), ..common::options(&place) };
    let whole = execute(&experiment, &options, |_| {}).unwrap();

    let stop = Stop::default();
    let options = Options { stop: stop.clone(), ..options };
    // In the middle of the second of three repeats.
    let mut folder = None;
    let mut begun = 0;
    let ended = execute(&experiment, &options, |progress| match progress {
        Progress::Folder(path) => folder = Some(path.clone()),
        Progress::Repeat { .. } => begun += 1,
        Progress::Sample(_) if begun == 2 => stop.ask(),
        _ => {}
    });
    let folder = folder.unwrap();
    let Err(RunError::Stopped { folder: named }) = &ended else { panic!("{ended:?}") };
    assert_eq!(*named, folder.display().to_string());
    assert!(folder.join("case-01/repeat-01/result.json").is_file());
    assert!(!folder.join("case-01/repeat-02/result.json").exists());

    let part = RunData::read(&RunFolder::open(&folder).unwrap()).unwrap();
    let rows = result_rows(std::slice::from_ref(&part));
    assert_eq!(
        (rows[0].verdict.words, rows[0].verdict.why.as_str()),
        ("not testable here", "the run is not complete")
    );
    assert_eq!(conclusion(&part, &verdicts(&part)), Conclusion::Incomplete);

    let stopped_at_once = resume_until(&folder, &options.programs, Build::default(), stop, |_| {});
    assert!(matches!(stopped_at_once, Err(RunError::Stopped { .. })), "{stopped_at_once:?}");
    let rest = resume(&folder, &options.programs, Build::default(), |_| {}).unwrap();
    let numbers = |folder| {
        let run = RunData::read(folder).unwrap();
        let hashes: Vec<String> =
            run.cases[0].counts.iter().map(|counts| counts.trace_hash.clone()).collect();
        (hashes, run.cases[0].values("files.goodput", "mean"))
    };
    assert_eq!(numbers(&rest), numbers(&whole));
    assert_eq!(numbers(&rest).0.len(), 3);
}

#[test]
fn a_run_that_is_killed_before_the_hashes_of_a_repeat_are_written_leaves_no_numbers_without_them() {
    let place = TestFolder::absent("killed");
    let experiment = Experiment::parse("x", "x.toml", TEXT).unwrap();
    let options = Options { workers: Some(1), ..common::options(&place) };
    for point in ["summary", "archive", "hashes"] {
        let (mut folder, mut begun) = (None, 0);
        // What an observer does ends the run where it is.
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            execute(&experiment, &options, |progress| match progress {
                Progress::Folder(path) => folder = Some(path.clone()),
                Progress::Repeat { .. } => begun += 1,
                Progress::Step(step) if begun == 2 && step == point => {
                    std::panic::resume_unwind(Box::new("killed"));
                }
                _ => {}
            })
        }));
        assert!(ended.is_err(), "{point} is a step of a repeat");
        let folder = folder.unwrap();
        let noted = |repeat: u32| {
            let text =
                std::fs::read_to_string(folder.join(format!("case-01/repeat-0{repeat}/result.json"))).ok()?;
            let result: serde_json::Value = serde_json::from_str(&text).unwrap();
            Some(result["raw_files"].as_object().map_or(0, serde_json::Map::len))
        };
        assert!(noted(1) > Some(3) && noted(2).is_none() && noted(3).is_none(), "{point}: {:?}", noted(2));
        let whole = resume(&folder, &options.programs, Build::default(), |_| {}).unwrap();
        assert!(noted(2) == noted(1) && noted(3) == noted(1), "{point}: {:?}", noted(2));
        assert!(!RunData::read(&whole).unwrap().is_damaged);
    }
}

#[test]
fn estimates_are_rows_of_cases_and_a_measure_that_nobody_took_is_told_with_what_there_is() {
    let place = TestFolder::absent("estimates");
    let text = format!("{TEXT}\n[[sweep]]\nkey = 'link.*.rate'\nvalues = ['5 Mbit/s', '20 Mbit/s']\n");
    let run = RunData::read(&common::run_in_virtual_time("x", &text, &place)).unwrap();
    let table = estimates_table(&run, "files.duration").unwrap().to_csv();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("case,rate (Mbit/s),valid repeats,drawn orders,mean,deviation,low,high"));
    let first: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(first[..4], ["rate 5 Mbit/s", "5", "3", "0"]);
    let number = |field: &str| field.parse::<f64>().unwrap();
    let estimate = run.cases[0].estimate("files.duration", "mean").unwrap();
    assert_eq!(number(first[4]), estimate.mean);
    assert!(number(first[6]) < estimate.mean && estimate.mean < number(first[7]));
    assert_eq!(lines.count(), 1);

    let one = estimates_table(&run, "files.duration.max @ rate 20 Mbit/s").unwrap();
    assert_eq!(one.rows(), 1);
    let wrong = |measure: &str| estimates_table(&run, measure).unwrap_err().to_string();
    assert!(wrong("files.goodputt").contains("did you mean `files.goodput`?"), "{}", wrong("files.goodputt"));
    assert!(wrong("files.duration.most").contains("a summary is one of mean, min"));
    assert!(wrong("files.zzzzzzzzzzzz").contains("files.duration"), "{}", wrong("files.zzzzzzzzzzzz"));
    assert!(wrong("nobody.zzzzzzzzzzzz").contains("there is something of a, b, files"));
    assert!(wrong("files").contains("does not name a measure"));

    let figures = report_figures(&run);
    let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    assert!(names.contains(&"topology") || names.contains(&"case-01-topology"), "{names:?}");
    assert!(
        run.repeat(1, 2).unwrap().nodes.len() == 2 && run.repeat(1, 3).is_err() && run.repeat(2, 0).is_err()
    );
}
