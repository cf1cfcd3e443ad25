//! python-ndn: applications that register and serve.

use std::process::Command;

use super::{CairnNode, cairn, cairn_server, expect, same, sample};
use crate::interop::InteropContext;
use crate::interop::processes::{Background, eventually, output};

fn python(context: &InteropContext, script: &str, address: &str, name: &str) -> Command {
    let mut command = Command::new(&context.peers.python);
    command.arg(context.root.join("tests/interop/python").join(script)).arg(name);
    command.env("NDN_CLIENT_TRANSPORT", address).env("HOME", context.scratch.path("home"));
    command
}

pub(super) fn older_class(context: &InteropContext, link: &'static str) -> Result<(), String> {
    serves(context, link, "producer.py")
}

pub(super) fn newer_class(context: &InteropContext, link: &'static str) -> Result<(), String> {
    serves(context, link, "producer_v2.py")
}

/// A producer in Python; a consumer in Python and one of ours.
fn serves(context: &InteropContext, link: &'static str, script: &str) -> Result<(), String> {
    let node = CairnNode::start(context)?;
    let address = node.address_over(link);
    let mut producer = python(context, script, &address, "/python/app");
    let mut producer = Background::start(&mut producer, &context.scratch, None)?;
    producer.wait_for("ready")?;
    eventually(|| {
        let said = output(&mut python(context, "consumer.py", &address, "/python/app/1"), None)?;
        expect(&String::from_utf8_lossy(&said), &["from python"])
    })
    .map_err(|error| format!("{error}\nthe producer says:\n{}", producer.said()))?;
    expect(&cairn(context, &node.address(), &["peek", "-p", "--fresh", "/python/app/2"])?, &["from python"])
}

/// Our producer, their consumer.
pub(super) fn asks(context: &InteropContext, link: &'static str) -> Result<(), String> {
    let node = CairnNode::start(context)?;
    let content = context.scratch.file("content", b"from cairn")?;
    eventually(|| {
        let mut poke =
            super::cairn_command(context, &node.address(), &["poke", "/cairn/app", "--freshness", "1s"]);
        let _poke = Background::start(&mut poke, &context.scratch, Some(&content))?;
        let said = output(&mut python(context, "consumer.py", &node.address_over(link), "/cairn/app"), None)?;
        expect(&String::from_utf8_lossy(&said), &["from cairn"])
    })
}

/// Our publication, their fetch.
pub(super) fn fetches(context: &InteropContext, link: &'static str) -> Result<(), String> {
    let node = CairnNode::start(context)?;
    let (file, content) = sample(context)?;
    let file = file.to_string_lossy();
    let mut put = cairn_server(context, &node.address(), &["put", "/cairn/object", "--file", &file])?;
    put.wait_for("published")?;
    let found = eventually(|| {
        output(&mut python(context, "fetch.py", &node.address_over(link), "/cairn/object"), None)
    })?;
    same(&found, &content)
}
