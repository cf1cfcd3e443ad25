//! What a backend lacks: the keys that only others carry out, and why. A file that has them runs there, and
//! everywhere else it is refused with the reason.

use toml::{Table, Value};

use crate::experiment::backends::{HOSTS, VIRTUAL_TIME};
use crate::experiment::read::findings::Finding;

/// Keys of the file, and what those who want the same on real forwarders can do.
const OF_THE_FILE: &[(&str, &str)] = &[
    ("study", "a study is a sweep of simulated networks"),
    ("producer", "agents at real forwarders serve `content`"),
    ("consumer", "agents at real forwarders do `download`, `traffic`, `ping` and `flood`"),
    ("trace", "real forwarders are sampled by `sample_every` and captured by `probe`"),
    ("capture", "at real forwarders every node captures the link it watches, by `probe`"),
];

/// Keys of a link.
const OF_LINKS: &[(&str, &str)] = &[
    ("share", SHARED),
    ("queue_packets", "the kernel's token bucket counts bytes: say `queue`"),
    ("queue_bytes", "the kernel's queue has room for whole frames: say `queue`"),
    ("mark_above", "the kernel knows no congestion marks of NDNLPv2"),
    ("codel", "links keep their rate by a token bucket with a queue of its own"),
    ("rate_control", "real forwarders do not tell consumers their rates"),
    ("overhead", "real headers are as long as `kind` makes them"),
    ("duplicate", "only delay and loss are made on real links"),
    ("reorder", "only delay and loss are made on real links"),
    ("reorder_delay", "only delay and loss are made on real links"),
    ("jitter", "only delay and loss are made on real links"),
];

/// Why more than two nodes cannot share a link elsewhere.
const SHARED: &str = "the lab wires real nodes in pairs, and does not set up their multicast faces";

/// Keys of a node.
const OF_NODES: &[(&str, &str)] = &[
    ("capacity", "a `load` takes processor time away from a real forwarder"),
    ("tick", "clocks of real nodes are what they are"),
    ("clock_offset", "clocks of real nodes are what they are"),
    ("drift_ppm", "clocks of real nodes are what they are"),
    ("engine_clock", "clocks of real nodes are what they are"),
];

/// Everything in the content of a file that a backend lacks.
pub(in crate::experiment) fn on(backend: &str, content: &Table) -> Vec<Finding> {
    match backend {
        VIRTUAL_TIME => {
            let mut findings =
                programs(content, "a program runs as long as it takes, which is no virtual time");
            findings.extend(of_namespaces(content));
            findings
        }
        HOSTS => {
            let mut findings = real_forwarders(content);
            findings.extend(programs(content, "programs run in namespaces of this machine only, so far"));
            findings.extend(events(content));
            findings.extend(of_namespaces(content));
            findings
        }
        _ => real_forwarders(content),
    }
}

fn programs(content: &Table, why: &str) -> Vec<Finding> {
    let is_there = content.get("program").and_then(Value::as_table).is_some_and(|table| !table.is_empty());
    let finding = || Finding {
        key: "program".to_owned(),
        message: why.to_owned(),
        suggestion: Some("run it with --on netns".to_owned()),
        ..Finding::default()
    };
    is_there.then(finding).into_iter().collect()
}

/// Keys of nodes and downloads that need programs or IP of our own.
fn of_namespaces(content: &Table) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut look = |key: &str, table: &Table| {
        for word in ["server", "switch", "client"].iter().filter(|word| table.contains_key(**word)) {
            findings.push(Finding {
                key: format!("{key}.{word}"),
                message: "only in network namespaces: it is a program, or needs IP between the nodes"
                    .to_owned(),
                suggestion: Some("run it with --on netns".to_owned()),
                ..Finding::default()
            });
        }
    };
    each(content.get("node"), "node", &mut look);
    each(content.get("download"), "download", &mut look);
    at(content, &["defaults", "node"], &mut look);
    each(content.get("group"), "group", &mut |key, group| {
        if let Some(set) = group.get("set").and_then(Value::as_table) {
            look(&format!("{key}.set"), set);
        }
    });
    findings
}

fn events(content: &Table) -> Option<Finding> {
    let has_events = content.get("event").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    let key = if has_events { "event" } else { content.get("mobility").map(|_| "mobility")? };
    Some(Finding {
        key: key.to_owned(),
        message: "links and forwarders on machines of their own stay as they are until the end".to_owned(),
        suggestion: Some("run it with --on netns, or --on sim".to_owned()),
        ..Finding::default()
    })
}

fn real_forwarders(content: &Table) -> Vec<Finding> {
    let mut findings = Vec::new();
    note(content, "", OF_THE_FILE, &mut findings);
    let mut link = |key: &str, table: &Table| {
        if is_shared(content, table) {
            findings.push(only_in_virtual_time(format!("{key}.between"), SHARED));
        }
        note(table, key, OF_LINKS, &mut findings);
        // True it may be: that is what links are there.
        if table.get("token_bucket").is_some_and(|value| *value != Value::Boolean(true)) {
            findings.push(only_in_virtual_time(
                format!("{key}.token_bucket"),
                "every real link with a rate has one",
            ));
        }
    };
    each(content.get("link"), "link", &mut link);
    at(content, &["defaults", "link"], &mut link);
    let mut node = |key: &str, table: &Table| note(table, key, OF_NODES, &mut findings);
    each(content.get("node"), "node", &mut node);
    at(content, &["defaults", "node"], &mut node);
    each(content.get("group"), "group", &mut |key, group| {
        if let Some(set) = group.get("set").and_then(Value::as_table) {
            node(&format!("{key}.set"), set);
        }
    });
    findings
}

/// Does a link join more than two nodes? A group may have any number of them.
fn is_shared(content: &Table, link: &Table) -> bool {
    let groups = content.get("group").and_then(Value::as_table);
    let is_group =
        |name: &Value| name.as_str().is_some_and(|name| groups.is_some_and(|all| all.contains_key(name)));
    let ends = link.get("between").and_then(Value::as_array);
    ends.is_some_and(|ends| ends.len() > 2 || ends.iter().any(is_group))
}

fn note(table: &Table, path: &str, lacking: &[(&str, &str)], findings: &mut Vec<Finding>) {
    for (key, instead) in lacking.iter().filter(|(key, _)| table.contains_key(*key)) {
        let full = if path.is_empty() { (*key).to_owned() } else { format!("{path}.{key}") };
        findings.push(only_in_virtual_time(full, instead));
    }
}

fn only_in_virtual_time(key: String, instead: &str) -> Finding {
    Finding {
        key,
        message: format!("only in virtual time: {instead}"),
        suggestion: Some("run it with --on sim".to_owned()),
        ..Finding::default()
    }
}

/// Every table in a table of names.
fn each(value: Option<&Value>, path: &str, found: &mut dyn FnMut(&str, &Table)) {
    for (name, value) in value.and_then(Value::as_table).into_iter().flatten() {
        if let Some(table) = value.as_table() {
            found(&format!("{path}.{name}"), table);
        }
    }
}

/// The table at a path, if it is there.
fn at(content: &Table, path: &[&str; 2], found: &mut dyn FnMut(&str, &Table)) {
    let outer = content.get(path[0]).and_then(Value::as_table);
    if let Some(table) = outer.and_then(|outer| outer.get(path[1])).and_then(Value::as_table) {
        found(&path.join("."), table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_only_virtual_time_has_is_found_where_it_stands() {
        let text = "[defaults.link]\nqueue_packets = 5\n[link.a-b]\njitter = '1 ms'\nrate = '1 Mbps'\n\
                    [node.a]\ntick = '1 ms'\n[node.b.forwarder]\ncontent_store_bytes = '1 MB'\n\
                    [group.g.set]\ncapacity = []\n[consumer.c]\nkind = 'rate'\n[[event]]\nat = '1 s'\n";
        let content: Table = text.parse().unwrap_or_default();
        let keys = |backend| {
            let mut keys: Vec<String> =
                on(backend, &content).into_iter().map(|finding| finding.key).collect();
            keys.sort();
            keys
        };
        let expected = [
            "consumer",
            "defaults.link.queue_packets",
            "event",
            "group.g.set.capacity",
            "link.a-b.jitter",
            "node.a.tick",
        ];
        assert_eq!(keys("hosts"), expected);
        let in_namespaces: Vec<&str> = expected.into_iter().filter(|key| *key != "event").collect();
        assert_eq!(keys("netns"), in_namespaces);
        assert!(keys("sim").is_empty());
    }

    #[test]
    fn a_link_of_many_nodes_is_only_in_virtual_time_and_whoever_wants_another_is_told_why() {
        let text = "[link]\nlan = { between = ['a', 'g'], share = true }\nring = { between = ['a', 'b', 'c'] }\n\
                    a-b = { between = ['a', 'b'] }\n[group.g]\nnodes = ['b', 'c']\nset = {}\n";
        let content: Table = text.parse().unwrap_or_default();
        for backend in ["netns", "hosts"] {
            let findings = on(backend, &content);
            let mut keys: Vec<&str> = findings.iter().map(|finding| finding.key.as_str()).collect();
            keys.sort_unstable();
            assert_eq!(keys, ["link.lan.between", "link.lan.share", "link.ring.between"], "{backend}");
            assert!(findings.iter().all(|finding| finding.message.contains("multicast faces")));
        }
        assert!(on("sim", &content).is_empty());
    }

    #[test]
    fn real_links_have_a_token_bucket_and_cannot_do_without() {
        let findings = |value: &str| {
            let content: Table = format!("[link.a-b]\ntoken_bucket = {value}\n").parse().unwrap_or_default();
            on("netns", &content).len()
        };
        assert_eq!(findings("true"), 0);
        assert_eq!(findings("false"), 1);
    }
}
