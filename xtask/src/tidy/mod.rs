//! `cargo xtask tidy`: the project's rules that a compiler does not check.
//!
//! A rule in prose decays; a failing check does not. Each rule lives in a file of its own, says what to do
//! instead, and has a test with a canary that must fail.

mod arrows;
mod columns;
mod crate_docs;
mod dead_files;
mod dependency_docs;
mod drop_reasons;
mod length;
mod module_cycles;
mod names;
mod purity;
mod ratchet;
mod sibling_cycles;
mod statements;
mod words;

use std::fmt;

use crate::tree::Tree;

/// One place where a rule is broken.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    path: String,
    /// Counted from 1; 0 when the whole file is meant.
    line: usize,
    rule: &'static str,
    message: String,
}

impl Violation {
    fn new(rule: &'static str, path: &str, line: usize, message: impl Into<String>) -> Self {
        Violation { path: path.to_owned(), line, rule, message: message.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { path, line, rule, message } = self;
        match line {
            0 => write!(f, "{path}: [{rule}] {message}"),
            _ => write!(f, "{path}:{line}: [{rule}] {message}"),
        }
    }
}

/// Every rule.
const RULES: &[fn(&Tree) -> Vec<Violation>] = &[
    purity::check,
    arrows::check,
    columns::check,
    length::check,
    module_cycles::check,
    sibling_cycles::check,
    dead_files::check,
    statements::check,
    words::check,
    names::check,
    crate_docs::check,
    dependency_docs::check,
    drop_reasons::check,
];

/// All violations in a tree, in order of file and line.
fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations: Vec<Violation> = RULES.iter().flat_map(|rule| rule(tree)).collect();
    violations.sort();
    violations
}

/// Checks the repository.
pub(crate) fn run() -> Result<(), String> {
    let tree = Tree::of_repository()?;
    let violations = check(&tree);
    if violations.is_empty() {
        println!("tidy: {} files, {} Rust files, no violation", tree.iter().count(), tree.rust().count());
        return Ok(());
    }
    for violation in &violations {
        println!("{violation}");
    }
    Err(format!("{} violations of the project's rules", violations.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_that_breaks_every_rule_is_refused_by_every_rule() {
        let long = "\n".repeat(1000);
        let page = format!("{}\n{}\n", concat!("see /wo", "rk/x"), "word ".repeat(30));
        let tree = Tree::of(&[
            ("crates/packet/Cargo.toml", "[dependencies]\ncairn-engine.workspace = true\nx = \"1\"\n"),
            ("crates/packet/src/lib.rs", "use std::net;\nfn f() { matches!(a, b); }\nfn g() { unsafe {} }\n"),
            ("crates/packet/src/dead.rs", &long),
            ("docs/page.md", &page),
        ]);
        let mut rules: Vec<&str> = check(&tree).iter().map(|violation| violation.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        let expected = "arrows columns crate-docs dead-file dependency-docs file-length module-cycle purity statement unsafe word";
        assert_eq!(rules.join(" "), expected);
    }

    #[test]
    fn a_violation_prints_where_it_is_and_what_to_do() {
        let violation = Violation::new("word", "a.rs", 3, "say something else");
        assert_eq!(violation.to_string(), "a.rs:3: [word] say something else");
    }
}
