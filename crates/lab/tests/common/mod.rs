//! What tests of whole runs share.

use std::path::Path;

use cairn_lab::driver::Programs;
use cairn_lab::experiment::Experiment;
use cairn_lab::run::{Options, RunFolder, execute};

/// Virtual time, with controls, into folders below `runs`.
pub(crate) fn options(runs: &Path) -> Options {
    Options::new("sim", runs, Programs { cairn: "cairn".into(), ndnd: None, nfd: None })
}

/// Runs the experiment `text` in virtual time, with its controls, into a folder below `runs`.
#[allow(dead_code, reason = "not every test runs what it has as a text")]
pub(crate) fn run_in_virtual_time(name: &str, text: &str, runs: &Path) -> RunFolder {
    let experiment =
        Experiment::parse(name, &format!("{name}.toml"), text).unwrap_or_else(|wrong| panic!("{wrong}"));
    execute(&experiment, &options(runs), |_| {}).unwrap_or_else(|error| panic!("{error}"))
}
