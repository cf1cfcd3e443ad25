//! How wide words are, and how they are broken into lines.

use super::font::{Weight, glyph};
use super::widest;

/// What texts are measured by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ruler {
    pub(crate) size: f64,
    pub(crate) weight: Weight,
    /// May the text be set in another font than the own one?
    pub(crate) in_any_font: bool,
}

impl Ruler {
    /// For what is set in the own font.
    pub(super) const fn own(size: f64, weight: Weight) -> Self {
        Ruler { size, weight, in_any_font: false }
    }

    fn advance(self, letter: char) -> f64 {
        let ems = match self.in_any_font {
            true => widest::advance(letter, self.weight),
            false => glyph(letter, self.weight).advance,
        };
        ems * self.size
    }

    /// How wide a text is.
    pub(crate) fn width(self, text: &str) -> f64 {
        text.chars().map(|letter| self.advance(letter)).sum()
    }
}

/// How wide a text is in the own font.
#[must_use]
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    Ruler::own(size, weight).width(text)
}

/// As [`Ruler::wrap`], in the own font.
#[must_use]
pub(crate) fn wrap(text: &str, size: f64, weight: Weight, room: f64) -> Vec<String> {
    Ruler::own(size, weight).wrap(text, room)
}

/// As [`Ruler::fit`], in the own font.
#[must_use]
pub(crate) fn fit(text: &str, size: f64, weight: Weight, room: f64) -> String {
    Ruler::own(size, weight).fit(text, room)
}

impl Ruler {
    /// The text, or its beginning, an ellipsis and its end when it is wider than there is room: names that
    /// begin alike are told apart by how they end.
    pub(crate) fn fit(self, text: &str, room: f64) -> String {
        if self.width(text) <= room {
            return text.to_owned();
        }
        let letters: Vec<char> = text.chars().collect();
        let mut left = room - self.width("…");
        let (mut begin, mut end) = (0, letters.len());
        // One letter from the front, one from the back, as long as there is room.
        while begin < end {
            let from_front = begin <= letters.len() - end;
            let Some(letter) = letters.get(if from_front { begin } else { end - 1 }) else { break };
            left -= self.advance(*letter);
            if left < 0.0 {
                break;
            }
            if from_front {
                begin += 1;
            } else {
                end -= 1;
            }
        }
        let part = |letters: Option<&[char]>| letters.into_iter().flatten().collect::<String>();
        format!("{}…{}", part(letters.get(..begin)).trim_end(), part(letters.get(end..)).trim_start())
    }

    /// Breaks a text into lines that are no wider than there is room; a word that is wider is broken where it
    /// must be.
    pub(crate) fn wrap(self, text: &str, room: f64) -> Vec<String> {
        let mut lines = Vec::new();
        for paragraph in text.split('\n') {
            let mut line = String::new();
            for word in paragraph.split(' ') {
                let with = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
                if self.width(&with) <= room {
                    line = with;
                    continue;
                }
                if !line.is_empty() {
                    lines.push(std::mem::take(&mut line));
                }
                line = self.broken(word, room, &mut lines);
            }
            lines.push(line);
        }
        lines
    }

    /// A word on lines, all but the last of which are added: broken between its parts, and within one only
    /// where that is wider than a line.
    fn broken(self, word: &str, room: f64, lines: &mut Vec<String>) -> String {
        let mut line = String::new();
        for part in parts(word) {
            let with = format!("{line}{part}");
            if self.width(&with) <= room {
                line = with;
                continue;
            }
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            line = self.torn(part, room, lines);
        }
        line
    }

    /// Letters on lines, as many as there is room for; all but the last become lines.
    fn torn(self, word: &str, room: f64, lines: &mut Vec<String>) -> String {
        let mut part = String::new();
        let mut used = 0.0;
        for letter in word.chars() {
            let advance = self.advance(letter);
            if used + advance > room && !part.is_empty() {
                lines.push(std::mem::take(&mut part));
                used = 0.0;
            }
            part.push(letter);
            used += advance;
        }
        part
    }
}

/// The parts of a word that may stand on lines of their own: what ends with a sign between parts of a name.
/// Numbers and units are whole.
pub(crate) fn parts(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let is_break = |(place, sign): &(usize, char)| {
            let after = rest.get(place + sign.len_utf8()..).unwrap_or_default();
            let is_long = after.chars().nth(2).is_some();
            matches!(sign, '.' | '/' | '-' | '_' | ':' | '=' | ',')
                && *place > 1
                && is_long
                && after.starts_with(char::is_alphabetic)
        };
        let end =
            rest.char_indices().find(is_break).map_or(rest.len(), |(place, sign)| place + sign.len_utf8());
        let (part, after) = rest.split_at(end);
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fonts_are_read_and_know_the_signs_of_measurements() {
        for weight in [Weight::Regular, Weight::Bold] {
            for letter in "aZ0 ±×µ–…“”≤≥≈·%\u{202f}".chars() {
                assert_ne!(glyph(letter, weight).id, 0, "{letter:?} in {weight:?}");
            }
        }
        assert!(width("W", 10.0, Weight::Bold) > width("i", 10.0, Weight::Bold));
        assert!((width("00", 10.0, Weight::Regular) - 2.0 * width("0", 10.0, Weight::Regular)).abs() < 1e-9);
    }

    #[test]
    fn no_line_is_wider_than_its_room_and_no_word_is_lost() {
        let text = "Pending Interests at /a/very/long/name/that/has/no/space/in/it/at/all and more";
        let lines = wrap(text, 10.0, Weight::Regular, 90.0);
        assert!(lines.iter().all(|line| width(line, 10.0, Weight::Regular) <= 90.0), "{lines:?}");
        assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""));
    }

    #[test]
    fn a_text_that_may_be_set_in_another_font_is_measured_by_the_widest() {
        let of = |weight, text: &str| {
            let any = Ruler { size: 100.0, weight, in_any_font: true };
            (any.width(text) / width(text, 100.0, weight), any.width(text))
        };
        // As DejaVu Sans has them.
        assert!((of(Weight::Regular, "1.56").1 - 222.5).abs() < 0.5);
        assert!((of(Weight::Bold, "it").1 - 82.1).abs() < 0.5);
        assert!(of(Weight::Bold, "it, till it is there").0 > 1.3);
        assert!(of(Weight::Regular, "Überlänge →").0 > 1.1);
    }

    #[test]
    fn names_are_broken_between_their_parts_and_numbers_are_not() {
        let of = |word: &'static str| parts(word).collect::<Vec<_>>();
        assert_eq!(of("files.goodput"), ["files.", "goodput"]);
        assert_eq!(of("/a/very/long-name"), ["/a/", "very/", "long-", "name"]);
        assert_eq!(of("14.4\u{a0}Mbit/s"), ["14.4\u{a0}Mbit/s"]);
        assert_eq!((of("1.2e-7"), of("")), (vec!["1.2e-7"], vec![]));
    }

    #[test]
    fn what_does_not_fit_loses_its_middle_and_keeps_what_tells_it_apart() {
        let short = fit("Goodput towards the consumer", 11.0, Weight::Regular, 80.0);
        assert!(
            short.starts_with("Good")
                && short.ends_with("mer")
                && width(&short, 11.0, Weight::Regular) <= 80.0,
            "{short}"
        );
        assert_eq!(fit("cpu", 11.0, Weight::Regular, 80.0), "cpu");
    }
}
