//! The field's terms: names of types that were ours alone, and what the field says instead.

use super::Violation;
use crate::tree::Tree;

const RULE: &str = "name";

/// Names that no type may have, and what to say.
const BANNED: &[(&str, &str)] = &[
    ("Asking", "PendingQuestions, or what is pending"),
    ("Asks", "RequestKind, or what kind of a request it is"),
    ("Attendant", "Executor"),
    ("Carrier", "AppFace, Transport or Connection"),
    ("Commander", "CommandHandler, or what it does with commands"),
    ("Contradiction", "InvariantViolation, or what is violated"),
    ("Demand", "Request or Command"),
    ("Demands", "what it demands: Digests, Requests"),
    ("Desk", "Queue"),
    ("Detours", "Alternatives or a plan"),
    ("Fine", "its unit"),
    ("Given", "Answer"),
    ("Happening", "Event"),
    ("Holdings", "the resources that it holds"),
    ("InVain", "the reason of what failed"),
    ("Judge", "Verifier"),
    ("Keeper", "the thread or the store that it is"),
    ("Leisure", "Background"),
    ("Must", "Bound"),
    ("Namesakes", "DuplicateNames"),
    ("News", "NewMessages, Updates"),
    ("PaidBy", "Owner"),
    ("Parked", "Pending or Buffered"),
    ("Patience", "RetryPolicy or Timeout"),
    ("Patient", "a stream or reader with its timeout"),
    ("Piece", "Segment, Fragment or Chunk"),
    ("Reach", "Scope"),
    ("Refusal", "an error with the name of what failed, or a drop reason"),
    ("Rest", "Details, or what the rest is"),
    ("Said", "Messages, or what was said"),
    ("Seam", "Handle or Interface"),
    ("Shortage", "an error with the name of what failed"),
    ("Silence", "Timeout, or NoResponse"),
    ("Situation", "Context or State"),
    ("Stand", "Testbed"),
    ("Standing", "State"),
    ("Supply", "Context, or the source that it is"),
    ("Tally", "Counters, Statistics or History"),
    ("Teller", "Notifier or Reporter"),
    ("Tells", "Notifier"),
    ("TellsItsEnd", "EndNotifier"),
    ("Told", "Answer or Result"),
    ("Turned", "Outcome"),
    ("Turns", "Queue or Schedule"),
    ("Twin", "Handle"),
    ("Upkeep", "Maintenance"),
    ("Vigil", "Watchdog or Timer"),
    ("Visitor", "Connection or Client"),
    ("Visitors", "Connections or Clients"),
    ("Wanted", "Requested"),
    ("Way", "Transport, Path or Route"),
    ("Ways", "Paths or Routes"),
];

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    let sources = tree.rust().filter(|(path, _)| path.starts_with("crates/"));
    for (path, text) in sources {
        for (number, line) in text.lines().enumerate() {
            let Some((word, instead)) =
                type_name(line).and_then(|name| BANNED.iter().find(|(word, _)| *word == name))
            else {
                continue;
            };
            violations.push(Violation::new(RULE, path, number + 1, format!("{word}: say {instead}")));
        }
    }
    violations
}

/// The name of the type that begins in a line.
fn type_name(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    if !["struct", "enum", "trait", "type", "union"].contains(&words.next()?) {
        return None;
    }
    words.next()?.split(|c: char| !c.is_alphanumeric()).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canary_a_word_of_our_own_names_no_type() {
        let text = "use a::Ways;\npub enum Ways {\n}\npub(crate) struct Seam<T>(T);\ntype WaysOut = u8;\n";
        let found = check(&Tree::of(&[("crates/a/src/a.rs", text), ("xtask/src/a.rs", text)]));
        let lines: Vec<usize> = found.iter().map(|violation| violation.line).collect();
        assert_eq!(lines, [2, 4]);
        assert!(found[0].message.contains("Paths or Routes"));
    }
}
