//! HTTP servers and proxies in the lab, real ones: from the distribution's packages, installed or unpacked.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

use std::path::Path;
use std::process::Command;

use testkit::folder::TestFolder;
use testkit::needs::{namespaces, needed};

/// Where `cargo xtask ci` unpacks servers when the system has none.
const UNPACKED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-tools/http");

const NETWORK: &str = r#"
title = "Small"
duration = "60 s"
until_done = true
[probe]
capture = false
[gates]
waited = "100 %"
[defaults.link]
rate = "100 Mbit/s"
queue = 1000
[node]
server = {}
top = {}
sw = { switch = true }
c1 = {}
c2 = {}
[link]
sw-server = {}
sw-top = {}
sw-c1 = {}
sw-c2 = {}
[group.clients]
nodes = ["c1", "c2"]
set = {}
[[route]]
prefix = "/lab"
path = ["clients", "top", "server"]
[content.file]
prefix = "/lab"
at = "server"
size = "2 MB"
[download.files]
at = ["c1", "c2"]
client = "wget"
from = ["top"]
content = "file"
count = 2
[[case]]
name = "Squid"
set = { software = "none", "node.server.server" = { software = "lighttpd" }, "node.top.server" = { software = "squid", setting = "tuned", upstream = "server" } }
[[case]]
name = "gateway"
set = { "node.server.server" = { software = "lighttpd" }, "node.top.server" = { software = "cairn-gateway", upstream = "server" } }
[[case]]
name = "Cairn"
set = { "node.server.server" = { software = "cairn", setting = "tuned" }, "download.files.client" = "cairn", "download.files.from" = [] }
"#;

fn folder(name: &str) -> TestFolder {
    let folder = TestFolder::new(&format!("http-{name}"));
    std::fs::write(folder.join("small.toml"), NETWORK).unwrap();
    folder
}

/// Whether there are servers, which is a need like others.
fn servers() -> Option<()> {
    let is_there = |program: &str| {
        ["/usr/sbin", &format!("{UNPACKED}/usr/sbin")]
            .iter()
            .any(|place| Path::new(place).join(program).is_file())
    };
    let all = ["lighttpd", "squid"].iter().all(|program| is_there(program));
    let why = "they are not installed; `cargo xtask ci` unpacks them".to_owned();
    needed("lighttpd and squid", if all { Ok(()) } else { Err(why) })
}

fn lab(folder: &Path, tools: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
    command.args(["lab", "run", "small.toml", "--no-controls"]).current_dir(folder);
    command.env("CAIRN_LAB_TOOLS", tools);
    command
}

/// The sum of a measure in a case, from the table of all results.
fn measured(run: &Path, case: usize, key: &str) -> f64 {
    let text = std::fs::read_to_string(run.join(format!("case-{case:02}/repeat-01/result.json"))).unwrap();
    let result: serde_json::Value = serde_json::from_str(&text).unwrap();
    result["values"][key]["sum"].as_f64().unwrap_or(f64::NAN)
}

#[test]
fn wget_by_squid_and_by_gateways_and_named_data_bring_the_same_file_and_the_origin_sends_it_once() {
    if namespaces().is_none() || servers().is_none() {
        return;
    }
    let folder = folder("all");
    let output = lab(&folder, UNPACKED).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let run = std::fs::read_dir(folder.join("runs")).unwrap().next().unwrap().unwrap().path();
    for case in 1..=3 {
        let logs = std::fs::read_to_string(run.join(format!("case-{case:02}/repeat-01/raw/outcome.json")));
        assert_eq!(measured(&run, case, "files.finished"), 4.0, "case {case}: {out}\n{err}\n{logs:?}");
        let sent = measured(&run, case, "server.sent");
        assert!((2e6..3e6).contains(&sent), "case {case}: two clients, two times, and one file: {sent}");
        let received = measured(&run, case, "c1.received");
        // The second time named data comes from the client's own forwarder.
        let expected = if case == 3 { 2e6..3e6 } else { 4e6..5e6 };
        assert!(expected.contains(&received), "case {case}: {received}");
        assert!(
            measured(&run, case, "top.cpu") > 0.0,
            "case {case}: what serves at a node is its processor's load"
        );
    }
    assert_eq!(measured(&run, 1, "top.requests"), 4.0);
    // Who waits for what another has asked for is no hit in Squid's eyes.
    assert!(measured(&run, 1, "top.request_hits") >= 2.0, "{}", measured(&run, 1, "top.request_hits"));
}

#[test]
fn a_server_that_is_nowhere_is_told_with_its_package() {
    if namespaces().is_none() {
        return;
    }
    if Path::new("/usr/sbin/lighttpd").is_file() {
        eprintln!("not tried: lighttpd is installed here");
        return;
    }
    let folder = folder("nowhere");
    let output = lab(&folder, "/nowhere").output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && err.contains("install the package lighttpd"), "{err}");
}
