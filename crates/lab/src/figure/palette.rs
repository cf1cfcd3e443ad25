//! Colours by what they are for, each for a light and a dark page. Series can be told apart by eyes that see
//! few colours.

/// What a shape or a text is drawn in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Words and what matters.
    Ink,
    /// What is read second: labels of axes, captions.
    Soft,
    /// What is hardly seen: lines across a chart.
    Faint,
    /// The ground of boxes.
    Card,
    /// The page itself.
    Page,
    /// A series, by number.
    Series(usize),
    /// The area below a series.
    Shade(usize),
    /// What is as it should be.
    Good,
    /// What is not.
    Bad,
    /// A cell of a grid, from light to dark, the same on every page.
    Heat(usize),
    /// A cell without an answer.
    NoHeat,
    /// Words in a light cell.
    OnLight,
    /// Words in a dark cell.
    OnDark,
}

/// Red, green and blue.
pub(crate) type Rgb = (u8, u8, u8);

/// How many colours series have before they begin again, with dashes.
pub(crate) const SERIES: usize = 7;

/// Steps from a light cell to a dark one.
pub(crate) const HEATS: usize = 9;

/// Opacity of an area below a line.
pub(crate) const SHADE: f64 = 0.14;

/// Name, light and dark colour.
pub(crate) const COLOURS: [(&str, Rgb, Rgb); 8 + SERIES + HEATS + 3] = [
    ("page", (255, 255, 255), (20, 23, 26)),
    ("card", (247, 248, 250), (29, 33, 38)),
    ("ink", (26, 29, 33), (232, 234, 237)),
    ("soft", (91, 100, 112), (154, 163, 173)),
    ("faint", (221, 225, 230), (52, 58, 65)),
    ("good", (0, 115, 79), (76, 201, 160)),
    ("bad", (179, 38, 30), (255, 138, 128)),
    ("code", (240, 242, 245), (38, 43, 49)),
    // After Okabe and Ito, darkened where a thin line or a label would be too pale on its page.
    ("k0", (0, 114, 178), (88, 176, 232)),
    ("k1", (213, 94, 0), (255, 157, 92)),
    ("k2", (0, 140, 103), (62, 208, 165)),
    ("k3", (181, 85, 140), (228, 147, 196)),
    ("k4", (138, 109, 0), (227, 195, 65)),
    ("k5", (58, 155, 209), (154, 211, 245)),
    ("k6", (85, 85, 85), (184, 190, 197)),
    // One hue whose lightness falls evenly.
    ("h0", (238, 245, 252), (238, 245, 252)),
    ("h1", (203, 225, 242), (203, 225, 242)),
    ("h2", (168, 205, 232), (168, 205, 232)),
    ("h3", (133, 185, 222), (133, 185, 222)),
    ("h4", (98, 165, 212), (98, 165, 212)),
    ("h5", (63, 118, 166), (63, 118, 166)),
    ("h6", (45, 95, 142), (45, 95, 142)),
    ("h7", (28, 71, 119), (28, 71, 119)),
    ("h8", (10, 48, 96), (10, 48, 96)),
    ("hn", (228, 228, 228), (228, 228, 228)),
    ("hl", (17, 17, 17), (17, 17, 17)),
    ("hd", (255, 255, 255), (255, 255, 255)),
];

impl Paint {
    /// The colour's name in style sheets.
    pub(crate) fn name(self) -> &'static str {
        let series = |number: usize| COLOURS.get(8 + number % SERIES).map_or("ink", |colour| colour.0);
        match self {
            Paint::Ink => "ink",
            Paint::Soft => "soft",
            Paint::Faint => "faint",
            Paint::Card => "card",
            Paint::Page => "page",
            Paint::Series(number) | Paint::Shade(number) => series(number),
            Paint::Good => "good",
            Paint::Bad => "bad",
            Paint::Heat(step) => {
                COLOURS.get(8 + SERIES + step.min(HEATS - 1)).map_or("hn", |colour| colour.0)
            }
            Paint::NoHeat => "hn",
            Paint::OnLight => "hl",
            Paint::OnDark => "hd",
        }
    }

    /// What words in a cell of a grid are drawn in.
    pub(crate) fn on_heat(step: usize) -> Paint {
        if step < HEATS / 2 + 1 { Paint::OnLight } else { Paint::OnDark }
    }

    /// The colour on a light page and on paper.
    pub(crate) fn light(self) -> Rgb {
        let name = self.name();
        COLOURS.iter().find(|colour| colour.0 == name).map_or((0, 0, 0), |colour| colour.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance and contrast after WCAG 2.
    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let channel = |value: u8| {
            let part = f64::from(value) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        let luminance =
            |(r, g, b): Rgb| 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b) + 0.05;
        let (a, b) = (luminance(a), luminance(b));
        a.max(b) / a.min(b)
    }

    #[test]
    fn every_line_stands_out_from_its_page_and_words_can_be_read() {
        let (_, light_page, dark_page) = COLOURS[0];
        for (name, light, dark) in COLOURS.iter().filter(|colour| colour.0.starts_with('k')) {
            assert!(contrast(*light, light_page) >= 3.0, "{name} on a light page");
            assert!(contrast(*dark, dark_page) >= 3.0, "{name} on a dark page");
        }
        for (name, light, dark) in COLOURS.iter().filter(|c| ["ink", "soft", "good", "bad"].contains(&c.0)) {
            assert!(contrast(*light, light_page) >= 4.5, "{name} on a light page");
            assert!(contrast(*dark, dark_page) >= 4.5, "{name} on a dark page");
        }
    }

    #[test]
    fn cells_grow_darker_step_by_step_and_their_words_can_be_read() {
        let black = |step: usize| contrast(Paint::Heat(step).light(), (0, 0, 0));
        let steps: Vec<f64> = (0..HEATS).map(black).collect();
        assert!(steps.is_sorted_by(|a, b| a > b), "{steps:?}");
        for step in 0..HEATS {
            let words = Paint::on_heat(step).light();
            assert!(contrast(Paint::Heat(step).light(), words) >= 4.5, "step {step}");
        }
    }

    #[test]
    fn series_begin_again_and_every_paint_has_a_colour() {
        assert_eq!(Paint::Series(1).name(), Paint::Series(1 + SERIES).name());
        assert_ne!(Paint::Series(0).light(), Paint::Series(1).light());
        assert_eq!(Paint::Ink.light(), (26, 29, 33));
    }
}
