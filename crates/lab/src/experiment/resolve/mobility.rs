//! Nodes that move and networks that fall apart, as links that go down and come back: what real forwarders
//! and virtual time can both do.

use std::collections::{BTreeMap, BTreeSet};

use crate::experiment::model::{Event, File, Mobility};
use crate::experiment::plan::{Change, EventPlan, LinkIndex, LinkPlan, Links, NodeIndex};
use crate::experiment::read::findings::Findings;
use crate::experiment::read::named_files::Files;

/// Most changes of links that movements may make.
const MAX_CHANGES: usize = 100_000;

/// Which links are up from when on: what a mobile node has, or not.
type Requested = (u64, LinkIndex, bool);

/// The events of nodes that move.
pub(super) fn events(
    file: &File,
    names: &[&str],
    links: &Links,
    files: &Files,
    f: &mut Findings,
) -> Vec<EventPlan> {
    let Some(given) = &file.mobility else { return Vec::new() };
    let read = |key: &str, name: &str, f: &mut Findings| {
        let text = files.text(name);
        if text.is_none() {
            let hint = Some("it is looked for in the experiment's folder".to_owned());
            f.add(format!("mobility.{key}"), format!("`{name}` cannot be read as text"), hint);
        }
        text.map(str::to_owned)
    };
    let (key, wanted) = match (&given.handovers, &given.movements) {
        (Some(name), None) => {
            let Some(text) = read("handovers", name, f) else { return Vec::new() };
            ("handovers", handovers(&text, names, links))
        }
        (None, Some(name)) => {
            let Some(text) = read("movements", name, f) else { return Vec::new() };
            ("movements", movements(&text, given, names, links, file.duration.0))
        }
        _ => {
            let hint = Some("write for example handovers = \"handovers.csv\"".to_owned());
            f.add("mobility", "nodes move by `handovers` or by `movements`", hint);
            return Vec::new();
        }
    };
    match wanted {
        Ok(wanted) => changes(wanted, file.duration.0),
        Err(message) => {
            f.add(format!("mobility.{key}"), message, None);
            Vec::new()
        }
    }
}

/// Adds what partitions, each with its time and number in the file, do to the links between their nodes and
/// the others. Those that are down already stay out of it, and so they do when it heals.
pub(super) fn fall_apart(
    list: &mut Vec<EventPlan>,
    mut partitions: Vec<(u64, usize, &Event)>,
    names: &[&str],
    links: &Links,
    f: &mut Findings,
) {
    partitions.sort_by_key(|(at_ns, number, _)| (*at_ns, *number));
    let mut apart: BTreeSet<LinkIndex> = BTreeSet::new();
    for (at_ns, number, event) in partitions {
        let key = format!("event.{number}");
        let heals = event.action == "heal";
        if heals != event.nodes.is_empty() {
            f.add(&key, "a partition has `nodes` on its one side, and what heals has none", None);
            continue;
        }
        if heals {
            let up = std::mem::take(&mut apart).into_iter();
            list.extend(up.map(|link| EventPlan { at_ns, change: Change::LinkUp(link) }));
            continue;
        }
        let side: Vec<_> =
            event.nodes.iter().filter_map(|name| f.node(&format!("{key}.nodes"), name, names)).collect();
        if side.len() < event.nodes.len() {
            continue;
        }
        let is_down = |link: LinkIndex| {
            let before = list.iter().filter(|event| event.at_ns <= at_ns);
            let last = before.filter_map(|event| match event.change {
                Change::LinkDown(other) if other == link => Some((event.at_ns, true)),
                Change::LinkUp(other) if other == link => Some((event.at_ns, false)),
                _ => None,
            });
            last.max_by_key(|(at_ns, _)| *at_ns).is_some_and(|(_, is_down)| is_down)
        };
        let is_cut = |link: &LinkPlan| {
            let on_side = link.between.iter().filter(|node| side.contains(node)).count();
            on_side > 0 && on_side < link.between.len()
        };
        let cut: Vec<_> = links.indexed().filter(|(_, link)| is_cut(link)).map(|(place, _)| place).collect();
        if cut.is_empty() {
            f.add(format!("{key}.nodes"), "nobody is on the other side of a link to them", None);
        }
        let cut: Vec<_> = cut.into_iter().filter(|place| !is_down(*place)).collect();
        list.extend(cut.iter().map(|link| EventPlan { at_ns, change: Change::LinkDown(*link) }));
        apart.extend(cut);
    }
}

/// What changes, in its order: a link that is as it is to be stays so. All are up before the begin.
fn changes(mut wanted: Vec<Requested>, duration_ns: u64) -> Vec<EventPlan> {
    wanted.sort_by_key(|(at_ns, link, up)| (*at_ns, *up, *link));
    let (mut down, mut events) = (BTreeSet::new(), Vec::new());
    for (at_ns, link, up) in wanted.into_iter().filter(|(at_ns, ..)| *at_ns < duration_ns) {
        let is_new = if up { down.remove(&link) } else { down.insert(link) };
        if is_new {
            let change = if up { Change::LinkUp(link) } else { Change::LinkDown(link) };
            events.push(EventPlan { at_ns, change });
        }
    }
    events
}

/// A time in seconds.
fn nanoseconds(text: &str) -> Option<u64> {
    let seconds: f64 = text.trim().parse().ok()?;
    (seconds.is_finite() && (0.0..=1e9).contains(&seconds)).then(|| (seconds * 1e9).round() as u64)
}

/// Handovers: from a time on a node has one of its links, and none of the others that the list names for it.
/// Before its first line it has the link of that.
fn handovers(text: &str, names: &[&str], links: &Links) -> Result<Vec<Requested>, String> {
    let mut lists: BTreeMap<NodeIndex, Vec<(u64, LinkIndex)>> = BTreeMap::new();
    for (number, row) in formats::csv::Reader::new(text.as_bytes()).enumerate() {
        let row = row.map_err(|error| error.to_string())?;
        let fields: Vec<&str> = row.iter().map(str::trim).collect();
        if fields.iter().all(|field| field.is_empty()) || number == 0 && fields.first() == Some(&"time") {
            continue;
        }
        let wrong = |what: &str| Err(format!("row {}: {what}", number + 1));
        let [time, node, link] = fields[..] else { return wrong("it is `time,node,link`") };
        let Some(at_ns) = nanoseconds(time) else { return wrong("its time is no number of seconds") };
        let Some(node) = names.iter().position(|name| *name == node).map(NodeIndex) else {
            return wrong(&format!("there is no node called `{node}`"));
        };
        let Some(place) = links.position(|other| other.name == link) else {
            return wrong(&format!("there is no link called `{link}`"));
        };
        if !links.get(place).is_some_and(|link| link.joins(node)) {
            return wrong(&format!("`{link}` is no link of that node"));
        }
        lists.entry(node).or_default().push((at_ns, place));
    }
    let mut wanted = Vec::new();
    for list in lists.values_mut() {
        list.sort_by_key(|(at_ns, _)| *at_ns);
        if let Some((at_ns, _)) = list.first_mut() {
            *at_ns = 0;
        }
        let all: BTreeSet<LinkIndex> = list.iter().map(|(_, link)| *link).collect();
        for (at_ns, has) in list.iter() {
            wanted.extend(all.iter().map(|link| (*at_ns, *link, link == has)));
        }
    }
    if wanted.is_empty() { Err("it has no handovers".to_owned()) } else { Ok(wanted) }
}

/// A place in metres.
type Point = (f64, f64);

/// Where a node is, from a time on in nanoseconds, and how fast it goes: metres in a nanosecond.
#[derive(Clone, Copy, Debug)]
struct Leg {
    from_ns: f64,
    place: Point,
    speed: Point,
}

impl Leg {
    fn at(&self, ns: f64) -> Point {
        let passed = ns - self.from_ns;
        (self.place.0 + self.speed.0 * passed, self.place.1 + self.speed.1 * passed)
    }
}

/// Movements as ns-2 reads them: `$node_(0) set X_ 10`, and `$ns_ at 2.0 "$node_(0) setdest 50 60 1.5"`. A
/// link is up while its nodes, if both have places, are within the range of each other.
fn movements(
    text: &str,
    given: &Mobility,
    names: &[&str],
    links: &Links,
    duration_ns: u64,
) -> Result<Vec<Requested>, String> {
    let Some(range) = given.range.filter(|range| range.is_finite() && *range > 0.0) else {
        return Err("how far do nodes hear each other? Write for example range = 100.0, in metres".to_owned());
    };
    let numbered = match given.nodes.as_slice() {
        [] => names.to_vec(),
        given => given.iter().map(String::as_str).collect(),
    };
    let ways = ways(text, numbered.len())?;
    let mut of_node = BTreeMap::new();
    for (way, name) in ways.iter().zip(&numbered) {
        let Some(node) = names.iter().position(|other| other == name) else {
            return Err(format!("mobility.nodes: there is no node called `{name}`"));
        };
        if !way.is_empty() {
            of_node.insert(NodeIndex(node), way);
        }
    }
    let mut wanted = Vec::new();
    for (place, link) in links.indexed() {
        let [one, other] = link.between[..] else { continue };
        if let (Some(one), Some(other)) = (of_node.get(&one), of_node.get(&other)) {
            let changes = meetings(one, other, range, duration_ns as f64);
            wanted.extend(changes.into_iter().map(|(at_ns, near)| (at_ns, place, near)));
        }
        if wanted.len() > MAX_CHANGES {
            return Err(format!("links would change more than {MAX_CHANGES} times"));
        }
    }
    if wanted.is_empty() { Err("no link joins two nodes that have places".to_owned()) } else { Ok(wanted) }
}

/// The ways of so many nodes.
fn ways(text: &str, count: usize) -> Result<Vec<Vec<Leg>>, String> {
    let mut starts: Vec<(Option<f64>, Option<f64>)> = vec![(None, None); count];
    let mut orders: Vec<Vec<(u64, Point, f64)>> = vec![Vec::new(); count];
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line.starts_with("$god_") || line.contains("$god_ ") {
            continue;
        }
        let wrong = |what: &str| format!("line {}: {what}", number + 1);
        let plain = line.replace(['"', '(', ')'], " ");
        let words: Vec<&str> = plain.split_whitespace().collect();
        let node = |word: Option<&&str>| {
            let place: Option<usize> = word.and_then(|word| word.parse().ok());
            place.filter(|place| *place < count).ok_or_else(|| wrong("there is no node of that number"))
        };
        let metres = |word: Option<&&str>| {
            let number: Option<f64> = word.and_then(|word| word.parse().ok());
            number.filter(|it| it.is_finite()).ok_or_else(|| wrong("there is no number"))
        };
        match words[..] {
            ["$node_", of, "set", axis, value] => {
                let start = starts.get_mut(node(Some(&of))?).ok_or_else(|| wrong("no node"))?;
                match axis {
                    "X_" => start.0 = Some(metres(Some(&value))?),
                    "Y_" => start.1 = Some(metres(Some(&value))?),
                    // It is flat here.
                    _ => {}
                }
            }
            ["$ns_", "at", time, "$node_", of, "setdest", x, y, speed] => {
                let at_ns = nanoseconds(time).ok_or_else(|| wrong("its time is no number of seconds"))?;
                let order = (at_ns, (metres(Some(&x))?, metres(Some(&y))?), metres(Some(&speed))?);
                orders.get_mut(node(Some(&of))?).ok_or_else(|| wrong("no node"))?.push(order);
            }
            _ => return Err(wrong("it is neither `set X_` or `set Y_` nor `setdest`")),
        }
    }
    Ok(starts.into_iter().zip(orders).map(|(start, orders)| legs(start, orders)).collect())
}

/// The way of one node; empty if it has no place.
fn legs(start: (Option<f64>, Option<f64>), mut orders: Vec<(u64, Point, f64)>) -> Vec<Leg> {
    let (Some(x), Some(y)) = start else { return Vec::new() };
    orders.sort_by_key(|(at_ns, ..)| *at_ns);
    let mut last = Leg { from_ns: 0.0, place: (x, y), speed: (0.0, 0.0) };
    let mut all = vec![last];
    for (place, (at_ns, to, speed)) in orders.iter().enumerate() {
        let from_ns = *at_ns as f64;
        // Until the next order, or until it is there.
        let here = last.at(from_ns);
        let distance = (to.0 - here.0).hypot(to.1 - here.1);
        if *speed <= 0.0 || distance == 0.0 {
            last = Leg { from_ns, place: here, speed: (0.0, 0.0) };
            all.push(last);
            continue;
        }
        let takes_ns = distance / speed * 1e9;
        last = Leg { from_ns, place: here, speed: ((to.0 - here.0) / takes_ns, (to.1 - here.1) / takes_ns) };
        all.push(last);
        let arrives = from_ns + takes_ns;
        if orders.get(place + 1).is_none_or(|(next, ..)| *next as f64 > arrives) {
            last = Leg { from_ns: arrives, place: *to, speed: (0.0, 0.0) };
            all.push(last);
        }
    }
    all
}

/// When two nodes come within the range of each other, and leave it: each time with which it is. The first is
/// how it is at the begin.
fn meetings(one: &[Leg], other: &[Leg], range: f64, until_ns: f64) -> Vec<(u64, bool)> {
    let mut times: Vec<f64> = one.iter().chain(other).map(|leg| leg.from_ns).chain([until_ns]).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let leg_at = |legs: &[Leg], ns: f64| legs.iter().rev().find(|leg| leg.from_ns <= ns).copied();
    let mut found: Vec<(u64, bool)> = Vec::new();
    let mut note = |ns: f64, near: bool| {
        if found.last().is_none_or(|(_, last)| *last != near) {
            found.push((ns.max(0.0).round() as u64, near));
        }
    };
    for pair in times.windows(2) {
        let &[from, until] = pair else { continue };
        let (Some(a), Some(b)) = (leg_at(one, from), leg_at(other, from)) else { continue };
        let (at_a, at_b) = (a.at(from), b.at(from));
        let (dx, dy) = (at_a.0 - at_b.0, at_a.1 - at_b.1);
        let (vx, vy) = (a.speed.0 - b.speed.0, a.speed.1 - b.speed.1);
        note(from, dx.hypot(dy) <= range);
        // |d + v t| = range
        let (square, half, rest) = (vx * vx + vy * vy, dx * vx + dy * vy, dx * dx + dy * dy - range * range);
        let inside = half * half - square * rest;
        if square == 0.0 || inside <= 0.0 {
            continue;
        }
        let root = inside.sqrt();
        let crossings = [((-half - root) / square, true), ((-half + root) / square, false)];
        for (after, near) in crossings.into_iter().filter(|(after, _)| *after > 0.0 && from + after < until) {
            note(from + after, near);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    const NETWORK: &str = "title = 't'\nduration = '20 s'\n[node]\ncar = {}\nleft = {}\nright = {}\n[link]\n\
        car-left = {}\ncar-right = {}\nleft-right = {}\n[ping.p]\nat = 'car'\nto = 'right'\nprefix = '/p'\n\
        [[route]]\nprefix = '/p'\npath = ['car', 'left', 'right']\n";

    fn moves(more: &str, file: &str) -> Result<Vec<String>, String> {
        let folder = testkit::folder::TestFolder::numbered("mobility");
        std::fs::write(folder.join("moves"), file).unwrap();
        let experiment = Experiment::parse_in(Some(&folder), "t", "t.toml", &format!("{NETWORK}{more}"))
            .map_err(|wrong| wrong.to_string())?;
        let plan = experiment.plans("sim").map_err(|wrong| format!("{wrong:?}"))?.remove(0);
        Ok(plan.events.iter().map(|event| event.words(&plan)).collect())
    }

    #[test]
    fn a_handover_takes_one_link_down_and_brings_the_other_up() {
        let list = "time,node,link\n3,car,car-left\n8.5,car,car-right\n";
        let moved = moves("[mobility]\nhandovers = 'moves'\n", list).unwrap();
        assert_eq!(
            moved,
            ["car-right goes down at 0 s", "car-left goes down at 8.5 s", "car-right comes back at 8.5 s"]
        );
        let wrong = |list: &str| moves("[mobility]\nhandovers = 'moves'\n", list).unwrap_err();
        assert!(wrong("1,car,left-right\n").contains("row 1: `left-right` is no link of that node"));
        assert!(wrong("1,bus,car-left\n").contains("there is no node called `bus`"));
        assert!(wrong("x,car,car-left\n").contains("no number of seconds"));
    }

    #[test]
    fn a_node_that_drives_past_two_others_has_a_link_where_it_hears_them() {
        // Ten metres a second along a street with masts at 0 and 100 m, which reach 60 m.
        let file = "$node_(0) set X_ -20\n$node_(0) set Y_ 0\n$node_(0) set Z_ 0\n$node_(1) set X_ 0\n\
            $node_(1) set Y_ 0\n$node_(2) set X_ 100\n$node_(2) set Y_ 0\n\
            $ns_ at 1.0 \"$node_(0) setdest 200 0 10\"\n$god_ set-dist 0 1 1\n";
        let moved = moves("[mobility]\nmovements = 'moves'\nrange = 60.0\n", file).unwrap();
        assert_eq!(
            moved,
            [
                "car-right goes down at 0 s",
                "left-right goes down at 0 s",
                "car-right comes back at 7 s",
                "car-left goes down at 9 s",
                "car-right goes down at 19 s"
            ]
        );
        let wrong = moves("[mobility]\nmovements = 'moves'\n", file).unwrap_err();
        assert!(wrong.contains("range = 100.0"), "{wrong}");
    }

    #[test]
    fn a_network_falls_apart_and_heals() {
        let more = "[[event]]\nat = '2 s'\naction = 'link-down'\nlink = 'car-left'\n[[event]]\nat = '4 s'\n\
            action = 'partition'\nnodes = ['left', 'car']\n[[event]]\nat = '6 s'\naction = 'heal'\n";
        let events = moves(more, "").unwrap();
        assert_eq!(
            events,
            [
                "car-left goes down at 2 s",
                "car-right goes down at 4 s",
                "left-right goes down at 4 s",
                "car-right comes back at 6 s",
                "left-right comes back at 6 s"
            ]
        );
        let wrong = moves(&more.replace("['left', 'car']", "['car', 'left', 'right']"), "").unwrap_err();
        assert!(wrong.contains("nobody is on the other side"), "{wrong}");
        assert!(moves(&more.replace("['left', 'car']", "['bus']"), "").unwrap_err().contains("`bus`"));
    }
}
