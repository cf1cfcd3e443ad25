//! Bytes as text in which some stand for themselves, and all others as `%` and two hexadecimal digits
//! (RFC 3986, section 2.1).

use std::fmt;

use crate::hex;

/// The characters that stand for themselves in every part of a URI (RFC 3986, section 2.3).
pub fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Writes bytes: those of which `is_plain` holds as they are, which must be ASCII, all others escaped.
///
/// ```
/// use cairn_packet::percent;
/// let mut text = String::new();
/// percent::write(&mut text, b"a b", percent::is_unreserved)?;
/// assert_eq!(text, "a%20b");
/// assert_eq!(percent::decode(text.as_bytes()).as_deref(), Some(&b"a b"[..]));
/// # Ok::<_, std::fmt::Error>(())
/// ```
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl fmt::Write, bytes: &[u8], is_plain: impl Fn(u8) -> bool) -> fmt::Result {
    for &byte in bytes {
        if is_plain(byte) {
            out.write_char(byte.into())?;
        } else {
            write!(out, "%{byte:02X}")?;
        }
    }
    Ok(())
}

/// The bytes that a text stands for; `None` if a `%` has no two digits behind it.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        if first == b'%' {
            let (digits, tail) = tail.split_at_checked(2)?;
            bytes.push(hex::leading_byte(digits)?);
            rest = tail;
        } else {
            bytes.push(first);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back_and_an_escape_without_two_digits_is_refused() {
        let all: Vec<u8> = (0..=u8::MAX).collect();
        let mut text = String::new();
        write(&mut text, &all, is_unreserved).unwrap();
        assert_eq!(text.len(), 66 + 3 * (256 - 66));
        assert_eq!(decode(text.as_bytes()), Some(all));
        for wrong in ["%", "a%2", "%g0", "%0g"] {
            assert_eq!(decode(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
