//! Keys that had another name in earlier versions: a file may say either, and whoever looks further sees the
//! name of today.

use toml::{Table as Content, Value};

use super::describe::{Described, Field, Table};
use crate::experiment::model::File;

/// What the keys below a key are.
#[derive(Clone, Copy)]
enum SubKeys {
    /// Those of a table.
    Keys(&'static Table),
    /// Names or numbers of entries, each of which is such a table.
    Entries(&'static Table),
    /// Nothing that has a name of ours.
    Nothing,
}

impl SubKeys {
    fn the_file() -> Self {
        File::table().map_or(SubKeys::Nothing, SubKeys::Keys)
    }

    fn field(field: &Field) -> Self {
        match (field.table)() {
            Some(table) if field.is_named() || field.is_list() => SubKeys::Entries(table),
            Some(table) => SubKeys::Keys(table),
            None => SubKeys::Nothing,
        }
    }

    /// One step down: the name of today of that key, and what is below it.
    fn step(self, part: &str) -> (&str, Self) {
        match self {
            SubKeys::Keys(table) => {
                table.field(part).map_or((part, SubKeys::Nothing), |field| (field.key, SubKeys::field(field)))
            }
            SubKeys::Entries(table) => (part, SubKeys::Keys(table)),
            SubKeys::Nothing => (part, SubKeys::Nothing),
        }
    }
}

/// The way to a key of the file, such as `consumer.*.gap`, in names of today; and what is below it.
fn steps(key: &str) -> (String, SubKeys) {
    let mut below = SubKeys::the_file();
    let parts: Vec<&str> = key
        .split('.')
        .map(|part| {
            let (name, next) = below.step(part);
            below = next;
            name
        })
        .collect();
    (parts.join("."), below)
}

/// A key of the file in names of today.
pub(in crate::experiment) fn key_of_today(key: &str) -> String {
    steps(key).0
}

/// A key of the file in names of today, and a value for it, in which there may be keys as well.
pub(in crate::experiment) fn entry_of_today(key: &str, value: &Value) -> (String, Value) {
    let (key, below) = steps(key);
    let mut value = value.clone();
    rename_in(&mut value, below);
    (key, value)
}

/// Gives every key of a file's content its name of today.
pub(in crate::experiment) fn rename(content: &mut Content) {
    rename_table(content, SubKeys::the_file());
}

fn rename_table(content: &mut Content, below: SubKeys) {
    match below {
        SubKeys::Keys(table) => {
            for field in table.fields {
                let earlier = field.earlier.filter(|_| !content.contains_key(field.key));
                if let Some(value) = earlier.and_then(|earlier| content.remove(earlier)) {
                    content.insert(field.key.to_owned(), value);
                }
                if let Some(value) = content.get_mut(field.key) {
                    rename_in(value, SubKeys::field(field));
                }
            }
        }
        SubKeys::Entries(table) => {
            content.iter_mut().for_each(|(_, entry)| rename_in(entry, SubKeys::Keys(table)));
        }
        SubKeys::Nothing => {}
    }
}

fn rename_in(value: &mut Value, below: SubKeys) {
    match (value, below) {
        (Value::Table(content), below) => rename_table(content, below),
        (Value::Array(items), SubKeys::Keys(table) | SubKeys::Entries(table)) => {
            items.iter_mut().for_each(|item| rename_in(item, SubKeys::Keys(table)));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_gets_its_name_of_today_where_it_is_one_and_nowhere_else() {
        for (key, today) in [
            ("gates.silence", "gates.forwarder_standstill"),
            ("consumer.*.gap", "consumer.*.spacing"),
            ("consumer.gap.gap", "consumer.gap.spacing"),
            ("download.d.gap", "download.d.gap"),
            ("node.gap.cpu", "node.gap.cpu"),
            ("silence", "silence"),
            ("no.such.gap", "no.such.gap"),
        ] {
            assert_eq!(key_of_today(key), today);
        }
    }

    #[test]
    fn keys_within_a_value_get_theirs() {
        let value = "gap.gap = 'poisson'".parse::<Content>().unwrap();
        let (key, value) = entry_of_today("consumer", &Value::Table(value));
        assert_eq!(
            (key.as_str(), value.to_string().as_str()),
            ("consumer", "{ gap = { spacing = \"poisson\" } }")
        );
        let mut content = "[gates]\nsilence = '3 s'\n".parse::<Content>().unwrap();
        rename(&mut content);
        assert_eq!(content.to_string(), "[gates]\nforwarder_standstill = \"3 s\"\n");
    }
}
