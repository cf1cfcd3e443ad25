//! Text of others, made fit to be shown.

use std::path::Path;

/// What others wrote, as a part of one line: what would begin a new line, command a terminal, turn the
/// direction of what follows, or not be seen at all is replaced.
///
/// ```
/// assert_eq!(cairn_formats::printable::printable("two\nlines\u{202e}"), "two\u{fffd}lines\u{fffd}");
/// ```
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if is_unprintable(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// The name of a file as a part of one line, whoever gave it that name.
///
/// ```
/// use std::path::Path;
/// assert_eq!(cairn_formats::printable::printable_path(Path::new("a\nb")), "a\u{fffd}b");
/// ```
pub fn printable_path(path: &Path) -> String {
    printable(&path.display().to_string())
}

/// Whether a character does something else than being seen: commands a terminal, turns the direction of
/// what follows, has no width, or breaks the line. Joiners, which some scripts cannot do without, are among
/// them: they make different words look alike.
pub fn is_unprintable(c: char) -> bool {
    is_command(c)
        || matches!(c,
            '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2028}'..='\u{2029}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Whether a character commands a terminal or turns the direction of the text behind it (UAX 9): what no
/// text of others may do anywhere.
pub fn is_command(c: char) -> bool {
    let turns =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || c.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joiners_are_no_commands_but_nothing_that_a_line_shows() {
        assert!(is_unprintable('\u{200c}') && !is_command('\u{200c}'));
        assert!(is_unprintable('\u{202e}') && is_command('\u{202e}'));
        assert!(is_unprintable('\u{1b}') && is_command('\u{1b}'));
    }

    #[test]
    fn what_commands_is_not_printable_whatever_it_is() {
        assert!(('\0'..=char::MAX).all(|c| is_unprintable(c) || !is_command(c)));
    }

    #[test]
    fn all_that_was_not_printable_when_the_list_was_one_is_not() {
        let before = |c: char| {
            c.is_control()
                || matches!(c,
                    '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                    | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
        };
        assert!(('\0'..=char::MAX).all(|c| before(c) == is_unprintable(c)));
    }
}
