//! python-ndn: applications that register and serve.

use std::process::Command;

use super::{CairnNode, cairn, cairn_server, expect, same, sample};
use crate::interop::Shop;
use crate::interop::processes::{Background, eventually, output};

fn python(shop: &Shop, script: &str, address: &str, name: &str) -> Command {
    let mut command = Command::new(&shop.peers.python);
    command.arg(shop.root.join("tests/interop/python").join(script)).arg(name);
    command.env("NDN_CLIENT_TRANSPORT", address).env("HOME", shop.scratch.path("home"));
    command
}

pub(super) fn older_class(shop: &Shop, link: &'static str) -> Result<(), String> {
    serves(shop, link, "producer.py")
}

pub(super) fn newer_class(shop: &Shop, link: &'static str) -> Result<(), String> {
    serves(shop, link, "producer_v2.py")
}

/// A producer in Python; a consumer in Python and one of ours.
fn serves(shop: &Shop, link: &'static str, script: &str) -> Result<(), String> {
    let node = CairnNode::start(shop)?;
    let address = node.address_over(link);
    let mut producer = python(shop, script, &address, "/python/app");
    let mut producer = Background::start(&mut producer, &shop.scratch, None)?;
    producer.wait_for("ready")?;
    eventually(|| {
        let said = output(&mut python(shop, "consumer.py", &address, "/python/app/1"), None)?;
        expect(&String::from_utf8_lossy(&said), &["from python"])
    })
    .map_err(|error| format!("{error}\nthe producer says:\n{}", producer.said()))?;
    expect(&cairn(shop, &node.address(), &["peek", "-p", "--fresh", "/python/app/2"])?, &["from python"])
}

/// Our producer, their consumer.
pub(super) fn asks(shop: &Shop, link: &'static str) -> Result<(), String> {
    let node = CairnNode::start(shop)?;
    let content = shop.scratch.file("content", b"from cairn")?;
    eventually(|| {
        let mut poke =
            super::cairn_command(shop, &node.address(), &["poke", "/cairn/app", "--freshness", "1s"]);
        let _poke = Background::start(&mut poke, &shop.scratch, Some(&content))?;
        let said = output(&mut python(shop, "consumer.py", &node.address_over(link), "/cairn/app"), None)?;
        expect(&String::from_utf8_lossy(&said), &["from cairn"])
    })
}

/// Our publication, their fetch.
pub(super) fn fetches(shop: &Shop, link: &'static str) -> Result<(), String> {
    let node = CairnNode::start(shop)?;
    let (file, content) = sample(shop)?;
    let file = file.to_string_lossy();
    let mut put = cairn_server(shop, &node.address(), &["put", "/cairn/object", "--file", &file])?;
    put.wait_for("published")?;
    let found = eventually(|| {
        output(&mut python(shop, "fetch.py", &node.address_over(link), "/cairn/object"), None)
    })?;
    same(&found, &content)
}
