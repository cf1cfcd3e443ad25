//! `cargo xtask dissectors`: the plugins in `wireshark/`, run by tshark over everything that was captured,
//! over packets whose fields are known, over fragments that belong together, and over broken packets.

mod broken;
mod captures;
mod elements;
mod expected;
mod fields;
mod fragments;
mod frames;
mod tshark;

pub(crate) use tshark::Tshark;

use std::path::Path;

use crate::{packages, process, tree};

/// One thing that the dissectors must do.
pub(crate) struct Check {
    /// As a sentence.
    pub(crate) what: &'static str,
    /// Gives what was looked at, or what is wrong.
    pub(crate) run: fn(&Tshark) -> Result<String, String>,
}

pub(crate) const CHECKS: &[Check] = &[
    Check {
        what: "our dissectors show every packet of captures of ccnd, ccnr, ndnld and NFD, and find no fault",
        run: captures::check,
    },
    Check {
        what: "our dissectors show the fields that vectors have, and find fault with those that are bad",
        run: fields::check,
    },
    Check { what: "our dissectors know every element of CCNx, NDNLP and NDNLPv2", run: elements::check },
    Check {
        what: "our dissectors put fragments together and link what was sent again or acknowledged",
        run: fragments::check,
    },
    Check { what: "our dissectors bear packets that are broken or hostile", run: broken::check },
];

pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let root = tree::root()?;
    let tshark = Tshark::new(&root)?;
    let mut failed = 0;
    for check in CHECKS.iter().filter(|check| words.iter().all(|word| check.what.contains(word))) {
        match (check.run)(&tshark) {
            Ok(seen) => println!("works: {}: {seen}", check.what),
            Err(problem) => {
                println!("FAILS: {}\n    {}", check.what, problem.replace('\n', "\n    "));
                failed += 1;
            }
        }
    }
    if failed == 0 { Ok(()) } else { Err(format!("{failed} checks of the dissectors failed")) }
}

/// Wireshark's command-line tool, which comes with the system.
pub(crate) fn install(folder: &Path) -> Result<(), String> {
    if process::succeeds("tshark", &["--version"]) {
        return Ok(());
    }
    packages::install("tshark", folder).map_err(|error| format!("{error}; this needs tshark: install it"))
}
