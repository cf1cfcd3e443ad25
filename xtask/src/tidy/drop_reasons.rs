//! One word for one reason: every table of drop reasons is made by `packet::drop_reasons!`, and the word of a
//! reason is its name in lower case with hyphens, so that who drops for the same reason cannot use two words.

use super::Violation;
use crate::tree::Tree;

const RULE: &str = "drop-reason";

const MACRO: &str = "drop_reasons! {";
/// Where the macro is.
const OWN: &str = "crates/packet/src/drop_reasons.rs";

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.rust().filter(|(path, _)| path.starts_with("crates/") && *path != OWN) {
        let mut seen: Vec<&str> = Vec::new();
        let mut in_table = false;
        let mut explanation = "";
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            let mut refuse = |message: String| violations.push(Violation::new(RULE, path, number, message));
            if line.starts_with("macro_rules! drop_reasons") {
                refuse("a table of drop reasons is made by `packet::drop_reasons!`".to_owned());
            } else if line.ends_with(MACRO) {
                (in_table, seen) = (true, Vec::new());
            } else if in_table && line.contains("pub struct") {
                in_table = false;
            } else if in_table && line.starts_with("///") {
                explanation = line;
            } else if in_table && let Some((name, word)) = reason(line) {
                if word != hyphenated(name) {
                    refuse(format!("{name} has the word {word:?}: it must be {:?}", hyphenated(name)));
                }
                if seen.contains(&word) {
                    refuse(format!("{word:?} stands twice in one table"));
                }
                if !explanation.ends_with('.') {
                    refuse(format!("{name} is not explained in a sentence"));
                }
                seen.push(word);
                explanation = "";
            }
        }
    }
    violations
}

/// The name and the word of a reason: `QueueFull = "queue-full",`.
fn reason(line: &str) -> Option<(&str, &str)> {
    let (name, word) = line.split_once(" = \"")?;
    Some((name, word.strip_suffix("\",")?))
}

/// `queue-full` of `QueueFull`.
fn hyphenated(name: &str) -> String {
    let mut word = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !word.is_empty() {
            word.push('-');
        }
        word.push(letter.to_ascii_lowercase());
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(table: &str) -> Vec<Violation> {
        check(&Tree::of(&[("crates/a/src/reasons.rs", table)]))
    }

    #[test]
    fn a_table_of_names_and_their_words_is_fine() {
        let table = "packet::drop_reasons! {\n/// Why.\npub enum R {\n/// It is full.\nQueueFull = \"queue-full\",\n}\npub struct C;\n}";
        assert!(violations(table).is_empty());
    }

    #[test]
    fn canary_another_word_a_second_time_and_no_sentence_are_refused() {
        let table = "packet::drop_reasons! {\npub enum R {\n/// It is full.\nQueueFull = \"full\",\n/// Gone\nGone = \"gone\",\n/// Gone.\nGone = \"gone\",\n}\npub struct C;\n}";
        let found: Vec<usize> = violations(table).iter().map(|violation| violation.line).collect();
        assert_eq!(found, [4, 6, 8]);
    }

    #[test]
    fn canary_a_macro_of_ones_own_is_refused() {
        assert_eq!(violations("macro_rules! drop_reasons {\n").len(), 1);
        assert_eq!(hyphenated("NackOnMultiAccess"), "nack-on-multi-access");
    }
}
