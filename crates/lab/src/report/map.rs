//! The map of a network of many nodes: dots that say by their colour what stands there, with names where
//! there is room.

use crate::experiment::plan::{Activity, LinkPlan, NodeIndex, Plan};
use crate::figure::{Anchor, Drawing, Paint, Point, Style, Weight, graph};

const WIDE: f64 = 948.0;
/// Room around the map for names.
const MARGIN: f64 = 60.0;
/// Room above it for what colours mean.
const ABOVE: f64 = 34.0;
/// So much room a node gets if that does not make the map higher than the other, in points.
const ROOM: f64 = 11_000.0;
const HIGHEST: f64 = 1_100.0;
/// A link is never longer than this where few nodes have much room.
const MAX_LINK: f64 = 160.0;
/// Of more nodes nothing could be seen.
const MAX_NODES: usize = 3_000;

/// What stands at a node beside its forwarder.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Both,
    Answers,
    Asks,
    Forwards,
}

impl Role {
    /// In the order of the key, with colour, diameter and meaning.
    const KEY: [(Role, Paint, f64, &str); 4] = [
        (Role::Asks, Paint::Series(0), 11.0, "asks"),
        (Role::Answers, Paint::Series(1), 11.0, "answers"),
        (Role::Both, Paint::Series(3), 11.0, "asks and answers"),
        (Role::Forwards, Paint::Soft, 7.0, "forwards only"),
    ];

    fn of(plan: &Plan, node: NodeIndex) -> Role {
        let asks = plan.workloads.iter().any(|workload| match &workload.does {
            Activity::Consume(consumer) => consumer.nodes.contains(&node),
            Activity::Load { .. } => false,
            _ => workload.at == node,
        });
        let pinged = |does: &Activity| matches!(does, Activity::Ping { to, .. } if *to == node);
        let answers = plan.contents.iter().any(|content| content.at == node)
            || plan.producers.iter().any(|producer| producer.nodes.contains(&node))
            || plan.workloads.iter().any(|workload| pinged(&workload.does));
        match (asks, answers) {
            (true, true) => Role::Both,
            (true, false) => Role::Asks,
            (false, true) => Role::Answers,
            (false, false) => Role::Forwards,
        }
    }

    fn look(self) -> (Paint, f64) {
        let own = Role::KEY.into_iter().find(|(role, ..)| *role == self);
        own.map_or((Paint::Soft, 7.0), |(_, paint, size, _)| (paint, size))
    }
}

/// Draws the map; `hint` is what is said of a node when someone points at it.
pub(super) fn draw(plan: &Plan, hint: &dyn Fn(NodeIndex) -> String) -> Drawing {
    let (count, links) = (plan.nodes.len(), plan.links.len());
    if count > MAX_NODES {
        let mut drawing = Drawing::new("Topology", WIDE, 40.0);
        let text = format!("{count} nodes and {links} links are too many to be drawn.");
        drawing.text((12.0, 24.0), Anchor::Start, &text, Style::LABEL);
        return drawing;
    }
    let ends = plan.links.iter().flat_map(LinkPlan::star);
    let ends: Vec<[usize; 2]> = ends.map(|ends| ends.map(|node| node.0)).collect();
    let (places, height) = fitted(&graph::places(count, &ends), count);
    let mut drawing = Drawing::new("Topology", WIDE, height);
    for [a, b] in ends {
        if let (Some(from), Some(to)) = (places.get(a), places.get(b)) {
            drawing.line(*from, *to, Paint::Soft);
        }
    }
    let roles: Vec<Role> = plan.nodes.ids().map(|node| Role::of(plan, node)).collect();
    key(&mut drawing, &roles);
    for (node, (place, role)) in places.iter().zip(&roles).enumerate() {
        let (paint, size) = role.look();
        drawing.disc(*place, size, paint, &hint(NodeIndex(node)));
    }
    names(&mut drawing, plan, &places, &roles);
    drawing
}

/// Places on the drawing, and its height. Distances look alike in both directions, unless so flat a map would
/// have no room for its nodes: then it is stretched, by half at most.
fn fitted(places: &[Point], count: usize) -> (Vec<Point>, f64) {
    let bounds = |part: fn(&Point) -> f64| {
        let ends = places
            .iter()
            .map(part)
            .fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(value), most.max(value)));
        (ends.0, (ends.1 - ends.0).max(1e-9))
    };
    let ((left, wide), (top, high)) = (bounds(|place| place.0), bounds(|place| place.1));
    let inside = WIDE - 2.0 * MARGIN;
    let across = (inside / wide).min(HIGHEST / high).min(MAX_LINK);
    let needed = (count as f64 * ROOM / WIDE).min(HIGHEST);
    let down = (needed / high).clamp(across, across * 1.5);
    let margin = (WIDE - wide * across) / 2.0;
    let put =
        |place: &Point| (margin + (place.0 - left) * across, ABOVE + MARGIN / 2.0 + (place.1 - top) * down);
    (places.iter().map(put).collect(), high * down + ABOVE + MARGIN)
}

/// What the colours mean, of those that are there.
fn key(drawing: &mut Drawing, roles: &[Role]) {
    let mut left = 16.0;
    for (role, paint, size, words) in Role::KEY {
        if roles.contains(&role) {
            drawing.disc((left, 16.0), size, paint, "");
            drawing.text((left + 11.0, 20.0), Anchor::Start, words, Style::LABEL);
            left += 11.0 + Style::LABEL.width(words) + 26.0;
        }
    }
}

/// Writes names beside dots: first of those that ask or answer, then of those with most links. Where there is
/// room nowhere a name is left out; pointing at the dot shows it.
fn names(drawing: &mut Drawing, plan: &Plan, places: &[Point], roles: &[Role]) {
    let mut links = vec![0usize; places.len()];
    for node in plan.links.iter().flat_map(LinkPlan::ends) {
        if let Some(count) = links.get_mut(node.0) {
            *count += 1;
        }
    }
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|node| (roles[*node] == Role::Forwards, usize::MAX - links[*node], *node));
    for node in order {
        let (at, role) = (places[node], roles[node]);
        let (_, size) = role.look();
        let style = match role {
            Role::Forwards => Style::LABEL,
            _ => Style { paint: Paint::Ink, size: 11.0, weight: Weight::Bold },
        };
        let name = style.fit(plan.node_name(NodeIndex(node)), 130.0);
        let (side, diagonal) = (size / 2.0 + 3.0, size / 2.0 + 1.0);
        let tries = [
            ((at.0 + side, at.1 + 4.0), Anchor::Start),
            ((at.0 - side, at.1 + 4.0), Anchor::End),
            ((at.0, at.1 - side - 1.0), Anchor::Middle),
            ((at.0, at.1 + side + 9.0), Anchor::Middle),
            ((at.0 + diagonal, at.1 - diagonal), Anchor::Start),
            ((at.0 + diagonal, at.1 + diagonal + 8.0), Anchor::Start),
            ((at.0 - diagonal, at.1 - diagonal), Anchor::End),
            ((at.0 - diagonal, at.1 + diagonal + 8.0), Anchor::End),
        ];
        let is_free = |(place, anchor): &(Point, Anchor)| drawing.has_room(*place, *anchor, &name, style);
        // Best where it crosses no line.
        let free: Vec<(Point, Anchor)> = tries.into_iter().filter(is_free).collect();
        let crossed = |place: Point, anchor| drawing.lines_below(place, anchor, &name, style);
        if let Some((place, anchor)) = free.into_iter().min_by_key(|(place, anchor)| crossed(*place, *anchor))
        {
            drawing.text(place, anchor, &name, style);
        }
    }
}
