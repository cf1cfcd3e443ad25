//! Charts over time and bars with intervals: named axes with units, labels at the lines, nothing else.

use super::scale::{marks, prefix, short};
use super::svg::{Anchor, COLOURS, Svg};

/// One line of a chart.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) label: String,
    pub(super) colour: usize,
    pub(super) points: Vec<(f64, f64)>,
}

/// A chart over time.
#[derive(Debug, Clone)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) unit: &'static str,
    /// What the horizontal axis is, with its unit.
    pub(super) across: String,
    pub(super) lines: Vec<Line>,
    pub(super) width: f64,
    pub(super) height: f64,
    /// The horizontal axis ends here.
    pub(super) end: f64,
    /// The vertical axis reaches at least this far, so that charts beside each other can be compared.
    pub(super) at_least: f64,
}

const LEFT: f64 = 46.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 34.0;

impl Chart {
    /// The greatest value of all lines.
    pub(super) fn most(&self) -> f64 {
        let values = self.lines.iter().flat_map(|line| line.points.iter().map(|(_, y)| *y));
        values.filter(|value| value.is_finite()).fold(self.at_least, f64::max)
    }

    pub(super) fn draw(&self) -> Svg {
        let mut svg = Svg::new(&self.title, self.width, self.height);
        let labelled = self.lines.len() > 1;
        let right = if labelled {
            let longest = self.lines.iter().map(|line| line.label.chars().count()).max().unwrap_or(0);
            14.0 + 6.4 * longest as f64
        } else {
            10.0
        };
        let (floor, edge) = (self.height - BOTTOM, self.width - right);
        let (factor, letter) = prefix(self.most(), self.unit);
        let list = marks(self.most() / factor, (floor - TOP) / 34.0);
        let top_mark = list.last().copied().unwrap_or(1.0);
        let end = if self.end > 0.0 { self.end } else { 1.0 };
        let x = |value: f64| LEFT + value.clamp(0.0, end) / end * (edge - LEFT);
        let y = |value: f64| floor - value / factor / top_mark * (floor - TOP);
        let unit = format!("{letter}{}", self.unit);
        let caption = if unit.is_empty() { self.title.clone() } else { format!("{} ({unit})", self.title) };
        svg.text("title", (4.0, 14.0), Anchor::Start, &caption);
        for mark in &list {
            let at = y(mark * factor);
            svg.line(if *mark == 0.0 { "axis" } else { "faint" }, (LEFT, at), (edge, at));
            svg.text("soft", (LEFT - 6.0, at + 4.0), Anchor::End, &short(*mark));
        }
        for mark in marks(end, (edge - LEFT) / 62.0).into_iter().filter(|mark| *mark <= end * 1.000_1) {
            svg.text("soft", (x(mark), floor + 14.0), Anchor::Middle, &short(mark));
        }
        svg.text("soft", ((LEFT + edge) / 2.0, self.height - 5.0), Anchor::Middle, &self.across);
        let mut labels = Vec::new();
        for line in &self.lines {
            let drawn: Vec<(f64, f64)> =
                thinned(&line.points).iter().map(|(at, value)| (x(*at), y(*value))).collect();
            let class = format!("k{}", line.colour % COLOURS);
            if !labelled {
                svg.area(&class, &drawn, floor);
            }
            svg.polyline(&class, &drawn);
            if let Some((_, at)) = drawn.last().filter(|_| labelled) {
                labels.push((*at, class, line.label.clone()));
            }
        }
        for (at, class, text) in spread(labels, TOP, floor) {
            svg.text(&class, (edge + 6.0, at + 4.0), Anchor::Start, &text);
        }
        svg
    }
}

/// Few enough points to draw, with the lowest and highest of each stretch.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    const MOST: usize = 1200;
    if points.len() <= MOST {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(MOST / 2);
    let extremes = |chunk: &[(f64, f64)]| {
        let least = chunk.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
        let most = chunk.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
        match (least, most) {
            (Some(a), Some(b)) if a.0 <= b.0 => vec![a, b],
            (Some(a), Some(b)) => vec![b, a],
            _ => Vec::new(),
        }
    };
    points.chunks(stretch).flat_map(extremes).collect()
}

/// Labels from top to bottom, moved apart where they would lie on each other.
fn spread(mut labels: Vec<(f64, String, String)>, top: f64, floor: f64) -> Vec<(f64, String, String)> {
    const APART: f64 = 13.0;
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut least = top;
    for label in &mut labels {
        label.0 = label.0.max(least);
        least = label.0 + APART;
    }
    let mut most = floor;
    for label in labels.iter_mut().rev() {
        label.0 = label.0.min(most);
        most = label.0 - APART;
    }
    labels
}

/// A mean with its interval.
#[derive(Debug, Clone)]
pub(super) struct Bar {
    pub(super) group: usize,
    pub(super) series: usize,
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

/// Bars in groups.
#[derive(Debug, Clone)]
pub(super) struct Bars {
    pub(super) title: String,
    pub(super) unit: &'static str,
    pub(super) groups: Vec<String>,
    pub(super) series: Vec<String>,
    pub(super) bars: Vec<Bar>,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Bars {
    pub(super) fn draw(&self) -> Svg {
        let mut svg = Svg::new(&self.title, self.width, self.height);
        let legend = if self.series.len() > 1 { 15.0 * self.series.len() as f64 } else { 0.0 };
        let (floor, edge) = (self.height - 26.0 - legend, self.width - 10.0);
        let most = self.bars.iter().map(|bar| bar.mean + bar.deviation).fold(0.0, f64::max);
        let (factor, letter) = prefix(most, self.unit);
        let list = marks(most / factor, (floor - TOP) / 34.0);
        let top_mark = list.last().copied().unwrap_or(1.0);
        let y = |value: f64| floor - value / factor / top_mark * (floor - TOP);
        let unit = format!("{letter}{}", self.unit);
        let caption = if unit.is_empty() { self.title.clone() } else { format!("{} ({unit})", self.title) };
        svg.text("title", (4.0, 14.0), Anchor::Start, &caption);
        for mark in &list {
            let at = y(mark * factor);
            svg.line(if *mark == 0.0 { "axis" } else { "faint" }, (LEFT, at), (edge, at));
            svg.text("soft", (LEFT - 6.0, at + 4.0), Anchor::End, &short(*mark));
        }
        let step = (edge - LEFT) / self.groups.len().max(1) as f64;
        let wide = (step * 0.78 / self.series.len().max(1) as f64).min(46.0);
        let start = |group: usize| LEFT + step * (group as f64 + 0.5) - wide * self.series.len() as f64 / 2.0;
        for bar in &self.bars {
            let left = start(bar.group) + wide * bar.series as f64;
            let (at, class) = (y(bar.mean), format!("k{}", bar.series % COLOURS));
            let hint =
                format!("{} {unit}, deviation {}", short(bar.mean / factor), short(bar.deviation / factor));
            svg.rectangle(&class, (left + 1.0, at), ((wide - 2.0).max(1.0), (floor - at).max(0.0)), &hint);
            if bar.deviation > 0.0 {
                let middle = left + wide / 2.0;
                let (high, low) = (y(bar.mean + bar.deviation), y((bar.mean - bar.deviation).max(0.0)));
                svg.line("axis", (middle, high), (middle, low));
                svg.line("axis", (middle - 3.0, high), (middle + 3.0, high));
                svg.line("axis", (middle - 3.0, low), (middle + 3.0, low));
            }
        }
        for (group, name) in self.groups.iter().enumerate() {
            svg.text("soft", (LEFT + step * (group as f64 + 0.5), floor + 15.0), Anchor::Middle, name);
        }
        if self.series.len() > 1 {
            for (number, name) in self.series.iter().enumerate() {
                let at = floor + 32.0 + 15.0 * number as f64;
                svg.rectangle(&format!("k{}", number % COLOURS), (LEFT, at - 9.0), (10.0, 10.0), "");
                svg.text("soft", (LEFT + 15.0, at), Anchor::Start, name);
            }
        }
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_never_lie_on_each_other_nor_outside() {
        let labels = (0..8).map(|number| (200.0 + f64::from(number), String::new(), String::new())).collect();
        let spread = spread(labels, 20.0, 210.0);
        assert!(spread.windows(2).all(|pair| pair[1].0 - pair[0].0 > 12.9));
        assert!(spread.iter().all(|label| label.0 <= 210.0));
    }

    #[test]
    fn thinning_keeps_peaks() {
        let mut points: Vec<(f64, f64)> = (0..50_000).map(|at| (f64::from(at), 1.0)).collect();
        points[31_234].1 = 77.0;
        let thin = thinned(&points);
        assert!(thin.len() < 1300 && thin.contains(&(31_234.0, 77.0)));
    }
}
