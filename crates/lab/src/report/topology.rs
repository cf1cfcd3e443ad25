//! The topology, drawn: nodes in the order of the longest route, others below; one of many nodes as a map.

use super::map;
use crate::experiment::plan::{Activity, IndexVec, LinkPlan, NodeIndex, Plan, Workload};
use crate::figure::key::explain;
use crate::figure::number::with_unit;
use crate::figure::palette::Dash;
use crate::figure::{Anchor, Drawing, Paint, Point, Style, Weight};

const STEP: f64 = 158.0;
const WIDE: f64 = 84.0;
const HIGH: f64 = 44.0;

/// Networks of more nodes become maps, unless a route leads through all of them.
const MAX_IN_ROWS: usize = 12;

/// The longest of the shortest ways between two nodes, where no route is written down: what is drawn along
/// it looks like the network.
fn way_through(plan: &Plan) -> Vec<NodeIndex> {
    let mut neighbours: IndexVec<NodeIndex, _> = IndexVec::filled(&plan.nodes, Vec::new());
    for [a, b] in plan.links.iter().flat_map(LinkPlan::pairs) {
        for (from, to) in [(a, b), (b, a)] {
            if let Some(list) = neighbours.get_mut(from) {
                list.push(to);
            }
        }
    }
    let mut longest: Vec<NodeIndex> = Vec::new();
    for start in plan.nodes.indices() {
        let mut before = IndexVec::filled(&plan.nodes, None);
        let mut order = vec![start];
        let mut next = 0;
        while let Some(node) = order.get(next).copied() {
            next += 1;
            for &to in neighbours.get(node).map(Vec::as_slice).unwrap_or_default() {
                if to != start && before.get(to) == Some(&None) {
                    if let Some(place) = before.get_mut(to) {
                        *place = Some(node);
                    }
                    order.push(to);
                }
            }
        }
        // The last that is reached is as far away as any.
        let back = |node: &NodeIndex| before.get(*node).copied().flatten();
        let mut way: Vec<NodeIndex> = std::iter::successors(order.last().copied(), back).collect();
        if way.len() > longest.len() {
            way.reverse();
            longest = way;
        }
    }
    longest
}

/// Where each node is drawn.
type Places = IndexVec<NodeIndex, (f64, f64)>;

fn places(plan: &Plan) -> Places {
    let longest = plan.routing.routes.iter().map(|route| &route.path).max_by_key(|path| path.len());
    let spine: Vec<NodeIndex> = longest.cloned().unwrap_or_else(|| way_through(plan));
    let mut places = Places::filled(&plan.nodes, (0.0, 0.0));
    let mut taken = IndexVec::filled(&plan.nodes, false);
    let per_row = 6;
    let put = |places: &mut Places, node: NodeIndex, number: usize, row: usize| {
        if let Some(place) = places.get_mut(node) {
            let (x, y) = ((number % per_row) as f64, (number / per_row + row) as f64);
            *place = (STEP / 2.0 + x * STEP, 30.0 + y * 118.0);
        }
    };
    for (number, node) in spine.iter().enumerate() {
        put(&mut places, *node, number, 0);
        if let Some(taken) = taken.get_mut(*node) {
            *taken = true;
        }
    }
    let row = spine.len().div_ceil(per_row);
    let others = taken.indexed().filter(|(_, taken)| !**taken).map(|(node, _)| node);
    for (number, node) in others.enumerate() {
        put(&mut places, node, number, row);
    }
    places
}

fn link_words(link: &LinkPlan) -> (String, String) {
    let rate = link.rate_bps.map_or_else(|| "unlimited".to_owned(), |rate| with_unit(rate as f64, "bit/s"));
    let mut more = Vec::new();
    if link.delay_ns > 0 {
        more.push(format!("{} ms", link.delay_ns as f64 / 1e6));
    }
    if link.loss > 0.0 {
        more.push(format!("{} % loss", link.loss * 100.0));
    }
    // Where the experiment says itself what headers packets have, its kind means nothing.
    if link.simulated.overhead_bytes.is_none() {
        more.push(format!("{:?}", link.kind).to_uppercase());
    }
    (rate, more.join(", "))
}

/// What a node does beside forwarding, in words.
fn roles(plan: &Plan, node: NodeIndex) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(cpu) = plan.nodes.get(node).and_then(|node| node.cpu) {
        words.push(format!("{:.0} % of a core", cpu * 100.0));
    }
    for content in plan.contents.iter().filter(|content| content.at == node) {
        words.push(format!("serves {}", content.name));
    }
    // A load of nothing is only there for other cases to change.
    let idle = |does: &Activity| matches!(does, Activity::Load { cpu, .. } if *cpu <= 0.0);
    for producer in plan.producers.iter().filter(|producer| producer.nodes.contains(&node)) {
        words.push(format!("answers for {}", producer.prefix));
    }
    let is_here = |workload: &&Workload| match &workload.does {
        Activity::Consume(consumer) => consumer.nodes.contains(&node),
        _ => workload.at == node,
    };
    for workload in plan.workloads.iter().filter(is_here).filter(|workload| !idle(&workload.does)) {
        let word = match workload.does {
            Activity::Download { .. } => "downloads",
            Activity::Flood { .. } => "floods",
            Activity::Register(_) => "registers",
            Activity::Ping { .. } => "pings",
            Activity::Traffic { .. } => "asks for chunks",
            Activity::Consume(_) => "asks",
            Activity::Program(_) => "runs",
            Activity::Load { .. } => "competing load",
        };
        words.push(format!("{word}: {}", workload.name));
    }
    words
}

/// Does a route that was written down lead through all nodes?
fn is_one_way(plan: &Plan) -> bool {
    plan.routing.routes.iter().any(|route| route.path.len() >= plan.nodes.len())
}

/// Draws the plan.
pub(super) fn draw(plan: &Plan) -> Drawing {
    if plan.nodes.len() > MAX_IN_ROWS && !is_one_way(plan) {
        let hint = |node| {
            let roles = roles(plan, node).join(", ");
            if roles.is_empty() {
                plan.node_name(node).to_owned()
            } else {
                format!("{}: {roles}", plan.node_name(node))
            }
        };
        return map::draw(plan, &hint);
    }
    let places = places(plan);
    let name = Style { paint: Paint::Ink, size: 13.0, weight: Weight::Bold };
    let words: Vec<Vec<String>> = plan
        .nodes
        .indices()
        .map(|node| {
            let roles = roles(plan, node).into_iter();
            roles.flat_map(|role| Style::LABEL.wrap(&role, STEP - 12.0)).collect()
        })
        .collect();
    let right = places.iter().map(|place| place.0).fold(0.0, f64::max) + STEP / 2.0;
    let below = places.iter().map(|place| place.1).fold(0.0, f64::max);
    let most = words.iter().map(Vec::len).max().unwrap_or(0);
    let height = below + HIGH / 2.0 + 15.0 * most as f64 + 12.0;
    let mut drawing = Drawing::new("Topology", right, height);
    for [from, to] in plan.links.iter().flat_map(LinkPlan::star) {
        let (Some(from), Some(to)) = (places.get(from), places.get(to)) else { continue };
        drawing.path(vec![*from, *to], Paint::Soft, Dash::Solid);
    }
    let names: Vec<String> = plan.nodes.iter().map(|node| node.name.clone()).collect();
    let short = name.fit_all(&names, WIDE - 8.0);
    for ((shown, place), words) in short.shown.iter().zip(&places).zip(&words) {
        drawing.card((place.0 - WIDE / 2.0, place.1 - HIGH / 2.0), (WIDE, HIGH));
        drawing.text((place.0, place.1 + 5.0), Anchor::Middle, shown, name);
        for (row, word) in words.iter().enumerate() {
            let at = (place.0, place.1 + HIGH / 2.0 + 15.0 * (row + 1) as f64);
            drawing.text(at, Anchor::Middle, word, Style::LABEL);
        }
    }
    for link in &plan.links {
        let [a, b] = link.between;
        let (Some(from), Some(to)) = (places.get(a), places.get(b)) else { continue };
        label(&mut drawing, *from, *to, link);
    }
    explain(&mut drawing, &short, &names);
    drawing
}

/// What a link is, at its line: above and below one that lies flat and joins neighbours, beside another,
/// where there is room.
fn label(drawing: &mut Drawing, from: Point, to: Point, link: &LinkPlan) {
    let (rate, more) = link_words(link);
    let along = |part: f64| (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
    let middle = along(0.5);
    let style = Style::LABEL;
    let (above, below) = ((middle.0, middle.1 - 7.0), (middle.0, middle.1 + 15.0));
    let is_free = |drawing: &Drawing, at, text: &str| drawing.has_room(at, Anchor::Middle, text, style);
    let is_flat = (from.1 - to.1).abs() < 1.0;
    if is_flat && is_free(drawing, above, &rate) && is_free(drawing, below, &more) {
        drawing.text(above, Anchor::Middle, &rate, style);
        drawing.text(below, Anchor::Middle, &more, style);
        return;
    }
    let text = format!("{rate}, {more}");
    let parts = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.35, 0.65, 0.45, 0.55];
    let tries = parts.into_iter().flat_map(|part| {
        let at = along(part);
        [((at.0 + 10.0, at.1 + 8.0), Anchor::Start), ((at.0 - 10.0, at.1 + 8.0), Anchor::End)]
    });
    // Where there is room nowhere it is left out; the experiment beside the report has it.
    let free = tries.into_iter().find(|(at, anchor)| drawing.has_room(*at, *anchor, &text, style));
    if let Some((at, anchor)) = free {
        drawing.text(at, anchor, &text, style);
    }
}
