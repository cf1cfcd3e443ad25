//! A sweep of three thousand cases: where it keeps them, that it can be gone on with, and what each costs,
//! which is printed.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops where something is not as it must be, and says what a case costs"
)]

mod common;

use std::fs;

use cairn_lab::experiment::Experiment;
use cairn_lab::report::{CaseData, RunData};
use cairn_lab::run::{Build, Options, RunRecord, execute, resume};
use testkit::folder::TestFolder;

const CASES: usize = 3_000;

const TEXT: &str = "title = 't'
duration = '20 ms'
sample_every = '20 ms'
[node]
a = {}
b = {}
[link]
a-b = { delay = '1 ms' }
[[route]]
prefix = '/p'
path = ['a', 'b']
[ping.p]
at = 'a'
to = 'b'
prefix = '/p'
count = 1
start = '0 s'
[[sweep]]
key = 'seed'
from = 1
to = 3000
step = 1
";

/// Processor time of this process so far, in milliseconds: others on the machine are not in it.
fn processor_ms() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = text.rsplit_once(") ").unwrap().1.split(' ').collect();
    let ticks: f64 = fields[11..13].iter().map(|field| field.parse::<f64>().unwrap()).sum();
    // A hundred of them are a second, on every Linux.
    ticks * 10.0
}

#[test]
fn three_thousand_cases_take_few_files_and_can_be_gone_on_with() {
    let place = TestFolder::new("many-cases");
    let options = Options { workers: Some(2), ..common::options(&place) };
    let before = processor_ms();
    let experiment = Experiment::parse("t", "t.toml", TEXT).unwrap_or_else(|wrong| panic!("{wrong}"));
    let folder = execute(&experiment, &options, |_| {}).unwrap();
    let ran = processor_ms();
    let run = RunData::read(&folder).unwrap();
    let (each, read) = ((ran - before) / CASES as f64, (processor_ms() - ran) / CASES as f64);
    println!("{each:.3} ms a case, and {read:.3} ms to read it");
    assert_eq!(run.cases.len(), CASES);
    assert!(run.cases.iter().all(|case| case.values("p.finished", "mean") == [1.0]));
    let entries = fs::read_dir(folder.path()).unwrap().count();
    assert!(entries < 40, "{entries} files and folders");
    assert_eq!(run.unhashed, None, "a record says of which case and run it is");
    // As if it had been interrupted after two thirds.
    fs::remove_file(folder.path().join("records/00002.jsonl.gz")).unwrap();
    folder.write_record(&RunRecord { complete: false, ..run.record.clone() }).unwrap();
    assert_eq!(RunData::read(&folder).unwrap().cases.len(), CASES - 1000);
    let again = resume(folder.path(), &options.programs, Build::default(), |_| {}).unwrap();
    let after = RunData::read(&again).unwrap();
    assert_eq!(after.cases.len(), CASES);
    for (one, other) in run.cases.iter().zip(&after.cases).skip(CASES - 1000) {
        let summaries = |case: &CaseData| -> Vec<_> {
            case.results.iter().flat_map(|result| result.values.clone()).collect()
        };
        let (one_has, other_has) = (summaries(one), summaries(other));
        let differ = one_has.iter().zip(&other_has).find(|(one, other)| one != other);
        assert_eq!(differ, None, "{}", one.plan.case);
        assert_eq!((one_has.len(), &one.counts), (other_has.len(), &other.counts), "{}", one.plan.case);
    }
}
