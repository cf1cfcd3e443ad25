//! Attacks cost what their experiments say, and their defences keep what they say, at a shorter length.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

mod common;

use std::path::Path;

use cairn_lab::experiment::Experiment;
use cairn_lab::report::{Outcome, RunData, Verdict, verdicts};
use common::run_in_virtual_time;
use testkit::folder::TestFolder;

/// A shipped experiment with some of its text replaced, and what came out.
fn outcome(name: &str, changes: &[(&str, &str)]) -> (RunData, Vec<Verdict>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../experiments/{name}.toml"));
    let mut text = std::fs::read_to_string(path).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let place = TestFolder::new(&format!("threats-{name}"));
    let run = RunData::read(&run_in_virtual_time(name, &text, &place)).unwrap();
    let list = verdicts(&run);
    (run, list)
}

#[test]
fn a_thief_of_names_takes_most_of_the_goodput_and_nothing_where_owners_alone_may_register() {
    let changes = [
        ("duration = \"12 s\"", "duration = \"6 s\""),
        ("start = \"4 s\"", "start = \"2.5 s\""),
        ("start = \"2 s\"", "start = \"1.5 s\""),
        ("count = 80", "count = 40"),
    ];
    let (_, list) = outcome("infiltration", &changes);
    assert_eq!(list.len(), 7);
    for verdict in &list {
        assert_eq!(verdict.outcome, Outcome::Confirmed, "{verdict:?}");
    }
}

#[test]
fn a_thief_who_asks_at_the_owners_cost_gets_no_route_by_the_owners_command() {
    let changes = [
        ("repeats = 6\n", "repeats = 1\n"),
        ("duration = \"12 s\"", "duration = \"6 s\""),
        ("start = \"4 s\"", "start = \"1 s\""),
        ("count = 80", "count = 20"),
        ("cost = 0\n", "cost = 200\n"),
        // The router would ask it first, of equals.
        ("attacker", "a-thief"),
        ("router-a-thief", "a-thief-router"),
    ];
    let (run, _) = outcome("infiltration", &changes);
    let goodput = |name: &str| {
        let case = run.cases.iter().find(|case| case.plan.case == name).unwrap();
        case.values("film.goodput", "mean")[0]
    };
    let alone = goodput("no attack");
    assert!(
        alone > 0.0 && goodput("black hole") < alone / 2.0,
        "where anyone may register, it is asked first"
    );
    assert!(goodput("black hole, owners") > alone * 0.95, "{} of {alone}", goodput("black hole, owners"));
}

#[test]
fn a_stolen_key_takes_most_of_the_goodput_and_nothing_once_it_has_run_out_or_is_revoked() {
    let changes = [
        ("duration = \"12 s\"", "duration = \"6 s\""),
        ("start = \"4 s\"", "start = \"2.5 s\""),
        ("start = \"2 s\"", "start = \"1.5 s\""),
        ("count = 80", "count = 40"),
    ];
    let (_, list) = outcome("breach", &changes);
    assert_eq!(list.len(), 6);
    for verdict in &list {
        assert_eq!(verdict.outcome, Outcome::Confirmed, "{verdict:?}");
    }
}

fn refused(from: &str, to: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/infiltration.toml");
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from}");
    Experiment::parse("t", "t.toml", &text.replace(from, to)).unwrap_err().to_string()
}

#[test]
fn mistakes_in_registrations_are_told() {
    let told = refused("registrations = \"anyone\"", "registrations = \"everyone\"");
    assert!(told.contains("node.router.forwarder.registrations"), "{told}");
    let told = refused("key = \"owner\"", "key = \"lost\"");
    assert!(told.contains("registration.owner.key"), "{told}");
    let told = refused("key = \"owner\"", "key = \"stolen\"");
    assert!(told.contains("no content with this prefix is signed by its owner"), "{told}");
    let told = refused("size = \"1 Mbit\"", "size = \"1 Mbit\"\nearlier_key = \"expired\"");
    assert!(told.contains("content.files.earlier_key: nothing is signed with a key"), "{told}");
    let told = refused("at = \"producer\"\nto = \"router\"", "at = \"producer\"\nto = \"consumer\"");
    assert!(told.contains("no link joins these two alone"), "{told}");
    let told = refused("duration = \"12 s\"", "duration = \"12 s\"\ndialect = \"ccnx\"");
    assert!(told.contains("only Cairn takes registrations"), "{told}");
}
