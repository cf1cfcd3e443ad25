//! Comma-separated values (RFC 4180), written.

use std::borrow::Cow;

/// A field as it stands in a line: in quotes where it holds what would end it.
///
/// ```
/// use cairn_formats::csv::field;
/// assert_eq!(field("plain"), "plain");
/// assert_eq!(field("one, \"two\""), "\"one, \"\"two\"\"\"");
/// ```
pub fn field(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}
