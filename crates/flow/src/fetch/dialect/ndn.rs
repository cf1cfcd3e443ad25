//! Fetching from NDN: the latest version by metadata or by prefix, then segments by their numbers.

use packet::ndn::InterestBuilder;
use packet::time::Instant;
use packet::{Component, ComponentKind, ContentType, Data, Interest, Name, NameRef};

use super::super::discovery::Finder;
use super::super::object::Object;
use super::super::{FetchConfig, FetchError, Fetcher, Phase};
use crate::naming::{METADATA, Metadata, NamingConvention, segment_number, version_number};

/// What a packet is that was found by prefix.
#[derive(Debug, PartialEq)]
pub(in crate::fetch) enum Part {
    /// A segment, or a packet that nobody cut.
    Segment,
    /// What tells of the object.
    Metadata,
    /// Something that is published beside the segments of a version, such as its manifest.
    Beside { object: Name },
}

impl Fetcher {
    /// The next Interest of a fetch from NDN.
    pub(super) fn poll_ndn(&mut self, now: Instant) -> Option<Interest> {
        let builder = match &mut self.phase {
            Phase::Finding(finder) => discovery(finder, now, &self.config)?,
            Phase::Fetching(object) => {
                let request = self.transfer.poll_request(now)?;
                match object.convention.with_segment(&object.name, request.item) {
                    Ok(name) => self
                        .required_digests
                        .interest(request.item, name)
                        .must_be_fresh(self.config.must_be_fresh)
                        .lifetime(self.config.lifetime),
                    Err(_) => return self.fail_for_length(),
                }
            }
            Phase::Failed(_) => return None,
        };
        let mut builder = builder.nonce(self.nonces.next_u32());
        if let Some(hops) = self.config.hop_limit {
            builder = builder.hop_limit(hops);
        }
        if !self.config.forwarding_hint.is_empty() {
            builder = builder.forwarding_hint(self.config.forwarding_hint.clone());
        }
        match builder.build() {
            Ok(interest) => Some(interest),
            Err(_) => self.fail_for_length(),
        }
    }

    /// Takes up what discovery found.
    pub(super) fn begin_ndn(&mut self, now: Instant, data: Data) {
        let is_metadata = self.part_of(data.name()) == Part::Metadata;
        let Phase::Finding(finder) = &mut self.phase else { return };
        if is_application_nack(&data) {
            self.phase = Phase::Failed(FetchError::Refused { name: data.any_name() });
            return;
        }
        if finder.is_by_prefix() && !is_metadata {
            return self.begin_with_segment(data);
        }
        match Metadata::of_object(&self.name, data.content()) {
            Ok(metadata) => {
                self.progress.total_bytes = metadata.size_bytes;
                self.hinted_end = metadata.last_segment.map(|last| last.saturating_add(1));
                self.move_limit();
                let convention = convention_below(&metadata.name, self.config.convention);
                self.phase = Phase::Fetching(Object { name: metadata.name, convention });
            }
            Err(problem) => {
                let error = FetchError::BadMetadata { name: data.any_name(), problem };
                if let Err(error) = finder.handle_refusal(now, &self.config, data.name(), error) {
                    self.phase = Phase::Failed(error);
                }
            }
        }
    }

    /// What a packet that was found by prefix is, by its name. A cache may answer with any packet under the
    /// prefix.
    pub(in crate::fetch) fn part_of(&self, name: NameRef<'_>) -> Part {
        let prefix = self.name.as_ref().component_count();
        let mut rest = name.components().skip(prefix);
        match (rest.next(), rest.next()) {
            (Some(first), _) if first == METADATA => Part::Metadata,
            (Some(version), Some(next))
                if version_number(version).is_some() && next.kind == ComponentKind::KEYWORD =>
            {
                Part::Beside { object: name.prefix(prefix + 1).to_name() }
            }
            _ => Part::Segment,
        }
    }
}

/// The Interest of discovery, if it is to leave now.
fn discovery(finder: &mut Finder, now: Instant, config: &FetchConfig) -> Option<InterestBuilder> {
    if !finder.is_due(now, config) {
        return None;
    }
    let lifetime = config.discovery_timeout.min(config.lifetime);
    let builder = InterestBuilder::new(finder.asked().clone()).can_be_prefix(true).lifetime(lifetime);
    Some(builder.must_be_fresh(!finder.is_by_prefix() || config.must_be_fresh))
}

pub(super) fn final_segment(data: &Data) -> Option<u64> {
    data.final_block().and_then(segment_number)
}

pub(super) fn is_application_nack(data: &Data) -> bool {
    data.content_type() == Some(ContentType::NACK)
}

pub(super) fn is_version(component: Component<'_>) -> bool {
    version_number(component).is_some()
}

/// The convention that a segment's component was written by.
pub(super) fn convention_of(segment: Component<'_>) -> NamingConvention {
    match segment.kind {
        ComponentKind::SEGMENT => NamingConvention::Typed,
        _ => NamingConvention::Marker,
    }
}

/// The convention that was chosen, or else the one in which the version is written.
pub(super) fn convention_below(name: &Name, chosen: Option<NamingConvention>) -> NamingConvention {
    let last = name.as_ref().last();
    let marked = last.is_some_and(|last| last.kind == ComponentKind::GENERIC && is_version(last));
    chosen.unwrap_or(if marked { NamingConvention::Marker } else { NamingConvention::Typed })
}
