//! The topology, drawn: nodes in the order of the longest route, others below; one of many nodes as a map.

use super::map;
use crate::experiment::plan::{Activity, Arena, LinkIndex, LinkPlan, NodeIndex, Plan, Workload};
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
    let mut neighbours: Arena<NodeIndex, _> = Arena::filled(&plan.nodes, Vec::new());
    for [a, b] in plan.links.iter().flat_map(LinkPlan::pairs) {
        for (from, to) in [(a, b), (b, a)] {
            if let Some(list) = neighbours.get_mut(from) {
                list.push(to);
            }
        }
    }
    let mut longest: Vec<NodeIndex> = Vec::new();
    for start in plan.nodes.ids() {
        let mut before = Arena::filled(&plan.nodes, None);
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
type Places = Arena<NodeIndex, (f64, f64)>;

fn places(plan: &Plan) -> Places {
    let longest = plan.routing.routes.iter().map(|route| &route.path).max_by_key(|path| path.len());
    let spine: Vec<NodeIndex> = longest.cloned().unwrap_or_else(|| way_through(plan));
    let mut places = Places::filled(&plan.nodes, (0.0, 0.0));
    let mut taken = Arena::filled(&plan.nodes, false);
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

/// Numbers of all cases: the one that all have, or between which they lie. The words of each end with a unit.
fn between(numbers: impl Iterator<Item = f64>, words: impl Fn(f64) -> String) -> String {
    let ends = numbers.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], number| {
        [f64::min(low, number), f64::max(high, number)]
    });
    let [low, high] = ends.map(words);
    if low == high {
        return high;
    }
    let unit = |text: &str| text.split_once(SPACE).map(|(_, unit)| unit.to_owned());
    match low.split_once(SPACE) {
        Some((number, _)) if unit(&low) == unit(&high) => format!("{number}–{high}"),
        _ => format!("{low} to {high}"),
    }
}

/// From one line of a link's label to the next.
const LINE: f64 = 14.0;

/// Between a number and its unit.
const SPACE: char = '\u{a0}';

/// What a link is in all cases.
fn link_words(links: &[&LinkPlan]) -> (String, String) {
    let of = |number: fn(&LinkPlan) -> f64| links.iter().map(move |link| number(link));
    let rate = between(of(|link| link.rate_bps.map_or(f64::INFINITY, |rate| rate as f64)), |rate| {
        if rate.is_finite() { with_unit(rate, "bit/s") } else { "unlimited".to_owned() }
    });
    let mut more = Vec::new();
    if of(|link| link.delay_ns as f64).any(|delay| delay > 0.0) {
        more.push(between(of(|link| link.delay_ns as f64 / 1e6), |delay| format!("{delay}{SPACE}ms")));
    }
    if of(|link| link.loss).any(|loss| loss > 0.0) {
        more.push(between(of(|link| link.loss * 100.0), |loss| format!("{loss}{SPACE}% loss")));
    }
    // Where the experiment says itself what headers packets have, its kind means nothing.
    if let Some(link) = links.first()
        && link.simulated.overhead_bytes.is_none()
    {
        more.push(format!("{:?}", link.kind).to_uppercase());
    }
    (rate, more.join(", "))
}

/// The same link in all cases that have it.
fn in_cases<'a>(cases: &[&'a Plan], index: LinkIndex, link: &'a LinkPlan) -> Vec<&'a LinkPlan> {
    let others = cases.iter().filter_map(|plan| plan.links.get(index));
    std::iter::once(link).chain(others.filter(|other| other.name == link.name)).collect()
}

/// What of a core a node has in all cases; nothing where it has all of it.
fn cpu_words(plan: &Plan, cases: &[&Plan], node: NodeIndex) -> Option<String> {
    let own = plan.nodes.get(node)?;
    let others = cases.iter().filter_map(|plan| plan.nodes.get(node)).filter(|other| other.name == own.name);
    let shares: Vec<Option<f64>> = std::iter::once(own).chain(others).map(|node| node.cpu).collect();
    shares.iter().any(Option::is_some).then(|| {
        let shares = shares.into_iter().map(|share| share.unwrap_or(1.0) * 100.0);
        let share = between(shares, |share| format!("{share:.0}{SPACE}%"));
        format!("{} of a core", share.replace(SPACE, " "))
    })
}

/// Is a number that is drawn another one in another case?
pub(super) fn differs(plan: &Plan, cases: &[&Plan]) -> bool {
    let of_links = |(index, link): (LinkIndex, &LinkPlan)| {
        link_words(&in_cases(cases, index, link)) != link_words(&[link])
    };
    let of_nodes = |node| cpu_words(plan, cases, node) != cpu_words(plan, &[], node);
    !is_map(plan) && (plan.links.indexed().any(of_links) || plan.nodes.ids().any(of_nodes))
}

/// What a node does beside forwarding, in words.
fn roles(plan: &Plan, cases: &[&Plan], node: NodeIndex) -> Vec<String> {
    let mut words: Vec<String> = cpu_words(plan, cases, node).into_iter().collect();
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

fn is_map(plan: &Plan) -> bool {
    plan.nodes.len() > MAX_IN_ROWS && !is_one_way(plan)
}

/// Draws the plan of a case. A number that is another one in others of these cases is drawn as the range of
/// all.
pub(super) fn draw(plan: &Plan, cases: &[&Plan]) -> Drawing {
    if is_map(plan) {
        let hint = |node| {
            let roles = roles(plan, cases, node).join(", ");
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
        .ids()
        .map(|node| {
            let roles = roles(plan, cases, node).into_iter();
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
    for (index, link) in plan.links.indexed() {
        let [a, b] = link.between;
        let (Some(from), Some(to)) = (places.get(a), places.get(b)) else { continue };
        label(&mut drawing, *from, *to, link_words(&in_cases(cases, index, link)));
    }
    explain(&mut drawing, &short, &names);
    drawing
}

/// What a link is, at its line: above and below one that lies flat and joins neighbours, beside another,
/// where there is room.
fn label(drawing: &mut Drawing, from: Point, to: Point, (rate, more): (String, String)) {
    let along = |part: f64| (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
    let middle = along(0.5);
    let style = Style::LABEL;
    if (from.1 - to.1).abs() < 1.0 {
        let room = (to.0 - from.0).abs() - WIDE - 2.0;
        let lines = [style.wrap(&rate, room), style.wrap(&more, room)].concat();
        let lines: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
        // One line above and the others below, or the other way round.
        let placed = |first: usize| {
            lines.iter().enumerate().map(move |(number, line)| {
                let off = if number < first {
                    -7.0 - LINE * (first - 1 - number) as f64
                } else {
                    15.0 + LINE * (number - first) as f64
                };
                ((middle.0, middle.1 + off), line.as_str())
            })
        };
        let is_free = |first: &usize| {
            placed(*first).all(|(at, line)| drawing.has_room(at, Anchor::Middle, line, style))
        };
        if let Some(first) = [lines.len().saturating_sub(1).max(1), 1].into_iter().find(is_free) {
            for (at, line) in placed(first) {
                drawing.text(at, Anchor::Middle, line, style);
            }
            return;
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    const PATH: &str = "title = 't'\nduration = '9 s'\n[node]\na = {}\nb = { cpu = '20 %' }\nc = {}\n\
        [defaults.link]\nrate = '12 Mbit/s'\ndelay = '2 ms'\n[link]\na-b = {}\nb-c = {}\n[[route]]\nprefix = '/c'\n\
        path = ['a', 'b', 'c']\n[content.c]\nprefix = '/c'\nat = 'c'\nsize = '1 kB'\n";

    fn drawn(sweeps: &str) -> (String, bool) {
        let experiment = Experiment::parse("t", "t.toml", &format!("{PATH}{sweeps}"))
            .unwrap_or_else(|wrong| panic!("{wrong}"));
        let plans = experiment.plans("sim").unwrap();
        let cases: Vec<&Plan> = plans.iter().collect();
        (draw(&plans[0], &cases).to_svg().replace(SPACE, " "), differs(&plans[0], &cases))
    }

    fn sweep(key: &str, values: &str) -> String {
        format!("[[sweep]]\nkey = '{key}'\nvalues = [{values}]\n")
    }

    #[test]
    fn what_a_sweep_changes_of_a_link_or_node_is_drawn_as_its_range() {
        let (plain, is_range) = drawn("");
        assert!(plain.contains(">12 Mbit/s<") && plain.contains(">2 ms, UDP<") && !is_range, "{plain}");
        assert!(plain.contains(">20 % of a core<"), "{plain}");
        let (rates, is_range) = drawn(&sweep("link.a-b.rate", "'40 Mbit/s', '5 Mbit/s', '10 Mbit/s'"));
        assert!(rates.contains(">5–40 Mbit/s<") && rates.contains(">12 Mbit/s<") && is_range, "{rates}");
        let (others, is_range) = drawn(&format!(
            "{}{}",
            sweep("link.*.delay", "'1 ms', '10 ms'"),
            sweep("node.b.cpu", "'50 %', '100 %'")
        ));
        assert!(others.contains(">1–10 ms,<") && others.contains(">UDP<"), "{others}");
        assert!(others.contains(">50–100 % of a core<") && is_range && !others.contains("2 ms"), "{others}");
        let (units, _) = drawn(&sweep("link.a-b.rate", "'500 kbit/s', '40 Mbit/s'"));
        assert!(units.contains(">500 kbit/s") && units.contains("40 Mbit/s<"), "{units}");
    }
}
