//! Virtual time is held against real forwarders at small size: where the two agree it says so, and where they
//! are apart it says that.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

use std::process::{Command, Output};

use serde_json::Value;
use testkit::folder::TestFolder;
use testkit::needs::namespaces;

/// A folder with a profile and experiments of windows so wide over links of 4 Mbit/s and 20 ms; gone when the
/// test is.
struct Folder(TestFolder);

impl Folder {
    fn new(name: &str, windows: &[(&str, u32)], cost_us: f64) -> Self {
        let folder = Folder(TestFolder::new(name));
        folder.profile(cost_us);
        for (name, window) in windows {
            let text = format!(
                "title = '{name}'\nduration = '30 s'\nuntil_done = true\n[gates]\nsteal = '100 %'\n\
                 waited = '100 %'\nsilence = '30 s'\ninvalid_samples = '100 %'\nclient_standstill = '30 s'\n\
                 retries = 1\n[defaults.link]\nrate = '4 Mbit/s'\ndelay = '20 ms'\n{}controller = 'fixed'\n\
                 window = {window}\n",
                testkit::experiment::ROW.replace("100 kB", "400 kB")
            );
            std::fs::write(folder.0.join(format!("{name}.toml")), text).unwrap();
        }
        folder
    }

    /// What each packet costs.
    fn profile(&self, cost_us: f64) {
        let costs =
            format!("interest_us = {cost_us:.1}\ndata_us = {cost_us:.1}\ndata_us_per_kilobyte = 0.0\n");
        let text = format!("machine = 'm'\nprogram = 'p'\n[link.udp]\n{costs}");
        std::fs::write(self.0.join("machine.toml"), text).unwrap();
    }

    fn validate(&self, files: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command.args(["lab", "validate"]).args(files);
        command.args(["--profile", "machine.toml", "--repeats", "4", "--runs", "val", "--json"]);
        command.current_dir(&self.0).output().unwrap()
    }
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What was found of each experiment.
fn found(output: &Output) -> Vec<Value> {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|wrong| panic!("{wrong}: {}", told(output)))
}

/// The row of a measure.
fn row<'a>(experiment: &'a Value, measure: &str) -> &'a Value {
    assert_eq!(experiment["not_valid"], Value::Array(Vec::new()), "both ran to their end");
    let rows = experiment["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["measure"] == measure);
    row.unwrap_or_else(|| panic!("{measure} is missing: {experiment}"))
}

fn difference(row: &Value) -> f64 {
    row["difference"].as_f64().unwrap()
}

/// How far a difference may be off here. Four repeats do not say how much they spread, and a machine does
/// much beside a test.
const BUSY_MACHINE: f64 = 0.25;

#[test]
fn downloads_that_links_limit_take_as_long_in_virtual_time_as_on_real_forwarders() {
    if namespaces().is_none() {
        return;
    }
    let folder = Folder::new("both", &[("one", 4), ("two", 8)], 60.0);
    let files = ["one.toml", "two.toml"];
    let output = folder.validate(&files);
    let list = found(&output);
    assert_eq!(list.len(), 2);
    for experiment in &list {
        for measure in ["files.goodput", "files.duration"] {
            let row = row(experiment, measure);
            assert_eq!(row["margin"], 0.05, "nobody sets another");
            assert!(difference(row).abs() < BUSY_MACHINE, "{measure}: {row}");
        }
    }
    // The window makes them differ by more than the two backends do.
    let goodput = |index: usize| row(&list[index], "files.goodput")["simulated"]["mean"].as_f64().unwrap();
    assert!(goodput(1) > (1.0 + BUSY_MACHINE) * goodput(0), "{} {}", goodput(0), goodput(1));
    let reaches = list.iter().flat_map(|experiment| experiment["rows"].as_array().unwrap());
    let all = reaches.into_iter().all(|row| row["agreement"] == "within");
    assert_eq!(output.status.code(), Some(if all { 0 } else { 3 }), "{}", told(&output));
    // What is measured is read and not measured again; another plan or profile does not pass for it.
    let again = folder.validate(&files);
    assert_eq!(output.stdout, again.stdout);
    folder.profile(61.0);
    let refused = folder.validate(&files);
    assert!(!refused.status.success() && told(&refused).contains("another plan or profile"), "{refused:?}");
    folder.profile(60.0);
    let other = std::fs::read_to_string(folder.0.join("one.toml")).unwrap().replace("4 Mbit/s", "5 Mbit/s");
    std::fs::write(folder.0.join("one.toml"), other).unwrap();
    let refused = folder.validate(&files);
    assert!(!refused.status.success() && told(&refused).contains("another plan or profile"), "{refused:?}");
}

#[test]
fn a_profile_that_is_not_of_this_machine_is_told_by_numbers_beyond_their_margins() {
    if namespaces().is_none() {
        return;
    }
    // Packets that cost 15 ms each: no machine that these tests run on is so slow.
    let folder = Folder::new("apart", &[("one", 4)], 15_000.0);
    let output = folder.validate(&["one.toml"]);
    let list = found(&output);
    let goodput = row(&list[0], "files.goodput");
    assert!(difference(goodput) < -BUSY_MACHINE, "{goodput}");
    assert_ne!(goodput["agreement"], "within");
    assert_ne!(goodput["reason"], "", "what is not within has a reason, if only that it is not known");
    assert!(difference(row(&list[0], "files.duration")) > BUSY_MACHINE, "{list:?}");
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
}
