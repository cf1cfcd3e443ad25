//! What a report concludes follows from valid data, from intervals and from controls, and from nothing else.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

mod common;

use std::fs;

use cairn_lab::experiment::Experiment;
use cairn_lab::report::{
    Conclusion, Control, Outcome, RunData, Verdict, conclusion, result_rows, results_markdown, verdicts,
    write_report,
};
use cairn_lab::run::{Build, RunFolder, derive_anew, resume};
use cairn_lab::stats::Claim;
use testkit::experiment::ROW;
use testkit::folder::TestFolder;

use common::{options, run_in_virtual_time};

/// A folder that is gone when the test is.
struct RunsFolder(TestFolder);

impl RunsFolder {
    fn new(name: &str) -> Self {
        RunsFolder(TestFolder::new(name))
    }

    /// Runs the row with these keys before and behind it.
    fn run(&self, head: &str, rest: &str) -> RunFolder {
        let text = format!(
            "title = 'Row'\nuntil_done = true\n{head}\n[defaults.link]\nrate = '5 Mbit/s'\n{ROW}\n{rest}"
        );
        run_in_virtual_time("row", &text, &self.0)
    }

    fn judged(&self, head: &str, rest: &str) -> (RunData, Vec<Verdict>) {
        let run = RunData::read(&self.run(head, rest)).unwrap();
        let list = verdicts(&run);
        (run, list)
    }
}

const LONG: &str = "duration = '20 s'";
/// Too short for three files over a link of 5 Mbit/s.
const SHORT: &str = "duration = '1.2 s'";

#[test]
fn nothing_that_falls_to_nothing_says_nothing() {
    let place = RunsFolder::new("fall");
    let chain = "[[expect]]\nsay = 'S'\nvalue = 'a.retransmissions.sum'\nfalls = ['b.retransmissions.sum']\n";
    let real = "[[expect]]\nsay = 'S'\nvalue = 'a.pending.mean'\nfalls = ['c.retransmissions.sum']\n";
    let (run, list) = place.judged(LONG, &format!("{chain}{real}"));
    assert_eq!((list[0].outcome, list[0].found().0), (Outcome::NotTestable, "0".to_owned()));
    assert!(list[0].why.contains("both are 0"), "{}", list[0].why);
    assert_eq!((list[1].outcome, list[1].control), (Outcome::Confirmed, Control::NotStated));
    assert_eq!(conclusion(&run, &list), Conclusion::NotTestable);
    // A link of a chain that says nothing hides no other that is contradicted.
    let chain = chain.replace("sum']", "sum', 'a.pending.mean']");
    let (_, list) = place.judged(LONG, &chain);
    assert_eq!(list[0].outcome, Outcome::Contradicted);
}

#[test]
fn sameness_has_two_sides() {
    let place = RunsFolder::new("same");
    let same = |times: f64| {
        format!(
            "[[expect]]\nsay = 'S'\nvalue = 'a.goodput.sum'\nsame_as = 'b.goodput.sum'\nmargin = '5 %'\ntimes = {times}\n"
        )
    };
    let (_, list) = place.judged(LONG, &format!("{}{}{}", same(1.0), same(0.8), same(1.2)));
    let found: Vec<Outcome> = list.iter().map(|verdict| verdict.outcome).collect();
    assert_eq!(found, [Outcome::Confirmed, Outcome::Contradicted, Outcome::Contradicted], "{list:?}");
}

#[test]
fn downloads_of_a_workload_that_were_never_begun_are_work_that_was_left() {
    let place = RunsFolder::new("never-begun");
    // On average the tenth comes after 1.9 s; how it is drawn here, some do not come within 2 s.
    let valid = |rest: &str| {
        let text = format!(
            "title = 'Row'\nduration = '2 s'\nseed = 3\nrepeats = 9\n[defaults.link]\nrate = '50 Mbit/s'\n{ROW}\n\
             workload = 'uniform/rate~10/spacing~poisson/limit~10'\n{rest}"
        );
        let folder = run_in_virtual_time("row", &text, &place.0);
        let run = RunData::read(&folder).unwrap();
        let results: Vec<_> = run.cases[0]
            .results
            .iter()
            .map(|result| {
                let of = |key: &str| result.values.get(key).map_or(0.0, |summary| summary.mean);
                (result.is_valid(), of("files.started") + of("files.unfinished"), of("files.unfinished"))
            })
            .collect();
        results
    };
    // The file allows less than one of ten.
    let found = valid("[gates]\nunfinished = '1 %'");
    assert!(found.iter().all(|(_, all, _)| *all >= 10.0), "{found:?}");
    assert!(found.iter().any(|(_, _, left)| *left > 0.0), "{found:?}");
    assert!(found.iter().all(|(valid, _, left)| *valid == (*left == 0.0)), "{found:?}");
    assert!(valid("stop = '1.5 s'").iter().all(|(_, _, left)| *left == 0.0), "the file says that it stops");
    assert!(valid("[gates]\nunfinished = '100 %'").iter().all(|(valid, _, _)| *valid));
}

#[test]
fn no_number_is_taken_from_a_run_that_is_not_valid() {
    let place = RunsFolder::new("invalid");
    let expect = "[[expect]]\nsay = 'Something is carried'\nvalue = 'b.goodput.sum'\nat_least = 1\n";
    let folder = place.run(SHORT, &format!("[gates]\nretries = 1\n{expect}"));
    let run = RunData::read(&folder).unwrap();
    let list = verdicts(&run);
    assert_eq!((list[0].outcome, list[0].measured), (Outcome::NotTestable, None));
    assert!(list[0].why.contains("no valid run"), "{}", list[0].why);
    assert_eq!(conclusion(&run, &list), Conclusion::NoValidRun);
    let page = fs::read_to_string(write_report(&folder).unwrap()).unwrap();
    assert!(!page.contains("Everything came out"), "nothing follows from what is not valid");
    assert!(page.contains("Nothing that was expected could be tested"));
    // To try until the work is done would keep the attempts that were lucky.
    assert!(!folder.path().join("case-01/repeat-01-discarded-1").exists());
}

#[test]
fn where_some_repeats_leave_work_the_others_prove_nothing() {
    let place = RunsFolder::new("lucky");
    let head = "duration = '2.2 s'\nrepeats = 12";
    let link = "[link]\na-b = { loss = '4 %' }\nb-c = {}\n";
    let row = ROW.replace("[link]\na-b = {}\nb-c = {}\n", link);
    assert_ne!(row, ROW);
    let rest = "[[expect]]\nsay = 'Files arrive soon'\nvalue = 'files.duration.max'\nat_most = 0.9\n";
    let text = format!(
        "title = 'Row'\nuntil_done = true\n{head}\n[defaults.link]\nrate = '5 Mbit/s'\n{row}\n{rest}"
    );
    let run = RunData::read(&run_in_virtual_time("row", &text, &place.0)).unwrap();
    let unfinished = run.cases[0].results.iter().filter(|result| result.is_unfinished()).count();
    assert!((1..12).contains(&unfinished), "{unfinished} of 12: the test needs some of them");
    let list = verdicts(&run);
    assert_eq!(list[0].outcome, Outcome::NotTestable);
    assert!(list[0].why.contains("did not finish their work"), "{}", list[0].why);
}

#[test]
fn unfinished_work_is_valid_only_where_the_experiment_says_so() {
    let place = RunsFolder::new("unfinished");
    let expect =
        "[gates]\nunfinished = '100 %'\n[[expect]]\nsay = 'S'\nvalue = 'files.goodput'\nat_least = 1\n";
    let (run, list) = place.judged(SHORT, expect);
    assert!(run.cases[0].is_valid());
    let counted = run.cases[0].estimate("files.finished", "mean").unwrap().mean;
    assert!(counted < 3.0, "{counted} files in 0.2 s");
    let bytes =
        run.cases[0].shown.transfers["files"].transfers.iter().map(|transfer| transfer.bytes).sum::<u64>();
    let goodput = list[0].measured.unwrap().mean;
    assert!(
        goodput * 0.2 < bytes as f64,
        "{goodput} B/s of {bytes} bytes: those of open transfers do not count"
    );
}

#[test]
fn what_no_result_of_a_case_meets_is_contradicted_there_however_far_off_it_is() {
    let place = RunsFolder::new("never");
    let text = "[[expect]]\nsay = 'S'\nvalue = 'files.goodput'\nat_least = '2 Mbit/s'\n\
                [[expect]]\nsay = 'T'\nvalue = 'files.finished'\nat_least = 4\n\
                [[sweep]]\nkey = 'defaults.link.rate'\nvalues = ['1 Mbit/s', '1.9 Mbit/s', '5 Mbit/s']\n";
    let (run, list) = place.judged(&format!("{LONG}\nrepeats = 6"), text);
    for (say, wanted) in [
        ("S", [Outcome::Contradicted, Outcome::Contradicted, Outcome::Confirmed]),
        ("T", [Outcome::Contradicted; 3]),
    ] {
        let found: Vec<Outcome> =
            list.iter().filter(|verdict| verdict.say == say).map(|verdict| verdict.outcome).collect();
        assert_eq!(found, wanted, "{say}: {list:?}");
    }
    assert_eq!(conclusion(&run, &list), Conclusion::Contradicted);
}

#[test]
fn what_a_control_does_not_fail_is_not_confirmed() {
    let place = RunsFolder::new("control");
    let expect = |name: &str, bound: &str| {
        format!("[[expect]]\nname = '{name}'\nsay = 'S'\nvalue = 'files.duration.max'\n{bound}\n")
    };
    let control = "[[control]]\nname = 'fast'\nremoves = 'the slow links'\nset = { 'link.*.rate' = '1 Gbit/s' }\n\
                   fails = ['slow', 'any']\n";
    let (slow, any) = (expect("slow", "at_least = 0.15"), expect("any", "at_most = 5"));
    let (run, list) = place.judged(&format!("{LONG}\nrepeats = 7"), &format!("{slow}{any}{control}"));
    assert_eq!((run.cases.len(), run.controls.len()), (1, 1));
    assert_eq!((list[0].words(), list[0].control), ("confirmed", Control::Failed(Some(Claim::MostOrders))));
    assert_eq!(list[1].outcome, Outcome::NotTestable);
    assert!(list[1].why.contains("holds without its cause"), "{}", list[1].why);
    // A program reads the same as numbers: what was measured, the bound, and what the control brought.
    let rows = result_rows(std::slice::from_ref(&run));
    let numbers = rows[0].finding.numbers.as_ref().unwrap();
    assert_eq!((numbers.unit, numbers.mean), ("s", list[0].measured.unwrap().mean));
    let bound = &numbers.bounds[0];
    assert_eq!((bound.key, bound.number, bound.measure.as_ref()), ("at_least", Some(0.15), None));
    let control = &numbers.controls[0];
    assert_eq!((numbers.controls.len(), control.name.as_str()), (1, "fast"));
    assert!(control.mean.is_some_and(|mean| mean > 0.0 && mean < 0.1), "{control:?}");
    assert_eq!(control.outcome, "failed in most orders, as it must");
    assert_eq!(conclusion(&run, &list), Conclusion::NotTestable);
    // What the control changes stands once on a page, and what came of it beside each statement.
    let [slow, any] = [&rows[0].control.words, &rows[1].control.words];
    assert!(slow.ends_with(") fails it in most orders"), "{slow}");
    assert!(any.ends_with("): holds as well in most orders"), "{any}");
    let page = results_markdown(&[run], None).replace("\n    ", " ").replace('\n', " ");
    let [_, keys] = slow.split('(').collect::<Vec<_>>()[..] else { panic!("{slow}") };
    let keys = keys.split(')').next().unwrap();
    assert_eq!(page.matches(keys).count(), 1, "{page}");
    assert!(page.contains(&format!("Control “fast”: {keys}.")), "{page}");
    assert!(page.contains("Control: “fast” fails it in most orders."), "{page}");
}

#[test]
fn a_control_that_is_not_valid_confirms_nothing() {
    let place = RunsFolder::new("control-invalid");
    let text = "[[expect]]\nname = 'fast'\nsay = 'S'\nvalue = 'files.duration.max'\nat_most = 5\n\
                [[control]]\nname = 'slow'\nremoves = 'the fast links'\nfails = ['fast']\n\
                set = { 'link.*.rate' = '100 kbit/s' }\n";
    let (run, list) = place.judged(LONG, text);
    assert!(run.cases[0].is_valid() && !run.controls[0].is_valid(), "it leaves files unfinished");
    assert_eq!(list[0].words(), "not testable here");
    let why = "control “slow” says nothing: no valid run of control “slow”: transfers";
    assert!(list[0].why.contains(why), "{}", list[0].why);
    assert!(list[0].why.contains("transfers that were not finished"), "{}", list[0].why);
    // The same with a gate that lets unfinished work pass is a control that fails it.
    let text = text.replace("files.duration.max'\nat_most = 5", "files.unfinished'\nat_most = 0");
    let (_, list) = place.judged(LONG, &format!("[gates]\nunfinished = '100 %'\n{text}"));
    assert_eq!((list[0].words(), list[0].controls.as_slice()), ("confirmed", ["slow".to_owned()].as_slice()));
    assert!(list[0].control_words().ends_with("from 5 Mbit/s to 100 kbit/s) fails it"), "{:?}", list[0]);
}

#[test]
fn a_control_in_which_nothing_was_done_confirms_nothing() {
    let place = RunsFolder::new("control-nothing");
    // It begins so late that no file is finished, and the gate lets that pass.
    let text = "[gates]\nunfinished = '100 %'\n[[expect]]\nname = 'fast'\nsay = 'S'\nvalue = 'files.goodput'\n\
                at_least = 1000\n[[control]]\nname = 'late'\nremoves = 'the time, `download.files.start`'\nfails = ['fast']\n\
                set = { 'download.files.start' = '4.99 s' }\n";
    let (_, list) = place.judged("duration = '5 s'", text);
    assert_eq!(list[0].outcome, Outcome::NotTestable);
    assert!(list[0].why.contains("“late” says nothing: there `files` finished nothing"), "{}", list[0].why);
}

#[test]
fn a_consumer_that_has_all_it_asked_for_is_measured_until_then_and_an_endless_one_until_the_end() {
    let place = RunsFolder::new("consumer");
    let text = |items: &str| {
        format!(
            "title = 'Row'\nduration = '20 s'\n[node]\na = {{}}\nb = {{}}\n[link.a-b]\ndelay = '1 ms'\n\
             [[route]]\nprefix = '/p'\npath = ['a', 'b']\n[producer.p]\nat = 'b'\nprefix = '/p'\n\
             [consumer.c]\nkind = 'rate'\nat = 'a'\nprefix = '/p'\nrate = '100/s'\n{items}\n"
        )
    };
    for (items, until) in [("items = 200", 2.0), ("", 20.0)] {
        let run = RunData::read(&run_in_virtual_time("row", &text(items), &place.0)).unwrap();
        let window = run.cases[0].results[0].window.unwrap();
        assert!((window.until - until).abs() < 0.1, "{items}: {window:?}");
    }
}

#[test]
fn a_control_that_takes_away_all_there_is_to_put_in_order_confirms_nothing() {
    let place = RunsFolder::new("control-all");
    let text = |measure: &str| {
        format!(
            "[[expect]]\nname = 'falls'\nsay = 'S'\nvalue = 'a.{measure}'\nfalls = ['c.retransmissions.sum']\n\
             [[control]]\nname = 'none'\nremoves = 'all work, `download.files.start`'\nfails = ['falls']\n\
             set = {{ 'download.files.start' = '19.9 s' }}\n[gates]\nunfinished = '100 %'\n\
             [measure]\nfrom = '0 s'\nuntil = '10 s'\n"
        )
    };
    let (_, list) = place.judged(LONG, &text("propagated.sum"));
    assert_eq!(list[0].outcome, Outcome::NotTestable, "{:?}", list[0]);
    assert!(
        list[0].why.contains("“none” says nothing: nothing happened while it was measured"),
        "{:?}",
        list[0]
    );
}

#[test]
fn nothing_is_not_as_much_as_nothing() {
    let place = RunsFolder::new("nothing");
    let expect = |bound: &str| format!("[[expect]]\nsay = 'S'\nvalue = 'a.retransmissions.sum'\n{bound}\n");
    let all = [
        "same_as = 'b.retransmissions.sum'",
        "at_least = 'b.retransmissions.sum'\ntimes = 2",
        "more_than = 'b.retransmissions.sum'",
        "falls = ['b.retransmissions.sum']",
        "rises = ['b.retransmissions.sum']",
    ];
    let (_, list) = place.judged(LONG, &all.map(expect).concat());
    for verdict in &list {
        assert_eq!(verdict.outcome, Outcome::NotTestable);
        assert!(verdict.why.contains("both are 0"), "{}", verdict.why);
    }
}

#[test]
fn a_run_that_is_not_complete_and_one_that_tests_nothing_conclude_nothing() {
    let place = RunsFolder::new("incomplete");
    let folder = place.run(LONG, "[[expect]]\nsay = 'S'\nvalue = 'files.duration'\nat_most = 9\n");
    let mut record = folder.record().unwrap();
    record.complete = false;
    folder.write_record(&record).unwrap();
    let run = RunData::read(&folder).unwrap();
    assert_eq!(conclusion(&run, &verdicts(&run)), Conclusion::Incomplete);
    let place = RunsFolder::new("elsewhere");
    let other = "[[expect]]\nsay = 'S'\nvalue = 'files.duration'\nat_most = 9\non = ['netns']\n";
    let (run, list) = place.judged(LONG, other);
    assert_eq!(conclusion(&run, &list), Conclusion::NotTestable);
}

#[test]
fn every_statement_that_is_shipped_names_its_control_or_is_so_by_construction() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut missing = Vec::new();
    for entry in fs::read_dir(&folder).unwrap().flatten() {
        // Studies of clocks are judged by statements of their own.
        let Ok(experiment) = Experiment::read(&entry.path()) else { continue };
        let file = &experiment.file;
        let is_failed = |name: &String| file.control.iter().any(|control| control.fails.contains(name));
        let lacks = file.expect.iter().filter(|expect| {
            let needs_none = expect.by_construction.is_some() || expect.not_testable.is_some();
            !needs_none && !expect.name.as_ref().is_some_and(is_failed)
        });
        missing.extend(lacks.map(|expect| format!("{}: {}", experiment.name, expect.say)));
    }
    assert_eq!(missing, [""; 0]);
}

#[test]
fn controls_of_chunk_state_change_what_a_router_takes_or_what_stands_for_it_and_never_both() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/chunk-state.toml");
    let experiment = Experiment::read(&path).unwrap();
    for (backend, changes_links) in [("sim", false), ("netns", true), ("hosts", true)] {
        let plans = experiment.plans(backend).unwrap();
        let (controls, cases): (Vec<_>, Vec<_>) = plans.iter().partition(|plan| plan.control.is_some());
        assert!(!controls.is_empty());
        for control in controls {
            let of = control.control.as_ref().unwrap().case.clone();
            let case = cases.iter().find(|case| case.case == of).unwrap();
            assert_eq!(control.links != case.links, changes_links, "{backend}: {}", control.case);
            assert_eq!(control.nodes != case.nodes, !changes_links, "{backend}: {}", control.case);
        }
    }
}

#[test]
fn what_the_setting_makes_so_and_what_is_stated_for_others_is_not_called_confirmed() {
    let place = RunsFolder::new("construction");
    let text = "[[expect]]\nsay = 'S'\nvalue = 'files.started'\nabout = 3\nby_construction = 'content.files.count is 3'\n\
                [[expect]]\nsay = 'Other'\nvalue = 'files.duration'\nat_most = 9\non = ['netns']\n";
    let (run, list) = place.judged(LONG, text);
    assert_eq!(
        (list[0].words(), list[0].why.as_str()),
        ("by construction", "said by the file: content.files.count is 3 (`content.files.count` is 3)")
    );
    assert_eq!((list[1].words(), list[1].elsewhere), ("not testable here", true));
    assert_eq!(conclusion(&run, &list), Conclusion::AsExpected, "another backend's statement is not ours");
}

#[test]
fn one_repeat_with_chance_in_it_confirms_nothing() {
    let place = RunsFolder::new("chance");
    let text = "[[expect]]\nsay = 'S'\nvalue = 'files.goodput'\nat_least = 100_000\n";
    let head = "duration = '60 s'\n[defaults.node]\nforwarder = { strategy = 'asf' }";
    let (_, list) = place.judged(head, text);
    assert_eq!(list[0].outcome, Outcome::NotTestable, "{:?}", list[0]);
    let (_, list) = place.judged(&head.replace("\n[def", "\nrepeats = 3\n[def"), text);
    assert_eq!(list[0].outcome, Outcome::Confirmed, "{:?}", list[0]);
}

/// A consumer at a random node of a star, two of whose links lose everything: most repeats lose nothing, and
/// some lose all of 400 Interests in one burst.
const BURST: &str = "title = 'Burst'\nduration = '6 s'\nroutes = 'shortest'\n[topology]\nkind = 'star'\nleaves = 12\n\
    [defaults.link]\nrate = '20 Mbit/s'\ndelay = '2 ms'\n[link.node-0-node-1]\nloss = '99.99 %'\n\
    [link.node-0-node-3]\nloss = '99.99 %'\n[producer.p]\nat = ['node-5']\nprefix = '/v'\npacket = '1250 B'\n\
    [consumer.c]\nkind = 'rate'\nat = { random = 1 }\nprefix = '/v'\nrate = '100/s'\nlifetime = '5 s'\n\
    stop = '4 s'\n[gates]\nunfinished = '100 %'\n\
    [[expect]]\nsay = 'Two are lost at most'\nvalue = 'c.unfinished'\nat_most = 2\n";

/// A row of nodes with a random delay of next to nothing, and rare losses.
const NEAR: &str = "title = 'Near'\nduration = '20 s'\nuntil_done = true\n[defaults.link]\nrate = '20 Mbit/s'\n\
    delay = '10 ms'\n[node]\na = {}\nb = {}\nc = {}\n[link]\na-b = {}\n\
    b-c = { loss = '0.02 %', jitter = '10 us' }\n[[route]]\nprefix = '/v'\npath = ['a', 'b', 'c']\n\
    [content.files]\nprefix = '/v/file'\nat = 'c'\ncount = 4\nsize = '200 kB'\n\
    [download.files]\nat = 'a'\ncontent = 'files'\n";

fn judged_text(place: &RunsFolder, text: &str, repeats: usize, seed: u32) -> Verdict {
    let text = text.replacen("\nduration", &format!("\nrepeats = {repeats}\nseed = {seed}\nduration"), 1);
    let run = RunData::read(&run_in_virtual_time("drawn", &text, &place.0)).unwrap();
    verdicts(&run).remove(0)
}

#[test]
fn repeats_without_a_burst_confirm_nothing_that_many_contradict() {
    let place = RunsFolder::new("burst");
    let mut equal = 0;
    for (repeats, seed) in [(2, 1), (2, 10), (2, 20), (3, 30), (5, 40), (8, 1), (5, 3)] {
        let verdict = judged_text(&place, BURST, repeats, seed);
        assert_eq!(verdict.outcome, Outcome::NotTestable, "{repeats} of seed {seed}: {verdict:?}");
        equal += usize::from(verdict.found().0 == "0");
    }
    assert!(equal > 2, "the test needs some lucky ones");
    let many = judged_text(&place, BURST, 60, 1);
    assert_eq!(many.outcome, Outcome::Contradicted, "{many:?}");
}

#[test]
fn few_repeats_that_are_nearly_equal_confirm_no_more_than_equal_ones() {
    let place = RunsFolder::new("near");
    let most =
        format!("{NEAR}[[expect]]\nsay = 'Never longer'\nvalue = 'files.duration.max'\nat_most = 0.25\n");
    let about = most.replace("at_most = 0.25", "about = 0.248\nwithin = '1 %'");
    for repeats in [2, 3, 4] {
        for text in [&most, &about] {
            let verdict = judged_text(&place, text, repeats, 1);
            assert_eq!(verdict.outcome, Outcome::NotTestable, "{repeats}: {verdict:?}");
        }
    }
    let why = judged_text(&place, &most, 3, 1).why;
    assert!(why.contains("after 3 repeats 63 % of all may be unlike any of them; 5 like these"), "{why}");
    // The spread of five is taken for that of all.
    let far = most.replace("0.25", "1");
    assert_eq!(judged_text(&place, &far, 5, 1).outcome, Outcome::Confirmed);
    assert_eq!(judged_text(&place, &far, 4, 1).outcome, Outcome::NotTestable);
}

#[test]
fn the_difference_that_is_printed_is_the_one_that_decides() {
    let place = RunsFolder::new("deciding");
    let cases = "[[case]]\nname = 'lossy'\nset = { 'link.a-b.loss' = '1 %' }\n\
                 [[case]]\nname = 'bad'\nset = { 'link.a-b.loss' = '8 %' }\n";
    let expect = |value: &str, bound: &str| {
        let pings = "[ping.p]\nat = 'a'\nto = 'c'\nprefix = '/v/p'\ncount = 50\nevery = '10 ms'\n";
        format!("{NEAR}{pings}{cases}[[expect]]\nsay = 'S'\nvalue = '{value}'\n{bound}\n")
    };
    let ends = |run: RunData| {
        let rows = result_rows(&[run]);
        let bound = rows.iter().find_map(|r| r.finding.numbers.as_ref()?.bounds.first().cloned()).unwrap();
        [bound.difference_low, bound.difference_high]
    };
    let text = expect("files.duration @ lossy", "less_than = 'files.duration @ bad'");
    let judged = |text: &str, repeats| {
        let text = text.replacen("\nduration", &format!("\nrepeats = {repeats}\nduration"), 1);
        let run = RunData::read(&run_in_virtual_time("deciding", &text, &place.0)).unwrap();
        (verdicts(&run).remove(0), ends(run))
    };
    let (few, none) = judged(&text, 4);
    assert!(few.why.contains("after 4 repeats 53 %"), "{few:?}");
    assert!(!few.bound.contains("the difference"), "it does not decide: {}", few.bound);
    assert_eq!(none, [None; 2]);
    let (six, both) = judged(&text, 6);
    assert!(six.bound.contains("(the difference is -"), "{}", six.bound);
    assert_eq!(both[1].unwrap() < 0.0, six.outcome == Outcome::Confirmed, "{both:?} {six:?}");
    // A part of a whole ends at all of it, and few repeats reach that far.
    let text = expect("p.loss @ lossy", "less_than = 'p.loss @ bad'");
    let (few, both) = judged(&text, 4);
    assert!(few.bound.contains("(the difference is between -"), "{}", few.bound);
    assert!(both[0].unwrap() < 0.0 && both[1].unwrap() > 0.0, "{both:?}");
}

#[test]
fn differences_that_are_equal_by_chance_say_how_many_more_would_do() {
    let place = RunsFolder::new("equal-differences");
    let text = NEAR.replace("0.02 %", "2 %");
    let text = format!(
        "{text}[[expect]]\nsay = 'As often'\nvalue = 'files.retransmissions'\nsame_as = 'a.retransmissions.sum'\n"
    );
    let verdict = judged_text(&place, &text, 5, 1);
    assert_eq!(verdict.outcome, Outcome::NotTestable, "{verdict:?}");
    let told = "the difference is the same in every repeat, and after 5 repeats 45 % of all may be unlike any of \
                them; 59 like these";
    assert!(verdict.why.contains(told), "{verdict:?}");
    assert_eq!(judged_text(&place, &text, 59, 1).outcome, Outcome::Confirmed);
}

#[test]
fn what_the_setting_makes_so_and_what_has_nothing_random_in_it_needs_no_repeats() {
    let place = RunsFolder::new("settled");
    let loss = "[on.sim]\nwhy = 'rare losses'\nset = { 'link.*.loss' = '0.1 %' }\n";
    let started = "[[expect]]\nsay = 'S'\nvalue = 'files.started'\nabout = 3\nby_construction = 'content.files.count is 3'\n";
    let (_, list) = place.judged("duration = '60 s'\nrepeats = 3", &format!("{loss}{started}"));
    assert_eq!(list[0].outcome, Outcome::ByConstruction);
    let calm = "[[expect]]\nsay = 'S'\nvalue = 'files.retransmissions'\nat_most = 0\n";
    let (_, list) = place.judged("duration = '60 s'\nrepeats = 3", calm);
    assert_eq!(list[0].outcome, Outcome::Confirmed);
}

#[test]
fn a_workload_in_step_with_the_samples_is_seen_as_it_is() {
    // A ping every half second whose round trip takes 200 ms: 0.4 are pending on average, and samples are as
    // often.
    let place = RunsFolder::new("step");
    let ping = "[ping.probe]\nat = 'a'\nto = 'c'\nprefix = '/small/ping'\ncount = 60\nevery = '500 ms'\n";
    let delay = "[on.sim]\nwhy = 'far away'\nset = { 'link.*.delay' = '50 ms' }\n";
    let folder =
        place.run("duration = '40 s'", &format!("{ping}{delay}[measure]\nfrom = '5 s'\nuntil = '30 s'\n"));
    let run = RunData::read(&folder).unwrap();
    let pending = run.cases[0].estimate("a.pending", "mean").unwrap().mean;
    assert!((pending - 0.4).abs() < 0.05, "{pending} pending on average");
    let window = run.cases[0].results[0].window.unwrap();
    assert_eq!((window.from, window.until), (5.0, 30.0));
}

#[test]
fn a_repeat_that_was_taken_out_of_the_folder_is_told_and_leaves_nothing_testable() {
    let place = RunsFolder::new("taken");
    let expect = "[[expect]]\nsay = 'S'\nvalue = 'files.duration'\nat_most = 50\n";
    let folder = place.run("duration = '60 s'\nrepeats = 3", expect);
    let judged = || {
        let run = RunData::read(&folder).unwrap();
        (verdicts(&run).remove(0), run.faults)
    };
    assert_eq!((judged().0.outcome, judged().1.len()), (Outcome::Confirmed, 0));
    fs::remove_dir_all(folder.path().join("case-01/repeat-02")).unwrap();
    let (verdict, missing) = judged();
    assert_eq!(verdict.outcome, Outcome::NotTestable);
    assert!(verdict.why.contains("number 2 is missing"), "{}", verdict.why);
    assert!(missing.len() == 1 && missing[0].starts_with("repeat 2 of 3"), "{missing:?}");
    fs::remove_file(folder.path().join("run.json")).unwrap();
    let error = RunData::read(&folder).unwrap_err().to_string();
    assert!(error.contains("run.json"), "{error}");
}

#[test]
fn a_control_that_was_taken_out_of_the_folder_confirms_nothing() {
    let place = RunsFolder::new("control-taken");
    let text = "[[expect]]\nname = 'soon'\nsay = 'S'\nvalue = 'files.duration.max'\nat_most = 1\n\
                [[control]]\nname = 'slow'\nremoves = 'the rate'\nfails = ['soon']\n\
                set = { 'defaults.link.rate' = '200 kbit/s' }\n";
    let folder = place.run("duration = '200 s'", text);
    let judged = || {
        let run = RunData::read(&folder).unwrap();
        (verdicts(&run).remove(0), run.faults)
    };
    let (whole, _) = judged();
    assert_eq!((whole.outcome, whole.control), (Outcome::Confirmed, Control::Failed(None)), "{whole:?}");
    fs::remove_dir_all(folder.path().join("case-02")).unwrap();
    let (verdict, missing) = judged();
    assert_eq!(verdict.outcome, Outcome::NotTestable, "{verdict:?}");
    assert!(verdict.why.contains("“slow” is missing from the folder"), "{}", verdict.why);
    assert_eq!(missing.len(), 1);
}

#[test]
fn what_was_counted_in_a_window_does_not_depend_on_how_often_samples_were_taken() {
    let place = RunsFolder::new("window");
    let counted = |every: &str, until: &str| {
        let head = format!("duration = '20 s'\nsample_every = '{every}'");
        let folder = place.run(&head, &format!("[measure]\nfrom = '1100 ms'\nuntil = '{until}'\n"));
        let run = RunData::read(&folder).unwrap();
        let of = |key: &str, summary: &str| run.cases[0].estimate(&format!("b.{key}"), summary).unwrap().mean;
        let sums = ["propagated", "noted", "answered"].map(|key| of(key, "sum"));
        let grown = ["in_interests", "out_data", "satisfied"].map(|key| of(key, "mean"));
        let levels = [of("pending", "mean"), of("pending", "max"), of("cached", "mean"), of("busy", "mean")];
        [sums.to_vec(), grown.to_vec(), levels.to_vec()].concat()
    };
    for until in ["2 s", "1650 ms"] {
        let often = counted("100 ms", until);
        assert!(often.iter().filter(|number| **number > 1.0).count() > 5, "{often:?}");
        for every in ["500 ms", "1 s", "5 s"] {
            let seldom = counted(every, until);
            let far =
                often.iter().zip(&seldom).any(|(one, two)| (one - two).abs() > 0.01 * one.abs().max(1.0));
            assert!(!far, "{every} until {until}: {seldom:?} and not {often:?}");
        }
    }
}

#[test]
fn a_workload_that_asks_twice_for_the_same_names_sends_nothing_again() {
    let place = RunsFolder::new("names");
    // Six downloads of three files, and caches that keep nothing.
    let text = "[traffic.t]\nat = 'a'\ncontent = 'files'\nrate = '100/s'\npattern = 'uniform'\n";
    let head = "duration = '5 s'\n[defaults.node]\nforwarder = { content_store = 0 }";
    let (run, _) = place.judged(head, text);
    let sum = |key: &str| run.cases[0].estimate(&format!("a.{key}"), "sum").unwrap().mean;
    let again = run.cases[0].estimate("files.retransmissions", "mean").unwrap().mean;
    assert!(sum("retransmissions") <= again, "what downloads send again, and nothing of the rest");
    assert!(sum("repeated_names") > 100.0, "{}", sum("repeated_names"));
}

#[test]
fn a_number_that_was_changed_behind_the_runs_back_is_told_and_judges_nothing() {
    let place = RunsFolder::new("altered");
    let expect = "[[expect]]\nsay = 'S'\nvalue = 'files.duration'\nat_most = 50\n";
    let folder = place.run("duration = '60 s'\nrepeats = 2", expect);
    let path = folder.path().join("case-01/repeat-02/result.json");
    let whole = fs::read_to_string(&path).unwrap();
    let judged = |text: &str| {
        fs::write(&path, text).unwrap();
        let run = RunData::read(&folder).unwrap();
        (verdicts(&run).remove(0), run.faults)
    };
    assert_eq!((judged(&whole).0.outcome, judged(&whole).1), (Outcome::Confirmed, Vec::new()));
    derive_anew(&folder).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    let seconds = whole.lines().find(|line| line.starts_with("  \"seconds\"")).unwrap();
    let sealed = whole.rfind(",\n  \"sha256\"").unwrap();
    for text in [whole.replace(seconds, "  \"seconds\": 1.0,"), format!("{}\n}}", &whole[..sealed])] {
        let (verdict, faults) = judged(&text);
        assert_eq!(verdict.outcome, Outcome::NotTestable);
        assert!(verdict.why.contains("number 2 was changed after it was written"), "{}", verdict.why);
        assert!(faults.len() == 1 && faults[0].starts_with("repeat 2 of 2 was changed"), "{faults:?}");
        // What is derived anew gets a new seal, under which nobody would see it.
        let refused = derive_anew(&folder).unwrap_err().to_string();
        assert!(refused.contains("repeat-02/result.json: it was changed after it was written"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    let page = fs::read_to_string(write_report(&folder).unwrap()).unwrap();
    assert!(page.contains("was changed after it was written"), "the report says so");
    let run = RunData::read(&folder).unwrap();
    fs::copy(&path, path.with_file_name("../repeat-01/result.json")).unwrap();
    let why = verdicts(&RunData::read(&folder).unwrap()).remove(0).why;
    assert!(why.contains("numbers 1, 2 were changed after they were written"), "{why}");
    assert!(results_markdown(&[run], None).contains("**Not as the run left it**: Repeat 2 of 2 was changed"));
}

#[test]
fn a_raw_file_that_was_changed_behind_the_runs_back_is_told_and_nothing_is_derived_from_it() {
    let place = RunsFolder::new("raw");
    let expect = "[[expect]]\nsay = 'S'\nvalue = 'files.duration'\nat_most = 50\n";
    let folder = place.run("duration = '60 s'\nrepeats = 2", expect);
    let raw = folder.path().join("case-01/repeat-02/raw/transfers-files.csv.gz");
    let whole = fs::read(&raw).unwrap();
    let judged = || {
        let run = RunData::read(&folder).unwrap();
        let list = verdicts(&run);
        (list[0].outcome, conclusion(&run, &list), run.faults)
    };
    assert_eq!(judged().2, Vec::<String>::new());
    // Another file that reads as well: that of the first repeat.
    fs::copy(folder.path().join("case-01/repeat-01/raw/forwarder-b.csv.gz"), &raw).unwrap();
    let (outcome, concluded, faults) = judged();
    assert_eq!((outcome, concluded), (Outcome::NotTestable, Conclusion::Incomplete));
    assert!(faults.len() == 1 && faults[0].contains("(raw/transfers-files.csv.gz)"), "{faults:?}");
    let refused = derive_anew(&folder).unwrap_err().to_string();
    assert!(refused.contains("raw/transfers-files.csv.gz: it was changed after it was written"), "{refused}");
    // It concludes so, too, where no statement needs it, and whoever goes on with the run is told.
    resume(folder.path(), &options(&place.0).programs, Build::default(), |_| {}).unwrap();
    assert_eq!(judged().1, Conclusion::Incomplete);
    fs::write(&raw, &whole).unwrap();
    assert_eq!(judged().2, Vec::<String>::new());
    derive_anew(&folder).unwrap();
    assert_eq!(judged().2, Vec::<String>::new(), "what is derived anew has the same hashes");
    // Runs of earlier versions have none, and are read as ever.
    let result = folder.path().join("case-01/repeat-02/result.json");
    let text = fs::read_to_string(&result).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let noted = value["raw_files"].as_object().unwrap().len();
    assert_eq!(noted, fs::read_dir(raw.parent().unwrap()).unwrap().count());
    value.as_object_mut().unwrap().remove("raw_files");
    value.as_object_mut().unwrap().remove("sha256");
    fs::write(&result, value.to_string()).unwrap();
    let mut record = folder.record().unwrap();
    record.hashes.clear();
    folder.write_record(&record).unwrap();
    assert_eq!(judged().2, Vec::<String>::new());
}

#[test]
fn an_experiment_that_was_changed_since_its_run_began_is_told_and_not_gone_on_with() {
    let place = RunsFolder::new("changed");
    let expect = "[[expect]]\nsay = 'S'\nvalue = 'files.duration'\nat_most = 50\n";
    let folder = place.run("duration = '60 s'", expect);
    let text = fs::read_to_string(folder.experiment()).unwrap();
    let go_on = |text: &str| {
        fs::write(folder.experiment(), text).unwrap();
        resume(folder.path(), &options(&place.0).programs, Build::default(), |_| {})
            .map_err(|error| error.to_string())
    };
    // A comment changes nothing.
    assert!(go_on(&format!("# Said later.\n{text}")).is_ok());
    // Nor does what only people read.
    let mended = format!("about = 'Said better.'\n{}", text.replace("title = 'Row'", "title = 'A row'"));
    assert!(go_on(&mended).is_ok());
    let told = go_on(&text.replace("at_most = 50", "at_most = 40")).unwrap_err();
    assert!(told.contains("`expect` of its experiment.toml is not what the run began with"), "{told}");
    let run = RunData::read(&folder).unwrap();
    assert_eq!(verdicts(&run).remove(0).outcome, Outcome::Confirmed, "it says otherwise how it is looked at");
    assert!(run.faults[0].contains("`expect` of the experiment was changed"), "{:?}", run.faults);
    assert_eq!(conclusion(&run, &verdicts(&run)), Conclusion::Incomplete, "whose bound is it?");
    let details = verdicts(&run).remove(0).details;
    let later = "as the file states it now, and not as it did when the run began";
    assert!(details.contains(&later.to_owned()), "{details:?}");
    assert!(
        run.ways_out[0].starts_with("put it back, or run what it says now with: cairn lab run"),
        "{:?}",
        run.ways_out
    );
    let told = go_on(&text.replace("'5 Mbit/s'", "'6 Mbit/s'")).unwrap_err();
    assert!(told.contains("`defaults` of its"), "{told}");
    let run = RunData::read(&folder).unwrap();
    let verdict = verdicts(&run).remove(0);
    assert_eq!(verdict.outcome, Outcome::NotTestable);
    assert!(verdict.why.contains("`defaults` of the experiment was changed"), "{}", verdict.why);
    assert!(conclusion(&run, &verdicts(&run)) == Conclusion::Incomplete && run.is_damaged);
    // Without one statement there is none that could be contradicted.
    let (head, _) = text.split_once("[[expect]]").unwrap();
    fs::write(folder.experiment(), head).unwrap();
    let run = RunData::read(&folder).unwrap();
    assert_eq!(conclusion(&run, &verdicts(&run)), Conclusion::Incomplete);
    fs::write(folder.experiment(), &text).unwrap();
    let run = RunData::read(&folder).unwrap();
    assert_eq!(conclusion(&run, &verdicts(&run)), Conclusion::AsExpected);
}

#[test]
fn what_was_counted_up_to_a_window_that_ends_shortly_before_the_run_is_a_whole_number() {
    let place = RunsFolder::new("late-end");
    let traffic = "[traffic.t]\nat = 'a'\ncontent = 'files'\nrate = '40/s'\npattern = 'sequential'\n";
    for until in ["9950 ms", "9900 ms", "9800 ms"] {
        let text = format!(
            "title = 'Row'\nduration = '10 s'\nsample_every = '500 ms'\n[defaults.link]\nrate = '5 Mbit/s'\n\
             {ROW}\n{traffic}[measure]\nfrom = '8 s'\nuntil = '{until}'\n"
        );
        let run = RunData::read(&run_in_virtual_time("row", &text, &place.0)).unwrap();
        for key in ["in_interests", "out_data"] {
            let counted = run.cases[0].estimate(&format!("a.{key}"), "mean").unwrap().mean;
            assert!(counted > 0.0 && counted.fract() == 0.0, "a.{key} until {until}: {counted}");
        }
    }
}

#[test]
fn a_window_in_which_nothing_happens_confirms_nothing() {
    let place = RunsFolder::new("idle");
    let text = "[measure]\nfrom = '0 s'\nuntil = '500 ms'\n[[expect]]\nsay = 'S'\nvalue = 'a.pending.max'\nat_most = 1\n";
    let (_, list) = place.judged(LONG, text);
    assert_eq!(list[0].outcome, Outcome::NotTestable, "{:?}", list[0]);
    assert!(
        list[0].why.starts_with("nothing happened while it was measured, from 0 s to 0.5 s"),
        "{}",
        list[0].why
    );
    let (_, list) = place.judged(LONG, &text.replace("500 ms", "5 s").replace("= 1\n", "= 1000\n"));
    assert_eq!(list[0].outcome, Outcome::Confirmed);
    // Of the whole run, whatever part of it is measured.
    for measure in ["network.hops", "/small/file.asked", "a.misses"] {
        let text = text.replace("a.pending.max", measure).replace("at_most = 1\n", "at_least = 1\n");
        let (_, list) =
            place.judged(LONG, &text.replace("[measure]", "[measure]\nprefixes = ['/small/file']"));
        assert_eq!(list[0].outcome, Outcome::Confirmed, "{measure}: {}", list[0].why);
    }
}

#[test]
fn what_no_result_misses_in_one_case_of_a_sweep_is_no_verdict_there_and_what_none_meets_is_one() {
    let place = RunsFolder::new("decided");
    let sweep = "[[sweep]]\nkey = 'download.files.count'\nvalues = [1, 3]\n";
    let gate = "[gates]\nunfinished = '100 %'\n";
    let expect =
        |bound: &str| format!("{gate}{sweep}[[expect]]\nsay = 'S'\nvalue = 'files.finished'\n{bound}\n");
    let outcomes = |bound: &str| {
        let (_, list) = place.judged(LONG, &expect(bound));
        let found = |verdict: &Verdict| (verdict.outcome, verdict.why.clone());
        let list: Vec<(Outcome, String)> = list.iter().map(found).collect();
        <[(Outcome, String); 2]>::try_from(list).unwrap()
    };
    let [one, three] = outcomes("at_least = 2");
    assert_eq!((one.0, three.0), (Outcome::Contradicted, Outcome::Confirmed));
    let [one, three] = outcomes("at_most = 1");
    assert_eq!((one.0, three.0), (Outcome::NotTestable, Outcome::Contradicted));
    assert!(one.1.ends_with("is 0 to 1 here: no result contradicts this (1)"), "{}", one.1);
}

#[test]
fn where_work_may_be_left_it_stands_beside_each_number_how_much_was() {
    let place = RunsFolder::new("left");
    let head = "duration = '1200 ms'\nrepeats = 1\n[gates]\nunfinished = '100 %'";
    let expect = |bound: &str| format!("[[expect]]\nsay = 'S'\n{bound}\n");
    let expects = ["value = 'files.duration'\nat_most = 0.19", "value = 'files.finished'\nat_most = 2"];
    let (run, list) = place.judged(head, &expects.map(expect).concat());
    let sum = |key: &str| run.cases[0].estimate(&format!("files.{key}"), "sum").unwrap().mean;
    assert!(sum("unfinished") > 0.0 && sum("finished") > 0.0, "{} of 3", sum("finished"));
    assert_eq!(
        list[0].details.last().unwrap(),
        &format!("of what was finished: {} of 3 were not", sum("unfinished"))
    );
    assert!(list[1].details.is_empty(), "it says so itself: {:?}", list[1].details);
}

#[test]
fn what_a_number_rests_on_stands_where_it_stands() {
    let place = RunsFolder::new("details");
    let text = "[[expect]]\nsay = 'S'\nvalue = 'a.pending.p95'\nat_most = 1000\n";
    let (_, list) = place.judged(&format!("{LONG}\nsample_every = '200 ms'"), text);
    assert_eq!(list[0].details, ["of samples, one every 200 ms"]);
    let far = format!("{NEAR}[[expect]]\nsay = 'S'\nvalue = 'files.duration.max'\nat_most = 1\n");
    let verdict = judged_text(&place, &far, 5, 1);
    let [told] = verdict.details.as_slice() else { panic!("{:?}", verdict.details) };
    assert!(
        told.starts_with("assuming that all repeats spread as these 5 do, where losses are rare: "),
        "{told}"
    );
}
