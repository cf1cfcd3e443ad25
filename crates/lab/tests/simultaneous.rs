//! No verdict hangs on what somebody called a node, nor on one draw of what is random.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

mod common;

use std::path::Path;

use cairn_lab::experiment::Experiment;
use cairn_lab::report::{Outcome, RunData, Verdict, results_markdown, verdicts};
use cairn_lab::run::{Options, execute};
use testkit::folder::TestFolder;

use common::{options, run_in_virtual_time};

/// Two consumers, at the nodes `one` and `two`, that fetch as much from one producer, over links of the same
/// kind, from the same moment on. What is expected is that the first is faster.
fn rivals(one: &str, two: &str, repeats: u32) -> String {
    format!(
        "title = 't'\nduration = '20 s'\nuntil_done = true\nrepeats = {repeats}\n\
         [node]\n{one} = {{}}\nb = {{}}\nc = {{}}\n{two} = {{}}\n[link]\n\
         {one}-b = {{ rate = '10 Mbit/s', delay = '5 ms' }}\n{two}-b = {{ rate = '10 Mbit/s', delay = '5 ms' }}\n\
         b-c = {{ rate = '10 Mbit/s', delay = '5 ms' }}\n\
         [[route]]\nprefix = '/f'\npath = ['{one}', 'b', 'c']\n[[route]]\nprefix = '/f'\npath = ['{two}', 'b', 'c']\n\
         [content.f]\nprefix = '/f/f'\nat = 'c'\nsize = '500 kB'\n[content.g]\nprefix = '/f/g'\nat = 'c'\n\
         size = '500 kB'\n[download.f]\nat = '{one}'\ncontent = 'f'\ncontroller = 'fixed'\nwindow = 8\n\
         [download.g]\nat = '{two}'\ncontent = 'g'\ncontroller = 'fixed'\nwindow = 8\n\
         [[expect]]\nsay = 'The one is faster'\nvalue = 'f.duration.mean'\nless_than = 'g.duration.mean'\n"
    )
}

fn judged(name: &str, text: &str) -> (RunData, Vec<Verdict>) {
    let place = TestFolder::new(&format!("simultaneous-{name}"));
    let run = RunData::read(&run_in_virtual_time(name, text, &place)).unwrap();
    let list = verdicts(&run);
    (run, list)
}

#[test]
fn nobody_is_faster_because_of_a_name() {
    for (one, two) in [("a", "d"), ("d", "a")] {
        let (_, list) = judged("names", &rivals(one, two, 5));
        assert_eq!(list[0].outcome, Outcome::NotTestable, "{one} and {two}: {list:?}");
        let details = list[0].details.join(", ");
        assert!(details.contains("hangs on the order of what happens at one instant"), "{details}");
    }
}

#[test]
fn two_workloads_of_one_node_are_no_faster_because_of_a_name_either() {
    let text = rivals("a", "d", 5).replace("at = 'd'\ncontent = 'g'", "at = 'a'\ncontent = 'g'");
    let (_, list) = judged("workloads", &text);
    assert_eq!(list[0].outcome, Outcome::NotTestable, "{list:?}");
    assert!(list[0].details.join(", ").contains("hangs on the order"), "{:?}", list[0].details);
}

#[test]
fn one_repeat_has_seen_one_order_and_two_that_are_equal_are_as_good_as_many() {
    let head = "[[expect]]\nsay = 'All of it comes'\nvalue = 'c.goodput.sum'\nat_least = 1\n";
    let text = |repeats| rivals("a", "d", repeats) + head;
    let (_, list) = judged("single", &text(1));
    for verdict in &list {
        assert_eq!(verdict.outcome, Outcome::NotTestable, "{verdict:?}");
        assert!(verdict.why.contains("has seen one order"), "{}", verdict.why);
    }
    let (run, list) = judged("two", &text(2));
    assert_eq!((list[0].outcome, list[1].outcome), (Outcome::NotTestable, Outcome::Confirmed), "{list:?}");
    let orders: Vec<String> =
        run.cases[0].results.iter().map(|result| format!("{:?}", result.outcome.simultaneous)).collect();
    assert!(orders[0].contains("Planned") && orders[1].contains("Reversed"), "{orders:?}");
}

#[test]
fn one_repeat_in_which_nothing_comes_together_is_exact() {
    // One packet at a time: nobody meets anybody.
    let alone = rivals("a", "d", 1);
    let begin = alone.find("[download.g]").unwrap();
    let text = alone.replace("window = 8", "window = 1");
    let text = format!(
        "{}[[expect]]\nsay = 'It takes its time'\nvalue = 'f.duration.mean'\nat_least = 0.5\n",
        text.get(..begin).unwrap()
    );
    let (_, list) = judged("alone", &text);
    assert_eq!(list[0].outcome, Outcome::Confirmed, "{list:?}");
    assert!(list[0].details.is_empty(), "{:?}", list[0].details);
}

/// One consumer, at a node that is drawn.
fn drawn(head: &str) -> String {
    format!(
        "title = 't'\n{head}duration = '20 s'\nuntil_done = true\n[node]\na = {{}}\nb = {{}}\nc = {{}}\n[link]\n\
         a-b = {{ rate = '10 Mbit/s', delay = '5 ms' }}\nb-c = {{ rate = '10 Mbit/s', delay = '5 ms' }}\n\
         [[route]]\nprefix = '/f'\npath = ['a', 'b', 'c']\n[content.f]\nprefix = '/f'\nat = 'c'\nsize = '50 kB'\n\
         [download.f]\nat = {{ random = 1 }}\ncontent = 'f'\ncontroller = 'fixed'\nwindow = 8\n\
         [[expect]]\nsay = 'S'\nvalue = 'f.duration.mean'\nat_most = 0.6\n"
    )
}

#[test]
fn places_are_drawn_anew_for_each_repeat_and_one_draw_confirms_nothing() {
    let (_, list) = judged("one-draw", &drawn("repeats = 1\n"));
    assert_eq!(list[0].outcome, Outcome::NotTestable, "{list:?}");
    let (run, _) = judged("draws", &drawn("repeats = 12\n"));
    let values = run.cases[0].values("f.duration", "mean");
    assert!(values.iter().any(|value| (value - values[0]).abs() > 1e-6), "{values:?}");
}

#[test]
fn a_seed_of_the_command_is_the_same_as_one_of_the_file() {
    let place = TestFolder::new("simultaneous-seed");
    let run = |text: &str, seed: Option<u64>, name: &str| {
        let experiment = Experiment::parse("t", "t.toml", text).unwrap_or_else(|wrong| panic!("{wrong}"));
        let options = Options { seed, out: Some(place.join(name)), ..options(&place) };
        execute(&experiment, &options, |_| {}).unwrap()
    };
    let read = |folder: &Path, name: &str| std::fs::read(folder.join("case-01").join(name)).unwrap();
    let given = run(&drawn("repeats = 2\n"), Some(7), "given");
    let said = run(&drawn("repeats = 2\nseed = 7\n"), None, "said");
    let other = run(&drawn("repeats = 2\n"), None, "other");
    let counts = |folder: &Path| read(folder, "repeat-02/raw/network.json");
    assert_eq!(counts(given.path()), counts(said.path()));
    assert_ne!(counts(given.path()), counts(other.path()));
    let swept = drawn("repeats = 2\n") + "[[sweep]]\nkey = 'seed'\nvalues = [1, 2, 3]\n";
    let (seven, none) = (run(&swept, Some(7), "swept-7"), run(&swept, None, "swept"));
    let of_cases = |folder: &Path| -> Vec<Vec<u8>> {
        let file = |case: u32| folder.join(format!("case-0{case}/repeat-01/raw/network.json"));
        (1..=3).map(|case| std::fs::read(file(case)).unwrap()).collect()
    };
    assert_eq!(of_cases(seven.path()), of_cases(none.path()), "a sweep over seeds has its own");
}

#[test]
fn what_a_file_says_of_a_cause_is_told_from_what_was_tested() {
    let control = "[[control]]\nname = 'no moon'\nremoves = 'the full moon'\nfails = ['x']\n\
                   set = { 'link.a-b.rate' = '1 Mbit/s' }\n\
                   [[expect]]\nsay = 'It takes a while'\nvalue = 'f.duration.mean'\nat_least = 0.001\n\
                   by_construction = 'Because the link.a-b.rate likes Tuesdays'\n";
    let text = drawn("repeats = 2\n").replace("at = { random = 1 }", "at = 'a'");
    let text = text.replace("say = 'S'", "name = 'x'\nsay = 'S'").replace("at_most = 0.6", "at_most = 0.2")
        + control;
    let (run, list) = judged("cause", &text);
    assert_eq!((list[0].outcome, list[1].outcome), (Outcome::Confirmed, Outcome::ByConstruction), "{list:?}");
    assert_eq!(list[0].control_words(), "“no moon” (`link.a-b.rate` from 10 Mbit/s to 1 Mbit/s) fails it");
    assert_eq!(
        list[1].why,
        "said by the file: Because the link.a-b.rate likes Tuesdays (`link.a-b.rate` is 10 Mbit/s)"
    );
    let page = results_markdown(&[run], None);
    assert!(page.contains("from 10 Mbit/s to 1 Mbit/s"), "{page}");
}
