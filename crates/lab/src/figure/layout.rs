//! Where words of a drawing stand: none on another, none beyond the edge.

use super::drawing::{Anchor, Drawing, Point, Shape, Style};
use super::palette::Paint;

/// Capitals and figures reach this far above the baseline, in parts of the size.
const ABOVE: f64 = 0.72;
/// Letters with a tail reach this far below it.
const BELOW: f64 = 0.21;
/// Boxes may share so much, in points: letters do not fill theirs.
const TOLERANCE: f64 = 1.0;
/// Numbers beside each other are read as two only with a gap between them, in parts of the size.
const APART: f64 = 0.3;
/// Between a number and the bar or the whisker of a neighbour, in points.
const BESIDE: f64 = 2.0;

/// The box around a text.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Bounds {
    fn of(at: Point, anchor: Anchor, text: &str, style: Style) -> Self {
        let width = style.width(text);
        let left = match anchor {
            Anchor::Start => at.0,
            Anchor::Middle => at.0 - width / 2.0,
            Anchor::End => at.0 - width,
        };
        let (top, bottom) = (at.1 - ABOVE * style.size, at.1 + BELOW * style.size);
        Bounds { left, right: left + width, top, bottom }
    }

    fn meets(self, other: Bounds) -> bool {
        let across = self.right.min(other.right) - self.left.max(other.left);
        let down = self.bottom.min(other.bottom) - self.top.max(other.top);
        across > TOLERANCE && down > TOLERANCE
    }

    /// Does a straight line pass through it? It is cut by one side after the other, after Liang and Barsky.
    fn is_crossed(self, from: Point, to: Point) -> bool {
        let (x, y) = (to.0 - from.0, to.1 - from.1);
        let (mut begin, mut end) = (0.0f64, 1.0f64);
        for (step, room) in [
            (-x, from.0 - self.left),
            (x, self.right - from.0),
            (-y, from.1 - self.top),
            (y, self.bottom - from.1),
        ] {
            if step == 0.0 && room < 0.0 {
                return false;
            }
            if step < 0.0 {
                begin = begin.max(room / step);
            } else if step > 0.0 {
                end = end.min(room / step);
            }
        }
        begin < end
    }
}

impl Drawing {
    /// Is there room for a text: within the drawing, and apart from other words and from boxes?
    pub(crate) fn has_room(&self, at: Point, anchor: Anchor, text: &str, style: Style) -> bool {
        let bounds = Bounds::of(at, anchor, text, style);
        let is_within = bounds.left >= 0.0 && bounds.right <= self.width && bounds.top >= 0.0;
        let meets = |shape: &Shape| match shape {
            Shape::Text { at, anchor, text, style } => bounds.meets(Bounds::of(*at, *anchor, text, *style)),
            Shape::Border { at, size, .. } => {
                let (left, top) = *at;
                bounds.meets(Bounds { left, right: left + size.0, top, bottom: top + size.1 })
            }
            _ => false,
        };
        is_within && bounds.bottom <= self.height && !self.shapes.iter().any(meets)
    }

    /// Is there room for a text, on nothing that was drawn but lines of the ground, and apart from other
    /// words, so that they are not read as one?
    pub(crate) fn is_clear(&self, at: Point, anchor: Anchor, text: &str, style: Style) -> bool {
        let bounds = Bounds::of(at, anchor, text, style);
        let apart = TOLERANCE + APART * style.size;
        let wider = |by: f64| Bounds { left: bounds.left - by, right: bounds.right + by, ..bounds };
        let (around, beside) = (wider(apart), wider(TOLERANCE + BESIDE));
        let meets = |shape: &Shape| match shape {
            Shape::Text { at, anchor, text, style } => around.meets(Bounds::of(*at, *anchor, text, *style)),
            Shape::Rectangle { at, size, .. } => {
                let (left, top) = *at;
                beside.meets(Bounds { left, right: left + size.0, top, bottom: top + size.1 })
            }
            Shape::Line { from, to, paint: Paint::Ink, .. } => beside.is_crossed(*from, *to),
            _ => false,
        };
        self.has_room(at, anchor, text, style) && !self.shapes.iter().any(meets)
    }

    /// How many straight lines pass below a text.
    pub(crate) fn lines_below(&self, at: Point, anchor: Anchor, text: &str, style: Style) -> usize {
        let bounds = Bounds::of(at, anchor, text, style);
        let passes =
            |shape: &&Shape| matches!(shape, Shape::Line { from, to, .. } if bounds.is_crossed(*from, *to));
        self.shapes.iter().filter(passes).count()
    }

    /// What is wrong with where words stand: each text that lies on another, and each that leaves the
    /// drawing.
    #[must_use]
    pub fn misplaced(&self) -> Vec<String> {
        let texts = self.shapes.iter().filter_map(|shape| match shape {
            Shape::Text { at, anchor, text, style } if !text.trim().is_empty() => {
                Some((text.as_str(), Bounds::of(*at, *anchor, text, *style)))
            }
            _ => None,
        });
        let mut texts: Vec<(&str, Bounds)> = texts.collect();
        texts.sort_by(|a, b| a.1.top.total_cmp(&b.1.top));
        let mut wrong = Vec::new();
        for (place, (text, bounds)) in texts.iter().enumerate() {
            let beyond = [-bounds.left, bounds.right - self.width, -bounds.top, bounds.bottom - self.height];
            let most = beyond.into_iter().fold(0.0, f64::max);
            if most > TOLERANCE {
                wrong.push(format!("“{text}” leaves the drawing by {most:.1} points"));
            }
            let below = texts.iter().skip(place + 1).take_while(|(_, other)| other.top < bounds.bottom);
            for (other, _) in below.filter(|(_, other)| bounds.meets(*other)) {
                wrong.push(format!("“{text}” and “{other}” lie on each other"));
            }
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn misplaced(texts: &[(Point, Anchor, &str)]) -> Vec<String> {
        let mut drawing = Drawing::new("", 200.0, 50.0);
        for (at, anchor, text) in texts {
            drawing.text(*at, *anchor, text, Style::LABEL);
        }
        drawing.misplaced()
    }

    #[test]
    fn words_on_each_other_and_words_beyond_the_edge_are_found() {
        let apart = [((0.0, 12.0), Anchor::Start, "left"), ((200.0, 12.0), Anchor::End, "right")];
        assert_eq!(misplaced(&apart), [""; 0]);
        let below = [((0.0, 12.0), Anchor::Start, "one"), ((0.0, 25.0), Anchor::Start, "below the other")];
        assert_eq!(misplaced(&below), [""; 0]);
        let near = [((100.0, 12.0), Anchor::Middle, "middle"), ((110.0, 14.0), Anchor::Start, "on it")];
        assert_eq!(misplaced(&near), ["“middle” and “on it” lie on each other"]);
        for (at, anchor) in [
            ((-5.0, 12.0), Anchor::Start),
            ((198.0, 12.0), Anchor::Start),
            ((2.0, 12.0), Anchor::Middle),
            ((9.0, 12.0), Anchor::End),
            ((9.0, 3.0), Anchor::Start),
            ((9.0, 51.0), Anchor::Start),
        ] {
            assert!(misplaced(&[(at, anchor, "words")])[0].starts_with("“words” leaves"), "{at:?}");
        }
    }

    #[test]
    fn words_have_a_clear_place_beside_bars_whiskers_and_other_words_and_not_on_them() {
        let mut drawing = Drawing::new("", 200.0, 50.0);
        drawing.rectangle((80.0, 20.0), (10.0, 30.0), Paint::Series(0), "");
        drawing.line((120.0, 5.0), (120.0, 40.0), Paint::Ink);
        drawing.line((0.0, 10.0), (200.0, 10.0), Paint::Faint);
        drawing.text((150.0, 14.0), Anchor::Start, "words", Style::LABEL);
        let clear = |x: f64, y: f64| drawing.is_clear((x, y), Anchor::Middle, "12", Style::LABEL);
        assert!(clear(85.0, 16.0) && clear(40.0, 40.0), "above the bar, and on nothing but the ground");
        assert!(!clear(85.0, 24.0) && !clear(120.0, 30.0), "on the bar, on the whisker");
        let width = Style::LABEL.width("12");
        let apart = 150.0 - APART * 11.0 - width / 2.0;
        assert!(!clear(apart + 0.5, 14.0) && clear(apart - 0.5, 14.0), "with a gap beside the words");
    }

    #[test]
    fn lines_that_pass_below_words_are_counted_and_those_that_pass_by_are_not() {
        let mut drawing = Drawing::new("", 200.0, 50.0);
        // Across, from top to bottom, askew; above, beside, and askew past a corner.
        for (from, to) in [
            ((0.0, 20.0), (200.0, 20.0)),
            ((105.0, 0.0), (105.0, 50.0)),
            ((90.0, 40.0), (120.0, 5.0)),
            ((0.0, 5.0), (200.0, 5.0)),
            ((95.0, 0.0), (95.0, 50.0)),
            ((85.0, 22.0), (105.0, 42.0)),
        ] {
            drawing.line(from, to, Paint::Ink);
        }
        assert_eq!(drawing.lines_below((100.0, 22.0), Anchor::Start, "words", Style::LABEL), 3);
    }
}
