//! What is said of loss is said of Interests that were waited for, and what a run has lost is not whole.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

mod common;

use std::fs;

use cairn_lab::report::{Comparison, Conclusion, Outcome, RunData, Verdict, conclusion, verdicts};
use cairn_lab::run::RunFolder;
use common::run_in_virtual_time;
use testkit::folder::TestFolder;

/// Pings over a link that loses half of what crosses it, there and back.
fn lossy(duration: &str, repeats: u32, ping: &str, bound: &str) -> String {
    format!(
        "title = 'Lossy'\nduration = '{duration}'\nrepeats = {repeats}\nsample_every = '100 ms'\n[node]\na = {{}}\n\
         b = {{}}\n[link]\na-b = {{ rate = '10 Mbit/s', loss = '50 %' }}\n[[route]]\nprefix = '/b'\npath = ['a', 'b']\n\
         [ping.p]\nat = 'a'\nto = 'b'\nprefix = '/b/ping'\nevery = '100 ms'\n{ping}[[expect]]\nsay = 'S'\n{bound}\n"
    )
}

fn judged(place: &TestFolder, text: &str) -> (RunFolder, RunData, Verdict) {
    let folder = run_in_virtual_time("loss", text, place);
    let run = RunData::read(&folder).unwrap();
    let verdict = verdicts(&run).remove(0);
    (folder, run, verdict)
}

#[test]
fn interests_that_could_still_be_answered_do_not_make_a_link_that_loses_look_whole() {
    let place = TestFolder::new("short");
    // Interests live for four seconds, and nobody has waited as long for one.
    let text = lossy("3 s", 59, "", "value = 'p.loss'\nat_most = 1");
    let (_, run, verdict) = judged(&place, &text);
    assert_eq!(verdict.outcome, Outcome::NotTestable, "{verdict:?}");
    assert!(verdict.why.contains("waited for as long as it lives"), "{}", verdict.why);
    let value = |name: &str| run.cases[0].results[0].values[name].mean;
    assert!(value("p.started") > 15.0 && value("p.unfinished") > 5.0, "{}", value("p.started"));
    assert_eq!(value("p.started"), value("p.finished") + value("p.unfinished"));
    // What was waited for tells: three of four are lost.
    let text = lossy("12 s", 60, "lifetime = '4 s'\n", "value = 'p.loss'\nabout = 75\nwithin = '4 %'");
    let (_, _, verdict) = judged(&place, &text);
    assert_eq!(verdict.outcome, Outcome::Confirmed, "{verdict:?}");
}

#[test]
fn a_repeat_in_the_place_of_another_is_told_and_a_case_that_is_lost_leaves_no_success() {
    let place = TestFolder::new("swapped");
    let text = lossy("5 s", 5, "lifetime = '200 ms'\n", "value = 'p.loss'\nat_least = 5");
    let (folder, run, _) = judged(&place, &text);
    assert_eq!(conclusion(&run, &verdicts(&run)), Conclusion::AsExpected);
    let result = |repeat| folder.repeat(0, repeat).join("result.json");
    fs::copy(result(0), result(3)).unwrap();
    let swapped = RunData::read(&folder).unwrap();
    assert_eq!(swapped.cases[0].altered, [4]);
    let verdict = verdicts(&swapped).remove(0);
    assert_eq!(verdict.outcome, Outcome::NotTestable, "{verdict:?}");
    let told = Comparison::of(run, swapped).summary();
    assert!(told[0].starts_with("B is not as it was left: repeat 4 of 5 was changed"), "{told:?}");
    fs::remove_dir_all(folder.repeat(0, 3)).unwrap();
    let lost = RunData::read(&folder).unwrap();
    assert_eq!(conclusion(&lost, &verdicts(&lost)), Conclusion::Incomplete);
}
