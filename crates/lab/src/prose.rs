//! Paragraphs of generated pages.

use std::fmt::Write;

use formats::printable::printable;

/// A name in Markdown, whoever gave it: it begins no line, no code, no cell of a table, no link and no tag.
pub(crate) fn name(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in printable(&text.replace(['\r', '\n', '\t'], " ")).chars() {
        match letter {
            '\\' | '|' | '*' | '[' | ']' => out.extend(['\\', letter]),
            // As a character behind a backslash it would be one that begins code to who looks for code.
            '`' => out.push_str("&#96;"),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            other => out.push(other),
        }
    }
    out
}

/// Sentences in Markdown: what stands between backticks is code, and nothing begins a cell or a tag.
pub(crate) fn sentences(text: &str) -> String {
    let text = printable(&text.replace(['\r', '\n', '\t'], " "));
    let is_closed = text.matches('`').count().is_multiple_of(2);
    let mut out = String::with_capacity(text.len());
    let mut in_code = false;
    for letter in text.chars() {
        match letter {
            '`' if is_closed => {
                in_code = !in_code;
                out.push('`');
            }
            '`' => out.push_str("&#96;"),
            '<' if !in_code => out.push_str("&lt;"),
            '&' if !in_code => out.push_str("&amp;"),
            '|' if !in_code => out.push_str("\\|"),
            other => out.push(other),
        }
    }
    out
}

/// Code in Markdown, such as a measure or a command; one with a backtick in it stands as a name.
pub(crate) fn code(text: &str) -> String {
    let text = printable(&text.replace(['\r', '\n', '\t'], " "));
    if text.contains('`') { name(&text) } else { format!("`{text}`") }
}

/// The verb for so many things of the past.
pub(crate) fn was(count: usize) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

/// A paragraph in lines of at most 110 columns, each with its end. What stands between backticks is one word.
pub(crate) fn wrapped(paragraph: &str) -> String {
    indented("", "", paragraph)
}

/// The same, its first line behind `first`, and the others behind `rest`.
pub fn indented(first: &str, rest: &str, paragraph: &str) -> String {
    const COLUMNS: usize = 110;
    let mut out = first.to_owned();
    let (mut column, mut is_start) = (first.chars().count(), true);
    for word in words(paragraph) {
        let length = word.chars().count();
        if !is_start && column + 1 + length > COLUMNS {
            let _ = write!(out, "\n{rest}");
            column = rest.chars().count();
        } else if !is_start {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        (column, is_start) = (column + length, false);
    }
    out.push('\n');
    out
}

/// The text with a capital letter and a full stop.
pub(crate) fn sentence(text: &str) -> String {
    ended(&capitalised(text))
}

/// The text with a full stop.
pub(crate) fn ended(text: &str) -> String {
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

/// The text with a capital letter.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().iter().flat_map(|first| first.to_uppercase()).chain(letters).collect()
}

/// The words of a text, where a piece of code is one.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    let is_end = move |letter: char| {
        in_code ^= letter == '`';
        letter.is_whitespace() && !in_code
    };
    text.split(is_end).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_begins_nothing_in_markdown() {
        let evil = "<script>alert(1)</script> | `x` & [y](z)\n# head \u{202e}gpj";
        let safe = name(evil);
        assert!(!safe.contains(['<', '`', '\n', '\u{202e}']) && safe.contains("\\|"), "{safe}");
        assert!(safe.contains("&lt;script>") && safe.contains("&amp; \\[y\\](z)"), "{safe}");
        assert_eq!(name("n1, 25 %"), "n1, 25 %", "plain names stay as they are");
        let said = sentences(evil);
        assert!(said.starts_with("&lt;script>") && said.contains("\\| `x` &amp; ["), "{said}");
        assert_eq!(sentences("at `a<b` and ` alone"), "at &#96;a&lt;b&#96; and &#96; alone");
        assert_eq!(sentences("`a | b` stays"), "`a | b` stays");
        assert_eq!((code("n1.pending").as_str(), code("a`b").as_str()), ("`n1.pending`", "a&#96;b"));
    }

    #[test]
    fn no_line_is_wider_than_110_columns_and_no_word_is_lost() {
        let text = "a word or `two words` ".repeat(40);
        let lines = indented("- ", "  ", &text);
        assert!(lines.lines().all(|line| line.chars().count() <= 110));
        assert!(lines.lines().skip(1).all(|line| line.starts_with("  ")));
        assert!(lines.lines().all(|line| line.matches('`').count() % 2 == 0));
        assert!(lines.trim_start_matches("- ").split_whitespace().eq(text.split_whitespace()));
    }
}
