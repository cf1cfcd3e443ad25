//! NDNts: applications in JavaScript, which also speak WebSocket.

use std::process::Command;

use super::{CairnNode, cairn, cairn_command, cairn_server, expect, same, sample};
use crate::interop::InteropContext;
use crate::interop::processes::{Background, eventually, output};

fn node(context: &InteropContext, script: &str, address: &str, name: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(context.peers.node.join(script)).args([address, name]);
    command
}

/// A producer in JavaScript; a consumer in JavaScript and one of ours.
pub(super) fn serves(context: &InteropContext, link: &'static str) -> Result<(), String> {
    // It takes every WebSocket for one to another host, and registers as a neighbour.
    let more = if link == "ws" { "[management]\nlocalhop = true\n" } else { "" };
    let ours = CairnNode::start_with(context, more)?;
    let address = ours.address_over(link);
    let mut producer =
        Background::start(&mut node(context, "producer.mjs", &address, "/node/app"), &context.scratch, None)?;
    producer.wait_for("ready")?;
    eventually(|| {
        let said = output(&mut node(context, "consumer.mjs", &address, "/node/app/1"), None)?;
        expect(&String::from_utf8_lossy(&said), &["from node"])
    })
    .map_err(|error| format!("{error}\nthe producer says:\n{}", producer.said()))?;
    expect(&cairn(context, &ours.address(), &["peek", "-p", "--fresh", "/node/app/2"])?, &["from node"])
}

/// Our producer, their consumer.
pub(super) fn asks(context: &InteropContext, link: &'static str) -> Result<(), String> {
    let ours = CairnNode::start(context)?;
    let content = context.scratch.file("content", b"from cairn")?;
    eventually(|| {
        let mut poke = cairn_command(context, &ours.address(), &["poke", "/cairn/app", "--freshness", "1s"]);
        let _poke = Background::start(&mut poke, &context.scratch, Some(&content))?;
        let said = output(&mut node(context, "consumer.mjs", &ours.address_over(link), "/cairn/app"), None)?;
        expect(&String::from_utf8_lossy(&said), &["from cairn"])
    })
}

/// A producer that announces its prefix.
pub(super) fn announces(context: &InteropContext, link: &'static str) -> Result<(), String> {
    let ours = CairnNode::start(context)?;
    let mut script = node(context, "announce.mjs", &ours.address_over(link), "/node/announced");
    let mut producer = Background::start(&mut script, &context.scratch, None)?;
    producer.wait_for("ready")?;
    eventually(|| {
        expect(
            &cairn(context, &ours.address(), &["peek", "-p", "--fresh", "/node/announced/1"])?,
            &["announced"],
        )
    })
    .map_err(|error| format!("{error}\nthe producer says:\n{}", producer.said()))?;
    expect(&cairn(context, &ours.address(), &["route", "list", "/node/announced"])?, &["prefixann"])
}

/// Their publication, our fetch.
pub(super) fn publishes(context: &InteropContext, link: &'static str) -> Result<(), String> {
    let ours = CairnNode::start(context)?;
    let (file, content) = sample(context)?;
    let mut script = node(context, "publish.mjs", &ours.address_over(link), "/node/object");
    let mut producer = Background::start(script.arg(&file), &context.scratch, None)?;
    producer.wait_for("ready")?;
    let address = ours.address();
    for how in ["metadata", "prefix"] {
        let get = ["get", "--quiet", "--discovery", how, "/node/object"];
        let found = eventually(|| output(&mut cairn_command(context, &address, &get), None))
            .map_err(|error| format!("{error}\nthe producer says:\n{}", producer.said()))?;
        same(&found, &content)?;
    }
    Ok(())
}

/// Our publication, their fetch.
pub(super) fn fetches(context: &InteropContext, link: &'static str) -> Result<(), String> {
    let ours = CairnNode::start(context)?;
    let (file, content) = sample(context)?;
    let file = file.to_string_lossy();
    let mut put = cairn_server(context, &ours.address(), &["put", "/cairn/object", "--file", &file])?;
    put.wait_for("published")?;
    let found = eventually(|| {
        output(&mut node(context, "fetch.mjs", &ours.address_over(link), "/cairn/object"), None)
    })?;
    same(&found, &content)
}
