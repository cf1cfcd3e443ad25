//! Objects of different sizes: both backends make the same ones, and hit rates count them by number and by
//! bytes.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

mod common;

use std::fs;
use std::path::PathBuf;

use cairn_lab::report::RunData;

/// Two passes over four objects of 1, 2, 3 and 994 kB by way of a node with a cache.
fn two_passes(store: &str) -> String {
    let row = testkit::experiment::ROW
        .replace(
            "count = 3\nsize = \"100 kB\"",
            "segment = '1 kB'\nsizes = { list = ['1 kB', '2 kB', '3 kB', '994 kB'] }",
        )
        .replace("\nb = {}", &format!("\nb = {{ forwarder = {{ eviction = 'lru', {store} }} }}"));
    let none = "forwarder = { content_store = 0 }";
    let row = row
        .replace("\na = {}", &format!("\na = {{ {none} }}"))
        .replace("\nc = {}", &format!("\nc = {{ {none} }}"));
    format!("title = 't'\nduration = '20 s'\nuntil_done = true\n{row}count = 8\n")
}

fn run(name: &str, text: &str) -> RunData {
    let place = std::env::temp_dir().join(format!("cairn-sizes-{name}-{}", std::process::id()));
    fs::create_dir_all(&place).unwrap();
    let folder = common::run_in_virtual_time(name, text, &place);
    let run = RunData::read(&folder).unwrap();
    let _ = fs::remove_dir_all::<PathBuf>(place);
    run
}

fn hits(name: &str, store: &str) -> [f64; 5] {
    let run = run(name, &two_passes(store));
    ["served", "served_bytes", "served_objects", "object_hits", "byte_hits"]
        .map(|word| run.cases[0].values(&format!("files.{word}"), "mean")[0])
}

#[test]
fn hit_rates_by_objects_and_by_bytes_say_what_the_producer_did_not_send() {
    assert_eq!(hits("none", "content_store = 0"), [2000.0, 2e6, 8.0, 0.0, 0.0]);
    assert_eq!(hits("all", "content_store = 5000"), [1000.0, 1e6, 4.0, 50.0, 50.0]);
    // The last object drives all others out, and its own beginning.
    let [.., objects, bytes] = hits("some", "content_store = 997");
    assert!(objects < 50.0 && bytes < 50.0, "{objects} {bytes}");
}
