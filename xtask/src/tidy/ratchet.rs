//! The list of exceptions to the length rules. It can only shrink.
//!
//! A line is `file-length PATH LINES` or `function-length PATH::NAME LINES`. An entry that is no longer
//! needed, or that allows more than the code uses, fails the check and has to be removed or lowered.

use std::collections::BTreeMap;

use super::Violation;
use crate::tree::Tree;

/// Where the list is.
pub(super) const PATH: &str = "xtask/ratchet.txt";
const RULE: &str = "ratchet";

/// The exceptions, by rule and subject.
pub(super) struct Ratchet {
    allowed: BTreeMap<(String, String), (usize, usize)>,
    violations: Vec<Violation>,
}

impl Ratchet {
    pub(super) fn of(tree: &Tree) -> Self {
        let mut ratchet = Ratchet { allowed: BTreeMap::new(), violations: Vec::new() };
        for (number, line) in tree.get(PATH).unwrap_or_default().lines().enumerate() {
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            match words.as_slice() {
                [] => {}
                [rule, subject, lines] if lines.parse::<usize>().is_ok() => {
                    let key = ((*rule).to_owned(), (*subject).to_owned());
                    ratchet.allowed.insert(key, (lines.parse().unwrap_or_default(), number + 1));
                }
                _ => ratchet.complain(number + 1, "an entry is `RULE SUBJECT LINES`".to_owned()),
            }
        }
        ratchet
    }

    /// How many lines `subject` may have where the rule allows `limit`. Call once for each subject that
    /// exceeds the limit; what is never asked for is no longer needed.
    pub(super) fn allowance(&mut self, rule: &str, subject: &str, lines: usize, limit: usize) -> usize {
        let Some((allowed, number)) = self.allowed.remove(&(rule.to_owned(), subject.to_owned())) else {
            return limit;
        };
        if lines < allowed {
            self.complain(number, format!("{subject} has shrunk: lower its entry from {allowed} to {lines}"));
        }
        allowed
    }

    /// What is wrong with the list itself.
    pub(super) fn finish(mut self) -> Vec<Violation> {
        for ((rule, subject), (_, number)) in std::mem::take(&mut self.allowed) {
            self.complain(number, format!("{subject} no longer breaks {rule}: remove its entry"));
        }
        self.violations
    }

    fn complain(&mut self, line: usize, message: String) {
        self.violations.push(Violation::new(RULE, PATH, line, message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratchet(text: &str) -> Ratchet {
        Ratchet::of(&Tree::of(&[(PATH, text)]))
    }

    #[test]
    fn an_entry_allows_exactly_what_it_says() {
        let mut list = ratchet("# why\nfile-length a.rs 700  # reason\n");
        assert_eq!(list.allowance("file-length", "a.rs", 700, 600), 700);
        assert_eq!(list.allowance("file-length", "b.rs", 700, 600), 600);
        assert!(list.finish().is_empty());
    }

    #[test]
    fn canary_an_entry_that_is_no_longer_needed_fails() {
        let list = ratchet("file-length a.rs 700\n");
        assert!(list.finish()[0].message.contains("no longer breaks"));
    }

    #[test]
    fn canary_an_entry_that_allows_too_much_fails() {
        let mut list = ratchet("file-length a.rs 700\n");
        list.allowance("file-length", "a.rs", 650, 600);
        assert!(list.finish()[0].message.contains("from 700 to 650"));
    }

    #[test]
    fn canary_a_malformed_entry_fails() {
        assert_eq!(ratchet("file-length a.rs many\n").finish().len(), 1);
    }
}
