//! Files as named data: `cairn put`, one process for each file, which signs with a key of the run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Ready, Server, ServerCounts, ServerSetup};
use crate::driver::{DriverError, Launch};
use crate::experiment::plan::{ContentPlan, Plan};

/// Starts `cairn put`.
#[derive(Debug)]
pub(super) struct Put;

/// The certificate that clients trust.
const ANCHOR: &str = "anchor.cert";

/// Where the certificate of a content's producer is, in the run's folder.
pub(in crate::driver) fn anchor(plan: &Plan, content: &ContentPlan, run: &Path) -> PathBuf {
    run.join(plan.node_name(content.at)).join(ANCHOR)
}

/// Does a content's producer sign a manifest in place of every packet?
pub(in crate::driver) fn manifest(plan: &Plan, content: &ContentPlan) -> bool {
    let server = plan.nodes.get(content.at).and_then(|node| node.server);
    server.is_some_and(|server| server.tuned)
}

/// Makes the key of the run and writes its certificate.
fn make_key(setup: &ServerSetup<'_>, identity: &str) -> Result<PathBuf, DriverError> {
    let keys = setup.folder.join("keys");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(setup.cairn);
        command.args(arguments).env("CAIRN_KEYS", &keys).stdout(Stdio::null());
        let done = command.output().map_err(|error| error.to_string()).and_then(|output| {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() { Ok(()) } else { Err(said) }
        });
        done.map_err(|why| DriverError::Unable {
            software: "cairn",
            what: format!("make a key for `{identity}`: {}", why.trim()),
            instead: "try `cairn key new` by hand".to_owned(),
        })
    };
    let anchor = setup.folder.join(ANCHOR);
    run(&["key", "new", identity, "--kind", "ecdsa"])?;
    run(&["cert", "export", identity, "-o", &anchor.to_string_lossy()])?;
    Ok(keys)
}

impl Server for Put {
    fn version(&self) -> String {
        format!("cairn put {}", env!("CARGO_PKG_VERSION"))
    }

    fn prepare(&self, setup: &ServerSetup<'_>) -> Result<Vec<Launch>, DriverError> {
        let Some(first) = setup.contents().next() else { return Ok(Vec::new()) };
        let keys = make_key(setup, &first.prefix)?;
        let mut launches = Vec::new();
        for content in setup.contents() {
            for number in 0..content.count {
                let name = format!("{}/{number}", content.prefix);
                let file = setup.files.join(name.trim_start_matches('/'));
                let mut arguments: Vec<OsString> =
                    ["put", &name, "--sign", &first.prefix, "-f"].map(OsString::from).to_vec();
                arguments.push(file.into_os_string());
                arguments.extend(["--size", "packet", "--freshness", "1h"].map(OsString::from));
                arguments.extend(setup.server.tuned.then(|| OsString::from("--manifest")));
                let environment = vec![
                    ("CAIRN_KEYS".into(), keys.clone().into_os_string()),
                    ("NDN_CLIENT_TRANSPORT".into(), setup.transport.into()),
                ];
                launches.push(Launch { program: setup.cairn.to_owned(), arguments, environment });
            }
        }
        Ok(launches)
    }

    fn ready(&self, setup: &ServerSetup<'_>) -> Vec<Ready> {
        let of_content = |content: &ContentPlan| {
            (0..content.count).map(|number| format!("{}/{number}", content.prefix)).collect::<Vec<_>>()
        };
        vec![Ready::Registered(setup.contents().flat_map(of_content).collect())]
    }

    fn counts(&self, _setup: &ServerSetup<'_>) -> Option<ServerCounts> {
        None
    }
}
