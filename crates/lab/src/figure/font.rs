//! The font that reports are set in: its file, and its letters.

use std::sync::LazyLock;

use ttf_parser::Face;

/// Which of the two fonts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// For most words.
    Regular,
    /// For titles.
    Bold,
}

const REGULAR: &[u8] = include_bytes!("../../fonts/Roboto-Regular.ttf");
const BOLD: &[u8] = include_bytes!("../../fonts/Roboto-Bold.ttf");

/// A character's glyph, and how far it moves on in ems.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Glyph {
    pub(crate) id: u16,
    pub(crate) advance: f64,
}

/// The fonts are part of the program, and a test reads them.
static FACES: LazyLock<[Option<Face<'static>>; 2]> =
    LazyLock::new(|| [Face::parse(REGULAR, 0).ok(), Face::parse(BOLD, 0).ok()]);

/// The font, taken apart.
pub(crate) fn face(weight: Weight) -> Option<&'static Face<'static>> {
    let [regular, bold] = &*FACES;
    match weight {
        Weight::Regular => regular.as_ref(),
        Weight::Bold => bold.as_ref(),
    }
}

/// The font's file.
pub(crate) fn file(weight: Weight) -> &'static [u8] {
    match weight {
        Weight::Regular => REGULAR,
        Weight::Bold => BOLD,
    }
}

/// A character's glyph.
pub(crate) fn glyph(letter: char, weight: Weight) -> Glyph {
    // What the font lacks, and what looks most like it.
    let instead = match letter {
        '→' => '›',
        '←' => '‹',
        other => other,
    };
    let found = face(weight).and_then(|face| {
        let id = face.glyph_index(instead)?;
        let advance = f64::from(face.glyph_hor_advance(id)?) / f64::from(face.units_per_em());
        Some(Glyph { id: id.0, advance })
    });
    // What the font lacks is drawn as a box. Writings from Hangul on are as wide as they are high.
    found.unwrap_or(Glyph { id: 0, advance: if letter < '\u{1100}' { 0.6 } else { 1.0 } })
}

/// Does the font lack a letter?
pub(crate) fn is_missing(letter: char, weight: Weight) -> bool {
    glyph(letter, weight).id == 0
}
