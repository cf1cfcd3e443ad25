//! What makes a statement so by construction is a setting of what it is about, and is named by its key.

use toml::{Table as Content, Value};

use super::concerned::Concerned;
use crate::experiment::model::File;
use crate::experiment::reference::describe::{Described, Table};

/// What a file says of itself, and of how it is looked at: nothing of that makes anything so.
const SAYS_NOTHING: &[&str] = &[
    "title", "about", "source", "repeats", "trace", "capture", "case", "sweep", "expect", "control", "figure",
];

/// What the keys of a reason say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    /// No setting of the file is among them.
    Nothing,
    /// There are settings, and none of them has to do with what is measured.
    Elsewhere,
    /// This one has, and the reason says nothing of it.
    Unused(String),
    /// Some have, and the reason is about each of them.
    Cause,
}

/// The settings of a file that a reason names, each with what the file sets there.
pub(crate) fn settings_named(reason: &str, content: &Content) -> Vec<String> {
    let mut keys: Vec<&str> = keys_of(reason);
    keys.retain(|key| is_setting(key, content, &|_, _| true));
    let mut once = std::collections::BTreeSet::new();
    keys.retain(|key| once.insert(*key));
    let told = |key: &str| {
        let mut values: Vec<String> = Vec::new();
        each_value(key, content, &mut |value| match value {
            Value::Table(_) | Value::Array(_) => {}
            Value::String(text) => values.push(text.clone()),
            other => values.push(other.to_string()),
        });
        values.dedup();
        (!values.is_empty()).then(|| format!("`{key}` is {}", values.join(", ")))
    };
    keys.into_iter().filter_map(told).collect()
}

/// The words of a reason that may be keys. One without a dot stands between backticks.
fn keys_of(reason: &str) -> Vec<&str> {
    let in_code = reason.split('`').skip(1).step_by(2);
    let is_key = |letter: char| letter.is_ascii_alphanumeric() || "._-*".contains(letter);
    let words = reason.split(|letter| !is_key(letter)).map(|word| word.trim_matches('.'));
    words.filter(|word| word.contains('.')).chain(in_code).collect()
}

/// What the keys of a reason say, such as `link.*.rate`. One without a dot stands between backticks.
pub(super) fn named(reason: &str, content: &Content, concerned: &Concerned<'_>) -> Named {
    let keys = keys_of(reason);
    let is_cause = |key: &str| is_setting(key, content, &|table, name| concerned.holds(table, name));
    let mut causes = keys.iter().filter(|key| is_cause(key)).peekable();
    if causes.peek().is_some() {
        let unused = causes.find(|key| !says(reason, key, &numbers_of(key, content)));
        return unused.map_or(Named::Cause, |key| Named::Unused((*key).to_owned()));
    }
    match keys.iter().any(|key| is_setting(key, content, &|_, _| true)) {
        true => Named::Elsewhere,
        false => Named::Nothing,
    }
}

/// Is it a key of the file, of an entry that is asked for where its table has names?
fn is_setting(key: &str, content: &Content, holds: &dyn Fn(&str, &str) -> bool) -> bool {
    let parts: Vec<&str> = key.split('.').collect();
    let Some((table, file)) = parts.first().zip(File::table()) else { return false };
    if SAYS_NOTHING.contains(table) {
        return false;
    }
    // What all links are is of the whole.
    let is_of_all = matches!(parts.as_slice(), ["link", "*", ..]);
    let is_asked = |name: &str| is_of_all || holds(table, name);
    // What is said of every entry of a table, or of those of a group, is said of each.
    let inherited = match parts.as_slice() {
        [table @ ("link" | "node"), name, rest @ ..]
            if !rest.is_empty() && (*name == "*" || is_asked(name)) =>
        {
            let of_group = [&["group", "*", "set"], rest].concat();
            let of_all = [&["defaults", *table], rest].concat();
            let is_there = |parts: &[&str]| is_of(parts, file, Some(content), &|_| true);
            is_there(&of_all) || *table == "node" && is_there(&of_group)
        }
        _ => false,
    };
    inherited || is_of(&parts, file, Some(content), &is_asked)
}

/// Is there such a key with a value, and every name in it? What a key that is left out comes to is nobody's
/// setting. Names of the outermost table must be some of those that are asked for.
fn is_of(
    parts: &[&str],
    table: &'static Table,
    content: Option<&Content>,
    is_asked: &dyn Fn(&str) -> bool,
) -> bool {
    let [key, rest @ ..] = parts else { return false };
    let Some(field) = table.field(key) else { return false };
    let value = content.and_then(|content| content.get(field.key));
    let Some(inner) = (field.table)() else { return rest.is_empty() && value.is_some() };
    let within =
        |rest: &[&str], value: &Value| rest.is_empty() || is_of(rest, inner, value.as_table(), &|_| true);
    match (value, rest) {
        (_, []) => value.is_some(),
        (Some(Value::Table(entries)), [name, rest @ ..]) if field.is_named() => {
            let named = entries.iter().filter(|(entry, _)| *name == "*" || entry == name);
            named.filter(|(entry, _)| is_asked(entry)).any(|(_, entry)| within(rest, entry))
        }
        (Some(Value::Array(entries)), [number, rest @ ..]) => {
            let entry = number.parse().ok().and_then(|number: usize| entries.get(number));
            entry.is_some_and(|entry| within(rest, entry))
        }
        (None, _) if field.is_named() => false,
        (value, rest) => is_of(rest, inner, value.and_then(Value::as_table), &|_| true),
    }
}

/// Does a reason speak of a key, or is that only a label at its end? It does where the key, its last part, or
/// a number that the file sets for it stands in what comes before such labels.
fn says(reason: &str, key: &str, numbers: &[f64]) -> bool {
    let is_label = |word: &&str| {
        let bare = bare(word);
        bare.is_empty() || bare == "and" || word.contains('`') || bare.contains('.') && number(bare).is_none()
    };
    let words: Vec<&str> = reason.split_whitespace().collect();
    let labels = words.iter().rev().take_while(|word| is_label(word)).count();
    let said = words.get(..words.len() - labels).unwrap_or_default();
    let part = key.rsplit('.').next().unwrap_or(key).to_lowercase().replace('_', " ");
    let part = part.strip_suffix('s').unwrap_or(&part);
    // Each word with the one behind it, for parts of two words.
    let begins = |place: usize| {
        let two: Vec<String> =
            said.iter().skip(place).take(2).map(|word| bare(word).to_lowercase()).collect();
        two.join(" ").replace('_', " ").starts_with(part)
    };
    let is_number = |word: &&str| number(bare(word)).is_some_and(|found| numbers.contains(&found));
    said.iter().any(|word| bare(word) == key || is_number(word)) || (0..said.len()).any(begins)
}

/// A word without what stands around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '*')
}

/// The number that a word begins with, or is.
fn number(word: &str) -> Option<f64> {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    if let Some(place) = WORDS.iter().position(|name| word.eq_ignore_ascii_case(name)) {
        return Some(place as f64);
    }
    let digits = word.replace([',', '_'], "");
    let end = digits.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(digits.len());
    digits.get(..end)?.parse().ok()
}

/// The numbers that a file sets for a key, or for every entry of its table or of a group.
fn numbers_of(key: &str, content: &Content) -> Vec<f64> {
    let mut numbers = Vec::new();
    each_value(key, content, &mut |value| match value {
        Value::Integer(found) => numbers.push(*found as f64),
        Value::Float(found) => numbers.push(*found),
        Value::String(text) => numbers.extend(text.split_whitespace().filter_map(number)),
        _ => {}
    });
    numbers
}

/// Every value that a file sets for a key, for an entry of its table, or for those of a group.
fn each_value(key: &str, content: &Content, take: &mut dyn FnMut(&Value)) {
    let parts: Vec<&str> = key.split('.').collect();
    let mut add = |parts: &[&str]| {
        let [first, rest @ ..] = parts else { return };
        content.get(*first).into_iter().for_each(|value| collect(value, rest, take));
    };
    add(&parts);
    if let [table @ ("link" | "node"), _, rest @ ..] = parts.as_slice() {
        add(&[&["defaults", *table], rest].concat());
        add(&[&["group", "*", "set"], rest].concat());
    }
}

/// The values below these keys of a value.
fn collect(value: &Value, parts: &[&str], take: &mut dyn FnMut(&Value)) {
    match (value, parts) {
        (Value::Table(entries), [key, rest @ ..]) => {
            let named = entries.iter().filter(|(name, _)| *key == "*" || name == key);
            named.for_each(|(_, entry)| collect(entry, rest, take));
        }
        (Value::Array(entries), [place, rest @ ..]) => {
            let entry = place.parse().ok().and_then(|place: usize| entries.get(place));
            entry.into_iter().for_each(|entry| collect(entry, rest, take));
        }
        (Value::Array(entries), []) => entries.iter().for_each(|entry| collect(entry, &[], take)),
        (value, []) => take(value),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Plan};

    const TEXT: &str = "title = 't'\nduration = '9 s'\n[node]\na = { cpu = '50 %' }\nb = { cpu = '50 %' }\nc = { cpu = '50 %' }\n\
                        d = { cpu = '50 %' }\nf = {}\n[link.a-b]\n\
                        rate = '1 Mbit/s'\nloss = '0 %'\n[link.c-d]\nrate = '1 Mbit/s'\n[[route]]\nprefix = '/x'\npath = ['a', 'b']\n\
                        [[route]]\nprefix = '/y'\npath = ['c', 'd']\n[defaults.link]\ndelay = '1 ms'\n\
                        [content.near]\nprefix = '/x'\nat = 'b'\nsize = '1 kB'\n[content.far]\nprefix = '/y'\nat = 'd'\n\
                        size = '1 kB'\n[download.one]\nat = 'a'\ncontent = 'near'\ncount = 1\n[download.other]\nat = 'c'\n\
                        content = 'far'\ncount = 1\n[ping.probe]\nat = 'a'\nto = 'b'\nprefix = '/x/ping'\ncount = 1\n\
                        [load.busy]\nat = 'd'\ncpu = '50 %'\nbusy = '1 s'\nidle = '1 s'\n";

    fn of(reason: &str, measure: &str) -> Named {
        let plans: Vec<Plan> = Experiment::parse("t", "t.toml", TEXT).unwrap().plans("netns").unwrap();
        let content: Content = toml::from_str(TEXT).unwrap();
        named(reason, &content, &Concerned::by(&plans[0], &[measure.parse().unwrap()]))
    }

    #[test]
    fn a_reason_names_a_key_of_the_file_and_no_other_word_is_one() {
        for good in [
            "it is by link.a-b.rate that it ends",
            "link.a-b.delay, which is said of all",
            "link.*.loss is 0.",
            "`duration` ends it",
            "route.0.path has them all",
            "a delay of a millisecond: defaults.link.delay",
        ] {
            assert_eq!(of(good, "one.duration"), Named::Cause, "{good}");
        }
        for bad in [
            "any text",
            "the duration",
            "link.b-c.rate",
            "link.c-d.loss is left to its default",
            "download.one.window",
            "`repeats`",
            "`seed`",
            "link.a-b.colour",
            "e.g. this",
            "node.e.cpu",
            "`speed`",
            "`title`",
            "route.9.path",
            "",
        ] {
            assert_eq!(of(bad, "one.duration"), Named::Nothing, "{bad}");
        }
    }

    #[test]
    fn a_key_is_no_reason_that_says_nothing_of_it() {
        for (good, key) in [
            ("Nothing is lost, which is a loss of 0 %", "link.a-b.loss"),
            ("No packet is missing", "link.a-b.loss"),
            ("1 kB at 1 Mbit/s take 8 ms", "link.a-b.rate"),
            ("Half a core, 50 % of one", "node.a.cpu"),
            ("It goes along one path", "route.0.path"),
            ("9 s are enough", "duration"),
        ] {
            assert_eq!(of(&format!("{good}: `{key}`."), "one.duration"), Named::Cause, "{good}");
        }
        for (bad, key) in [
            ("Objects are blue", "link.a-b.rate"),
            ("", "link.a-b.rate"),
            ("8,000 / 2,000,000 = 0.004", "link.a-b.rate"),
            ("The sky is above", "duration"),
        ] {
            for label in [format!("{bad}: `{key}`."), format!("{bad}: `{key}` and `link.c-d.rate`")] {
                assert_eq!(of(&label, "one.duration"), Named::Unused(key.to_owned()), "{label}");
            }
        }
        // Each that it names is a part of it.
        let half = "Nothing is lost, by link.a-b.loss of 0 %: `duration`";
        assert_eq!(of(half, "one.duration"), Named::Unused("duration".to_owned()));
    }

    #[test]
    fn a_setting_of_something_else_is_no_cause() {
        let near = [
            "node.a.cpu",
            "node.b.cpu",
            "link.a-b.rate",
            "content.near.size",
            "download.one.count",
            "node.*.cpu",
        ];
        let far = [
            "node.c.cpu",
            "node.d.cpu",
            "link.c-d.rate",
            "content.far.size",
            "download.other.count",
            "load.busy.cpu",
        ];
        for (measure, causes, others) in [
            ("one.duration", &near[..], &far[..]),
            ("near.served", &near[..], &far[..]),
            ("b.pending", &near[..], &far[..]),
            ("other.duration", &far[..], &near[..5]),
            ("d.busy", &far[..], &near[..5]),
            ("/y.asked", &far[..5], &near[..5]),
            (
                "probe.rtt",
                &["ping.probe.count", "node.b.cpu"][..],
                &["download.other.count", "load.busy.cpu"][..],
            ),
        ] {
            for key in causes {
                let key = &format!("{key} makes it so");
                assert_eq!(of(key, measure), Named::Cause, "{key} of {measure}");
            }
            for key in others {
                assert_eq!(of(key, measure), Named::Elsewhere, "{key} of {measure}");
            }
        }
        for key in near.iter().chain(&far) {
            assert_eq!(of(&format!("by {key} it is so"), "network.hops"), Named::Cause, "{key}");
        }
        assert_eq!(of("link.*.rate is", "f.pending"), Named::Cause, "of the whole");
        assert_eq!(of("link.a-b.rate", "f.pending"), Named::Elsewhere);
        assert_eq!(
            of("node.c.cpu, and link.*.rate are", "one.duration"),
            Named::Cause,
            "one of several is enough"
        );
    }
}
