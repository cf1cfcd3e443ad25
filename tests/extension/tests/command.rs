//! What a program adds to the command works wherever ours does: in the daemon, the simulator and experiments.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const EXTENDED: &str = env!("CARGO_BIN_EXE_extended");

/// A folder that goes at the end. Made by hand: who extends the command has the library `cairn` and nothing
/// else of ours.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("cairn-extension-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let uri = format!("unix://{}", self.0.join("nfd.sock").display());
        let mut command = Command::new(EXTENDED);
        command.args(arguments).current_dir(&self.0).env("NDN_CLIENT_TRANSPORT", uri);
        command.stdin(Stdio::null()).output().unwrap()
    }

    fn good(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {} {errors}", output.status);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What was started, and ends with the test.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(folder: &Folder, arguments: &[&str], is_ready: impl Fn() -> bool) -> Started {
    let uri = format!("unix://{}", folder.0.join("nfd.sock").display());
    let mut command = Command::new(EXTENDED);
    command.args(arguments).current_dir(&folder.0).env("NDN_CLIENT_TRANSPORT", uri).stdin(Stdio::null());
    let started = Started(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_ready() {
        assert!(Instant::now() < deadline, "{arguments:?} does not begin");
        std::thread::yield_now();
    }
    started
}

#[test]
fn a_daemon_forwards_by_them_and_a_tool_fetches_by_them() {
    let folder = Folder::new("daemon");
    let socket = folder.0.join("nfd.sock");
    folder.write(
        "node.toml",
        &format!(
            "[unix]\nlisten = [{socket:?}]\n[udp]\nlisten = []\n[tcp]\nlisten = []\n[websocket]\nlisten = []\n\
             [tables]\ndefault_strategy = \"turns\"\n[content_store]\neviction = \"oldest\"\n"
        ),
    );
    let listens = |path: &Path| UnixStream::connect(path).is_ok();
    let _node = start(&folder, &["node", "run", "-c", "node.toml"], || listens(&socket));
    folder.good(&["strategy", "set", "/lab", "turns/skip~0"]);
    assert!(folder.good(&["strategy", "list"]).contains("turns"), "the choice is listed");
    let unknown = folder.run(&["strategy", "set", "/lab", "turn"]);
    assert!(!unknown.status.success(), "{unknown:?}");

    let bytes: Vec<u8> = (0..200_000u32).map(|number| (number % 251) as u8).collect();
    std::fs::write(folder.0.join("file"), &bytes).unwrap();
    let is_served = || folder.run(&["peek", "--prefix", "/lab/file"]).status.success();
    let _publisher = start(&folder, &["put", "/lab/file", "-f", "file"], is_served);
    folder.good(&["get", "/lab/file", "-o", "copy", "--controller", "gentle/give~0.2"]);
    assert_eq!(std::fs::read(folder.0.join("copy")).unwrap(), bytes);
    let wrong = folder.run(&["get", "/lab/file", "--controller", "gentle/give~2"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("from 0 to 1"), "{wrong:?}");

    let _producer = start(&folder, &["traffic", "produce", "/load"], || {
        folder.run(&["peek", "--prefix", "/load/0"]).status.success()
    });
    let pages = "pages/objects~5/pause~0.01";
    let traffic = ["traffic", "consume", "/load/{item}", "--workload", pages, "--count", "35", "--json"];
    let told = folder.good(&traffic);
    assert!(told.contains("\"data\": 35"), "{told}");
    let unknown = folder.run(&["traffic", "consume", "/load/{item}", "--workload", "page"]);
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("zipf, live, pages"), "{unknown:?}");
}

#[test]
fn a_repository_evicts_by_the_policy_that_was_added() {
    let folder = Folder::new("repository");
    let trace: String =
        (0..50).map(|number| format!("{number},{},{}\n", number % 7, 1000 + number % 3)).collect();
    folder.write("trace", &trace);
    let told = folder.good(&["repo", "replay", "trace", "--max-bytes", "3000", "--json"]);
    assert!(told.contains("\"eviction\":\"largest\""), "all policies are compared: {told}");
    folder.write("node.toml", "[[repository]]\npath = \"r\"\nprefixes = [\"/\"]\neviction = \"largest\"\n");
    folder.good(&["node", "config", "node.toml"]);
    folder.write("none.toml", "[[repository]]\npath = \"r\"\nprefixes = [\"/\"]\neviction = \"larger\"\n");
    let refused = folder.run(&["node", "config", "none.toml"]);
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && errors.contains("larger") && errors.contains("largest"), "{errors}");
}

#[test]
fn the_simulator_runs_a_network_by_them() {
    let folder = Folder::new("network");
    let network = |eviction: &str| {
        format!(
            r#"
title = "Their own"
duration = "2 s"
routes = "shortest"
topology = {{ kind = "dumbbell", pairs = 1 }}
[defaults.link]
rate = "10 Mbps"
delay = "5 ms"
[defaults.node.forwarder]
strategy = "turns"
eviction = "{eviction}"
content_store = 20
[producer.data]
at = "right-0"
prefix = "/data"
[consumer.reader]
kind = "transfer"
at = "left-0"
prefix = "/data"
controller = "gentle"
[consumer.pages]
kind = "workload"
at = "left-0"
prefix = "/data"
workload = "pages/objects~3/pause~0.4"
"#
        )
    };
    folder.write("own.toml", &network("oldest"));
    let told = folder.good(&["sim", "run", "own.toml", "--json"]);
    assert!(told.contains("received"), "{told}");
    assert!(told.contains("\"kind\": \"workload\""), "{told}");
    folder.write("none.toml", &network("oldest").replace("pages/", "pagers/"));
    let refused = folder.run(&["sim", "run", "none.toml"]);
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert!(errors.contains("`pagers` is not known here") && errors.contains("pages"), "{errors}");
    folder.write("none.toml", &network("newest"));
    let refused = folder.run(&["sim", "run", "none.toml"]);
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert!(errors.contains("there is no policy newest") && errors.contains("oldest"), "{errors}");
}

#[test]
fn an_experiment_file_names_them_and_ends_with_a_report() {
    let folder = Folder::new("experiment");
    let experiment = r#"
title = "Of one's own"
duration = "20 s"
until_done = true
repeats = 5

[defaults.link]
rate = "20 Mbit/s"

[defaults.node.forwarder]
strategy = "turns"
eviction = "oldest"

[node]
a = {}
b = {}

[link]
a-b = {}

[[route]]
prefix = "/small"
path = ["a", "b"]

[content.files]
prefix = "/small/file"
at = "b"
count = 3
size = "100 kB"

[download.files]
at = "a"
content = "files"
controller = "gentle/give~0.25"

[traffic.reader]
at = "a"
content = "files"
workload = "pages/objects~8/pause~0.5"

[[expect]]
say = "A reader sees page after page"
value = "reader.started"
at_least = 100

[[expect]]
say = "Files arrive"
value = "files.finished"
at_least = 1
by_construction = "300 kB take a small part of the 20 s that they have: `duration`, `defaults.link.rate`"
"#;
    folder.write("own.toml", experiment);
    let told = folder.good(&["lab", "run", "own.toml", "--on", "sim"]);
    assert!(told.contains("confirmed"), "{told}");
    for (word, wrong) in [("gentle", "gentile"), ("pages", "pagers")] {
        folder.write("none.toml", &experiment.replace(word, wrong));
        let refused = folder.run(&["lab", "run", "none.toml", "--on", "sim"]);
        let errors = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && errors.contains(wrong), "{errors}");
    }
}
