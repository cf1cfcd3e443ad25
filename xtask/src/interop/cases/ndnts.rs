//! NDNts: applications in JavaScript, which also speak WebSocket.

use std::process::Command;

use super::{CairnNode, cairn, expect};
use crate::interop::Shop;
use crate::interop::processes::{Background, eventually, output};

fn node(shop: &Shop, script: &str, address: &str, name: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(shop.peers.node.join(script)).args([address, name]);
    command
}

/// A producer in JavaScript; a consumer in JavaScript and one of ours.
pub(super) fn serves(shop: &Shop, link: &'static str) -> Result<(), String> {
    // It takes every WebSocket for one to another host, and registers as a neighbour.
    let more = if link == "ws" { "[management]\nlocalhop = true\n" } else { "" };
    let ours = CairnNode::start_with(shop, more)?;
    let address = ours.address_over(link);
    let mut producer =
        Background::start(&mut node(shop, "producer.mjs", &address, "/node/app"), &shop.scratch, None)?;
    producer.wait_for("ready")?;
    eventually(|| {
        let said = output(&mut node(shop, "consumer.mjs", &address, "/node/app/1"), None)?;
        expect(&String::from_utf8_lossy(&said), &["from node"])
    })
    .map_err(|error| format!("{error}\nthe producer says:\n{}", producer.said()))?;
    expect(&cairn(shop, &ours.address(), &["peek", "-p", "--fresh", "/node/app/2"])?, &["from node"])
}

/// Our producer, their consumer.
pub(super) fn asks(shop: &Shop, link: &'static str) -> Result<(), String> {
    let ours = CairnNode::start(shop)?;
    let content = shop.scratch.file("content", b"from cairn")?;
    eventually(|| {
        let mut poke =
            super::cairn_command(shop, &ours.address(), &["poke", "/cairn/app", "--freshness", "1s"]);
        let _poke = Background::start(&mut poke, &shop.scratch, Some(&content))?;
        let said = output(&mut node(shop, "consumer.mjs", &ours.address_over(link), "/cairn/app"), None)?;
        expect(&String::from_utf8_lossy(&said), &["from cairn"])
    })
}
