//! Modules of a crate use only those below them: no circle among the modules at the top of a crate.

use std::collections::{BTreeMap, BTreeSet};

use super::Violation;
use crate::source::Source;
use crate::tree::Tree;

const RULE: &str = "module-cycle";

/// Crates that have one circle, and why. The list only shrinks: a crate without a circle may not be in it.
const WITH_A_CIRCLE: &[(&str, &str)] = &[
    (
        "packet",
        "a name, an Interest and a Data are told apart by dialect, and each dialect makes and reads them",
    ),
    ("engine", "`batch` is what exists for speed alone: it looks ahead in the tables of the engine it is in"),
    (
        "lab",
        "a report reads the experiment that the run is of, and an experiment is checked by what is reported",
    ),
];

/// Whom each module uses.
pub(super) type Graph<'a> = BTreeMap<&'a str, BTreeSet<String>>;

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for name in tree.crates() {
        let circle = circle(modules(tree, name));
        let is_known = WITH_A_CIRCLE.iter().any(|(known, _)| *known == name);
        let message = match (circle.is_empty(), is_known) {
            (false, false) => {
                let names = circle.iter().map(|module| format!("`{module}`")).collect::<Vec<_>>().join(", ");
                format!(
                    "these modules use each other in a circle: {names}; let one use the others, or move what they share"
                )
            }
            (true, true) => format!("no circle is left here: take it off WITH_A_CIRCLE in {}", file!()),
            _ => continue,
        };
        violations.push(Violation::new(RULE, &format!("crates/{name}/src/lib.rs"), 0, message));
    }
    violations
}

/// The files of a crate that are not for tests alone, by their paths in `src`.
pub(super) fn sources<'a>(tree: &'a Tree, name: &str) -> Vec<(&'a str, Source)> {
    let root = format!("crates/{name}/src/");
    let mut files: Vec<(&str, Source)> =
        tree.rust().filter_map(|(path, text)| Some((path.strip_prefix(&root)?, Source::new(text)))).collect();
    let tests: Vec<String> = files.iter().flat_map(|(path, source)| test_modules(path, source)).collect();
    let is_test = |path: &str| {
        tests.iter().any(|test| {
            path.strip_prefix(test.as_str())
                .is_some_and(|rest| [".rs", "/"].iter().any(|end| rest.starts_with(end)))
        })
    };
    files.retain(|(path, _)| !is_test(path));
    files
}

/// The modules at the top of a crate, and whom each uses outside of tests.
fn modules<'a>(tree: &'a Tree, name: &str) -> Graph<'a> {
    let mut graph = Graph::new();
    for (path, source) in &sources(tree, name) {
        let module = path.split('/').next().unwrap_or_default().trim_end_matches(".rs");
        if !["lib", "main"].contains(&module) {
            graph.entry(module).or_default().extend(uses(source));
        }
    }
    let names: BTreeSet<String> = graph.keys().map(|module| (*module).to_owned()).collect();
    for (module, used) in &mut graph {
        used.retain(|other| other != module && names.contains(other));
    }
    graph
}

/// The files of modules that exist in tests alone, without their ending.
fn test_modules(path: &str, source: &Source) -> Vec<String> {
    let folder = match path.strip_suffix("mod.rs").or(path.strip_suffix("lib.rs")) {
        Some(folder) => folder.to_owned(),
        None => format!("{}/", path.trim_end_matches(".rs")),
    };
    let parts = source.code().split("#[cfg(test)]").skip(1);
    parts
        .filter_map(|rest| rest.trim_start().strip_prefix("mod ")?.split_once(';'))
        .filter(|(module, _)| module.bytes().all(crate::source::is_identifier))
        .map(|(module, _)| format!("{folder}{module}"))
        .collect()
}

/// The modules that a file names after `crate::`, outside of tests.
fn uses(source: &Source) -> BTreeSet<String> {
    let tests = source.test_items();
    let counts = |at: usize| !tests.iter().any(|range| range.contains(&at));
    let first = |path: &str| path.split("::").next().unwrap_or_default().trim().to_owned();
    let imports = source.used_paths();
    let imported = imports
        .iter()
        .filter(|(at, _)| counts(*at))
        .filter_map(|(_, path)| Some(first(path.strip_prefix("crate::")?)));
    let named = source.find("crate").filter(|at| counts(*at)).filter_map(|at| {
        let rest = source.code()[at..].strip_prefix("crate::")?;
        let end = rest.bytes().position(|byte| !crate::source::is_identifier(byte)).unwrap_or(rest.len());
        Some(rest[..end].to_owned())
    });
    imported.chain(named).collect()
}

/// The modules that are in a circle, or between two: what is left when those that use nobody, and those that
/// nobody uses, are taken away again and again.
pub(super) fn circle(mut graph: Graph<'_>) -> Vec<String> {
    loop {
        let used: BTreeSet<String> = graph.values().flatten().cloned().collect();
        let loose: Vec<&str> = graph
            .iter()
            .filter(|(module, uses)| uses.is_empty() || !used.contains(**module))
            .map(|(module, _)| *module)
            .collect();
        if loose.is_empty() {
            return graph.into_keys().map(str::to_owned).collect();
        }
        graph.retain(|module, _| !loose.contains(module));
        for uses in graph.values_mut() {
            uses.retain(|other| !loose.contains(&other.as_str()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).into_iter().map(|violation| violation.message).collect()
    }

    const MANIFEST: (&str, &str) = ("crates/node/Cargo.toml", "");

    #[test]
    fn modules_that_use_each_other_are_found_and_those_around_them_are_not_named() {
        let found = messages(&[
            MANIFEST,
            ("crates/node/src/a.rs", "use crate::b::B;"),
            ("crates/node/src/b/mod.rs", "mod inner;"),
            ("crates/node/src/b/inner.rs", "fn f() { crate::c::g(); }"),
            ("crates/node/src/c.rs", "use crate::{d, b::B};"),
            ("crates/node/src/d.rs", "// use crate::a;"),
        ]);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("circle: `b`, `c`;"), "{}", found[0]);
    }

    #[test]
    fn tests_may_use_what_is_above_them() {
        let found = messages(&[
            MANIFEST,
            ("crates/node/src/a.rs", "use crate::b::B;"),
            (
                "crates/node/src/b/mod.rs",
                "#[cfg(test)]\nmod bench;\n#[cfg(test)]\nmod tests { use crate::a; }",
            ),
            ("crates/node/src/b/bench.rs", "use crate::a::A;"),
        ]);
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn a_crate_whose_circle_is_gone_is_taken_off_the_list() {
        let found = messages(&[("crates/packet/Cargo.toml", ""), ("crates/packet/src/name.rs", "")]);
        assert!(found[0].contains("no circle is left here"), "{found:?}");
    }
}
