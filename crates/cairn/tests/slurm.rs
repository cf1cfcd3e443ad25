//! A sweep on a real Slurm: its controller and one machine's daemon, from the distribution's packages,
//! unpacked into a folder and run from there with a configuration that is made for the test.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

mod cluster;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use cluster::{Cluster, until};

/// Twelve cases of which each takes some time, and of which not all are as expected.
const SWEEP: &str = "title = 'Sweep'
duration = '10 s'
repeats = 2
sample_every = '5 s'
[node]
consumer = {}
producer = {}
[link]
consumer-producer = { rate = '10 Mbit/s', delay = '5 ms', loss = '1 %' }
[[route]]
prefix = '/p'
path = ['consumer', 'producer']
[ping.p]
at = 'consumer'
to = 'producer'
prefix = '/p'
every = '2 ms'
count = 4000
start = '0 s'
[[expect]]
say = 'Every link is fast'
value = 'p.rtt.median'
at_most = 0.02
by_construction = 'The link has this delay: link.consumer-producer.delay'
[[sweep]]
key = 'link.consumer-producer.delay'
from = 1
to = 12
step = 1
unit = ' ms'
";

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn lab(cluster: &Cluster, words: &[&str]) -> Command {
    let mut command = cluster.command(env!("CARGO_BIN_EXE_cairn"));
    command.arg("lab").args(words).current_dir(&cluster.folder);
    command
}

fn table(run: &Path) -> String {
    fs::read_to_string(run.join("results.csv")).unwrap()
}

#[test]
fn a_sweep_on_slurm_whose_task_was_killed_goes_on_and_comes_back_as_the_table_of_a_run_here() {
    let Some(cluster) = Cluster::start("sweep") else { return };
    fs::write(cluster.folder.join("sweep.toml"), SWEEP).unwrap();
    let local = lab(&cluster, &["run", "sweep.toml", "--on", "sim", "--out", "here"]).output().unwrap();
    assert_eq!(local.status.code(), Some(3), "not every link is fast: {}", said(&local));

    // A shell must not read what is in the folder's name.
    let name = "it's $HOME; on %a \"the cluster\"";
    let run = cluster.folder.join(name);
    let words = ["run", "sweep.toml", "--on", "slurm", "--shards", "3", "--no-wait", "--out", name];
    let submitted = lab(&cluster, &words).output().unwrap();
    assert!(submitted.status.success(), "{}", said(&submitted));
    assert!(said(&submitted).contains("3 of 3 parts submitted"), "{}", said(&submitted));

    // One task after the other has the machine. The second is killed when its first repeat is done.
    until("the first repeat of part 2", || run.join("part-2/case-01/repeat-01/result.json").is_file());
    cluster.must("scancel", &["--signal=KILL", &format!("{}_2", cluster.last_job())]);
    until("the end of the job", || cluster.must("squeue", &["--noheader"]).trim().is_empty());
    let is_complete = |part: &str| {
        fs::read_to_string(run.join(part).join("run.json")).unwrap().contains("\"complete\": true")
    };
    assert!(is_complete("part-1") && !is_complete("part-2") && is_complete("part-3"));

    let resumed = lab(&cluster, &["resume", name]).output().unwrap();
    assert_eq!(resumed.status.code(), Some(3), "as the run here: {}", said(&resumed));
    assert!(said(&resumed).contains("1 of 3 parts submitted"), "{}", said(&resumed));
    assert_eq!(table(&run), table(&cluster.folder.join("here")));
    assert!(!run.join("part-2").exists() && run.join("report.html").is_file());
}

#[test]
fn a_sweep_is_waited_for_and_tells_of_parts_that_failed() {
    let Some(cluster) = Cluster::start("wait") else { return };
    let short = SWEEP.replace("count = 4000", "count = 20").replace("'10 s'", "'1 s'");
    fs::write(cluster.folder.join("sweep.toml"), &short).unwrap();
    let words = ["sweep", "sweep.toml", "--key", "seed", "--values", "7,8", "--on", "slurm", "--out", "run"];
    let options = ["--shards", "2", "--slurm-option=--comment=two words", "--no-controls"];
    let done = lab(&cluster, &[&words[..], &options].concat()).output().unwrap();
    assert!(said(&done).contains("all 2 parts are complete"), "{}", said(&done));
    let cases = table(&cluster.folder.join("run")).lines().count();
    assert!(cases > 24, "{cases}");
    // A partition that there is not is Slurm's word.
    let wrong = lab(&cluster, &["run", "sweep.toml", "--on", "slurm", "--slurm-option=--partition=none"]);
    let wrong = { wrong }.output().unwrap();
    assert_eq!(wrong.status.code(), Some(1));
    assert!(said(&wrong).contains("sbatch: ") && said(&wrong).contains("partition"), "{}", said(&wrong));
    // A folder that the task cannot use: its last words are told, and that one can go on.
    let words = ["run", "sweep.toml", "--on", "slurm", "--shards", "2", "--no-wait", "--out", "bad"];
    let held = lab(&cluster, &[&words[..], &["--slurm-option=--hold"]].concat()).output().unwrap();
    assert!(held.status.success(), "{}", said(&held));
    let experiment = cluster.folder.join("bad/experiment.toml");
    fs::write(&experiment, "title = 5").unwrap();
    cluster.must("scontrol", &["release", &cluster.last_job()]);
    until("the end of the job", || cluster.must("squeue", &["--noheader"]).trim().is_empty());
    fs::write(&experiment, &short).unwrap();
    let told = fs::read_to_string(cluster.folder.join("bad/part-1.txt")).unwrap();
    assert!(told.contains("experiment.toml"), "{told}");
    // The job keeps its options, so it waits again until somebody releases it.
    let before = cluster.last_job();
    let again = lab(&cluster, &["resume", "bad"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    until("the new job", || cluster.last_job() != before);
    cluster.must("scontrol", &["release", &cluster.last_job()]);
    let again = again.unwrap().wait_with_output().unwrap();
    assert!(said(&again).contains("2 of 2 parts submitted"), "{}", said(&again));
    let cases = table(&cluster.folder.join("bad")).lines().count();
    assert!(cases > 12, "{cases}");
}
