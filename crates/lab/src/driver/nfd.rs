//! NFD: its configuration, and faces and routes through the management protocol that it has defined.

use std::fmt;
use std::path::{Path, PathBuf};

use packet::ndn::PORT;

use super::{Driver, DriverError, Launch, Manager, Setup, connect, version_of};

/// Starts `nfd`.
#[derive(Debug)]
pub struct Nfd {
    program: PathBuf,
}

impl Nfd {
    /// With this program.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Nfd { program }
    }
}

/// More bytes than this the kernel takes for no socket's path, which NFD makes an absolute one.
const MAX_SOCKET_PATH_BYTES: usize = 107;

/// Its content store where the experiment says nothing, as in the configuration that comes with it.
const USUAL_ENTRIES: u32 = 65_536;

fn unable(what: impl Into<String>, instead: &str) -> DriverError {
    DriverError::Unable { software: "nfd", what: what.into(), instead: instead.to_owned() }
}

/// Its configuration file, displayed as that.
struct NfdConfig<'a> {
    socket: &'a Path,
    port: u16,
    content_store: u32,
    strategy: Option<&'a str>,
}

impl fmt::Display for NfdConfig<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NfdConfig { socket, port, content_store, .. } = self;
        let strategy = self.strategy.unwrap_or("best-route");
        // Whoever reaches the socket may do everything, as with the lab's other forwarders: it is the lab's.
        write!(
            f,
            "log\n{{\n  default_level WARN\n}}\ntables\n{{\n  cs_max_packets {content_store}\n  strategy_choice\n  \
             {{\n    / /localhost/nfd/strategy/{strategy}\n    /localhost /localhost/nfd/strategy/multicast\n    \
             /localhost/nfd /localhost/nfd/strategy/best-route\n  }}\n}}\nface_system\n{{\n  unix\n  {{\n    path \
             \"{}\"\n  }}\n  udp\n  {{\n    listen yes\n    port {port}\n    enable_v4 yes\n    enable_v6 no\n    \
             mcast no\n  }}\n  tcp\n  {{\n    listen yes\n    port {port}\n    enable_v4 yes\n    enable_v6 no\n  \
             }}\n}}\nauthorizations\n{{\n  authorize\n  {{\n    certfile any\n    privileges\n    {{\n      faces\n      \
             fib\n      cs\n      strategy-choice\n    }}\n  }}\n}}\nrib\n{{\n  localhost_security\n  {{\n    \
             trust-anchor\n    {{\n      type any\n    }}\n  }}\n}}\n",
            socket.display()
        )
    }
}

impl Driver for Nfd {
    fn name(&self) -> &'static str {
        "nfd"
    }

    fn version(&self) -> String {
        version_of(&self.program, "--version")
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Launch, DriverError> {
        if !setup.impaired.is_empty() {
            return Err(unable(
                "make the delay or loss of a link, and this kernel has no netem",
                "take `delay` and `loss` away, or use software = \"cairn\"",
            ));
        }
        let node = setup.plan.node_name(setup.node).to_owned();
        let failed = |source| DriverError::Configuration { node: node.clone(), source };
        let socket = std::path::absolute(setup.socket).map_err(failed)?;
        let length = socket.as_os_str().len();
        if length > MAX_SOCKET_PATH_BYTES {
            let what = format!("listen at a path of {length} bytes, {}", socket.display());
            return Err(unable(what, "choose a folder with a shorter path, with --out"));
        }
        let forwarder = setup.plan.nodes.get(setup.node).map(|node| &node.forwarder);
        let config = NfdConfig {
            socket: &socket,
            port: PORT,
            content_store: forwarder.and_then(|said| said.content_store).unwrap_or(USUAL_ENTRIES),
            strategy: forwarder.and_then(|said| said.strategy.as_deref()),
        };
        let file = setup.folder.join("nfd.conf");
        std::fs::write(&file, config.to_string()).map_err(failed)?;
        // Keys that it makes for itself belong to this node of this run.
        let environment = vec![("HOME".into(), setup.folder.as_os_str().to_owned())];
        let arguments = vec!["--config".into(), file.into_os_string()];
        Ok(Launch { program: self.program.clone(), arguments, environment })
    }

    fn connect(&self, setup: &Setup<'_>, manager: &mut Manager) -> Result<(), DriverError> {
        connect::connect(setup, manager, "nfd")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_of_the_file_is_closed_and_says_what_was_asked_for() {
        let config =
            NfdConfig { socket: Path::new("/r/a.sock"), port: 7, content_store: 9, strategy: Some("asf") };
        let text = config.to_string();
        let mut depth = 0;
        for line in text.lines().map(str::trim) {
            match line {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => assert!(!line.contains(['{', '}']), "{line}"),
            }
            assert!(depth >= 0, "{text}");
        }
        assert_eq!(depth, 0, "{text}");
        for said in
            ["cs_max_packets 9", "/ /localhost/nfd/strategy/asf", "path \"/r/a.sock\"", "port 7", "mcast no"]
        {
            assert!(text.lines().any(|line| line.trim() == said), "{said}: {text}");
        }
    }
}
