//! The page at `/`, and what it shows of the forwarder. It reads and changes nothing.

use client::AsyncClient;
use hyper::header;
use hyper::{Response, StatusCode};
use management::{Dataset, DatasetFetch, FaceStatus, FibEntry, GeneralStatus, decode_list};
use packet::time::Duration;
use packet::{NameRef, NameScope};
use serde_json::json;

use crate::failure::Failure;
use crate::name_path;
use crate::outgoing::Content;
use crate::reply::{Reply, set};
use crate::transfers::Transfers;

/// How long the forwarder on this host may take for one packet.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Packets of one dataset that are asked for: some thousand faces, some ten thousand prefixes.
const MAX_PACKETS: usize = 256;

/// Prefixes that are told of; the rest is counted.
const MAX_PREFIXES: usize = 1_000;

/// What the page may do: run what this gateway sends it, and ask this gateway.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A file of the page.
pub(crate) fn file(path: &str) -> Option<Reply> {
    let (kind, text) = match path {
        "/" => ("text/html; charset=utf-8", include_str!("page/index.html")),
        "/-/page.css" => ("text/css; charset=utf-8", include_str!("page/page.css")),
        "/-/page.js" => ("text/javascript; charset=utf-8", include_str!("page/page.js")),
        _ => return None,
    };
    let mut response = Response::new(Content::Full(text.into()));
    *response.status_mut() = StatusCode::OK;
    set(&mut response, header::CONTENT_TYPE, kind);
    set(&mut response, header::CONTENT_SECURITY_POLICY, POLICY);
    set(&mut response, header::CACHE_CONTROL, "no-cache");
    set(&mut response, header::REFERRER_POLICY, "no-referrer");
    Some(response)
}

/// What the forwarder tells of itself, and what is on its way through this gateway, as JSON.
///
/// # Errors
/// It does not answer, as one on another host does not.
pub(crate) async fn status(client: &AsyncClient, transfers: &Transfers) -> Result<Reply, Failure> {
    let general = dataset(client, Dataset::StatusGeneral).await?;
    let general = GeneralStatus::decode(&general).map_err(|error| senseless(&error))?;
    let faces = dataset(client, Dataset::FacesList).await?;
    let faces: Vec<FaceStatus> = decode_list(&faces).map_err(|error| senseless(&error))?;
    let faces: Vec<_> = faces
        .iter()
        .map(|face| {
            json!({
                "id": face.face_id, "remote": face.uri, "local": face.local_uri,
                "in_bytes": face.in_bytes, "out_bytes": face.out_bytes,
                "in_interests": face.packets.in_interests, "out_interests": face.packets.out_interests,
                "in_data": face.packets.in_data, "out_data": face.packets.out_data,
            })
        })
        .collect();
    let text = json!({
        "general": {
            "version": general.version,
            "in_interests": general.packets.in_interests, "out_data": general.packets.out_data,
            "pit_entries": general.pit_entries, "fib_entries": general.fib_entries,
            "cs_entries": general.cs_entries,
        },
        "faces": faces,
        "transfers": transfers.to_json(),
    });
    Ok(json_reply(&text))
}

/// The prefixes that the forwarder has routes for, and where this gateway has what is below them, as JSON.
///
/// # Errors
/// It does not answer, as one on another host does not.
pub(crate) async fn names(client: &AsyncClient) -> Result<Reply, Failure> {
    let entries = dataset(client, Dataset::FibList).await?;
    let entries: Vec<FibEntry> = decode_list(&entries).map_err(|error| senseless(&error))?;
    // Those of this host and link are not for the web.
    let is_shown = |name: &NameRef<'_>| name.scope() == NameScope::Global && !name.is_root();
    let names = entries.iter().map(|entry| entry.prefix.as_ref()).filter(is_shown);
    let mut names: Vec<_> = names.map(|name| (name.to_string(), name_path::path_of(name))).collect();
    // As people look for them, which is not the canonical order.
    names.sort_unstable();
    let more = names.len().saturating_sub(MAX_PREFIXES);
    let shown: Vec<_> =
        names.iter().take(MAX_PREFIXES).map(|(name, path)| json!({ "name": name, "path": path })).collect();
    Ok(json_reply(&json!({ "prefixes": shown, "more": more })))
}

fn json_reply(value: &serde_json::Value) -> Reply {
    let mut response = Response::new(Content::from(value.to_string()));
    set(&mut response, header::CONTENT_TYPE, "application/json");
    set(&mut response, header::CACHE_CONTROL, "no-store");
    response
}

async fn dataset(client: &AsyncClient, wanted: Dataset) -> Result<Vec<u8>, Failure> {
    let mut fetch = DatasetFetch::new(wanted.name()?);
    for _ in 0..MAX_PACKETS {
        let data = client.ask(&fetch.interest()?, TIMEOUT).await?;
        if let Some(content) = fetch.receive(&data).map_err(|error| senseless(&error))? {
            return Ok(content);
        }
    }
    Err(Failure::NotTrusted("the forwarder has more to tell than is listened to".into()))
}

fn senseless(error: &dyn std::fmt::Display) -> Failure {
    Failure::NotTrusted(format!("what the forwarder tells makes no sense: {error}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_holds_no_script_and_no_style_that_its_policy_forbids() {
        let html = include_str!("page/index.html");
        for forbidden in ["<style", "style=", "onclick", "javascript:", "http://", "https://", "<script>"] {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
        let script = include_str!("page/page.js");
        for forbidden in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!script.contains(forbidden), "{forbidden}");
        }
    }
}
