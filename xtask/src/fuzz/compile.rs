//! Building the fuzz targets with coverage on the stable compiler.

use std::path::{Path, PathBuf};

use crate::{packages, process};

/// What `cargo fuzz` would pass, without the sanitizers: counters at every edge, a table that says where they
/// are, and calls at every comparison, so that the fuzzer sees which bytes a comparison wanted.
const COVERAGE: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg=fuzzing",
    "-Ccodegen-units=1",
    "-Cdebug-assertions=on",
    "-Coverflow-checks=on",
    "-Dwarnings",
];

/// Given to cargo, so that the binaries are here whatever the environment says.
const TARGET_FOLDER: &str = "fuzz/target";

/// Builds every target.
pub(super) fn all(root: &Path) -> Result<(), String> {
    ensure_cxx_compiler(root)?;
    let host = host(root)?;
    let flags = COVERAGE.join(" ");
    // With an explicit target the flags do not reach build scripts, which must stay as they are.
    let target = ["--target", &host, "--target-dir", TARGET_FOLDER];
    let arguments = ["build", "--manifest-path", "fuzz/Cargo.toml", "--locked", "--release", "--bins"];
    let arguments = [&arguments[..], &target[..]].concat();
    process::run("cargo", &arguments, root, &[("RUSTFLAGS", &flags)])
}

/// Where the binary of a target is.
pub(super) fn binary(root: &Path, target: &str) -> Result<PathBuf, String> {
    Ok(root.join(TARGET_FOLDER).join(host(root)?).join("release").join(target))
}

fn host(root: &Path) -> Result<String, String> {
    let version = process::output("rustc", &["-vV"], root)?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not say which host it is for".to_owned())
}

/// libFuzzer is C++ and is compiled on the spot.
fn ensure_cxx_compiler(root: &Path) -> Result<(), String> {
    let is_there = || process::succeeds("c++", &["--version"]);
    if is_there() {
        return Ok(());
    }
    let installed = packages::install("g++", root);
    if is_there() {
        return Ok(());
    }
    Err(format!("no C++ compiler: install g++ or clang ({})", installed.err().unwrap_or_default()))
}
