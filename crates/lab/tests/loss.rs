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

/// Takes out of a run's folder what versions before this one did not write.
fn as_earlier_versions_left_it(folder: &RunFolder, repeats: u32) {
    for repeat in 0..repeats {
        let path = folder.repeat(0, repeat).join("result.json");
        let mut value: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert!(value["counts"]["p.loss"]["whole"].as_u64().unwrap() > 90);
        for key in ["counts", "sha256"] {
            value.as_object_mut().unwrap().remove(key);
        }
        fs::write(&path, value.to_string()).unwrap();
    }
    let mut record = folder.record().unwrap();
    record.hashes.clear();
    folder.write_record(&record).unwrap();
}

#[test]
fn ten_repeats_with_few_lost_packets_confirm_nothing_that_is_false() {
    let place = TestFolder::new("rare");
    let ping = "every = '50 ms'\ncount = 100\nlifetime = '400 ms'\n";
    let (mut confirmed, mut by_spread_alone) = (0, false);
    // Each repeat has the next seed. By their spread alone one series in fourteen confirms it.
    for seed in (350..1000).step_by(10) {
        // Of 1,000 pings four are lost, 0.4 %.
        let text = lossy("6 s", 10, ping, "value = 'p.loss'\nat_most = 0.38")
            .replace("'50 %'", "'0.2 %'")
            .replace("\nevery = '100 ms'", "")
            .replace("duration =", &format!("seed = {seed}\nduration ="));
        let (folder, _, verdict) = judged(&place, &text);
        confirmed += u32::from(verdict.outcome == Outcome::Confirmed);
        let is_told = verdict.details.iter().any(|detail| detail.contains(" were counted, which alone"));
        assert!(is_told || !verdict.details.iter().any(|detail| detail.contains("assuming")), "{verdict:?}");
        as_earlier_versions_left_it(&folder, 10);
        let verdict = verdicts(&RunData::read(&folder).unwrap()).remove(0);
        by_spread_alone = verdict.outcome == Outcome::Confirmed;
        let is_told = verdict.details.iter().any(|detail| detail.starts_with("without the counts"));
        assert!(is_told || !verdict.details.iter().any(|detail| detail.contains("assuming")), "{verdict:?}");
        if by_spread_alone {
            break;
        }
    }
    assert!(by_spread_alone && confirmed == 0, "{confirmed} with the counts");
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
    assert!(
        told[0].starts_with("B is not as it was left: repeat 4 of 5 is one of another experiment"),
        "{told:?}"
    );
    fs::remove_dir_all(folder.repeat(0, 3)).unwrap();
    let lost = RunData::read(&folder).unwrap();
    assert_eq!(conclusion(&lost, &verdicts(&lost)), Conclusion::Incomplete);
}
