//! Text of others, made fit to be shown.

const REPLACEMENT: char = '\u{fffd}';

/// What others wrote, as a part of one line: what would begin a new line, command a terminal, turn the
/// direction of what follows, or not be seen at all is replaced.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if is_unprintable(c) { REPLACEMENT } else { c }).collect()
}

/// Whether a character does something else than being seen: commands a terminal, turns the direction of
/// what follows, has no width, or breaks the line. Joiners, which some scripts cannot do without, are among
/// them: they make different words look alike.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
