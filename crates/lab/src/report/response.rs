//! How results answer to what was varied: curves over one factor, heat maps over two.

use std::collections::HashMap;

use toml::Value;

use super::data::{CaseData, RunData};
use super::document::Figure;
use super::factors::{numbers, word};
use crate::figure::{Axis, GridCell, GridChart, GridRow, LineChart, Series};

/// What of a workload is drawn.
struct DrawnQuantity {
    quantity: &'static str,
    words: &'static str,
    unit: &'static str,
    /// What makes the unit that is drawn of that which is measured.
    factor: f64,
}

const QUANTITIES: [DrawnQuantity; 5] = [
    DrawnQuantity { quantity: "goodput", words: "goodput", unit: "Mbit/s", factor: 8e-6 },
    DrawnQuantity { quantity: "throughput", words: "throughput", unit: "Mbit/s", factor: 8e-6 },
    DrawnQuantity { quantity: "duration", words: "duration", unit: "s", factor: 1.0 },
    DrawnQuantity { quantity: "rtt", words: "round trip", unit: "ms", factor: 1.0 },
    DrawnQuantity { quantity: "loss", words: "lost", unit: "%", factor: 1.0 },
];
/// More figures than these nobody looks at; the tables have everything.
pub(super) const MAX_FIGURES: usize = 8;

/// What is varied.
#[derive(Clone)]
pub(super) struct Varied {
    pub(super) label: String,
    /// Its values in their order.
    pub(super) values: Vec<String>,
}

/// What is varied over the rows of a table or a map, and over its columns.
#[derive(Clone, Copy)]
pub(super) struct Axes<'a> {
    pub(super) rows: &'a Varied,
    pub(super) columns: &'a Varied,
}

/// What the cases of a run are told apart by.
pub(super) struct Factors {
    /// By the case's name: each label with its value.
    of_case: HashMap<String, Vec<(String, Value)>>,
    /// What has more than one value.
    pub(super) varied: Vec<Varied>,
}

impl Factors {
    pub(super) fn of(run: &RunData) -> Self {
        let list = run.experiment.factors(&run.record.backend);
        let of_case = list.iter().cloned().collect();
        let mut factors = Factors { of_case, varied: Vec::new() };
        let labels = list.iter().flat_map(|(_, factors)| factors).map(|(label, _)| label);
        for label in labels.filter(|label| *label != "variant") {
            if factors.varied.iter().any(|other| other.label == *label) {
                continue;
            }
            let mut values: Vec<String> = Vec::new();
            for value in run.cases.iter().filter_map(|case| factors.word_of(case, label)) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            if values.len() > 1 {
                factors.varied.push(Varied { label: label.clone(), values });
            }
        }
        factors
    }

    /// What a case has of a factor.
    pub(super) fn word_of(&self, case: &CaseData, label: &str) -> Option<String> {
        let list = self.of_case.get(&case.plan.case)?;
        list.iter().find(|(other, _)| other == label).map(|(_, value)| word(value))
    }
}

/// A measure that some case has.
struct Drawn {
    key: String,
    title: String,
    unit: &'static str,
    factor: f64,
}

/// One figure for each measure of each workload, over the last factor or the last two.
pub(super) fn figures(run: &RunData) -> Vec<Figure> {
    let factors = Factors::of(run);
    let (varied, word_of) = (&factors.varied, |case: &CaseData, label: &str| factors.word_of(case, label));
    let drawn = drawn(run);
    let figure = |(number, drawn): (usize, &Drawn)| match varied.as_slice() {
        [] => None,
        [only] => curve(run, only, drawn, number, &|case| word_of(case, &only.label)),
        [.., rows, columns] => {
            let place = |case: &CaseData| Some((word_of(case, &rows.label)?, word_of(case, &columns.label)?));
            Some(map(run, Axes { rows, columns }, drawn, number, varied.len() > 2, &place))
        }
    };
    drawn.iter().enumerate().filter_map(figure).collect()
}

fn drawn(run: &RunData) -> Vec<Drawn> {
    let mut list = Vec::new();
    let Some(first) = run.cases.first() else { return list };
    for workload in &first.plan.workloads {
        for DrawnQuantity { quantity, words, unit, factor } in QUANTITIES {
            let key = format!("{}.{quantity}", workload.name);
            // What is the same everywhere, such as no loss at all, needs no figure.
            let mut found =
                run.cases.iter().filter_map(|case| case.estimate(&key, "mean")).map(|found| found.mean);
            let Some(one) = found.next() else { continue };
            if found.any(|other| (other - one).abs() > 1e-9 * one.abs()) {
                list.push(Drawn { key, title: format!("{}: {words}", workload.name), unit, factor });
            }
        }
    }
    list.truncate(MAX_FIGURES);
    list
}

/// A line for each variant over the values of one factor, if they are numbers.
fn curve(
    run: &RunData,
    Varied { label, values }: &Varied,
    drawn: &Drawn,
    number: usize,
    word_of: &dyn Fn(&CaseData) -> Option<String>,
) -> Option<Figure> {
    let (unit, places) = numbers(values)?;
    let mut series: Vec<Series> = Vec::new();
    for case in &run.cases {
        let place = word_of(case).and_then(|word| values.iter().position(|value| *value == word));
        let x = place.and_then(|place| places.get(place));
        let (Some(x), Some(found)) = (x, case.estimate(&drawn.key, "mean")) else { continue };
        let suffix =
            format!("{label} {}", place.and_then(|place| values.get(place)).map_or("", |value| value));
        let variant = case.plan.case.strip_suffix(&suffix).unwrap_or_default().trim_end_matches(", ");
        let line = series.iter().position(|line| line.label == variant).unwrap_or_else(|| {
            series.push(Series { label: variant.to_owned(), points: Vec::new() });
            series.len() - 1
        });
        if let Some(line) = series.get_mut(line) {
            line.points.push((*x, found.mean * drawn.factor));
        }
    }
    series.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let (x, y) = (Axis::new(label, unit), Axis::new("", drawn.unit).with_zero());
    let chart = LineChart { title: drawn.title.clone(), x, y, series };
    let data = Some(chart.data());
    let caption = format!("{} over {label}: means over repeats.", drawn.title);
    Some(Figure { name: format!("response-{:02}", number + 1), drawing: chart.drawing(), caption, data })
}

/// A cell for each pair of values of two factors.
fn map(
    run: &RunData,
    Axes { rows, columns }: Axes<'_>,
    drawn: &Drawn,
    number: usize,
    is_mean: bool,
    place: &dyn Fn(&CaseData) -> Option<(String, String)>,
) -> Figure {
    let mut cells: HashMap<(String, String), (f64, u32)> = HashMap::new();
    for case in &run.cases {
        let (Some(place), Some(found)) = (place(case), case.estimate(&drawn.key, "mean")) else { continue };
        let cell = cells.entry(place).or_default();
        *cell = (cell.0 + found.mean * drawn.factor, cell.1 + 1);
    }
    let value = |row: &String, column: &String| {
        let cell = cells.get(&(row.clone(), column.clone()));
        cell.map_or(f64::NAN, |(sum, count)| sum / f64::from(*count))
    };
    let all: Vec<f64> = cells.values().map(|(sum, count)| sum / f64::from(*count)).collect();
    let (least, most) = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
        (least.min(*value), most.max(*value))
    });
    let digits = if most.abs() >= 100.0 { 0 } else { 2 };
    let cell = |value: f64| GridCell {
        text: if value.is_finite() { format!("{value:.digits$}") } else { String::new() },
        shade: (value - least) / (most - least).max(1e-12),
    };
    let row = |name: &String| GridRow {
        name: name.clone(),
        cells: columns.values.iter().map(|column| cell(value(name, column))).collect(),
    };
    let chart = GridChart {
        title: format!("{}, {}", drawn.title, drawn.unit),
        x: format!("{}; the darker, the more", columns.label),
        y: rows.label.clone(),
        columns: columns.values.clone(),
        rows: rows.values.iter().map(row).collect(),
    };
    let mean = if is_mean { ", means over all that was varied beside" } else { "" };
    let caption = format!("{} over {} and {}{mean}.", drawn.title, rows.label, columns.label);
    Figure { name: format!("response-{:02}", number + 1), drawing: chart.drawing(), caption, data: None }
}
