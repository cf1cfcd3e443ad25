//! Figures over a parameter: where in its range a statement holds.

use std::collections::BTreeMap;

use super::data::{CaseData, RunData};
use super::quantity::{Quantity, quantity};
use crate::experiment::model;
use crate::figure::{Axis, Drawing, Frame, LineChart, Series};

/// Values of which the greatest is more than so many times the least are drawn on a logarithmic axis.
const WIDE_RANGE: f64 = 8.0;

/// A line while its points are gathered: each with the half of its 90 % interval.
struct Line {
    label: String,
    points: Vec<(f64, f64, f64)>,
}

impl From<Line> for Series {
    fn from(line: Line) -> Self {
        Series { label: line.label, points: line.points.into_iter().map(|(x, y, _)| (x, y)).collect() }
    }
}

/// Whose measures are drawn: the node or workload that is named, or every node.
fn subjects(wanted: &model::Figure, case: &CaseData) -> Vec<String> {
    match &wanted.at {
        Some(at) => vec![at.clone()],
        None => case.ordered_nodes().map(|(_, node)| node.name.clone()).collect(),
    }
}

/// What the parameter of a run is called: the label of its last sweep.
pub(super) fn label(run: &RunData) -> Option<&str> {
    let sweep = run.experiment.file.sweep.last()?;
    Some(sweep.label.as_deref().unwrap_or_else(|| sweep.key.rsplit('.').next().unwrap_or_default()))
}

/// A case's name in two parts: what it shares with others of the same line, and the parameter's value.
pub(super) fn variant_and_value<'a>(run: &RunData, name: &'a str) -> Option<(&'a str, &'a str)> {
    let label = label(run)?;
    let (before, value) = name.split_at_checked(name.rfind(label)?)?;
    Some((before.trim_end_matches(", "), value.strip_prefix(label)?.trim()))
}

/// The same in three: the value is a number with its unit.
fn parted<'a>(run: &RunData, name: &'a str) -> Option<(&'a str, f64, &'a str)> {
    let (variant, value) = variant_and_value(run, name)?;
    let end = value.find(|letter: char| !(letter.is_ascii_digit() || matches!(letter, '.' | '_')));
    let (number, unit) = value.split_at_checked(end.unwrap_or(value.len()))?;
    Some((variant, number.replace('_', "").parse().ok()?, unit.trim()))
}

/// What is drawn, and of which node or workload.
fn title(quantity: &Quantity, at: Option<&str>, cases: &[&CaseData]) -> String {
    let is_node = |at: &str| cases.iter().any(|case| case.plan.node(at).is_some());
    match at {
        None => quantity.title.to_owned(),
        Some(at) if is_node(at) => format!("{} at {at}", quantity.title),
        // What a workload is brought has no direction.
        Some(at) if quantity.key == "goodput" => format!("Goodput of {at}"),
        Some(at) => format!("{} of {at}", quantity.title),
    }
}

/// What a summary of a rate is in: the sum of a rate is a number of what was counted.
pub(super) fn unit_of(quantity: &Quantity, summary: &str) -> &'static str {
    match quantity.unit {
        unit if summary != "sum" => unit,
        "1/s" => "",
        "bit/s" => "bit",
        other => other,
    }
}

/// A chart for each quantity. With a node named, a line for each of the other variants; else a line for each
/// node and a chart for each variant.
pub(super) fn figure(
    run: &RunData,
    wanted: &model::Figure,
    cases: &[&CaseData],
    mut note: impl FnMut(&CaseData, &str, &Quantity, [f64; 2]),
) -> Option<Drawing> {
    let summary = wanted.of.as_deref().unwrap_or("mean");
    let name = label(run)?;
    let mut parts = Vec::new();
    for quantity in wanted.show.iter().filter_map(|key| quantity(key)) {
        // By chart, by line: the points.
        let mut charts: BTreeMap<String, Vec<Line>> = BTreeMap::new();
        let mut unit = "";
        for case in cases {
            let Some((variant, value, in_unit)) = parted(run, &case.plan.case) else { continue };
            unit = in_unit;
            for subject in subjects(wanted, case) {
                let key = format!("{subject}.{}", quantity.key);
                let Some(found) = case.estimate(&key, summary) else { continue };
                let mean = found.mean * quantity.factor;
                let half = found.half90.map_or(f64::NAN, |half| half * quantity.factor);
                note(case, &subject, &quantity, [value, mean]);
                let (chart, line) = match wanted.at {
                    Some(_) => (String::new(), variant.to_owned()),
                    None => (variant.to_owned(), subject),
                };
                let lines = charts.entry(chart).or_default();
                match lines.iter_mut().find(|other| other.label == line) {
                    Some(other) => other.points.push((value, mean, half)),
                    None => lines.push(Line { label: line, points: vec![(value, mean, half)] }),
                }
            }
        }
        for (variant, mut lines) in charts {
            for line in &mut lines {
                line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
            }
            let whiskers: Vec<Vec<f64>> =
                lines.iter().map(|line| line.points.iter().map(|point| point.2).collect()).collect();
            let series: Vec<Series> = lines.into_iter().map(Series::from).collect();
            let of = if summary == "mean" { String::new() } else { format!(", {summary}") };
            let head = if variant.is_empty() { String::new() } else { format!("{variant}: ") };
            let title = format!("{head}{}{of}", title(&quantity, wanted.at.as_deref(), cases));
            let y = Axis::new("", unit_of(&quantity, summary)).with_zero();
            let values = || series.iter().flat_map(|line| &line.points).map(|point| point.0);
            let (least, most) =
                values().fold((f64::INFINITY, 0.0), |(a, b), value| (a.min(value), f64::max(b, value)));
            let x = Axis::new(name, unit);
            let x = if least > 0.0 && most > least * WIDE_RANGE { x.logarithmic() } else { x };
            let frame = Frame::new(if wanted.show.len() > 1 { 350.0 } else { 560.0 }, 260.0);
            parts.push(LineChart { title, x, y, series }.draw_with(frame, &whiskers, 0));
        }
    }
    let columns = if wanted.show.len() > 1 { 2 } else { 1 };
    (!parts.is_empty()).then(|| Drawing::grid(&wanted.title, columns, 18.0, &parts))
}
