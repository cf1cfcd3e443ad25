//! The little of SVG that figures need.

use std::fmt::Write as _;

use super::{HEIGHT, WIDTH};

/// Colours that can be told apart by people who see red and green alike (Okabe and Ito), each for a light and a dark page.
const COLOURS: [(&str, &str); 8] = [
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#ff8a3c"),
    ("#009e73", "#2fd3a5"),
    ("#cc79a7", "#e8a3c9"),
    ("#7a6a00", "#f0e442"),
    ("#404040", "#c8c8c8"),
    ("#56b4e9", "#9fd8ff"),
    ("#e69f00", "#ffc04d"),
];

/// Number of colours; further series begin anew, with dashes.
pub(super) const COLOUR_COUNT: usize = COLOURS.len();

/// A drawing in the making.
pub(super) struct Svg {
    body: String,
}

#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub(super) fn new(title: &str) -> Self {
        Svg::sized(title, WIDTH, HEIGHT)
    }

    pub(super) fn sized(title: &str, width: f64, height: f64) -> Self {
        let mut body = String::new();
        let _ = write!(
            body,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n<title>{}</title>\n\
             <style>\n.text{{fill:#222}}.small{{font-size:9.5px}}.faint{{stroke:#ccc}}.axis{{stroke:#222}}.page{{fill:#fff}}\n",
            escape(title)
        );
        for (number, (light, _)) in COLOURS.iter().enumerate() {
            let _ = write!(body, ".l{number}{{stroke:{light};fill:none}}.f{number}{{fill:{light}}}");
        }
        body.push_str(
            "\n@media (prefers-color-scheme: dark){.text{fill:#ddd}.faint{stroke:#444}.axis{stroke:#ddd}.page{fill:#16181c}",
        );
        for (number, (_, dark)) in COLOURS.iter().enumerate() {
            let _ = write!(body, ".l{number}{{stroke:{dark}}}.f{number}{{fill:{dark}}}");
        }
        let _ = writeln!(body, "}}\n</style>\n<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>");
        Svg { body }
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let _ = writeln!(
            self.body,
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        );
    }

    pub(super) fn text(&mut self, class: &str, at: (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            at.0,
            at.1,
            escape(text)
        );
    }

    pub(super) fn upright_text(&mut self, at: (f64, f64), text: &str) {
        let (x, y) = at;
        let _ = writeln!(
            self.body,
            "<text class=\"text\" transform=\"translate({x:.1},{y:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escape(text)
        );
    }

    pub(super) fn polyline(&mut self, number: usize, points: &[(f64, f64)]) {
        let dash = if number >= COLOUR_COUNT { " stroke-dasharray=\"5 3\"" } else { "" };
        let _ = write!(
            self.body,
            "<polyline class=\"l{}\" stroke-width=\"1.6\" stroke-linejoin=\"round\"{dash} points=\"",
            number % COLOUR_COUNT
        );
        for (x, y) in points {
            let _ = write!(self.body, "{x:.1},{y:.1} ");
        }
        self.body.push_str("\"/>\n");
    }

    pub(super) fn bar(&mut self, number: usize, x: f64, y: f64, width: f64, height: f64, title: &str) {
        let _ = writeln!(
            self.body,
            "<rect class=\"f{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\">\
             <title>{}</title></rect>",
            number % COLOUR_COUNT,
            escape(title)
        );
    }

    /// A rectangle of a colour that is the same on light and dark pages.
    pub(super) fn cell(&mut self, corner: (f64, f64), size: (f64, f64), fill: &str, title: &str) {
        let ((x, y), (width, height)) = (corner, size);
        let _ = writeln!(
            self.body,
            "<rect fill=\"{fill}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\">\
             <title>{}</title></rect>",
            escape(title)
        );
    }

    /// Text in the middle of a cell.
    pub(super) fn inked_text(&mut self, at: (f64, f64), fill: &str, text: &str) {
        let _ = writeln!(
            self.body,
            "<text fill=\"{fill}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            at.0,
            at.1,
            escape(text)
        );
    }

    pub(super) fn finish(mut self) -> String {
        self.body.push_str("</svg>\n");
        self.body
    }
}

/// The class of a line's colour as text.
pub(super) fn text_colour(number: usize) -> String {
    format!("f{}", number % COLOUR_COUNT)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
