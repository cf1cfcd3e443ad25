//! No dead files: every Rust file is reached by `mod` declarations from a root that cargo builds.

use std::collections::BTreeSet;

use super::Violation;
use crate::source::Source;
use crate::tree::Tree;

const RULE: &str = "dead-file";

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut reached = BTreeSet::new();
    for (path, _) in tree.rust().filter(|(path, _)| is_root(path)) {
        reach(tree, path, true, &mut reached);
    }
    tree.rust()
        .filter(|(path, _)| !reached.contains(*path))
        .map(|(path, _)| {
            Violation::new(RULE, path, 0, "no `mod` declaration leads here: declare or delete it")
        })
        .collect()
}

/// Does cargo build this file as a crate of its own?
fn is_root(path: &str) -> bool {
    let Some((folder, file)) = path.rsplit_once('/') else { return path == "build.rs" };
    let parent = folder.rsplit('/').next().unwrap_or_default();
    match parent {
        "src" => file == "lib.rs" || file == "main.rs",
        "bin" | "tests" | "benches" | "examples" => !folder.contains("/src/") || parent == "bin",
        // Listed in fuzz/Cargo.toml, and compared with it by `cargo xtask fuzz list`.
        "targets" => folder == "fuzz/targets",
        // A test of several files has its root in a folder of its own.
        _ if file == "main.rs" => folder.rsplit('/').nth(1) == Some("tests"),
        _ => file == "build.rs",
    }
}

fn reach(tree: &Tree, path: &str, is_root: bool, reached: &mut BTreeSet<String>) {
    let Some(text) = tree.get(path) else { return };
    if !reached.insert(path.to_owned()) {
        return;
    }
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let below = match file.strip_suffix(".rs") {
        Some(name) if !is_root && name != "mod" => format!("{folder}/{name}"),
        _ => folder.to_owned(),
    };
    for module in Source::new(text).declared_modules() {
        reach(tree, &format!("{below}/{module}.rs"), false, reached);
        reach(tree, &format!("{below}/{module}/mod.rs"), false, reached);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dead(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).into_iter().map(|violation| violation.path).collect()
    }

    #[test]
    fn canary_a_file_that_nothing_declares_is_dead() {
        assert_eq!(
            dead(&[("crates/a/src/lib.rs", "// mod b;"), ("crates/a/src/b.rs", "")]),
            ["crates/a/src/b.rs"]
        );
    }

    #[test]
    fn modules_are_followed_in_both_layouts() {
        let files = [
            ("crates/a/src/lib.rs", "mod b; pub mod c; mod d { }"),
            ("crates/a/src/b.rs", "mod e;"),
            ("crates/a/src/b/e.rs", ""),
            ("crates/a/src/c/mod.rs", "#[cfg(test)] mod tests;"),
            ("crates/a/src/c/tests.rs", ""),
            ("crates/a/src/d.rs", ""),
            ("crates/a/tests/h/main.rs", "mod other;"),
            ("crates/a/tests/h/other.rs", ""),
            ("crates/a/tests/f.rs", "mod common;"),
            ("crates/a/tests/common/mod.rs", ""),
        ];
        assert_eq!(dead(&files), ["crates/a/src/d.rs"]);
    }
}
