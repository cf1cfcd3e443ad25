//! The testbed report's overview document: a page for each case, with the six graphs of every node and the
//! transfers, below its name. For a quick look, and to be laid beside others.

use super::data::{CaseData, RunData};
use super::detailed::detailed;
use super::figures::{over_time, spans};
use super::quantity::SIX;
use crate::figure::{Anchor, Drawing, Frame, Series, Style};

/// One graph.
const GRAPH: Frame = Frame::new(252.0, 132.0);
const GAP: f64 = 12.0;
/// Room for the name.
const TOP: f64 = 44.0;
/// Downloads are told apart as far as that much room allows.
const MAX_TRANSFERS: f64 = 260.0;

/// A page for each case whose details the report shows.
pub(super) fn pages(run: &RunData) -> Vec<Drawing> {
    detailed(run).into_iter().filter_map(|number| page(run, run.cases.get(number)?)).collect()
}

fn page(run: &RunData, case: &CaseData) -> Option<Drawing> {
    let nodes = case.drawn_nodes();
    let mut cells = Vec::new();
    for quantity in SIX {
        let of_nodes: Vec<_> = nodes.iter().map(|node| quantity.points(case, *node)).collect();
        if of_nodes.iter().all(Vec::is_empty) {
            continue;
        }
        for (place, (node, points)) in nodes.iter().zip(of_nodes).enumerate() {
            let line = vec![Series { label: String::new(), points }];
            let mut chart = over_time(&quantity, case, quantity.most(case), line);
            chart.title = format!("{} · {}", case.plan.node_name(*node), quantity.title);
            cells.push(chart.draw(GRAPH, place));
        }
    }
    if cells.is_empty() {
        return None;
    }
    let graphs = Drawing::grid(&run.record.title, nodes.len(), GAP, &cells);
    let transfers = case.shown.transfers.iter().filter(|(_, table)| !table.transfers.is_empty());
    let transfers = transfers.map(|(name, table)| {
        let chart = spans(name, table, case);
        chart.draw(Frame::new(graphs.width, chart.height().min(MAX_TRANSFERS)))
    });
    let parts: Vec<Drawing> = std::iter::once(graphs.clone()).chain(transfers).collect();
    let body = Drawing::grid(&run.record.title, 1, GAP, &parts);
    let mut page = Drawing::new(&run.record.title, body.width, body.height + TOP);
    page.text((0.0, 15.0), Anchor::Start, &run.record.title, Style::TITLE);
    let place = format!("{} · {}", run.record.backend, run.record.began);
    let below = if case.plan.case.is_empty() { place } else { format!("{} · {place}", case.plan.case) };
    page.text((0.0, 32.0), Anchor::Start, &below, Style::LABEL);
    page.put(&body, (0.0, TOP), 1.0);
    Some(page)
}
