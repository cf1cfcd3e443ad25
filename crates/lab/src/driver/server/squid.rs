//! Squid: the paper's proxy. It stands before its upstream as a reverse proxy, so that clients ask it as they
//! would ask the web server.

use std::fmt::Write as _;

use super::{HTTP_PORT, KEPT_SECONDS, MEMORY_MIB, Server, ServerCounts, ServerSetup, number_after, page};
use crate::driver::tools::Tool;
use crate::driver::{DriverError, Launch};

/// Starts `squid`.
#[derive(Debug)]
pub(super) struct Squid(Tool);

impl Squid {
    pub(super) fn find() -> Result<Self, DriverError> {
        Tool::find("squid", "squid").map(Squid)
    }

    /// Where the texts of its errors are: some packages have them in one of their own.
    fn errors(&self) -> std::path::PathBuf {
        let places =
            ["usr/share/squid-langpack/en", "usr/share/squid/errors/en", "usr/share/squid/errors/templates"];
        let places = places.map(|place| self.0.beside(place));
        places.iter().find(|place| place.is_dir()).unwrap_or(&places[0]).clone()
    }
}

impl Server for Squid {
    fn version(&self) -> String {
        self.0.version("-v")
    }

    fn prepare(&self, setup: &ServerSetup<'_>) -> Result<Vec<Launch>, DriverError> {
        let (name, upstream) = (setup.name(), setup.upstream().unwrap_or_default());
        let beside = |path: &str| self.0.beside(path).display().to_string();
        let mut text = format!(
            "http_port {HTTP_PORT} accel defaultsite={name} no-vhost\n\
             cache_peer {upstream} parent {HTTP_PORT} 0 no-query originserver name=upstream\n\
             cache_peer_access upstream allow all\nnever_direct allow all\nhttp_access allow all\n\
             refresh_pattern . {kept} 100% {kept}\n\
             visible_hostname {name}\nunique_hostname {name}\npid_filename none\naccess_log none\n\
             cache_log /dev/stderr\ncache_store_log none\nnetdb_filename none\npinger_enable off\n\
             shutdown_lifetime 0 seconds\ncoredump_dir {}\nmime_table {}\nicon_directory {}\n\
             error_directory {}\nunlinkd_program {}\nlogfile_daemon {}\n",
            setup.folder.display(),
            beside("usr/share/squid/mime.conf"),
            beside("usr/share/squid/icons"),
            self.errors().display(),
            beside("usr/lib/squid/unlinkd"),
            beside("usr/lib/squid/log_file_daemon"),
            // In minutes.
            kept = KEPT_SECONDS / 60,
        );
        if setup.server.tuned {
            let _ = writeln!(
                text,
                "collapsed_forwarding on\ncache_mem {MEMORY_MIB} MB\nmaximum_object_size_in_memory {MEMORY_MIB} MB\n\
                 maximum_object_size {MEMORY_MIB} MB\nmemory_cache_mode always"
            );
        }
        let file = setup.write("squid.conf", &text)?;
        // In one process, which is not a daemon.
        Ok(vec![self.0.launch(["-N".into(), "-f".into(), file.into_os_string()])])
    }

    fn counts(&self, _setup: &ServerSetup<'_>) -> Option<ServerCounts> {
        let text = page("/squid-internal-mgr/counters").ok()?;
        let requests = number_after(&text, "client_http.requests")?;
        Some(ServerCounts { requests, hits: number_after(&text, "client_http.hits") })
    }
}
