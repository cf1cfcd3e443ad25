//! Packets as text: base64 as ndnsec writes it, PEM as ndnd does.

use thiserror::Error;

/// A text that is no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TextError {
    /// A character that base64 does not have, in this line.
    #[error("line {0}: not base64")]
    Character(usize),
    /// The text ends in the middle of a group.
    #[error("the base64 text is cut off")]
    CutOff,
    /// A PEM block that does not end.
    #[error("the block that begins in line {0} has no END line")]
    NoEnd(usize),
}

impl TextError {
    /// The same in the file whose line `begun` the text stands behind.
    fn in_block(self, begun: usize) -> Self {
        match self {
            TextError::Character(line) => TextError::Character(begun + line),
            other => other,
        }
    }
}

/// What a PEM block says it holds.
pub const CERTIFICATE_LABEL: &str = "NDN CERT";

/// What ndnd calls a private key, a Data with the key as content.
pub const KEY_LABEL: &str = "NDN KEY";

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 in lines of 64 characters, as ndnsec writes certificates and SafeBags.
pub fn to_base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() / 3 * 4 + bytes.len() / 48 + 6);
    let mut column = 0;
    for group in bytes.chunks(3) {
        if column == 64 {
            text.push('\n');
            column = 0;
        }
        let bits =
            group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for index in 0..4 {
            let digit = (bits >> (18 - 6 * index)) & 63;
            text.push(if index > group.len() { '=' } else { char::from(ALPHABET[digit as usize]) });
        }
        column += 4;
    }
    text.push('\n');
    text
}

/// Reads base64, with white space anywhere and padding or without.
///
/// # Errors
/// Other characters; a text that ends in the middle of a group.
pub fn from_base64(text: &str) -> Result<Vec<u8>, TextError> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut digits, mut padding) = (0u32, 0, 0);
    for (line, text) in text.lines().enumerate() {
        for character in text.bytes().filter(|character| !character.is_ascii_whitespace()) {
            let digit = match character {
                b'A'..=b'Z' => character - b'A',
                b'a'..=b'z' => character - b'a' + 26,
                b'0'..=b'9' => character - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                b'=' => {
                    padding += 1;
                    continue;
                }
                _ => return Err(TextError::Character(line + 1)),
            };
            if padding > 0 {
                return Err(TextError::Character(line + 1));
            }
            bits = bits << 6 | u32::from(digit);
            digits += 1;
            if digits == 4 {
                bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
                (bits, digits) = (0, 0);
            }
        }
    }
    match digits {
        0 if padding == 0 => Ok(bytes),
        2 if padding != 1 => {
            bytes.push((bits >> 4) as u8);
            Ok(bytes)
        }
        3 if padding < 2 => {
            bytes.extend_from_slice(&(bits >> 2).to_be_bytes()[2..]);
            Ok(bytes)
        }
        _ => Err(TextError::CutOff),
    }
}

/// A PEM block, with headers that programs skip and people read.
pub fn to_pem(label: &str, headers: &[(&str, String)], bytes: &[u8]) -> String {
    let mut text = format!("-----BEGIN {label}-----\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\n"));
    }
    if !headers.is_empty() {
        text.push('\n');
    }
    text.push_str(&to_base64(bytes));
    text.push_str(&format!("-----END {label}-----\n"));
    text
}

/// The packets in a file of any form that is used for them: bare bytes of packets one after the other,
/// base64, or PEM blocks.
///
/// # Errors
/// A text that is neither; packets that are cut off are left to whoever decodes them.
pub fn packets_in(file: &[u8]) -> Result<Vec<Vec<u8>>, TextError> {
    match std::str::from_utf8(file) {
        // A bare Data begins with byte 6, a SafeBag with 0x80; no text does.
        Ok(text) if !file.starts_with(&[6]) => {
            if text.contains("-----BEGIN ") {
                pem_blocks(text)
            } else {
                Ok(split_packets(&from_base64(text)?))
            }
        }
        _ => Ok(split_packets(file)),
    }
}

fn pem_blocks(text: &str) -> Result<Vec<Vec<u8>>, TextError> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with("-----BEGIN ") {
            if let Some((begun, _)) = open.replace((index + 1, String::new())) {
                return Err(TextError::NoEnd(begun));
            }
        } else if line.starts_with("-----END ") {
            if let Some((begun, body)) = open.take() {
                blocks.push(from_base64(&body).map_err(|error| error.in_block(begun))?);
            }
        } else if let Some((_, body)) = open.as_mut() {
            // A header leaves an empty line, so that lines keep their numbers.
            body.push_str(if line.contains(':') { "" } else { line });
            body.push('\n');
        }
    }
    match open {
        Some((line, _)) => Err(TextError::NoEnd(line)),
        None => Ok(blocks),
    }
}

/// Cuts `bytes` into elements. What does not parse stays one piece.
fn split_packets(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    let mut reader = packet::ndn::tlv::Reader::new(bytes, "file");
    loop {
        let start = reader.position();
        match reader.element() {
            Ok(Some(element)) => packets.extend(bytes.get(start..element.end()).map(<[u8]>::to_vec)),
            Ok(None) => return packets,
            Err(_) => {
                packets.extend(bytes.get(start..).map(<[u8]>::to_vec));
                return packets;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_examples_of_rfc_4648_come_out() {
        for (plain, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(to_base64(plain.as_bytes()).trim_end(), encoded);
            assert_eq!(from_base64(encoded).unwrap(), plain.as_bytes());
        }
    }

    #[test]
    fn what_is_not_base64_is_refused_with_its_line() {
        assert_eq!(from_base64("Zm9v\nZm*v"), Err(TextError::Character(2)));
        assert_eq!(from_base64("Z"), Err(TextError::CutOff));
        assert_eq!(from_base64("Zg==Zg=="), Err(TextError::Character(1)));
        assert_eq!(packets_in(b"-----BEGIN NDN CERT-----\nZm9v\n"), Err(TextError::NoEnd(1)));
        let block = "-----BEGIN NDN CERT-----\nName: /a\n\nZm9v\n-----END NDN CERT-----\n";
        let wrong = format!("{block}{}", block.replace("Zm9v", "Zm9v\nZm*v"));
        assert_eq!(packets_in(wrong.as_bytes()), Err(TextError::Character(10)));
        let cut_off = format!("{}\n{block}", block.lines().take(4).collect::<Vec<_>>().join("\n"));
        assert_eq!(packets_in(cut_off.as_bytes()), Err(TextError::NoEnd(1)));
    }

    proptest! {
        #[test]
        fn bytes_survive_base64_and_pem(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert_eq!(&from_base64(&to_base64(&bytes)).unwrap(), &bytes);
            let pem = to_pem(CERTIFICATE_LABEL, &[("Name", "/a".into())], &bytes);
            prop_assert_eq!(packets_in(pem.as_bytes()).unwrap(), vec![bytes]);
        }
    }
}
