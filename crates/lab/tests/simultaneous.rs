//! No verdict hangs on what somebody called a node, nor on one draw of what is random.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

mod common;

use std::path::Path;

use cairn_lab::experiment::Experiment;
use cairn_lab::report::{
    Comparison, Control, Outcome, RunData, Verdict, result_rows, results_markdown, verdicts, write_report,
};
use cairn_lab::run::{Options, execute};
use cairn_lab::stats::Claim;
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
        let (_, list) = judged("names", &rivals(one, two, 7));
        assert_eq!(list[0].outcome, Outcome::NotTestable, "{one} and {two}: {list:?}");
        let details = list[0].details.join(", ");
        assert!(details.contains("hangs on the order of what happens at one instant"), "{details}");
    }
}

#[test]
fn two_workloads_of_one_node_are_no_faster_because_of_a_name_either() {
    let text = rivals("a", "d", 7).replace("at = 'd'\ncontent = 'g'", "at = 'a'\ncontent = 'g'");
    let (_, list) = judged("workloads", &text);
    assert_eq!(list[0].outcome, Outcome::NotTestable, "{list:?}");
    assert!(list[0].details.join(", ").contains("hangs on the order"), "{:?}", list[0].details);
}

#[test]
fn the_first_repeat_takes_the_planned_order_and_five_that_are_drawn_say_what_most_orders_do() {
    let head = "[[expect]]\nsay = 'All of it comes'\nvalue = 'c.goodput.sum'\nat_least = 1\n";
    let text = |repeats| rivals("a", "d", repeats) + head;
    for repeats in [1, 2, 5] {
        let (run, list) = judged("few", &text(repeats));
        for (repeat, result) in run.cases[0].results.iter().enumerate() {
            let order = format!("{:?}", result.outcome.simultaneous);
            assert_eq!(order.contains("Drawn"), repeat > 0, "{order}");
        }
        for verdict in &list {
            assert_eq!((verdict.outcome, verdict.of), (Outcome::NotTestable, None), "{repeats}: {verdict:?}");
            assert!(
                verdict.why.contains("take `--repeats 6`, or `repeats = 6` in the file"),
                "{}",
                verdict.why
            );
        }
    }
    let (run, list) = judged("six", &text(6));
    assert_eq!((list[1].outcome, list[1].of), (Outcome::Confirmed, Some(Claim::MostOrders)), "{:?}", list[1]);
    assert_eq!(list[1].said(), "confirmed of most orders, no control stated");
    assert_eq!(list[1].found().1.as_deref(), Some("(5 drawn orders, all equal)"));
    let rows = result_rows(std::slice::from_ref(&run));
    assert_eq!((rows[1].verdict.of, rows[1].verdict.drawn_orders), (Some(Claim::MostOrders), Some(5)));
    let json = serde_json::to_value(&rows[1]).unwrap();
    assert_eq!((&json["of"], &json["drawn_orders"]), (&"most_orders".into(), &5.into()));
    let page = results_markdown(&[run], None);
    assert!(page.contains("**confirmed of most orders, no control stated**"), "{page}");
}

#[test]
fn a_control_fails_a_statement_in_most_orders_or_says_nothing() {
    let control = "[[control]]\nname = 'slow'\nremoves = 'a fast link'\nfails = ['x']\n\
                   set = { 'link.b-c.rate' = '2 Mbit/s' }\n";
    let statement = "name = 'x'\nsay = 'The one is fast'\nvalue = 'f.duration.mean'\nat_most = 1.5\n";
    let text = |repeats| {
        let rivals = rivals("a", "d", repeats);
        let begin = rivals.find("say = 'The one is faster'").unwrap();
        format!("{}{statement}{control}", rivals.get(..begin).unwrap())
    };
    let (run, list) = judged("control", &text(6));
    assert_eq!(list[0].outcome, Outcome::Confirmed, "{list:?}");
    let rows = serde_json::to_value(result_rows(std::slice::from_ref(&run))).unwrap();
    let control = &rows[0]["numbers"]["controls"][0];
    assert_eq!(control["outcome"], "failed in most orders, as it must", "{control}");
    assert!(control["mean"].as_f64().unwrap() > 1.5 && control["low"].is_null(), "of five orders: {control}");
    assert_eq!(list[0].control, Control::Failed(Some(Claim::MostOrders)));
    assert!(list[0].control_words().ends_with("fails it in most orders"), "{}", list[0].control_words());
    let (_, list) = judged("control-few", &text(5));
    assert_eq!(list[0].outcome, Outcome::NotTestable, "{list:?}");
}

/// As many consumers as there are names that fetch as much from one producer, from the same moment on.
fn crowd(names: &[&str], repeats: u32, seed: u32) -> String {
    let each = |of: &dyn Fn(&str) -> String| names.iter().map(|name| of(name)).collect::<String>();
    format!(
        "title = 't'\nduration = '20 s'\nuntil_done = true\nrepeats = {repeats}\nseed = {seed}\n\
         [defaults.link]\nrate = '10 Mbit/s'\ndelay = '5 ms'\n[node]\nx = {{}}\ny = {{}}\n{}[link]\nx-y = {{}}\n{}{}{}{}",
        each(&|name| format!("{name} = {{}}\n")),
        each(&|name| format!("{name}-x = {{}}\n")),
        each(&|name| format!("[[route]]\nprefix = '/f'\npath = ['{name}', 'x', 'y']\n")),
        each(&|name| format!("[content.{name}]\nprefix = '/f/{name}'\nat = 'y'\nsize = '4 kB'\n")),
        each(&|name| format!(
            "[download.of-{name}]\nat = '{name}'\ncontent = '{name}'\ncontroller = 'fixed'\n"
        )),
    )
}

/// One of three takes 0.0269, 0.0302 or 0.0335 s, by how many it is behind: 0.0302 s on average.
fn of_three(which: &str, bound: &str, repeats: u32, seed: u32) -> (RunData, Verdict) {
    let statement = format!("[[expect]]\nsay = 'S'\nvalue = 'of-{which}.duration.mean'\n{bound}\n");
    let name = format!("three-{which}-{repeats}-{seed}-{}", bound.len());
    let (run, mut list) = judged(&name, &(crowd(&["a", "b", "c"], repeats, seed) + &statement));
    (run, list.remove(0))
}

#[test]
fn a_number_that_hangs_on_an_order_is_of_drawn_orders_wherever_it_is_shown() {
    let (run, verdict) = of_three("b", "at_least = 0.021", 7, 1);
    let values = run.cases[0].values("of-b.duration", "mean");
    let drawn = values[1..].iter().sum::<f64>() / 6.0;
    assert!(
        values[1..].iter().any(|value| (value - values[1]).abs() > 1e-6),
        "the test needs some: {values:?}"
    );
    assert_eq!((verdict.outcome, verdict.of), (Outcome::Confirmed, Some(Claim::MostOrders)), "{verdict:?}");
    let found = verdict.measured.unwrap();
    assert!((found.mean - drawn).abs() < 1e-12 && found.orders.unwrap().drawn == 6, "{found:?}");
    assert_eq!((verdict.interval, found.half95), (None, None), "six orders do not say how the mean lies");
    let details = verdict.details.join(", ");
    let told = "hangs on the order of what happens at one instant; as planned it is 0.0302\u{a0}s";
    assert!(details.contains(told), "{details}");
    let orders = "(6 drawn orders, 0.0269\u{a0}s to 0.0335\u{a0}s)";
    assert_eq!(verdict.found().1.as_deref(), Some(orders));
    assert_eq!(run.cases[0].estimate("of-b.duration", "mean").unwrap(), found);
    let place = TestFolder::new("simultaneous-report");
    let folder = run_in_virtual_time("three", &crowd(&["a", "b", "c"], 7, 1), &place);
    let page = std::fs::read_to_string(write_report(&folder).unwrap()).unwrap();
    assert!(page.contains(orders) && page.contains(">6 drawn orders<"), "in tables as well");
    let page = results_markdown(std::slice::from_ref(&run), None).replace("\n ", "");
    assert!(page.contains("6 drawn orders"), "{page}");
    let (other, _) = of_three("b", "at_least = 0.021", 7, 1);
    let pairs = Comparison::of(run, other).pairs;
    let pair = pairs.iter().find(|pair| pair.measure == "of-b.duration").unwrap();
    assert!(pair.words().0.ends_with(orders), "{:?}", pair.words());
    assert_eq!(pair.differs(), Some(false), "the same orders on both sides");
}

#[test]
fn what_some_of_few_orders_meet_is_not_testable_and_of_many_it_is_of_their_mean() {
    let (_, verdict) = of_three("b", "at_most = 0.031", 7, 1);
    assert_eq!(verdict.outcome, Outcome::NotTestable, "{verdict:?}");
    assert!(
        verdict.why.contains("drawn orders meet it") && verdict.why.contains("`--repeats 21`"),
        "{verdict:?}"
    );
    let (_, verdict) = of_three("b", "at_most = 0.033", 41, 1);
    assert_eq!((verdict.outcome, verdict.of), (Outcome::Confirmed, Some(Claim::MeanOfOrders)), "{verdict:?}");
    assert_eq!(verdict.said(), "confirmed on the mean of the orders, no control stated");
    let (found, interval) = (verdict.measured.unwrap(), verdict.interval.unwrap());
    let width = 2.0 * found.half95.unwrap();
    assert!((interval.high - interval.low - width).abs() < 1e-12, "one interval for all");
    assert!(verdict.found().1.unwrap().ends_with("(40 drawn orders)"), "{verdict:?}");
}

#[test]
fn what_an_order_alone_decides_differs_between_two_runs_only_in_most_orders() {
    let run = |text: &str, seed: u32| {
        judged("differs", &crowd(&["a", "b", "c"], 7, seed).replace("'4 kB'", text)).0
    };
    let differs = |a: RunData, b: RunData| {
        let pairs = Comparison::of(a, b).pairs;
        pairs.iter().find(|pair| pair.measure == "of-b.duration").unwrap().differs()
    };
    assert_eq!(differs(run("'4 kB'", 1), run("'40 kB'", 1)), Some(true));
    assert_ne!(differs(run("'4 kB'", 1), run("'4 kB'", 50)), Some(true), "other orders of the same");
}

#[test]
fn where_something_is_random_the_first_repeats_draw_their_order_like_all_others() {
    let text = crowd(&["a", "b", "c"], 5, 1).replace("delay = '5 ms'", "delay = '5 ms'\njitter = '1 us'");
    let (run, _) = judged("random", &text);
    for result in &run.cases[0].results {
        let seen = format!("{:?}", result.outcome.simultaneous);
        assert!(seen.contains("Drawn"), "{seen}");
    }
    let found = run.cases[0].estimate("of-b.duration", "mean").unwrap();
    assert_eq!((found.count, found.orders), (5, None));
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
fn a_seed_after_which_those_of_repeats_would_begin_anew_is_refused() {
    let place = TestFolder::new("simultaneous-seeds");
    let experiment = Experiment::parse("t", "t.toml", &drawn("repeats = 2\n")).unwrap();
    for (seed, is_told) in [(u64::MAX, true), (i64::MAX as u64 + 1, true), (i64::MAX as u64, false)] {
        let options = Options { seed: Some(seed), ..options(&place) };
        let told = execute(&experiment, &options, |_| {}).err().map(|error| error.to_string());
        let wanted = format!("the seed {seed} is too large: {} is the largest, here as in a file", i64::MAX);
        assert_eq!(told, is_told.then_some(wanted));
    }
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

/// Two pings from one node, the second of which begins at that moment.
fn two_pings(start: &str, repeats: u32) -> String {
    let ping = |name: &str, start: &str| {
        format!(
            "[ping.{name}]\nat = 'a'\nto = 'b'\nprefix = '/b/{name}'\nevery = '1 s'\ncount = 3\nstart = '{start}'\n"
        )
    };
    format!(
        "title = 't'\nduration = '9 s'\nrepeats = {repeats}\n[node]\na = {{}}\nb = {{}}\n[link]\n\
         a-b = {{ rate = '1 Mbit/s', delay = '5 ms' }}\n[[route]]\nprefix = '/b'\npath = ['a', 'b']\n{}{}\
         [[expect]]\nsay = 'S'\nvalue = 'p.rtt.mean'\nat_least = 10.001\n",
        ping("p", "0 s"),
        ping("q", start)
    )
}

#[test]
fn two_workloads_of_a_node_that_never_send_at_one_instant_leave_one_repeat_exact() {
    let (run, list) = judged("apart", &two_pings("300 ms", 1));
    let seen = run.cases[0].results[0].outcome.simultaneous.unwrap();
    assert!(!seen.may_matter, "no two things came together");
    assert_eq!(list[0].outcome, Outcome::Confirmed, "{:?}", list[0]);
    let (_, list) = judged("together", &two_pings("0 s", 1));
    assert_eq!(list[0].outcome, Outcome::NotTestable, "one of them has to be the first: {:?}", list[0]);
    assert!(list[0].why.contains("`repeats = 6`"), "{}", list[0].why);
}

/// Five files over a link, beside pings from both of its ends at one instant: in one case the link loses 4 %.
fn lossy_and_clean(seed: u32) -> String {
    format!(
        "title = 't'\nduration = '10 s'\nrepeats = 6\nseed = {seed}\n[node]\na = {{}}\nb = {{}}\n[defaults.link]\n\
         rate = '10 Mbit/s'\ndelay = '1 ms'\nloss = '1 %'\n[link]\na-b = {{}}\n[[route]]\nprefix = '/p'\n\
         path = ['a', 'b']\n[[route]]\nprefix = '/r'\npath = ['b', 'a']\n[content.f]\nprefix = '/p/f'\nat = 'b'\n\
         count = 5\nsize = '100 kB'\n[download.q]\nat = 'a'\ncontent = 'f'\n[ping.one]\nat = 'a'\nto = 'b'\n\
         prefix = '/p/ping'\nevery = '100 ms'\n[ping.two]\nat = 'b'\nto = 'a'\nprefix = '/r/ping'\n\
         every = '100 ms'\n[[case]]\nname = 'lossy'\nset = {{ 'defaults.link.loss' = '4 %' }}\n[[case]]\n\
         name = 'clean'\nset = {{ 'defaults.link.loss' = '0 %' }}\n[[expect]]\nsay = 'Against the case'\n\
         value = 'q.duration @ lossy'\nmore_than = 'q.duration @ clean'\ntimes = 1.02\n[[expect]]\n\
         say = 'Against the number'\nvalue = 'q.duration @ lossy'\nmore_than = '86.26 ms'\n[[expect]]\n\
         say = 'From the other side'\nvalue = 'q.duration @ clean'\nat_most = 'q.duration @ lossy'\n\
         times = 0.9804\n[[expect]]\nsay = 'By far'\nvalue = 'q.duration @ lossy'\n\
         more_than = 'q.duration @ clean'\ntimes = 0.3\n"
    )
}

#[test]
fn what_is_random_is_held_against_drawn_orders_as_against_the_number_that_they_are() {
    for seed in [21, 81, 121] {
        let (_, list) = judged("mixed", &lossy_and_clean(seed));
        let clean = list.iter().find(|verdict| verdict.say == "From the other side").unwrap();
        let details = clean.details.join(", ");
        assert!(details.contains("order of what happens at one instant"), "the test needs a tie: {details}");
        for verdict in &list {
            let wanted = if verdict.say == "By far" { Outcome::Confirmed } else { Outcome::NotTestable };
            assert_eq!(verdict.outcome, wanted, "{seed}: {verdict:?}");
            let is_told = verdict.bound.contains("(the difference is ");
            assert_eq!(is_told, verdict.say != "Against the number", "{}", verdict.bound);
        }
        assert!(clean.why.contains("the interval holds both"), "{}", clean.why);
    }
}

#[test]
fn a_chain_tells_each_difference_with_its_interval_in_words_and_as_numbers() {
    let bound = "\nmore_than = 'q.duration @ clean'\ntimes = 0.3\n";
    let chain = "\nfalls = ['q.duration @ clean', 'q.duration.max @ lossy']\n";
    let text = lossy_and_clean(21);
    assert!(text.contains(bound));
    let (run, list) = judged("chain", &text.replace(bound, chain));
    let verdict = list.iter().find(|verdict| verdict.say == "By far").unwrap();
    assert_eq!(verdict.bound.matches("(the difference is ").count(), 2, "{}", verdict.bound);
    let rows = result_rows(std::slice::from_ref(&run));
    let row = rows.iter().find(|row| row.statement.say == "By far").unwrap();
    let numbers = row.finding.numbers.as_ref().unwrap();
    let ends = |place: usize| {
        let bound = &numbers.bounds[place];
        (bound.number.unwrap(), bound.difference_low.unwrap(), bound.difference_high.unwrap())
    };
    // Each is the one before less this.
    let mut before = numbers.mean;
    for (number, low, high) in [ends(0), ends(1)] {
        assert!(low < high && ((low + high) / 2.0 - (before - number)).abs() < 1e-9, "{low} to {high}");
        before = number;
    }
}

#[test]
fn four_repeats_of_something_random_and_of_orders_are_told_to_be_six() {
    let text = lossy_and_clean(21).replace("repeats = 6", "repeats = 4");
    let (_, list) = judged("four", &text);
    for verdict in list.iter().filter(|verdict| verdict.say != "Against the number") {
        assert_eq!(verdict.outcome, Outcome::NotTestable, "{verdict:?}");
        assert!(verdict.why.contains("take `--repeats 6`"), "{}: {}", verdict.say, verdict.why);
    }
}

#[test]
fn one_drawn_order_has_no_deviation_in_the_numbers_of_a_figure_and_two_have_one() {
    let figure = "[[figure]]\ntitle = 'Pending'\nform = 'per-node'\nshow = ['pending']\n";
    for (repeats, is_empty) in [(2, true), (3, false)] {
        let place = TestFolder::new("simultaneous-deviation");
        let text = format!("{}{figure}", rivals("a", "d", repeats));
        let folder = run_in_virtual_time("deviation", &text, &place);
        write_report(&folder).unwrap();
        let csv = std::fs::read_to_string(folder.path().join("figures/figure-01.csv")).unwrap();
        assert!(csv.lines().next().unwrap().ends_with(",deviation over repeats"), "{csv}");
        let deviations: Vec<&str> = csv.lines().skip(1).filter_map(|line| line.rsplit(',').next()).collect();
        assert!(deviations.len() > 3, "{csv}");
        assert!(deviations.iter().all(|deviation| deviation.is_empty() == is_empty), "{csv}");
    }
}

#[test]
fn a_statement_that_goes_on_with_a_node_keeps_its_name_in_lists() {
    let more = "[[expect]]\nsay = '… n2'\nvalue = 'g.duration.mean'\nat_most = 0.001\n\
                [[expect]]\nsay = '… and is soon there'\nvalue = 'g.duration.max'\nat_most = 0.002\n";
    let (run, list) = judged("names-in-lists", &(rivals("n1", "n2", 6) + more));
    assert_eq!(list[1].outcome, Outcome::Contradicted, "{:?}", list[1]);
    let page = results_markdown(&[run], None);
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for wanted in [
        "- names-in-lists: n2. `g.duration.mean` is",
        "- names-in-lists: And is soon there. `g.duration.max` is",
        "- **contradicted of most orders**: n2. ",
        "- **contradicted of most orders**: And is soon there. ",
    ] {
        assert!(words.contains(wanted), "{wanted}: {page}");
    }
}
