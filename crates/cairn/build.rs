//! Tells the program which commit it is built from, and whether the sources are as committed: runs of the lab
//! note both.

use std::path::Path;
use std::process::Command;

/// What git says, or nothing where there is no repository.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn main() {
    let commit = git(&["rev-parse", "HEAD"]);
    let changed =
        git(&["status", "--porcelain", "--", "../../crates", "../../Cargo.toml", "../../Cargo.lock"]);
    let clean = changed.map(|list| list.is_empty());
    println!("cargo:rustc-env=CAIRN_COMMIT={}", commit.unwrap_or_default());
    println!("cargo:rustc-env=CAIRN_CLEAN={}", clean.map_or(String::new(), |clean| clean.to_string()));
    // Looked at again when a source or the commit changes.
    for path in ["../../crates", "../../Cargo.toml", "../../Cargo.lock"] {
        println!("cargo:rerun-if-changed={path}");
    }
    for name in ["HEAD", "index", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]).filter(|path| Path::new(path).exists()) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
}
