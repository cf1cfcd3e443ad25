//! Bytes that a test spells out.

/// The bytes that hexadecimal digits stand for, two for each; white space between them is for whoever reads.
///
/// ```
/// assert_eq!(cairn_testkit::bytes::hex("0a 00\n  FF"), [10, 0, 255]);
/// ```
///
/// # Panics
/// There is something else, or half a byte.
pub fn hex(text: &str) -> Vec<u8> {
    let digit = |letter: char| match letter.to_digit(16) {
        Some(digit) => digit as u8,
        None => panic!("{letter:?} is no hexadecimal digit: {text}"),
    };
    let digits: Vec<u8> = text.chars().filter(|letter| !letter.is_whitespace()).map(digit).collect();
    assert!(digits.len().is_multiple_of(2), "half a byte is too much: {text}");
    digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "'g' is no hexadecimal digit")]
    fn what_is_no_digit_is_not_left_out() {
        hex("0g0");
    }

    #[test]
    #[should_panic(expected = "half a byte")]
    fn half_a_byte_is_not_left_out() {
        hex("00 1");
    }
}
