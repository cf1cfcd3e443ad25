//! Text within HTML, XML and SVG.

/// Text that stands in a document as it is, in an element as in an attribute: what would be taken for markup
/// is written out.
///
/// ```
/// assert_eq!(cairn_formats::markup::escaped("a < \"b\""), "a &lt; &quot;b&quot;");
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
            other => out.push(other),
        }
    }
    out
}
