//! Bytes as hexadecimal digits.

/// Two digits for each byte, in lower case.
///
/// ```
/// assert_eq!(cairn_packet::hex::encode(&[0x0f, 0xa0]), "0fa0");
/// ```
pub fn encode(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Two digits for each byte, in upper case: so CCNx writes the identifier of a ccnd.
pub fn encode_upper(bytes: &[u8]) -> String {
    encode(bytes).to_ascii_uppercase()
}

/// The byte that the first two digits of a text, of either case, stand for.
pub(crate) fn leading_byte(text: &[u8]) -> Option<u8> {
    let value = |digit: u8| char::from(digit).to_digit(16);
    let &[high, low] = text.first_chunk()?;
    u8::try_from(value(high)? << 4 | value(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_written_and_read_back_in_either_case() {
        for value in 0..=u8::MAX {
            for text in [encode(&[value]), encode(&[value]).to_uppercase()] {
                assert_eq!(leading_byte(text.as_bytes()), Some(value));
            }
        }
        for text in ["g0", "0+", "0", ""] {
            assert_eq!(leading_byte(text.as_bytes()), None, "{text}");
        }
    }
}
