//! Patterns of names.

use std::str::FromStr;

use formats::glob;
use packet::name::name_in_dialect;
use packet::{AnyName, Dialect, NameRef};

/// A name in whose components * stands for any letters and ? for one, as names are written. It means all
/// names that begin with what it matches, of CCNx if it begins with `ccnx:`, and of NDN otherwise.
#[derive(Clone, Debug)]
pub(super) struct NameGlob {
    dialect: Dialect,
    parts: Vec<String>,
}

/// An empty pattern.
#[derive(Debug, thiserror::Error)]
#[error("an empty pattern would mean everything; if that is meant, write /")]
pub(super) struct EmptyPatternError;

impl FromStr for NameGlob {
    type Err = EmptyPatternError;

    fn from_str(text: &str) -> Result<Self, EmptyPatternError> {
        // That of a variable that is not set, perhaps.
        if text.is_empty() {
            return Err(EmptyPatternError);
        }
        let dialect = match text.split_once(':') {
            Some((scheme, _)) if ["ccnx", "ccn"].contains(&scheme) => Dialect::Ccnx,
            _ => Dialect::Ndn,
        };
        Ok(NameGlob { dialect, parts: parts(text).map(as_written).collect() })
    }
}

impl From<&AnyName> for NameGlob {
    fn from(name: &AnyName) -> Self {
        let parts = parts(&name_in_dialect(name.dialect, name.name.as_ref())).map(str::to_owned).collect();
        NameGlob { dialect: name.dialect, parts }
    }
}

/// The components, without a scheme: one stands before the first slash.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let text = ["ccnx:", "ccn:", "ndn:"].iter().find_map(|scheme| text.strip_prefix(scheme)).unwrap_or(text);
    text.split('/').filter(|part| !part.is_empty())
}

/// A part of a pattern as names are written: with percent signs for what is no plain letter.
fn as_written(part: &str) -> String {
    let mut written = String::with_capacity(part.len());
    let mut digits = 0_u8;
    for &byte in part.as_bytes() {
        match byte {
            b'%' => digits = 3,
            _ if digits > 0 => {}
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'=' | b'*' | b'?' => {}
            _ => {
                written.push_str(&format!("%{byte:02X}"));
                continue;
            }
        }
        let is_digit = (1..3).contains(&digits);
        written.push(char::from(if is_digit { byte.to_ascii_uppercase() } else { byte }));
        digits = digits.saturating_sub(1);
    }
    written
}

impl NameGlob {
    /// Whether the name begins with what this matches.
    pub(super) fn matches(&self, dialect: Dialect, name: NameRef<'_>) -> bool {
        let name = name_in_dialect(dialect, name);
        let mut components = parts(&name);
        self.dialect == dialect
            && self.parts.iter().all(|pattern| {
                components.next().is_some_and(|component| {
                    glob::matches(pattern.as_bytes(), component.as_bytes(), glob::letter)
                })
            })
    }
}

#[cfg(test)]
mod tests {
    use packet::Name;

    use super::*;

    #[test]
    fn a_pattern_means_what_begins_with_what_it_matches() {
        for (pattern, name, expected) in [
            ("/", "/a/b", true),
            ("/a", "/a/b", true),
            ("/a/b", "/a", false),
            ("/a", "/ab", false),
            ("/a*", "/ab/c", true),
            ("/*/c", "/a/b/c", false),
            ("/*/b", "/a/b/c", true),
            ("/film-?/v=*", "/film-2/v=17", true),
            ("/film-?/v=*", "/film-22/v=17", false),
            ("/*a*b*", "/xaxxbx", true),
            ("/*a*b", "/xaxxbx", false),
            ("/a%20b", "/a%20b/c", true),
            ("/a b", "/a%20b/c", true),
            ("/f%c3%bc*/v=1", "/f%C3%BCr/v=1", true),
            ("/für", "/f%C3%BCr", true),
            ("ndn:/a", "/a", true),
        ] {
            let pattern: NameGlob = pattern.parse().unwrap();
            let name: Name = name.parse().unwrap();
            assert_eq!(pattern.matches(Dialect::Ndn, name.as_ref()), expected, "{pattern:?} {name}");
            assert!(!pattern.matches(Dialect::Ccnx, name.as_ref()));
        }
    }

    #[test]
    fn only_a_slash_means_everything_and_nothing_means_nothing() {
        assert!("".parse::<NameGlob>().is_err_and(|error| error.to_string().contains("write /")));
    }

    #[test]
    fn names_of_ccnx_are_matched_as_they_are_written() {
        let name: Name = packet::ccnx::uri::parse("ccnx:/lab/film/=FD0499602D2000").unwrap();
        for (pattern, expected) in
            [("ccnx:/", true), ("ccnx:/lab/*/=FD*", true), ("ccnx:/lab/film/v=*", false), ("/lab", false)]
        {
            let pattern: NameGlob = pattern.parse().unwrap();
            assert_eq!(pattern.matches(Dialect::Ccnx, name.as_ref()), expected, "{pattern:?}");
        }
    }
}
