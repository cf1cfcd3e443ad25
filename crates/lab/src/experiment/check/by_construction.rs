//! What makes a statement so by construction is a setting, and is named by its key.

use toml::{Table as Content, Value};

use crate::experiment::model::File;
use crate::experiment::reference::describe::{Described, Table};

/// Does a reason name a key of the file, such as `link.*.rate`? One without a dot stands between backticks.
pub(super) fn names_a_setting(reason: &str, content: &Content) -> bool {
    let in_code = reason.split('`').skip(1).step_by(2);
    let is_key = |letter: char| letter.is_ascii_alphanumeric() || "._-*".contains(letter);
    let words = reason.split(|letter| !is_key(letter)).map(|word| word.trim_matches('.'));
    words.filter(|word| word.contains('.')).chain(in_code).any(|key| is_setting(key, content))
}

fn is_setting(key: &str, content: &Content) -> bool {
    let parts: Vec<&str> = key.split('.').collect();
    File::table().is_some_and(|table| is_of(&parts, table, Some(content)))
}

/// Is there such a key, and every name in it? A key that is left to its default is one, too.
fn is_of(parts: &[&str], table: &'static Table, content: Option<&Content>) -> bool {
    let [key, rest @ ..] = parts else { return false };
    let Some(field) = table.field(key) else { return false };
    let value = content.and_then(|content| content.get(*key));
    let Some(inner) = (field.table)() else { return rest.is_empty() };
    match (value, rest) {
        (_, []) => value.is_some(),
        (Some(Value::Table(entries)), [name, rest @ ..]) if field.is_named() => {
            let mut named = entries.iter().filter(|(entry, _)| *name == "*" || entry == name);
            named.any(|(_, entry)| rest.is_empty() || is_of(rest, inner, entry.as_table()))
        }
        (Some(Value::Array(entries)), [number, rest @ ..]) => {
            let entry = number.parse().ok().and_then(|number: usize| entries.get(number));
            entry.is_some_and(|entry| rest.is_empty() || is_of(rest, inner, entry.as_table()))
        }
        (None, _) if field.is_named() => false,
        (value, rest) => is_of(rest, inner, value.and_then(Value::as_table)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_names_a_key_of_the_file_and_no_other_word_is_one() {
        let text = "title = 't'\nduration = '9 s'\n[node]\na = {}\nb = {}\n[link.a-b]\nrate = '1 Mbit/s'\n\
                    [[route]]\nprefix = '/x'\npath = ['a', 'b']\n[defaults.link]\ndelay = '1 ms'\n";
        let content: Content = toml::from_str(text).unwrap();
        for good in [
            "by link.a-b.rate",
            "link.*.loss is 0.",
            "`duration` ends it",
            "route.0.path",
            "defaults.link.delay",
        ] {
            assert!(names_a_setting(good, &content), "{good}");
        }
        for bad in [
            "any text",
            "the duration",
            "link.b-c.rate",
            "link.a-b.colour",
            "e.g. this",
            "node.c.cpu",
            "`speed`",
            "",
        ] {
            assert!(!names_a_setting(bad, &content), "{bad}");
        }
    }
}
