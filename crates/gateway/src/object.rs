//! An object as a response: all of it, parts of it, or that the client has it already.

use std::sync::Arc;

use client::AsyncClient;
use hyper::header::{self, HeaderMap};
use hyper::{Method, Response, StatusCode};
use packet::{Name, UnixTime};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::conditions::{Validators, Verdict};
use crate::content_type;
use crate::failure::Failure;
use crate::limits::Limits;
use crate::name_path;
use crate::outgoing::Content;
use crate::range::{RequestedRange, wanted};
use crate::reply::{Reply, in_time, set};
use crate::resolve::{Extent, ResolvedObject};
use crate::stream::{Chunk, FetchContext, Stream};
use crate::transfers::Transfers;
use crate::trust_policy::TrustPolicy;

/// What a page of strangers may do: run, and read nothing of others that is shown under the same host.
const STRANGERS_POLICY: &str = "sandbox allow-scripts allow-forms allow-modals allow-popups allow-downloads";

/// An object that is asked for, whatever way its name was said.
pub(crate) struct ObjectRequest<'a> {
    pub(crate) name: Name,
    /// The path ends in a slash.
    pub(crate) is_folder: bool,
    pub(crate) query: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) method: &'a Method,
    /// It is shown as what a web server sent, by the name of that server.
    pub(crate) is_own_origin: bool,
}

/// What sending an object takes from the gateway.
pub(crate) struct SendContext<'a> {
    pub(crate) client: &'a AsyncClient,
    pub(crate) trust_policy: &'a TrustPolicy,
    pub(crate) limits: &'a Limits,
    pub(crate) transfers: &'a Arc<Transfers>,
}

/// Sends what was found.
pub(crate) async fn send(
    context: &SendContext<'_>,
    asked: &ObjectRequest<'_>,
    found: ResolvedObject,
    permit: OwnedSemaphorePermit,
) -> Result<Reply, Failure> {
    if let Some(location) = &found.fields.location {
        return Ok(redirect(location, asked.is_own_origin));
    }
    let validators = validators(&found);
    let mut response = Response::new(Content::Empty);
    let told = found.fields.content_type.as_deref().and_then(content_type::of_producer);
    let kind = told.map(str::to_owned).or_else(|| content_type::by_name(asked.name.as_ref()));
    describe(&mut response, asked, &found, &validators);
    match validators.check(asked.headers) {
        Verdict::Send => {}
        Verdict::NotModified => {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return Ok(response);
        }
        Verdict::Failed => {
            *response.status_mut() = StatusCode::PRECONDITION_FAILED;
            return Ok(response);
        }
    }
    let Extent::Sized { size_bytes, .. } = found.extent else {
        return open(context, asked, found, permit, kind, response).await;
    };
    let fetch_context = fetch_context(context, &found);
    let parts = match asked.headers.get(header::RANGE) {
        Some(range) if asked.method == Method::GET && validators.allows_parts(asked.headers) => {
            wanted(range.as_bytes(), size_bytes)
        }
        _ => RequestedRange::Whole,
    };
    let (chunks, status) = match parts {
        RequestedRange::Unsatisfiable => {
            *response.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE;
            set(&mut response, header::CONTENT_RANGE, &format!("bytes */{size_bytes}"));
            return Ok(response);
        }
        RequestedRange::Whole if size_bytes == 0 => (Vec::new(), StatusCode::OK),
        RequestedRange::Whole => (vec![Chunk::Part(0..=size_bytes - 1)], StatusCode::OK),
        RequestedRange::Parts(parts) => {
            let [part] = &parts[..] else {
                let kind = kind.as_deref().unwrap_or(content_type::UNKNOWN);
                return Ok(multipart(response, fetch_context, &parts, size_bytes, kind, permit));
            };
            let range = format!("bytes {}-{}/{size_bytes}", part.start(), part.end());
            set(&mut response, header::CONTENT_RANGE, &range);
            (vec![Chunk::Part(part.clone())], StatusCode::PARTIAL_CONTENT)
        }
    };
    *response.status_mut() = status;
    let mut stream = Stream::new(fetch_context, chunks, permit);
    let needs_bytes = kind.is_none() && size_bytes > 0;
    if asked.method == Method::HEAD && !needs_bytes {
        set(&mut response, header::CONTENT_LENGTH, &size_bytes.to_string());
        set_kind(&mut response, asked, kind.as_deref().unwrap_or(content_type::UNKNOWN));
        return Ok(response);
    }
    let first = in_time(timeout(context.limits.first_bytes, stream.begin()).await)?;
    let kind = kind.unwrap_or_else(|| match status {
        StatusCode::OK => content_type::by_first_bytes(first).to_owned(),
        // How a part begins says nothing about the whole.
        _ => content_type::UNKNOWN.to_owned(),
    });
    set_kind(&mut response, asked, &kind);
    Ok(response.map(|_| Content::Stream(Box::new(stream))))
}

/// What has no size that is known: it is sent as it comes, without parts.
async fn open(
    context: &SendContext<'_>,
    asked: &ObjectRequest<'_>,
    found: ResolvedObject,
    permit: OwnedSemaphorePermit,
    kind: Option<String>,
    mut response: Reply,
) -> Result<Reply, Failure> {
    response.headers_mut().remove(header::ACCEPT_RANGES);
    if let Extent::Packet(bytes) = found.extent {
        let kind = kind.unwrap_or_else(|| content_type::by_first_bytes(&bytes).to_owned());
        set_kind(&mut response, asked, &kind);
        return Ok(response.map(|_| Content::Full(bytes.into())));
    }
    let mut stream = Stream::new(fetch_context(context, &found), vec![Chunk::All], permit);
    let first = in_time(timeout(context.limits.first_bytes, stream.begin()).await)?;
    let kind = kind.unwrap_or_else(|| content_type::by_first_bytes(first).to_owned());
    set_kind(&mut response, asked, &kind);
    Ok(response.map(|_| Content::Stream(Box::new(stream))))
}

fn fetch_context(context: &SendContext<'_>, found: &ResolvedObject) -> FetchContext {
    FetchContext {
        client: context.client.clone(),
        trust_policy: context.trust_policy.clone(),
        object: found.object.clone(),
        extent: found.extent.clone(),
        buffer_bytes: context.limits.buffer_bytes,
        drought: context.limits.drought,
        transfers: context.transfers.clone(),
    }
}

fn redirect(location: &crate::fields::Location, is_own_origin: bool) -> Reply {
    let mut response = Response::new(Content::Empty);
    *response.status_mut() = StatusCode::FOUND;
    let url = match &location.name {
        Some(name) if !is_own_origin => name_path::path_of(name.as_ref()),
        _ => location.url.clone(),
    };
    set(&mut response, header::LOCATION, &url);
    set(&mut response, header::CACHE_CONTROL, "no-cache");
    response
}

/// An object of one packet without a version is known by its bytes.
fn validators(found: &ResolvedObject) -> Validators {
    let modified = found.fields.modified.or_else(|| time_of_version(found));
    match &found.extent {
        Extent::Packet(bytes) => {
            Validators { etag: format!("\"{}\"", packet::hex::encode(&trust::sha256(bytes)[..12])), modified }
        }
        Extent::Segment(number) => {
            let name = flow::NamingConvention::Typed.with_segment(&found.object, *number);
            Validators::of(&name.unwrap_or_else(|_| found.object.clone()), modified)
        }
        _ => Validators::of(&found.object, modified),
    }
}

/// The time that a version is by convention, in milliseconds, microseconds or nanoseconds since 1970, if it
/// lies between 2001 and 2100.
fn time_of_version(found: &ResolvedObject) -> Option<UnixTime> {
    let version = flow::naming::version_number(found.object.as_ref().last()?)?;
    let (first, end) = (978_307_200_000, 4_102_444_800_000);
    [1, 1000, 1_000_000]
        .into_iter()
        .map(|unit| version / unit)
        .find(|millis| (first..end).contains(millis))
        .map(UnixTime::from_millis)
}

/// The headers that a response has whether the object is in it or not.
fn describe(
    response: &mut Reply,
    asked: &ObjectRequest<'_>,
    found: &ResolvedObject,
    validators: &Validators,
) {
    set(response, header::ACCEPT_RANGES, "bytes");
    set(response, header::ETAG, &validators.etag);
    if let Some(modified) = validators.last_modified() {
        set(response, header::LAST_MODIFIED, &modified);
    }
    set(response, header::CONTENT_LOCATION, &name_path::path_of(found.object.as_ref()));
    let is_exact = found.is_versioned() && found.object.as_ref().is_prefix_of(asked.name.as_ref());
    let cache = if is_exact { "public, max-age=31536000, immutable" } else { "no-cache" };
    set(response, header::CACHE_CONTROL, cache);
}

fn set_kind(response: &mut Reply, asked: &ObjectRequest<'_>, kind: &str) {
    set(response, header::CONTENT_TYPE, kind);
    if !content_type::is_harmless(kind) && !asked.is_own_origin {
        set(response, header::CONTENT_SECURITY_POLICY, STRANGERS_POLICY);
    }
}

/// Several parts in one body (RFC 9110, section 14.6).
fn multipart(
    mut response: Reply,
    fetch_context: FetchContext,
    parts: &[std::ops::RangeInclusive<u64>],
    size_bytes: u64,
    kind: &str,
    permit: OwnedSemaphorePermit,
) -> Reply {
    // Bytes of the object could hold any text that is chosen beforehand.
    let boundary = format!("{:016x}", client::Clock::seed());
    let mut chunks = Vec::with_capacity(2 * parts.len() + 1);
    for part in parts {
        let (start, end) = (part.start(), part.end());
        let head = format!(
            "\r\n--{boundary}\r\nContent-Type: {kind}\r\nContent-Range: bytes {start}-{end}/{size_bytes}\r\n\r\n"
        );
        chunks.push(Chunk::Text(head.into()));
        chunks.push(Chunk::Part(part.clone()));
    }
    chunks.push(Chunk::Text(format!("\r\n--{boundary}--\r\n").into()));
    *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    set(&mut response, header::CONTENT_TYPE, &format!("multipart/byteranges; boundary={boundary}"));
    response.map(|_| Content::Stream(Box::new(Stream::new(fetch_context, chunks, permit))))
}
