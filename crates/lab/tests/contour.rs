//! Where a conclusion holds over two swept keys is drawn and written down.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

mod common;

use std::fs;

use cairn_lab::report::write_report;
use testkit::folder::TestFolder;

/// Downloads by way of a cache of some size, from a producer some way away: whether the time of a download
/// stays below a bound is decided by both.
const TWO_KEYS: &str = r#"
title = "two keys"
duration = "9 s"
repeats = 3
until_done = true
routes = "shortest"
[node]
a = { forwarder = { content_store = 0 } }
b = { forwarder = { eviction = "lru" } }
c = { forwarder = { content_store = 0 } }
[link]
a-b = { delay = "1 ms" }
b-c = {}
[content.x]
prefix = "/x"
at = "c"
count = 10
size = "1 kB"
[download.x]
at = "a"
content = "x"
count = 20
[[sweep]]
key = "link.b-c.delay"
values = ["30 ms", "2 ms", "10 ms"]
[[sweep]]
key = "node.b.forwarder.content_store"
values = [100, 0]
label = "cache"
[[expect]]
say = "A download takes less than 18 ms"
value = "x.duration.mean"
less_than = 0.018
"#;

#[test]
fn the_boundary_lies_between_the_cases_that_hold_and_those_that_do_not() {
    let place = TestFolder::new("contour");
    let folder = common::run_in_virtual_time("two-keys", TWO_KEYS, &place);
    write_report(&folder).unwrap();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let table = read("figures/contour-01.csv");
    let outcome: Vec<(&str, &str, &str)> = table
        .lines()
        .skip(1)
        .map(|line| {
            let mut fields = line.split(',');
            let mut next = || fields.next().unwrap();
            (next(), next(), next())
        })
        .collect();
    // Without a cache each takes 2 ms and twice the delay; with one every second is answered by it.
    let expected = [
        ("2 ms", "0", "holds"),
        ("2 ms", "100", "holds"),
        ("10 ms", "0", "fails"),
        ("10 ms", "100", "holds"),
        ("30 ms", "0", "fails"),
        ("30 ms", "100", "fails"),
    ];
    assert_eq!(outcome, expected, "{table}");
    let html = read("report.html");
    assert!(html.contains("Where it holds") && html.contains("in 3 of 6 pairs of values"));
}
