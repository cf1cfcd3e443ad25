//! The backend `hosts`: the same experiment over SSH, on hosts made of network namespaces with a real SSH
//! server in each.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops where something is not as it must be"
)]

mod sshd;

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use sshd::Hosts;
use testkit::experiment::{ROW, ROW_EXPECT, ROW_PING};
use testkit::processes;

/// Three hosts in a row, three files, five pings.
fn small() -> String {
    format!(
        r#"
title = "Small, on hosts"
duration = "30 s"
until_done = true
probe = {{ psml = true }}
gates = {{ steal = "100 %" }}
[defaults.link]
rate = "20 Mbit/s"
delay = "10 ms"
{ROW}{ROW_PING}{ROW_EXPECT}
[[expect]]
say = "Each link adds its delay, in both directions, and nothing else much"
value = "probe.rtt.min"
at_most = 50
"#
    )
}

fn write(hosts: &Hosts, experiment: &str, copied: &[&str]) {
    std::fs::write(hosts.folder.join("small.toml"), experiment).unwrap();
    std::fs::write(hosts.folder.join("hosts.toml"), hosts.inventory(copied)).unwrap();
}

fn nothing_is_left(hosts: &Hosts) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let mut processes = processes::of(&hosts.folder);
        processes.retain(|line| !line.contains("sshd"));
        let files = hosts.left_behind();
        if processes.is_empty() && files.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "left behind: {processes:?} {files:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn an_experiment_on_hosts_ends_with_a_report_and_clocks_known_to_a_millisecond() {
    let Some(hosts) = Hosts::start("whole") else { return };
    // One host gets the program, the others have it.
    write(&hosts, &small(), &["b"]);
    let output = hosts.output(hosts.lab());
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // One run on real forwarders does not say how sure its numbers are, so nothing is confirmed by it.
    assert_eq!(output.status.code(), Some(4), "{out}\n{err}");
    assert_eq!(out.matches("  not testable here").count(), 3, "{out}");
    let run = std::fs::read_dir(hosts.folder.join("runs")).unwrap().next().unwrap().unwrap().path();
    for file in ["report.html", "hosts.toml", "case-01/repeat-01/derived/packets-b.psml.gz"] {
        assert!(run.join(file).is_file(), "{file}");
    }
    let result = std::fs::read(run.join("case-01/repeat-01/result.json")).unwrap();
    let result: Value = serde_json::from_slice(&result).unwrap();
    for node in ["a", "b", "c"] {
        let clock = &result["outcome"]["clocks"][node];
        // All hosts of the test have the clock of this machine.
        assert!(clock["offset_ns"].as_i64().unwrap().abs() < 1_000_000, "{node}: {clock}");
        assert!(clock["error_ns"].as_u64().unwrap() < 1_000_000, "{node}: {clock}");
        assert!(result["outcome"]["taps"][node]["frames"].as_u64().unwrap() > 0, "{node}");
    }
    let gates = result["gates"].as_array().unwrap();
    let gate =
        gates.iter().find(|gate| gate["name"].as_str().unwrap().contains("clocks of the hosts")).unwrap();
    assert_eq!(gate["passed"], true);
    nothing_is_left(&hosts);
}

/// Starts a run that lasts and waits until its workloads have begun.
fn begin(hosts: &Hosts) -> std::process::Child {
    write(hosts, &small().replace("until_done = true", "").replace("\"30 s\"", "\"120 s\""), &[]);
    let mut command = hosts.lab();
    command.stderr(Stdio::piped());
    let mut child = hosts.spawn(command);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.is_ok_and(|line| line.contains("workloads"))), "the workloads never began");
    std::thread::spawn(move || lines.for_each(drop));
    assert!(hosts.left_behind().len() >= 3, "each host works in a folder of its own");
    child
}

#[test]
fn hosts_are_clean_after_the_lab_is_killed() {
    let Some(hosts) = Hosts::start("killed") else { return };
    let mut child = begin(&hosts);
    child.kill().unwrap();
    child.wait().unwrap();
    nothing_is_left(&hosts);
}

#[test]
fn a_host_that_cannot_be_reached_ends_the_run_with_its_name() {
    let Some(hosts) = Hosts::start("absent") else { return };
    write(&hosts, &small(), &[]);
    let text = std::fs::read_to_string(hosts.folder.join("hosts.toml")).unwrap();
    let (before, after) = text.split_once("[host.b]").unwrap();
    let (line, rest) = after.trim_start().split_once('\n').unwrap();
    assert!(line.starts_with("ssh = "));
    std::fs::write(
        hosts.folder.join("hosts.toml"),
        format!("{before}[host.b]\nssh = \"root@192.0.2.1\"\n{rest}"),
    )
    .unwrap();
    let output = hosts.output(hosts.lab());
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && err.contains("host of `b` (root@192.0.2.1)"), "{err}");
    nothing_is_left(&hosts);
}

#[test]
fn a_host_whose_connection_breaks_during_a_run_ends_the_run_on_all() {
    let Some(mut hosts) = Hosts::start("broken") else { return };
    let mut child = begin(&hosts);
    hosts.fail(1);
    let status = child.wait().unwrap();
    assert!(!status.success(), "a run without one of its hosts is no run");
    // The server of the host notices that nobody is at the other end, and ends the remote's input.
    nothing_is_left(&hosts);
}
