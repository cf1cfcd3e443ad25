//! Cases shared out over three runs and put together again: what comes back is what one run of all gives.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

mod common;

use std::fs;
use std::path::Path;

use cairn_lab::experiment::Experiment;
use cairn_lab::report::{RunData, write_report};
use cairn_lab::run::{Options, RunFolder, execute, merge};
use testkit::folder::TestFolder;

/// Pings over a link that loses some, with an expectation and its control.
const TEXT: &str = "title = 't'
duration = '400 ms'
sample_every = '100 ms'
[node]
a = {}
b = {}
[link]
a-b = { delay = '1 ms', loss = '5 %', jitter = '100 us' }
[[route]]
prefix = '/p'
path = ['a', 'b']
[ping.p]
at = 'a'
to = 'b'
prefix = '/p'
count = 20
every = '10 ms'
start = '0 s'
";

const JUDGED: &str = "
[[expect]]
name = 'slow'
say = 'A link of 9 ms is slow'
value = 'p.rtt.mean @ delay 9 ms'
at_least = 18.02
[[control]]
name = 'near'
removes = 'the delay'
set = { 'link.a-b.delay' = '0 ms' }
fails = ['slow']
[[sweep]]
key = 'link.a-b.delay'
from = 1
to = 10
step = 1
unit = ' ms'
";

fn experiment(more: &str) -> Experiment {
    Experiment::parse("t", "t.toml", &format!("{TEXT}{more}")).unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn run(experiment: &Experiment, out: &Path, change: impl FnOnce(&mut Options)) -> RunFolder {
    let mut options = Options { out: Some(out.to_owned()), ..common::options(out) };
    change(&mut options);
    execute(experiment, &options, |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

/// The same cases in one run, and in three that are put together, not in their order.
fn both(place: &TestFolder, experiment: &Experiment, change: impl Fn(&mut Options)) -> [RunFolder; 2] {
    let whole = run(experiment, &place.join("whole"), &change);
    let parts = [2, 3, 1].map(|number| {
        run(experiment, &place.join(format!("part-{number}")), |options| {
            change(options);
            options.shard = Some(format!("{number}/3").parse().unwrap());
        })
    });
    [whole, merge(&parts, &place.join("merged")).unwrap_or_else(|error| panic!("{error}"))]
}

/// The table of all results, as the report writes it.
fn table(folder: &RunFolder) -> String {
    write_report(folder).unwrap();
    fs::read_to_string(folder.path().join("results.csv")).unwrap()
}

#[test]
fn three_shares_put_together_give_the_table_and_the_verdicts_of_one_run() {
    let place = TestFolder::new("shards");
    let [whole, merged] = both(&place, &experiment(JUDGED), |options| options.repeats = Some(6));
    assert_eq!(table(&merged), table(&whole));
    let rows = table(&whole);
    assert!(rows.lines().count() > 100);
    let controls = |folder: &RunFolder| fs::read_to_string(folder.path().join("controls.csv")).unwrap();
    assert_eq!(controls(&merged), controls(&whole));
    let of_control = controls(&whole).lines().filter(|row| row.starts_with("delay 9 ms,near,9,")).count();
    let of_its_case = rows.lines().filter(|row| row.starts_with("delay 9 ms,9,")).count();
    assert!(
        of_control > 6 && of_control == of_its_case,
        "{of_control} rows of the control, {of_its_case} of its case"
    );
    let [one, other] = [&whole, &merged].map(|folder| RunData::read(folder).unwrap());
    assert_eq!((one.cases.len(), one.controls.len()), (10, 1));
    let words = |run: &RunData| -> Vec<String> {
        cairn_lab::report::verdicts(run).iter().map(|verdict| verdict.words().to_owned()).collect()
    };
    assert_eq!(words(&one), ["confirmed"]);
    assert_eq!(words(&other), words(&one));
    assert!(other.record.complete && other.record.cases == one.record.cases);
    // It is none of its shares, and is done again as one run is.
    assert!(one.record.command.ends_with(" --on sim --repeats 6"), "{}", one.record.command);
    assert_eq!(other.record.command, one.record.command);
}

#[test]
fn shares_of_cases_that_have_seeds_of_their_own_are_put_together() {
    let place = TestFolder::new("shards-seeds");
    let seeds = "[[sweep]]\nkey = 'seed'\nvalues = [5, 6, 7, 8, 9]\n";
    let [whole, merged] = both(&place, &experiment(seeds), |_| {});
    assert_eq!(table(&merged), table(&whole));
    assert_eq!(merged.record().unwrap().seed, 5, "that of the first case, as in one run");
}

#[test]
fn shares_with_other_seeds_are_not_put_together() {
    let place = TestFolder::new("shards-other");
    let experiment = experiment(JUDGED);
    let part = |number: u32, seed: Option<u64>| {
        run(&experiment, &place.join(format!("part-{number}")), |options| {
            options.shard = Some(format!("{number}/3").parse().unwrap());
            options.seed = seed;
        })
    };
    let parts = [part(1, None), part(2, None), part(3, Some(77))];
    let why = merge(&parts, &place.join("merged")).unwrap_err().to_string();
    assert!(why.contains("part-3") && why.contains("seed"), "{why}");
    let why = merge(&[parts[0].clone(), parts[0].clone()], &place.join("twice")).unwrap_err().to_string();
    assert!(why.contains("in another run, too"), "{why}");
}

#[test]
fn shares_of_some_of_the_cases_are_a_whole_run_of_these() {
    // "delay 1" are four of twelve.
    let judged = JUDGED.replace("to = 10", "to = 12");
    for only in [None, Some("delay 1".to_owned())] {
        let place = TestFolder::new("shards-of-some");
        let runs = both(&place, &experiment(&judged), |options| {
            (options.controls, options.only) = (only.is_some(), only.clone());
        });
        assert!(runs.iter().all(|run| run.record().unwrap().complete), "{only:?}");
        let [whole, merged] = runs.map(|run| run.record().unwrap().cases);
        assert_eq!(whole, merged);
    }
}
