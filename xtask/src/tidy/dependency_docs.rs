//! Every third-party crate that is asked for by name is explained in `docs/dependencies.md`.

use super::Violation;
use crate::manifest;
use crate::tree::Tree;

const RULE: &str = "dependency-docs";
const PAGE: &str = "docs/dependencies.md";

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let page = tree.get(PAGE).unwrap_or_default();
    let workspace = tree.get("Cargo.toml").unwrap_or_default();
    let mut violations = Vec::new();
    for (path, text) in tree.iter().filter(|(path, _)| *path == "Cargo.toml" || path.ends_with("/Cargo.toml"))
    {
        for dependency in manifest::dependencies(text, workspace) {
            let name = dependency.package;
            if !is_own(name) && !is_explained(page, name) {
                let message =
                    format!("`{name}` is not in {PAGE}: say there what it is for and why not our own code");
                violations.push(Violation::new(RULE, path, dependency.line, message));
            }
        }
    }
    violations
}

/// Whether the page has a row of a table or an entry of a list about it.
fn is_explained(page: &str, name: &str) -> bool {
    let (row, entry) = (format!("| `{name}` |"), format!("- `{name}` ("));
    page.lines().any(|line| line.starts_with(&row) || line.starts_with(&entry))
}

/// Whether this is a crate of the workspace.
fn is_own(name: &str) -> bool {
    name == "cairn" || name.starts_with("cairn-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(page: &str) -> usize {
        let manifest =
            "[dependencies]\ncairn.workspace = true\ncairn-packet.workspace = true\nsha2 = \"1\"\n";
        check(&Tree::of(&[("crates/a/Cargo.toml", manifest), (PAGE, page)])).len()
    }

    #[test]
    fn canary_a_crate_that_nobody_explains_is_refused() {
        assert_eq!(count("| `sha1` | old |"), 1);
        assert_eq!(count("Not `sha2` (digests): another."), 1);
        assert_eq!(count("| `sha2` | digests |"), 0);
        assert_eq!(count("- `sha2` (trust): digests."), 0);
    }
}
