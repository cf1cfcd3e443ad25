//! A drawing as SVG. Within a page shapes have classes, so that one drawing suits a light page, a dark page,
//! and paper. A file of its own has plain colours at every shape: programs other than browsers know no
//! variables, and paint what they do not know black.

use std::fmt::Write as _;

use formats::markup::escaped;

use super::drawing::{Anchor, Drawing, Point, Shape, Style};
use super::font::Weight;
use super::palette::{COLOURS, HEATS, Paint, Rgb, SERIES, SHADE};

/// Fonts that are there, or have a likeness, wherever a file is opened.
const FONTS: &str =
    "Roboto, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

fn hex((r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// How a shape gets its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Colours {
    /// By the name of a class in the page's style sheet.
    Classes,
    /// As it is on a light page and on paper.
    Plain,
}

impl Colours {
    /// The attributes of a shape that is filled.
    fn fill(self, paint: Paint) -> String {
        match self {
            Colours::Classes => format!("class=\"{}\"", paint.name()),
            Colours::Plain => format!("fill=\"{}\"", hex(paint.light())),
        }
    }

    /// The attributes of a shape that is a line.
    fn stroke(self, paint: Paint, class: &str) -> String {
        match self {
            Colours::Classes => format!("class=\"{class}{}\"", paint.name()),
            Colours::Plain => format!("fill=\"none\" stroke=\"{}\"", hex(paint.light())),
        }
    }
}

/// Every colour as a variable, for both kinds of pages.
pub(crate) fn variables() -> String {
    let mut out = String::from(":root{");
    for (name, light, _) in COLOURS {
        let _ = write!(out, "--{name}:{};", hex(light));
    }
    out.push_str("}@media (prefers-color-scheme:dark){:root{");
    for (name, _, dark) in COLOURS {
        let _ = write!(out, "--{name}:{};", hex(dark));
    }
    // Paper is white whatever the screen was.
    out.push_str("}}@media print{:root{");
    for (name, light, _) in COLOURS {
        let _ = write!(out, "--{name}:{};", hex(light));
    }
    out.push_str("}}");
    out
}

/// What the classes of drawings look like.
pub(crate) fn style() -> String {
    let mut out = String::from(
        "svg.drawing{font-family:Roboto,system-ui,-apple-system,'Segoe UI','Helvetica Neue',Arial,sans-serif;max-width:100%;\
         height:auto}svg.drawing polyline{fill:none;stroke-linejoin:round}svg.drawing .b{font-weight:700}",
    );
    let series = (0..SERIES).map(Paint::Series);
    let others = [Paint::Ink, Paint::Soft, Paint::Faint, Paint::Card, Paint::Page, Paint::Good, Paint::Bad];
    let cells = (0..HEATS).map(Paint::Heat).chain([Paint::NoHeat, Paint::OnLight, Paint::OnDark]);
    for name in others.into_iter().chain(series).chain(cells).map(Paint::name) {
        let _ = write!(
            out,
            "svg.drawing .{name}{{fill:var(--{name})}}svg.drawing line.{name},svg.drawing polyline.{name},svg.drawing .o.{name}\
             {{fill:none;stroke:var(--{name})}}"
        );
    }
    out
}

/// Points as an attribute.
fn list(points: &[Point]) -> String {
    points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
}

/// Place and size of a rectangle as attributes.
fn bounds(at: Point, size: Point, round: f64) -> String {
    let ((x, y), (width, height)) = (at, size);
    format!("x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{round}\"")
}

fn text(at: Point, anchor: Anchor, text: &str, style: Style, colours: Colours) -> String {
    let anchor = match anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let bold = style.weight == Weight::Bold;
    let look = match colours {
        Colours::Classes => format!("class=\"{}{}\"", style.paint.name(), if bold { " b" } else { "" }),
        Colours::Plain => colours.fill(style.paint) + if bold { " font-weight=\"700\"" } else { "" },
    };
    let (size, text) = (style.size, escaped(text));
    format!("<text {look} font-size=\"{size}\" x=\"{:.1}\" y=\"{:.1}\"{anchor}>{text}</text>", at.0, at.1)
}

fn element(shape: &Shape, colours: Colours) -> String {
    match shape {
        Shape::Line { from, to, paint, wide } => format!(
            "<line {} stroke-width=\"{wide}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            colours.stroke(*paint, ""),
            from.0,
            from.1,
            to.0,
            to.1
        ),
        Shape::Path { points, paint, wide, dash } => {
            let dash = dash
                .pattern()
                .map_or_else(String::new, |(on, off)| format!(" stroke-dasharray=\"{on} {off}\""));
            let (look, points) = (colours.stroke(*paint, ""), list(points));
            format!(
                "<polyline {look} stroke-width=\"{wide}\" stroke-linejoin=\"round\"{dash} points=\"{points}\"/>"
            )
        }
        Shape::Area { points, paint } => {
            let (look, points) = (colours.fill(*paint), list(points));
            format!("<polygon {look} opacity=\"{SHADE}\" points=\"{points}\"/>")
        }
        Shape::Rectangle { at, size, paint, round, hint } => {
            let hint =
                if hint.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(hint)) };
            format!("<rect {} {}>{hint}</rect>", colours.fill(*paint), bounds(*at, *size, *round))
        }
        Shape::Border { at, size, paint, round } => {
            format!("<rect {} {}/>", colours.stroke(*paint, "o "), bounds(*at, *size, *round))
        }
        Shape::Text { at, anchor, text, style } => self::text(*at, *anchor, text, *style, colours),
    }
}

impl Drawing {
    /// With a margin around it.
    fn to_element(&self, extra: &str, margin: f64, colours: Colours) -> String {
        let (width, height) = (self.width.ceil() + 2.0 * margin, self.height.ceil() + 2.0 * margin);
        let look = match colours {
            Colours::Classes => "class=\"drawing\"".to_owned(),
            Colours::Plain => format!("font-family=\"{FONTS}\""),
        };
        format!(
            "<svg {look} role=\"img\" viewBox=\"-{margin} -{margin} {width} {height}\" width=\"{width}\" height=\"{height}\" \
             xmlns=\"http://www.w3.org/2000/svg\"><title>{}</title>{extra}\n{}</svg>",
            escaped(&self.title),
            self.shapes.iter().map(|shape| element(shape, colours) + "\n").collect::<String>()
        )
    }

    /// For a page that has the style sheet.
    pub(crate) fn to_inline_svg(&self) -> String {
        self.to_element("", 0.0, Colours::Classes)
    }

    /// A file of its own, which looks the same in every program.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let page = Colours::Plain.fill(Paint::Page);
        let ground = format!("<rect {page} x=\"-12\" y=\"-12\" width=\"100%\" height=\"100%\"/>");
        self.to_element(&ground, 12.0, Colours::Plain) + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::super::palette::Dash;
    use super::*;

    #[test]
    fn words_are_escaped_and_a_file_brings_its_colours() {
        let mut drawing = Drawing::new("a < b", 10.0, 10.0);
        drawing.text((0.0, 0.0), Anchor::Start, "c & d", Style::LABEL);
        let svg = drawing.to_svg();
        assert!(svg.contains("a &lt; b") && svg.contains("c &amp; d"));
        assert!(
            !drawing.to_inline_svg().contains("<style>"),
            "a page has one style sheet, not one a drawing"
        );
    }

    #[test]
    fn a_file_has_plain_colours_at_every_shape() {
        let mut drawing = Drawing::new("all", 100.0, 100.0);
        drawing.text((0.0, 0.0), Anchor::Start, "words", Style::TITLE);
        drawing.shapes.push(Shape::Path {
            points: vec![(0.0, 0.0), (9.0, 9.0)],
            paint: Paint::Series(1),
            wide: 1.5,
            dash: Dash::Dashes,
        });
        drawing.shapes.push(Shape::Area { points: vec![(0.0, 0.0), (9.0, 9.0)], paint: Paint::Series(0) });
        let svg = drawing.to_svg();
        assert!(!svg.contains("var(") && !svg.contains("class=") && !svg.contains("<style"), "{svg}");
        let shapes = svg
            .lines()
            .filter(|line| ["<line", "<polyl", "<polyg", "<text"].iter().any(|tag| line.starts_with(tag)));
        let shapes: Vec<&str> = shapes.collect();
        assert!(shapes.len() == 3 && shapes.iter().all(|shape| shape.contains("fill=\"")), "{svg}");
        assert!(svg.contains("stroke=\"#d55e00\"") && svg.contains("fill=\"#ffffff\""), "{svg}");
    }
}
