//! Prose is at most 110 columns wide, in comments as in Markdown: longer lines are read by nobody.
//!
//! Rust has a formatter for code, so only comments count there, examples in them included; in TOML comments
//! count, for texts between quotes cannot be broken. In what has no formatter (Markdown, the Makefile,
//! scripts, units of systemd) every line counts. What a program has printed (a block of Markdown without a
//! language, or of `text`) and what cannot be broken (a link, a path) may be longer. A row of a table, which
//! has one line, stays below 150 columns.

use super::Violation;
use crate::tree::Tree;

const RULE: &str = "columns";
const COLUMNS: usize = 110;
/// For a row of a table, which has fewer than 150.
const TABLE_COLUMNS: usize = 149;

/// What of a file is prose.
#[derive(Clone, Copy)]
enum Prose {
    /// Every line.
    Lines,
    /// Every line but those of blocks that show what a program has printed.
    Markdown,
    /// What stands behind this mark.
    Comments(&'static str),
}

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.iter() {
        let Some(prose) = prose(path, text) else { continue };
        let mut block = Block::None;
        for (number, line) in text.lines().enumerate() {
            let words = match prose {
                Prose::Lines => Some(line),
                Prose::Markdown => {
                    block = block.after(line);
                    (block != Block::Printed).then_some(line)
                }
                Prose::Comments(mark) => comment(line, mark),
            };
            let Some(words) = words else { continue };
            let columns = line.chars().count();
            let message = if words.trim_start().starts_with('|') {
                if columns <= TABLE_COLUMNS {
                    continue;
                }
                format!("{columns} columns in a row of a table; write below it what is above {TABLE_COLUMNS}")
            } else {
                if columns <= COLUMNS || !words.trim().contains(' ') {
                    continue;
                }
                format!("{columns} columns of prose; break the line at {COLUMNS}")
            };
            violations.push(Violation::new(RULE, path, number + 1, message));
        }
    }
    violations
}

fn prose(path: &str, text: &str) -> Option<Prose> {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((_, "rs")) => Some(Prose::Comments("//")),
        Some((_, "toml")) => Some(Prose::Comments("#")),
        Some((_, "lua")) => Some(Prose::Comments("--")),
        Some((_, "md")) => Some(Prose::Markdown),
        Some((_, "py" | "pyi" | "mjs" | "service" | "sh")) => Some(Prose::Lines),
        _ if name == "Makefile" || text.starts_with("#!") => Some(Prose::Lines),
        _ => None,
    }
}

/// Where in a page of Markdown a line stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    None,
    /// Between fences that name a language: what people write, and can break.
    Written,
    /// Between fences that name none, or `text`: what a program has printed.
    Printed,
}

impl Block {
    /// Where the next line stands, given this one.
    fn after(self, line: &str) -> Block {
        match (line.trim_start().strip_prefix("```"), self) {
            (None, same) => same,
            (Some("" | "text"), Block::None) => Block::Printed,
            (Some(_), Block::None) => Block::Written,
            (Some(_), _) => Block::None,
        }
    }
}

/// What a line says behind `mark`, at its start or behind code. A mark between quotes is none.
fn comment<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    let is_outside = |before: &str| {
        let quotes = before.matches('"').count();
        (before.is_empty() || before.ends_with(char::is_whitespace)) && quotes.is_multiple_of(2)
    };
    let (at, _) = line.match_indices(mark).find(|(at, _)| is_outside(&line[..*at]))?;
    Some(line[at + mark.len()..].trim_start_matches(['/', '!']))
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
    fn comments_behind_code_and_in_toml_and_what_has_no_formatter_are_held_to_it_too() {
        let wide = "word ".repeat(30);
        assert_eq!(lines("crates/a/src/b.rs", &format!("f(\"//\"); // {wide}\n")), [1]);
        for path in ["experiments/a.toml", "Makefile", "packaging/a.service", "tests/a.py", "tests/a.mjs"] {
            assert_eq!(lines(path, &format!("\n# {wide}\n")), [2], "{path}");
        }
        assert_eq!(lines("experiments/a.toml", &format!("key = 1 # {wide}\n")), [1]);
        assert_eq!(lines(".ci/run", &format!("#!/bin/sh\necho {wide}\n")), [2]);
    }

    #[test]
    fn examples_in_comments_and_commands_in_markdown_are_held_to_it_too() {
        let wide = "word ".repeat(30);
        assert_eq!(lines("crates/a/src/b.rs", &format!("/// ```\n/// f(\"{wide}\");\n/// ```\n")), [2]);
        assert_eq!(lines("docs/a.md", &format!("```sh\n{wide}\n```\n{wide}\n")), [2, 4]);
    }

    #[test]
    fn a_row_of_a_table_has_fewer_than_150_columns() {
        let row = |columns: usize| format!("| {} |\n", "w ".repeat(columns / 2 - 2));
        assert!(lines("docs/a.md", &row(148)).is_empty());
        assert_eq!(lines("docs/a.md", &row(150)), [1]);
        assert_eq!(lines("crates/a/src/b.rs", &format!("/// {}", row(148))), [1]);
    }

    #[test]
    fn what_was_printed_and_what_cannot_be_broken_may_be_wide() {
        let wide = "word ".repeat(30);
        let path = "a/".repeat(80);
        assert!(lines("docs/a.md", &format!("{path}\n")).is_empty());
        for fence in ["```", "```text"] {
            assert_eq!(lines("docs/a.md", &format!("{fence}\n{wide}\n```\n{wide}\n")), [4], "{fence}");
        }
        assert!(lines("crates/a/src/b.rs", &format!("let a = \"// {wide}\";\n")).is_empty());
        assert!(lines("experiments/a.toml", &format!("a = \"# {wide}\"\n")).is_empty());
        assert!(lines("vectors/a.txt", &format!(";; about: {wide}\n")).is_empty());
    }

    #[test]
    fn columns_are_counted_not_bytes() {
        assert!(lines("docs/a.md", &"µ ".repeat(55)).is_empty());
    }
}
