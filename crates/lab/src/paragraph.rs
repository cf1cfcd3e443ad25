//! Paragraphs of generated pages.

use std::fmt::Write;

/// A paragraph in lines of at most 110 columns, each with its end. What stands between backticks is one word.
pub(crate) fn wrapped(paragraph: &str) -> String {
    indented("", "", paragraph)
}

/// The same, its first line behind `first`, and the others behind `rest`.
pub(crate) fn indented(first: &str, rest: &str, paragraph: &str) -> String {
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
    let text = capitalised(text);
    if text.ends_with(['.', '!', '?']) { text } else { format!("{text}.") }
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
    fn no_line_is_wider_than_110_columns_and_no_word_is_lost() {
        let text = "a word or `two words` ".repeat(40);
        let lines = indented("- ", "  ", &text);
        assert!(lines.lines().all(|line| line.chars().count() <= 110));
        assert!(lines.lines().skip(1).all(|line| line.starts_with("  ")));
        assert!(lines.lines().all(|line| line.matches('`').count() % 2 == 0));
        assert!(lines.trim_start_matches("- ").split_whitespace().eq(text.split_whitespace()));
    }
}
