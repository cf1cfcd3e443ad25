//! Experiments of virtual time: the shipped ones do the same to the bit, cores change nothing, drawn networks
//! follow their seeds, and what is wrong or lacking is told with its line.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

mod common;

use std::fs;
use std::path::Path;

use cairn_lab::analysis::RepeatResult;
use cairn_lab::experiment::Experiment;
use cairn_lab::report::{Comparison, Outcome, RunData, verdicts, write_report};
use cairn_lab::run::{Options, derive_anew, execute};
use common::options;
use testkit::experiment::{ROW, ROW_PING};
use testkit::folder::TestFolder;

struct RunsFolder(TestFolder);

impl RunsFolder {
    fn new(name: &str) -> Self {
        RunsFolder(TestFolder::new(name))
    }

    fn run(&self, experiment: &Experiment, change: impl FnOnce(&mut Options)) -> RunData {
        let mut options = options(&self.0);
        change(&mut options);
        let folder = execute(experiment, &options, |_| {}).unwrap_or_else(|error| panic!("{error}"));
        RunData::read(&folder).unwrap()
    }
}

fn shipped(name: &str) -> Experiment {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../experiments/{name}.toml"));
    Experiment::read(&path).unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn written(text: &str) -> Experiment {
    Experiment::parse("t", "t.toml", text).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// The hashes over all packets of all repeats, case by case.
fn hashes(run: &RunData) -> Vec<&str> {
    run.cases.iter().flat_map(|case| &case.counts).map(|counts| counts.trace_hash.as_str()).collect()
}

#[test]
fn who_verifies_takes_nothing_of_a_forger_and_pays_for_it() {
    let place = RunsFolder::new("verification");
    let run = place.run(&shipped("verification"), |options| options.repeats = Some(1));
    let of = |case: &str| {
        let case = run.cases.iter().find(|found| found.plan.case == case).unwrap();
        let counts = &case.counts[0].consumers[0];
        (counts.bytes, counts.refused > 0, counts.ended_s)
    };
    let (light, heavy) = (of("light signatures"), of("heavy signatures"));
    assert_eq!((light.0, light.1, heavy.0), (5_000_000, false, 5_000_000));
    assert!(heavy.2.unwrap() > 625.0 * 0.003, "each of 625 signatures takes 3 ms: {heavy:?}");
    assert!(light.2 < heavy.2, "{light:?} {heavy:?}");
    assert_eq!(of("hijacked, verified"), (0, true, None));
    assert_eq!(of("hijacked, not verified").0, 5_000_000);
}

#[test]
fn a_load_that_has_ended_leaves_a_processor_as_slow_as_its_capacity_says() {
    let place = RunsFolder::new("capacity-and-load");
    let run = |load: &str| {
        let middle = "\nb = { service_time = '200 us', capacity = [{ at = '0 s', part = '20 %' }] }";
        let row = ROW.replace("\nb = {}", middle);
        let text = format!("title = 't'\nduration = '9 s'\n{row}start = '3 s'\n{load}");
        place.run(&written(&text), |_| {})
    };
    let ended = "[load.l]\nat = 'b'\ncpu = '50 %'\nbusy = '1 s'\nidle = '20 s'\nstart = '1 s'\n";
    let (with, without) = (run(ended), run(""));
    let durations = |run: &RunData| run.cases[0].values("files.duration", "max");
    assert_eq!(durations(&with), durations(&without), "it was busy from 1 s to 2 s");
    // While it is busy it takes half of that fifth.
    let (during, before) = (run(&ended.replace("busy = '1 s'", "busy = '8 s'")), durations(&without)[0]);
    assert!(durations(&during)[0] > 1.5 * before, "{:?}, {before}", durations(&during));
    let cpu = during.cases[0].values("b.cpu", "max")[0];
    assert!(cpu <= 10.0 + 1e-9, "a tenth of a core is all that there is: {cpu} %");
}

#[test]
fn shipped_experiments_send_the_same_packets_as_ever() {
    let place = RunsFolder::new("shipped");
    // One repeat of each case. The numbers are of the simulator before experiments had one language; that of
    // cache-sizes since a consumer's first Interest waits with others for what is pending.
    for (name, only, expected) in [
        ("first-simulation", None, &["95847e70591bccdd"][..]),
        ("two-videos", None, &["18807fe4b82a6eb5"]),
        ("two-videos-queues", Some("queue 5"), &["8e3ab50cf5a4f5b8"]),
        ("link-failure", None, &["de04c317a6dd144b", "81c98da4be32311b", "438cf356db051cfc"]),
        ("controllers", Some("pcon"), &["f41874d5a732809f"]),
        ("cache-sizes", Some("cache 100, eviction lru"), &["311de41691e68865"]),
    ] {
        let run = place.run(&shipped(name), |options| {
            options.repeats = Some(1);
            options.only = only.map(str::to_owned);
        });
        assert_eq!(hashes(&run), expected, "{name}");
    }
}

/// Five pings over two links of 10 ms.
fn pings(head: &str, link: &str) -> String {
    let row = ROW.split("[content.files]").next().unwrap();
    let ping = ROW_PING;
    format!("title = 't'\nduration = '9 s'\n{head}\n[defaults.link]\ndelay = '10 ms'\n{link}\n{row}{ping}")
}

fn round_trip_ms(place: &RunsFolder, text: &str) -> f64 {
    let experiment = Experiment::parse_in(Some(&place.0), "t", "t.toml", text);
    let run = place.run(&experiment.unwrap_or_else(|wrong| panic!("{wrong}")), |_| {});
    run.cases[0].values("probe.rtt", "median")[0]
}

#[test]
fn a_link_with_a_token_bucket_sends_at_once_what_comes_after_a_pause() {
    let place = RunsFolder::new("bucket");
    let link = |more: &str| {
        let link = format!("rate = '10 Mbit/s'\n{more}\n[defaults.node]\nservice_time = '0 us'");
        round_trip_ms(&place, &pings("", &link))
    };
    let (cable, bucket) = (link(""), link("token_bucket = true"));
    assert!((bucket - 40.0).abs() < 1e-6, "{bucket}");
    assert!(cable > 40.1, "{cable}");
}

#[test]
fn data_out_of_a_cache_on_the_way_crosses_fewer_links() {
    let place = RunsFolder::new("data-hops");
    let of = |cached: u32| {
        let row = ROW;
        let later = "[download.later]\nat = 'b'\ncontent = 'files'\nstart = '10 s'\n";
        let text = format!(
            "title = 't'\nduration = '20 s'\nuntil_done = true\n[defaults.node]\nforwarder = {{ content_store = {cached} }}\n\
             [defaults.link]\nrate = '20 Mbit/s'\n{row}{later}"
        );
        let run = place.run(&written(&text), |_| {});
        let value = |measure: &str| run.cases[0].values(&format!("network.{measure}"), "mean")[0];
        (value("data_hops"), value("cache_hits"))
    };
    let (without, with) = (of(0), of(1000));
    // `a` is two links away, and `b` one; with a store at `b` there is nothing left for it to fetch.
    assert!((without.0 - 1.5).abs() < 0.02 && without.1 < 1.0, "{without:?}");
    assert!((with.0 - 1.0).abs() < 0.02 && with.1 > 10.0, "{with:?}");
}

/// Eight nodes on one link of 10 Mbit/s, each of which loses frames of its own, fetch 1 MB.
const SHARED: &str = "title = 't'\nduration = '60 s'\nuntil_done = true\n[node]\nserver = {}\na = {}\nb = {}\n\
    c = {}\nd = {}\ne = {}\nf = {}\ng = {}\nh = {}\n[link]\n\
    lan = { between = ['server', 'clients'], rate = '10 Mbit/s', loss = '0.5 %', SHARE }\n\
    [group.clients]\nnodes = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']\nset = {}\n\
    [[route]]\nprefix = '/lab'\npath = ['clients', 'server']\n\
    [content.file]\nprefix = '/lab'\nat = 'server'\nsize = '1 MB'\nsegment = '1200 B'\n\
    [download.files]\nat = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']\ncontent = 'file'\n";

#[test]
fn eight_nodes_on_one_link_that_share_fetch_a_file_with_fewer_packets_and_in_less_time() {
    let place = RunsFolder::new("one-link");
    let of = |share: &str| {
        let run = place.run(&written(&SHARED.replace("SHARE", share)), |_| {});
        let case = &run.cases[0];
        assert_eq!(case.values("files.duration", "count"), [8.0], "{share}");
        let took = case.values("files.duration", "max")[0];
        (case.counts[0].hops, took)
    };
    let (together, apart) = (of("share = true"), of("share = false"));
    assert!(together.0 * 3 < apart.0 * 2, "{together:?} {apart:?}");
    assert!(together.1 < apart.1, "{together:?} {apart:?}");
}

#[test]
fn a_failing_link_is_judged_like_any_experiment() {
    let place = RunsFolder::new("judged");
    let run = place.run(&shipped("link-failure"), |_| {});
    let list = verdicts(&run);
    assert_eq!(list.len(), 2);
    assert!(list.iter().all(|verdict| verdict.outcome == Outcome::Confirmed));
    let page = fs::read_to_string(write_report(&run.folder).unwrap()).unwrap();
    assert!(page.contains("reader") && page.contains("answers for /data"));
}

const DRAWN: &str = r#"
title = "Drawn"
duration = "2 s"
repeats = 3
routes = "all"
[topology]
kind = "waxman"
nodes = 12
[defaults.link]
rate = "10 Mbps"
[defaults.node.forwarder]
eviction = "lru"
[group.slow]
nodes = { random = 3 }
set = { cpu = "20 %" }
[producer.p]
at = { random = 2 }
prefix = "/data"
[consumer.c]
kind = "window"
at = { random = 4 }
prefix = "/data"
window = 8
[trace]
sample = "500 ms"
packets = true
one_in = 10
"#;

fn drawn() -> Experiment {
    written(DRAWN)
}

#[test]
fn results_are_the_same_with_any_number_of_workers() {
    let place = RunsFolder::new("workers");
    let run = |workers| place.run(&drawn(), |options| options.workers = Some(workers));
    let (one, three) = (run(1), run(3));
    assert_eq!(hashes(&one), hashes(&three));
    assert_eq!(one.cases[0].results, three.cases[0].results);
}

#[test]
fn each_repeat_draws_a_network_of_its_own_from_its_seed() {
    let place = RunsFolder::new("drawn");
    let all = place.run(&drawn(), |_| {});
    let hashes_of_all = hashes(&all);
    assert_ne!(hashes_of_all[0], hashes_of_all[1]);
    let second = place.run(&drawn(), |options| (options.seed, options.repeats) = (Some(2), Some(1)));
    assert_eq!(hashes(&second), hashes_of_all[1..2]);
    // What is derived again is derived with the network that was drawn.
    let before = all.cases[0].results.clone();
    derive_anew(&all.folder).unwrap();
    assert_eq!(RunData::read(&all.folder).unwrap().cases[0].results, before);
}

#[test]
fn traces_are_thinned_as_asked_and_the_counts_of_nodes_are_not() {
    let place = RunsFolder::new("thin");
    let thin = drawn();
    let all = written(&thin.text.replace("one_in = 10", ""));
    let once = |options: &mut Options| options.repeats = Some(1);
    let (thin, all) = (place.run(&thin, once), place.run(&all, once));
    let lines = |run: &RunData| {
        let trace = run.folder.repeat(0, 0).join("trace/packets.csv");
        fs::read_to_string(trace).unwrap().lines().count() - 1
    };
    assert_eq!(lines(&thin), lines(&all).div_ceil(10));
    assert_eq!(lines(&all) as u64, all.cases[0].counts[0].hops);
    // They are of other plans, which say how traces are thinned.
    let of_no_plan = |run: &RunData| {
        let results = run.cases[0].results.iter().cloned();
        results.map(|result| RepeatResult { origin: None, ..result }).collect::<Vec<_>>()
    };
    assert_eq!(of_no_plan(&thin), of_no_plan(&all));
}

#[test]
fn a_network_of_a_file_is_kept_with_the_run() {
    let place = RunsFolder::new("file");
    let map = "node = [{ name = 'a' }, { name = 'b' }]\nlink = [{ from = 'a', to = 'b', rate = '1 Mbps' }]\n";
    fs::create_dir_all(place.0.join("maps")).unwrap();
    fs::write(place.0.join("maps/two.toml"), map).unwrap();
    let text = "title = 't'\nduration = '1 s'\nroutes = 'shortest'\n\
                topology = { kind = 'named', file = 'maps/two.toml' }\n\
                [ping.p]\nat = 'a'\nto = 'b'\nprefix = '/p'\nstart = '0 s'\nlifetime = '200 ms'\n[[expect]]\nsay = 'All come'\n\
                value = 'p.loss'\nat_most = 0\n";
    let experiment = Experiment::parse_in(Some(&place.0), "t", "t.toml", text).unwrap();
    assert!(
        experiment.can_run_on("netns").is_ok(),
        "a network of a file is nothing that real forwarders lack"
    );
    let run = place.run(&experiment, |_| {});
    fs::remove_dir_all(place.0.join("maps")).unwrap();
    let again = RunData::read(&run.folder).unwrap();
    assert_eq!(again.cases[0].plan.links.as_slice()[0].rate_bps, Some(1_000_000));
    assert_eq!(verdicts(&again)[0].outcome, Outcome::Confirmed);
}

#[test]
fn mistakes_are_told_with_their_lines() {
    const LINE: &str = "title = 't'\nduration = '1 s'\nroutes = 'shortest'\n\
        topology = { kind = 'chain', nodes = 2 }\n[producer.p]\nat = 'node-1'\nprefix = '/p'\n\
        [consumer.c]\nkind = 'window'\nat = 'node-0'\nprefix = '/p'\nwindow = 3\n\
        [[event]]\nat = '0.5 s'\naction = 'link-down'\nlink = 'node-0-node-1'\n";
    assert!(Experiment::parse("t", "t.toml", LINE).is_ok());
    for (from, to, line, said) in [
        ("'node-1'", "'node-7'", 6, "there is no node called `node-7`"),
        ("window = 3", "", 8, "needs `window`"),
        ("window = 3", "window = 3\nrate = '5/s'", 13, "has no `rate`"),
        ("kind = 'window'", "kind = 'wndow'", 9, "did you mean `window`?"),
        ("link = 'node-0-node-1'", "link = 'node-1-node-0'", 16, "no link called"),
        ("'link-down'", "'restart'", 13, "restart needs `node`"),
        ("'0.5 s'", "'5 s'", 14, "after the experiment has ended"),
        ("routes = 'shortest'", "routes = 'short'", 3, "known are: static, shortest, all"),
        ("window = 3", "window = 3\n[[capture]]\nlink = 'x'", 14, "no link called `x`"),
        ("window = 3", "window = 3\n[link.node-0-node-1]\nreliable = true", 14, "only links with frames"),
        (
            "window = 3",
            "window = 3\n[consumer.d]\nkind = 'transfer'\nat = 'all'\nprefix = '/p'\ncontroller = 'cubik'",
            17,
            "did you mean `cubic`?",
        ),
    ] {
        let wrong = Experiment::parse("t", "t.toml", &LINE.replace(from, to)).unwrap_err().to_string();
        assert!(wrong.starts_with(&format!("t.toml:{line}: ")) && wrong.contains(said), "{to}: {wrong}");
    }
}

#[test]
fn real_forwarders_refuse_what_they_lack_with_line_and_reason() {
    let text = "title = 't'\nduration = '1 s'\n[node]\na = {}\nb = {}\n[link]\na-b = { jitter = '1 ms' }\n\
                [[case]]\nname = 'plain'\n[[case]]\nname = 'marked'\n\
                set = { 'link.a-b.mark_above' = '9 kB' }\n";
    let experiment = written(text);
    assert!(experiment.can_run_on("sim").is_ok());
    for backend in ["netns", "hosts"] {
        let lacks = experiment.can_run_on(backend).unwrap_err().to_string();
        assert!(lacks.contains("t.toml:7: link.a-b.jitter: only in virtual time: "), "{lacks}");
        assert!(lacks.contains("t.toml:12: link.a-b.mark_above: only in virtual time: "), "{lacks}");
        let place = RunsFolder::new(backend);
        let refused =
            execute(&experiment, &Options { backend: backend.to_owned(), ..options(&place.0) }, |_| {});
        assert!(refused.is_err());
        assert_eq!(fs::read_dir(&place.0).unwrap().count(), 0, "nothing is begun");
    }
}

#[test]
fn routes_that_change_are_followed_and_a_forwarder_that_restarts_has_those_of_its_begin() {
    // A consumer that asks ten times a second; its only route is by b.
    const TEXT: &str = "title = 't'\nduration = '9 s'\n[gates]\nunfinished = '100 %'\n[node]\na = {}\nb = {}\n\
        c = {}\nd = {}\n[link]\na-b = {}\nb-d = {}\na-c = {}\nc-d = {}\n\
        [[route]]\nprefix = '/d'\npath = ['a', 'b', 'd']\n[[route]]\nprefix = '/d'\npath = ['c', 'd']\n\
        [content.items]\nprefix = '/d'\nat = 'd'\nsize = '1 MB'\nsegment = '1000 B'\n\
        [traffic.reader]\nat = 'a'\ncontent = 'items'\nrate = '10/s'\npattern = 'sequential'\nlifetime = '100 ms'\nstart = '0 s'\n";
    const REMOVE: &str = "[[event]]\nat = '3.05 s'\naction = 'route-remove'\nnode = 'a'\nprefix = '/d'\n\
        towards = 'b'\n";
    const ADD: &str =
        "[[event]]\nat = '6.05 s'\naction = 'route-add'\nnode = 'a'\nprefix = '/d'\ntowards = 'c'\n";
    const RESTART: &str = "[[event]]\nat = '7.05 s'\naction = 'restart'\nnode = 'a'\n";
    let place = RunsFolder::new("routes");
    let through = |events: &[&str]| {
        let run = place.run(&written(&format!("{TEXT}{}", events.concat())), |_| {});
        let values = &run.cases[0].results[0].values;
        [values["b.in_data"].sum, values["c.in_data"].sum]
    };
    let near = |found: [f64; 2], expected: [f64; 2]| {
        let is_near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() <= 5.0);
        assert!(is_near, "{found:?}, not {expected:?}");
    };
    near(through(&[]), [90.0, 0.0]);
    near(through(&[REMOVE]), [30.0, 0.0]);
    near(through(&[REMOVE, ADD]), [30.0, 30.0]);
    // At first by b, then by nobody, then by c, and from 7 s on by b again.
    near(through(&[REMOVE, ADD, RESTART]), [50.0, 10.0]);
}

/// A download over one link on which a Data takes 1 ms and a round trip 100 ms.
fn occupancy(sample_every: &str) -> String {
    format!(
        "title = 't'
duration = '20 s'
until_done = true
sample_every = '{sample_every}'
[node]
a = {{}}
b = {{}}
[link]
a-b = {{ rate = '50 Mbit/s', delay = '5 ms' }}
[[route]]
prefix = '/lab'
path = ['a', 'b']
[content.files]
prefix = '/lab/file'
at = 'b'
count = 10
size = '1 MB'
[download.files]
at = 'a'
content = 'files'
rate = '3/s'
"
    )
}

#[test]
fn the_mean_of_pending_in_virtual_time_does_not_depend_on_how_often_one_looks() {
    let place = RunsFolder::new("occupancy");
    let mean = |every: &str| {
        let run = place.run(&written(&occupancy(every)), |_| {});
        let values = &run.cases[0].results[0].values;
        (values["a.pending"].mean, values["a.cached"].mean)
    };
    let (often, seldom, never) = (mean("50 ms"), mean("500 ms"), mean("2 s"));
    assert!(often.0 > 0.5, "something is pending: {often:?}");
    for (pending, cached) in [seldom, never] {
        assert!((pending / often.0 - 1.0).abs() < 1e-6, "{pending} and {}", often.0);
        assert!((cached / often.1 - 1.0).abs() < 1e-6, "{cached} and {}", often.1);
    }
}

#[test]
fn neither_the_most_pending_nor_what_was_sent_depends_on_how_often_one_looks() {
    let place = RunsFolder::new("looks");
    let found = |every: &str| {
        let run = place.run(&written(&occupancy(every)), |_| {});
        let values = &run.cases[0].results[0].values;
        let sums = ["propagated.sum", "propagated.mean", "out_interests.sum", "in_data.sum"].map(|measure| {
            let (key, summary) = measure.split_once('.').unwrap();
            values[&format!("a.{key}")].named(summary).unwrap()
        });
        (values["a.pending"].max, sums)
    };
    let (often, seldom, never) = (found("20 ms"), found("500 ms"), found("2 s"));
    // Ten files of 245 segments; some Interests are sent again, and rates count what counters do.
    let [propagated, _, sent, received] = often.1;
    assert!((propagated - sent).abs() < 3.0 && received == 2450.0, "{often:?}");
    for other in [seldom, never] {
        assert_eq!(other.0, often.0);
        for (one, two) in other.1.iter().zip(&often.1) {
            assert!((one / two - 1.0).abs() < 0.002, "{other:?} and {often:?}");
        }
    }
}

/// Two clients that ask for the same files one after the other, and a flood that nobody answers.
const BY_PREFIX: &str = "title = 't'
duration = '12 s'
[measure]
prefixes = ['/lab/file', '/lab/file/1', '/void']
[node]
a = {}
b = {}
[link]
a-b = { rate = '50 Mbit/s', delay = '2 ms' }
[[route]]
prefix = '/lab'
path = ['a', 'b']
[[route]]
prefix = '/void'
path = ['a', 'b']
[content.files]
prefix = '/lab/file'
at = 'b'
count = 2
size = '40 kB'
[download.first]
at = 'a'
content = 'files'
[download.second]
at = 'a'
content = 'files'
start = '5 s'
[flood.f]
at = 'a'
prefix = '/void'
burst = 7
until = 7
lifetime = '1 s'
";

#[test]
fn interests_are_counted_by_prefix_and_each_is_satisfied_refused_or_timed_out() {
    let place = RunsFolder::new("by-prefix");
    let run = place.run(&written(BY_PREFIX), |_| {});
    let found = &run.cases[0].results[0].prefixes;
    let of = |prefix: &str| found.iter().find(|counts| counts.prefix == prefix).unwrap();
    // Ten segments of 4 KiB a file, of which the second download finds all in the store.
    let (all, one, void) = (of("/lab/file"), of("/lab/file/1"), of("/void"));
    assert_eq!((all.asked, all.satisfied, all.timed_out, all.hits), (40, 40, 0, Some(20)), "{all:?}");
    assert_eq!((one.asked, one.satisfied, one.hits), (20, 20, Some(10)), "{one:?}");
    assert_eq!((void.asked, void.satisfied), (7, 0), "{void:?}");
    assert_eq!(void.refused + void.timed_out, 7, "{void:?}");
    let values = &run.cases[0].results[0].values;
    assert_eq!(values["/lab/file.hits"].mean, 20.0);
}

#[test]
fn a_prefix_that_no_traffic_uses_is_refused() {
    let check = |prefixes: &str| {
        let text = BY_PREFIX.replace("['/lab/file', '/lab/file/1', '/void']", prefixes);
        Experiment::parse("t", "t.toml", &text).map(drop).map_err(|wrong| wrong.to_string())
    };
    check("['/', '/lab', '/void/x']").unwrap();
    for (prefixes, why) in [
        ("['/other']", "no traffic uses `/other`"),
        ("['/lab/file/2']", "no traffic uses `/lab/file/2`"),
        ("['/lab/file/x']", "no traffic uses `/lab/file/x`"),
        ("['lab']", "is not a name"),
        ("['/lab', '/lab/']", "`/lab` stands there twice"),
    ] {
        let wrong = check(prefixes).unwrap_err();
        assert!(wrong.contains(why), "{prefixes}: {wrong}");
    }
}

#[test]
fn a_link_of_ndnlp_v1_keeps_the_pace_of_the_daemons() {
    let place = RunsFolder::new("pace");
    let of = |kind: &str| {
        let text = format!(
            "title = 't'\nduration = '5 s'\nuntil_done = true\ndialect = 'ccnx'\n[defaults.node]\n\
             service_time = '10 ns'\n[node]\na = {{}}\nb = {{}}\n[link]\na-b = {{ kind = '{kind}' }}\n\
             [[route]]\nprefix = '/f'\npath = ['a', 'b']\n[content.f]\nprefix = '/f/file'\nat = 'b'\n\
             size = '200 kB'\nsegment = '1000 B'\n[download.f]\nat = 'a'\ncontent = 'f'\ncontroller = 'fixed'\n\
             window = 200\n"
        );
        place.run(&written(&text), |_| {}).cases[0].estimate("f.duration", "mean").unwrap().mean
    };
    // After 64 packets at once the others of 200 leave at 12,500 a second, on a link that takes no time.
    let (paced, bare) = (of("ether"), of("udp"));
    assert!(bare < 0.002, "{bare} s");
    assert!((0.0108..0.014).contains(&paced), "{paced} s");
}

#[test]
fn a_batch_that_is_not_answered_is_work_that_was_left() {
    let folder = RunsFolder::new("batch-left");
    let finishes = |count: u32| {
        let run = folder.run(
            &written(&format!(
                "title = 't'\nduration = '5 s'\n[node]\na = {{}}\nb = {{}}\n[link]\na-b = {{ rate = '1 Mbit/s', delay = '1 ms' }}\n\
                 [[route]]\nprefix = '/p'\npath = ['a', 'b']\n[producer.x]\nat = 'b'\nprefix = '/p'\n\
                 [consumer.q]\nkind = 'batch'\nbatch = [{{ at = '1 s', count = {count} }}]\nat = 'a'\nprefix = '/p'\n"
            )),
            |_| {},
        );
        let result = &run.cases[0].results[0];
        (result.is_unfinished(), result.is_valid())
    };
    assert_eq!(finishes(5000), (true, false), "most of them stay unanswered");
    assert_eq!(finishes(20), (false, true), "all of them are answered");
}

#[test]
fn what_begins_with_a_window_is_in_it_and_what_begins_at_its_end_is_in_the_next_one() {
    let folder = RunsFolder::new("half-open");
    let started = |from: &str, until: &str| {
        let run = folder.run(
            &written(&format!(
                "title = 't'\nduration = '10 s'\n[measure]\nfrom = '{from}'\nuntil = '{until}'\n[node]\na = {{}}\nb = {{}}\n\
                 [link]\na-b = {{ rate = '10 Mbit/s', delay = '0 ms' }}\n[[route]]\nprefix = '/p'\npath = ['a', 'b']\n\
                 [ping.q]\nat = 'a'\nto = 'b'\nprefix = '/p/q'\nevery = '500 ms'\nstart = '1 s'\ncount = 10\n"
            )),
            |_| {},
        );
        ["q.started", "a.in_interests"].map(|key| run.cases[0].values(key, "mean")[0])
    };
    assert_eq!(started("1 s", "2 s"), [2.0, 2.0], "a workload counts as its node does");
    assert_eq!(started("2 s", "3 s"), [2.0, 2.0]);
    assert_eq!(started("1 s", "3 s"), [4.0, 4.0], "two windows side by side make one");
    assert_eq!(started("0 s", "1 s"), [0.0, 0.0]);
}

#[test]
fn cases_that_only_one_of_two_runs_has_are_named_before_anything_else() {
    let folder = RunsFolder::new("alone");
    let run = |values: &str| {
        folder.run(
            &written(&format!(
                "title = 't'\nduration = '20 s'\nuntil_done = true\n[defaults.link]\nrate = '5 Mbit/s'\n{}\n\
                 [[sweep]]\nkey = 'defaults.link.rate'\nvalues = [{values}]\n",
                ROW
            )),
            |_| {},
        )
    };
    let summary = |one: &str, other: &str| Comparison::of(run(one), run(other)).summary();
    let told = summary("'10 Mbit/s', '20 Mbit/s'", "'15 Mbit/s', '20 Mbit/s', '30 Mbit/s'");
    assert_eq!(told[0], "Only in A, and not compared: 1 of 2 cases: rate 10 Mbit/s.");
    assert_eq!(told[1], "Only in B, and not compared: 2 of 3 cases: rate 15 Mbit/s; rate 30 Mbit/s.");
    let same = summary("'10 Mbit/s', '20 Mbit/s'", "'20 Mbit/s', '10 Mbit/s'");
    assert!(same.iter().all(|line| !line.contains("Only in")), "{same:?}");
}

#[test]
fn plans_of_two_runs_are_held_against_each_other_by_names_and_not_by_numbers() {
    let folder = RunsFolder::new("by-names");
    let run = |row: &str| {
        let text = format!(
            "title = 't'\nduration = '20 s'\nuntil_done = true\n[defaults.link]\nrate = '5 Mbit/s'\n{row}\n"
        );
        folder.run(&written(&text), |_| {})
    };
    let row = ROW;
    let renamed = row.replace("c = {}", "z = {}").replace("b-c", "b-z").replace("\"c\"", "\"z\"");
    let told = Comparison::of(run(row), run(&renamed)).summary().join("\n");
    assert!(told.contains("nodes: only in A: c; nodes: only in B: z"), "{told}");
    assert!(told.contains("contents.files.at: \"c\" / \"z\""), "{told}");
    // A node before all others gives each of them another number, and does nothing else to them.
    let more = row.replace("[node]\n", "[node]\na0 = {}\n").replace("[link]\n", "[link]\na-a0 = {}\n");
    let told = Comparison::of(run(row), run(&more)).summary().join("\n");
    assert!(told.contains("nodes: only in B: a0"), "{told}");
    assert!(!told.contains(".at: ") && !told.contains(".between."), "{told}");
}

#[test]
fn packets_that_check_takes_for_certain_pass_where_links_lose_and_stores_forget() {
    let folder = RunsFolder::new("certain");
    // Two files of 25 segments each, which two clients fetch past one router.
    let text = |dialect: &str, link: &str, store: &str| {
        format!(
            "title = 't'\nduration = '60 s'\nuntil_done = true\nrepeats = 3\n{dialect}[defaults.link]\n\
             rate = '20 Mbit/s'\ndelay = '2 ms'\n{link}[node]\na = {{}}\nb = {{ {store} }}\nc = {{}}\nd = {{}}\n[link]\n\
             a-b = {{}}\nb-c = {{}}\nd-b = {{}}\n[[route]]\nprefix = '/f'\npath = ['a', 'b', 'c']\n[[route]]\n\
             prefix = '/f'\npath = ['d', 'b', 'c']\n[content.files]\nprefix = '/f'\nat = 'c'\ncount = 2\n\
             size = '100 kB'\n[download.files]\nat = 'a'\ncontent = 'files'\n[download.others]\nat = 'd'\n\
             content = 'files'\nstart = '50 ms'\n"
        )
    };
    let counters = ["in_interests", "out_interests", "in_data", "out_data"];
    let between = counters.map(|quantity| format!("b.{quantity}"));
    let ends = ["a.out_interests", "a.in_data", "c.in_interests", "c.out_data"].map(str::to_owned);
    for (dialect, link, store) in [
        ("", "loss = '3 %'\n", ""),
        ("", "loss = '3 %'\nframes = true\nreliable = true\n", "forwarder = { content_store = 0 }"),
        ("dialect = 'ccnx'\n", "loss = '3 %'\nduplicate = '3 %'\n", "forwarder = { content_store = 9 }"),
    ] {
        let run = folder.run(&written(&text(dialect, link, store)), |_| {});
        let case = &run.cases[0];
        let least = |key: &str, least: f64| {
            let values = case.values(key, "mean");
            assert_eq!(values.len(), 3, "{key} {dialect}{link}");
            assert!(values.iter().all(|value| *value >= least), "{key}: {values:?} {dialect}{link}");
        };
        between.iter().chain(&ends).for_each(|key| least(key, 50.0));
        least("network.hops", 100.0);
        ["a.satisfied", "b.answered", "c.answered"].into_iter().for_each(|key| least(key, f64::MIN_POSITIVE));
    }
}
