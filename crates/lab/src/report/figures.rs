//! The figures of a run: each as SVG for the page, as SVG of its own, and its data as CSV.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use super::chart::{Bar, Bars, Chart, Line};
use super::data::{CaseData, RunData};
use super::svg::Svg;
use super::{topology, transfers};
use crate::analysis::Table;

/// What is drawn of a node: the measure, its title, its unit, and the factor from the measure to the unit.
pub(super) struct Quantity {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) unit: &'static str,
    pub(super) factor: f64,
}

/// The testbed report's six graphs of a node, and processor and memory first.
pub(super) const SIX: &[Quantity] = &[
    Quantity { key: "cpu", title: "Processor", unit: "%", factor: 1.0 },
    Quantity { key: "memory", title: "Memory", unit: "B", factor: 1.0 },
    Quantity { key: "pending", title: "Pending Interests", unit: "", factor: 1.0 },
    Quantity { key: "goodput", title: "Goodput, direction of Data", unit: "bit/s", factor: 8.0 },
    Quantity {
        key: "goodput_interests",
        title: "Goodput, direction of Interests",
        unit: "bit/s",
        factor: 8.0,
    },
    Quantity { key: "retransmissions", title: "Interest retransmissions", unit: "1/s", factor: 1.0 },
];

/// A figure for the page.
#[derive(Debug)]
pub(super) struct Figure {
    pub(super) html: String,
    pub(super) caption: String,
}

/// Draws figures and keeps them in the run's folder.
#[derive(Debug)]
pub(super) struct Studio<'a> {
    run: &'a RunData,
}

impl<'a> Studio<'a> {
    pub(super) fn new(run: &'a RunData) -> io::Result<Self> {
        fs::create_dir_all(run.folder.path().join("figures"))?;
        Ok(Studio { run })
    }

    fn keep(&self, name: &str, svg: &Svg, data: Option<&str>) -> io::Result<()> {
        let folder = self.run.folder.path().join("figures");
        fs::write(folder.join(format!("{name}.svg")), svg.alone())?;
        if let Some(data) = data {
            fs::write(folder.join(format!("{name}.csv")), data)?;
        }
        Ok(())
    }

    fn figure(&self, name: &str, svg: &Svg, data: Option<&str>, caption: &str) -> io::Result<Figure> {
        self.keep(name, svg, data)?;
        Ok(Figure { html: svg.inline(), caption: caption.to_owned() })
    }

    pub(super) fn topology(&self) -> io::Result<Figure> {
        let Some(case) = self.run.cases.first() else { return Err(io::Error::other("there is no case")) };
        self.figure("topology", &topology::draw(&case.plan), None, "")
    }

    /// One small chart for each quantity, a line for each node: how the network's nodes differ.
    pub(super) fn side_by_side(&self, number: usize, case: &CaseData) -> io::Result<Vec<Figure>> {
        let mut figures = Vec::new();
        for quantity in SIX {
            let lines: Vec<Line> = case
                .plan
                .nodes
                .iter()
                .enumerate()
                .map(|(index, node)| Line {
                    label: node.name.clone(),
                    colour: index,
                    points: points(case, index, quantity),
                })
                .collect();
            if lines.iter().all(|line| line.points.is_empty()) {
                continue;
            }
            let chart = chart(quantity, lines, case, (344.0, 220.0), 0.0);
            let name = format!("case-{:02}-{}", number + 1, quantity.key);
            figures.push(self.figure(&name, &chart.draw(), Some(&csv(&chart)), "")?);
        }
        Ok(figures)
    }

    /// The six graphs of one node, on the scales of all nodes so that they can be compared.
    pub(super) fn six(&self, number: usize, case: &CaseData, node: usize) -> io::Result<Vec<Figure>> {
        let mut figures = Vec::new();
        for quantity in SIX {
            let all = (0..case.plan.nodes.len()).flat_map(|index| points(case, index, quantity));
            let most = all.map(|(_, value)| value).fold(0.0, f64::max);
            let points = points(case, node, quantity);
            if points.is_empty() {
                continue;
            }
            let lines = vec![Line { label: String::new(), colour: node, points }];
            let chart = chart(quantity, lines, case, (330.0, 165.0), most);
            let name = format!("case-{:02}-{}-{}", number + 1, case.plan.node_name(node), quantity.key);
            figures.push(self.figure(&name, &chart.draw(), Some(&csv(&chart)), "")?);
        }
        Ok(figures)
    }

    pub(super) fn transfers(&self, number: usize, case: &CaseData) -> io::Result<Vec<Figure>> {
        let mut figures = Vec::new();
        for (name, table) in &case.shown.transfers {
            let svg = transfers::draw(name, table, case.shown.seconds, 720.0);
            let file = format!("case-{:02}-transfers-{name}", number + 1);
            let caption =
                "Each bar is one file, in the order in which downloads began. Red bars did not end in time.";
            figures.push(self.figure(&file, &svg, Some(&table_csv(&table.table())), caption)?);
        }
        Ok(figures)
    }

    pub(super) fn round_trips(&self, number: usize, case: &CaseData) -> io::Result<Vec<Figure>> {
        let mut figures = Vec::new();
        for (name, table) in &case.shown.pings {
            let points: Vec<(f64, f64)> =
                table.pings.iter().filter_map(|(at, trip)| Some((*at, (*trip)?))).collect();
            let chart = Chart {
                title: format!("Round trip of `{name}`"),
                unit: "ms",
                across: "time (s)".to_owned(),
                lines: vec![Line { label: name.clone(), colour: 0, points }],
                width: 720.0,
                height: 200.0,
                end: case.shown.seconds,
                at_least: 0.0,
            };
            let file = format!("case-{:02}-round-trips-{name}", number + 1);
            figures.push(self.figure(&file, &chart.draw(), Some(&csv(&chart)), "")?);
        }
        Ok(figures)
    }

    /// Means of each node in each case: the testbed report's figure 13.
    pub(super) fn comparison(&self) -> io::Result<Vec<Figure>> {
        let Some(first) = self.run.cases.first() else { return Ok(Vec::new()) };
        let nodes: Vec<String> = first.plan.nodes.iter().map(|node| node.name.clone()).collect();
        let mut figures = Vec::new();
        for quantity in SIX {
            let mut bars = Vec::new();
            for (series, case) in self.run.cases.iter().enumerate() {
                for (group, node) in nodes.iter().enumerate() {
                    let key = format!("{node}.{}", quantity.key);
                    let Some(estimate) = case.estimate(&key, "mean") else { continue };
                    bars.push(Bar {
                        group,
                        series,
                        mean: estimate.mean * quantity.factor,
                        deviation: estimate.deviation * quantity.factor,
                    });
                }
            }
            if bars.is_empty() {
                continue;
            }
            let chart = Bars {
                title: format!("{}, mean", quantity.title),
                unit: quantity.unit,
                groups: nodes.clone(),
                series: self.run.cases.iter().map(|case| case.name().to_owned()).collect(),
                bars,
                width: 344.0,
                height: 220.0
                    + if self.run.cases.len() > 1 { 15.0 * self.run.cases.len() as f64 } else { 0.0 },
            };
            let name = format!("means-{}", quantity.key);
            figures.push(self.figure(&name, &chart.draw(), Some(&bars_csv(&chart)), "")?);
        }
        Ok(figures)
    }
}

fn points(case: &CaseData, node: usize, quantity: &Quantity) -> Vec<(f64, f64)> {
    let Some(data) = case.shown.nodes.get(node) else { return Vec::new() };
    let mut points = data.log.points("time", quantity.key);
    points.extend(data.traffic.points("time", quantity.key).into_iter().map(|(at, value)| (at + 0.5, value)));
    points.retain(|(at, _)| *at >= 0.0);
    points.into_iter().map(|(at, value)| (at, value * quantity.factor)).collect()
}

fn chart(quantity: &Quantity, lines: Vec<Line>, case: &CaseData, size: (f64, f64), at_least: f64) -> Chart {
    Chart {
        title: quantity.title.to_owned(),
        unit: quantity.unit,
        across: "time (s)".to_owned(),
        lines,
        width: size.0,
        height: size.1,
        end: case.shown.seconds,
        at_least,
    }
}

/// A chart's data, one line a point.
fn csv(chart: &Chart) -> String {
    let mut out = format!("line,time,value_{}\n", chart.unit.replace(['/', '%'], "_"));
    for line in &chart.lines {
        for (at, value) in &line.points {
            let _ = writeln!(out, "{},{at:.6},{value}", line.label.replace(',', ";"));
        }
    }
    out
}

fn bars_csv(chart: &Bars) -> String {
    let mut out = String::from("node,case,mean,deviation\n");
    for bar in &chart.bars {
        let group = chart.groups.get(bar.group).map_or("", String::as_str);
        let series = chart.series.get(bar.series).map_or("", String::as_str);
        let _ = writeln!(out, "{group},{},{},{}", series.replace(',', ";"), bar.mean, bar.deviation);
    }
    out
}

fn table_csv(table: &Table) -> String {
    let mut out = format!("{}\n", table.columns.join(","));
    for row in &table.rows {
        let fields: Vec<String> = row
            .iter()
            .map(|value| if value.is_finite() { value.to_string() } else { String::new() })
            .collect();
        let _ = writeln!(out, "{}", fields.join(","));
    }
    out
}

/// Writes every number of every repeat into one table, for people's own tools.
pub(super) fn write_results(run: &RunData, path: &Path) -> io::Result<()> {
    let mut out =
        String::from("case,repeat,valid,measure,count,mean,deviation,min,p5,median,p95,p99,max,last,sum\n");
    for case in &run.cases {
        for (repeat, result) in case.results.iter().enumerate() {
            for (key, s) in &result.values {
                let _ = writeln!(
                    out,
                    "{},{},{},{key},{},{},{},{},{},{},{},{},{},{},{}",
                    case.plan.case.replace(',', ";"),
                    repeat + 1,
                    result.is_valid(),
                    s.count,
                    s.mean,
                    s.deviation,
                    s.min,
                    s.p5,
                    s.median,
                    s.p95,
                    s.p99,
                    s.max,
                    s.last,
                    s.sum,
                );
            }
        }
    }
    fs::write(path, out)
}
