//! ndnd as one of the forwarders that are measured.

use std::io;
use std::path::Path;
use std::process::Command;

use super::ports::free_udp_port;

/// Its program, and the socket of one of its forwarders.
pub(super) struct Ndnd<'a> {
    pub(super) program: &'a Path,
    pub(super) socket: &'a Path,
}

impl Ndnd<'_> {
    /// A forwarder on these ports, with its configuration in `file`; with so many forwarding threads, or as
    /// many as it likes.
    pub(super) fn forwarder(
        &self,
        file: &Path,
        udp: u16,
        tcp: u16,
        threads: Option<usize>,
    ) -> io::Result<Command> {
        let threads = threads.map(|threads| format!("fw:\n  threads: {threads}\n")).unwrap_or_default();
        let text = format!(
            "core:\n  log_level: ERROR\nfaces:\n  udp:\n    port_unicast: {udp}\n    port_multicast: {}\n  tcp:\n    enabled: true\n    \
             port_unicast: {tcp}\n  unix:\n    enabled: true\n    socket_path: {}\n  websocket:\n    enabled: false\n{threads}",
            free_udp_port()?,
            self.socket.display()
        );
        std::fs::write(file, text)?;
        let mut command = Command::new(self.program);
        command.args(["fw", "run"]).arg(file);
        Ok(command)
    }

    /// A tool that talks to the forwarder.
    pub(super) fn tool(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        command.args(arguments).env("NDN_CLIENT_TRANSPORT", format!("unix://{}", self.socket.display()));
        command
    }

    /// Has the forwarder send Interests under `prefix` to a face it makes.
    pub(super) fn add_route(&self, prefix: &str, remote: &str) -> io::Result<()> {
        let (prefix, face) = (format!("prefix={prefix}"), format!("face={remote}"));
        let added = self.tool(&["fw", "route-add", &prefix, &face]).output()?;
        if !added.status.success() {
            let said = String::from_utf8_lossy(&added.stderr).into_owned();
            return Err(io::Error::other(format!("ndnd did not take the route: {said}")));
        }
        Ok(())
    }
}
