//! Files of a few hundred lines and functions that fit on a screen: one idea each.

use super::Violation;
use super::ratchet::Ratchet;
use crate::source::Source;
use crate::tree::Tree;

const FILE_RULE: &str = "file-length";
const FUNCTION_RULE: &str = "function-length";

const FILE_LINES: usize = 600;
/// Tables of cases are long without being hard to read.
const TEST_FILE_LINES: usize = 800;
const FUNCTION_LINES: usize = 70;

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut ratchet = Ratchet::of(tree);
    let mut violations = Vec::new();
    for (path, text) in tree.rust() {
        let is_test = path.contains("/tests/") || path.contains("/benches/") || path.ends_with("/tests.rs");
        let limit = if is_test { TEST_FILE_LINES } else { FILE_LINES };
        let lines = text.lines().count();
        if lines > limit {
            let allowed = ratchet.allowance(FILE_RULE, path, lines, limit);
            if lines > allowed {
                let message =
                    format!("{lines} lines, allowed are {allowed}: give each idea a file of its own");
                violations.push(Violation::new(FILE_RULE, path, 0, message));
            }
        }
        for function in Source::new(text).functions() {
            if function.lines > FUNCTION_LINES {
                let subject = format!("{path}::{}", function.name);
                let allowed = ratchet.allowance(FUNCTION_RULE, &subject, function.lines, FUNCTION_LINES);
                if function.lines > allowed {
                    let message = format!(
                        "`{}` has {} lines, allowed are {allowed}: name its steps and make them functions",
                        function.name, function.lines
                    );
                    violations.push(Violation::new(FUNCTION_RULE, path, function.line, message));
                }
            }
        }
    }
    violations.extend(ratchet.finish());
    violations
}

#[cfg(test)]
mod tests {
    use super::super::ratchet::PATH;
    use super::*;

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    step();\n".repeat(lines - 2))
    }

    #[test]
    fn canary_a_file_of_601_lines_is_refused() {
        let check_lines = |path: &str, lines| check(&Tree::of(&[(path, &"\n".repeat(lines))])).len();
        assert_eq!(check_lines("crates/a/src/b.rs", 600), 0);
        assert_eq!(check_lines("crates/a/src/b.rs", 601), 1);
        assert_eq!(check_lines("crates/a/tests/b.rs", 800), 0);
        assert_eq!(check_lines("crates/a/tests/b.rs", 801), 1);
    }

    #[test]
    fn canary_a_function_of_71_lines_is_refused() {
        let check_lines = |lines| check(&Tree::of(&[("crates/a/src/b.rs", &function(lines))])).len();
        assert_eq!(check_lines(70), 0);
        assert_eq!(check_lines(71), 1);
    }

    #[test]
    fn a_listed_exception_may_stay_but_not_grow() {
        let check_with = |lines: usize, entry: &str| {
            check(&Tree::of(&[("a.rs", &function(lines)), (PATH, &format!("function-length {entry}\n"))]))
                .len()
        };
        assert_eq!(check_with(80, "a.rs::long 80"), 0);
        assert_eq!(check_with(81, "a.rs::long 80"), 1);
        assert_eq!(check_with(79, "a.rs::long 80"), 1);
        assert_eq!(check_with(60, "a.rs::long 80"), 1);
    }
}
