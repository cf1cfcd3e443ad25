//! tshark: reading what `cairn capture` writes, and the dissectors for it.

use super::{CairnNode, cairn, cairn_server};
use crate::dissectors::{CHECKS, Tshark};
use crate::interop::InteropContext;
use crate::interop::processes::eventually;

/// A ping through our node, captured at the faces of both applications, read by tshark frame by frame.
pub(super) fn reads_captures(context: &InteropContext, _: &'static str) -> Result<(), String> {
    let node = CairnNode::start(context)?;
    let _server = cairn_server(context, &node.address(), &["pingserver", "/captured"])?;
    eventually(|| cairn(context, &node.address(), &["ping", "/captured", "-c", "1", "-o", "1s"]))?;
    let socket = node.socket.with_extension("capture");
    let tshark = Tshark::new(&context.root)?;
    eventually(|| {
        let path = context.scratch.path("capture.pcapng");
        let (file, socket) = (path.to_string_lossy(), socket.to_string_lossy());
        let capture = ["capture", "-w", &file, "--prefix", "/captured", "--for", "2s", "--socket", &socket];
        let mut capture = cairn_server(context, &node.address(), &capture)?;
        cairn(context, &node.address(), &["ping", "/captured", "-c", "10", "-i", "100ms", "-n", "77"])?;
        capture.wait_for("bytes captured")?;
        check(&tshark.fields(&path, &["frame.interface_name", "eth.type", "ndn.name"], &[])?)
    })
}

/// Each ping is an Interest in and out, and Data in and out.
fn check(frames: &[Vec<Vec<String>>]) -> Result<(), String> {
    let is_whole = |number: u32| {
        let name = format!("/captured/ping/{number}");
        let shown = frames.iter().filter(|row| match row.as_slice() {
            // Versions of tshark pad the type differently.
            [face, kind, names] => {
                face.concat().starts_with("face ")
                    && kind.concat().ends_with("8624")
                    && names.first() == Some(&name)
            }
            _ => false,
        });
        shown.count() >= 4
    };
    let seen = (77..87).filter(|&number| is_whole(number)).count();
    if seen >= 5 { Ok(()) } else { Err(format!("only {seen} of ten pings were captured whole:\n{frames:?}")) }
}

/// What `cargo xtask dissectors` does.
pub(super) fn dissects(context: &InteropContext, _: &'static str) -> Result<(), String> {
    let tshark = Tshark::new(&context.root)?;
    CHECKS.iter().try_for_each(|check| (check.run)(&tshark).map(|_| ()))
}
