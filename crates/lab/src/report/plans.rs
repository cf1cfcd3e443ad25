//! In what two plans differ, key by key.

use std::collections::BTreeSet;

use packet::units::{FREQUENCY, Quantity, RATE, SHARE, SIZE, SPAN};
use serde_json::Value;

use crate::experiment::Plan;

/// Keys of a plan whose numbers are places of nodes in it, and those of links.
const OF_NODES: &[&str] = &["at", "to", "from", "node", "nodes", "behind", "upstream", "between", "others"];
const OF_LINKS: &[&str] = &["link", "watch"];

/// The links of a plan.
const LINKS: &str = "links";

/// What is of the report, and not of what was done: keys of the plan, and keys of its parts.
const NOT_DONE: &[&str] = &["title", "case", "control", "scaling"];
const NOT_DONE_IN_PARTS: &[(&str, &str)] =
    &[("evaluation", "expectations"), ("evaluation", "elsewhere"), ("routing", "routes")];

/// Keys of a link that say how it is called and where it is, and not what it does.
const PLACES_OF_LINKS: &[&str] = &["name", "between", "others"];

/// How keys end whose numbers have a unit, and which.
const UNITS: [(&str, Quantity); 3] = [("_ns", SPAN), ("_bps", RATE), ("_bytes", SIZE)];

/// Keys whose numbers are parts of a whole.
const SHARES: &[&str] = &[
    "loss",
    "cpu",
    "duplicate",
    "reorder",
    "capture_drops",
    "invalid_samples",
    "unfinished",
    "steal",
    "waited",
];

/// The key whose number is one a second.
const A_SECOND: &str = "per_second";

/// A key without the unit of its numbers, and the quantity that they are, with which files write them.
fn in_files(path: &str) -> (&str, Option<Quantity>) {
    let with_unit = |(end, quantity): &(&str, Quantity)| Some((path.strip_suffix(end)?, Some(*quantity)));
    let last = path.rsplit('.').next().unwrap_or(path);
    UNITS.iter().find_map(with_unit).unwrap_or_else(|| match last {
        A_SECOND => (path, Some(FREQUENCY)),
        share if SHARES.contains(&share) => (path, Some(SHARE)),
        _ => (path, None),
    })
}

/// A value as files have it.
fn written(value: &Value, quantity: Option<Quantity>) -> String {
    match (value, quantity.zip(value.as_f64())) {
        (Value::Null, _) => "not set".to_owned(),
        (value, _) if value.as_u64() == Some(u64::MAX) => "no limit".to_owned(),
        (_, Some((quantity, number))) if number >= 0.0 => quantity.show_exact(number),
        (value, _) => value.to_string(),
    }
}

/// A key that two plans have otherwise.
struct Difference {
    words: String,
    /// Is it of names and places alone? Where nodes have other names there are many of those.
    is_of_names: bool,
}

/// Each key that two plans have otherwise, with both values: first what happens otherwise, such as the loss
/// of a link, then what is called otherwise.
pub(super) fn differences(a: &Plan, b: &Plan) -> Vec<String> {
    let mut found = Vec::new();
    let value = |plan: &Plan| {
        let mut value = serde_json::to_value(plan).unwrap_or_default();
        if let Some(map) = value.as_object_mut() {
            NOT_DONE.iter().for_each(|key| drop(map.remove(*key)));
            for (part, key) in NOT_DONE_IN_PARTS {
                map.get_mut(*part).and_then(Value::as_object_mut).and_then(|part| part.remove(*key));
            }
        }
        let names = |list: &Value| -> Vec<Value> {
            list.as_array().into_iter().flatten().map(|one| one["name"].clone()).collect()
        };
        let (nodes, links) = (names(&value["nodes"]), names(&value["links"]));
        with_names(&mut value, &nodes, &links);
        value
    };
    walk("", &value(a), &value(b), &mut found);
    found.sort_by_key(|difference| difference.is_of_names);
    found.into_iter().map(|difference| difference.words).collect()
}

/// Puts names of nodes and links in place of their numbers, which say nothing to anybody, and are others in
/// another plan.
fn with_names(value: &mut Value, nodes: &[Value], links: &[Value]) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let names = match key.as_str() {
                    key if OF_NODES.contains(&key) => nodes,
                    key if OF_LINKS.contains(&key) => links,
                    _ => &[],
                };
                let name = |value: &mut Value| {
                    let place = value.as_u64().and_then(|place| usize::try_from(place).ok());
                    if let Some(name) = place.and_then(|place| names.get(place)) {
                        *value = name.clone();
                    }
                };
                if let Value::Array(list) = value {
                    list.iter_mut().for_each(name);
                } else {
                    name(value);
                }
                with_names(value, nodes, links);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| with_names(value, nodes, links)),
        _ => {}
    }
}

/// The entries of a list by their names; nothing where not each has one of its own.
fn named(list: &[Value]) -> Option<Vec<(&str, &Value)>> {
    let all: Option<Vec<(&str, &Value)>> =
        list.iter().map(|one| Some((one.get("name").and_then(Value::as_str)?, one))).collect();
    all.filter(|all| all.iter().map(|(name, _)| name).collect::<BTreeSet<_>>().len() == all.len())
}

/// Entries with the same name are held against each other; those that only one has are named.
fn walk_named(path: &str, a: &[(&str, &Value)], b: &[(&str, &Value)], found: &mut Vec<Difference>) {
    let of = |list: &[(&str, &Value)], name: &str| {
        list.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).clone())
    };
    let alone = |one: &[(&str, &Value)], other: &[(&str, &Value)]| -> Vec<(String, Value)> {
        let alone = one.iter().filter(|(name, _)| of(other, name).is_none());
        alone.map(|(name, value)| ((*name).to_owned(), (*value).clone())).collect()
    };
    let (only_a, only_b) = (alone(a, b), alone(b, a));
    for (side, only) in [("A", &only_a), ("B", &only_b)] {
        let names: Vec<&str> = only.iter().map(|(name, _)| name.as_str()).collect();
        if !names.is_empty() {
            let words = format!("{path}: only in {side}: {}", names.join(", "));
            found.push(Difference { words, is_of_names: only_a.len() == only_b.len() });
        }
    }
    if path == LINKS {
        walk_other_links(only_a, only_b, found);
    }
    for (name, left) in a {
        if let Some(right) = of(b, name) {
            walk(&format!("{path}.{name}"), left, &right, found);
        }
    }
}

/// Links that have other names on both sides: those between the same nodes are held against each other, and
/// the others in their order where there are as many, as where nodes have other names, too.
fn walk_other_links(a: Vec<(String, Value)>, mut b: Vec<(String, Value)>, found: &mut Vec<Difference>) {
    let ends = |link: &Value| -> BTreeSet<String> {
        let list = |key: &str| link.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        list("between").iter().chain(&list("others")).map(Value::to_string).collect()
    };
    let mut pairs = Vec::new();
    let mut left = Vec::new();
    for (name, link) in a {
        match b.iter().position(|(_, other)| ends(other) == ends(&link)) {
            Some(place) => pairs.push(((name, link), b.remove(place))),
            None => left.push((name, link)),
        }
    }
    if left.len() == b.len() {
        pairs.extend(left.into_iter().zip(b));
    }
    let bare = |mut link: Value| {
        PLACES_OF_LINKS.iter().for_each(|key| drop(link.as_object_mut().and_then(|link| link.remove(*key))));
        link
    };
    for ((name, one), (other_name, other)) in pairs {
        walk(&format!("{LINKS}.{name} / {other_name}"), &bare(one), &bare(other), found);
    }
}

fn walk(path: &str, a: &Value, b: &Value, found: &mut Vec<Difference>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        _ if a == b => {}
        (Value::Object(left), Value::Object(right)) => {
            let mut keys: Vec<&String> = left.keys().chain(right.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or_default();
                walk(&below(key), &of(left), &of(right), found);
            }
        }
        (Value::Array(left), Value::Array(right)) => match named(left).zip(named(right)) {
            Some((left, right)) => walk_named(path, &left, &right, found),
            None if left.len() == right.len() => {
                for (place, (one, other)) in left.iter().zip(right).enumerate() {
                    walk(&below(&place.to_string()), one, other, found);
                }
            }
            None => {
                let words = format!("{path}: {} entries / {}", left.len(), right.len());
                found.push(Difference { words, is_of_names: false });
            }
        },
        _ => {
            let last = path.rsplit('.').find(|key| key.parse::<usize>().is_err()).unwrap_or(path);
            let is_of_names = OF_NODES.contains(&last) || OF_LINKS.contains(&last);
            let (key, quantity) = in_files(path);
            let words = format!("{key}: {} / {}", written(a, quantity), written(b, quantity));
            found.push(Difference { words, is_of_names });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    #[test]
    fn plans_differ_in_what_is_done_and_not_in_what_is_expected() {
        let plan = |head: &str, rest: &str| {
            let text = format!("title = 't'\n{head}\n{}{rest}", testkit::experiment::ROW);
            Experiment::parse("t", "t.toml", &text).unwrap().plans("netns").unwrap().remove(0)
        };
        let one = plan("duration = '9 s'", "");
        let expect = "[[expect]]\nsay = 'S'\nvalue = 'files.duration'\nat_most = 4\n";
        assert_eq!(differences(&one, &plan("duration = '9 s'", expect)), [""; 0]);
        let other = plan("duration = '8 s'\nrepeats = 2", "rate = '3/s'\n");
        let found = differences(&one, &other);
        assert!(found.contains(&"schedule.repeats: 1 / 2".to_owned()), "{found:?}");
        assert!(
            found.contains(&"workloads.files.does.Download.per_second: not set / 3/s".to_owned()),
            "{found:?}"
        );
        assert!(found.contains(&"schedule.duration: 9 s / 8 s".to_owned()), "{found:?}");
    }

    #[test]
    fn values_are_told_with_their_units_as_files_have_them() {
        let plan = |link: &str, node: &str| {
            let head = format!("title = 't'\nduration = '9 s'\n[defaults]\nlink = {link}\nnode = {node}\n");
            let text = format!("{head}{}", testkit::experiment::ROW);
            Experiment::parse("t", "t.toml", &text).unwrap().plans("netns").unwrap().remove(0)
        };
        let one = plan("{ rate = '12 Mbit/s', delay = '2 ms', loss = '1 %' }", "{}");
        let other = plan("{ rate = '50 Mbit/s', delay = '1500 us' }", "{ cpu = '25 %', memory = '64 MB' }");
        let found = differences(&one, &other);
        for wanted in [
            "links.a-b.rate: 12 Mbit/s / 50 Mbit/s",
            "links.a-b.delay: 2 ms / 1.5 ms",
            "links.a-b.loss: 1 % / 0 %",
            "nodes.b.cpu: not set / 25 %",
            "nodes.b.memory: not set / 64 MB",
        ] {
            assert!(found.contains(&wanted.to_owned()), "{wanted}: {found:?}");
        }
    }

    #[test]
    fn nodes_are_held_against_those_of_the_same_name_and_places_are_told_by_name() {
        let plan = |text: &str| {
            let text = format!("title = 't'\nduration = '9 s'\n{text}");
            Experiment::parse("t", "t.toml", &text).unwrap().plans("netns").unwrap().remove(0)
        };
        let one = plan(testkit::experiment::ROW);
        let renamed = testkit::experiment::ROW.replace("c = {}", "z = {}").replace("b-c", "b-z");
        let renamed = renamed.replace("\"c\"", "\"z\"");
        let found = differences(&one, &plan(&renamed));
        assert!(found.contains(&"nodes: only in A: c".to_owned()), "{found:?}");
        assert!(found.contains(&"nodes: only in B: z".to_owned()), "{found:?}");
        assert!(found.contains(&"contents.files.at: \"c\" / \"z\"".to_owned()), "{found:?}");
        // Links of other names are held against each other, and what they do stands before all names.
        for lossy in [
            renamed.clone(),
            testkit::experiment::ROW.replace("b-c = {}", "x = { between = [\"b\", \"c\"] }"),
        ] {
            let lossy = lossy.replace("b-z = {}", "b-z = { loss = '1 %' }");
            let lossy = lossy.replace("x = { between", "x = { loss = '1 %', between");
            let found = differences(&one, &plan(&lossy));
            let first = found.first().unwrap();
            assert!(first.starts_with("links.b-c / ") && first.ends_with(".loss: 0 % / 1 %"), "{found:?}");
        }
        // A node before all others gives each of them another number, and does nothing else to them.
        let more = testkit::experiment::ROW.replace("[node]\n", "[node]\n_first = {}\n");
        let more = more.replace("[link]\n", "[link]\n_first-a = {}\n").replace("_first", "a0");
        let found = differences(&one, &plan(&more));
        assert!(found.contains(&"nodes: only in B: a0".to_owned()), "{found:?}");
        assert!(!found.iter().any(|line| line.contains(".at: ") || line.contains(".between.")), "{found:?}");
    }
}
