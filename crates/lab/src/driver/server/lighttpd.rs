//! lighttpd: the paper's web server.

use std::fmt::Write as _;

use super::{HTTP_PORT, Server, ServerCounts, ServerSetup, number_after, page};
use crate::driver::tools::Tool;
use crate::driver::{DriverError, Launch};

/// Starts `lighttpd`.
#[derive(Debug)]
pub(super) struct Lighttpd(Tool);

const STATUS: &str = "/cairn-lab-status";

impl Lighttpd {
    pub(super) fn find() -> Result<Self, DriverError> {
        Tool::find("lighttpd", "lighttpd").map(Lighttpd)
    }
}

impl Server for Lighttpd {
    fn version(&self) -> String {
        self.0.version("-v")
    }

    fn prepare(&self, setup: &ServerSetup<'_>) -> Result<Vec<Launch>, DriverError> {
        let files = setup.files.display();
        let mut text = format!(
            "server.document-root = \"{files}\"\nserver.port = {HTTP_PORT}\n\
             server.modules = (\"mod_status\")\nstatus.status-url = \"{STATUS}\"\n"
        );
        if let Some((user, group)) = super::unprivileged() {
            let _ = writeln!(text, "server.username = \"{user}\"\nserver.groupname = \"{group}\"");
        }
        if setup.server.tuned {
            text.push_str("server.network-backend = \"sendfile\"\nserver.max-keep-alive-requests = 1000\n");
        }
        let file = setup.write("lighttpd.conf", &text)?;
        let modules = self.0.beside("usr/lib/lighttpd");
        let arguments =
            ["-D".into(), "-f".into(), file.into_os_string(), "-m".into(), modules.into_os_string()];
        Ok(vec![self.0.launch(arguments)])
    }

    fn counts(&self, _setup: &ServerSetup<'_>) -> Option<ServerCounts> {
        let requests = number_after(&page(&format!("{STATUS}?auto")).ok()?, "Total Accesses")?;
        Some(ServerCounts { requests, ..ServerCounts::default() })
    }
}
