//! How wide letters may be in a drawing that somebody opens elsewhere: in the font that reports are set in,
//! or in DejaVu Sans, the widest of the common ones, which stands in for the others where they are not
//! there.

use super::font::{Weight, glyph};

/// Thousandths of an em, from the space to the tilde, of DejaVu Sans.
#[rustfmt::skip]
const REGULAR: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775,
    752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390,
    337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
    635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/// The same of DejaVu Sans Bold.
#[rustfmt::skip]
const BOLD: [u16; 95] = [
    348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696, 696, 696,
    696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683, 683, 821,
    837, 372, 372, 775, 637, 995, 837, 850, 733, 850, 770, 720, 682, 812, 774, 1103, 771, 724, 725, 457,
    365, 457, 838, 500, 500, 675, 716, 593, 716, 678, 435, 716, 712, 343, 343, 665, 343, 1042, 712, 687,
    716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582, 712, 365, 712, 838,
];

/// How far a letter moves on in the wider of the two fonts, in ems.
pub(super) fn advance(letter: char, weight: Weight) -> f64 {
    let own = glyph(letter, weight).advance;
    let (list, usual) = match weight {
        Weight::Regular => (&REGULAR, 1.2),
        Weight::Bold => (&BOLD, 1.3),
    };
    let place = u32::from(letter).checked_sub(32).and_then(|place| usize::try_from(place).ok());
    match place.and_then(|place| list.get(place)) {
        Some(thousandths) => own.max(f64::from(*thousandths) / 1000.0),
        // What it is wider by in most other letters.
        None => own * usual,
    }
}
