//! What is printed: lines, tables, JSON, and what is told beside them on standard error.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{self, Write as _};

use client::is_unprintable as is_odd;
pub(crate) use client::printable;
use serde_json::Value;

/// A word and what it stands for; what others wrote in it begins no line.
pub(crate) fn pair(key: impl Display, value: impl Display) -> io::Result<()> {
    line(format_args!("{:>24}  {}", key.to_string(), printable(&value.to_string())))
}

/// Prints a line, or several. Whatever is in it, it commands no terminal.
pub(crate) fn line(text: impl Display) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{}", harmless(&text.to_string()))
}

/// Colours of words. The words say the same without them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    Red,
    Green,
    Yellow,
    Cyan,
}

impl Colour {
    /// What switches it on.
    fn sequence(self) -> &'static str {
        match self {
            Colour::Red => "\x1b[31m",
            Colour::Green => "\x1b[32m",
            Colour::Yellow => "\x1b[33m",
            Colour::Cyan => "\x1b[36m",
        }
    }
}

/// Switches any colour off.
const PLAIN: &str = "\x1b[0m";

/// Prints a line that begins with a word, in a colour where there is one.
pub(crate) fn coloured(colour: Option<Colour>, word: &str, rest: &str) -> io::Result<()> {
    io::stdout().lock().write_all(with_colour(colour, word, rest).as_bytes())
}

/// The line. A colour is added to what was made harmless, so that nothing else in it commands the terminal.
fn with_colour(colour: Option<Colour>, word: &str, rest: &str) -> String {
    let (on, off) = colour.map_or(("", ""), |colour| (colour.sequence(), PLAIN));
    format!("  {on}{}{off}{}\n", harmless(word), harmless(rest))
}

/// Empties a terminal, for what is shown again and again in one place.
pub(crate) fn clear_terminal() -> io::Result<()> {
    // Home, and erase what was there.
    io::stdout().lock().write_all(b"\x1b[H\x1b[2J")
}

/// Prints lines that were gathered.
pub(crate) fn text(lines: &[u8]) -> io::Result<()> {
    io::stdout().lock().write_all(harmless(&String::from_utf8_lossy(lines)).as_bytes())
}

/// What `tell!` does.
pub(crate) fn tell(text: std::fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{}", harmless(&text.to_string()));
}

/// Text that is ours. What others wrote in it was made [`printable`], or is a name, which is escaped: only
/// we begin a new line.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let is_odd = |c: char| is_odd(c) && !matches!(c, '\n' | '\t');
    if text.contains(is_odd) {
        text.chars()
            .map(|c| if is_odd(c) { char::REPLACEMENT_CHARACTER } else { c })
            .collect::<String>()
            .into()
    } else {
        text.into()
    }
}

/// JSON as it is printed. All that is not ASCII in it stands in strings, so that what is odd can be written
/// as an escape, and reads back as what it was.
fn escaped(json: &str) -> Cow<'_, str> {
    let is_odd = |c: char| is_odd(c) && !matches!(c, '\n' | '\t');
    if !json.contains(is_odd) {
        return json.into();
    }
    let mut text = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        if is_odd(c) {
            let _ = c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(text, "\\u{unit:04x}"));
        } else {
            text.push(c);
        }
    }
    text.into()
}

/// Prints what others published as it is; a terminal it commands nothing.
pub(crate) fn bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = super::content::standard_output()?;
    out.write_all(bytes)?;
    out.flush()
}

/// Prints JSON, indented.
pub(crate) fn json(value: &Value) -> io::Result<()> {
    json_text(&format!("{value:#}"))
}

/// Prints JSON that is written already.
pub(crate) fn json_text(json: &str) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{}", escaped(json))
}

/// Prints JSON as one line.
pub(crate) fn json_line(value: &Value) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{}", escaped(&value.to_string()))
}

/// Prints JSON on standard error, indented.
pub(crate) fn tell_json(value: &Value) {
    let _ = writeln!(io::stderr().lock(), "{}", escaped(&format!("{value:#}")));
}

/// Prints rows in columns that are as wide as they need to be, under a head.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|text| printable(text)).collect()).collect();
    let mut widths: Vec<usize> = head.iter().map(|text| text.chars().count()).collect();
    for row in &rows {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = (*width).max(text.chars().count());
        }
    }
    let mut out = io::stdout().lock();
    let head: Vec<String> = head.iter().map(|text| (*text).to_owned()).collect();
    for row in std::iter::once(&head).chain(&rows) {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(text, width)| format!("{text:<width$}")).collect();
        writeln!(out, "{}", cells.join("  ").trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVIL: &str = "\u{1b}[2Jname\u{202e}gpj.exe\u{200b}\u{9b}31m\r\u{feff}\u{e0041}";

    fn is_harmless(text: &str) -> bool {
        !text.contains(is_odd)
    }

    #[test]
    fn what_others_wrote_commands_no_terminal_turns_no_text_and_hides_nothing() {
        assert!(!is_harmless(EVIL));
        for text in [printable(EVIL), harmless(EVIL).into_owned()] {
            assert!(is_harmless(&text), "{text:?}");
            assert!(text.contains("name") && text.contains("gpj.exe"));
        }
        assert_eq!(printable("two\nlines"), "two\u{fffd}lines");
        assert_eq!(harmless("ours:\n\ttext"), "ours:\n\ttext");
        assert_eq!(printable("Grüße, 你好, שלום, سلام 👋"), "Grüße, 你好, שלום, سلام 👋");
    }

    #[test]
    fn a_colour_reaches_the_terminal_and_what_stands_in_it_does_not_command_one() {
        let shown = with_colour(Some(Colour::Green), "confirmed", ": files");
        assert_eq!(shown, "  \x1b[32mconfirmed\x1b[0m: files\n");
        assert_eq!(with_colour(None, "confirmed", ": files"), "  confirmed: files\n");
        let shown = with_colour(Some(Colour::Red), "contradicted", EVIL);
        let behind = shown.strip_prefix("  \x1b[31mcontradicted\x1b[0m").unwrap();
        assert!(is_harmless(behind.trim_end()) && behind.contains("name"), "{behind:?}");
    }

    #[test]
    fn json_is_plain_to_look_at_and_reads_back_as_what_it_was() {
        let value = serde_json::json!({ "text": EVIL, "again": ["\u{7f}", "ü"] });
        let text = escaped(&format!("{value:#}")).into_owned();
        assert!(!text.contains(|c| is_odd(c) && c != '\n'), "{text:?}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
