//! Texts with wildcards.

/// Whether `glob` stands for all of `text`: a `*` in it is any text, and of everything else `one` says how
/// many bytes of the glob, which begin there, stand for a letter, if they do.
///
/// Tries the shortest text for each `*` first, and goes back to the last one only: the others need no change.
/// So the steps are no more than a small multiple of the letters of the glob times those of the text.
///
/// ```
/// use cairn_formats::glob;
///
/// let matches = |glob: &str, text: &str| glob::matches(glob.as_bytes(), text.as_bytes(), glob::letter);
/// assert!(matches("eth*", "eth0") && matches("e?h0", "eth0"));
/// assert!(!matches("eth?", "eth"));
/// ```
pub fn matches(glob: &[u8], text: &[u8], one: impl Fn(&[u8], u8) -> Option<usize>) -> bool {
    let (mut at, mut read) = (0, 0);
    // Where the last `*` stands, and how far it reaches at present.
    let mut star: Option<(usize, usize)> = None;
    loop {
        match (glob.get(at), text.get(read)) {
            (Some(b'*'), _) => {
                star = Some((at, read));
                at += 1;
                continue;
            }
            (None, None) => return true,
            (Some(_), Some(letter)) => {
                if let Some(len) = glob.get(at..).and_then(|glob| one(glob, *letter)) {
                    at += len;
                    read += 1;
                    continue;
                }
            }
            _ => {}
        }
        // Let the last star take one letter more.
        let Some((place, reach)) = star.filter(|(_, reach)| *reach < text.len()) else { return false };
        star = Some((place, reach + 1));
        (at, read) = (place + 1, reach + 1);
    }
}

/// A `?` is any letter, and every other letter stands for itself.
pub fn letter(glob: &[u8], letter: u8) -> Option<usize> {
    let first = *glob.first()?;
    (first == b'?' || first == letter).then_some(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_stars_take_no_long_time() {
        assert!(!matches("*a".repeat(50).as_bytes(), "a".repeat(49).as_bytes(), letter));
        assert!(matches("*a".repeat(50).as_bytes(), "a".repeat(50).as_bytes(), letter));
    }

    #[test]
    fn what_is_left_of_either_side_is_no_match() {
        for (glob, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("a", "", false),
            ("**", "", true),
            ("a*", "a", true),
            ("*b", "abc", false),
        ] {
            assert_eq!(matches(glob.as_bytes(), text.as_bytes(), letter), expected, "{glob} {text}");
        }
    }
}
