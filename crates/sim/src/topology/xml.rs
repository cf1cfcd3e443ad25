//! As much of XML as GraphML needs: elements, attributes, text, the five entities and numbers, comments,
//! CDATA. No DTD and no entities of a file's own, so nothing grows.

use super::TopologyError;

/// A piece of a document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// `<name attributes>`; an empty element is followed by its `Close`.
    Open { name: String, attributes: Vec<(String, String)> },
    /// `</name>`.
    Close,
    /// Text between tags, not only of white space.
    Text(String),
}

/// Reads a document piece by piece, with the line on which each begins. Checks that elements are closed in
/// order.
pub(super) struct Reader<'a> {
    rest: &'a str,
    line: usize,
    open: Vec<&'a str>,
    /// The last element was an empty one, which is to be closed.
    close_next: bool,
}

/// Elements within elements; GraphML needs six.
const MAX_DEPTH: usize = 64;

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Reader { rest: text.trim_start_matches('\u{feff}'), line: 1, open: Vec::new(), close_next: false }
    }

    pub(super) fn line(&self) -> usize {
        self.line
    }

    fn error(&self, problem: impl Into<String>) -> TopologyError {
        TopologyError::new(self.line, problem)
    }

    /// Goes past `len` bytes, which end at a character.
    fn advance(&mut self, len: usize) -> &'a str {
        let (passed, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, ""));
        self.line += passed.bytes().filter(|&byte| byte == b'\n').count();
        self.rest = rest;
        passed
    }

    /// Goes past everything up to and with `end`; gives what comes before it.
    fn advance_past(&mut self, end: &str, what: &str) -> Result<&'a str, TopologyError> {
        match self.rest.find(end) {
            Some(place) => {
                let passed = self.advance(place);
                self.advance(end.len());
                Ok(passed)
            }
            None => Err(self.error(format!("{what} does not end"))),
        }
    }

    /// The next piece; `None` at the end.
    pub(super) fn token(&mut self) -> Result<Option<Token>, TopologyError> {
        if std::mem::take(&mut self.close_next) {
            return Ok(Some(Token::Close));
        }
        loop {
            if self.rest.is_empty() {
                return match self.open.last() {
                    Some(name) => Err(self.error(format!("<{name}> is not closed"))),
                    None => Ok(None),
                };
            }
            if let Some(text) = self.text()? {
                return Ok(Some(Token::Text(text)));
            }
            if self.rest.starts_with("<?") {
                self.advance_past("?>", "an instruction")?;
            } else if self.rest.starts_with("<!--") {
                self.advance_past("-->", "a comment")?;
            } else if self.rest.starts_with("<![CDATA[") {
                self.advance("<![CDATA[".len());
                return Ok(Some(Token::Text(self.advance_past("]]>", "CDATA")?.to_owned())));
            } else if self.rest.starts_with("<!") {
                return Err(self.error("documents with a type declaration are not read"));
            } else if self.rest.starts_with("</") {
                self.advance(2);
                let name = self.advance_past(">", "a closing tag")?.trim();
                return match self.open.pop() {
                    Some(open) if open == name => Ok(Some(Token::Close)),
                    Some(open) => Err(self.error(format!("<{open}> is closed by </{name}>"))),
                    None => Err(self.error(format!("</{name}> closes nothing"))),
                };
            } else if self.rest.starts_with('<') {
                return self.opening().map(Some);
            }
        }
    }

    /// Text up to the next tag, if it is more than white space.
    fn text(&mut self) -> Result<Option<String>, TopologyError> {
        let end = self.rest.find('<').unwrap_or(self.rest.len());
        if end == 0 {
            return Ok(None);
        }
        let line = self.line;
        let raw = self.advance(end);
        if raw.trim().is_empty() {
            return Ok(None);
        }
        if self.open.is_empty() {
            return Err(TopologyError::new(line, "text outside of the document"));
        }
        unescape(raw.trim()).map(Some).map_err(|problem| TopologyError::new(line, problem))
    }

    fn opening(&mut self) -> Result<Token, TopologyError> {
        let line = self.line;
        self.advance(1);
        let end =
            self.rest.find(|c: char| c.is_whitespace() || c == '>' || c == '/').unwrap_or(self.rest.len());
        let name = self.advance(end);
        if name.is_empty() {
            return Err(TopologyError::new(line, "a tag without a name"));
        }
        let mut attributes = Vec::new();
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.advance(blank);
            if self.rest.starts_with("/>") {
                self.advance(2);
                self.close_next = true;
                return Ok(Token::Open { name: name.to_owned(), attributes });
            }
            if self.rest.starts_with('>') {
                self.advance(1);
                if self.open.len() >= MAX_DEPTH {
                    return Err(self.error("too many elements within each other"));
                }
                self.open.push(name);
                return Ok(Token::Open { name: name.to_owned(), attributes });
            }
            attributes.push(self.attribute(name)?);
        }
    }

    fn attribute(&mut self, element: &str) -> Result<(String, String), TopologyError> {
        let wrong =
            |reader: &Self| reader.error(format!("<{element}> has an attribute that is not name=\"value\""));
        let Some(equals) = self.rest.find('=') else { return Err(wrong(self)) };
        let key = self.advance(equals).trim();
        self.advance(1);
        let blank = self.rest.len() - self.rest.trim_start().len();
        self.advance(blank);
        let quote = match self.rest.chars().next() {
            Some(quote @ ('"' | '\'')) if !key.is_empty() && !key.contains(['<', '>']) => quote,
            _ => return Err(wrong(self)),
        };
        self.advance(1);
        let raw = self.advance_past(if quote == '"' { "\"" } else { "'" }, "an attribute")?;
        let value = unescape(raw).map_err(|problem| self.error(problem))?;
        Ok((key.to_owned(), value))
    }
}

/// The text with its entities, such as `&amp;`, replaced.
pub(super) fn unescape(raw: &str) -> Result<String, String> {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(place) = rest.find('&') {
        let (before, from) = rest.split_at(place);
        out.push_str(before);
        let Some((entity, after)) = from[1..].split_once(';') else {
            return Err("& without a ; after it".to_owned());
        };
        let number = match entity.strip_prefix('#') {
            Some(digits) => match digits.strip_prefix('x') {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => digits.parse().ok(),
            },
            None => None,
        };
        let character = match entity {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => number.and_then(char::from_u32),
        };
        out.push(character.ok_or_else(|| format!("&{entity}; is not known"))?);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &str) -> Result<Vec<Token>, TopologyError> {
        let mut reader = Reader::new(text);
        let mut tokens = Vec::new();
        while let Some(token) = reader.token()? {
            tokens.push(token);
        }
        Ok(tokens)
    }

    #[test]
    fn elements_attributes_and_text_are_read() {
        let text = "<?xml version=\"1.0\"?>\n<a b=\"1 &lt; 2\" c='&#65;'><!-- x --><d/>t &amp; u</a>";
        let open = |name: &str, attributes: &[(&str, &str)]| Token::Open {
            name: name.to_owned(),
            attributes: attributes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        };
        let expected = vec![
            open("a", &[("b", "1 < 2"), ("c", "A")]),
            open("d", &[]),
            Token::Close,
            Token::Text("t & u".to_owned()),
            Token::Close,
        ];
        assert_eq!(all(text), Ok(expected));
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let error = |text: &str| all(text).unwrap_err().to_string();
        assert_eq!(error("<a>\n<b>\n</a>"), "line 3: <b> is closed by </a>");
        assert_eq!(error("<a>\n"), "line 2: <a> is not closed");
        assert_eq!(error("<a b>"), "line 1: <a> has an attribute that is not name=\"value\"");
        assert_eq!(error("<!DOCTYPE x>"), "line 1: documents with a type declaration are not read");
        assert_eq!(error("<a>&x;</a>"), "line 1: &x; is not known");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(<a|<b|>|/>|</a>|</b>| c=|\"x\"|&lt;|&|é|<!--|-->|<!\\[CDATA\\[|\\]\\]>|\n){0,30}") {
            let _ = all(&text);
        }
    }
}
