//! The field's terms: names of types, functions, modules and constants that were ours alone, and what the
//! field says.

use super::Violation;
use crate::tree::Tree;

const RULE: &str = "name";

/// Names that no type may have, in small letters no function and no module, as one of its words no constant,
/// and what to say.
const BANNED: &[(&str, &str)] = &[
    ("Asked", "the request or Interest that it is"),
    ("Asker", "Requester"),
    ("Asking", "PendingQuestions, or what is pending"),
    ("Asks", "RequestKind, or what kind of a request it is"),
    ("Attendant", "Executor"),
    ("Awake", "IdleInhibitor, or what is awake"),
    ("Before", "what was before: EarlierCounts, EarlierSample"),
    ("Carrier", "AppFace, Transport or Connection"),
    ("Commander", "CommandHandler, or what it does with commands"),
    ("Contradiction", "InvariantViolation, or what is violated"),
    ("Cut", "Outage, or what is cut"),
    ("Demand", "Request or Command"),
    ("Demands", "what it demands: Digests, Requests"),
    ("Desk", "Queue"),
    ("Detours", "Alternatives or a plan"),
    ("Emptiness", "IsDefault"),
    ("Ended", "what has ended, or Outcome"),
    ("Fine", "its unit"),
    ("Found", "what was found"),
    ("Given", "Answer"),
    ("Glance", "CHECK_INTERVAL"),
    ("Handover", "Insertion"),
    ("Happening", "Event"),
    ("Held", "what is held"),
    ("Holdings", "the resources that it holds"),
    ("InVain", "the reason of what failed"),
    ("Inlet", "Input"),
    ("Judge", "Verifier"),
    ("Judged", "what has a verdict"),
    ("Keeper", "the thread or the store that it is"),
    ("Kept", "what is kept"),
    ("Known", "what is known"),
    ("Leisure", "Background"),
    ("Made", "what is made"),
    ("Mover", "what is done with what it moves"),
    ("Must", "Bound"),
    ("Namesakes", "DuplicateNames"),
    ("News", "NewMessages, Updates"),
    ("Notice", "Event"),
    ("PaidBy", "Owner"),
    ("Parked", "Pending or Buffered"),
    ("Patience", "RetryPolicy or Timeout"),
    ("Patient", "a stream or reader with its timeout"),
    ("Piece", "Segment, Fragment or Chunk"),
    ("Place", "Slot, Point, KeyPath, or what has a place"),
    ("Placed", "what has a place"),
    ("Reach", "Scope"),
    ("Refusal", "an error with the name of what failed, or a drop reason"),
    ("Rest", "Details, or what the rest is; of a pause RETRY_INTERVAL or BACK_OFF"),
    ("Said", "Messages, or what was said"),
    ("Seam", "Handle or Interface"),
    ("Seen", "History, or what was seen"),
    ("Shortage", "an error with the name of what failed"),
    ("Silence", "Timeout, or NoResponse"),
    ("Situation", "Context or State"),
    ("Stand", "Testbed"),
    ("Standing", "State"),
    ("Supply", "Context, or the source that it is"),
    ("Taken", "Costs, or what is taken"),
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
    ("Waiting", "what waits: QueuedPacket, PendingRequest"),
    ("Wanted", "Requested"),
    ("Way", "Transport, Path or Route"),
    ("Ways", "Paths or Routes"),
    ("Wish", "Decision"),
    ("Wishes", "Interests, or Decisions"),
    ("Written", "what is written: a record, a repeat"),
];

/// Of these words, those that may name a function or a constant: verbs, and what says something of what it is
/// given or of how many. `Rest` may name a function alone.
const VERBS: &[&str] = &[
    "Asked", "Asking", "Asks", "Awake", "Before", "Cut", "Demand", "Ended", "Found", "Given", "Handover",
    "Held", "Judge", "Judged", "Kept", "Known", "Made", "Must", "Notice", "Parked", "Place", "Placed",
    "Reach", "Rest", "Said", "Seen", "Stand", "Taken", "Told", "Turned", "Turns", "Waiting", "Wanted",
    "Ways", "Written",
];

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.rust() {
        for (number, line) in text.lines().enumerate() {
            if let Some((name, instead)) = banned_name(line) {
                violations.push(Violation::new(RULE, path, number + 1, format!("{name}: say {instead}")));
            }
        }
    }
    violations
}

/// The name of the type, function, module or constant that begins in a line, if it is banned, and what to
/// say. Of a constant's name every word counts.
fn banned_name(line: &str) -> Option<(&str, &'static str)> {
    const BEFORE: &[&str] = &["async", "unsafe", "mut"];
    let mut words = line.split_whitespace().filter(|word| !word.starts_with("pub") && !BEFORE.contains(word));
    let (mut what, mut name) = (words.next()?, words.next()?);
    if what == "const" && ["fn", "unsafe"].contains(&name) {
        (what, name) = (name, words.next()?);
    }
    let name = name.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    let is_it = |word: &str| match what {
        "struct" | "enum" | "trait" | "type" | "union" => name == word,
        "fn" => is_snake_case_of(name, word) && !VERBS.contains(&word),
        "mod" => is_snake_case_of(name, word),
        "const" | "static" => {
            let is_free = word != "Rest" && VERBS.contains(&word);
            name.split('_').any(|part| part.eq_ignore_ascii_case(word)) && !is_free
        }
        _ => false,
    };
    if ["const", "static"].contains(&what)
        && let Some((_, instead)) = bound(name)
    {
        return Some((name, instead));
    }
    BANNED.iter().find(|(word, _)| is_it(word)).map(|(_, instead)| (name, *instead))
}

/// Bounds are named in one way.
fn bound(name: &str) -> Option<&'static (&'static str, &'static str)> {
    const BOUNDS: &[(&str, &str)] =
        &[("MOST", "MAX"), ("LONGEST", "MAX"), ("LEAST", "MIN"), ("SHORTEST", "MIN")];
    let first = name.split('_').next();
    BOUNDS.iter().find(|(word, _)| first == Some(*word))
}

fn is_snake_case_of(name: &str, word: &str) -> bool {
    name.len() >= word.len()
        && name.split('_').map(str::len).sum::<usize>() == word.len()
        && name.split('_').flat_map(str::chars).eq(word.chars().map(|c| c.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canary_a_word_of_our_own_names_no_constant() {
        let text = "const PATIENCE: u8 = 1;\npub(crate) const MAX_SILENCE: u8 = 1;\npub static SEAM: u8 = 1;\
            \nconst PATIENCE_BYTES: u8 = 1;\nconst MAX_HELD: u8 = 1;\nconst fn held() {}\nstatic mut QUORUM_SEAM: u8 = 1;\
            \nconst FIRST_REST: u8 = 1;\nfn rest() {}\nconst MOST_BYTES: u8 = 1;\nconst MAX_MOST: u8 = 1;\n";
        let found = check(&Tree::of(&[("crates/a/src/a.rs", text)]));
        let lines: Vec<usize> = found.iter().map(|violation| violation.line).collect();
        assert_eq!(lines, [1, 2, 3, 4, 7, 8, 10]);
    }

    #[test]
    fn canary_a_word_of_our_own_names_no_type_function_or_module() {
        let text = "use a::Ways;\npub enum Ways {\n}\npub(crate) struct Seam<T>(T);\ntype WaysOut = u8;\
            \nfn in_vain() {}\nfn reach() {}\npub const fn upkeep(a: u8) {}\nmod vigil;\nmod vigils;\n";
        let found = check(&Tree::of(&[("crates/a/src/a.rs", text), ("examples/a.rs", "struct Told;\n")]));
        let lines: Vec<usize> = found.iter().map(|violation| violation.line).collect();
        assert_eq!(lines, [2, 4, 6, 8, 9, 1]);
        assert!(found[0].message.contains("Paths or Routes"));
    }
}
