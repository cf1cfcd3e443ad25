//! From the name in a URL to an object: its version, its size, and what is known of it.

use client::AsyncClient;
use flow::naming::{METADATA, segment_number, version_number};
use flow::source::folder::LISTING;
use flow::{Discovery, FetchConfig};
use packet::ndn::InterestBuilder;
use packet::time::Duration;
use packet::{Component, ComponentKind, Data, Name};

use crate::failure::Failure;
use crate::fields::{Description, Fields};
use crate::trust_policy::TrustPolicy;

/// No packet has more bytes of content.
const MAX_CONTENT_BYTES: u64 = packet::Dialect::Ndn.max_packet_bytes() as u64;

/// How long one question waits for its answer, and how often it is asked.
const TIMEOUT: Duration = Duration::from_secs(1);
const ATTEMPTS: u32 = 3;

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResolvedObject {
    /// The name that segment numbers are appended to.
    pub(crate) object: Name,
    pub(crate) extent: Extent,
    pub(crate) fields: Fields,
}

/// Where an object's bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// In segments of one size.
    Sized { segment_bytes: u64, size_bytes: u64 },
    /// In segments up to one that says that it is the last.
    Open,
    /// In this one segment of it.
    Segment(u64),
    /// In this packet, which nobody has cut.
    Packet(Vec<u8>),
}

impl ResolvedObject {
    /// Whether it is what lies in a folder.
    pub(crate) fn is_listing(&self) -> bool {
        let components: Vec<Component<'_>> = self.object.components().collect();
        matches!(&components[..], [.., listing, _] if *listing == LISTING)
    }

    /// Whether other bytes can never have this name.
    pub(crate) fn is_versioned(&self) -> bool {
        self.object.as_ref().last().and_then(version_number).is_some()
    }
}

/// Finds what `name` stands for.
///
/// # Errors
/// Nobody has it, nobody answers, or what comes is not trusted.
pub(crate) async fn resolve(
    client: &AsyncClient,
    trust_policy: &TrustPolicy,
    name: &Name,
) -> Result<ResolvedObject, Failure> {
    let last = name.as_ref().last();
    if let Some(number) = last.filter(|last| last.kind == ComponentKind::SEGMENT).and_then(segment_number) {
        let object = name.prefix(name.as_ref().component_count() - 1);
        return Ok(ResolvedObject { object, extent: Extent::Segment(number), fields: Fields::default() });
    }
    if last.and_then(version_number).is_some() {
        let extent = probe(client, trust_policy, name).await?;
        return Ok(ResolvedObject { object: name.clone(), extent, fields: Fields::default() });
    }
    match by_metadata(client, trust_policy, name).await {
        Ok(found) => Ok(found),
        // Not every producer has metadata.
        Err(Failure::NoAnswer(_)) => by_prefix(client, trust_policy, name).await,
        Err(failure) => Err(failure),
    }
}

async fn by_metadata(
    client: &AsyncClient,
    trust_policy: &TrustPolicy,
    name: &Name,
) -> Result<ResolvedObject, Failure> {
    let asked = name.with(METADATA)?;
    let config = FetchConfig {
        discovery: Discovery::Prefix,
        discovery_timeout: TIMEOUT,
        discovery_attempts: ATTEMPTS,
        must_be_fresh: true,
        // Some producers do not say that the first segment of it is the last.
        end_segment: Some(1),
        ..FetchConfig::default()
    };
    let get = client.get(&asked, trust_policy.packet()).config(config).at_most(MAX_CONTENT_BYTES);
    let (content, fetched) = get.into_memory().await?;
    let bad = |problem: String| Failure::NotTrusted(format!("{} is of no use: {problem}", fetched.name));
    let Description { metadata, fields } =
        Description::decode(&content).map_err(|error| bad(error.to_string()))?;
    if !name.as_ref().is_prefix_of(metadata.name.as_ref()) {
        return Err(bad(format!("it tells of {}", metadata.name)));
    }
    let extent = match (metadata.segment_bytes, metadata.size_bytes) {
        (Some(segment_bytes), Some(size_bytes)) if segment_bytes > 0 => {
            Extent::Sized { segment_bytes, size_bytes }
        }
        _ => probe(client, trust_policy, &metadata.name).await?,
    };
    Ok(ResolvedObject { object: metadata.name, extent, fields })
}

/// Learns an object's size from its first segment and its last. The first is a hint that nobody has verified:
/// if it is wrong, what is sent breaks off, and no wrong byte is among it.
async fn probe(client: &AsyncClient, trust_policy: &TrustPolicy, object: &Name) -> Result<Extent, Failure> {
    let first = ask(client, InterestBuilder::new(segment_name(object, 0)?)).await?;
    if first.content_type() == Some(packet::ContentType::NACK) {
        return Err(Failure::NotFound(format!("the producer refuses {}", first.name())));
    }
    let segment_bytes = first.content().len() as u64;
    let last = first.final_block().and_then(segment_number);
    match last {
        Some(0) => Ok(Extent::Sized { segment_bytes: segment_bytes.max(1), size_bytes: segment_bytes }),
        Some(last) if segment_bytes > 0 => {
            let config = FetchConfig {
                discovery: Discovery::Unversioned,
                first_segment: last,
                end_segment: Some(last.saturating_add(1)),
                ..FetchConfig::default()
            };
            let get = client.get(object, trust_policy.object()).config(config).at_most(MAX_CONTENT_BYTES);
            let (content, _) = get.into_memory().await?;
            let size_bytes = last.saturating_mul(segment_bytes).saturating_add(content.len() as u64);
            Ok(Extent::Sized { segment_bytes, size_bytes })
        }
        _ => Ok(Extent::Open),
    }
}

fn segment_name(object: &Name, segment: u64) -> Result<Name, Failure> {
    let is_marked = object
        .as_ref()
        .last()
        .is_some_and(|last| last.kind == ComponentKind::GENERIC && version_number(last).is_some());
    let convention = match is_marked {
        true => flow::NamingConvention::Marker,
        false => flow::NamingConvention::Typed,
    };
    Ok(convention.with_segment(object, segment)?)
}

/// Asks for the name as a prefix, and takes the version of what comes.
async fn by_prefix(
    client: &AsyncClient,
    trust_policy: &TrustPolicy,
    name: &Name,
) -> Result<ResolvedObject, Failure> {
    let interest = InterestBuilder::new(name.clone()).can_be_prefix(true).must_be_fresh(true);
    let data = ask(client, interest).await?;
    let found = data.name();
    let below: Vec<Component<'_>> = found.components().skip(name.as_ref().component_count()).collect();
    let object = match &below[..] {
        [version, ..] if version_number(*version).is_some() => {
            found.prefix(name.as_ref().component_count() + 1).to_name()
        }
        [segment] if segment_number(*segment).is_some() => name.clone(),
        [] => {
            let config = FetchConfig {
                discovery: Discovery::Prefix,
                must_be_fresh: true,
                discovery_timeout: TIMEOUT,
                discovery_attempts: ATTEMPTS,
                ..FetchConfig::default()
            };
            let get = client.get(name, trust_policy.packet()).config(config).at_most(MAX_CONTENT_BYTES);
            let (content, fetched) = get.into_memory().await?;
            let fields = Fields::default();
            return Ok(ResolvedObject { object: fetched.name, extent: Extent::Packet(content), fields });
        }
        _ => {
            return Err(Failure::NotFound(format!("nothing has the name {name}; below it there is {found}")));
        }
    };
    let extent = probe(client, trust_policy, &object).await?;
    Ok(ResolvedObject { object, extent, fields: Fields::default() })
}

/// One question, a few times.
async fn ask(client: &AsyncClient, interest: InterestBuilder) -> Result<Data, Failure> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        match client.ask(&interest, TIMEOUT).await {
            Ok(data) => return Ok(data),
            Err(client::AskError::Timeout(_)) if attempts < ATTEMPTS => {}
            Err(error) => return Err(error.into()),
        }
    }
}
