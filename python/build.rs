//! Tells the extension which commit it is built from, and whether the sources are as committed: runs note
//! both.

use std::path::Path;
use std::process::Command;

/// What git says, or nothing where there is no repository.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn main() {
    let sources = ["../crates", "../Cargo.toml", "src", "Cargo.toml", "Cargo.lock"];
    let commit = git(&["rev-parse", "HEAD"]).unwrap_or_default();
    let changed = git(&[&["status", "--porcelain", "--"][..], &sources].concat());
    let clean = changed.map_or(String::new(), |list| list.is_empty().to_string());
    println!("cargo:rustc-env=CAIRN_COMMIT={commit}");
    println!("cargo:rustc-env=CAIRN_CLEAN={clean}");
    for path in sources {
        println!("cargo:rerun-if-changed={path}");
    }
    for name in ["HEAD", "index", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]).filter(|path| Path::new(path).exists()) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
}
