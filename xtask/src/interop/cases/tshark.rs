//! tshark: reading what `cairn capture` writes.

use std::process::Command;

use super::{CairnNode, cairn, cairn_server, expect};
use crate::interop::InteropContext;
use crate::interop::processes::{eventually, output};

/// A ping through our node, captured at the faces of both applications, read by tshark frame by frame.
pub(super) fn reads_captures(context: &InteropContext, _: &'static str) -> Result<(), String> {
    let node = CairnNode::start(context)?;
    let _server = cairn_server(context, &node.address(), &["pingserver", "/captured"])?;
    eventually(|| cairn(context, &node.address(), &["ping", "/captured", "-c", "1", "-o", "1s"]))?;
    let socket = node.socket.with_extension("capture");
    eventually(|| {
        let file = context.scratch.path("capture.pcapng");
        let (file, socket) = (file.to_string_lossy(), socket.to_string_lossy());
        let capture =
            ["capture", "-w", &file, "--prefix", "/captured", "--seconds", "2", "--socket", &socket];
        let mut capture = cairn_server(context, &node.address(), &capture)?;
        cairn(context, &node.address(), &["ping", "/captured", "-c", "10", "-i", "100ms", "-n", "77"])?;
        capture.wait_for("bytes captured")?;
        let fields = ["-T", "fields", "-e", "frame.interface_name", "-e", "eth.type", "-e", "data.data"];
        let mut tshark = Command::new("tshark");
        let frames = output(tshark.args(["-n", "-r", &file]).args(fields), None)?;
        check(&String::from_utf8_lossy(&frames))
    })
}

/// Each ping is an Interest in and out, and Data in and out.
fn check(frames: &str) -> Result<(), String> {
    let name = |number: u32| {
        let component = number.to_string();
        // /captured/ping/<number>, as it is on the wire.
        let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
        format!("0808{}0804{}08{:02x}{}", hex("captured"), hex("ping"), component.len(), hex(&component))
    };
    // Versions of tshark pad the type differently.
    expect(frames, &["face ", "8624"])?;
    let seen = (77..87).filter(|&number| frames.matches(&name(number)).count() >= 4).count();
    if seen >= 5 { Ok(()) } else { Err(format!("only {seen} of ten pings were captured whole:\n{frames}")) }
}
