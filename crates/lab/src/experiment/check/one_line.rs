//! Texts that reports and terminals show on one line: what breaks it, or is not seen, could pretend to be
//! something else, such as a verdict.

use formats::printable::is_unprintable;
use toml::{Table, Value};

use crate::experiment::read::findings::Finding;

/// Tables that hold such texts.
const TABLES: [&str; 5] = ["case", "sweep", "expect", "control", "figure"];
/// The texts of these.
const TEXTS: [&str; 8] =
    ["name", "label", "say", "paper", "removes", "title", "by_construction", "not_testable"];

/// The texts of a file that are more than a line, or have in them what nobody sees.
pub(in crate::experiment) fn findings(content: &Table) -> Vec<Finding> {
    let mut findings = Vec::new();
    for key in ["title", "source"] {
        look(key, content.get(key), &mut findings);
    }
    for table in TABLES {
        let entries = content.get(table).and_then(Value::as_array).into_iter().flatten();
        for (number, entry) in entries.enumerate() {
            let at = |key: &str| format!("{table}.{number}.{key}");
            for key in TEXTS {
                look(&at(key), entry.get(key), &mut findings);
            }
            // They are a part of the names of cases.
            let values = entry.get("values").and_then(Value::as_array).into_iter().flatten();
            for (place, value) in values.enumerate() {
                look(&at(&format!("values.{place}")), Some(value), &mut findings);
            }
            for (key, part) in entry.get("parts").and_then(Value::as_table).into_iter().flatten() {
                look(&at(&format!("parts.{key}")), Some(part), &mut findings);
            }
        }
    }
    findings
}

fn look(key: &str, value: Option<&Value>, findings: &mut Vec<Finding>) {
    let odd = value.and_then(Value::as_str).and_then(|text| text.chars().find(|c| is_unprintable(*c)));
    findings.extend(odd.map(|odd| {
        let (message, hint) = match odd {
            '\n' | '\r' => {
                let hint =
                    "write it on one line; in `\"\"\"`, a `\\` at the end of a line joins the next one";
                ("it is shown on one line, and has a line break in it".to_owned(), hint)
            }
            _ => {
                let message = format!("it has a character in it that nobody sees (U+{:04X})", u32::from(odd));
                (message, "leave that out")
            }
        };
        Finding { key: key.to_owned(), message, suggestion: Some(hint.to_owned()), ..Finding::default() }
    }));
}

#[cfg(test)]
mod tests {
    use testkit::experiment::ROW;

    use crate::experiment::Experiment;

    fn told(head: &str, rest: &str) -> String {
        let text = format!("{head}\nduration = '20 s'\nuntil_done = true\n{ROW}{rest}");
        Experiment::parse("t", "t.toml", &text).map_or_else(|wrong| wrong.to_string(), |_| String::new())
    }

    #[test]
    fn what_is_shown_on_one_line_has_no_other_and_nothing_that_nobody_sees() {
        let say = |text: &str| {
            format!("[[expect]]\nname = 'e'\nsay = \"{text}\"\nvalue = 'files.duration'\nat_most = 9\n")
        };
        assert_eq!(told("title = 't'", &say("As \u{201c}ever\u{201d} ↔ ü")), "");
        for (head, rest, key) in [
            ("title = \"a\\nb\"", String::new(), "title"),
            ("title = \"a\\u001b[32mb\"", String::new(), "title"),
            ("title = 't'", say("S\\n  confirmed: all"), "expect.0.say"),
            ("title = 't'", say("S\\u202Eb"), "expect.0.say"),
            (
                "title = 't'",
                "[[case]]\nname = \"a\\r\"\nset = { 'download.files.window' = 2 }\n".to_owned(),
                "case.0.name",
            ),
            (
                "title = 't'",
                "[[sweep]]\nkey = 'download.files.window'\nlabel = \"a\\tb\"\nvalues = [1, 2]\n".to_owned(),
                "sweep.0.label",
            ),
            (
                "title = 't'",
                say("S")
                    + "[[control]]\nname = \"c\\n\"\nremoves = 'all'\nfails = ['e']\n\
                            set = { 'link.*.delay' = '1 s' }\n",
                "control.0.name",
            ),
        ] {
            let found = told(head, &rest);
            assert!(found.contains(&format!("{key}: it ")), "{key}: {found}");
            assert!(found.contains("line break") || found.contains("nobody sees"), "{found}");
            assert!(!found.contains('\u{1b}') && !found.contains('\u{202e}'), "{found:?}");
        }
    }
}
