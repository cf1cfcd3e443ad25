//! Percent-encoding (RFC 3986): bytes that do not stand for themselves, as `%` and two digits.

use std::fmt;

use crate::hex;

/// Whether a byte stands for itself wherever it stands.
pub fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Writes `bytes`: those that `is_plain` names as they are, the others in per cent.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl fmt::Write, bytes: &[u8], is_plain: impl Fn(u8) -> bool) -> fmt::Result {
    bytes.iter().try_for_each(|&byte| match is_plain(byte) {
        true => out.write_char(byte.into()),
        false => write!(out, "%{byte:02X}"),
    })
}

/// The same as a text.
///
/// ```
/// use cairn_packet::percent::{self, is_unreserved};
///
/// assert_eq!(percent::encode(b"a b/c~", |byte| is_unreserved(byte) || byte == b'/'), "a%20b/c~");
/// ```
pub fn encode(bytes: &[u8], is_plain: impl Fn(u8) -> bool) -> String {
    let mut text = String::with_capacity(bytes.len());
    // Writing to a String does not fail.
    let _ = write(&mut text, bytes, is_plain);
    text
}

/// The bytes that a text stands for; `None` where no two digits follow `%`.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let (byte, behind) = match first {
            b'%' => (hex::leading_byte(tail)?, tail.get(2..)?),
            plain => (plain, tail),
        };
        bytes.push(byte);
        rest = behind;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_read_back_and_only_what_is_plain_stands_as_it_is() {
        let all: Vec<u8> = (0..=u8::MAX).collect();
        for is_plain in [is_unreserved as fn(u8) -> bool, |byte| is_unreserved(byte) || byte == b'/'] {
            let text = encode(&all, is_plain);
            let plain = all.iter().filter(|byte| is_plain(**byte)).count();
            assert_eq!(text.len(), plain + 3 * (all.len() - plain));
            assert_eq!(decode(&text).unwrap(), all);
        }
    }

    #[test]
    fn digits_are_of_either_case_and_there_are_two_of_them() {
        for text in ["%fC", "%Fc"] {
            assert_eq!(decode(text), Some(vec![0xfc]));
        }
        for text in ["%", "%f", "%g0", "%0+", "a%1"] {
            assert_eq!(decode(text), None, "{text}");
        }
        assert_eq!(decode("+/=").unwrap(), b"+/=", "these stand for themselves");
    }
}
