//! The forwarder of the ndnd project: faces, routes and strategies through the management protocol.

use std::fmt;
use std::path::{Path, PathBuf};

use packet::ndn::PORT;

use super::{Driver, DriverError, Launch, Manager, Setup, connect, version_of};

/// Starts `ndnd fw run`.
#[derive(Debug)]
pub struct Ndnd {
    program: PathBuf,
}

impl Ndnd {
    /// With this program.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Ndnd { program }
    }

    fn unable(what: &str, instead: &str) -> DriverError {
        DriverError::Unable { software: "ndnd", what: what.to_owned(), instead: instead.to_owned() }
    }
}

/// What its configuration file says; it is displayed as that file.
#[derive(Debug, Clone, Copy)]
pub struct NdndConfig<'a> {
    /// How much it logs, such as `WARN`.
    pub log_level: &'a str,
    /// Its port for datagrams.
    pub udp: u16,
    /// Its port for multicast; without one it has none.
    pub multicast: Option<u16>,
    /// Its port for connections.
    pub tcp: u16,
    /// Its socket for applications.
    pub socket: &'a Path,
    /// How many forwarding threads it has; `None` is as many as it likes.
    pub threads: Option<usize>,
    /// How many packets its content store keeps; `None` is its default.
    pub content_store: Option<u32>,
}

impl fmt::Display for NdndConfig<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NdndConfig { log_level, udp, tcp, .. } = self;
        let socket = self.socket.display();
        write!(f, "core:\n  log_level: {log_level}\nfaces:\n  udp:\n    enabled_unicast: true\n    ")?;
        match self.multicast {
            Some(port) => write!(f, "port_multicast: {port}")?,
            None => write!(f, "enabled_multicast: false")?,
        }
        write!(
            f,
            "\n    port_unicast: {udp}\n  tcp:\n    enabled: true\n    port_unicast: {tcp}\n  unix:\n    \
             enabled: true\n    socket_path: {socket}\n  websocket:\n    enabled: false\n"
        )?;
        if let Some(threads) = self.threads {
            write!(f, "fw:\n  threads: {threads}\n")?;
        }
        if let Some(capacity) = self.content_store {
            let on = capacity > 0;
            write!(
                f,
                "tables:\n  content_store:\n    capacity: {capacity}\n    admit: {on}\n    serve: {on}\n"
            )?;
        }
        Ok(())
    }
}

fn configuration(setup: &Setup<'_>) -> String {
    let store = setup.plan.nodes.get(setup.node).and_then(|node| node.forwarder.content_store);
    let config = NdndConfig {
        log_level: "WARN",
        udp: PORT,
        multicast: None,
        tcp: PORT,
        socket: setup.socket,
        threads: Some(1),
        content_store: Some(store.unwrap_or(1024)),
    };
    config.to_string()
}

impl Driver for Ndnd {
    fn name(&self) -> &'static str {
        "ndnd"
    }

    fn version(&self) -> String {
        version_of(&self.program, "--version")
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Launch, DriverError> {
        if !setup.impaired.is_empty() {
            return Err(Ndnd::unable(
                "make the delay or loss of a link, and this kernel has no netem",
                "take `delay` and `loss` away, or use software = \"cairn\"",
            ));
        }
        let forwarder = setup.plan.nodes.get(setup.node).map(|node| &node.forwarder);
        if forwarder.is_some_and(|forwarder| {
            forwarder.max_pending.is_some()
                || forwarder.max_pending_per_face.is_some()
                || forwarder.max_interests_per_second_per_face.is_some()
        }) {
            return Err(Ndnd::unable("limit pending Interests or rates", "take these settings away"));
        }
        if forwarder.is_some_and(|forwarder| forwarder.content_store_bytes.is_some()) {
            return Err(Ndnd::unable("limit the bytes of its content store", "write `content_store`"));
        }
        let is_elsewhere = |placement: &String| placement != "everywhere";
        if forwarder.is_some_and(|forwarder| forwarder.placement.as_ref().is_some_and(is_elsewhere)) {
            return Err(Ndnd::unable("choose which Data it caches", "take `placement` away"));
        }
        let file = setup.folder.join("forwarder.yml");
        std::fs::write(&file, configuration(setup)).map_err(|source| DriverError::Configuration {
            node: setup.plan.node_name(setup.node).to_owned(),
            source,
        })?;
        let arguments = ["fw".into(), "run".into(), file.into_os_string()];
        let environment = vec![("GOMAXPROCS".into(), "2".into())];
        Ok(Launch { program: self.program.clone(), arguments: arguments.to_vec(), environment })
    }

    fn connect(&self, setup: &Setup<'_>, manager: &mut Manager) -> Result<(), DriverError> {
        connect::connect(setup, manager, "ndnd")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_says_what_was_asked_for_and_leaves_out_what_was_not() {
        let bare = NdndConfig {
            log_level: "WARN",
            udp: 1,
            multicast: None,
            tcp: 2,
            socket: Path::new("a.sock"),
            threads: None,
            content_store: None,
        };
        let head = "core:\n  log_level: WARN\nfaces:\n  udp:\n    enabled_unicast: true\n    ";
        let tail = "    port_unicast: 1\n  tcp:\n    enabled: true\n    port_unicast: 2\n  unix:\n    \
                    enabled: true\n    socket_path: a.sock\n  websocket:\n    enabled: false\n";
        assert_eq!(bare.to_string(), format!("{head}enabled_multicast: false\n{tail}"));
        let full = NdndConfig { multicast: Some(3), threads: Some(1), content_store: Some(0), ..bare };
        let more = "fw:\n  threads: 1\ntables:\n  content_store:\n    capacity: 0\n    admit: false\n    \
                    serve: false\n";
        assert_eq!(full.to_string(), format!("{head}port_multicast: 3\n{tail}{more}"));
    }
}
