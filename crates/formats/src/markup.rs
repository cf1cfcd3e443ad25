//! Text within HTML, XML and SVG.

/// Text that stands in a document as it is, in an element as in an attribute: what would be taken for markup
/// is written out. Control characters, which XML does not allow, and those that turn the direction of what
/// follows are replaced by U+FFFD.
///
/// ```
/// use cairn_formats::markup::escaped;
///
/// assert_eq!(escaped("a < \"b\""), "a &lt; &quot;b&quot;");
/// assert_eq!(escaped("\u{1b}[31m\n\u{202e}x"), "\u{fffd}[31m\n\u{fffd}x");
/// ```
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' | '\r' => out.push(letter),
            odd if odd.is_control() || turns_direction(odd) => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

/// Whether a character turns the direction of the text behind it (UAX 9).
fn turns_direction(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
