//! Code that looks like a check and is none, and code that only a listed file may hold.

use super::Violation;
use crate::source::Source;
use crate::tree::Tree;

/// Where `unsafe` code may stand: files, and folders of nothing but system calls. Clippy asks for a `SAFETY:`
/// comment at every block.
const UNSAFE_PLACES: &[&str] = &[
    "crates/allocator/src/lib.rs",
    "crates/engine/src/batch/processor.rs",
    "crates/node/src/sys/",
    "crates/testkit/src/counting_allocator.rs",
];

/// Macros of work in progress.
const UNFINISHED: &[(&str, &str)] = &[
    ("dbg!", "remove it"),
    ("todo!", "write it, or return an error that says what is missing"),
    ("unimplemented!", "write it, or return an error that says what is missing"),
];

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    tree.rust().flat_map(|(path, text)| check_file(path, &Source::new(text))).collect()
}

fn check_file(path: &str, source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    for at in matches_statements(source) {
        let message = "`matches!(..);` checks nothing: write `assert!(matches!(..));`";
        violations.push(Violation::new("statement", path, source.line(at), message));
    }
    for (word, instead) in UNFINISHED {
        for at in source.find(word) {
            violations.push(Violation::new("statement", path, source.line(at), format!("{word}: {instead}")));
        }
    }
    if !UNSAFE_PLACES.iter().any(|place| path.starts_with(place)) {
        for at in source.find("unsafe") {
            let message = format!("unsafe code only in the places listed in {}", file!());
            violations.push(Violation::new("unsafe", path, source.line(at), message));
        }
    }
    violations
}

/// Where `matches!(…)` is a whole statement.
fn matches_statements(source: &Source) -> Vec<usize> {
    let code = source.code();
    source
        .find("matches!")
        .filter(|&at| {
            let starts = code[..at].trim_end().bytes().next_back().is_none_or(|byte| b";{}".contains(&byte));
            let end = source.bracketed(at + "matches!".len()).map_or(at, |range| range.end);
            starts && code[end..].trim_start().starts_with(';')
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(&Tree::of(&[("crates/a/src/b.rs", text)])).into_iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn canary_matches_as_a_statement_is_refused() {
        assert_eq!(lines("fn f() {\n    matches!(a, B { .. });\n}"), [2]);
        assert_eq!(lines("fn f() {\n    let x = 1;\n    matches!(a, b)\n    ;\n}"), [3]);
    }

    #[test]
    fn matches_as_a_value_is_fine() {
        assert!(
            lines("fn f() -> bool { assert!(matches!(a, b)); let x = matches!(a, b); matches!(a, b) }")
                .is_empty()
        );
    }

    #[test]
    fn canary_unsafe_code_is_refused_outside_listed_files() {
        assert_eq!(lines("fn f() { unsafe { g() } }"), [1]);
        assert!(lines("#![deny(unsafe_code)] // unsafe\n").is_empty());
    }

    #[test]
    fn canary_unfinished_code_is_refused() {
        for (word, _) in UNFINISHED {
            assert_eq!(lines(&format!("fn f() {{ {word}() }}")), [1]);
        }
    }
}
