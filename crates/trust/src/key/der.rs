//! As much of DER as keys need: nested elements in, nested elements out.

use crate::error::KeyError;

pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const NULL: u8 = 0x05;
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(crate) const SEQUENCE: u8 = 0x30;

/// Object identifiers, as their DER values.
pub(crate) mod oid {
    pub(crate) const RSA_ENCRYPTION: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
    pub(crate) const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
    pub(crate) const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
    pub(crate) const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
    pub(crate) const PBES2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0d];
    pub(crate) const PBKDF2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0c];
    pub(crate) const HMAC_WITH_SHA1: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x07];
    pub(crate) const HMAC_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x09];
    pub(crate) const AES_128_CBC: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x02];
    pub(crate) const AES_256_CBC: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2a];
}

/// Reads elements one after the other.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    /// Reads `bytes`; errors call them `what`.
    pub(crate) fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Reader { rest: bytes, what }
    }

    /// The tag of the next element.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// The value of the next element, which must have `tag`.
    pub(crate) fn value(&mut self, tag: u8) -> Result<&'a [u8], KeyError> {
        let (found, value, rest) = split(self.rest).ok_or_else(|| self.malformed())?;
        if found != tag {
            return Err(self.malformed());
        }
        self.rest = rest;
        Ok(value)
    }

    /// A reader of what is inside the next element, which must have `tag`.
    pub(crate) fn inside(&mut self, tag: u8) -> Result<Reader<'a>, KeyError> {
        Ok(Reader { rest: self.value(tag)?, what: self.what })
    }

    /// A small unsigned INTEGER.
    pub(crate) fn number(&mut self) -> Result<u64, KeyError> {
        let digits = self.value(INTEGER)?;
        let negative = digits.first().is_none_or(|first| first & 0x80 != 0);
        let zeros = digits.iter().take_while(|digit| **digit == 0).count();
        if negative || digits.len() - zeros > 8 {
            return Err(self.malformed());
        }
        Ok(digits.iter().fold(0, |number, digit| number << 8 | u64::from(*digit)))
    }

    /// Fails if anything is left.
    pub(crate) fn finish(&self) -> Result<(), KeyError> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.malformed()) }
    }

    pub(crate) fn malformed(&self) -> KeyError {
        KeyError::Malformed(self.what)
    }
}

/// Tag, value and what follows.
fn split(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    let (value, rest) = rest.split_at_checked(length)?;
    Some((tag, value, rest))
}

/// An element with `tag` whose value is all of `parts`.
pub(crate) fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut out = vec![tag];
    match u8::try_from(length) {
        Ok(short @ 0..=0x7f) => out.push(short),
        _ => {
            let digits = length.to_be_bytes();
            let zeros = digits.iter().take_while(|digit| **digit == 0).count();
            // A length has at most eight digits, so this fits.
            out.push(0x80 | (digits.len() - zeros) as u8);
            out.extend(digits.iter().skip(zeros));
        }
    }
    for part in parts {
        out.extend_from_slice(part);
    }
    out
}

/// An INTEGER.
pub(crate) fn integer(number: u64) -> Vec<u8> {
    let digits = number.to_be_bytes();
    let zeros = digits.iter().take(7).take_while(|digit| **digit == 0).count();
    let digits: Vec<u8> = digits.iter().skip(zeros).copied().collect();
    // A leading one would make it negative.
    let sign: &[u8] = if digits.first().is_some_and(|digit| digit & 0x80 != 0) { &[0] } else { &[] };
    element(INTEGER, &[sign, &digits])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lengths_around_the_forms_of_der_are_read_back() {
        for length in [0, 1, 127, 128, 255, 256, 65_535, 65_536] {
            let value = vec![7u8; length];
            let written = element(OCTET_STRING, &[&value]);
            let mut reader = Reader::new(&written, "test");
            assert_eq!(reader.value(OCTET_STRING).unwrap().len(), length);
            reader.finish().unwrap();
        }
    }

    #[test]
    fn a_length_beyond_the_end_is_refused() {
        for bytes in [
            &[0x30, 0x05, 1][..],
            &[0x30, 0x82, 0xff, 0xff],
            &[0x30, 0x84, 0, 0, 0, 1, 1],
            &[0x30, 0x80],
            &[0x30],
        ] {
            assert!(Reader::new(bytes, "test").value(SEQUENCE).is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn integers_are_read_back(number: u64) {
            let written = integer(number);
            prop_assert_eq!(Reader::new(&written, "test").number(), Ok(number));
        }

        #[test]
        fn no_bytes_panic_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut reader = Reader::new(&bytes, "test");
            let _ = reader.number().is_ok() || reader.inside(SEQUENCE).is_ok();
        }
    }
}
