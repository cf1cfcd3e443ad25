//! Every library in `crates/` opens with a page that explains its idea by a small example.

use super::Violation;
use crate::tree::Tree;

const RULE: &str = "crate-docs";

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for name in tree.crates() {
        let path = format!("crates/{name}/src/lib.rs");
        let Some(text) = tree.get(&path) else { continue };
        let page: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
        if page.is_empty() {
            violations.push(Violation::new(RULE, &path, 1, "say in `//!` lines what this crate is for"));
        } else if !has_example(&page) {
            violations.push(Violation::new(RULE, &path, 1, "show a small example that compiles"));
        }
    }
    violations
}

/// Does a fenced block stand here that rustdoc compiles?
fn has_example(page: &[&str]) -> bool {
    let mut inside = false;
    for line in page.iter().map(|line| line.trim()).filter(|line| line.starts_with("```")) {
        if !inside && matches!(line, "```" | "```rust" | "```no_run" | "```should_panic" | "```compile_fail")
        {
            return true;
        }
        inside = !inside;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        check(&Tree::of(&[("crates/a/Cargo.toml", ""), ("crates/a/src/lib.rs", text)])).len()
    }

    #[test]
    fn canary_a_crate_page_without_an_example_is_refused() {
        assert_eq!(count("pub mod a;\n"), 1);
        assert_eq!(count("//! An idea.\npub mod a;\n//! ```\n"), 1);
        assert_eq!(count("//! An idea.\n//! ```text\n//! no code\n//! ```\n"), 1);
    }

    #[test]
    fn a_crate_page_with_an_example_is_fine() {
        assert_eq!(count("//! An idea.\n//!\n//! ```\n//! let a = 1;\n//! ```\npub mod a;\n"), 0);
    }
}
