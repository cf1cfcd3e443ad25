//! Whole experiments at small size: on real forwarders and in virtual time, to the report; and what is left
//! of one that is killed.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use testkit::experiment::{ROW, ROW_EXPECT, ROW_PING};
use testkit::folder::TestFolder;
use testkit::needs::{namespaces, needed};
use testkit::processes;

/// What a virtual machine's host takes away is no fault of what is tested.
const NO_STEAL_GATE: &str = "[gates]\nsteal = \"100 %\"\n";

/// Few repeats in virtual time have seen few orders of what happens at one instant, and confirm nothing.
const SIX_ORDERS: &str = "\n[on.sim]\nwhy = \"Orders of one instant.\"\nset = { repeats = 6 }\n";

/// Three nodes in a row, three files, five pings.
fn small() -> String {
    format!(
        "title = \"Small\"\nduration = \"20 s\"\nuntil_done = true\n{NO_STEAL_GATE}[defaults.link]\nrate = \"20 Mbit/s\"\n{ROW}{ROW_PING}{ROW_EXPECT}{SIX_ORDERS}"
    )
}

/// A folder of its own with the experiment in it.
fn folder(name: &str, text: &str) -> TestFolder {
    let mut folder = TestFolder::new(&format!("lab-{name}"));
    folder.0 = folder.canonicalize().unwrap();
    std::fs::write(folder.join("small.toml"), text).unwrap();
    folder
}

fn lab(folder: &Path, backend: &str) -> Command {
    // A test run in the background of a shell ignores Ctrl-C, and so would what it starts.
    let mut command = Command::new("env");
    command.args(["--default-signal=INT", env!("CARGO_BIN_EXE_cairn")]);
    command.args(["lab", "run", "small.toml", "--on", backend]).current_dir(folder);
    command
}

fn runs_to_its_report(backend: &str) {
    let folder = folder(backend, &small());
    let output = lab(&folder, backend).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // One run on real forwarders does not say how sure its numbers are, so nothing is confirmed by it.
    let (code, words) = if backend == "sim" { (0, "  confirmed") } else { (4, "  not testable here") };
    assert_eq!(output.status.code(), Some(code), "{out}\n{err}");
    assert_eq!(out.matches(words).count(), 2, "{out}");
    let run = std::fs::read_dir(folder.join("runs")).unwrap().next().unwrap().unwrap().path();
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("Expected and measured") && page.contains("<svg"));
    assert!(!page.contains("<script") && !page.contains("<link"), "the page needs nothing from elsewhere");
    let may_sleep = ["kept awake", "sleep when they have nothing to do"];
    let said = may_sleep.map(|words| page.contains(&format!("; processors: {words}")));
    assert_eq!(said[0] || said[1], backend == "netns", "of real processors it is told whether they slept");
    for file in ["results.csv", "figures/topology.svg", "case-01/repeat-01/derived/traffic-b.csv"] {
        assert!(run.join(file).is_file(), "{file}");
    }
}

#[test]
fn a_small_experiment_in_virtual_time_ends_with_a_report() {
    runs_to_its_report("sim");
}

#[test]
fn values_of_a_sweep_may_begin_with_a_dash_and_none_may_be_empty() {
    let folder = folder("values", &small());
    let refused = |values: &str| {
        let mut sweep = Command::new(env!("CARGO_BIN_EXE_cairn"));
        sweep.args([
            "lab",
            "sweep",
            "small.toml",
            "--on",
            "sim",
            "--key",
            "defaults.link.rate",
            "--values",
            values,
        ]);
        let output = sweep.current_dir(&folder).output().unwrap();
        assert!(!output.status.success(), "{values}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let (negative, empty) = (refused("-5 Mbit/s"), refused("10 Mbit/s,"));
    assert!(negative.contains("must not be negative"), "{negative}");
    assert!(empty.contains("--values: one of the values is empty"), "{empty}");
}

/// Two nodes and a link that loses packets: where there are 10 s all files come, and where there are 5 s not
/// in every repeat.
const LOSSY: &str = "title = 'Lossy'
duration = '10 s'
repeats = 6
[node]
a = {}
b = {}
[link.a-b]
rate = '2 Mbit/s'
delay = '2 ms'
loss = '8 %'
[[route]]
prefix = '/lab'
path = ['a', 'b']
[content.files]
prefix = '/lab/file'
at = 'b'
count = 3
size = '200 kB'
[download.files]
at = 'a'
content = 'files'
[[expect]]
say = 'Packets cross the link'
value = 'network.hops'
at_least = 303
[[sweep]]
key = 'duration'
values = ['10 s', '5 s', '3 s']
";

#[test]
fn tables_and_verdicts_of_a_run_rest_on_the_same_repeats_and_those_are_valid() {
    let folder = folder("lossy", LOSSY);
    let run = lab(&folder, "sim").args(["--no-controls", "--out", "run"]).output().unwrap();
    let show = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        let output = command.args(["lab", "show", "run"]).args(words).current_dir(&folder).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let json: serde_json::Value = serde_json::from_str(&show(&["--json"])).unwrap();
    let table = String::from_utf8(run.stdout).unwrap();
    assert!(show(&[]).starts_with(table.lines().take(5).collect::<Vec<_>>().join("\n").as_str()));
    for (case, all_valid) in [("duration 10 s", true), ("duration 5 s", false), ("duration 3 s", false)] {
        let mut hops = Vec::new();
        for repeat in json["runs"].as_array().unwrap().iter().filter(|repeat| repeat["case"] == case) {
            let is_valid = repeat["valid"].as_bool().unwrap();
            let reasons = repeat["reasons"].as_array().unwrap();
            assert_eq!(reasons.is_empty(), is_valid, "{reasons:?}");
            hops.extend(repeat["metrics"]["hops"].as_f64().filter(|_| is_valid));
        }
        assert_eq!(hops.len() == 6, all_valid, "{case}: {hops:?}");
        let line = table.lines().find(|line| line.trim_start().starts_with(case)).unwrap();
        assert!(line.contains(&format!("{} of 6", hops.len())), "{line}");
        let shown = line.split_whitespace().last().unwrap();
        if hops.is_empty() {
            assert_eq!(shown, "–", "{line}");
            continue;
        }
        let mean = hops.iter().sum::<f64>() / hops.len() as f64;
        let number: f64 = shown.split('±').next().unwrap().parse().unwrap();
        assert!((number - mean).abs() < 0.06, "{line}: {hops:?}");
        let statements = json["statements"].as_array().unwrap();
        let judged = statements.iter().find(|row| row["case"] == case).unwrap();
        assert!((judged["numbers"]["mean"].as_f64().unwrap() - mean).abs() < 1e-9, "{judged}");
    }
}

#[test]
fn the_command_that_is_told_of_a_sweep_gives_the_same_plan_when_it_is_pasted() {
    let folder = folder("pasted sweep", LOSSY);
    std::fs::rename(folder.join("small.toml"), folder.join("it's lossy.toml")).unwrap();
    let cairn = Path::new(env!("CARGO_BIN_EXE_cairn"));
    let sweep =
        ["lab", "sweep", "it's lossy.toml", "--key", "link.*.rate", "--values", "1 Mbit/s,-0,3 Mbit/s"];
    let refused = Command::new(cairn).args(sweep).current_dir(&folder).output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "a sweep is read before anything is run");
    let words =
        [&sweep[..6], &["1 Mbit/s,3 Mbit/s", "--on", "sim", "--repeats", "1", "--seed", "7"]].concat();
    Command::new(cairn).args(words).args(["--out", "one"]).current_dir(&folder).output().unwrap();
    let told = |run: &str| {
        let output =
            Command::new(cairn).args(["lab", "results", run, "--json"]).current_dir(&folder).output();
        let rows: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
        let of = |field: &str| rows[0][field].as_str().unwrap().to_owned();
        (of("command"), of("plan"))
    };
    let (command, plan) = told("one");
    let options = "--key 'link.*.rate' --values '1 Mbit/s,3 Mbit/s' --on sim --repeats 1 --seed 7";
    assert_eq!(command, format!("cairn lab sweep 'it'\\''s lossy.toml' {options}"));
    let page = std::fs::read_to_string(folder.join("one/report.html")).unwrap();
    assert!(page.contains("cairn lab sweep"), "the page tells it, too");
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{command} --out two")]).current_dir(&folder);
    let path = format!("{}:/usr/bin:/bin", cairn.parent().unwrap().display());
    let pasted = shell.env("PATH", path).output().unwrap();
    assert_eq!(told("two"), (command, plan), "{}", String::from_utf8_lossy(&pasted.stderr));
}

#[test]
fn the_same_experiment_on_real_forwarders_ends_with_a_report() {
    if namespaces().is_some() {
        runs_to_its_report("netns");
    }
}

#[test]
fn programs_of_ones_own_are_served_by_the_nodes_forwarder_and_know_other_nodes_names() {
    if namespaces().is_none() {
        return;
    }
    let text = format!("{}\n{NO_STEAL_GATE}", include_str!("../../../experiments/own-programs.toml"));
    let folder = folder("programs", &text);
    let output = lab(&folder, "netns").args(["--repeats", "1", "--no-controls"]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(err.contains("  valid") && out.contains("fetch.unfinished = 0"), "{out}\n{err}");
    let run = only_run(&folder).join("case-01/repeat-01");
    let table = std::fs::read_to_string(run.join("derived/transfers-fetch.csv")).unwrap();
    let complete = |line: &&str| line.ends_with(",1") && line.split(',').nth(3) == Some("5000000");
    assert_eq!(table.lines().filter(complete).count(), 2, "{table}");
    let refused = lab(&folder, "sim").output().unwrap();
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && words.contains("which is no virtual time"), "{words}");
}

/// A network that stays, and goes with the test however that ends.
struct Live(String);

impl Live {
    fn command(words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command.arg("lab").args(words);
        command
    }

    /// What `cairn lab WORDS --network NAME` says, and its exit code.
    fn say(&self, words: &[&str], rest: &[&str]) -> (String, Option<i32>) {
        let output = Live::command(words).args(["--network", &self.0]).args(rest).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (String::from_utf8_lossy(&said).into_owned(), output.status.code())
    }

    fn at(&self, node: &str, command: &[&str]) -> (String, Option<i32>) {
        let rest: Vec<&str> = ["--"].iter().chain(command).copied().collect();
        self.say(&["shell", node], &rest)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = Live::command(&["down", &self.0]).output();
    }
}

#[test]
fn a_network_that_stays_can_be_entered_and_changed_until_it_is_taken_down() {
    if namespaces().is_none() {
        return;
    }
    let live = Live(format!("test-{}", std::process::id()));
    let up = Live::command(&["up", "--detach", "--name", &live.0]).output().unwrap();
    assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));
    let cairn = env!("CARGO_BIN_EXE_cairn");

    // Nodes know each other, and every client knows its node's forwarder.
    let (said, code) =
        live.at("consumer", &["sh", "-c", "echo at $CAIRN_NODE; getent hosts producer; exit 7"]);
    assert!(said.contains("at consumer") && said.contains("10.77.0.") && code == Some(7), "{said}");
    let (said, code) = live.at("router", &[cairn, "status", "--json"]);
    assert!(code == Some(0) && said.contains('{'), "{said}");
    let serve = [cairn, "put", "/lab/word", "--file", "/etc/hostname"];
    let mut producer = Live::command(&["shell", "producer", "--network", &live.0, "--"])
        .args(serve)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let get = || live.at("consumer", &["timeout", "2", cairn, "get", "/lab/word", "-o", "/dev/null"]);
    let deadline = Instant::now() + Duration::from_secs(30);
    while get().1 != Some(0) {
        assert!(Instant::now() < deadline, "{:?}", get());
    }

    // The consumer's own store answers what it has; the router's is behind the link.
    let (said, code) = live.say(&["link", "consumer-router"], &["--down"]);
    assert_eq!(code, Some(0), "{said}");
    let erase = live.at("consumer", &[cairn, "cs", "erase", "/lab"]);
    assert_eq!(erase.1, Some(0), "{erase:?}");
    assert_ne!(get().1, Some(0));
    assert_eq!(live.say(&["link", "consumer-router"], &["--up"]).1, Some(0));
    assert_eq!(live.say(&["link", "consumer-router"], &["--rate", "1 Mbit/s"]).1, Some(0));
    assert_eq!(live.say(&["restart", "router"], &[]).1, Some(0));
    while get().1 != Some(0) {
        assert!(Instant::now() < deadline, "{:?}", get());
    }

    let (said, code) = live.say(&["link", "consumer-ruoter"], &["--down"]);
    assert!(code == Some(1) && said.contains("consumer-router"), "{said}");
    let twice = Live::command(&["up", "--detach", "--name", &live.0]).output().unwrap();
    assert!(String::from_utf8_lossy(&twice.stderr).contains("is up already"));
    let down = Live::command(&["down", &live.0]).output().unwrap();
    assert!(down.status.success(), "{}", String::from_utf8_lossy(&down.stderr));
    assert!(!producer.wait().unwrap().success(), "what runs at a node ends with the network");
    let networks = Live::command(&["networks", "--json"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&networks.stdout).contains(&live.0));
}

#[test]
fn events_happen_to_real_links_and_forwarders() {
    if namespaces().is_none() {
        return;
    }
    // Half a second without a link, and a forwarder that is killed, of six seconds.
    let text = "title = 'Events'\nduration = '6 s'\n[gates]\nunfinished = '100 %'\ninvalid_samples = '50 %'\n\
        [node]\na = {}\nb = {}\nc = {}\n[link]\na-b = {}\nb-c = {}\n\
        [[route]]\nprefix = '/t'\npath = ['a', 'b', 'c']\n\
        [content.items]\nprefix = '/t/item'\nat = 'c'\nsize = '4 MB'\nsegment = '1000 B'\n\
        [traffic.reader]\nat = 'a'\ncontent = 'items'\nrate = '100/s'\npattern = 'sequential'\nlifetime = '1 s'\n\
        [[event]]\nat = '2 s'\naction = 'link-down'\nlink = 'b-c'\n\
        [[event]]\nat = '3 s'\naction = 'link-up'\nlink = 'b-c'\n\
        [[event]]\nat = '4 s'\naction = 'restart'\nnode = 'b'\n\
        [[expect]]\nsay = 'Some is lost'\nvalue = 'reader.unfinished'\nat_least = 60\n\
        [[expect]]\nsay = 'Most is not'\nvalue = 'reader.unfinished'\nat_most = 250\n";
    let folder = folder("events", text);
    let output = lab(&folder, "netns").output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(err.contains("  valid"), "{out}\n{err}");
    let lost = out.split("reader.unfinished = ").nth(1).and_then(|rest| rest.split(&[' ', ','][..]).next());
    let lost: f64 = lost.unwrap().parse().unwrap();
    assert!((60.0..=250.0).contains(&lost), "{out}");
    let page = std::fs::read_to_string(only_run(&folder).join("report.html")).unwrap();
    assert!(page.contains("b-c goes down at 2 s; b-c comes back at 3 s; b starts anew at 4 s"));
}

#[test]
fn routes_and_shares_of_real_forwarders_change_while_they_run() {
    if namespaces().is_none() {
        return;
    }
    // For three of eight seconds there is no route, and from 5 s on one by the other node.
    let text = "title = 'Routes'\nduration = '8 s'\n[gates]\nunfinished = '100 %'\ninvalid_samples = '50 %'\n\
        steal = '100 %'\nwaited = '100 %'\nforwarder_standstill = '8 s'\nclient_standstill = '8 s'\n\
        [node]\na = {}\nb = {}\nc = {}\nd = {}\n[link]\na-b = {}\nb-d = {}\na-c = {}\nc-d = {}\n\
        [[route]]\nprefix = '/t'\npath = ['a', 'b', 'd']\n[[route]]\nprefix = '/t'\npath = ['c', 'd']\n\
        [content.items]\nprefix = '/t/item'\nat = 'd'\nsize = '4 MB'\nsegment = '1000 B'\n\
        [traffic.reader]\nat = 'a'\ncontent = 'items'\nrate = '100/s'\npattern = 'sequential'\nlifetime = '1 s'\n\
        [[event]]\nat = '2 s'\naction = 'route-remove'\nnode = 'a'\nprefix = '/t'\ntowards = 'b'\n\
        [[event]]\nat = '5 s'\naction = 'route-add'\nnode = 'a'\nprefix = '/t'\ntowards = 'c'\n\
        [[event]]\nat = '6 s'\naction = 'cpu-change'\nnode = 'c'\ncpu = '1 %'\n\
        [[expect]]\nsay = 'Some is lost'\nvalue = 'reader.unfinished'\nat_least = 200\n";
    let folder = folder("routes", text);
    let output = lab(&folder, "netns").output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(err.contains("  valid"), "{out}\n{err}");
    let result = std::fs::read(only_run(&folder).join("case-01/repeat-01/result.json")).unwrap();
    let result: serde_json::Value = serde_json::from_slice(&result).unwrap();
    let of = |key: &str, summary: &str| result["values"][key][summary].as_f64().unwrap_or(f64::NAN);
    let lost = of("reader.unfinished", "mean");
    assert!((200.0..=420.0).contains(&lost), "{lost}: {out}");
    let kept = !err.contains("Shares of the processor are not kept");
    assert!(!kept || of("c.throttled", "max") > 0.0 && of("b.throttled", "max") == 0.0, "{result}");
    let page = std::fs::read_to_string(only_run(&folder).join("report.html")).unwrap();
    assert!(
        page.contains("a sends /t no more to b at 2 s; a sends /t to c at 5 s; c has 1 % of a core at 6 s")
    );
}

#[test]
fn a_real_forwarder_has_counted_what_was_asked_for_and_nothing_that_the_lab_asked() {
    if namespaces().is_none() {
        return;
    }
    let text = "title = 'Counted'\nduration = '5 s'\nsample_every = '100 ms'\n[gates]\nsteal = '100 %'\n\
        waited = '100 %'\nforwarder_standstill = '5 s'\nclient_standstill = '5 s'\ninvalid_samples = '50 %'\n\
        [defaults.link]\nrate = '5 Mbit/s'\ndelay = '5 ms'\n[node]\na = {}\nb = {}\n[link]\na-b = {}\n\
        [[route]]\nprefix = '/t'\npath = ['a', 'b']\n\
        [content.items]\nprefix = '/t/item'\nat = 'b'\nsize = '100 kB'\nsegment = '1000 B'\n\
        [traffic.reader]\nat = 'a'\ncontent = 'items'\nrate = '5/s'\npattern = 'sequential'\nstop = '4 s'\n";
    let folder = folder("counted", text);
    let output = lab(&folder, "netns").output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    let result = only_run(&folder).join("case-01/repeat-01/result.json");
    let result: serde_json::Value =
        serde_json::from_slice(&std::fs::read(result).unwrap_or_else(|_| panic!("{err}"))).unwrap();
    let of = |key: &str, summary: &str| result["values"][key][summary].as_f64().unwrap_or(f64::NAN);
    let asked = of("reader.started", "mean");
    assert!((10.0..=25.0).contains(&asked), "{asked}: {err}");
    for node in ["a", "b"] {
        for counter in ["in_interests", "out_interests", "in_data", "out_data", "satisfied", "misses"] {
            let counted = of(&format!("{node}.{counter}"), "mean");
            assert_eq!(counted, asked, "{node}.{counter}: {}", result["values"][format!("{node}.{counter}")]);
        }
        let propagated = of(&format!("{node}.propagated"), "sum");
        assert!((propagated - asked).abs() < 0.1, "{node}.propagated: {propagated} and not {asked}");
    }
}

#[test]
fn whoever_stops_reading_is_no_error() {
    let folder = folder("closed", &small());
    for _ in 0..2 {
        assert!(lab(&folder, "sim").output().unwrap().status.success());
    }
    let mut runs: Vec<PathBuf> =
        std::fs::read_dir(folder.join("runs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    runs.sort();
    let runs: Vec<&str> = runs.iter().map(|run| run.to_str().unwrap()).collect();
    let compare = ["compare", runs[0], runs[1]];
    let commands: [&[&str]; 6] =
        [&["reference"], &["check", "small.toml"], &["list"], &["list", "--json"], &["show"], &compare];
    for words in commands {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        let output = command.arg("lab").args(words).current_dir(&folder).stdout(writer).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && err.is_empty(), "{words:?}: {err}");
    }
}

#[test]
fn what_was_changed_in_a_run_is_told_by_all_who_read_it_and_what_is_not_there_is_told_as_json() {
    let folder = folder("tampered", &small());
    assert!(lab(&folder, "sim").output().unwrap().status.success());
    let run = only_run(&folder);
    let said = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        let output = command.arg("lab").args(words).current_dir(&folder).output().unwrap();
        let all = [output.stdout.as_slice(), &output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&all).into_owned())
    };
    let path = run.to_str().unwrap();
    assert_eq!(said(&["results", path]).0, Some(0));
    // Whoever has seen the numbers can state any bound.
    let experiment = std::fs::read_to_string(run.join("experiment.toml")).unwrap();
    std::fs::write(run.join("experiment.toml"), experiment.replace("at_least = ", "at_least = 0.")).unwrap();
    for words in [&["show", path][..], &["results", path], &["compare", path, path]] {
        let (code, text) = said(words);
        assert!(
            code == Some(6) && text.contains("`expect` of the experiment was changed"),
            "{words:?}: {text}"
        );
    }
    let (code, text) = said(&["show", path, "--json"]);
    assert!(code == Some(6) && text.contains("\"conclusion\": \"not as it was left\""), "{text}");
    std::fs::write(run.join("experiment.toml"), experiment).unwrap();
    assert_eq!(said(&["show", path]).0, Some(0));
    let raw = run.join("case-01/repeat-01/raw");
    let entries = std::fs::read_dir(&raw).unwrap().map(|entry| entry.unwrap().path());
    let changed = entries.filter(|entry| entry.extension().is_some_and(|end| end == "gz")).min().unwrap();
    let mut bytes = std::fs::read(&changed).unwrap();
    // The moment in the head of a gzip member, of which nobody who reads it takes notice.
    bytes[4] ^= 1;
    std::fs::write(&changed, bytes).unwrap();
    let name = changed.file_name().unwrap().to_str().unwrap();
    for words in [&["show", path][..], &["results", path], &["compare", path, path], &["resume", path]] {
        let (code, text) = said(words);
        assert!(code == Some(6) && text.contains(name), "{words:?}: {code:?} {text}");
    }
    let (code, text) = said(&["show", path, "--derive"]);
    assert!(code == Some(1) && text.contains(name), "{code:?} {text}");
    let (code, text) = said(&["results", "NOSUCH", "--json"]);
    assert!(code == Some(1) && text.contains("\"error\":") && text.contains("\"exit_code\": 1"), "{text}");
}

#[test]
fn what_fails_with_json_says_so_as_json_whatever_the_command() {
    let folder = TestFolder::new("json-errors");
    std::fs::write(folder.join("wrong.toml"), "title = 3\n").unwrap();
    std::fs::write(folder.join("wrong.profile"), "what = 'this'\n").unwrap();
    for words in [
        &["run", "NOSUCH.toml", "--on", "sim"][..],
        &["run", "wrong.toml", "--on", "sim"],
        &["sweep", "NOSUCH.toml", "--key", "link.*.rate", "--values", "1 Mbit/s", "--on", "sim"],
        &["calibrate", "profile.toml", "--runs", "wrong.toml"],
        &["validate", "NOSUCH.toml"],
        &["validate", "wrong.toml", "--profile", "wrong.profile"],
        &["up", "NOSUCH.toml"],
        &["shell", "--network", "nobody", "a"],
        &["link", "a-b", "--down", "--network", "nobody"],
        &["restart", "a", "--network", "nobody"],
        &["down", "nobody"],
        &["watch", "NOSUCH"],
        &["new", "wrong.toml"],
        &["resume", "NOSUCH"],
        &["merge", "out", "NOSUCH"],
        &["show", "NOSUCH"],
        &["compare", "NOSUCH", "NOSUCH"],
        &["list", "--runs", "NOSUCH"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        let output = command.arg("lab").args(words).arg("--json").current_dir(&folder).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let error: serde_json::Value =
            serde_json::from_str(&said).unwrap_or_else(|why| panic!("{words:?}: {why}: {said}"));
        let is_said = error["error"].as_str().is_some_and(|text| !text.is_empty());
        assert!(is_said && error["exit_code"] == 1 && output.status.code() == Some(1), "{words:?}: {said}");
    }
    let mut check = Command::new(env!("CARGO_BIN_EXE_cairn"));
    let output = check.args(["lab", "check", "NOSUCH.toml", "--json"]).current_dir(&folder).output().unwrap();
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(said[0]["problems"][0]["line"].is_null(), "a file that is not there has no line: {said}");
    let mut sim = Command::new(env!("CARGO_BIN_EXE_cairn"));
    let output = sim.args(["sim", "run", "NOSUCH.toml", "--json"]).current_dir(&folder).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("\"exit_code\": 1"));
}

/// Directories below `root` whose names begin with `prefix`, a few levels deep.
fn directories(root: &Path, prefix: &str, levels: u32, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if entry.file_name().to_string_lossy().starts_with(prefix) {
                found.push(entry.path());
            }
            if levels > 0 {
                directories(&entry.path(), prefix, levels - 1, found);
            }
        }
    }
}

/// Control groups of a lab with this process.
fn groups_of(pid: u32) -> Vec<PathBuf> {
    let mut found = Vec::new();
    directories(Path::new("/sys/fs/cgroup"), &format!("cairn-lab-{pid}-"), 4, &mut found);
    found
}

/// A lab whose workloads have begun; with `times`, those of so many repeats.
fn begun(folder: &Path, times: usize) -> Child {
    let mut child = lab(folder, "netns").stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    for _ in 0..times {
        let begun = lines.any(|line| line.is_ok_and(|line| line.contains("workloads")));
        assert!(begun, "the workloads never began");
    }
    std::thread::spawn(move || lines.for_each(drop));
    assert!(!processes::of(folder).is_empty(), "forwarders and agents run");
    child
}

fn end(child: &mut Child, signal: Signal) {
    let pid = Pid::from_child(child);
    rustix::process::kill_process(pid, signal).unwrap();
    assert!(!child.wait().unwrap().success());
}

fn nothing_is_left(folder: &Path, lab: &Child) {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let (processes, groups) = (processes::of(folder), groups_of(lab.id()));
        if processes.is_empty() && groups.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "left behind: {processes:?} {groups:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_lab_that_is_ended_by_any_signal_leaves_no_process_and_no_control_group_behind() {
    if namespaces().is_none() {
        return;
    }
    let text = small().replace("until_done = true", "").replace("\"20 s\"", "\"120 s\"");
    let text = text.replace("\nb = {}", "\nb = { cpu = \"50 %\", memory = \"200 MB\" }");
    for (name, signal) in [("killed", Signal::KILL), ("interrupted", Signal::INT), ("ended", Signal::TERM)] {
        let folder = folder(name, &text);
        let mut child = begun(&folder, 1);
        end(&mut child, signal);
        nothing_is_left(&folder, &child);
    }
}

#[test]
fn a_run_that_was_interrupted_goes_on_where_it_stopped_and_measures_nothing_twice() {
    if namespaces().is_none() {
        return;
    }
    let text = small().replace("until_done = true", "until_done = true\nrepeats = 3");
    let folder = folder("resumed", &text);
    let mut child = begun(&folder, 2);
    end(&mut child, Signal::KILL);
    nothing_is_left(&folder, &child);
    let run = std::fs::read_dir(folder.join("runs")).unwrap().next().unwrap().unwrap().path();
    let result = |repeat: u32| run.join(format!("case-01/repeat-0{repeat}/result.json"));
    let first = std::fs::metadata(result(1)).unwrap().modified().unwrap();
    assert!(!result(2).exists() && !run.join("report.html").exists());
    let mut resume = Command::new(env!("CARGO_BIN_EXE_cairn"));
    let output = resume.args(["lab", "resume"]).arg(&run).current_dir(&folder).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 4)), "{err}");
    assert_eq!(err.matches("done before").count(), 1, "{err}");
    assert_eq!(std::fs::metadata(result(1)).unwrap().modified().unwrap(), first);
    assert!(result(2).is_file() && result(3).is_file() && run.join("report.html").is_file());
    // One that is complete is not measured again, either.
    let mut again = Command::new(env!("CARGO_BIN_EXE_cairn"));
    let output = again.args(["lab", "resume"]).arg(&run).current_dir(&folder).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr).matches("done before").count(), 3);
}

#[test]
fn a_folder_with_damaged_numbers_ends_with_code_6_and_what_is_advised_mends_it() {
    let folder = folder("damaged", &small().replace("until_done = true", "until_done = true\nrepeats = 2"));
    assert_eq!(lab(&folder, "sim").output().unwrap().status.code(), Some(0));
    let run = only_run(&folder);
    let said = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        let output = command.arg("lab").args(words).output().unwrap();
        let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (output.status.code().unwrap(), out, err)
    };
    let at = run.display().to_string();
    assert_eq!((said(&["results", &at]).0, said(&["compare", &at, &at]).0), (0, 0));
    let advised = |words: &[&str], file: &str, advice: &str| {
        for words in [words, &["compare", &at, &at]] {
            let (code, out, err) = said(words);
            assert_eq!(code, 6, "{out}{err}");
            assert!(out.contains(file) && err.contains(advice), "{out}{err}");
        }
        let command = advice.split("cairn lab ").nth(1).unwrap();
        said(&command.split(' ').collect::<Vec<_>>());
        let (code, out, err) = said(words);
        assert_eq!(code, 0, "{out}{err}");
    };
    std::fs::write(run.join("case-01/repeat-02/result.json"), "{").unwrap();
    advised(&["results", &at], "case-01/repeat-02/result.json", &format!("cairn lab resume {at}"));
    std::fs::remove_file(run.join("case-01/repeat-01/derived/traffic-b.csv")).unwrap();
    advised(&["results", &at], "derived/traffic-b.csv", &format!("cairn lab show --derive {at}"));
    std::fs::write(run.join("results.csv"), "").unwrap();
    advised(&["results", "--json", &at], "results.csv", &format!("cairn lab show {at}"));
    let whole = std::fs::read(run.join("experiment.toml")).unwrap();
    std::fs::write(run.join("experiment.toml"), "").unwrap();
    for words in [vec!["results", &at], vec!["resume", &at], vec!["show", "--derive", &at]] {
        let (code, _, err) = said(&words);
        let again = "with: cairn lab run small.toml --on sim\n";
        assert!(code == 1 && err.contains("experiment.toml is empty") && err.ends_with(again), "{err}");
    }
    std::fs::write(run.join("experiment.toml"), whole).unwrap();
    std::fs::write(run.join("run.json"), "").unwrap();
    for words in [vec!["results", &at], vec!["compare", &at, &at], vec!["resume", &at], vec!["show", &at]] {
        let (code, _, err) = said(&words);
        let again = format!("cairn lab run {at}/experiment.toml --on sim");
        assert!(code == 1 && err.contains("run.json cannot be read") && err.contains(&again), "{err}");
    }
}

/// The forwarder of a node in a run below `folder`, once its workloads have begun.
fn forwarder(folder: &Path, node: &str) -> Pid {
    let deadline = Instant::now() + Duration::from_secs(60);
    let wanted = format!("/{node}/");
    loop {
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            let is_here = line.contains(&folder.display().to_string()) && line.contains(&wanted);
            let pid = entry.file_name().to_string_lossy().parse().ok().and_then(Pid::from_raw);
            if let Some(pid) = pid.filter(|_| is_here && line.contains(" node ")) {
                return pid;
            }
        }
        assert!(Instant::now() < deadline, "there is no forwarder of {node}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The only run below a folder.
fn only_run(folder: &Path) -> PathBuf {
    std::fs::read_dir(folder.join("runs")).unwrap().next().unwrap().unwrap().path()
}

#[test]
fn a_forwarder_that_is_killed_costs_an_attempt_and_not_the_run() {
    if namespaces().is_none() {
        return;
    }
    let text = small().replace("count = 5", "count = 60");
    let folder = folder("lost", &text);
    let mut child = begun(&folder, 1);
    rustix::process::kill_process(forwarder(&folder, "b"), Signal::KILL).unwrap();
    let status = child.wait().unwrap();
    assert!(matches!(status.code(), Some(0 | 4)), "the second attempt is valid: {status}");
    let aside = only_run(&folder).join("case-01/repeat-01-discarded-1");
    let why = std::fs::read_to_string(aside.join("NOT-VALID.txt")).unwrap();
    assert!(why.contains("the forwarder of `b` ended") || why.contains("the client at"), "{why}");
    assert!(aside.join("raw").is_dir(), "what it measured is kept");
}

#[test]
fn a_forwarder_that_stands_still_for_two_seconds_costs_an_attempt_and_not_the_run() {
    if namespaces().is_none() {
        return;
    }
    let text = small().replace("until_done = true", "").replace("\"20 s\"", "\"12 s\"");
    let folder = folder("frozen", &text);
    let mut child = begun(&folder, 1);
    let pid = forwarder(&folder, "b");
    rustix::process::kill_process(pid, Signal::STOP).unwrap();
    // What is tested is that so long a standstill is seen.
    std::thread::sleep(Duration::from_millis(2500));
    rustix::process::kill_process(pid, Signal::CONT).unwrap();
    let status = child.wait().unwrap();
    assert!(matches!(status.code(), Some(0 | 4)), "the second attempt is valid: {status}");
    let aside = only_run(&folder).join("case-01/repeat-01-discarded-1");
    assert!(aside.join("NOT-VALID.txt").exists(), "what the first measured is kept, and marked");
    let result = std::fs::read_to_string(aside.join("result.json")).unwrap();
    let gate = result.split("longest time without an answer").nth(1).unwrap();
    assert!(gate.split('}').next().unwrap().contains("\"passed\": false"), "{gate}");
}

#[test]
fn two_do_not_go_on_with_one_run_at_once() {
    if namespaces().is_none() {
        return;
    }
    let folder = folder("locked", &small().replace("until_done = true", ""));
    let mut child = begun(&folder, 1);
    let mut second = Command::new(env!("CARGO_BIN_EXE_cairn"));
    let output = second.args(["lab", "resume"]).arg(only_run(&folder)).current_dir(&folder).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    // The process that is named is the lab itself, which `env` has become.
    let process = format!("process {}", child.id());
    assert!(err.contains(&process) && err.contains("the run cannot be resumed"), "{err}");
    // Whoever looks at it meanwhile learns the same, and is not sent to where he is refused.
    for word in ["results", "show"] {
        let mut looking = Command::new(env!("CARGO_BIN_EXE_cairn"));
        let output = looking.args(["lab", word]).arg(only_run(&folder)).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(err.contains("not one repeat is complete") && err.contains(&process), "{word}: {err}");
        assert!(!err.contains("resume"), "{word}: {err}");
    }
    end(&mut child, Signal::KILL);
    nothing_is_left(&folder, &child);
}

/// The number of nobody in particular, who may do nothing in particular.
const NOBODY: u32 = 65_534;

#[test]
fn real_forwarders_run_without_root_in_namespaces_of_the_user() {
    use std::os::unix::process::CommandExt;
    let mut probe = Command::new("unshare");
    probe.args(["--user", "--map-root-user", "--net", "--pid", "--fork", "true"]);
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        probe.uid(NOBODY).gid(NOBODY);
    }
    let allowed = match probe.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(error.to_string()),
    };
    if needed("user namespaces", allowed).is_none() {
        return;
    }
    let text = small().replace("\nb = {}", "\nb = { cpu = \"50 %\" }");
    let folder = folder("user", &text);
    let mut command = lab(&folder, "netns");
    if is_root {
        std::os::unix::fs::chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(4), "one run confirms nothing: {out}\n{err}");
}

#[test]
fn a_link_without_netem_has_its_delay_all_the_same() {
    if namespaces().is_none() {
        return;
    }
    let text = small().replace("rate = \"20 Mbit/s\"", "rate = \"20 Mbit/s\"\ndelay = \"15 ms\"");
    let text = format!(
        "{text}\n[[expect]]\nsay = \"Two links, there and back, and little more\"\nvalue = \"probe.rtt.min\"\nat_most = 90\n"
    );
    let folder = folder("delayed", &text);
    let output = lab(&folder, "netns").output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(4), "one run confirms nothing: {out}\n{err}");
    let line = out.lines().find(|line| line.contains("probe.rtt.min")).unwrap();
    let trip = line.split(" = ").nth(1).and_then(|text| text.split_whitespace().next());
    let trip: f64 = trip.unwrap().parse().unwrap();
    assert!(trip >= 60.0, "{line}");
}
