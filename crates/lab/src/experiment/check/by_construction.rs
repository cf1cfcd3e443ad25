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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// No setting of the file is among them.
    Nothing,
    /// There are settings, and none of them has to do with what is measured.
    Elsewhere,
    /// One has.
    Cause,
}

/// What the keys of a reason say, such as `link.*.rate`. One without a dot stands between backticks.
pub(super) fn named(reason: &str, content: &Content, concerned: &Concerned<'_>) -> Named {
    let in_code = reason.split('`').skip(1).step_by(2);
    let is_key = |letter: char| letter.is_ascii_alphanumeric() || "._-*".contains(letter);
    let words = reason.split(|letter| !is_key(letter)).map(|word| word.trim_matches('.'));
    let keys: Vec<&str> = words.filter(|word| word.contains('.')).chain(in_code).collect();
    let is_any = |holds: &dyn Fn(&str, &str) -> bool| keys.iter().any(|key| is_setting(key, content, holds));
    match (is_any(&|table, name| concerned.holds(table, name)), is_any(&|_, _| true)) {
        (true, _) => Named::Cause,
        (false, true) => Named::Elsewhere,
        (false, false) => Named::Nothing,
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
            "by link.a-b.rate",
            "link.a-b.delay, which is said of all",
            "link.*.loss is 0.",
            "`duration` ends it",
            "route.0.path",
            "defaults.link.delay",
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
                assert_eq!(of(key, measure), Named::Cause, "{key} of {measure}");
            }
            for key in others {
                assert_eq!(of(key, measure), Named::Elsewhere, "{key} of {measure}");
            }
        }
        for key in near.iter().chain(&far) {
            assert_eq!(of(key, "network.hops"), Named::Cause, "{key}");
        }
        assert_eq!(of("link.*.rate", "f.pending"), Named::Cause, "of the whole");
        assert_eq!(of("link.a-b.rate", "f.pending"), Named::Elsewhere);
        assert_eq!(
            of("node.c.cpu, and link.*.rate", "one.duration"),
            Named::Cause,
            "one of several is enough"
        );
    }
}
