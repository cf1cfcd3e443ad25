//! Figures of a paper, drawn again in the paper's own form from what was measured here.

use super::data::{CaseData, RunData};
use super::document::Figure;
use super::facet::facet;
use super::figures::{NUMBERS, WIDE, loads, longest_cycle, over_time, per_node, spans};
use super::parameter;
use super::quantity::{Quantity, quantity};
use super::round_trips;
use crate::experiment::check::figures::{LOADS, OVER_PARAMETER, ROUND_TRIPS, TRANSFERS};
use crate::experiment::model;
use crate::experiment::plan::NodeIndex;
use crate::figure::number::{prefix, short};
use crate::figure::{Anchor, BarChart, BarGroup, Data, Drawing, Frame, LineChart, Series, SpanChart, Style};

/// Numbers behind a figure, one a row.
#[derive(Default)]
struct Rows {
    cases: Vec<String>,
    nodes: Vec<String>,
    measures: Vec<String>,
    numbers: [Vec<f64>; 2],
}

impl Rows {
    fn add(&mut self, case: &CaseData, node: &str, measure: &str, numbers: [f64; 2]) {
        self.cases.push(case.plan.case.clone());
        self.nodes.push(node.to_owned());
        self.measures.push(measure.to_owned());
        for (list, number) in self.numbers.iter_mut().zip(numbers) {
            list.push(number);
        }
    }

    fn points(&mut self, case: &CaseData, node: &str, quantity: &Quantity, points: &[(f64, f64)]) {
        for (at, value) in points {
            self.add(case, node, quantity.key, [*at, *value]);
        }
    }

    fn data(self, names: [&str; 2]) -> Data {
        let [first, second] = self.numbers;
        Data::default()
            .words("case", self.cases)
            .words("node", self.nodes)
            .words("measure", self.measures)
            .numbers(names[0], first)
            .numbers(names[1], second)
    }
}

/// Every figure that the experiment asks for.
pub(super) fn figures(run: &RunData) -> Vec<Figure> {
    let asked = run.experiment.file.figure.iter().enumerate();
    asked.filter_map(|(number, wanted)| figure(run, number, wanted)).collect()
}

/// Those of them that are over a parameter.
pub(super) fn over_parameter(run: &RunData) -> Vec<Figure> {
    let asked = run.experiment.file.figure.iter().enumerate();
    let over_parameter = asked.filter(|(_, wanted)| wanted.form == OVER_PARAMETER);
    over_parameter.filter_map(|(number, wanted)| figure(run, number, wanted)).collect()
}

fn figure(run: &RunData, number: usize, wanted: &model::Figure) -> Option<Figure> {
    if wanted.form == ROUND_TRIPS {
        return boxes(run, number, wanted);
    }
    let holds = |case: &&CaseData| wanted.cases.as_ref().is_none_or(|text| case.plan.case.contains(text));
    let cases: Vec<&CaseData> = run.cases.iter().filter(holds).filter(|case| case.is_valid()).collect();
    let is_there = |key: &String| cases.iter().any(|case| is_measured(key, case));
    let (show, missing): (Vec<String>, Vec<String>) = wanted.show.iter().cloned().partition(is_there);
    if show.is_empty() {
        return None;
    }
    let wanted = &model::Figure { show, ..wanted.clone() };
    let mut rows = Rows::default();
    let (drawing, names) = match wanted.form.as_str() {
        "over-time" => (one_node(wanted, &cases, &mut rows)?, ["time (s)", "value"]),
        "every-node" => (every_node(wanted, &cases, &mut rows)?, ["time (s)", "value"]),
        "per-node" => (bars(run, wanted, &cases, &mut rows)?, ["value", "deviation over repeats"]),
        "per-case" => (scenarios(wanted, &cases, &mut rows)?, ["mean", "deviation over time"]),
        OVER_PARAMETER => {
            let note = |case: &CaseData, node: &str, quantity: &Quantity, numbers: [f64; 2]| {
                rows.add(case, node, quantity.key, numbers);
            };
            (parameter::figure(run, wanted, &cases, note)?, ["parameter", "value"])
        }
        _ => return None,
    };
    let mut caption = caption(wanted);
    caption += match wanted.form.as_str() {
        "per-node" if run.record.repeats > 1 => " Whiskers are the standard deviation over repeats.",
        OVER_PARAMETER if run.record.repeats > 1 => " Whiskers are 90 % confidence intervals over repeats.",
        "per-case" => " Bars are means over the run, whiskers the standard deviation over its time.",
        _ => "",
    };
    if matches!(wanted.form.as_str(), "per-node" | "per-case") {
        caption += &format!(" {NUMBERS}");
    }
    if !missing.is_empty() {
        let title =
            |key: &String| quantity(key).map_or(key.clone(), |quantity| within_a_sentence(quantity.title));
        let missing: Vec<String> = missing.iter().map(title).collect();
        caption += &format!(" Not measured in this run: {}.", missing.join(", "));
    }
    Some(Figure { name: format!("figure-{:02}", number + 1), drawing, caption, data: Some(rows.data(names)) })
}

fn caption(wanted: &model::Figure) -> String {
    let mut caption = match &wanted.paper {
        Some(paper) => format!("{}. After the paper's {paper}.", wanted.title),
        None => format!("{}.", wanted.title),
    };
    if let Some(shows) = &wanted.shows {
        caption += &format!(" The paper shows: {shows}.");
    }
    caption
}

/// The form `round-trips`.
fn boxes(run: &RunData, number: usize, wanted: &model::Figure) -> Option<Figure> {
    let holds = |case: &&CaseData| wanted.cases.as_ref().is_none_or(|text| case.plan.case.contains(text));
    let cases: Vec<&CaseData> = run.cases.iter().filter(holds).filter(|case| case.is_valid()).collect();
    let mut boxes = round_trips::Boxes::default();
    let drawing = round_trips::chart(run, wanted, &cases, &mut boxes)?;
    let caption = caption(wanted) + " A box holds the middle half, the line goes from the least to the most.";
    Some(Figure { name: format!("figure-{:02}", number + 1), drawing, caption, data: Some(boxes.data()) })
}

/// A title as it stands within a sentence: names such as Interest keep their capitals.
fn within_a_sentence(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Is there anything to draw of it? Without a capture there is nothing of what flows over a link.
fn is_measured(key: &str, case: &CaseData) -> bool {
    match key {
        TRANSFERS => return !case.shown.transfers.is_empty(),
        LOADS => return longest_cycle(&case.plan).is_some(),
        _ => {}
    }
    let is_summed = |name: &String| name.rsplit_once('.').is_some_and(|(_, measure)| measure == key);
    if case.results.iter().any(|result| result.values.keys().any(is_summed)) {
        return quantity(key).is_some();
    }
    let mut nodes = case.plan.nodes.ids();
    quantity(key).is_some_and(|quantity| nodes.any(|node| !quantity.points(case, node).is_empty()))
}

fn quantities(wanted: &model::Figure) -> Vec<Quantity> {
    wanted.show.iter().filter_map(|key| quantity(key)).collect()
}

/// A name above what is its own, such as that of a case, with as much room as the longest of all takes.
fn named(name: &str, part: Drawing, all: &[&str]) -> Drawing {
    const LINE: f64 = 16.0;
    if all.len() < 2 {
        return part;
    }
    let style = Style { size: 13.0, ..Style::TITLE };
    let lines = |name: &str| style.wrap(name, part.width);
    let most = all.iter().map(|name| lines(name).len()).max().unwrap_or(1);
    let top = 8.0 + LINE * most as f64;
    let mut drawing = Drawing::new(name, part.width, part.height + top);
    for (row, line) in lines(name).iter().enumerate() {
        drawing.text((0.0, 14.0 + LINE * row as f64), Anchor::Start, line, style);
    }
    drawing.put(&part, (0.0, top), 1.0);
    drawing
}

/// What the cases are called.
fn names<'c>(cases: &[&'c CaseData]) -> Vec<&'c str> {
    cases.iter().map(|case| case.name()).collect()
}

/// A panel of the form `over-time`.
enum Panel {
    Lines(LineChart),
    Spans(SpanChart),
}

/// Quantities of one node below each other over the same time, a column for each case.
fn one_node(wanted: &model::Figure, cases: &[&CaseData], rows: &mut Rows) -> Option<Drawing> {
    let first = cases.first()?;
    let watched = wanted.at.as_deref().and_then(|name| first.plan.node(name)).or_else(|| {
        // The router next to the consumer: the paper's designated router.
        first.plan.routing.routes.first().and_then(|route| route.path.get(1)).copied()
    })?;
    let most = |quantity: &Quantity| {
        let values = cases.iter().flat_map(|case| quantity.points(case, watched)).map(|(_, value)| value);
        values.filter(|value| value.is_finite()).fold(0.0, f64::max)
    };
    let mut columns: Vec<Vec<Panel>> = Vec::new();
    for case in cases {
        let mut panels = Vec::new();
        for key in &wanted.show {
            if key == TRANSFERS {
                let all = case.shown.transfers.iter();
                panels.extend(all.map(|(name, table)| Panel::Spans(spans(name, table, case))));
            } else if key == LOADS {
                let chart = loads(case, until(wanted, case));
                for span in &chart.spans {
                    rows.add(case, &span.label, "busy from", [span.start, 1.0]);
                    rows.add(case, &span.label, "busy until", [span.stop, 0.0]);
                }
                panels.push(Panel::Spans(chart));
            } else if let Some(quantity) = quantity(key) {
                let points = quantity.points(case, watched);
                rows.points(case, case.plan.node_name(watched), &quantity, &points);
                panels.push(Panel::Lines(panel(&quantity, case, watched, most(&quantity), points)));
            }
        }
        columns.push(panels);
    }
    let across = match columns.len() {
        1 => 1,
        2 | 4 => 2,
        _ => 3,
    };
    let width = [WIDE, 350.0, 310.0].get(across - 1).copied().unwrap_or(310.0);
    let frame = |panel: &Panel| match panel {
        Panel::Lines(_) => Frame::new(width, if across == 1 { 150.0 } else { 124.0 }),
        Panel::Spans(chart) => Frame::new(width, chart.height().min(230.0)),
    };
    // Plots are in line below each other, and beside each other of the same width.
    let margins = columns.iter().flatten().map(|panel| match panel {
        Panel::Lines(chart) => chart.margins(frame(panel)),
        Panel::Spans(chart) => chart.margins(),
    });
    let margins = margins.fold((0.0, 0.0), |most, one| (f64::max(most.0, one.0), f64::max(most.1, one.1)));
    let mut parts = Vec::new();
    for (case, panels) in cases.iter().zip(&columns) {
        let mut drawn = Vec::new();
        for (place, panel) in panels.iter().enumerate() {
            let is_last = place + 1 == panels.len();
            let full = frame(panel).aligned(margins);
            let full =
                if is_last { full } else { Frame { height: full.height - 26.0, ..full }.without_foot() };
            drawn.push(match panel {
                Panel::Lines(chart) => chart.draw(full, 0),
                Panel::Spans(chart) => chart.draw(full),
            });
        }
        parts.push(named(case.name(), Drawing::grid(&wanted.title, 1, 6.0, &drawn), &names(cases)));
    }
    Some(Drawing::grid(&wanted.title, across, 18.0, &parts))
}

/// Until when competing processes are drawn. By themselves they are told by a few of their cycles; beside
/// something else they have its time.
fn until(wanted: &model::Figure, case: &CaseData) -> f64 {
    const CYCLES: f64 = 3.0;
    let cycle = longest_cycle(&case.plan).filter(|_| wanted.show.len() == 1);
    cycle.map_or(case.shown.seconds, |cycle| case.shown.seconds.min(CYCLES * cycle))
}

/// A quantity over time; what flows over a link with its mean.
fn panel(
    quantity: &Quantity,
    case: &CaseData,
    node: NodeIndex,
    most: f64,
    points: Vec<(f64, f64)>,
) -> LineChart {
    let line = Series { label: String::new(), points };
    let has_mean = matches!(quantity.key, "load" | "goodput");
    let Some((mean, window)) = quantity.mean(case, node).filter(|(mean, _)| has_mean && mean.is_finite())
    else {
        return over_time(quantity, case, most, vec![line]);
    };
    let level = Series { label: String::new(), points: vec![(window.from, mean), (window.until, mean)] };
    let mut chart = over_time(quantity, case, most, vec![line, level]);
    // In the unit that the axis is written in.
    chart.title = format!("{}, mean {}", quantity.title, short(mean / prefix(most, quantity.unit).0));
    chart
}

/// A row for each node, a column for each quantity, on common scales: how spikes change from hop to hop.
fn every_node(wanted: &model::Figure, cases: &[&CaseData], rows: &mut Rows) -> Option<Drawing> {
    let quantities = quantities(wanted);
    let count = quantities.len();
    let mut parts = Vec::new();
    for case in cases {
        let mut cells = Vec::new();
        let nodes = case.plan.nodes.len();
        for (place, (index, node)) in case.ordered_nodes().enumerate() {
            for (column, quantity) in quantities.iter().enumerate() {
                let points = quantity.points(case, index);
                rows.points(case, &node.name, quantity, &points);
                let line = vec![Series { label: String::new(), points }];
                let mut chart = over_time(quantity, case, quantity.most(case), line);
                let is_last = place + 1 == nodes;
                chart.title = if column == 0 {
                    format!("{} · {}", node.name, quantity.title)
                } else {
                    quantity.title.to_owned()
                };
                let width = (WIDE - 14.0 * (count - 1) as f64) / count as f64;
                let full = Frame::new(width, if is_last { 122.0 } else { 96.0 });
                let margins = chart.margins(full);
                let full = if is_last { full } else { full.without_foot() };
                cells.push(chart.draw(full.aligned(margins), place));
            }
        }
        parts.push(named(case.name(), Drawing::grid(&wanted.title, count, 14.0, &cells), &names(cases)));
    }
    (count > 0).then(|| Drawing::grid(&wanted.title, 1, 24.0, &parts))
}

/// Bars for each node, one colour a case: variants below each other, quantities beside each other.
fn bars(run: &RunData, wanted: &model::Figure, cases: &[&CaseData], rows: &mut Rows) -> Option<Drawing> {
    let quantities = quantities(wanted);
    let summary = wanted.of.as_deref().unwrap_or("mean");
    let mut facets: Vec<(String, Vec<(&CaseData, String)>)> = Vec::new();
    for case in cases {
        let (variant, label) = facet(run, case);
        match facets.iter_mut().find(|(name, _)| *name == variant) {
            Some((_, list)) => list.push((case, label)),
            None => facets.push((variant, vec![(case, label)])),
        }
    }
    let mut parts = Vec::new();
    let variants: Vec<&str> = facets.iter().map(|(variant, _)| variant.as_str()).collect();
    for (variant, list) in &facets {
        for quantity in &quantities {
            let of = |cases: &[&CaseData], labels, most| per_node(quantity, summary, cases, labels, most);
            // All variants on one scale.
            let (all, spread) = of(cases, Vec::new(), 0.0);
            let tops = all.groups.iter().flat_map(|group| &group.values).zip(spread.iter().flatten());
            let most =
                tops.map(|(value, deviation)| value + deviation.max(0.0)).filter(|top| top.is_finite());
            let most = most.fold(0.0, f64::max);
            let members: Vec<&CaseData> = list.iter().map(|(case, _)| *case).collect();
            let labels = list.iter().map(|(_, label)| label.clone()).collect();
            let (chart, deviations) = of(&members, labels, most);
            for (group, spread) in chart.groups.iter().zip(&deviations) {
                for ((value, spread), case) in group.values.iter().zip(spread).zip(&members) {
                    rows.add(case, &group.name, quantity.key, [*value, *spread]);
                }
            }
            let width = if quantities.len() == 1 && facets.len() == 1 { 560.0 } else { 350.0 };
            parts.push(named(variant, chart.draw(Frame::new(width, 260.0), &deviations, 0), &variants));
        }
    }
    let columns = if quantities.len() == 1 { facets.len().min(2) } else { quantities.len().min(2) };
    (!parts.is_empty()).then(|| Drawing::grid(&wanted.title, columns, 18.0, &parts))
}

/// A column for each case, a row for each quantity: the mean of each node and its deviation over the time of
/// a run.
fn scenarios(wanted: &model::Figure, cases: &[&CaseData], rows: &mut Rows) -> Option<Drawing> {
    let count = cases.len();
    let width = ((WIDE - 14.0 * count.saturating_sub(1) as f64) / count.max(1) as f64).max(200.0);
    let mut parts = Vec::new();
    for (row, quantity) in quantities(wanted).iter().enumerate() {
        let mut charts: Vec<(BarChart, Vec<Vec<f64>>)> = Vec::new();
        let mut most = 0.0;
        for case in cases {
            let (mut groups, mut deviations) = (Vec::new(), Vec::new());
            for (_, node) in case.ordered_nodes() {
                let key = format!("{}.{}", node.name, quantity.key);
                let get = |summary: &str| {
                    case.estimate(&key, summary).map_or(f64::NAN, |found| found.mean * quantity.factor)
                };
                let (mean, deviation) = (get("mean"), get("deviation"));
                rows.add(case, &node.name, quantity.key, [mean, deviation]);
                most = f64::max(most, mean + deviation);
                groups.push(BarGroup { name: node.name.clone(), values: vec![mean] });
                deviations.push(vec![deviation]);
            }
            let title = quantity.title.to_owned();
            let y = quantity.axis(0.0);
            let chart = BarChart { title, x: "node".into(), y, labels: vec![String::new()], groups };
            charts.push((chart, deviations));
        }
        for (case, (chart, deviations)) in cases.iter().zip(charts) {
            let chart = BarChart { y: quantity.axis(most), ..chart };
            let drawn = chart.draw(Frame::new(width, 190.0), &deviations, row);
            parts.push(if row == 0 { named(case.name(), drawn, &names(cases)) } else { drawn });
        }
    }
    (!parts.is_empty()).then(|| Drawing::grid(&wanted.title, count, 14.0, &parts))
}
