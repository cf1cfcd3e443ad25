//! Objects of different sizes, and traces that ask for them: hit rates count them by number and by bytes, and
//! requests are made at the times of the trace.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

mod common;

use std::fs;
use std::path::Path;

use cairn_lab::experiment::Experiment;
use cairn_lab::report::{Outcome, RunData, verdicts};
use cairn_lab::run::{Options, execute};
use testkit::folder::TestFolder;

/// Two passes over four objects of 1, 2, 3 and 994 kB by way of a node with a cache.
fn two_passes(store: &str) -> String {
    let row = testkit::experiment::ROW
        .replace(
            "count = 3\nsize = \"100 kB\"",
            "segment = '1 kB'\nsizes = { list = ['1 kB', '2 kB', '3 kB', '994 kB'] }",
        )
        .replace("\nb = {}", &format!("\nb = {{ forwarder = {{ eviction = 'lru', {store} }} }}"));
    let none = "forwarder = { content_store = 0 }";
    let row = row
        .replace("\na = {}", &format!("\na = {{ {none} }}"))
        .replace("\nc = {}", &format!("\nc = {{ {none} }}"));
    format!("title = 't'\nduration = '20 s'\nuntil_done = true\n{row}count = 8\n")
}

fn run(name: &str, text: &str) -> RunData {
    let place = TestFolder::new(&format!("sizes-{name}"));
    let folder = common::run_in_virtual_time(name, text, &place);
    RunData::read(&folder).unwrap()
}

fn hits(name: &str, store: &str) -> [f64; 5] {
    let run = run(name, &two_passes(store));
    ["served", "served_bytes", "served_objects", "object_hits", "byte_hits"]
        .map(|word| run.cases[0].values(&format!("files.{word}"), "mean")[0])
}

#[test]
fn hit_rates_by_objects_and_by_bytes_say_what_the_producer_did_not_send() {
    assert_eq!(hits("none", "content_store = 0"), [2000.0, 2e6, 8.0, 0.0, 0.0]);
    assert_eq!(hits("all", "content_store = 5000"), [1000.0, 1e6, 4.0, 50.0, 50.0]);
    // The last object drives all others out, and its own beginning.
    let [.., objects, bytes] = hits("some", "content_store = 997");
    assert!(objects < 50.0 && bytes < 50.0, "{objects} {bytes}");
}

/// A run of an experiment that stands in the folder of shipped ones.
fn shipped(name: &str, repeats: Option<u32>) -> RunData {
    let place = TestFolder::new(&format!("sizes-{name}"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../experiments/{name}.toml"));
    let experiment = Experiment::read(&path).unwrap_or_else(|wrong| panic!("{wrong}"));
    let options = Options { repeats, ..common::options(&place) };
    let folder = execute(&experiment, &options, |_| {}).unwrap();
    RunData::read(&folder).unwrap()
}

#[test]
fn the_shipped_experiments_with_sizes_and_a_trace_come_out_as_they_say() {
    // All repeats of the others would take minutes, and fewer confirm nothing.
    for (name, repeats) in [("object-sizes", Some(3)), ("trace-replay", None), ("sampled", Some(2))] {
        let run = shipped(name, repeats);
        for verdict in verdicts(&run) {
            let is_as_said =
                verdict.is_good() || repeats.is_some() && verdict.outcome == Outcome::NotTestable;
            assert!(is_as_said, "{name}: {verdict:?}");
        }
    }
}

#[test]
fn a_sample_has_the_same_cases_whenever_the_file_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/sampled.toml");
    let cases = || -> Vec<String> {
        let plans = Experiment::read(&path).unwrap().plans("sim").unwrap().into_iter();
        plans.filter(|plan| plan.control.is_none()).map(|plan| plan.case).collect()
    };
    assert_eq!(cases().len(), 12);
    assert_eq!(cases(), cases());
    assert!(cases()[0].starts_with("cache ") && cases()[0].ends_with(" ms"), "{}", cases()[0]);
}

/// Three requests of a trace in a file beside an experiment, with more keys of the trace.
fn replayed(name: &str, trace: &str, more: &str) -> Result<RunData, String> {
    let place = TestFolder::new(&format!("trace-{name}"));
    fs::write(place.join("t.csv"), trace).unwrap();
    let row = testkit::experiment::ROW
        .replace("count = 3\nsize = \"100 kB\"", "segment = '1 kB'\nsizes = { trace = 't.csv' }");
    let text = format!(
        "title = 't'\nduration = '20 s'\nuntil_done = true\n{row}trace = {{ file = 't.csv'{more} }}\n"
    );
    let experiment =
        Experiment::parse_in(Some(&place), "t", "t.toml", &text).map_err(|wrong| wrong.to_string());
    experiment.map(|experiment| {
        RunData::read(&execute(&experiment, &common::options(&place), |_| {}).unwrap()).unwrap()
    })
}

#[test]
fn a_trace_is_replayed_at_its_times_with_the_sizes_that_it_says() {
    let trace = "50.5,x,5000\n52.5,y,1\n58.5,x,5000\n";
    for (name, more, expected) in [
        ("as-it-was", "", vec![1.0, 3.0, 9.0]),
        ("faster", ", speed = 4", vec![1.0, 1.5, 3.0]),
        ("a-part", ", requests = 2", vec![1.0, 3.0]),
    ] {
        let run = replayed(name, trace, more).unwrap();
        let mut transfers = run.cases[0].shown.transfers["files"].transfers.clone();
        transfers.sort_by_key(|transfer| transfer.number);
        let starts: Vec<f64> = transfers.iter().map(|transfer| transfer.start.unwrap()).collect();
        let is_near = |(found, at): (&f64, &f64)| (found - at).abs() < 1e-3;
        assert!(starts.len() == expected.len() && starts.iter().zip(&expected).all(is_near), "{starts:?}");
        let bytes: Vec<u64> = transfers.iter().map(|transfer| transfer.bytes).collect();
        assert_eq!(bytes[..2], [5000, 1]);
        assert!(transfers.iter().all(|transfer| transfer.state == "complete"));
    }
}

#[test]
fn a_trace_that_cannot_be_replayed_is_refused_where_it_is_named() {
    let good = "1,x,5\n2,y,5\n";
    for (trace, more, expected) in [
        ("1,x,5\nsoon,y,5\n", "", "`t.csv`: request 2 has no time in seconds"),
        ("1,x,-5\n", "", "`t.csv`: request 1: its size is no whole number of bytes"),
        ("time,object,size\n", "", "`t.csv`: it has no requests"),
        (good, ", speed = 0", "trace.speed: it is a number from 0.000001"),
        (good, ", requests = 3", "trace.requests: there are 2 requests to replay"),
        (good, ", format = 'pcap'", "there is no format pcap"),
        (good, " }\nrate = '1/s'\nwindow = 2 #", "files.rate: `trace` says when downloads begin"),
        (good, " }\nworkload = 'zipf/rate~2' #", "a download has either a `workload` or a `trace`"),
    ] {
        let wrong = replayed("wrong", trace, more).map(|_| ()).unwrap_err();
        assert!(wrong.contains(expected), "{expected}: {wrong}");
    }
}

#[test]
fn traffic_replays_a_trace_with_an_interest_for_each_request() {
    let place = TestFolder::new("traffic-trace");
    fs::write(place.join("t.csv"), "50.5,x,5000\n52.5,y,1\n58.5,x,5000\n").unwrap();
    let head =
        "title = 't'\nduration = '20 s'\nuntil_done = true\n[measure]\nprefixes = ['/lab', '/lab/f/0']\n";
    let text = |more: &str| {
        format!(
            "{head}[node]\na = {{}}\nb = {{}}\n[link]\na-b = {{ delay = '2 ms' }}\n[[route]]\n\
             prefix = '/lab'\npath = ['a', 'b']\n[content.files]\nprefix = '/lab/f'\nat = 'b'\n\
             segment = '1 kB'\nsizes = {{ trace = 't.csv' }}\n[traffic.t]\nat = 'a'\ncontent = 'files'\n\
             trace = {{ file = 't.csv', speed = 4 }}\n{more}"
        )
    };
    let parse = |more: &str| Experiment::parse_in(Some(&place), "t", "t.toml", &text(more));
    let wrong = parse("rate = '5/s'\n").unwrap_err().to_string();
    assert!(wrong.contains("`trace` says what is asked for"), "{wrong}");
    let folder = execute(&parse("").unwrap(), &common::options(&place), |_| {}).unwrap();
    let run = RunData::read(&folder).unwrap();
    let sent: Vec<f64> = run.cases[0].shown.pings["t"].pings.iter().map(|(at, _)| *at).collect();
    let is_near = |(found, at): (&f64, f64)| (found - at).abs() < 1e-3;
    assert!(sent.len() == 3 && sent.iter().zip([1.0, 1.5, 3.0]).all(is_near), "{sent:?}");
    // The object that comes twice is the first one, and the second time the store has it.
    let counts: Vec<_> =
        run.cases[0].results[0].prefixes.iter().map(|found| (found.satisfied, found.hits)).collect();
    assert_eq!(counts, [(3, Some(1)), (2, Some(1))]);
}

#[test]
fn a_resume_of_a_sampled_run_has_the_same_cases() {
    let place = TestFolder::new("sampled-again");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/sampled.toml");
    let experiment = Experiment::read(&path).unwrap_or_else(|wrong| panic!("{wrong}"));
    let options = Options { repeats: Some(1), controls: false, ..common::options(&place) };
    let folder = execute(&experiment, &options, |_| {}).unwrap();
    let before = RunData::read(&folder).unwrap();
    // As if it had been interrupted: two cases are missing, and the run is not complete.
    for case in [3, 11] {
        fs::remove_dir_all(folder.repeat(case, 0)).unwrap();
    }
    folder.write_record(&cairn_lab::run::RunRecord { complete: false, ..before.record.clone() }).unwrap();
    let programs = options.programs.clone();
    let again = cairn_lab::run::resume(folder.path(), &programs, options.build.clone(), |_| {}).unwrap();
    let after = RunData::read(&again).unwrap();
    assert_eq!(after.cases.len(), 12);
    for (one, other) in before.cases.iter().zip(&after.cases) {
        assert_eq!(one.plan, other.plan);
        assert_eq!(one.results[0].values, other.results[0].values, "{}", one.plan.case);
        assert_eq!(one.counts, other.counts, "{}", one.plan.case);
    }
}
