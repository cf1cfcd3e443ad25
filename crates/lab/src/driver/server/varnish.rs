//! Varnish: a proxy with its cache in memory, which needs a C compiler to read its configuration.

use super::{HTTP_PORT, KEPT_SECONDS, MEMORY_MIB, Server, ServerCounts, ServerSetup, number_after};
use crate::driver::tools::Tool;
use crate::driver::{DriverError, Launch};

/// Starts `varnishd`.
#[derive(Debug)]
pub(super) struct Varnish {
    daemon: Tool,
    statistics: Tool,
}

/// Its working folder, below the run's.
const PLACE: &str = "varnish";

impl Varnish {
    pub(super) fn find() -> Result<Self, DriverError> {
        let daemon = Tool::find("varnishd", "varnish")?;
        Ok(Varnish { daemon, statistics: Tool::find("varnishstat", "varnish")? })
    }
}

impl Server for Varnish {
    fn version(&self) -> String {
        self.daemon.version("-V")
    }

    fn prepare(&self, setup: &ServerSetup<'_>) -> Result<Vec<Launch>, DriverError> {
        let upstream = setup.upstream().unwrap_or_default();
        let text =
            format!("vcl 4.1;\nbackend default {{ .host = \"{upstream}\"; .port = \"{HTTP_PORT}\"; }}\n");
        let file = setup.write("varnish.vcl", &text)?;
        let memory = if setup.server.tuned { MEMORY_MIB } else { 256 };
        let arguments = [
            "-F".into(),
            "-j".into(),
            "none".into(),
            "-n".into(),
            setup.folder.join(PLACE).into_os_string(),
            "-a".into(),
            format!(":{HTTP_PORT}").into(),
            "-f".into(),
            file.into_os_string(),
            "-T".into(),
            "none".into(),
            "-i".into(),
            setup.name().into(),
            "-t".into(),
            KEPT_SECONDS.to_string().into(),
            "-s".into(),
            format!("malloc,{memory}m").into(),
        ];
        Ok(vec![self.daemon.launch::<std::ffi::OsString>(arguments)])
    }

    fn counts(&self, setup: &ServerSetup<'_>) -> Option<ServerCounts> {
        let mut command = std::process::Command::new(&self.statistics.program);
        command.envs(self.statistics.environment()).arg("-1").arg("-n").arg(setup.folder.join(PLACE));
        let text = String::from_utf8_lossy(&command.output().ok()?.stdout).into_owned();
        let requests = number_after(&text, "MAIN.client_req ")?;
        // Whoever waits for an object that is being fetched has a hit as well.
        Some(ServerCounts { requests, hits: number_after(&text, "MAIN.cache_hit ") })
    }
}
