//! `ccnx:` URIs: how people write names (CCNx 0.8 technical documentation, "URI").

use std::fmt;

use crate::error::{DecodeError, Rule};
use crate::hex;
use crate::name::{Component, ComponentKind, Name, NameRef};
use crate::percent::{self, is_unreserved};

/// How bytes that may not stand in a URI are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escaping {
    /// Each as `%XX`.
    Percent,
    /// As CCNx's own tools print them: one alone as `%XX`, and from the first of two in a row, or from the
    /// start of a component that begins with 00 (segment) or FD (version), everything up to its end as
    /// `=` and hex digits.
    Mixed,
}

/// Writes `/component/component`, without a scheme.
pub fn write<'a>(
    out: &mut impl fmt::Write,
    components: impl IntoIterator<Item = &'a [u8]>,
    escaping: Escaping,
) -> fmt::Result {
    let mut empty = true;
    for component in components {
        out.write_char('/')?;
        write_component(out, component, escaping)?;
        empty = false;
    }
    if empty { out.write_char('/') } else { Ok(()) }
}

/// The URI with scheme of the name made of `components`.
///
/// ```
/// use cairn_packet::ccnx::uri::{self, Escaping};
/// let name: [&[u8]; 3] = [b"PARC", b"a b", &[0x00, 0x01]];
/// assert_eq!(uri::format(name, Escaping::Mixed), "ccnx:/PARC/a%20b/=0001");
/// assert_eq!(uri::format(name, Escaping::Percent), "ccnx:/PARC/a%20b/%00%01");
/// ```
pub fn format<'a>(components: impl IntoIterator<Item = &'a [u8]>, escaping: Escaping) -> String {
    let mut out = String::from("ccnx:");
    // Writing to a String cannot fail.
    let _ = write(&mut out, components, escaping);
    out
}

/// The name of an absolute URI: one with a leading slash, with or without scheme `ccnx:` or `ccn:`.
///
/// An authority (`ccnx://host/…`), a query and a fragment are allowed and ignored. Empty segments and `.` are
/// skipped, `..` removes the component before it, and three dots fewer stand for a component of three dots or
/// more.
///
/// # Errors
/// [`Rule::BadText`] at the byte where an escape is broken, or where a relative URI or another scheme begins.
pub fn parse(uri: &str) -> Result<Name, DecodeError> {
    match strip_scheme(uri)? {
        (_, path) if path.starts_with('/') => resolve(NameRef::ROOT, uri),
        (offset, _) => Err(bad_text(offset)),
    }
}

/// The name that `uri` stands for; a relative one continues the name `base`.
///
/// # Errors
/// Those of [`parse`], but that a relative URI is none, and [`Rule::TypeOutOfRange`] for a component of
/// `base` that CCNx cannot express.
pub fn resolve(base: NameRef<'_>, uri: &str) -> Result<Name, DecodeError> {
    let (mut offset, mut path) = strip_scheme(uri)?;
    path = path.split(['?', '#']).next().unwrap_or_default();
    let mut components: Vec<Vec<u8>> = Vec::new();
    if let Some(absolute) = path.strip_prefix('/') {
        let authority = absolute.strip_prefix('/').map(|rest| rest.split('/').next().unwrap_or_default());
        let skipped = 1 + authority.map_or(0, |authority| 1 + authority.len());
        path = path.get(skipped..).unwrap_or_default();
        offset += skipped;
    } else {
        for component in base.components() {
            if component.kind != ComponentKind::GENERIC {
                let rule = Rule::TypeOutOfRange(component.kind.number().into());
                return Err(DecodeError::new("base name", 0, rule));
            }
            components.push(component.value.to_vec());
        }
    }
    for segment in path.split('/') {
        let component = unescape(segment, offset)?;
        offset += segment.len() + 1;
        match dots(&component) {
            Some(0 | 1) => {}
            Some(2) => drop(components.pop()),
            Some(count) => components.push(vec![b'.'; count - 3]),
            None => components.push(component),
        }
    }
    Name::from_components(components.iter().map(|component| Component::generic(component)))
}

/// Characters stand for themselves as in RFC 3986. CCNx's document lists `+` in place of `~`; reading takes
/// both.
fn write_component(out: &mut impl fmt::Write, component: &[u8], escaping: Escaping) -> fmt::Result {
    if dots(component).is_some() {
        out.write_str("...")?;
    }
    let mut rest = component;
    let marked = matches!(component, [0x00 | 0xfd, ..]);
    let mut in_hex = false;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let two_in_a_row = !is_unreserved(byte) && after.first().is_some_and(|&next| !is_unreserved(next));
        if !in_hex && escaping == Escaping::Mixed && (marked || two_in_a_row || byte == 0) {
            out.write_char('=')?;
            in_hex = true;
        }
        match byte {
            _ if in_hex => write!(out, "{byte:02X}")?,
            _ => percent::write(out, &[byte], is_unreserved)?,
        }
    }
    Ok(())
}

/// Splits off a scheme; gives what follows and its offset.
fn strip_scheme(uri: &str) -> Result<(usize, &str), DecodeError> {
    let segment = uri.split(['/', '?', '#']).next().unwrap_or_default();
    match segment.split_once(':') {
        Some((scheme, _)) if ["ccnx", "ccn"].iter().any(|known| known.eq_ignore_ascii_case(scheme)) => {
            let offset = scheme.len() + 1;
            Ok((offset, uri.get(offset..).unwrap_or_default()))
        }
        Some((scheme, "")) if !scheme.is_empty() => Err(bad_text(0)),
        _ => Ok((0, uri)),
    }
}

fn unescape(segment: &str, offset: usize) -> Result<Vec<u8>, DecodeError> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    let mut in_hex = false;
    let error_before = |rest: &[u8]| bad_text(offset + segment.len() - rest.len());
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b'=' if !in_hex && !after.is_empty() => {
                in_hex = true;
                rest = after;
            }
            b'=' => return Err(error_before(rest)),
            b'%' if in_hex => return Err(error_before(rest)),
            _ => {
                let digits = match byte {
                    b'%' => after,
                    _ if in_hex => rest,
                    _ => {
                        bytes.push(byte);
                        rest = after;
                        continue;
                    }
                };
                let (Some(byte), Some(behind)) = (hex::leading_byte(digits), digits.get(2..)) else {
                    return Err(error_before(rest));
                };
                bytes.push(byte);
                rest = behind;
            }
        }
    }
    Ok(bytes)
}

/// How many dots a component consists of; `None` if there is anything else in it.
fn dots(component: &[u8]) -> Option<usize> {
    component.iter().all(|&byte| byte == b'.').then_some(component.len())
}

fn bad_text(offset: usize) -> DecodeError {
    DecodeError::new("ccnx URI", offset, Rule::BadText)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn components(name: &Name) -> Vec<&[u8]> {
        name.components().map(|component| component.value).collect()
    }

    fn printed(component: &[u8], escaping: Escaping) -> String {
        let mut out = String::new();
        write(&mut out, [component], escaping).unwrap();
        out
    }

    #[test]
    fn mixed_escapes_are_those_of_the_specification() {
        let cases: &[(&[u8], &str)] = &[
            (b"a", "/a"),
            (b"", "/..."),
            (b"..", "/....."),
            (b".a", "/.a"),
            (b"a b", "/a%20b"),
            (b"a b ", "/a%20b%20"),
            (b"a  b", "/a=202062"),
            (&[0x00], "/=00"),
            (&[0x00, 0x01, 0x02], "/=000102"),
            (&[0xfd, 0x04, 0x99, 0x60, 0x2d, 0x20, 0x00], "/=FD0499602D2000"),
            (b"\xc1.M.S.localhost", "/%C1.M.S.localhost"),
            (b"\xc1.M.K\x00ab", "/%C1.M.K=006162"),
            (b"a+b", "/a%2Bb"),
        ];
        for &(component, text) in cases {
            assert_eq!(printed(component, Escaping::Mixed), text);
            assert_eq!(components(&parse(text).unwrap()), [component], "{text}");
        }
    }

    #[test]
    fn either_escaping_of_any_bytes_is_read_back() {
        let all: Vec<u8> = (0..=255).collect();
        let short = all.iter().map(std::slice::from_ref);
        let pairs = all.iter().flat_map(|&a| [[a, b'.'], [b'=', a], [a, 0], [a, a]]).collect::<Vec<_>>();
        for component in short.chain(pairs.iter().map(|pair| &pair[..])).chain([&all[..]]) {
            for escaping in [Escaping::Percent, Escaping::Mixed] {
                let uri = format([component], escaping);
                assert_eq!(components(&parse(&uri).unwrap()), [component], "{uri}");
            }
        }
    }

    #[test]
    fn dots_schemes_authorities_and_queries_are_handled_as_in_ccnx() {
        let same = |a: &str, b: &str| assert_eq!(parse(a).unwrap(), parse(b).unwrap(), "{a} {b}");
        same("ccnx:/a/b", "/a/b");
        same("CCN:/a/b", "/a/b");
        same("ccnx://host:1/a/b", "/a/b");
        same("/a//b/./", "/a/b");
        same("/x/../a/y/../b", "/a/b");
        same("/../..", "/");
        same("/a/%2E%2e/b", "/b");
        same("/a?b/c", "/a");
        same("/a#b/c", "/a");
        same("/a/=6162", "/a/ab");
        same("/a/b+c~", "/a/b%2Bc%7E");
        same("/a:b", "/a%3Ab");
        assert_eq!(parse("ccnx:/").unwrap(), Name::root());
        assert_eq!(components(&parse("/....").unwrap()), [b"."]);
    }

    #[test]
    fn relative_uris_need_a_base() {
        let base = parse("/a/b").unwrap();
        let base = base.as_ref();
        assert_eq!(resolve(base, "c").unwrap(), parse("/a/b/c").unwrap());
        assert_eq!(resolve(base, "ccnx:../c").unwrap(), parse("/a/c").unwrap());
        assert_eq!(resolve(base, "/c").unwrap(), parse("/c").unwrap());
        assert_eq!(resolve(base, "").unwrap().as_ref(), base);
        let typed: Name = "/a/v=1".parse().unwrap();
        assert_eq!(resolve(typed.as_ref(), "c").unwrap_err().rule, Rule::TypeOutOfRange(54));
        assert_eq!(parse("c"), Err(bad_text(0)));
        assert_eq!(parse("ccnx:c"), Err(bad_text(5)));
        assert_eq!(parse(""), Err(bad_text(0)));
    }

    #[test]
    fn broken_escapes_are_refused_where_they_stand() {
        for (uri, offset) in [
            ("/a/%", 3),
            ("/a/b%4", 4),
            ("/a/%4g", 3),
            ("/a/=", 3),
            ("/a/=4", 4),
            ("/a/=414", 6),
            ("/a/=41=41", 6),
            ("/a/=41%41", 6),
            ("ccnx://h/a/%", 11),
            ("http:/a", 0),
            ("http:", 0),
        ] {
            assert_eq!(parse(uri), Err(bad_text(offset)), "{uri}");
        }
    }
}
