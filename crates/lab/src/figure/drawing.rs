//! A drawing: shapes and words in places, with paints that say what they are for. How it becomes SVG or PDF
//! is told elsewhere.

use super::font::Weight;
use super::names::ShortNames;
use super::palette::{Dash, Paint};
use super::text::Ruler;

/// A place or a size: across and down, in points.
pub type Point = (f64, f64);

/// Which end of a text is at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// How a text looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// Its colour.
    pub paint: Paint,
    /// Its size in points.
    pub size: f64,
    /// Its weight.
    pub weight: Weight,
}

impl Style {
    /// Labels: what is read second.
    pub const LABEL: Style = Style { paint: Paint::Soft, size: 11.0, weight: Weight::Regular };
    /// Titles of charts.
    pub const TITLE: Style = Style { paint: Paint::Ink, size: 12.0, weight: Weight::Bold };

    /// The same in another colour.
    #[must_use]
    pub const fn in_paint(self, paint: Paint) -> Self {
        Style { paint, ..self }
    }

    /// A file that is opened elsewhere is set in the fonts that are there.
    const fn ruler(&self) -> Ruler {
        Ruler { size: self.size, weight: self.weight, in_any_font: true }
    }

    /// How wide a text of this style is in the widest of the common fonts.
    #[must_use]
    pub fn width(&self, text: &str) -> f64 {
        self.ruler().width(text)
    }

    /// The text, or its beginning, an ellipsis and its end when there is not room for it in every font.
    #[must_use]
    pub(crate) fn fit(&self, text: &str, room: f64) -> String {
        self.ruler().fit(text, room)
    }

    /// The same of several names, which stay different where they were.
    pub(crate) fn fit_all<'n>(&self, names: impl IntoIterator<Item = &'n String>, room: f64) -> ShortNames {
        let names: Vec<String> = names.into_iter().cloned().collect();
        self.ruler().fit_all(&names, room)
    }

    /// The text in lines for which there is room in every font.
    #[must_use]
    pub(crate) fn wrap(&self, text: &str, room: f64) -> Vec<String> {
        self.ruler().wrap(text, room)
    }
}

/// A part of a drawing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// A straight line.
    Line { from: Point, to: Point, paint: Paint, wide: f64 },
    /// Points joined by lines.
    Path { points: Vec<Point>, paint: Paint, wide: f64, dash: Dash },
    /// Points around an area.
    Area { points: Vec<Point>, paint: Paint },
    /// A rectangle, and what is said of it when someone points at it.
    Rectangle { at: Point, size: Point, paint: Paint, round: f64, hint: String },
    /// The border of a rectangle.
    Border { at: Point, size: Point, paint: Paint, round: f64 },
    /// Words on one line; `at` is on their baseline.
    Text { at: Point, anchor: Anchor, text: String, style: Style },
}

/// Shapes on a ground of some size.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    pub(crate) title: String,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) shapes: Vec<Shape>,
}

impl Drawing {
    /// Nothing yet. The title is for those who cannot see it.
    #[must_use]
    pub fn new(title: &str, width: f64, height: f64) -> Self {
        Drawing { title: title.to_owned(), width, height, shapes: Vec::new() }
    }

    /// Width and height.
    #[must_use]
    pub fn size(&self) -> Point {
        (self.width, self.height)
    }

    pub(crate) fn line(&mut self, from: Point, to: Point, paint: Paint) {
        self.shapes.push(Shape::Line { from, to, paint, wide: 1.0 });
    }

    pub(crate) fn path(&mut self, points: Vec<Point>, paint: Paint, dash: Dash) {
        self.shapes.push(Shape::Path { points, paint, wide: 1.6, dash });
    }

    /// The area between a line and the floor below it.
    pub(crate) fn area(&mut self, line: &[Point], floor: f64, paint: Paint) {
        let (Some(first), Some(last)) = (line.first(), line.last()) else { return };
        let mut points = vec![(first.0, floor)];
        points.extend_from_slice(line);
        points.push((last.0, floor));
        self.shapes.push(Shape::Area { points, paint });
    }

    pub(crate) fn rectangle(&mut self, at: Point, size: Point, paint: Paint, hint: &str) {
        self.shapes.push(Shape::Rectangle { at, size, paint, round: 1.5, hint: hint.to_owned() });
    }

    /// A disc around a place, apart from the lines that end there.
    pub(crate) fn disc(&mut self, middle: Point, across: f64, paint: Paint, hint: &str) {
        let (at, size) = ((middle.0 - across / 2.0, middle.1 - across / 2.0), (across, across));
        let (round, hint) = (across / 2.0, hint.to_owned());
        self.shapes.push(Shape::Rectangle { at, size, paint, round, hint });
        self.shapes.push(Shape::Border { at, size, paint: Paint::Page, round });
    }

    /// A box with a border.
    pub(crate) fn card(&mut self, at: Point, size: Point) {
        let hint = String::new();
        self.shapes.push(Shape::Rectangle { at, size, paint: Paint::Card, round: 5.0, hint });
        self.shapes.push(Shape::Border { at, size, paint: Paint::Soft, round: 5.0 });
    }

    pub(crate) fn text(&mut self, at: Point, anchor: Anchor, text: &str, style: Style) {
        self.shapes.push(Shape::Text { at, anchor, text: text.to_owned(), style });
    }

    /// Puts another drawing on this one, scaled, with its corner at a place.
    pub(crate) fn put(&mut self, other: &Drawing, at: Point, scale: f64) {
        let place = |(x, y): Point| (at.0 + x * scale, at.1 + y * scale);
        let by = |(x, y): Point| (x * scale, y * scale);
        let all = |points: &[Point]| points.iter().map(|point| place(*point)).collect::<Vec<_>>();
        for shape in &other.shapes {
            self.shapes.push(match shape {
                Shape::Line { from, to, paint, wide } => {
                    Shape::Line { from: place(*from), to: place(*to), paint: *paint, wide: wide * scale }
                }
                Shape::Path { points, paint, wide, dash } => {
                    Shape::Path { points: all(points), paint: *paint, wide: wide * scale, dash: *dash }
                }
                Shape::Area { points, paint } => Shape::Area { points: all(points), paint: *paint },
                Shape::Rectangle { at, size, paint, round, hint } => Shape::Rectangle {
                    at: place(*at),
                    size: by(*size),
                    paint: *paint,
                    round: round * scale,
                    hint: hint.clone(),
                },
                Shape::Border { at, size, paint, round } => {
                    Shape::Border { at: place(*at), size: by(*size), paint: *paint, round: round * scale }
                }
                Shape::Text { at, anchor, text, style } => Shape::Text {
                    at: place(*at),
                    anchor: *anchor,
                    text: text.clone(),
                    style: Style { size: style.size * scale, ..*style },
                },
            });
        }
    }

    /// Drawings in rows and columns, each column as wide as its widest drawing.
    #[must_use]
    pub fn grid(title: &str, columns: usize, gap: f64, parts: &[Drawing]) -> Self {
        let columns = columns.max(1);
        let widest = |column: usize| {
            parts.iter().skip(column).step_by(columns).map(|part| part.width).fold(0.0, f64::max)
        };
        let widths: Vec<f64> = (0..columns).map(widest).collect();
        let rows: Vec<&[Drawing]> = parts.chunks(columns).collect();
        let heights: Vec<f64> =
            rows.iter().map(|row| row.iter().map(|part| part.height).fold(0.0, f64::max)).collect();
        let total = |sizes: &[f64]| sizes.iter().sum::<f64>() + gap * sizes.len().saturating_sub(1) as f64;
        let mut drawing = Drawing::new(title, total(&widths), total(&heights));
        let mut top = 0.0;
        for (row, height) in rows.iter().zip(&heights) {
            let mut left = 0.0;
            for (part, width) in row.iter().zip(&widths) {
                drawing.put(part, (left, top), 1.0);
                left += width + gap;
            }
            top += height + gap;
        }
        drawing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_puts_parts_beside_and_below_each_other() {
        let part = |width| {
            let mut part = Drawing::new("", width, 50.0);
            part.line((0.0, 0.0), (width, 50.0), Paint::Ink);
            part
        };
        let grid = Drawing::grid("", 2, 10.0, &[part(100.0), part(80.0), part(60.0)]);
        assert_eq!(grid.size(), (190.0, 110.0));
        let starts: Vec<Point> = grid
            .shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Line { from, .. } => Some(*from),
                _ => None,
            })
            .collect();
        assert_eq!(starts, [(0.0, 0.0), (110.0, 0.0), (0.0, 60.0)]);
    }

    #[test]
    fn what_is_put_at_half_its_size_has_words_of_half_their_size() {
        let mut part = Drawing::new("", 10.0, 10.0);
        part.text((4.0, 6.0), Anchor::Middle, "x", Style::LABEL);
        let mut sheet = Drawing::new("", 100.0, 100.0);
        sheet.put(&part, (20.0, 30.0), 0.5);
        let [Shape::Text { at, style, .. }] = sheet.shapes.as_slice() else { panic!("one text") };
        assert_eq!((*at, style.size), ((22.0, 33.0), 5.5));
    }
}
