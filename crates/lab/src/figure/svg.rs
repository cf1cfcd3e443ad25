//! A drawing as SVG. Shapes have classes, so that one drawing suits a light page, a dark page, and paper.

use std::fmt::Write as _;

use super::drawing::{Anchor, Drawing, Place, Shape, Style};
use super::palette::{COLOURS, HEATS, Paint, Rgb, SERIES, SHADE};
use super::text::Weight;

/// What HTML and SVG would take for marks is written out.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Every colour as a variable, for both kinds of pages.
pub(crate) fn variables() -> String {
    let hex = |(r, g, b): Rgb| format!("#{r:02x}{g:02x}{b:02x}");
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
fn list(points: &[Place]) -> String {
    points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
}

/// Place and size of a rectangle as attributes.
fn bounds(at: Place, size: Place, round: f64) -> String {
    let ((x, y), (width, height)) = (at, size);
    format!("x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{round}\"")
}

fn text(at: Place, anchor: Anchor, text: &str, style: Style) -> String {
    let anchor = match anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let bold = if style.weight == Weight::Bold { " b" } else { "" };
    let (name, size, text) = (style.paint.name(), style.size, escape(text));
    format!(
        "<text class=\"{name}{bold}\" font-size=\"{size}\" x=\"{:.1}\" y=\"{:.1}\"{anchor}>{text}</text>",
        at.0, at.1
    )
}

fn element(shape: &Shape) -> String {
    match shape {
        Shape::Line { from, to, paint, wide } => format!(
            "<line class=\"{}\" stroke-width=\"{wide}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            paint.name(),
            from.0,
            from.1,
            to.0,
            to.1
        ),
        Shape::Path { points, paint, wide, dashed } => {
            let dash = if *dashed { " stroke-dasharray=\"5 3\"" } else { "" };
            let (class, points) = (paint.name(), list(points));
            format!("<polyline class=\"{class}\" stroke-width=\"{wide}\"{dash} points=\"{points}\"/>")
        }
        Shape::Area { points, paint } => {
            let (class, points) = (paint.name(), list(points));
            format!("<polygon class=\"{class}\" opacity=\"{SHADE}\" points=\"{points}\"/>")
        }
        Shape::Rectangle { at, size, paint, round, hint } => {
            let hint =
                if hint.is_empty() { String::new() } else { format!("<title>{}</title>", escape(hint)) };
            format!("<rect class=\"{}\" {}>{hint}</rect>", paint.name(), bounds(*at, *size, *round))
        }
        Shape::Border { at, size, paint, round } => {
            format!("<rect class=\"o {}\" {}/>", paint.name(), bounds(*at, *size, *round))
        }
        Shape::Text { at, anchor, text, style } => self::text(*at, *anchor, text, *style),
    }
}

impl Drawing {
    /// With a margin around it.
    fn to_element(&self, extra: &str, margin: f64) -> String {
        let (width, height) = (self.width.ceil() + 2.0 * margin, self.height.ceil() + 2.0 * margin);
        format!(
            "<svg class=\"drawing\" role=\"img\" viewBox=\"-{margin} -{margin} {width} {height}\" width=\"{width}\" height=\"{height}\" \
             xmlns=\"http://www.w3.org/2000/svg\"><title>{}</title>{extra}\n{}</svg>",
            escape(&self.title),
            self.shapes.iter().map(|shape| element(shape) + "\n").collect::<String>()
        )
    }

    /// For a page that has the style sheet.
    pub(crate) fn to_inline_svg(&self) -> String {
        self.to_element("", 0.0)
    }

    /// A file of its own, with its style sheet.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let ground = "<rect class=\"page\" x=\"-12\" y=\"-12\" width=\"100%\" height=\"100%\"/>";
        self.to_element(&format!("<style>{}{}</style>{ground}", variables(), style()), 12.0) + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_escaped_and_a_file_brings_its_colours() {
        let mut drawing = Drawing::new("a < b", 10.0, 10.0);
        drawing.text((0.0, 0.0), Anchor::Start, "c & d", Style::LABEL);
        let svg = drawing.to_svg();
        assert!(svg.contains("a &lt; b") && svg.contains("c &amp; d"));
        assert!(svg.contains("prefers-color-scheme:dark"));
        assert!(
            !drawing.to_inline_svg().contains("<style>"),
            "a page has one style sheet, not one a drawing"
        );
    }
}
