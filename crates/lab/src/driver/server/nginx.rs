//! nginx: a web server, and a proxy with a cache.

use std::fmt::Write as _;

use super::{HTTP_PORT, KEPT_SECONDS, Server, ServerCounts, ServerSetup};
use crate::driver::tools::Tool;
use crate::driver::{DriverError, Launch};

/// Starts `nginx`.
#[derive(Debug)]
pub(super) struct Nginx(Tool);

/// What it writes a line to for each request: where the answer came from.
const LOG: &str = "nginx-answers.log";

impl Nginx {
    pub(super) fn find() -> Result<Self, DriverError> {
        Tool::find("nginx", "nginx").map(Nginx)
    }
}

/// What it does with a request. A tuned proxy lets one request go on for all that ask at once; its cache is
/// as far as possible in memory, where the lab's files are.
fn location(setup: &ServerSetup<'_>) -> String {
    let Some(upstream) = setup.upstream() else {
        return format!("root {};", setup.files.display());
    };
    let lock = "proxy_cache_lock on; proxy_cache_lock_timeout 1h; proxy_cache_lock_age 1h;";
    format!(
        "location / {{ proxy_pass http://{upstream}:{HTTP_PORT}; proxy_cache kept; \
         proxy_cache_valid 200 {KEPT_SECONDS}s; {} }}",
        if setup.server.tuned { lock } else { "" }
    )
}

impl Server for Nginx {
    fn version(&self) -> String {
        self.0.version("-v")
    }

    fn prepare(&self, setup: &ServerSetup<'_>) -> Result<Vec<Launch>, DriverError> {
        let folder = setup.folder.display();
        let cache = if setup.server.tuned { setup.files } else { setup.folder };
        let mut text = format!("daemon off;\npid {folder}/nginx.pid;\nerror_log stderr;\n");
        if let Some((user, group)) = super::unprivileged() {
            let _ = writeln!(text, "user {user} {group};");
        }
        if setup.server.tuned {
            text.push_str("worker_processes auto;\n");
        }
        text.push_str("events { worker_connections 1024; }\nhttp {\n");
        for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
            let _ = writeln!(text, "{kind}_temp_path {}/nginx-{kind};", cache.display());
        }
        let _ = writeln!(
            text,
            "log_format answers '$upstream_cache_status';\naccess_log {folder}/{LOG} answers;\n\
             proxy_cache_path {}/nginx-cache keys_zone=kept:10m;\n{}\
             server {{ listen {HTTP_PORT}; {} }}\n}}",
            cache.display(),
            if setup.server.tuned { "sendfile on;\ntcp_nopush on;\n" } else { "" },
            location(setup)
        );
        let file = setup.write("nginx.conf", &text)?;
        let place = setup.folder.as_os_str().to_owned();
        let arguments =
            ["-p".into(), place, "-e".into(), "stderr".into(), "-c".into(), file.into_os_string()];
        Ok(vec![self.0.launch(arguments)])
    }

    fn counts(&self, setup: &ServerSetup<'_>) -> Option<ServerCounts> {
        let text = std::fs::read_to_string(setup.folder.join(LOG)).ok()?;
        let requests = text.lines().count() as u64;
        let hits = text.lines().filter(|line| *line == "HIT").count() as u64;
        Some(ServerCounts { requests, hits: setup.server.upstream.map(|_| hits) })
    }
}
