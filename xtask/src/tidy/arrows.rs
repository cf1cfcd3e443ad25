//! Arrows between crates run only downwards: who may depend on whom.

use super::Violation;
use crate::manifest::{self, Dependency};
use crate::tree::Tree;

const RULE: &str = "arrows";

/// Each crate in `crates/` and the crates it may use, from the lowest layer to the highest.
const ARROWS: &[(&str, &[&str])] = &[
    ("packet", &[]),
    ("allocator", &[]),
    ("system", &["packet"]),
    ("trust", &["packet"]),
    ("link", &["packet"]),
    ("engine", &["packet"]),
    ("testkit", &[]),
    ("formats", &[]),
    ("management", &["packet"]),
    ("flow", &["packet", "trust"]),
    ("client", &["packet", "system", "trust", "link", "management", "formats", "flow"]),
    ("gateway", &["packet", "system", "trust", "management", "flow", "client", "formats"]),
    ("repo", &["packet", "system", "trust", "engine", "flow"]),
    ("node", &["packet", "system", "trust", "link", "engine", "management", "flow", "repo", "formats"]),
    ("sim", &["packet", "trust", "link", "engine", "flow", "formats"]),
    (
        "lab",
        &[
            "packet",
            "system",
            "trust",
            "link",
            "engine",
            "management",
            "flow",
            "client",
            "repo",
            "formats",
            "node",
            "sim",
        ],
    ),
    (
        "cairn",
        &[
            "packet",
            "allocator",
            "system",
            "trust",
            "link",
            "engine",
            "management",
            "flow",
            "client",
            "gateway",
            "repo",
            "formats",
            "node",
            "sim",
            "lab",
        ],
    ),
];

/// Crates outside `crates/`, by their folders. Who attacks a node knows it from outside only, as strangers
/// do; who extends the command uses the library `cairn` and nothing underneath; Python sees the lab alone.
const OUTSIDE: &[(&str, &[&str])] = &[
    ("tests/enemies", &["packet", "system", "management", "client", "testkit"]),
    ("tests/extension", &[]),
    ("python", &["lab"]),
];

/// Crates that every crate may use in its tests and benchmarks, and elsewhere only those that say so above.
const ONLY_IN_TESTS: &[&str] = &["allocator", "testkit"];

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = refused(tree);
    violations.extend(unused(tree));
    violations
}

/// Dependencies that no arrow allows.
fn refused(tree: &Tree) -> Vec<Violation> {
    let workspace = tree.get("Cargo.toml").unwrap_or_default();
    let mut violations = Vec::new();
    for name in tree.crates() {
        let path = format!("crates/{name}/Cargo.toml");
        let text = tree.get(&path).unwrap_or_default();
        let Some((_, allowed)) = ARROWS.iter().find(|(room, _)| *room == name) else {
            let message = format!("`{name}` has no layer: add it to ARROWS in {}", file!());
            violations.push(Violation::new(RULE, &path, 0, message));
            continue;
        };
        violations.extend(check_manifest(name, &path, manifest::dependencies(text, workspace), allowed));
    }
    for (folder, allowed) in OUTSIDE {
        let path = format!("{folder}/Cargo.toml");
        let text = tree.get(&path).unwrap_or_default();
        violations.extend(check_manifest(folder, &path, manifest::dependencies(text, workspace), allowed));
    }
    violations
}

/// Arrows along which nothing runs: a crate that no longer uses another must not come back to it unnoticed.
fn unused(tree: &Tree) -> Vec<Violation> {
    let workspace = tree.get("Cargo.toml").unwrap_or_default();
    let inside = ARROWS.iter().map(|(name, allowed)| (format!("crates/{name}/Cargo.toml"), allowed));
    let outside = OUTSIDE.iter().map(|(folder, allowed)| (format!("{folder}/Cargo.toml"), allowed));
    let mut violations = Vec::new();
    for (path, allowed) in inside.chain(outside) {
        let Some(text) = tree.get(&path) else { continue };
        let dependencies = manifest::dependencies(text, workspace);
        let used: Vec<&str> =
            dependencies.iter().filter_map(|dependency| dependency.package.strip_prefix("cairn-")).collect();
        for other in allowed.iter().filter(|other| !used.contains(other)) {
            let message = format!("it does not use `{other}`: take that out of {}", file!());
            violations.push(Violation::new(RULE, &path, 0, message));
        }
    }
    violations
}

fn check_manifest(
    name: &str,
    path: &str,
    dependencies: Vec<Dependency<'_>>,
    allowed: &[&str],
) -> Vec<Violation> {
    let mut violations = Vec::new();
    for dependency in dependencies {
        let Some(used) = dependency.package.strip_prefix("cairn-") else { continue };
        let fine = allowed.contains(&used) || dependency.only_in_tests && ONLY_IN_TESTS.contains(&used);
        if !fine {
            let message = format!("`{name}` may not use `{used}`; it may use {}", list(allowed));
            violations.push(Violation::new(RULE, path, dependency.line, message));
        }
    }
    violations
}

fn list(allowed: &[&str]) -> String {
    if allowed.is_empty() { "no other crate of Cairn".to_owned() } else { allowed.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::super::purity::PURE;
    use super::*;

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        refused(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn canary_an_arrow_that_runs_upwards_is_refused() {
        for line in [
            "[dependencies]\ncairn-engine.workspace = true",
            "[dependencies]\ncairn-engine = { path = \"../engine\" }",
            "[dependencies]\nother = { package = \"cairn-engine\", path = \"../engine\" }",
            "[dependencies.cairn-engine]\nworkspace = true",
            "[target.'cfg(unix)'.dependencies]\ncairn-engine.workspace = true",
            "[dev-dependencies]\ncairn-engine.workspace = true",
            "[build-dependencies]\ncairn-engine.workspace = true",
        ] {
            let found = messages(&[("crates/link/Cargo.toml", line)]);
            assert_eq!(found.len(), 1, "{line}");
            assert!(found[0].contains("`link` may not use `engine`; it may use packet"), "{}", found[0]);
        }
    }

    #[test]
    fn arrows_that_run_downwards_and_other_peoples_crates_are_fine() {
        let manifest = "[package]\nname = \"cairn-link\"\n[dependencies]\ncairn-packet.workspace = true\nsha2 = \"1\"\n\
                        [dev-dependencies]\ncairn-testkit.workspace = true\n";
        assert!(messages(&[("crates/link/Cargo.toml", manifest)]).is_empty());
    }

    #[test]
    fn canary_an_arrow_under_the_workspaces_short_name_is_refused() {
        let workspace =
            "[workspace.dependencies]\nengine = { package = \"cairn-engine\", path = \"crates/engine\" }";
        let found = messages(&[
            ("Cargo.toml", workspace),
            ("crates/link/Cargo.toml", "[dependencies]\nengine.workspace = true"),
        ]);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("`link` may not use `engine`"), "{}", found[0]);
    }

    #[test]
    fn test_helpers_are_for_tests_only() {
        let found =
            messages(&[("crates/link/Cargo.toml", "[dependencies]\ncairn-testkit.workspace = true\n")]);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn who_attacks_a_node_does_not_look_inside_it() {
        let found =
            messages(&[("tests/enemies/Cargo.toml", "[dependencies]\ncairn-node.workspace = true\n")]);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("`tests/enemies` may not use `node`"), "{}", found[0]);
    }

    #[test]
    fn a_crate_without_a_place_is_refused() {
        assert_eq!(messages(&[("crates/cellar/Cargo.toml", "")]).len(), 1);
    }

    #[test]
    fn canary_an_arrow_that_nobody_uses_is_refused() {
        let found = |manifest: &str| unused(&Tree::of(&[("crates/link/Cargo.toml", manifest)])).len();
        assert_eq!(found("[dev-dependencies]\ncairn-packet.workspace = true\n"), 0);
        assert_eq!(found("[dependencies]\nsha2 = \"1\"\n"), 1);
    }

    #[test]
    fn no_crate_may_use_one_above_it() {
        for (index, (name, allowed)) in ARROWS.iter().enumerate() {
            for used in *allowed {
                assert!(ARROWS[..index].iter().any(|(below, _)| below == used), "{name} -> {used}");
            }
        }
    }

    #[test]
    fn a_pure_crate_may_not_use_what_reads_clocks() {
        for (name, allowed) in ARROWS.iter().filter(|(name, _)| PURE.contains(name)) {
            assert!(!allowed.contains(&"system"), "{name}");
        }
    }
}
