//! Files of one folder use each other in one direction: no circle among siblings, at any depth below the
//! modules at the top of a crate, which [`module_cycles`] looks at.
//!
//! What counts as a use is a path after `crate::`, `super::` or `self::`, in a `use` or in place, outside of
//! tests. A name that a `mod.rs` only passes on counts for the file it comes from. What a file takes from the
//! `mod.rs` above it is no use of a sibling, and methods that stand in several files are not seen.

use std::collections::{BTreeMap, BTreeSet};

use super::Violation;
use super::module_cycles::{self, Graph};
use crate::source::{Source, is_identifier};
use crate::tree::Tree;

const RULE: &str = "sibling-cycle";

/// Folders below `crates/` whose own files and folders use each other in circles, and what these are about.
/// The list only shrinks: where none is left, nothing may stand here.
const WITH_CIRCLES: &[(&str, &str)] = &[
    ("lab/src/analysis", "results of a repeat, and the files they are read from"),
    ("lab/src/experiment", "an experiment, and all that reads and checks it"),
    ("lab/src/experiment/plan", "what workloads and links of a plan are made of"),
    ("lab/src/report", "numbers of a report, and where they are shown"),
    ("lab/src/report/verdict", "how a statement is judged, and the numbers it is judged by"),
    ("lab/src/run", "what is begun, continued and put together"),
    ("lab/src/study", "studies, and who runs them"),
];

/// How often a name may be passed on from one `mod.rs` to another.
const MAX_PASSED_ON: usize = 8;

/// A path of modules from the root of a crate, or of a module and what is in it.
type Path = Vec<String>;

/// A file that is a module of a crate.
struct File {
    module: Path,
    /// The paths in its code outside of tests, as they stand there.
    uses: Vec<Path>,
}

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for name in tree.crates() {
        for (folder, circle) in circles(&files(tree, name)) {
            let path = format!("{name}/src/{folder}");
            if let Some((listed, _)) = WITH_CIRCLES.iter().find(|(listed, _)| *listed == path) {
                known.insert(listed);
                continue;
            }
            let names = circle.iter().map(|module| format!("`{module}`")).collect::<Vec<_>>().join(", ");
            let message = format!(
                "these files of one folder use each other in a circle: {names}; let one use the others, or move \
                 what they share"
            );
            violations.push(Violation::new(RULE, &format!("crates/{path}"), 0, message));
        }
    }
    let is_here = |folder: &str| tree.crates().iter().any(|name| folder.split('/').next() == Some(*name));
    for (folder, _) in WITH_CIRCLES.iter().filter(|(folder, _)| is_here(folder) && !known.contains(folder)) {
        let message = format!("no circle is left here: take it off WITH_CIRCLES in {}", file!());
        violations.push(Violation::new(RULE, &format!("crates/{folder}"), 0, message));
    }
    violations
}

/// The files of a crate that are not for tests alone.
fn files(tree: &Tree, name: &str) -> Vec<File> {
    module_cycles::sources(tree, name)
        .iter()
        .map(|(path, source)| {
            let mut module: Path = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
            module.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
            File { module, uses: paths(source) }
        })
        .collect()
}

/// The paths that a file names.
fn paths(source: &Source) -> Vec<Path> {
    let tests = source.test_items();
    let counts = |at: usize| !tests.iter().any(|range| range.contains(&at));
    let imported = source.used_paths().into_iter().filter(|(at, _)| counts(*at)).map(|(_, path)| path);
    let roots = ["crate", "super", "self"];
    let named = roots.iter().flat_map(|root| source.find(root)).filter(|at| counts(*at)).map(|at| {
        let rest = &source.code()[at..];
        let end = rest.bytes().position(|byte| !is_identifier(byte) && byte != b':').unwrap_or(rest.len());
        rest[..end].to_owned()
    });
    let segments = |path: String| path.split("::").map(|part| part.trim().to_owned()).collect();
    imported.chain(named).map(segments).collect()
}

/// The circles in a crate: each folder that has one, with the names in it.
fn circles(files: &[File]) -> Vec<(String, Vec<String>)> {
    let modules = Modules::of(files);
    let mut graphs: BTreeMap<&[String], Graph<'_>> = BTreeMap::new();
    for file in files {
        for path in &file.uses {
            let Some(target) = modules.resolve(&file.module, path, MAX_PASSED_ON) else { continue };
            let common = file.module.iter().zip(&target).take_while(|(one, other)| one == other).count();
            if let (Some(user), Some(used)) = (file.module.get(common), target.get(common))
                && common > 0
            {
                let graph = graphs.entry(&file.module[..common]).or_default();
                graph.entry(user).or_default().insert(used.clone());
            }
        }
    }
    let found = graphs.into_iter().map(|(folder, graph)| (folder.join("/"), closed(graph)));
    found.filter(|(_, circle)| !circle.is_empty()).collect()
}

/// Those of a graph that are in a circle; names that use nobody need not be in it.
fn closed(mut graph: Graph<'_>) -> Vec<String> {
    let names: BTreeSet<String> = graph.keys().map(|name| (*name).to_owned()).collect();
    graph.values_mut().for_each(|used| used.retain(|name| names.contains(name)));
    module_cycles::circle(graph)
}

/// What modules there are, and what each imports.
struct Modules<'a> {
    uses: BTreeMap<&'a [String], &'a [Path]>,
}

impl<'a> Modules<'a> {
    fn of(files: &'a [File]) -> Self {
        Modules { uses: files.iter().map(|file| (file.module.as_slice(), file.uses.as_slice())).collect() }
    }

    fn is_module(&self, path: &[String]) -> bool {
        self.uses.keys().any(|module| module.starts_with(path))
    }

    /// The module in which what `from` calls `path` stands; `None` if it is of another crate.
    fn resolve(&self, from: &[String], path: &[String], passed_on: usize) -> Option<Path> {
        let (first, rest) = path.split_first()?;
        let (mut module, mut rest) = match first.as_str() {
            "crate" => (Path::new(), rest),
            "super" => (from.split_last()?.1.to_vec(), rest),
            "self" => (from.to_vec(), rest),
            _ => (from.to_vec(), path),
        };
        let begins_with_root = rest.len() < path.len();
        let mut descended = begins_with_root;
        while let Some((next, after)) = rest.split_first() {
            if next == "super" {
                module.pop()?;
            } else if next != "self" {
                module.push(next.clone());
                if !self.is_module(&module) {
                    module.pop();
                    break;
                }
            }
            (rest, descended) = (after, true);
        }
        if !descended {
            return None;
        }
        // What is left is the name of an item, which may come from elsewhere.
        let passed = rest.first().filter(|_| passed_on > 0).and_then(|item| {
            let uses = self.uses.get(module.as_slice())?;
            let mut imports = uses.iter().filter(|path| path.len() > 1 && path.last() == Some(item));
            imports.find_map(|import| self.resolve(&module, import, passed_on - 1))
        });
        Some(passed.unwrap_or(module))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        let files = [&[("crates/node/Cargo.toml", "")], files].concat();
        check(&Tree::of(&files)).into_iter().map(|violation| violation.to_string()).collect()
    }

    #[test]
    fn files_of_one_folder_that_use_each_other_are_found_at_any_depth() {
        let found = messages(&[
            ("crates/node/src/a/b/mod.rs", "mod c; mod d; mod e;"),
            ("crates/node/src/a/b/c.rs", "use super::d::{D, E};"),
            ("crates/node/src/a/b/d.rs", "fn f() { crate::a::b::c::g(); }"),
            ("crates/node/src/a/b/e.rs", "use super::c::C;"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/node/src/a/b: "), "{}", found[0]);
        assert!(found[0].contains("circle: `c`, `d`;"), "{}", found[0]);
    }

    #[test]
    fn a_name_that_is_passed_on_counts_for_where_it_comes_from() {
        let found = messages(&[
            ("crates/node/src/a/mod.rs", "mod c; mod d; pub(crate) use d::D;"),
            ("crates/node/src/a/c.rs", "use super::D;"),
            ("crates/node/src/a/d.rs", "use crate::a::c::C;"),
        ]);
        assert!(found[0].contains("circle: `c`, `d`;"), "{found:?}");
    }

    #[test]
    fn a_folder_beside_a_file_is_a_sibling_of_it() {
        let found = messages(&[
            ("crates/node/src/a/c/inner.rs", "use super::super::d::D;"),
            ("crates/node/src/a/c/mod.rs", "mod inner;"),
            ("crates/node/src/a/d.rs", "use crate::a::c::inner::I;"),
        ]);
        assert!(found[0].contains("circle: `c`, `d`;"), "{found:?}");
    }

    #[test]
    fn a_folder_whose_circles_are_gone_is_taken_off_the_list() {
        let found = check(&Tree::of(&[("crates/lab/Cargo.toml", ""), ("crates/lab/src/key/a.rs", "")]));
        assert!(found[0].message.contains("no circle is left here"), "{found:?}");
    }

    #[test]
    fn uses_one_way_of_the_module_above_and_in_tests_are_no_circle() {
        let found = messages(&[
            ("crates/node/src/a/mod.rs", "mod c; mod d; struct A; use c::C;"),
            ("crates/node/src/a/c.rs", "use super::{A, d::D}; use std::fs; // super::c"),
            ("crates/node/src/a/d.rs", "use super::A;\n#[cfg(test)]\nmod tests { use crate::a::c::C; }"),
        ]);
        assert_eq!(found, [""; 0]);
    }
}
