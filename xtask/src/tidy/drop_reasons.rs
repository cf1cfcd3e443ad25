//! One word for one reason: every table of drop reasons is made by `packet::drop_reasons!`, and the word of a
//! reason is its name in lower case with hyphens, so that who drops for the same reason cannot use two words.
//! Two tables do not explain two words with the same sentence, and no word is a part of another table's.

use std::collections::BTreeSet;

use super::Violation;
use crate::tree::Tree;

const RULE: &str = "drop-reason";

const MACRO: &str = "drop_reasons! {";
/// Where the macro is.
const OWN: &str = "crates/packet/src/drop_reasons.rs";

/// Words of an explanation that say nothing of the reason.
const FILLERS: &str = "a an and are as at be by for in is it its may not of on one or received sent so that the \
                       there to was were which who";

/// A reason of a table.
struct Reason<'a> {
    path: &'a str,
    line: usize,
    word: &'a str,
    /// The words that explain it.
    meaning: BTreeSet<String>,
}

impl Reason<'_> {
    /// Whether another table most likely means the same by another word.
    fn is_double_of(&self, other: &Reason<'_>) -> bool {
        if self.path == other.path || self.word == other.word {
            return false;
        }
        let (words, others): (BTreeSet<&str>, BTreeSet<&str>) =
            (self.word.split('-').collect(), other.word.split('-').collect());
        let common = self.meaning.intersection(&other.meaning).count();
        let is_explained_alike = common * 2 >= self.meaning.union(&other.meaning).count().max(1);
        is_explained_alike || words.is_subset(&others) || others.is_subset(&words)
    }
}

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let (mut violations, reasons) = tables(tree);
    for (at, reason) in reasons.iter().enumerate() {
        for earlier in reasons.iter().take(at).filter(|earlier| reason.is_double_of(earlier)) {
            let message =
                format!("{:?} seems to be {:?} of {}: one word", reason.word, earlier.word, earlier.path);
            violations.push(Violation::new(RULE, reason.path, reason.line, message));
        }
    }
    violations
}

/// What is wrong in single tables, and the reasons of all.
fn tables(tree: &Tree) -> (Vec<Violation>, Vec<Reason<'_>>) {
    let (mut violations, mut reasons) = (Vec::new(), Vec::new());
    for (path, text) in tree.rust().filter(|(path, _)| path.starts_with("crates/") && *path != OWN) {
        let mut seen: Vec<&str> = Vec::new();
        let mut in_table = false;
        let mut explanation = String::new();
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            let mut refuse = |message: String| violations.push(Violation::new(RULE, path, number, message));
            if line.starts_with("macro_rules! drop_reasons") {
                refuse("a table of drop reasons is made by `packet::drop_reasons!`".to_owned());
            } else if line.ends_with(MACRO) {
                (in_table, seen) = (true, Vec::new());
            } else if in_table && line.contains("pub struct") {
                in_table = false;
            } else if in_table && line.starts_with("///") {
                explanation.push_str(line);
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
                reasons.push(Reason { path, line: number, word, meaning: meaning(&explanation) });
                explanation.clear();
            } else {
                explanation.clear();
            }
        }
    }
    (violations, reasons)
}

/// The words that matter of an explanation. What is dropped is a frame to some and a packet to others.
fn meaning(explanation: &str) -> BTreeSet<String> {
    let words = explanation.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let words = words.filter(|word| !word.is_empty() && !FILLERS.split(' ').any(|filler| filler == word));
    words.map(|word| if word == "frame" { "packet".to_owned() } else { word }).collect()
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
    fn canary_two_tables_with_two_words_for_one_reason_are_refused() {
        let table = |reason: &str| {
            format!("packet::drop_reasons! {{\npub enum R {{\n{reason}\n}}\npub struct C;\n}}")
        };
        let doubles = |first: &str, second: &str| {
            let tables = [table(first), table(second)];
            check(&Tree::of(&[("crates/a/src/a.rs", &tables[0]), ("crates/b/src/b.rs", &tables[1])])).len()
        };
        let gone = "/// The face that the packet was for is gone.\nUnknownFace = \"unknown-face\",";
        assert_eq!(doubles(gone, "/// Received: a frame for a face that is gone.\nNoFace = \"no-face\","), 1);
        assert_eq!(doubles(gone, gone), 0);
        let large = "/// It exceeds the limit.\nPacketTooLarge = \"packet-too-large\",";
        assert_eq!(doubles(large, "/// No record has room for it.\nTooLarge = \"too-large\","), 1);
        assert_eq!(doubles(large, gone), 0);
    }

    #[test]
    fn canary_a_macro_of_ones_own_is_refused() {
        assert_eq!(violations("macro_rules! drop_reasons {\n").len(), 1);
        assert_eq!(hyphenated("NackOnMultiAccess"), "nack-on-multi-access");
    }
}
