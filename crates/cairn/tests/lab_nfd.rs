//! NFD as the forwarder of an experiment, by a program in its place that reads the configuration which the
//! lab writes for it and speaks its management protocol: Cairn's own daemon.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use testkit::folder::TestFolder;
use testkit::needs::namespaces;

/// Reads socket, port and store of `nfd --config FILE`, and is a forwarder with them.
const STAND_IN: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "a stand-in for NFD"; exit; fi
[ "$1" = --config ] || exit 2
said() { sed -n "s/^ *$1 //p" "$2" | head -n 1 | tr -d '"'; }
cat > "$HOME/stand-in.toml" <<END
[unix]
listen = ["$(said path "$2")"]
[websocket]
listen = []
[udp]
listen = ["0.0.0.0:$(said port "$2")"]
[tcp]
listen = ["0.0.0.0:$(said port "$2")"]
[content_store]
max_entries = $(said cs_max_packets "$2")
END
exec CAIRN node run --config "$HOME/stand-in.toml"
"#;

const TEXT: &str = "title = 'NFD'\nduration = '6 s'\nsoftware = 'nfd'\n[gates]\nunfinished = '100 %'\n\
    invalid_samples = '50 %'\nsteal = '100 %'\nwaited = '100 %'\nforwarder_standstill = '6 s'\n\
    client_standstill = '6 s'\n[node]\na = {}\nb = { forwarder = { content_store = 7 } }\nc = {}\n\
    [link]\na-b = {}\nb-c = {}\n[[route]]\nprefix = '/t'\npath = ['a', 'b', 'c']\n\
    [content.items]\nprefix = '/t/item'\nat = 'c'\nsize = '4 MB'\nsegment = '1000 B'\n\
    [traffic.reader]\nat = 'a'\ncontent = 'items'\nrate = '100/s'\npattern = 'sequential'\nlifetime = '1 s'\n\
    [[event]]\nat = '4 s'\naction = 'route-remove'\nnode = 'b'\nprefix = '/t'\ntowards = 'c'\n\
    [[expect]]\nsay = 'Some is lost'\nvalue = 'reader.unfinished'\nat_least = 100\n";

#[test]
fn nodes_of_nfd_are_started_routed_counted_and_lose_a_route_as_the_experiment_says() {
    if namespaces().is_none() {
        return;
    }
    let mut folder = TestFolder::new("lab-nfd");
    folder.0 = folder.canonicalize().unwrap();
    fs::write(folder.join("nfd.toml"), TEXT).unwrap();
    let lab = |program: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command.args(["lab", "run", "nfd.toml", "--on", "netns", "--out", "r"]).current_dir(&*folder);
        command.env("CAIRN_NFD", folder.join(program)).output().unwrap()
    };
    fs::write(folder.join("nfd"), STAND_IN.replace("CAIRN", env!("CARGO_BIN_EXE_cairn"))).unwrap();
    fs::set_permissions(folder.join("nfd"), fs::Permissions::from_mode(0o755)).unwrap();
    let output = lab("nfd");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(err.contains("  valid"), "{out}\n{err}");
    let result = fs::read(folder.join("r/case-01/repeat-01/result.json")).unwrap();
    let result: serde_json::Value = serde_json::from_slice(&result).unwrap();
    let of = |key: &str, summary: &str| result["values"][key][summary].as_f64().unwrap_or(f64::NAN);
    // Four of six seconds there is a way, and the middle node has a store of seven packets.
    assert!((100.0..=320.0).contains(&of("reader.unfinished", "mean")), "{result}");
    assert!((200.0..=600.0).contains(&of("b.in_data", "sum")), "{result}");
    assert_eq!(of("b.cached", "max"), 7.0, "{result}");
}

#[test]
fn where_nfd_is_not_installed_the_lab_says_what_is_missing() {
    if namespaces().is_none() {
        return;
    }
    let mut folder = TestFolder::new("lab-no-nfd");
    folder.0 = folder.canonicalize().unwrap();
    fs::write(folder.join("nfd.toml"), TEXT).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
    command.args(["lab", "run", "nfd.toml", "--on", "netns", "--out", "r"]).current_dir(&*folder);
    let output = command.env("PATH", "/nowhere").env_remove("CAIRN_NFD").output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("cannot find the program `nfd`; install its package `nfd`"), "{err}");
}
