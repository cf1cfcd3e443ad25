//! Drawings as SVG: shapes with classes, so that one drawing suits a light page, a dark page, and paper.

use std::fmt::Write;

/// How many colours there are before they begin again.
pub(super) const COLOURS: usize = 7;

/// A drawing.
#[derive(Debug)]
pub(super) struct Svg {
    body: String,
    width: f64,
    height: f64,
    title: String,
}

/// Which end of a text is at its place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn word(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

/// What HTML and SVG would take for marks is written out.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Svg {
    pub(super) fn new(title: &str, width: f64, height: f64) -> Self {
        Svg { body: String::new(), width, height, title: title.to_owned() }
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let _ = writeln!(
            self.body,
            "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    pub(super) fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        let mut list = String::new();
        for (x, y) in points {
            let _ = write!(list, "{x:.1},{y:.1} ");
        }
        let _ = writeln!(self.body, "<polyline class=\"{class}\" points=\"{}\"/>", list.trim_end());
    }

    pub(super) fn area(&mut self, class: &str, points: &[(f64, f64)], floor: f64) {
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
        let mut list = format!("M{:.1},{floor:.1}", first.0);
        for (x, y) in points {
            let _ = write!(list, "L{x:.1},{y:.1}");
        }
        let _ = writeln!(self.body, "<path class=\"{class}\" d=\"{list}L{:.1},{floor:.1}Z\"/>", last.0);
    }

    pub(super) fn rectangle(&mut self, class: &str, at: (f64, f64), size: (f64, f64), hint: &str) {
        let hint = if hint.is_empty() { String::new() } else { format!("<title>{}</title>", escape(hint)) };
        let _ = writeln!(
            self.body,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"1.5\">{hint}</rect>",
            at.0, at.1, size.0, size.1
        );
    }

    pub(super) fn text(&mut self, class: &str, at: (f64, f64), anchor: Anchor, text: &str) {
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{}\">{}</text>",
            at.0,
            at.1,
            anchor.word(),
            escape(text)
        );
    }

    /// For a page that has the style sheet.
    pub(super) fn inline(&self) -> String {
        format!(
            "<svg class=\"drawing\" role=\"img\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" \
             xmlns=\"http://www.w3.org/2000/svg\"><title>{}</title>\n{}</svg>",
            self.width,
            self.height,
            self.width,
            self.height,
            escape(&self.title),
            self.body
        )
    }

    /// With its own style sheet, to stand alone.
    pub(super) fn alone(&self) -> String {
        let inline = self.inline();
        match inline.split_once("</title>") {
            Some((head, rest)) => format!(
                "{head}</title><style>{}{}svg{{background:var(--page)}}</style>{rest}\n",
                super::style::VARIABLES,
                super::style::DRAWING
            ),
            None => inline,
        }
    }
}
