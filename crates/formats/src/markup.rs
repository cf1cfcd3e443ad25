//! Text within HTML, XML and SVG.

use crate::printable::is_command;

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
            odd if is_command(odd) => out.push(char::REPLACEMENT_CHARACTER),
            other => out.push(other),
        }
    }
    out
}
