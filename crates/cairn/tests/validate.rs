//! Virtual time is held against real forwarders at small size: what is compared, and that it fails where the
//! two are apart.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use testkit::needs::namespaces;

/// A folder with a profile and two experiments that links limit.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("cairn-validate-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let costs = "interest_us = 30.0\ndata_us = 60.0\ndata_us_per_kilobyte = 2.0\n";
    let profile = format!("machine = 'm'\nprogram = 'p'\n[link.udp]\n{costs}");
    std::fs::write(folder.join("machine.toml"), profile).unwrap();
    for (name, window) in [("one", 4), ("two", 8)] {
        let text = format!(
            "title = '{name}'\nduration = '20 s'\nuntil_done = true\n[gates]\nsteal = '100 %'\nwaited = '100 %'\n\
             silence = '20 s'\ninvalid_samples = '100 %'\nclient_standstill = '20 s'\nretries = 1\n\
             [defaults.link]\nrate = '4 Mbit/s'\ndelay = '20 ms'\n{}controller = 'fixed'\nwindow = {window}\n",
            testkit::experiment::ROW.replace("100 kB", "400 kB")
        );
        std::fs::write(folder.join(format!("{name}.toml")), text).unwrap();
    }
    folder
}

fn validate(folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
    let words = ["lab", "validate", "one.toml", "two.toml", "--profile", "machine.toml", "--repeats", "2"];
    command.args(words).args(["--runs", "val", "--json"]).current_dir(folder).output().unwrap()
}

#[test]
fn downloads_that_links_limit_take_as_long_in_virtual_time_as_on_real_forwarders() {
    if namespaces().is_none() {
        return;
    }
    let folder = folder("both");
    let output = validate(&folder);
    let err = String::from_utf8_lossy(&output.stderr);
    let found: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|wrong| panic!("{wrong}: {err}"));
    let list = found.as_array().unwrap();
    assert_eq!(list.len(), 2, "{err}");
    for experiment in list {
        let rows = experiment["rows"].as_array().unwrap();
        for measure in ["files.goodput", "files.duration"] {
            let row = rows.iter().find(|row| row["measure"] == measure);
            let row = row.unwrap_or_else(|| panic!("{measure} is missing: {experiment}"));
            assert_eq!(row["margin"], 0.05, "nobody sets another");
            // A machine that does much beside this is late; it is never faster than its links.
            let difference = row["difference"].as_f64().unwrap();
            assert!(difference.abs() < 0.25, "{measure}: {difference}");
        }
    }
    // What is measured is read and not measured again, and another plan does not pass for it.
    let again = validate(&folder);
    assert_eq!(output.stdout, again.stdout);
    let other = std::fs::read_to_string(folder.join("one.toml")).unwrap().replace("4 Mbit/s", "5 Mbit/s");
    std::fs::write(folder.join("one.toml"), other).unwrap();
    let refused = validate(&folder);
    let err = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && err.contains("another plan or profile"), "{err}");
    std::fs::remove_dir_all(&folder).unwrap();
}
