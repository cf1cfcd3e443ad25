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

/// How many colours series have before they begin again, with other dashes.
pub(crate) const SERIES: usize = 8;

/// So many lines beside each other have the same dashes: a second sign, for eyes that see few colours.
const ALIKE: usize = 4;

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
    // The first three after Okabe and Ito, darkened where a thin line or a label would be too pale on its
    // page; the others as far from those and from each other as they can be for every eye.
    ("k0", (0, 114, 178), (88, 176, 232)),
    ("k1", (213, 94, 0), (255, 157, 92)),
    ("k2", (0, 140, 103), (62, 208, 165)),
    ("k3", (73, 26, 69), (168, 13, 243)),
    ("k4", (106, 10, 5), (187, 64, 61)),
    ("k5", (150, 140, 150), (100, 106, 129)),
    ("k6", (40, 6, 141), (253, 231, 17)),
    ("k7", (174, 1, 255), (198, 255, 159)),
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

/// How a line is broken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Dash {
    /// Not at all.
    #[default]
    Solid,
    /// In dashes.
    Dashes,
    /// In dots.
    Dots,
}

impl Dash {
    /// That of a series, by number.
    pub(crate) fn of_series(number: usize) -> Self {
        match number / ALIKE % 3 {
            0 => Dash::Solid,
            1 => Dash::Dashes,
            _ => Dash::Dots,
        }
    }

    /// How long what is drawn of a line of usual width is, and what is left out; nothing of a whole one.
    pub(crate) fn pattern(self) -> Option<(f64, f64)> {
        match self {
            Dash::Solid => None,
            Dash::Dashes => Some((5.0, 3.0)),
            Dash::Dots => Some((1.6, 2.4)),
        }
    }
}

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

    /// A colour as eyes see it that see all, and those that lack one kind of cones (Machado, Oliveira and
    /// Fernandes 2009), as CIE L*a*b*.
    fn seen((r, g, b): Rgb) -> [[f64; 3]; 4] {
        const EYES: [[[f64; 3]; 3]; 4] = [
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
            [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
            [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
        ];
        const TO_XYZ: [[f64; 3]; 3] =
            [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]];
        let times = |matrix: &[[f64; 3]; 3], v: [f64; 3]| {
            matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum::<f64>())
        };
        let linear = [r, g, b].map(|value| {
            let part = f64::from(value) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        EYES.map(|eye| {
            let [x, y, z] = times(&TO_XYZ, times(&eye, linear).map(|part| part.clamp(0.0, 1.0)));
            let root = |part: f64| if part > 0.008_856 { part.cbrt() } else { 7.787 * part + 16.0 / 116.0 };
            let (x, y, z) = (root(x / 0.9505), root(y), root(z / 1.089));
            [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
        })
    }

    #[test]
    fn no_two_of_eight_series_look_alike_to_any_eyes_nor_have_all_the_same_dashes() {
        let colours: Vec<_> = COLOURS.iter().filter(|colour| colour.0.starts_with('k')).collect();
        assert_eq!(colours.len(), SERIES);
        let apart = |a: Rgb, b: Rgb| {
            let eyes = seen(a).into_iter().zip(seen(b));
            let far = |(a, b): ([f64; 3], [f64; 3])| {
                a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
            };
            eyes.map(far).fold(f64::INFINITY, f64::min)
        };
        for (number, (name, light, dark)) in colours.iter().enumerate() {
            for (other, light_other, dark_other) in colours.iter().skip(number + 1) {
                let (on_light, on_dark) = (apart(*light, *light_other), apart(*dark, *dark_other));
                assert!(on_light > 12.0 && on_dark > 12.0, "{name} and {other}: {on_light}, {on_dark}");
            }
        }
        let looks = |number| (Paint::Series(number).name(), Dash::of_series(number).pattern());
        let all: Vec<_> = (0..3 * SERIES).map(looks).collect();
        assert!(all.iter().enumerate().all(|(number, look)| !all[..number].contains(look)));
        assert_ne!(Dash::of_series(0), Dash::of_series(SERIES - 1));
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
