//! Where a key stands in the file, so that a mistake found late can still be named by its line.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::experiment::model::File;
use crate::experiment::problem::{Problem, suggest};
use crate::experiment::reference::describe::{Described, Table};

/// The text of a file and the places of its keys.
#[derive(Debug)]
pub(super) struct Locator<'a> {
    text: &'a str,
    root: Spanned<DeTable<'a>>,
}

impl<'a> Locator<'a> {
    /// Reads the file's structure.
    ///
    /// # Errors
    ///
    /// The first place that is not TOML.
    pub(super) fn new(text: &'a str) -> Result<Self, Problem> {
        match DeTable::parse(text) {
            Ok(root) => Ok(Locator { text, root }),
            Err(error) => Err(problem_of(text, &error)),
        }
    }

    /// The line of the deepest part of a place that the file holds.
    #[must_use]
    pub(super) fn line(&self, place: &[String]) -> usize {
        let mut best = 0;
        let mut parts = place.iter();
        let Some(first) = parts.next() else { return 1 };
        let Some((name, mut value)) = entry(self.root.get_ref(), first) else { return 1 };
        best = best.max(name);
        for part in parts {
            match step(value.get_ref(), part) {
                Some((at, next)) => {
                    best = at;
                    value = next;
                }
                None => break,
            }
        }
        line_of(self.text, best)
    }

    /// Every key that no table of an experiment knows.
    #[must_use]
    pub(super) fn unknown_keys(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if let Some(table) = File::table() {
            self.walk(self.root.get_ref(), table, "", &mut problems);
        }
        problems
    }

    fn walk(&self, found: &DeTable<'a>, table: &'static Table, path: &str, problems: &mut Vec<Problem>) {
        for (key, value) in found {
            let name: &str = key.get_ref();
            let full = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            let Some(field) = table.field(name) else {
                let known: Vec<&str> = table.fields.iter().map(|field| field.key).collect();
                problems.push(Problem {
                    line: line_of(self.text, key.span().start),
                    key: full,
                    message: format!("there is no key `{name}` in {}", table.title),
                    suggestion: Some(suggest(name, &known)),
                });
                continue;
            };
            let (Some(inner), kind) = ((field.table)(), (field.kind)()) else { continue };
            match value.get_ref() {
                DeValue::Table(values) if kind.starts_with("name = ") => {
                    for (name, value) in values {
                        if let DeValue::Table(value) = value.get_ref() {
                            self.walk(value, inner, &format!("{full}.{}", name.get_ref()), problems);
                        }
                    }
                }
                DeValue::Array(_) if kind.starts_with("name = ") => problems.push(Problem {
                    line: line_of(self.text, key.span().start),
                    message: format!("each `{name}` has a name, and this is a list without names"),
                    suggestion: Some(format!("write [{full}.NAME] in place of [[{full}]]")),
                    key: full,
                }),
                DeValue::Table(_) if kind.starts_with("list of table") => problems.push(Problem {
                    line: line_of(self.text, key.span().start),
                    message: format!("`{name}` is a list, and this is a table"),
                    suggestion: Some(format!("write [[{full}]] for each entry, without a name")),
                    key: full,
                }),
                DeValue::Table(value) => self.walk(value, inner, &full, problems),
                DeValue::Array(values) => {
                    for (number, value) in values.iter().enumerate() {
                        if let DeValue::Table(value) = value.get_ref() {
                            self.walk(value, inner, &format!("{full}.{number}"), problems);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// A parser's error as a problem with its line.
pub(super) fn problem_of(text: &str, error: &toml::de::Error) -> Problem {
    let at = error.span().map_or(0, |span| span.start);
    if let Some((key, message)) = too_large(text, at, error.message()) {
        return Problem { line: line_of(text, at), key, message, suggestion: None };
    }
    let (message, suggestion) = in_words(error.message());
    Problem { line: line_of(text, at), key: String::new(), message, suggestion }
}

/// The key of a whole number at that place which no file can hold, and which is the largest; nothing of
/// another error.
fn too_large(text: &str, at: usize, message: &str) -> Option<(String, String)> {
    const WORDS: [&str; 3] = ["u64 value was too large", "as i128", "as u128"];
    if !WORDS.iter().any(|words| message.contains(words)) && message != "integer number overflowed" {
        return None;
    }
    let (before, from) = text.split_at_checked(at)?;
    let number = from.split(|letter: char| !letter.is_ascii_digit() && letter != '_').next()?;
    let line = before.rsplit('\n').next().unwrap_or_default();
    let key = line.rsplit_once('=').map_or("", |(key, _)| key.rsplit(['{', ',']).next().unwrap_or(key));
    Some((key.trim().to_owned(), format!("{number} is too large: {} is the largest", i64::MAX)))
}

/// What the parser says, in words of the file and not of our types; and what can be done about it. The error
/// of the parser has a place and a text and no kind, so the text is looked at; where it is another one day,
/// it is told as it is.
pub(super) fn in_words(message: &str) -> (String, Option<String>) {
    let message = message
        .replace("u32", "a whole number from 0 on")
        .replace("u64", "a whole number from 0 on")
        .replace("usize", "a whole number from 0 on");
    if let Some((given, name)) = message.split_once(", expected struct ") {
        let given = given.trim_start_matches("invalid type: ");
        let name = name.to_lowercase();
        let hint = format!("write {{ }} for a {name} with every default, or {{ key = value }}");
        return (format!("a table of keys is expected, and not {given}"), Some(hint));
    }
    let hint = if message == "duplicate key" {
        Some("it stands above already: take one of both away".to_owned())
    } else if message.starts_with("invalid basic string") {
        Some("end the text with a quotation mark".to_owned())
    } else {
        let missing = message.strip_prefix("missing field ");
        missing.map(|field| format!("add {} = … here", field.trim_matches('`')))
    };
    (message, hint)
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

/// Where an entry's key stands, and its value.
fn entry<'t, 'a>(table: &'t DeTable<'a>, name: &str) -> Option<(usize, &'t Spanned<DeValue<'a>>)> {
    table.iter().find(|(key, _)| key.get_ref() == name).map(|(key, value)| (key.span().start, value))
}

fn step<'t, 'a>(value: &'t DeValue<'a>, part: &str) -> Option<(usize, &'t Spanned<DeValue<'a>>)> {
    match value {
        DeValue::Table(table) => entry(table, part),
        DeValue::Array(values) => {
            let value = values.get(part.parse::<usize>().ok()?)?;
            Some((value.span().start, value))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::origin::plain;
    use super::*;

    const TEXT: &str =
        "title = \"x\"\n\n[node.a]\ncpu = 1\n\n[[route]]\nprefix = \"/a\"\n\n[[route]]\nprefix = \"/b\"\n";

    #[test]
    fn a_key_is_found_on_its_line() {
        let locator = Locator::new(TEXT).unwrap();
        assert_eq!(locator.line(&plain("title")), 1);
        assert_eq!(locator.line(&plain("node.a.cpu")), 4);
        assert_eq!(locator.line(&plain("route.1.prefix")), 10);
    }

    #[test]
    fn of_a_number_that_no_file_can_hold_the_key_and_the_largest_are_told() {
        for given in ["9223372036854775808", "18446744073709551615", "99999999999999999999"] {
            let text = format!("title = 't'\nduration = '9 s'\nseed = {given}\n{}", testkit::experiment::ROW);
            let told = crate::experiment::Experiment::parse("t", "t.toml", &text).unwrap_err().to_string();
            let wanted = format!("t.toml:3: seed: {given} is too large: 9223372036854775807 is the largest");
            assert_eq!(told, wanted);
        }
    }

    #[test]
    fn a_key_that_is_missing_is_named_by_its_table() {
        let locator = Locator::new(TEXT).unwrap();
        assert_eq!(locator.line(&plain("node.a.memory")), 3);
        assert_eq!(locator.line(&plain("route.0.path")), 6);
        assert_eq!(locator.line(&plain("nothing.at.all")), 1);
    }

    #[test]
    fn a_list_where_entries_have_names_is_told_with_its_key_and_so_is_a_table_where_they_have_none() {
        let text = "title = \"x\"\n[[load]]\nat = \"a\"\n[route.x]\nprefix = \"/a\"\n";
        let found = Locator::new(text).unwrap().unknown_keys();
        let told: Vec<(usize, &str, &str)> = found
            .iter()
            .map(|one| (one.line, one.key.as_str(), one.suggestion.as_deref().unwrap()))
            .collect();
        let load = (2, "load", "write [load.NAME] in place of [[load]]");
        assert!(told.len() == 2 && told.contains(&load), "{told:?}");
        assert!(told.contains(&(4, "route", "write [[route]] for each entry, without a name")), "{told:?}");
    }

    #[test]
    fn every_unknown_key_is_found_with_what_was_meant() {
        let text = "titel = \"x\"\n[node.a]\ncup = 1\n[[route]]\nprefx = \"/a\"\n";
        let found = Locator::new(text).unwrap().unknown_keys();
        let lines: Vec<(usize, &str)> =
            found.iter().map(|problem| (problem.line, problem.suggestion.as_deref().unwrap())).collect();
        assert_eq!(lines.len(), 3);
        assert!(lines.contains(&(1, "did you mean `title`?")));
        assert!(lines.contains(&(3, "did you mean `cpu`?")));
        assert!(lines.contains(&(5, "did you mean `prefix`?")));
    }
}
