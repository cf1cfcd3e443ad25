//! Prose is at most 110 columns wide, in comments as in Markdown: longer lines are read by nobody.
//!
//! Code keeps what the formatter gives it. Tables, blocks of code and what cannot be broken (a link, a path)
//! may be longer.

use super::Violation;
use crate::tree::Tree;

const RULE: &str = "columns";
const COLUMNS: usize = 110;

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.iter() {
        let prose: fn(&str) -> Option<&str> = match path.rsplit_once('.') {
            Some((_, "rs")) => comment,
            Some((_, "md")) => |line| Some(line),
            _ => continue,
        };
        let mut in_code = false;
        for (number, line) in text.lines().enumerate() {
            let Some(words) = prose(line) else {
                in_code = false;
                continue;
            };
            if words.trim_start().starts_with("```") {
                in_code = !in_code;
            } else if !in_code && is_too_wide(line, words) {
                let columns = line.chars().count();
                let message = format!("{columns} columns of prose; break the line at {COLUMNS}");
                violations.push(Violation::new(RULE, path, number + 1, message));
            }
        }
    }
    violations
}

/// What a line of a Rust file says if it is a comment.
fn comment(line: &str) -> Option<&str> {
    let words = line.trim_start().strip_prefix("//")?;
    Some(words.trim_start_matches(['/', '!']))
}

fn is_too_wide(line: &str, words: &str) -> bool {
    let is_table = words.trim_start().starts_with('|');
    let can_be_broken = words.trim().contains(' ');
    line.chars().count() > COLUMNS && !is_table && can_be_broken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::of(&[(path, text)])).iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn canary_a_wide_comment_and_a_wide_paragraph_are_refused() {
        let wide = "word ".repeat(30);
        assert_eq!(lines("crates/a/src/b.rs", &format!("fn f() {{}}\n    /// {wide}\n")), [2]);
        assert_eq!(lines("crates/a/src/b.rs", &format!("//! {wide}\n")), [1]);
        assert_eq!(lines("docs/a.md", &format!("short\n\n{wide}\n")), [3]);
    }

    #[test]
    fn tables_code_and_what_cannot_be_broken_may_be_wide() {
        let wide = "word ".repeat(30);
        let path = "a/".repeat(80);
        for text in [format!("| {wide} |\n"), format!("```sh\n{wide}\n```\n"), format!("{path}\n")] {
            assert!(lines("docs/a.md", &text).is_empty(), "{text}");
        }
        assert!(lines("crates/a/src/b.rs", &format!("let a = \"{wide}\";\n")).is_empty());
        assert!(
            lines("crates/a/src/b.rs", &format!("/// ```\n/// let a = \"{wide}\";\n/// ```\n")).is_empty()
        );
    }

    #[test]
    fn columns_are_counted_not_bytes() {
        assert!(lines("docs/a.md", &"µ ".repeat(55)).is_empty());
    }
}
