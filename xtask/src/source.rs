//! Rust source as the rules see it: code without comments and without the insides of literals.
//!
//! This is a lexer, not a parser. It knows just enough to tell code from text, to find functions, test
//! modules and `use` trees, and it keeps every line where it was.

use std::ops::Range;

/// One Rust file, with comments and the insides of literals blanked out.
pub(crate) struct Source {
    code: String,
    line_starts: Vec<usize>,
}

/// A function with a body.
#[derive(Debug, PartialEq)]
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    /// Line of the word `fn`, counted from 1.
    pub(crate) line: usize,
    /// Lines from `fn` to the closing brace.
    pub(crate) lines: usize,
}

impl Source {
    pub(crate) fn new(text: &str) -> Self {
        let code = blank(text);
        let newlines = code.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1);
        let line_starts = std::iter::once(0).chain(newlines).collect();
        Source { code, line_starts }
    }

    /// The code; as long as the text, with the same lines.
    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    /// The line of byte `at`, counted from 1.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= at)
    }

    /// Where `word` stands in the code, not as part of a longer identifier.
    pub(crate) fn find<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.code.match_indices(word).map(|(at, _)| at).filter(move |&at| {
            let before = self.code[..at].bytes().next_back();
            let after = self.code[at + word.len()..].bytes().next();
            let ends_in_identifier = word.bytes().next_back().is_some_and(is_identifier);
            let continues = ends_in_identifier && after.is_some_and(is_identifier);
            !(before.is_some_and(is_identifier) || continues)
        })
    }

    /// Every function that has a body, nested ones too.
    pub(crate) fn functions(&self) -> Vec<Function<'_>> {
        self.find("fn")
            .filter_map(|at| {
                let name = self.identifier_after(at + 2)?;
                let body = self.body_after(at)?;
                let line = self.line(at);
                Some(Function { name, line, lines: self.line(body.end - 1) - line + 1 })
            })
            .collect()
    }

    /// Byte ranges of items under `#[cfg(test)]`.
    pub(crate) fn test_items(&self) -> Vec<Range<usize>> {
        let attribute = "#[cfg(test)]";
        self.code
            .match_indices(attribute)
            .filter_map(|(at, _)| Some(at..self.body_after(at + attribute.len())?.end))
            .collect()
    }

    /// The paths that `use` declarations bring in, with groups taken apart, and where the declaration starts.
    pub(crate) fn used_paths(&self) -> Vec<(usize, String)> {
        let mut paths = Vec::new();
        for at in self.find("use") {
            let tree = self.code[at + 3..].split(';').next().unwrap_or_default();
            let tree: String = tree.split_whitespace().collect::<Vec<_>>().join(" ");
            let mut flat = Vec::new();
            flatten_use("", &tree, &mut flat);
            paths.extend(flat.into_iter().map(|path| (at, path)));
        }
        paths
    }

    /// The names in `mod name;` declarations.
    pub(crate) fn declared_modules(&self) -> Vec<&str> {
        self.find("mod")
            .filter_map(|at| {
                let name = self.identifier_after(at + 3)?;
                let rest = self.code[at + 3..].trim_start().strip_prefix(name)?;
                rest.trim_start().starts_with(';').then_some(name)
            })
            .collect()
    }

    /// The byte range from the bracket at `open` to the one that closes it.
    pub(crate) fn bracketed(&self, open: usize) -> Option<Range<usize>> {
        let mut depth = 0usize;
        for (offset, byte) in self.code.bytes().enumerate().skip(open) {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(open..offset + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The braces that follow `at` before the item's semicolon, if any.
    fn body_after(&self, at: usize) -> Option<Range<usize>> {
        let mut depth = 0usize;
        for (offset, byte) in self.code.bytes().enumerate().skip(at) {
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth = depth.checked_sub(1)?,
                b'{' if depth == 0 => return self.bracketed(offset),
                b';' if depth == 0 => return None,
                _ => {}
            }
        }
        None
    }

    fn identifier_after(&self, at: usize) -> Option<&str> {
        let rest = self.code.get(at..)?;
        let rest = rest.trim_start();
        let end = rest.bytes().position(|byte| !is_identifier(byte)).unwrap_or(rest.len());
        (end > 0).then(|| &rest[..end])
    }
}

pub(crate) fn is_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn flatten_use(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let tree = tree.trim();
    match tree.split_once('{') {
        None => {
            let path = tree.split(" as ").next().unwrap_or_default().trim();
            paths.push(format!("{prefix}{path}"));
        }
        Some((head, group)) => {
            let prefix = format!("{prefix}{}", head.trim());
            for part in split_group(group.trim_end().strip_suffix('}').unwrap_or(group)) {
                flatten_use(&prefix, part, paths);
            }
        }
    }
}

/// Splits at the commas that are not inside inner braces.
fn split_group(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0usize, 0, Vec::new());
    for (at, byte) in group.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&group[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// Replaces comments and the insides of literals by blanks, byte for byte, and leaves line ends alone.
fn blank(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let in_word = out.last().is_some_and(|&byte| is_identifier(byte));
        let (keep, text_len, close) = match rest {
            [b'/', b'/', ..] => (0, line_len(rest), 0),
            [b'/', b'*', ..] => (0, block_comment_len(rest), 0),
            [b'"', ..] => (1, string_len(&rest[1..]), 1),
            [b'r' | b'b' | b'c', ..] if !in_word => match raw_string(rest) {
                Some((opening, inside, closing)) => (opening, inside, closing),
                None => (1, 0, 0),
            },
            [b'\'', ..] => match char_len(rest) {
                Some(inside) => (1, inside, 1),
                None => (1, 0, 0),
            },
            _ => (1, 0, 0),
        };
        let inside = at + keep;
        let closing = (inside + text_len).min(bytes.len());
        let end = (closing + close).min(bytes.len());
        out.extend_from_slice(&bytes[at..inside]);
        out.extend(bytes[inside..closing].iter().map(|&byte| if byte == b'\n' { byte } else { b' ' }));
        out.extend_from_slice(&bytes[closing..end]);
        at = end;
    }
    // Whole characters are blanked or kept, so this cannot lose anything.
    String::from_utf8_lossy(&out).into_owned()
}

fn line_len(rest: &[u8]) -> usize {
    rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
}

fn block_comment_len(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Bytes up to the quote that ends a string.
fn string_len(inside: &[u8]) -> usize {
    let mut at = 0;
    while at < inside.len() {
        match inside[at] {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    inside.len()
}

/// Bytes of the opening, the inside and the closing of a raw string that starts here.
fn raw_string(rest: &[u8]) -> Option<(usize, usize, usize)> {
    let letters = rest.iter().take_while(|&&byte| byte == b'b' || byte == b'c').count().min(1);
    let after_r = rest.get(letters..)?.strip_prefix(b"r")?;
    let hashes = after_r.iter().take_while(|&&byte| byte == b'#').count();
    let inside = after_r.get(hashes..)?.strip_prefix(b"\"")?;
    let closing = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
    let length = inside.windows(closing.len()).position(|window| window == closing).unwrap_or(inside.len());
    Some((letters + 1 + hashes + 1, length, closing.len()))
}

/// Bytes inside a character literal that starts here; `None` for a lifetime.
fn char_len(rest: &[u8]) -> Option<usize> {
    let inside = rest.get(1..)?;
    match inside {
        [b'\\', _, after @ ..] => Some(2 + after.iter().position(|&byte| byte == b'\'')?),
        [first, after @ ..] => {
            let continuation =
                after.iter().take_while(|&&byte| *first >= 0x80 && (0x80..0xc0).contains(&byte)).count();
            (after.get(continuation) == Some(&b'\'')).then_some(1 + continuation)
        }
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_lines_stay() {
        let text = "a /* x /* y */ z */ b // c\n\"d \\\" e\" r#\"f\" g\"# 'h' '\\'' '\u{e4}' 'life br\"i\" k";
        let source = Source::new(text);
        assert_eq!(source.code().len(), text.len());
        let words: Vec<&str> = source.code().split_whitespace().collect();
        assert_eq!(
            words,
            ["a", "b", "\"", "\"", "r#\"", "\"#", "'", "'", "'", "'", "'", "'", "'life", "br\"", "\"", "k"]
        );
        assert_eq!(source.line(text.find('k').unwrap()), 2);
    }

    #[test]
    fn a_comment_or_string_that_never_ends_reaches_to_the_end() {
        for text in ["a /* b", "a \"b", "a \"b\\", "a r#\"b\"", "a 'b", "a '", "a r", "a b'"] {
            assert_eq!(Source::new(text).code().len(), text.len(), "{text}");
        }
    }

    #[test]
    fn words_are_found_whole() {
        let source = Source::new("tokio tokios xtokio std::time::x std::timer println! my_println!");
        assert_eq!(source.find("tokio").count(), 1);
        assert_eq!(source.find("std::time").count(), 1);
        assert_eq!(source.find("println!").count(), 1);
    }

    #[test]
    fn functions_are_measured_from_fn_to_the_closing_brace() {
        let text = "fn short() {}\n\npub fn long(a: [u8; 4])\nwhere\n    A: B,\n{\n    if a { b }\n}\nfn none();\ntype F = fn(u8);";
        let source = Source::new(text);
        let functions = source.functions();
        assert_eq!(
            functions,
            [Function { name: "short", line: 1, lines: 1 }, Function { name: "long", line: 3, lines: 6 }]
        );
    }

    #[test]
    fn use_groups_are_taken_apart() {
        let source = Source::new("use std::{fs, time::{self, Instant as I}};\nuse a::b;");
        let paths: Vec<String> = source.used_paths().into_iter().map(|(_, path)| path).collect();
        assert_eq!(paths, ["std::fs", "std::time::self", "std::time::Instant", "a::b"]);
    }

    #[test]
    fn test_items_and_module_declarations_are_found() {
        let source = Source::new(
            "mod a;\npub(crate) mod b;\nmod c {}\n#[cfg(test)]\nmod tests { fn x() {} }\nfn y() {}",
        );
        assert_eq!(source.declared_modules(), ["a", "b"]);
        let tests = source.test_items();
        assert_eq!(tests.len(), 1);
        assert!(source.code()[tests[0].clone()].ends_with("fn x() {} }"));
    }
}
