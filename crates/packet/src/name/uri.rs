//! Names as text: the NDN URI scheme (NDN packet format, section 2.2).
//!
//! Output follows ndn-cxx: the alternate form for typed numbers and digests where the value allows it, `8=`
//! left out, three periods more than a component of only periods has. Input accepts both forms of everything.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use thiserror::Error;

use super::{Component, ComponentKind, Name, NameRef};
use crate::error::DecodeError;
use crate::hex;
use crate::ndn::tlv;
use crate::percent::{self, is_unreserved};

/// A text that is not a name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UriError {
    /// A scheme other than `ndn:`.
    #[error("the scheme must be ndn:, or be left out")]
    Scheme,
    /// No leading slash.
    #[error("a name starts with /")]
    NoSlash,
    /// A `%` without two hexadecimal digits.
    #[error("component {0:?}: % needs two hexadecimal digits")]
    Escape(String),
    /// One or two periods, which stand for no component.
    #[error("component {0:?}: a component of one or two periods is written with three more")]
    Periods(String),
    /// The text before `=` is not a component type from 1 to 65535.
    #[error("component {0:?}: the type must be a number from 1 to 65535")]
    Kind(String),
    /// The text behind an alternate form is not the number or digest it should be.
    #[error("component {0:?}: not a {1}")]
    Value(String, &'static str),
    /// The name is well written but not allowed.
    #[error(transparent)]
    Malformed(#[from] DecodeError),
}

/// Alternate forms whose value is a decimal number.
const NUMBER_FORMS: [(&str, ComponentKind); 5] = [
    ("seg", ComponentKind::SEGMENT),
    ("off", ComponentKind::BYTE_OFFSET),
    ("v", ComponentKind::VERSION),
    ("t", ComponentKind::TIMESTAMP),
    ("seq", ComponentKind::SEQUENCE_NUMBER),
];

/// Alternate forms whose value is a digest in hexadecimal.
const DIGEST_FORMS: [(&str, ComponentKind); 2] =
    [("sha256digest", ComponentKind::IMPLICIT_DIGEST), ("params-sha256", ComponentKind::PARAMETERS_DIGEST)];

impl FromStr for Name {
    type Err = UriError;

    fn from_str(uri: &str) -> Result<Self, UriError> {
        let path = match uri.split_once(':') {
            Some((scheme, path)) if !scheme.contains(['/', '%', '=']) => {
                if !scheme.eq_ignore_ascii_case("ndn") {
                    return Err(UriError::Scheme);
                }
                path
            }
            _ => uri,
        };
        let path = match path.strip_prefix("//") {
            Some(after_authority) => after_authority.find('/').map_or("/", |slash| &after_authority[slash..]),
            None => path,
        };
        let path = path.strip_prefix('/').ok_or(UriError::NoSlash)?;
        let mut canonical = Vec::with_capacity(path.len() + 8);
        if !path.is_empty() {
            // A slash at the end adds nothing; people write it out of habit.
            for text in path.strip_suffix('/').unwrap_or(path).split('/') {
                parse_component(text, &mut canonical)?;
            }
        }
        Ok(Name::from_canonical(canonical.into())?)
    }
}

fn parse_component(text: &str, canonical: &mut Vec<u8>) -> Result<(), UriError> {
    if let Some((prefix, value)) = text.split_once('=') {
        if let Some((_, kind)) = NUMBER_FORMS.iter().find(|(form, _)| *form == prefix) {
            let number =
                parse_decimal(value).ok_or_else(|| UriError::Value(text.into(), "decimal number"))?;
            tlv::write_nni_element(canonical, kind.number().into(), number);
            return Ok(());
        }
        if let Some((_, kind)) = DIGEST_FORMS.iter().find(|(form, _)| *form == prefix) {
            let digest =
                parse_digest(value).ok_or_else(|| UriError::Value(text.into(), "digest of 64 hex digits"))?;
            Component::new(*kind, &digest).append_to(canonical);
            return Ok(());
        }
        // A decimal type; everything else before `=` is an error rather than data, to catch mistyped forms.
        let kind = parse_decimal(prefix)
            .and_then(|number| u16::try_from(number).ok())
            .and_then(ComponentKind::new)
            .ok_or_else(|| UriError::Kind(text.into()))?;
        let value = unescape(value, text)?;
        let component = Component::new(kind, &value);
        component.check(canonical.len())?;
        component.append_to(canonical);
        return Ok(());
    }
    Component::generic(&unescape(text, text)?).append_to(canonical);
    Ok(())
}

/// A decimal number without sign, space or superfluous leading zero.
fn parse_decimal(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

fn parse_digest(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (byte, digits) in digest.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = hex::leading_byte(digits)?;
    }
    Some(digest)
}

fn unescape(value: &str, component: &str) -> Result<Vec<u8>, UriError> {
    let mut bytes = percent::decode(value).ok_or_else(|| UriError::Escape(component.into()))?;
    if bytes.iter().all(|&byte| byte == b'.') {
        match bytes.len() {
            0 if value.is_empty() => {}
            0..=2 => return Err(UriError::Periods(component.into())),
            periods => bytes.truncate(periods - 3),
        }
    }
    Ok(bytes)
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.as_ref(), f)
    }
}

impl fmt::Display for NameRef<'_> {
    /// Writes the alternate form; `{:#}` writes the canonical form, in which every type is a number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            return f.write_char('/');
        }
        for component in self.components() {
            f.write_char('/')?;
            write_component(component, f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Component<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_component(*self, f)
    }
}

fn write_component(component: Component<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if !f.alternate() {
        if let Some((form, _)) = NUMBER_FORMS.iter().find(|(_, kind)| *kind == component.kind) {
            // Only the shortest width reads back as the same bytes.
            if let Some(number) = component.number().filter(|&n| tlv::nni_len(n) == component.value.len()) {
                return write!(f, "{form}={number}");
            }
        }
        if let Some((form, _)) = DIGEST_FORMS.iter().find(|(_, kind)| *kind == component.kind) {
            write!(f, "{form}=")?;
            return f.write_str(&hex::encode(component.value));
        }
    }
    if component.kind != ComponentKind::GENERIC {
        write!(f, "{}=", component.kind.number())?;
    }
    if component.value.iter().all(|&byte| byte == b'.') {
        f.write_str("...")?;
    }
    percent::write(f, component.value, is_unreserved)
}
