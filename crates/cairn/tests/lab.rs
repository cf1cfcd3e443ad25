//! Whole experiments at small size: on real forwarders and in virtual time, to the report; and what is left of one that is killed.
//!
//! Real forwarders need root or user namespaces; where there is neither, the tests say so and check nothing.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SMALL: &str = r#"
title = "Small"
duration = "20 s"
until_done = true

[node]
a = {}
b = {}
c = {}

[defaults.link]
rate = "20 Mbit/s"

[link]
a-b = {}
b-c = {}

[[route]]
prefix = "/small"
path = ["a", "b", "c"]

[content.files]
prefix = "/small/file"
at = "c"
count = 3
size = "100 kB"

[download.files]
at = "a"
content = "files"

[ping.probe]
at = "a"
to = "c"
prefix = "/small/ping"
count = 5

[[expect]]
say = "Every file arrives"
value = "files.unfinished"
at_most = 0

[[expect]]
say = "The middle forwards all"
value = "b.goodput.sum"
at_least = 300000
"#;

/// A folder of its own with the experiment in it.
fn folder(name: &str, text: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("cairn-lab-test-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("small.toml"), text).unwrap();
    folder
}

fn lab(folder: &Path, backend: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
    command.args(["lab", "run", "small.toml", "--on", backend]).current_dir(folder);
    command
}

/// Does this machine allow what real forwarders need?
fn has_namespaces() -> bool {
    let allowed = Command::new("unshare").args(["--net", "--pid", "--fork", "true"]).status();
    let yes = allowed.is_ok_and(|status| status.success());
    if !yes {
        eprintln!("not checked: this system allows no network namespaces here");
    }
    yes
}

fn runs_to_its_report(backend: &str) {
    let folder = folder(backend, SMALL);
    let output = lab(&folder, backend).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert_eq!(out.matches("met   ").count(), 2, "{out}");
    let run = std::fs::read_dir(folder.join("runs")).unwrap().next().unwrap().unwrap().path();
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("Expected and measured") && page.contains("<svg"));
    assert!(!page.contains("<script") && !page.contains("<link"), "the page needs nothing from elsewhere");
    for file in ["results.csv", "figures/topology.svg", "case-01/repeat-01/derived/traffic-b.csv"] {
        assert!(run.join(file).is_file(), "{file}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_small_experiment_in_virtual_time_ends_with_a_report() {
    runs_to_its_report("sim");
}

#[test]
fn the_same_experiment_on_real_forwarders_ends_with_a_report() {
    if has_namespaces() {
        runs_to_its_report("netns");
    }
}

/// Processes that name the folder in their command line.
fn processes_of(folder: &Path) -> Vec<String> {
    let wanted = folder.display().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(&wanted) {
            found.push(line);
        }
    }
    found
}

/// Control groups of a lab with this process.
fn groups_of(pid: u32) -> Vec<PathBuf> {
    let prefix = format!("cairn-lab-{pid}-");
    let roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/memory"];
    let entries = roots.iter().filter_map(|root| std::fs::read_dir(root).ok()).flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    ours.map(|entry| entry.path()).collect()
}

#[test]
fn a_lab_that_is_killed_leaves_no_process_and_no_control_group_behind() {
    if !has_namespaces() {
        return;
    }
    let text = SMALL.replace("until_done = true", "").replace("\"20 s\"", "\"120 s\"");
    let folder = folder("killed", &text).canonicalize().unwrap();
    let mut child = lab(&folder, "netns").stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let begun = lines.any(|line| line.is_ok_and(|line| line.contains("workloads")));
    assert!(begun, "the workloads never began");
    assert!(!processes_of(&folder).is_empty(), "forwarders and agents run");
    child.kill().unwrap();
    child.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let (processes, groups) = (processes_of(&folder), groups_of(child.id()));
        if processes.is_empty() && groups.is_empty() {
            break;
        }
        assert!(Instant::now() < deadline, "left behind: {processes:?} {groups:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
