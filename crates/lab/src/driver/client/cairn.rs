//! `cairn get`, which verifies every packet up to the certificate of the run, or by the signed manifest.

use std::ffi::OsString;

use super::Fetch;
use crate::driver::Launch;
use crate::driver::server::{anchor, manifest};

pub(super) fn command(fetch: &Fetch<'_>) -> Launch {
    let mut arguments: Vec<OsString> =
        ["get", &fetch.name(), "--quiet", "-o", fetch.output].map(OsString::from).to_vec();
    if let Some(content) = fetch.plan.contents.get(fetch.what.content) {
        arguments.push("--anchor".into());
        arguments.push(anchor(fetch.plan, content, fetch.folder).into_os_string());
        arguments.extend(manifest(fetch.plan, content).then(|| OsString::from("--manifest")));
    }
    Launch { program: fetch.cairn.to_owned(), arguments, environment: Vec::new() }
}
