//! `cargo xtask memory`: the unsafe code, run by programs that watch every access to memory.
//!
//! What calls the system runs on real sockets under valgrind (memcheck), which knows what the kernel reads
//! and writes; Miri knows no sockets, no memory shared with the kernel and no C code. What only computes runs
//! under Miri, which sees more: a wrong alignment, an invalid value, a reference that must not be there.

use std::path::Path;

use crate::{process, test_suite, tree};

/// The exit code by which valgrind says that it has found something.
const FOUND: &str = "--error-exitcode=99";

/// Tests of `cairn-node` under valgrind, by their file and what their names contain: the system calls alone,
/// and whole nodes that send trains of datagrams, frames of Ethernet and to groups.
const UNDER_VALGRIND: &[(&str, &[&str])] = &[
    ("crates/node/src/lib.rs", &["sys::"]),
    ("crates/node/tests/faces/main.rs", &["ethernet", "trains", "multicast", "unix_socket", "cuts_packets"]),
];

/// Tests under Miri: package and filter.
const UNDER_MIRI: &[(&str, &str)] = &[("cairn-engine", "processor::")];

/// Runs all of it; gives what could not be run here, and why.
pub(crate) fn run() -> Result<Vec<String>, String> {
    let root = tree::root()?;
    let mut missing = Vec::new();
    if process::succeeds("valgrind", &["--version"]) {
        valgrind(&root)?;
    } else {
        missing.push("valgrind is not installed".to_owned());
    }
    if process::succeeds("cargo", &["+nightly", "miri", "--version"]) {
        miri(&root)?;
    } else {
        missing.push(
            "Miri is not installed (rustup component add --toolchain nightly miri rust-src)".to_owned(),
        );
    }
    Ok(missing)
}

fn valgrind(root: &Path) -> Result<(), String> {
    for (source, names) in UNDER_VALGRIND {
        let program = test_suite::program(root, source)?;
        for name in *names {
            let listed = process::output(&program, &["--list", name], root)?;
            if !listed.lines().any(|line| line.ends_with(": test")) {
                return Err(format!("no test of {source} has `{name}` in its name"));
            }
        }
        // As cargo starts it.
        let folder = root.join("crates/node");
        process::run("valgrind", &[&["--quiet", FOUND, &program], *names].concat(), &folder, &[])?;
    }
    Ok(())
}

fn miri(root: &Path) -> Result<(), String> {
    for (package, filter) in UNDER_MIRI {
        let arguments = ["+nightly", "miri", "test", "--locked", "--package", package, "--lib", "--", filter];
        process::run("cargo", &arguments, root, &[])?;
    }
    Ok(())
}
