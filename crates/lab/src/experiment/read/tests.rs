//! Mistakes are found, with their line and a way out.

use super::*;
use crate::experiment::plan::{LinkIndex, NodeIndex};

const GOOD: &str = r#"
title = "Two nodes"
duration = "5 s"

[node]
a = {}
b = {}

[link]
a-b = { rate = "10 Mbit/s" }

[[route]]
prefix = "/files"
path = ["a", "b"]

[content.small]
prefix = "/files"
at = "b"
size = "100 kB"

[download.files]
at = "a"
content = "small"
"#;

fn problems(text: &str) -> String {
    Experiment::parse("x", "x.toml", text).unwrap_err().to_string()
}

#[test]
fn an_exponent_that_no_catalogue_can_have_is_a_mistake() {
    let traffic = |exponent: &str| {
        let keys = "at = \"a\"\ncontent = \"small\"\nrate = \"5/s\"\npattern = \"zipf\"";
        format!("{GOOD}\n[traffic.some]\n{keys}\nexponent = {exponent}\n")
    };
    assert!(Experiment::parse("x", "x.toml", &traffic("0.8")).is_ok());
    for exponent in ["-0.5", "nan"] {
        assert!(problems(&traffic(exponent)).contains("from 0 to 10"), "{exponent}");
    }
}

#[test]
fn what_cannot_fail_and_controls_that_take_nothing_away_are_mistakes() {
    let expect = |bound: &str| {
        format!("{GOOD}\n[[expect]]\nname = \"x\"\nvalue = \"files.goodput\"\nsay = \"It is so\"\n{bound}\n")
    };
    assert!(Experiment::parse("x", "x.toml", &expect("at_least = 100_000")).is_ok());
    assert!(problems(&expect("at_least = 0")).contains("this cannot fail"));
    assert!(problems(&expect("about = 0")).contains("a part of 0 is 0"));
    assert!(problems(&expect("at_least = \"files.goodput\"")).contains("held against itself"));
    let control = |set: &str| {
        format!(
            "{}\n[[control]]\nname = \"y\"\nremoves = \"time\"\nfails = [\"x\"]\nset = {{ {set} }}\n",
            expect("at_least = 100_000")
        )
    };
    let delay = "\"link.a-b.delay\" = \"3 ms\"";
    assert!(Experiment::parse("x", "x.toml", &control(delay)).is_ok());
    assert!(problems(&control("\"link.a-b.loss\" = \"0 %\"")).contains("what is so anyway"));
    assert!(problems(&control("\"duration\" = \"4 s\"")).contains("as often and as long as its case"));
    assert!(problems(&control("\"gates.steal\" = \"5 %\"")).contains("held to the gates of its case"));
    for set in [
        "\"sample_every\" = \"1 s\"",
        "\"measure.from\" = \"1 s\"",
        "\"seed\" = 7",
        "\"title\" = \"z\"",
        "\"repeats\" = 7",
        "\"software\" = \"ndnd\"",
    ] {
        assert!(problems(&control(set)).contains("as its case, and is measured alike"), "{set}");
    }
    // What removes more than one thing says of each what it is.
    let two = &format!("{delay}, \"download.files.start\" = \"2 s\"");
    assert!(problems(&control(two)).contains("which part of its cause `link.a-b.delay` is"));
    let parts = |link: &str| {
        let parts = format!("\"download.files.start\" = \"time\", \"{link}\" = \"it passes\"");
        control(two) + &format!("parts = {{ {parts} }}\n")
    };
    assert!(Experiment::parse("x", "x.toml", &parts("link.a-b.delay")).is_ok());
    assert!(problems(&parts("link.a-b.loss")).contains("does not change `link.a-b.loss`"));
    // A table that holds it would hide what else it holds.
    assert!(problems(&parts("link.a-b")).contains("which part of its cause `link.a-b.delay` is"));
    // Of a table what changes in it is named, and not the table.
    let table = |part: &str| {
        let set = "\"link.a-b\" = { rate = \"10 Mbit/s\", delay = \"3 ms\" }";
        control(set) + &format!("parts = {{ \"{part}\" = \"delay\" }}\n")
    };
    assert!(Experiment::parse("x", "x.toml", &table("link.a-b.delay")).is_ok());
    assert!(problems(&table("link.a-b")).contains("does not change `link.a-b`"));
    // A default that is written down changes nothing either.
    let default = "\"link.a-b.delay\" = \"3 ms\", \"link.a-b.rate\" = \"10 Mbit/s\"";
    assert!(problems(&control(default)).contains("changes nothing by this"));
    let elsewhere = problems(&expect("at_least = 1\non = [\"simm\"]"));
    assert!(elsewhere.contains("no backend called `simm`") && elsewhere.contains("did you mean `sim`"));
    assert!(problems(&expect("at_least = 1\ntimes = 0")).contains("no bound"));
}

#[test]
fn a_statement_that_no_result_confirms_or_contradicts_or_nobody_measures_is_a_mistake() {
    const COUNTS: &str = "\n[[sweep]]\nkey = \"download.files.count\"\nvalues = [";
    let said = |value: &str, bound: &str| {
        let text = format!(
            "{GOOD}\n[ping.p]\nat = \"a\"\nto = \"b\"\nprefix = \"/files/ping\"\n[[expect]]\nsay = \"So\"\n\
             value = \"{value}\"\n{bound}\n"
        );
        Experiment::parse("x", "x.toml", &text).map_or_else(|wrong| wrong.to_string(), |_| String::new())
    };
    let on_sim = "\non = [\"sim\"]";
    for (value, bound) in [
        ("p.loss", "at_most = 5"),
        ("files.duration", "at_most = 3"),
        ("files.duration.p95", "at_most = \"files.duration.p5\"\ntimes = 1.5"),
        ("files.unfinished", "at_most = 0\nby_construction = \"they have time at this rate: link.a-b.rate\""),
        ("files.unfinished", "at_most = 0\n[gates]\nunfinished = \"100 %\""),
        ("a.names.p5", "not_testable = \"of samples\""),
        ("files.unfinished", &format!("at_most = 0{on_sim}\n[gates]\nunfinished = \"100 %\"")),
        ("a.goodput", "not_testable = \"nobody looked\""),
        ("a.pending.max", "at_most = 5"),
        ("a.propagated", "at_most = 5"),
        ("a.pending.sum", "at_least = \"a.pending.max\""),
        ("files.duration.sum", "at_most = \"files.duration.max\"\ntimes = 3"),
        ("p.finished", "at_least = 4"),
        // What no result of this file meets is contradicted by a run of it.
        ("files.finished", &format!("at_least = 4{COUNTS}1, 3]")),
        // What one case of a sweep cannot do, another may.
        ("files.finished", &format!("at_least = 2\n[gates]\nunfinished = \"100 %\"{COUNTS}1, 3]")),
    ] {
        assert_eq!(said(value, bound), "", "{value} {bound}");
    }
    for (value, bound, wrong) in [
        ("p.loss", "at_most = 100", "no result contradicts this"),
        ("p.loss", "more_than = 100", "no result is as stated"),
        ("files.duration", "less_than = 0", "no result is as stated"),
        ("files.duration", "more_than = -1", "no result contradicts this"),
        ("files.duration", "more_than = 5\nless_than = 5", "nothing is more than 5"),
        ("files.duration.p5", "at_most = \"files.duration.p95\"", "never above"),
        ("files.finished", "at_most = \"files.started\"\n[gates]\nunfinished = \"100 %\"", "never above"),
        ("files.duration.mean", "at_least = \"files.duration\"", "held against itself"),
        ("files.unfinished", "at_most = 0\non = [\"netns\"]", "is random: that it is 0 in 1"),
        ("a.table_bytes", "at_least = 5", "not measured of `a` on netns and hosts"),
        ("files.duration", "at_least = \"files.duration.min\"", "never below"),
        ("files.duration.sum", "at_least = \"files.duration.max\"", "never below"),
        ("files.duration.last", "at_most = \"files.duration.max\"", "never above"),
        ("files.duration.deviation", "at_most = \"files.duration.max\"", "never above"),
        ("files.duration.p95", "falls = [\"files.duration.max\"]", "no result is as stated"),
        ("files.duration.max", "rises = [\"files.duration.min\"]", "no result is as stated"),
        ("files.finished", "at_most = 1", "is 0 to 1 here: no result contradicts this"),
        ("files.finished", "about = 0.5\nwithin = \"99.9 %\"", "a margin of 50 % or more"),
        ("files.finished.max", "same_as = \"files.finished.min\"", "one number"),
        ("files.finished.count", "at_least = 1", "always 1 here: no result contradicts this"),
        ("files.duration", "at_most = 100", "no result contradicts this"),
        ("p.loss.max", "at_most = \"p.unfinished\"", "in percent, and `p.unfinished.mean` in a number"),
        ("p.finished", "at_most = \"p.started\"", "never above"),
        ("a.cpu", "at_most = \"a.busy\"", "never above"),
        ("a.pending.p95", "at_most = 5", "depends on how often samples are taken"),
        ("a.names", "at_most = 5", "depends on how often samples are taken"),
        ("a.busy.max", "at_most = 5", "depends on how often samples are taken"),
        ("files.unfinished", "at_most = 0\nby_construction = \"any text\"", "names no setting"),
        ("a.memory", "at_least = 5", "not measured of `a` on sim"),
        ("a.throttled", "at_most = 5", "not measured of `a` on sim"),
        ("files.rtt", "at_least = 5", "`rtt` is not measured of `files` on netns and hosts and sim"),
        ("p.duration", "at_least = 5", "one of these: started, finished"),
        ("small.served", "at_least = 0.5", ""),
    ] {
        let shown = said(value, bound);
        assert!(shown.contains(wrong) && shown.is_empty() == wrong.is_empty(), "{value} {bound}: {shown}");
    }
}

#[test]
fn a_statement_that_a_gate_or_the_arithmetic_of_summaries_decides_is_a_mistake() {
    for (value, bound, wrong) in [
        ("files.started", "at_least = 1", "and a run in which fewer are begun is not valid"),
        ("a.load", "at_most = 100\non = [\"sim\"]", ""),
        ("a.load", "at_most = 100", ""),
        ("a.goodput", "at_most = \"a.throughput\"", "never above"),
        ("a.throughput", "more_than = \"a.goodput\"", "decided by arithmetic"),
        ("a.goodput.max", "falls = [\"a.goodput.mean\"]", "decided by arithmetic"),
        ("a.goodput.min", "rises = [\"a.goodput.mean\"]", "decided by arithmetic"),
        ("files.finished", "less_than = \"files.started\"", "are one number: it is held against itself"),
        ("files.finished", "less_than = \"files.started\"\n[gates]\nunfinished = \"100 %\"", ""),
        ("a.goodput", "same_as = \"a.goodput.mean\"\ntimes = 1.02", "no result contradicts this"),
        ("a.goodput", "same_as = \"a.goodput.mean\"\ntimes = 1.2", "no result is as stated"),
        ("a.goodput", "same_as = \"b.goodput.mean\"\ntimes = 1.2", ""),
    ] {
        let text = format!("{GOOD}\n[[expect]]\nsay = \"So\"\nvalue = \"{value}\"\n{bound}\n");
        let shown =
            Experiment::parse("x", "x.toml", &text).map_or_else(|wrong| wrong.to_string(), |_| String::new());
        assert!(shown.contains(wrong) && shown.is_empty() == wrong.is_empty(), "{value} {bound}: {shown}");
    }
}

#[test]
fn a_fairness_that_one_who_has_everything_would_reach_is_no_bound() {
    for (bound, wrong) in [
        ("at_least = 0.5", "is 0.5 to 1 here: no result contradicts this"),
        ("less_than = 0.5", "no result is as stated"),
        ("at_least = 0.6", ""),
    ] {
        let text = format!(
            "title = \"t\"\nduration = \"9 s\"\nroutes = \"shortest\"\n[node]\na = {{}}\nb = {{}}\nc = {{}}\n[link]\n\
             a-c = {{}}\nb-c = {{}}\n[producer.p]\nat = \"c\"\nprefix = \"/v\"\npacket = \"1000 B\"\n[consumer.w]\n\
             kind = \"transfer\"\nat = [\"a\", \"b\"]\nprefix = \"/v\"\ncontroller = \"aimd\"\n[[expect]]\n\
             say = \"So\"\nvalue = \"w.fairness\"\n{bound}\n"
        );
        let shown =
            Experiment::parse("x", "x.toml", &text).map_or_else(|wrong| wrong.to_string(), |_| String::new());
        assert!(shown.contains(wrong) && shown.is_empty() == wrong.is_empty(), "{bound}: {shown}");
    }
}

#[test]
fn who_says_how_often_samples_are_taken_may_state_what_depends_on_it() {
    let text = format!("{GOOD}\n[[expect]]\nsay = \"So\"\nvalue = \"a.pending.p95\"\nat_most = 5\n");
    assert!(problems(&text).contains("write `sample_every`"));
    assert!(Experiment::parse("x", "x.toml", &format!("sample_every = \"1 s\"\n{text}")).is_ok());
}

#[test]
fn a_run_that_does_not_last_is_one_mistake() {
    let text = GOOD.replacen("duration = \"5 s\"", "duration = \"0 s\"", 1);
    assert_ne!(text, GOOD);
    let shown = problems(&text);
    assert!(shown.contains("an experiment must last") && shown.matches("x.toml:").count() == 1, "{shown}");
}

#[test]
fn keys_of_earlier_versions_are_read() {
    let text = format!("{GOOD}\n[gates]\nsilence = \"3 s\"\n");
    let plan = Experiment::parse("x", "x.toml", &text).unwrap().plans("sim").unwrap().remove(0);
    assert_eq!(plan.evaluation.gates.forwarder_standstill_ns, 3_000_000_000);
    assert!(problems(&text.replace("silence", "silenc")).contains("there is no key `silenc` in gates"));
}

/// A consumer's plans, in a file whose consumer says this of its times, and which goes on so.
fn times_of(spacing: &str, rest: &str) -> Result<Vec<Plan>, Problems> {
    let sim = "[producer.p]\nat = \"b\"\nprefix = \"/p\"\n[consumer.x]\nat = \"a\"\nkind = \"rate\"\nrate = \"5/s\"\n\
               prefix = \"/p\"\n";
    let experiment = Experiment::parse("x", "x.toml", &format!("{GOOD}\n{sim}{spacing}\n{rest}"))?;
    Ok(experiment.plans("sim").unwrap())
}

#[test]
fn a_key_of_an_earlier_version_is_the_same_key_wherever_it_is_set() {
    let wanted = times_of("spacing = \"uniform\"", "").unwrap().remove(0);
    let constant = times_of("", "").unwrap().remove(0);
    assert_ne!(wanted.workloads, constant.workloads);
    let case = |key: &str| format!("[[case]]\nname = \"c\"\nset = {{ \"consumer.x.{key}\" = \"uniform\" }}");
    let table = |key: &str| {
        let plain = "at = \"a\", kind = \"rate\", rate = \"5/s\", prefix = \"/p\"";
        format!("[[case]]\nname = \"c\"\nset = {{ \"consumer.x\" = {{ {plain}, {key} = \"uniform\" }} }}")
    };
    let sweep = |key: &str| format!("[[sweep]]\nkey = \"consumer.*.{key}\"\nvalues = [\"uniform\"]");
    let backend =
        |key: &str| format!("[on.sim]\nwhy = \"w\"\nset = {{ \"consumer.x.{key}\" = \"uniform\" }}");
    let taken = |key: &str| format!("[[case]]\nname = \"c\"\nset = {{ \"consumer.x.{key}\" = \"\" }}");
    for (base, key) in [("gap", "spacing"), ("spacing", "gap"), ("gap", "gap")] {
        let base = format!("{base} = \"poisson\"");
        for rest in [case(key), table(key), sweep(key), backend(key)] {
            let plan =
                times_of(&base, &rest).unwrap_or_else(|wrong| panic!("{base}, {rest}: {wrong}")).remove(0);
            assert_eq!(plan.workloads, wanted.workloads, "{base}, {rest}");
        }
        assert_eq!(
            times_of(&base, &taken(key)).unwrap().remove(0).workloads,
            constant.workloads,
            "{base}, {key}"
        );
    }
}

#[test]
fn a_control_takes_away_what_its_file_calls_by_the_earlier_name() {
    let control = |key: &str, part: &str| {
        format!(
            "[[expect]]\nname = \"e\"\nsay = \"It is asked\"\nvalue = \"x.started\"\nat_least = 1\n[[control]]\n\
             name = \"even\"\nremoves = \"chance\"\nfails = [\"e\"]\n[control.set]\n\"consumer.x.{key}\" = \"\"\n\
             \"consumer.x.rate\" = \"6/s\"\n[control.parts]\n\"consumer.x.{part}\" = \"chance\"\n\"consumer.x.rate\" = \"as many\"\n"
        )
    };
    for (base, key, part) in [
        ("gap", "spacing", "spacing"),
        ("spacing", "gap", "gap"),
        ("gap", "gap", "spacing"),
        ("gap", "spacing", "gap"),
    ] {
        let plans = times_of(&format!("{base} = \"poisson\""), &control(key, part));
        let plans = plans.unwrap_or_else(|wrong| panic!("{base}, {key}, {part}: {wrong}"));
        assert_eq!(plans.len(), 2);
        assert_ne!(plans[0].workloads, plans[1].workloads);
    }
}

#[test]
fn a_key_that_is_set_by_both_of_its_names_has_no_value() {
    let case = "[[case]]\nname = \"c\"\nset = { \"gates.silence\" = \"3 s\", \"gates.forwarder_standstill\" = \"2 s\" }";
    let told = times_of("", case).unwrap_err().to_string();
    assert!(told.contains("`gates.forwarder_standstill` and `gates.silence` are the same key"), "{told}");
}

#[test]
fn a_small_file_becomes_a_plan_with_every_default_in_it() {
    let experiment = Experiment::parse("x", "x.toml", GOOD).unwrap();
    let plans = experiment.plans("netns").unwrap();
    assert_eq!(plans.len(), 1);
    let plan = &plans[0];
    assert_eq!(plan.links[LinkIndex(0)].rate_bps, Some(10_000_000));
    assert_eq!(plan.routing.hops.len(), 1);
    assert_eq!(
        plan.nodes[NodeIndex(1)].watch,
        Some(LinkIndex(0)),
        "a node without a route watches its first link"
    );
    assert_eq!(plan.contents[0].size_bytes, 100_000);
}

#[test]
fn mistakes_name_their_file_line_and_a_way_out() {
    let shown = problems(&GOOD.replace("at = \"a\"", "at = \"aa\""));
    assert_eq!(shown, "x.toml:22: download.files.at: there is no node called `aa`\n    did you mean `a`?");
    let shown = problems(&GOOD.replace("10 Mbit/s", "10 Mpps"));
    assert!(shown.starts_with("x.toml:10: "), "{shown}");
    assert!(shown.contains("Mbit/s"), "{shown}");
    let shown = problems(&GOOD.replace("path = [\"a\", \"b\"]", "path = [\"b\", \"a\"]"));
    assert!(shown.contains("no route leads from `a` for `/files`"), "{shown}");
    let shown = problems(&GOOD.replace("a-b = {", "a-c = {"));
    assert!(shown.contains("x.toml:10: link.a-c: there is no node called `c`"), "{shown}");
    assert_eq!(shown.lines().count(), 2, "what follows from a mistake is none: {shown}");
}

#[test]
fn a_route_with_a_wrong_prefix_is_one_error_where_it_stands() {
    let ping = "\n[ping.p]\nat = 'a'\nto = 'b'\nprefix = '/files/ping'\n";
    let text = format!("{GOOD}{ping}");
    Experiment::parse("x", "x.toml", &text).unwrap();
    let wrong = text.replacen("prefix = \"/files\"", "prefix = \"/fils\"", 1);
    assert_ne!(wrong, text);
    let shown = problems(&wrong);
    assert_eq!(shown.matches("x.toml:").count(), 1, "{shown}");
    assert!(shown.contains("route.0.prefix") && shown.contains("did you mean `/files`?"), "{shown}");
}

#[test]
fn one_wrong_name_is_one_error_with_all_its_lines() {
    let text = GOOD.replace("\nb = {}", "\nbb = {}");
    let text = format!("{text}\n[[case]]\nname = 'x'\n[[case]]\nname = 'y'\n");
    let shown = problems(&text);
    assert_eq!(shown.lines().count(), 2, "{shown}");
    assert!(shown.starts_with("x.toml:10: link.a-b: there is no node called `b` (and in line 14, 18)"));
    let shown = problems(&GOOD.replace("content = \"small\"", "content = \"smal\""));
    assert_eq!(shown.lines().count(), 2, "{shown}");
    // A download that is not called as its content, of which something else is measured.
    let text = testkit::experiment::ROW.replace("[download.files]", "[download.filez]");
    let expect = |value: &str| format!("[[expect]]\nsay = 'S'\nvalue = '{value}'\nat_most = 5\n");
    let text = format!(
        "title = 't'\nduration = '9 s'\n{text}\n{}{}",
        expect("files.unfinished"),
        expect("files.duration.max")
    );
    let shown = problems(&text);
    assert_eq!(shown.lines().count(), 2, "{shown}");
    assert!(shown.contains("did you mean `filez`?"), "{shown}");
    // A route that is too short for all that is asked for below it.
    let row = testkit::experiment::ROW.to_owned() + testkit::experiment::ROW_PING;
    let text = row.replace("path = [\"a\", \"b\", \"c\"]", "path = [\"a\", \"b\"]");
    assert_ne!(row, text);
    let shown = problems(&format!("title = 't'\nduration = '9 s'\n{text}"));
    assert_eq!(shown.lines().count(), 2, "{shown}");
}

#[test]
fn routes_lead_to_who_answers() {
    let longer = GOOD.replace("b = {}", "b = {}\nc = {}").replace("[link]", "[link]\nb-c = {}");
    let longer = longer.replace("at = \"b\"", "at = \"c\"");
    let shown = problems(&longer);
    assert!(shown.contains("for `/files` end at `b` and do not reach `c`"), "{shown}");
    let whole = longer.replace("path = [\"a\", \"b\"]", "path = [\"a\", \"b\", \"c\"]");
    assert!(Experiment::parse("x", "x.toml", &whole).is_ok());
    let ping = |prefix: &str| format!("{whole}\n[ping.p]\nat = 'a'\nto = 'b'\nprefix = '{prefix}'\n");
    assert!(Experiment::parse("x", "x.toml", &ping("/files/p")).is_ok(), "it passes b");
    let astray =
        "\n[[route]]\nprefix = '/p'\npath = ['b', 'c']\n[[route]]\nprefix = '/p'\npath = ['a', 'b']\n";
    let shown = problems(
        &(ping("/p").replace("to = 'b'", "to = 'a'").replace("at = 'a'\nto", "at = 'b'\nto") + astray),
    );
    assert!(shown.contains("ping.p: routes from `b` for `/p` end at `c` and do not reach `a`"), "{shown}");
    // The longest prefix decides at each node: a shorter route that goes on does not help.
    let short = "\n[[route]]\nprefix = '/files/7'\npath = ['a', 'b']\n[ping.p]\nat = 'a'\nto = 'c'\nprefix = '/files/7/p'\n";
    assert!(Experiment::parse("x", "x.toml", &format!("{whole}{short}")).is_ok(), "b has the shorter one");
}

#[test]
fn what_no_machine_has_is_refused() {
    let node = |keys: &str| GOOD.replace("\na = {}", &format!("\na = {{ {keys} }}"));
    let shown = problems(&node("cpu = '300 %'"));
    assert!(shown.contains("x.toml:6: node.a.cpu: a share of one core is from 1 % to 100 %"), "{shown}");
    let shown = problems(&node("memory = '1 kB'"));
    assert!(shown.contains("x.toml:6: node.a.memory: a forwarder takes"), "{shown}");
    assert!(Experiment::parse("x", "x.toml", &node("memory = '64 MB', cpu = '100 %'")).is_ok());
    let shown = problems(&GOOD.replace("{ rate = \"10 Mbit/s\" }", "{ loss = 0.1 }"));
    assert!(shown.starts_with("x.toml:10: `0.1` is a bare number"), "{shown}");
    let shown = problems(&format!("{GOOD}\n[[sweep]]\nkey = 'link.a-b.loss'\nvalues = [0.1]\n"));
    assert!(shown.starts_with("x.toml:27: sweep.0: ") && shown.contains("bare number"), "{shown}");
}

#[test]
fn names_that_stand_twice_are_refused() {
    let with = |more: &str| problems(&format!("{GOOD}\n{more}"));
    let shown = with("[[case]]\nname = 'x'\n[[case]]\nname = 'x'\n");
    assert!(shown.contains("x.toml:27: case.1: two cases are called `x`"), "{shown}");
    let shown = with("[[sweep]]\nkey = 'link.a-b.delay'\nvalues = ['1 ms', '2 ms', '1 ms']\n");
    assert!(shown.contains("two cases are called `delay 1 ms`"), "{shown}");
    let expect =
        |name: &str| format!("[[expect]]\nname = '{name}'\nsay = 'S'\nvalue = 'files.loss'\nat_most = 0\n");
    let shown = with(&(expect("e") + &expect("e")));
    assert!(shown.contains("two expectations are called `e`"), "{shown}");
    let control = "[[control]]\nname = 'c'\nremoves = 'r'\nset = { seed = 2 }\nfails = ['e']\n";
    let shown = with(&(expect("e") + control + control));
    assert!(shown.contains("two controls are called `c`"), "{shown}");
}

#[test]
fn a_sweep_of_what_does_not_exist_is_refused_and_makes_nothing() {
    for key in ["link.b-a.rate", "node.c.cpu", "download.other.count", "gates.wait", "link.a-b.forwarder.x"] {
        let shown = problems(&format!("{GOOD}\n[[sweep]]\nkey = '{key}'\nvalues = [1, 2]\n"));
        assert!(shown.contains(": sweep.0"), "{key}: {shown}");
        assert_eq!(shown.matches("x.toml").count(), 1, "{key}: {shown}");
    }
}

#[test]
fn what_could_not_be_told_apart_or_carried_out_is_refused() {
    let with = |more: &str| problems(&format!("{GOOD}\n{more}"));
    let shown = with("[ping.a]\nat = 'a'\nto = 'b'\nprefix = '/files'\n");
    assert!(shown.contains("x.toml:25: ping.a: a node is called `a`, too"), "{shown}");
    let load = |name: &str| format!("[load.{name}]\nat = 'a'\nbusy = '1 s'\nidle = '1 s'\n");
    let shown = with(&(load("one") + &load("two")));
    assert!(shown.contains("x.toml:29: load.two: `one` is a load at the same node"), "{shown}");
    let shown = problems(&GOOD.replace("[download.files]", "[download.'../files']"));
    assert!(shown.contains("`../files` cannot be the name of a workload"), "{shown}");
    let shown = problems(&GOOD.replace("path = [\"a\", \"b\"]", "path = [\"a\", \"b\", \"a\", \"b\"]"));
    assert!(shown.contains("x.toml:14: route.0.path: the path goes through `a` twice"), "{shown}");
    let shown = problems(&GOOD.replace("\na = {}", "\na = { forwarder = { strategy = 'best-rout' } }"));
    assert!(shown.contains("x.toml:6: ") && shown.contains("did you mean `best-route`?"), "{shown}");
    let shown = problems(&GOOD.replace("\na = {}", "\na = 'fast'"));
    assert!(shown.contains("x.toml:6: a table of keys is expected, and not string \"fast\""), "{shown}");
    let shown = problems(&GOOD.replace("10 Mbit/s", "-10 Mbit/s"));
    assert!(shown.contains("x.toml:10: ") && shown.contains("it must not be negative"), "{shown}");
    let shown = problems(&GOOD.replace("content = \"small\"", "content = \"small\"\nstart = '9 s'"));
    assert!(shown.contains("x.toml:24: download.files.start: it begins after the experiment"), "{shown}");
}

#[test]
fn sweeps_and_cases_multiply() {
    let more = "\n[[case]]\nname = 'fast'\n[[case]]\nname = 'slow'\nset = { 'link.*.delay' = '5 ms' }\n\
                [[sweep]]\nkey = 'link.*.rate'\nfrom = 10\nto = 30\nstep = 10\nunit = ' Mbit/s'\n";
    let experiment = Experiment::parse("x", "x.toml", &format!("{GOOD}{more}")).unwrap();
    let plans = experiment.plans("netns").unwrap();
    let names: Vec<&str> = plans.iter().map(|plan| plan.case.as_str()).collect();
    assert_eq!(names.len(), 6);
    assert_eq!(names[0], "fast, rate 10 Mbit/s");
    assert_eq!(plans[5].links[LinkIndex(0)].rate_bps, Some(30_000_000));
    assert_eq!(plans[5].links[LinkIndex(0)].delay_ns, 5_000_000);
}

#[test]
fn a_sweep_over_a_key_that_does_not_exist_is_refused() {
    let more = "\n[[sweep]]\nkey = 'link.*.raet'\nvalues = ['1 Mbit/s']\n";
    let shown = problems(&format!("{GOOD}{more}"));
    assert!(shown.contains("x.toml:26: "), "no value's fault: {shown}");
    assert!(shown.contains("raet"), "{shown}");
}

#[test]
fn an_expectation_names_what_is_measured() {
    let more = "\n[[expect]]\nsay = 'S'\nvalue = 'b.pendng.max'\nat_least = 1\n";
    let shown = problems(&format!("{GOOD}{more}"));
    assert!(shown.contains("did you mean `pending`?"), "{shown}");
    let more = "\n[[expect]]\nsay = 'S'\nvalue = 'b.pending.max'\n";
    assert!(problems(&format!("{GOOD}{more}")).contains("nothing is expected"));
}

#[test]
fn a_figure_names_what_can_be_drawn() {
    let figure = |form: &str, show: &str, more: &str| {
        format!("{GOOD}\n[[figure]]\ntitle = 't'\nform = '{form}'\nshow = ['{show}']\n{more}")
    };
    assert!(Experiment::parse("x", "x.toml", &figure("per-node", "cpu", "")).is_ok());
    assert!(Experiment::parse("x", "x.toml", &figure("over-time", "transfers", "")).is_ok());
    assert!(problems(&figure("pre-node", "cpu", "")).contains("did you mean `per-node`?"));
    assert!(problems(&figure("per-node", "transfers", "")).contains("not measured of a node"));
    assert!(problems(&figure("over-time", "cpu", "at = 'nowhere'")).contains("`nowhere` is not a node"));
    assert!(problems(&figure("per-node", "cpu", "cases = 'slow'")).contains("no case's name holds"));
}
