//! ndnd as one of the forwarders that are measured.

use std::io;
use std::path::Path;
use std::process::Command;

use lab::driver::NdndConfig;

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
        let config = NdndConfig {
            log_level: "ERROR",
            udp,
            multicast: Some(free_udp_port()?),
            tcp,
            socket: self.socket,
            threads,
            content_store: None,
        };
        std::fs::write(file, config.to_string())?;
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
