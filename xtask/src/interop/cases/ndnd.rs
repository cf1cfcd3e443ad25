//! ndnd: its forwarder and its tools.

use std::path::PathBuf;
use std::process::Command;

use super::{CairnNode, cairn, cairn_server, expect, same, sample};
use crate::interop::InteropContext;
use crate::interop::processes::{Background, eventually, free_port, output};

/// A forwarder of ndnd's.
struct NdndNode {
    process: Background,
    socket: PathBuf,
    port: u16,
}

impl NdndNode {
    fn start(context: &InteropContext) -> Result<Self, String> {
        let port = free_port()?;
        let socket = context.scratch.path("ndnd.sock");
        let config = format!(
            "core:\n  log_level: INFO\n\
             faces:\n  udp:\n    enabled_unicast: true\n    enabled_multicast: false\n    port_unicast: {port}\n\
             \x20 tcp:\n    enabled: true\n    port_unicast: {port}\n\
             \x20 unix:\n    enabled: true\n    socket_path: {}\n\
             \x20 websocket:\n    enabled: false\n\
             fw:\n  threads: 2\n",
            socket.display()
        );
        let config = context.scratch.file("ndnd.yml", config.as_bytes())?;
        let mut command = Command::new(&context.peers.ndnd);
        command.args(["fw", "run"]).arg(config);
        let process = Background::start(&mut command, &context.scratch, None)?;
        let node = NdndNode { process, socket, port };
        eventually(|| ndnd(context, &node.address(), &["fw", "status"]))
            .map_err(|error| format!("ndnd does not start: {error}\n{}", node.process.said()))?;
        Ok(node)
    }

    fn address(&self) -> String {
        format!("unix://{}", self.socket.display())
    }
}

fn ndnd_command(context: &InteropContext, address: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(&context.peers.ndnd);
    command.args(arguments).env("NDN_CLIENT_TRANSPORT", address);
    command
}

/// A tool of ndnd's that runs to its end; gives what it prints.
fn ndnd(context: &InteropContext, address: &str, arguments: &[&str]) -> Result<String, String> {
    let bytes = output(&mut ndnd_command(context, address, arguments), None)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The two forwarders, and a route from each to the other over `link`: ours under /theirs, theirs under
/// /ours.
fn neighbours(context: &InteropContext, link: &str) -> Result<(CairnNode, NdndNode), String> {
    let (ours, theirs) = (CairnNode::start(context)?, NdndNode::start(context)?);
    let there = format!("{link}4://127.0.0.1:{}", theirs.port);
    cairn(context, &ours.address(), &["route", "add", "/theirs", &there])?;
    let here = format!("face={link}4://127.0.0.1:{}", ours.port);
    ndnd(context, &theirs.address(), &["fw", "route-add", "prefix=/ours", &here])?;
    Ok((ours, theirs))
}

/// ndnd pings until three of three are answered.
fn ndnd_pings(context: &InteropContext, address: &str, prefix: &str) -> Result<(), String> {
    eventually(|| {
        let said = ndnd(context, address, &["ping", prefix, "-c", "3", "-i", "50", "-t", "1000"])?;
        expect(&said, &["3 interests transmitted, 3 received"])
    })
}

fn cairn_pings(context: &InteropContext, address: &str, prefix: &str) -> Result<(), String> {
    eventually(|| cairn(context, address, &["ping", prefix, "-c", "3", "-i", "50ms", "-o", "1s"])).map(drop)
}

pub(super) fn its_ping_our_server(context: &InteropContext, link: &'static str) -> Result<(), String> {
    let (ours, theirs) = neighbours(context, link)?;
    let _server = cairn_server(context, &ours.address(), &["pingserver", "/ours"])?;
    ndnd_pings(context, &theirs.address(), "/ours")
}

pub(super) fn our_ping_its_server(context: &InteropContext, link: &'static str) -> Result<(), String> {
    let (ours, theirs) = neighbours(context, link)?;
    let mut server = ndnd_command(context, &theirs.address(), &["pingserver", "/theirs"]);
    let _server = Background::start(&mut server, &context.scratch, None)?;
    cairn_pings(context, &ours.address(), "/theirs")
}

pub(super) fn our_get_its_put(context: &InteropContext, link: &'static str) -> Result<(), String> {
    let (ours, theirs) = neighbours(context, link)?;
    let (file, content) = sample(context)?;
    let mut put = ndnd_command(context, &theirs.address(), &["put", "/theirs/file"]);
    let _put = Background::start(&mut put, &context.scratch, Some(&file))?;
    get_until_same(context, &ours.address(), "/theirs/file", &content)
}

pub(super) fn its_cat_our_put(context: &InteropContext, link: &'static str) -> Result<(), String> {
    let (ours, theirs) = neighbours(context, link)?;
    let (file, content) = sample(context)?;
    let _put =
        cairn_server(context, &ours.address(), &["put", "/ours/file", "--file", &file.to_string_lossy()])?;
    cat_until_same(context, &theirs.address(), "/ours/file", &content)
}

fn get_until_same(context: &InteropContext, address: &str, name: &str, content: &[u8]) -> Result<(), String> {
    eventually(|| same(&output(&mut super::cairn_command(context, address, &["get", name]), None)?, content))
}

fn cat_until_same(context: &InteropContext, address: &str, name: &str, content: &[u8]) -> Result<(), String> {
    eventually(|| same(&output(&mut ndnd_command(context, address, &["cat", name]), None)?, content))
}

pub(super) fn its_pings_our_node(context: &InteropContext, _: &'static str) -> Result<(), String> {
    let node = CairnNode::start(context)?;
    let mut server = ndnd_command(context, &node.address(), &["pingserver", "/it"]);
    let _server = Background::start(&mut server, &context.scratch, None)?;
    ndnd_pings(context, &node.address(), "/it")
}

pub(super) fn its_put_and_cat_our_node(context: &InteropContext, _: &'static str) -> Result<(), String> {
    let node = CairnNode::start(context)?;
    let (file, content) = sample(context)?;
    let mut put = ndnd_command(context, &node.address(), &["put", "/it/file"]);
    let _put = Background::start(&mut put, &context.scratch, Some(&file))?;
    cat_until_same(context, &node.address(), "/it/file", &content)
}

pub(super) fn our_pings_its_node(context: &InteropContext, _: &'static str) -> Result<(), String> {
    let node = NdndNode::start(context)?;
    let _server = cairn_server(context, &node.address(), &["pingserver", "/we"])?;
    cairn_pings(context, &node.address(), "/we")
}

pub(super) fn our_put_and_get_its_node(context: &InteropContext, _: &'static str) -> Result<(), String> {
    let node = NdndNode::start(context)?;
    let (file, content) = sample(context)?;
    let _put =
        cairn_server(context, &node.address(), &["put", "/we/file", "--file", &file.to_string_lossy()])?;
    get_until_same(context, &node.address(), "/we/file", &content)
}

pub(super) fn its_tool_our_node(context: &InteropContext, _: &'static str) -> Result<(), String> {
    let node = CairnNode::start(context)?;
    let it = |arguments: &[&str]| ndnd(context, &node.address(), &[&["fw"], arguments].concat());
    expect(&it(&["status"])?, &["cairn"])?;
    expect(
        &it(&["face-create", "remote=udp4://127.0.0.1:9", "persistency=permanent"])?,
        &["udp4://127.0.0.1:9"],
    )?;
    expect(&it(&["face-list"])?, &["udp4://127.0.0.1:9", "permanent"])?;
    it(&["route-add", "prefix=/it", "face=udp4://127.0.0.1:9", "cost=7"])?;
    expect(&it(&["route-list"])?, &["/it", "cost=7", "static"])?;
    expect(&it(&["fib-list"])?, &["/it"])?;
    it(&["strategy-set", "prefix=/it", "strategy=/localhost/nfd/strategy/multicast"])?;
    expect(&it(&["strategy-list"])?, &["/it", "multicast/v=5"])?;
    it(&["strategy-unset", "prefix=/it"])?;
    expect(&it(&["cs-info"])?, &["capacity"])?;
    it(&["route-remove", "prefix=/it", "face=udp4://127.0.0.1:9"])?;
    it(&["face-destroy", "face=udp4://127.0.0.1:9"])?;
    let left = it(&["face-list"])?;
    if left.contains("127.0.0.1:9 ") { Err(format!("the face is still there:\n{left}")) } else { Ok(()) }
}

pub(super) fn our_tool_its_node(context: &InteropContext, _: &'static str) -> Result<(), String> {
    let node = NdndNode::start(context)?;
    let we = |arguments: &[&str]| cairn(context, &node.address(), arguments);
    expect(&we(&["status"])?, &["version"])?;
    expect(&we(&["face", "create", "udp://127.0.0.1:9"])?, &["created"])?;
    expect(&we(&["face", "create", "udp://127.0.0.1:9"])?, &["exists"])?;
    expect(&we(&["face", "list", "--scheme", "udp4"])?, &["udp4://127.0.0.1:9"])?;
    expect(&we(&["route", "add", "/we", "udp://127.0.0.1:9", "--cost", "7"])?, &["added"])?;
    expect(&we(&["route", "list"])?, &["/we", "7", "static"])?;
    expect(&we(&["strategy", "set", "/we", "multicast"])?, &["multicast/v=1"])?;
    expect(&we(&["strategy", "list"])?, &["/we", "multicast/v=1"])?;
    we(&["strategy", "unset", "/we"])?;
    expect(&we(&["cs", "info"])?, &["capacity"])?;
    we(&["route", "remove", "/we", "udp://127.0.0.1:9"])?;
    expect(&we(&["face", "destroy", "udp://127.0.0.1:9"])?, &["destroyed"])?;
    expect(&we(&["status", "--all", "--json"])?, &["\"strategies\"", "\"fib\""])
}
