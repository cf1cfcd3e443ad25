//! The figures that every report has: topology, nodes beside each other, six graphs of each node, transfers,
//! round trips.

use super::data::{CaseData, RunData};
use super::document::Figure;
use super::parameter::unit_of;
use super::quantity::{Quantity, SIX};
use super::topology;
use crate::analysis::{Table, TransferTable};
use crate::experiment::Plan;
use crate::experiment::plan::{Activity, NodeIndex, Workload};
use crate::figure::palette::SERIES;
use crate::figure::{Axis, BarChart, BarGroup, Data, Frame, LineChart, Series, Span, SpanChart};

/// Beside each other on a screen and on paper.
const SMALL: Frame = Frame::new(344.0, 220.0);
/// The six graphs of a node.
const GRAPH: Frame = Frame::new(330.0, 165.0);
/// What is said of the numbers above bars.
pub(super) const NUMBERS: &str =
    "A number stands above its bar where there is room; the data beside have all.";
/// As wide as the page.
pub(super) const WIDE: f64 = 720.0;

/// Which case a figure is of, at the end of its caption.
pub(super) fn of_case(case: &CaseData) -> String {
    if case.plan.case.is_empty() { String::new() } else { format!(", case “{}”", case.plan.case) }
}

fn time(case: &CaseData) -> Axis {
    let events = case.plan.events.iter().map(|event| event.at_ns as f64 / 1e9);
    let until = case.shown.seconds.max(1.0);
    Axis::new("time", "s").exactly(0.0, until).marked_at(events.filter(|at| *at <= until))
}

/// What happens at the dashed lines of a figure, after its caption; nothing where nothing does.
fn events(case: &CaseData) -> String {
    let words: Vec<String> = case.plan.events.iter().map(|event| event.words(&case.plan)).collect();
    if words.is_empty() { String::new() } else { format!(" Dashed: {}.", words.join("; ")) }
}

/// The topology of a case, with what others of the run make of it.
pub(super) fn topology(run: &RunData, case: &CaseData) -> Figure {
    let cases: Vec<&Plan> = run.cases.iter().map(|case| &case.plan).collect();
    let ranges = if topology::differs(&case.plan, &cases) { " A range is that of all cases." } else { "" };
    Figure {
        name: "topology".into(),
        drawing: topology::draw(&case.plan, &cases),
        caption: format!("Nodes and links.{ranges}"),
        data: None,
    }
}

/// A chart of a quantity over time.
pub(super) fn over_time(quantity: &Quantity, case: &CaseData, most: f64, series: Vec<Series>) -> LineChart {
    LineChart { title: quantity.title.to_owned(), x: time(case), y: quantity.axis(most), series }
}

/// One small chart for each quantity, a line for each node: how the network's nodes differ.
pub(super) fn side_by_side(number: usize, case: &CaseData) -> Vec<Figure> {
    let mut figures = Vec::new();
    for quantity in SIX {
        let line = |node| Series {
            label: case.plan.node_name(node).to_owned(),
            points: quantity.points(case, node),
        };
        let series: Vec<Series> = case.drawn_nodes().into_iter().map(line).collect();
        if series.iter().all(|line| line.points.is_empty()) {
            continue;
        }
        let chart = over_time(&quantity, case, 0.0, series);
        figures.push(Figure {
            name: format!("case-{:02}-{}", number + 1, quantity.key),
            drawing: chart.draw(SMALL, 0),
            caption: format!(
                "{} over time, a line for each node{}.{}",
                quantity.title,
                of_case(case),
                events(case)
            ),
            data: Some(chart.data()),
        });
    }
    figures
}

/// The six graphs of one node, on the scales of all nodes so that they can be compared.
pub(super) fn six(number: usize, case: &CaseData, node: NodeIndex) -> Vec<Figure> {
    let mut figures = Vec::new();
    for quantity in SIX {
        let points = quantity.points(case, node);
        if points.is_empty() {
            continue;
        }
        let line = vec![Series { label: String::new(), points }];
        let chart = over_time(&quantity, case, quantity.most(case), line);
        figures.push(Figure {
            name: format!("case-{:02}-{}-{}", number + 1, case.plan.node_name(node), quantity.key),
            drawing: chart.draw(GRAPH, node.0),
            caption: format!(
                "{} of `{}`{}.{}",
                quantity.title,
                case.plan.node_name(node),
                of_case(case),
                events(case)
            ),
            data: Some(chart.data()),
        });
    }
    figures
}

/// When the processes that compete with forwarders take their part, a row for each, until a moment.
pub(super) fn loads(case: &CaseData, until: f64) -> SpanChart {
    let mut spans = Vec::new();
    for (workload, node) in competing(&case.plan) {
        let Activity::Load { cpu, busy_ns, idle_ns } = workload.does else { continue };
        let (busy, cycle) = (busy_ns as f64 / 1e9, (busy_ns + idle_ns) as f64 / 1e9);
        let stop_of_all = until.min(workload.stop_ns as f64 / 1e9);
        let mut start = workload.start_ns as f64 / 1e9;
        // A cycle is at least its busy part, and that is more than nothing.
        while start < stop_of_all && cycle > 0.0 {
            let stop = (start + busy).min(stop_of_all);
            let hint = format!("{node}: {:.0} % taken from {start:.3} s to {stop:.3} s", cpu * 100.0);
            spans.push(Span { label: node.to_owned(), start, stop, good: true, hint });
            start += cycle;
        }
    }
    SpanChart {
        title: "Competing processes, while they take their part of a processor".to_owned(),
        x: Axis::new("time", "s").exactly(0.0, until.max(1.0)),
        y: "node".to_owned(),
        spans,
    }
}

/// The loads that take anything, with the names of their nodes.
fn competing(plan: &Plan) -> impl Iterator<Item = (&Workload, &str)> {
    let is_one = |workload: &&Workload| matches!(workload.does, Activity::Load { cpu, .. } if cpu > 0.0);
    plan.workloads.iter().filter(is_one).map(|workload| (workload, plan.node_name(workload.at)))
}

/// How long the longest of the cycles of competing processes is, in seconds; nothing where none competes.
pub(super) fn longest_cycle(plan: &Plan) -> Option<f64> {
    let cycles = competing(plan).filter_map(|(workload, _)| match workload.does {
        Activity::Load { busy_ns, idle_ns, .. } => Some((busy_ns + idle_ns) as f64 / 1e9),
        _ => None,
    });
    cycles.reduce(f64::max)
}

/// Start and stop of each download of a workload, in the order in which they began.
pub(super) fn spans(name: &str, table: &TransferTable, case: &CaseData) -> SpanChart {
    let end = case.shown.seconds;
    let mut list: Vec<_> = table.transfers.iter().filter(|transfer| transfer.start.is_some()).collect();
    list.sort_by(|a, b| a.start.unwrap_or(0.0).total_cmp(&b.start.unwrap_or(0.0)));
    let span = |transfer: &&crate::analysis::Transfer| {
        let (start, stop) = (transfer.start.unwrap_or(0.0), transfer.stop.unwrap_or(end));
        Span {
            label: transfer.number.to_string(),
            start,
            stop,
            good: transfer.state == "complete",
            hint: format!("{}: {} from {start:.3} s to {stop:.3} s", transfer.name, transfer.state),
        }
    };
    SpanChart {
        title: format!("Downloads of {name}, from start to stop ({} files)", list.len()),
        x: time(case),
        y: "file".to_owned(),
        spans: list.iter().map(span).collect(),
    }
}

pub(super) fn transfers(number: usize, case: &CaseData) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (name, table) in case.shown.transfers.iter().filter(|(_, table)| !table.transfers.is_empty()) {
        let chart = spans(name, table, case);
        let unfinished = chart.spans.iter().any(|span| !span.good);
        let mut caption = format!(
            "Downloads of `{name}`{}. Each bar is one file, numbered in the order in which downloads began.",
            of_case(case)
        );
        if unfinished {
            caption += " Red bars were not complete when the run ended.";
        }
        figures.push(Figure {
            name: format!("case-{:02}-transfers-{name}", number + 1),
            drawing: chart.draw(Frame::new(WIDE, chart.height())),
            caption,
            data: Some(data(&table.table())),
        });
    }
    figures
}

pub(super) fn round_trips(number: usize, case: &CaseData) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (name, table) in &case.shown.pings {
        let points: Vec<(f64, f64)> =
            table.pings.iter().filter_map(|(at, trip)| Some((*at, (*trip)?))).collect();
        if points.is_empty() {
            continue;
        }
        let chart = LineChart {
            title: format!("Round trips of {name}"),
            x: time(case),
            y: Axis::new("", "ms").with_zero(),
            series: vec![Series { label: String::new(), points }],
        };
        figures.push(Figure {
            name: format!("case-{:02}-round-trips-{name}", number + 1),
            drawing: chart.draw(Frame::new(WIDE, 200.0), 0),
            caption: format!("Round trips of `{name}` over time{}.{}", of_case(case), events(case)),
            data: Some(chart.data()),
        });
    }
    figures
}

/// Means of each node in each case.
pub(super) fn means(run: &RunData) -> Vec<Figure> {
    let mut figures = Vec::new();
    let cases: Vec<&CaseData> = run.cases.iter().collect();
    // No two cases of a chart have one colour: more of them are in charts beside each other, on one scale.
    let parts = cases.len().div_ceil(SERIES).max(1);
    let together = cases.len().div_ceil(parts).max(1);
    for quantity in SIX {
        let (all, spread) = per_node(&quantity, "mean", &cases, Vec::new(), 0.0);
        let tops = all.groups.iter().flat_map(|group| &group.values).zip(spread.iter().flatten());
        let tops = tops.filter(|(value, _)| value.is_finite());
        let most = tops.map(|(value, deviation)| value + deviation.max(0.0)).fold(f64::NAN, f64::max);
        if most.is_nan() {
            continue;
        }
        for (part, cases) in cases.chunks(together).enumerate() {
            let labels = cases.iter().map(|case| case.name().to_owned()).collect();
            let (chart, deviations) = per_node(&quantity, "mean", cases, labels, most);
            let number = if parts > 1 { format!("-{}", part + 1) } else { String::new() };
            let rows = cases.len().div_ceil(2) as f64;
            figures.push(Figure {
                name: format!("means-{}{number}", quantity.key),
                drawing: chart.draw(Frame::new(344.0, 210.0 + 15.0 * rows), &deviations, part * together),
                caption: format!("{} of each node, a bar for each case. {NUMBERS}", quantity.title),
                data: Some(chart.data(&deviations)),
            });
        }
    }
    figures
}

/// A bar for each node and case, and its deviation over repeats.
pub(super) fn per_node(
    quantity: &Quantity,
    summary: &str,
    cases: &[&CaseData],
    labels: Vec<String>,
    most: f64,
) -> (BarChart, Vec<Vec<f64>>) {
    let drawn = cases.first().map(|case| case.drawn_nodes()).unwrap_or_default();
    let nodes = drawn.into_iter().filter_map(|node| cases.first()?.plan.nodes.get(node));
    let (mut groups, mut deviations) = (Vec::new(), Vec::new());
    for node in nodes {
        let key = format!("{}.{}", node.name, quantity.key);
        let estimates: Vec<_> = cases.iter().map(|case| case.estimate(&key, summary)).collect();
        let number = |value: Option<f64>| value.map_or(f64::NAN, |value| value * quantity.factor);
        groups.push(BarGroup {
            name: node.name.clone(),
            values: estimates.iter().map(|found| number(found.map(|found| found.mean))).collect(),
        });
        deviations.push(estimates.iter().map(|found| number(found.map(|found| found.spread()))).collect());
    }
    let chart = BarChart {
        title: if summary == "mean" {
            quantity.title.to_owned()
        } else {
            format!("{}, {summary}", quantity.title)
        },
        x: "node".to_owned(),
        y: Axis::new("", unit_of(quantity, summary)).showing(0.0, most),
        labels,
        groups,
    };
    (chart, deviations)
}

/// A table of numbers as a figure's data.
fn data(table: &Table) -> Data {
    table.columns.iter().fold(Data::default(), |data, name| data.numbers(name, table.column(name)))
}
