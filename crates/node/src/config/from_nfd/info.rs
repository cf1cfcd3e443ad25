//! The format of `nfd.conf`: a key, a value and entries in braces, all of them optional but the key.

use crate::config::ConfigError;

/// Braces within braces at most.
const MAX_DEPTH: usize = 32;

/// One entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// Where it stands, counted from 1.
    pub(super) line: usize,
    pub(super) key: String,
    pub(super) value: String,
    pub(super) entries: Vec<Entry>,
}

impl Entry {
    /// The last entry within this one that is called `key`, which is the one that counts.
    pub(super) fn find(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.key == key)
    }
}

enum Token {
    Open,
    Close,
    Word(String),
    EndOfLine,
}

/// Reads a file; the entries are within one without key.
///
/// # Errors
/// The line, and what is wrong there.
pub(super) fn read(text: &str) -> Result<Entry, ConfigError> {
    // Entries whose closing brace has not come, the outermost first.
    let mut open = vec![Entry::default()];
    for (number, line) in text.lines().enumerate() {
        let number = number + 1;
        let mut rest = line;
        // Whether the next word of this line is the value of the last entry.
        let mut wants_value = false;
        loop {
            let (token, after) = token(rest).map_err(|problem| error(number, problem))?;
            rest = after;
            match token {
                Token::EndOfLine => break,
                Token::Open => {
                    let opened = open.last_mut().and_then(|parent| parent.entries.pop());
                    let opened =
                        opened.ok_or_else(|| error(number, "a brace opens and nothing stands before it"))?;
                    if !opened.entries.is_empty() {
                        return Err(error(number, "a brace opens a second time for the same entry"));
                    }
                    if open.len() > MAX_DEPTH {
                        return Err(error(number, "there are too many braces within braces"));
                    }
                    open.push(opened);
                    wants_value = false;
                }
                Token::Close => {
                    let closed = open.pop().filter(|_| !open.is_empty());
                    let parent = open.last_mut();
                    let (Some(closed), Some(parent)) = (closed, parent) else {
                        return Err(error(number, "a brace closes that was not opened"));
                    };
                    parent.entries.push(closed);
                    wants_value = false;
                }
                Token::Word(word) => {
                    let Some(parent) = open.last_mut() else { break };
                    match parent.entries.last_mut().filter(|_| wants_value) {
                        Some(entry) => entry.value = word,
                        None => {
                            let entry = Entry { line: number, key: word, ..Entry::default() };
                            parent.entries.push(entry);
                        }
                    }
                    wants_value = !wants_value;
                }
            }
        }
    }
    match (open.pop(), open.is_empty()) {
        (Some(file), true) => Ok(file),
        (unclosed, _) => {
            let line = unclosed.map_or(0, |entry| entry.line);
            Err(error(line, "the brace of this entry is not closed"))
        }
    }
}

fn error(line: usize, problem: &str) -> ConfigError {
    ConfigError { line: Some(line), problem: problem.to_owned() }
}

/// The first token of the rest of a line, and what stands behind it.
fn token(text: &str) -> Result<(Token, &str), &'static str> {
    let text = text.trim_start();
    let mut letters = text.chars();
    match letters.next() {
        None | Some(';') => Ok((Token::EndOfLine, "")),
        Some('{') => Ok((Token::Open, letters.as_str())),
        Some('}') => Ok((Token::Close, letters.as_str())),
        Some('#') => Err("directives such as #include are not followed: put the files together first"),
        Some('"') => {
            let mut word = String::new();
            loop {
                match letters.next() {
                    Some('"') => return Ok((Token::Word(word), letters.as_str())),
                    Some('\\') => word.push(match letters.next() {
                        Some('n') => '\n',
                        Some('t') => '\t',
                        Some('r') => '\r',
                        Some(other @ ('"' | '\'' | '\\')) => other,
                        _ => return Err("there is no such escape sequence"),
                    }),
                    Some(letter) => word.push(letter),
                    None => return Err("a quotation mark is not closed"),
                }
            }
        }
        Some(_) => {
            let end =
                text.find(|letter: char| letter.is_whitespace() || matches!(letter, ';' | '{' | '}' | '"'));
            let (word, after) = text.split_at(end.unwrap_or(text.len()));
            Ok((Token::Word(word.to_owned()), after))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_values_and_braces_are_read_wherever_they_stand() {
        let text = "a 1 ; why\n\"b c\" \"x\\\"y\" {\n  d\n  {\n    * ; all\n  }\n}\ne { f 2 } g\n;}\n";
        let file = read(text).unwrap();
        let keys: Vec<_> = file.entries.iter().map(|entry| (entry.line, entry.key.as_str())).collect();
        assert_eq!(keys, [(1, "a"), (2, "b c"), (8, "e"), (8, "g")]);
        assert_eq!((file.entries[0].value.as_str(), file.entries[1].value.as_str()), ("1", "x\"y"));
        assert_eq!(file.find("b c").unwrap().find("d").unwrap().entries[0].key, "*");
        assert_eq!(file.find("e").unwrap().find("f").unwrap().value, "2");
    }

    #[test]
    fn what_makes_no_sense_is_told_with_its_line() {
        for (text, line) in [
            ("a\n}\n", 2),
            ("a\n{\n b\n {\n", 3),
            ("{\n", 1),
            ("a\n\"b\n", 2),
            ("#include \"x\"\n", 1),
            ("a \"\\q\"", 1),
            ("a {\nb 1\n}\n{\n", 4),
        ] {
            assert_eq!(read(text).unwrap_err().line, Some(line), "{text}");
        }
        assert!(read(&"a {".repeat(100_000)).is_err());
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd_to_be_read_or_refused(text in "[ab{};#\"\\\\ \n*/.0-9é]{0,200}") {
            if let Err(error) = read(&text) {
                prop_assert!(error.line.is_some_and(|line| line <= text.lines().count()));
            }
        }
    }
}
