//! Names as people write them: the scheme says which dialect they are of.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{Component, Name, NameRef, UriError};
use crate::ccnx::uri::{self, Escaping};
use crate::{DecodeError, Dialect};

/// A name with its dialect: `/a/b` and `ndn:/a/b` are names of NDN, `ccnx:/a/b` is one of CCNx.
///
/// ```
/// use cairn_packet::{AnyName, Dialect};
///
/// let name: AnyName = "ccnx:/a/b".parse()?;
/// assert_eq!((name.dialect, name.to_string().as_str()), (Dialect::Ccnx, "ccnx:/a/b"));
/// # Ok::<(), cairn_packet::name::AnyNameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyName {
    /// Of which dialect.
    pub dialect: Dialect,
    /// The name.
    pub name: Name,
}

impl AnyName {
    /// A name of a dialect.
    pub fn new(dialect: Dialect, name: Name) -> Self {
        AnyName { dialect, name }
    }

    /// The name with another component.
    ///
    /// # Errors
    /// The name would be too long.
    pub fn with(&self, component: Component<'_>) -> Result<Self, DecodeError> {
        Ok(AnyName { dialect: self.dialect, name: self.name.with(component)? })
    }

    /// Whether it is a name of CCNx.
    pub fn is_of_ccnx(&self) -> bool {
        self.dialect == Dialect::Ccnx
    }
}

/// A text that is no name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AnyNameError {
    /// None of NDN.
    #[error(transparent)]
    Ndn(#[from] UriError),
    /// None of CCNx.
    #[error("no name of CCNx: {0}")]
    Ccnx(#[from] DecodeError),
}

impl FromStr for AnyName {
    type Err = AnyNameError;

    fn from_str(text: &str) -> Result<Self, AnyNameError> {
        let scheme = text.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
        Ok(match scheme.as_deref() {
            Some("ccnx" | "ccn") => AnyName { dialect: Dialect::Ccnx, name: uri::parse(text)? },
            _ => AnyName { dialect: Dialect::Ndn, name: text.parse()? },
        })
    }
}

impl fmt::Display for AnyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name_in_dialect(self.dialect, self.name.as_ref()))
    }
}

/// A name as its dialect writes it.
pub fn name_in_dialect(dialect: Dialect, name: NameRef<'_>) -> String {
    match dialect {
        Dialect::Ndn => name.to_string(),
        Dialect::Ccnx => uri::format(name.components().map(|component| component.value), Escaping::Mixed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_chooses_the_dialect_and_a_name_is_shown_as_it_is_read() {
        for (text, dialect, shown) in [
            ("/a/b", Dialect::Ndn, "/a/b"),
            ("ndn:/a/b", Dialect::Ndn, "/a/b"),
            ("ccnx:/a/b", Dialect::Ccnx, "ccnx:/a/b"),
            ("CCN:/a/%00%01", Dialect::Ccnx, "ccnx:/a/=0001"),
        ] {
            let name: AnyName = text.parse().unwrap();
            assert_eq!((name.dialect, name.to_string().as_str()), (dialect, shown));
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        assert!("http:/a".parse::<AnyName>().is_err());
        assert!("ccnx:a".parse::<AnyName>().is_err());
    }
}
