//! Boxes in groups: where the middle half of many numbers lies, and how far the others reach.

use super::axis::Axis;
use super::drawing::{Drawing, Style};
use super::groups::Groups;
use super::names::ShortNames;
use super::number::short;
use super::palette::Paint;
use super::plot::{Frame, Plot, wanted_marks};

/// Five numbers that many come down to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// The least.
    pub low: f64,
    /// A quarter lies below.
    pub lower: f64,
    /// Half lies below.
    pub median: f64,
    /// A quarter lies above.
    pub upper: f64,
    /// The greatest.
    pub high: f64,
}

impl Quartiles {
    /// Of these numbers; nothing of no numbers.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let value = |place: usize| sorted.get(place).copied().unwrap_or(f64::NAN);
        let at = |part| packet::quantile(sorted.len(), part, value).unwrap_or(f64::NAN);
        let (low, high) = (*sorted.first()?, *sorted.last()?);
        Some(Quartiles { low, lower: at(0.25), median: at(0.5), upper: at(0.75), high })
    }
}

/// Boxes that belong together, one for each label of the chart.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxGroup {
    /// Written below the group.
    pub name: String,
    /// As many as the chart has labels; nothing for a box that is missing.
    pub boxes: Vec<Option<Quartiles>>,
}

/// Boxes in groups over a common axis.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxChart {
    /// What it shows.
    pub title: String,
    /// What the groups differ in.
    pub x: String,
    /// The axis along the left.
    pub y: Axis,
    /// What the boxes of a group are.
    pub labels: Vec<String>,
    /// The groups.
    pub groups: Vec<BoxGroup>,
}

impl BoxChart {
    /// The drawing of a figure that stands alone.
    #[must_use]
    pub fn drawing(&self) -> Drawing {
        self.draw(super::STANDARD)
    }

    /// The drawing.
    #[must_use]
    pub fn draw(&self, frame: Frame) -> Drawing {
        let all = self.groups.iter().flat_map(|group| group.boxes.iter().flatten());
        let reach = all.flat_map(|quartiles| [quartiles.low, quartiles.high]);
        let y = self.y.fit(reach, wanted_marks(frame.height - 60.0));
        let groups = Groups {
            title: &self.title,
            x: &self.x,
            axis: &self.y,
            labels: &self.labels,
            names: self.groups.iter().map(|group| group.name.clone()).collect(),
        };
        groups.draw(frame, y, 0, |plot| self.boxes(plot))
    }

    /// Gives what the groups are called below them.
    fn boxes(&self, plot: &mut Plot) -> ShortNames {
        let room = (plot.edge - plot.left) / self.groups.len().max(1) as f64;
        let wide = (room * 0.84 / self.labels.len().max(1) as f64).min(40.0);
        let names = Style::LABEL.fit_all(self.groups.iter().map(|group| &group.name), room - 8.0);
        for ((place, group), name) in self.groups.iter().enumerate().zip(&names.shown) {
            let middle = plot.left + room * (place as f64 + 0.5);
            let left = middle - wide * self.labels.len() as f64 / 2.0;
            for (number, quartiles) in group.boxes.iter().enumerate() {
                let Some(quartiles) = quartiles else { continue };
                let what = self.labels.get(number).map_or("", String::as_str);
                let what = format!("{}, {what}", group.name);
                one(plot, left + wide * number as f64, wide, quartiles, number, &what);
            }
            let at = (middle, plot.floor + 15.0);
            plot.drawing.text(at, super::Anchor::Middle, name, Style::LABEL);
        }
        names
    }
}

/// One box: a line from the least to the greatest, the middle half, and a gap where the median is.
fn one(plot: &mut Plot, left: f64, wide: f64, quartiles: &Quartiles, number: usize, what: &str) {
    let Quartiles { low, lower, median, upper, high } = *quartiles;
    let (paint, centre) = (Paint::Series(number), left + wide / 2.0);
    let (top, floor) = (plot.up(upper), plot.up(lower));
    plot.drawing.line((centre, plot.up(high)), (centre, plot.up(low)), paint);
    let hint = format!(
        "{what}: median {}, middle half {} to {}, all {} to {}",
        short(median),
        short(lower),
        short(upper),
        short(low),
        short(high)
    );
    let size = (wide * 0.86, (floor - top).max(1.5));
    plot.drawing.rectangle((left + wide * 0.07, top), size, paint, &hint);
    // In a box too flat for it, the median could not be told from the box.
    if floor - top > 4.0 {
        let at = plot.up(median);
        plot.drawing.line((left + wide * 0.07, at), (left + wide * 0.93, at), Paint::Page);
    }
}

#[cfg(test)]
mod tests {
    use super::super::drawing::Shape;
    use super::*;

    #[test]
    fn quartiles_of_known_numbers_come_out() {
        let quartiles = Quartiles::of(&[5.0, 1.0, f64::NAN, 2.0, 4.0, 3.0]).unwrap();
        let Quartiles { low, lower, median, upper, high } = quartiles;
        assert_eq!([low, lower, median, upper, high], [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(Quartiles::of(&[f64::NAN]), None);
    }

    #[test]
    fn boxes_lie_within_the_plot_and_missing_ones_are_left_out() {
        let quartiles = Quartiles::of(&[0.0, 40.0, 60.0, 100.0]);
        let group = |name: &str, boxes| BoxGroup { name: name.into(), boxes };
        let chart = BoxChart {
            title: "hits".into(),
            x: "class".into(),
            y: Axis::new("rate", "%").exactly(0.0, 100.0),
            labels: vec!["a".into(), "b".into()],
            groups: vec![group("0", vec![quartiles, quartiles]), group("1", vec![quartiles, None])],
        };
        let drawing = chart.drawing();
        let boxes: Vec<(f64, f64)> = drawing
            .shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Rectangle { at, size, hint, .. } if !hint.is_empty() => Some((at.1, at.1 + size.1)),
                _ => None,
            })
            .collect();
        assert_eq!(boxes.len(), 3);
        let size = drawing.size();
        assert!(boxes.iter().all(|(top, floor)| 40.0 < *top && top < floor && *floor < size.1 - 34.0));
    }
}
