//! Protocol logic does no I/O: no clocks, sockets, files, threads or unseeded randomness in the pure crates.
//!
//! Time and randomness come in as arguments and effects go out as values; that is why the daemon, the
//! simulator and the tests run the same code, and why a run with a seed can be repeated to the byte.

use std::collections::BTreeSet;
use std::ops::Range;

use super::Violation;
use crate::source::{Source, is_identifier};
use crate::tree::Tree;

const RULE: &str = "purity";

/// Crates that must be pure.
pub(super) const PURE: &[&str] = &["packet", "link", "engine", "management", "flow", "sim"];

struct Ban {
    word: &'static str,
    instead: &'static str,
    /// Tests must be as repeatable as the code, but may read a file of vectors or print a seed.
    in_tests: bool,
}

const CLOCK: &str = "take `now: packet::time::Instant` as an argument; only crates that do I/O read a clock";
const TIME: &str = "use packet::time::{Instant, Duration}";
const SEED: &str = "take a seed or a packet::random::Random";
const SOCKET: &str = "hand frames out as values; sockets belong to `node`";
const FILE: &str = "hand bytes in and out as values; files belong to `node`, `repo` and `lab`";
const THREAD: &str = "stay single-threaded; threads belong to `node` and `lab`";
const PRINT: &str = "return a value or an event; printing belongs to `cairn`";
const HASHER: &str = "give the map a keyed hasher that is seeded by its owner, or use a BTreeMap";

const fn always(word: &'static str, instead: &'static str) -> Ban {
    Ban { word, instead, in_tests: true }
}

const fn not_in_tests(word: &'static str, instead: &'static str) -> Ban {
    Ban { word, instead, in_tests: false }
}

const BANS: &[Ban] = &[
    always("Instant::now", CLOCK),
    always("SystemTime", CLOCK),
    always("std::time", TIME),
    always("core::time", TIME),
    always("std::net", SOCKET),
    always("std::os", SOCKET),
    always("std::thread", THREAD),
    always("tokio", THREAD),
    always("rand::rng", SEED),
    always("rand::random", SEED),
    always("thread_rng", SEED),
    always("from_entropy", SEED),
    always("from_os_rng", SEED),
    always("getrandom", SEED),
    not_in_tests("std::fs", FILE),
    not_in_tests("std::env", "take a value as an argument; configuration belongs to `node` and `cairn`"),
    not_in_tests("std::process", "return an error"),
    not_in_tests("println!", PRINT),
    not_in_tests("print!", PRINT),
    not_in_tests("eprintln!", PRINT),
    not_in_tests("eprint!", PRINT),
    not_in_tests("RandomState", HASHER),
    not_in_tests("DefaultHasher", HASHER),
    not_in_tests("HashMap::new", HASHER),
    not_in_tests("HashMap::with_capacity", HASHER),
    not_in_tests("HashMap::from", HASHER),
    not_in_tests("HashSet::new", HASHER),
    not_in_tests("HashSet::with_capacity", HASHER),
    not_in_tests("HashSet::from", HASHER),
];

/// What two files may have, and why: what the simulator's threads do is put in the order of one, so that a
/// run is the same to the byte on any number of them.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("crates/sim/src/parallel/gate.rs", "std::thread"),
    ("crates/sim/src/parallel/windows.rs", "std::thread"),
];

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    tree.rust()
        .filter(|(path, _)| PURE.iter().any(|name| path.starts_with(&format!("crates/{name}/"))))
        .filter(|(path, _)| !path.contains("/benches/"))
        .flat_map(|(path, text)| check_file(path, &Source::new(text)))
        .collect()
}

fn check_file(path: &str, source: &Source) -> Vec<Violation> {
    let is_test_file = path.contains("/tests/") || path.ends_with("/tests.rs");
    let test_items = source.test_items();
    let in_test = |at: usize| is_test_file || test_items.iter().any(|item| item.contains(&at));
    let used = source.used_paths();

    // A set, because `use std::net::X` is found both as words and as a path.
    let mut found = BTreeSet::new();
    for ban in BANS {
        let by_path = used.iter().filter(|(_, path)| is_path_below(path, ban.word)).map(|&(at, _)| at);
        for at in source.find(ban.word).chain(by_path) {
            if (ban.in_tests || !in_test(at)) && !EXCEPTIONS.contains(&(path, ban.word)) {
                found.insert((source.line(at), ban.word, ban.instead));
            }
        }
    }
    for at in default_hashers(source) {
        if !in_test(at) {
            found.insert((source.line(at), "a map with the default hasher", HASHER));
        }
    }
    let violation = |(line, word, instead)| Violation::new(RULE, path, line, format!("{word}: {instead}"));
    found.into_iter().map(violation).collect()
}

/// Is `path` the banned path itself, or something inside it?
fn is_path_below(path: &str, ban: &str) -> bool {
    path.strip_prefix(ban).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Where `HashMap<K, V>` or `HashSet<K>` stand without a hasher.
fn default_hashers(source: &Source) -> Vec<usize> {
    let of = |name: &'static str, arguments: usize| {
        source.find(name).filter(move |&at| {
            let open = at + name.len();
            generic_arguments(source.code(), open)
                .is_some_and(|list| count_arguments(&source.code()[list]) <= arguments)
        })
    };
    of("HashMap", 2).chain(of("HashSet", 1)).collect()
}

/// The inside of the angle brackets that open at `at`, if they do.
fn generic_arguments(code: &str, at: usize) -> Option<Range<usize>> {
    let bytes = code.as_bytes();
    let open = if bytes.get(at..at + 2) == Some(b"::") { at + 2 } else { at };
    if bytes.get(open) != Some(&b'<') {
        return None;
    }
    let mut depth = 0usize;
    for offset in open..bytes.len() {
        match bytes[offset] {
            b'<' => depth += 1,
            b'>' if bytes[offset - 1] != b'-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(open + 1..offset);
        }
    }
    None
}

fn count_arguments(list: &str) -> usize {
    let (mut depth, mut arguments, mut pending) = (0usize, 0, false);
    for byte in list.bytes() {
        match byte {
            b'<' | b'(' | b'[' => depth += 1,
            b'>' | b')' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                arguments += 1;
                pending = false;
            }
            _ => pending |= is_identifier(byte),
        }
    }
    arguments + usize::from(pending)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(path: &str, text: &str) -> Vec<String> {
        let tree = Tree::of(&[(path, text)]);
        check(&tree).into_iter().map(|v| v.message.split(": ").next().unwrap().to_owned()).collect()
    }

    #[test]
    fn only_one_file_of_the_simulator_may_have_threads() {
        let text = "fn f() { std::thread::yield_now(); std::net::x(); }";
        assert_eq!(words("crates/sim/src/parallel/windows.rs", text), ["std::net"]);
        assert_eq!(words("crates/sim/src/parallel/parts.rs", text), ["std::net", "std::thread"]);
    }

    #[test]
    fn canary_every_banned_word_is_refused_in_a_pure_crate() {
        for ban in BANS {
            let text = format!("fn f() {{ let x = {}(); }}", ban.word);
            assert_eq!(words("crates/engine/src/a.rs", &text), [ban.word]);
        }
    }

    #[test]
    fn the_same_words_are_free_elsewhere() {
        assert!(words("crates/node/src/a.rs", "use std::net::UdpSocket;").is_empty());
        assert!(words("crates/engine/benches/a.rs", "use std::time::Instant;").is_empty());
    }

    #[test]
    fn words_in_comments_strings_and_longer_names_are_no_violation() {
        let text =
            "// no SystemTime\nconst A: &str = \"tokio\"; /* std::net */ fn thread_rng_of_the_owner() {}";
        assert!(words("crates/link/src/a.rs", text).is_empty());
    }

    #[test]
    fn a_use_group_does_not_hide_a_word() {
        assert_eq!(words("crates/packet/src/a.rs", "use std::{fmt, net::UdpSocket};"), ["std::net"]);
        assert_eq!(words("crates/packet/src/a.rs", "use std::{fmt, time};"), ["std::time"]);
    }

    #[test]
    fn tests_may_read_files_but_no_clock() {
        let text = "#[cfg(test)]\nmod tests { fn a() { std::fs::read(); println!(); Instant::now(); } }";
        assert_eq!(words("crates/link/src/a.rs", text), ["Instant::now"]);
        assert_eq!(
            words("crates/link/tests/a.rs", "fn a() { std::env::var(); std::thread::sleep(); }"),
            ["std::thread"]
        );
    }

    #[test]
    fn a_map_needs_a_hasher_of_its_own() {
        let refused = ["HashMap<u8, Vec<(u8, u8)>>", "HashSet<u8>", "HashMap::<u8, fn(u8, u8) -> u8>"];
        for text in refused {
            let text = format!("type A = {text};");
            assert_eq!(words("crates/engine/src/a.rs", &text), ["a map with the default hasher"], "{text}");
        }
        for text in ["HashMap<u8, u8, Keyed>", "HashSet<u8, Keyed>", "BTreeMap<u8, u8>", "HashMap"] {
            assert!(words("crates/engine/src/a.rs", &format!("type A = {text};")).is_empty(), "{text}");
        }
    }
}
