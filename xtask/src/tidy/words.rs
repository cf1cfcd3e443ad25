//! Words that have no business in a tracked file: notes to self and paths of one machine.

use super::Violation;
use crate::tree::Tree;

const RULE: &str = "word";

/// Taken apart, so that this file does not hold them.
const BANNED: &[(&str, &str)] = &[
    (concat!("TO", "DO"), "do it now, or write it down in the issue tracker"),
    (concat!("FIX", "ME"), "fix it now, or write it down in the issue tracker"),
    (concat!("XX", "X"), "say what you mean"),
    (concat!("/wo", "rk/"), "a path of one machine: copy what is needed into the repository"),
    (concat!("../sha", "red"), "a path of one machine: copy what is needed into the repository"),
];

/// Files that hold other people's words.
const EXEMPT: &[&str] = &["LICENSE", "Cargo.lock", "fuzz/Cargo.lock", "python/Cargo.lock"];

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.iter().filter(|(path, _)| !EXEMPT.contains(path)) {
        for (number, line) in text.lines().enumerate() {
            for (word, instead) in BANNED.iter().filter(|(word, _)| holds(line, word)) {
                violations.push(Violation::new(RULE, path, number + 1, format!("{word}: {instead}")));
            }
        }
    }
    violations
}

/// Does `line` hold `word`, not as part of a longer one?
fn holds(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let is_letter = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
        let inside_path = word.starts_with('/') && is_letter(line[..at].bytes().next_back());
        let inside_word = word.bytes().all(|byte| byte.is_ascii_alphabetic())
            && (is_letter(line[..at].bytes().next_back())
                || is_letter(line[at + word.len()..].bytes().next()));
        !inside_path && !inside_word
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canary_every_banned_word_is_refused_in_comments_too() {
        for (word, _) in BANNED {
            let tree = Tree::of(&[(
                "docs/a.md",
                &format!("one\n// see {word}b\n").replace(&format!("{word}b"), word),
            )]);
            let found = check(&tree);
            assert_eq!((found.len(), found[0].line), (1, 2), "{word}");
        }
    }

    #[test]
    fn longer_words_and_inner_folders_are_fine() {
        let text = concat!("MAST", "ODON XX", "XX clock", "wo", "rk/a net", "/wo", "rk/b");
        assert!(check(&Tree::of(&[("docs/a.md", text)])).is_empty());
    }

    #[test]
    fn other_peoples_words_are_exempt() {
        assert!(check(&Tree::of(&[("LICENSE", BANNED[0].0)])).is_empty());
    }
}
