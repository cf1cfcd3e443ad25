//! Patterns of names.

use std::convert::Infallible;
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

impl FromStr for NameGlob {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let dialect = match text.split_once(':') {
            Some((scheme, _)) if ["ccnx", "ccn"].contains(&scheme) => Dialect::Ccnx,
            _ => Dialect::Ndn,
        };
        Ok(NameGlob { dialect, parts: parts(text).map(str::to_owned).collect() })
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
    let text = ["ccnx:", "ccn:"].iter().find_map(|scheme| text.strip_prefix(scheme)).unwrap_or(text);
    text.split('/').filter(|part| !part.is_empty())
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
        ] {
            let pattern: NameGlob = pattern.parse().unwrap();
            let name: Name = name.parse().unwrap();
            assert_eq!(pattern.matches(Dialect::Ndn, name.as_ref()), expected, "{pattern:?} {name}");
            assert!(!pattern.matches(Dialect::Ccnx, name.as_ref()));
        }
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
