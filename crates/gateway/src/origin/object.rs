//! One state of one URL, as it is published: it comes from the web server while others ask for it.

use std::time::Duration;

use flow::naming::version_number;
use flow::source::{MemoryObject, Reply, SourceError};
use flow::{Publication, PublicationConfig, PublishError};
use packet::ndn::DataBuilder;
use packet::time;
use packet::{Data, Interest, Name, UnixTime};
use tokio::time::Instant;
use trust::Signer;

use super::web::ClientValidators;
use crate::fields::{Description, Fields};

/// What the web server tells of an object.
#[derive(Clone, Debug)]
pub(super) struct ServerAnswer {
    pub(super) fields: Fields,
    pub(super) known: ClientValidators,
}

/// A version that is published, and how the web server named it.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldVersion<'a> {
    pub(super) known: &'a ClientValidators,
    pub(super) version: u64,
}

/// An object in the making, or whole.
#[derive(Debug)]
pub(super) struct OriginObject {
    object: MemoryObject<Publication, Vec<u8>>,
    signer: Signer,
    fields: Fields,
    size_bytes: u64,
    pub(super) known: ClientValidators,
    pub(super) fresh_until: Instant,
}

impl OriginObject {
    /// An object of `size_bytes`, none of which are here yet.
    pub(super) fn new(
        name: Name,
        version: u64,
        size_bytes: u64,
        signer: Signer,
        told: ServerAnswer,
        fresh: Duration,
    ) -> Result<Self, PublishError> {
        let ServerAnswer { fields, known } = told;
        let config = PublicationConfig::new(name, version, size_bytes, signer.clone());
        let object = MemoryObject::new(Publication::new(config)?, Vec::new());
        let fresh_until = Instant::now() + fresh;
        Ok(OriginObject { object, signer, fields, size_bytes, known, fresh_until })
    }

    pub(super) fn version(&self) -> u64 {
        self.object.publication().name().as_ref().last().and_then(version_number).unwrap_or(0)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.bytes().len() as u64 == self.size_bytes
    }

    pub(super) fn is_fresh(&self) -> bool {
        !self.is_complete() || Instant::now() < self.fresh_until
    }

    /// Bytes that it takes, or will.
    pub(super) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.object.bytes()
    }

    /// More of it has come; false if that is too much.
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        let fits = (self.bytes().len() + bytes.len()) as u64 <= self.size_bytes;
        if fits {
            self.object.bytes_mut().extend_from_slice(bytes);
        }
        fits
    }

    /// All of it has come: these bytes, which are as many as were told.
    pub(super) fn complete(mut self, bytes: Vec<u8>) -> Self {
        *self.object.bytes_mut() = bytes;
        self
    }

    /// What answers `interest`; `None` if its bytes have not come yet.
    pub(super) fn reply(&self, interest: &Interest) -> Result<Option<Reply>, SourceError> {
        let metadata_prefix = self.object.publication().prefix().with(flow::naming::METADATA)?;
        if metadata_prefix.as_ref().is_prefix_of(interest.name()) {
            return Ok(Some(Reply::matching(interest, self.metadata(&metadata_prefix)?)));
        }
        self.object.reply(interest)
    }

    /// Tells of this version for as long as the web server says that it is fresh.
    fn metadata(&self, prefix: &Name) -> Result<Data, PublishError> {
        let description = Description {
            metadata: flow::Metadata {
                name: self.object.publication().name().clone(),
                last_segment: Some(self.object.publication().last_segment()),
                segment_bytes: Some(self.object.publication().segment_bytes()),
                size_bytes: Some(self.size_bytes),
            },
            fields: self.fields.clone(),
        };
        let left = self.fresh_until.saturating_duration_since(Instant::now());
        let millis = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1);
        let name = flow::NamingConvention::Typed.with_version(prefix, self.version())?;
        let name = flow::NamingConvention::Typed.with_segment(&name, 0)?;
        let mut data = DataBuilder::new(name.clone())
            .freshness(time::Duration::from_millis(millis))
            .content(description.encode());
        if let Some(last) = name.as_ref().last() {
            data = data.final_block(last);
        }
        Ok(self.signer.sign_data(&data)?)
    }
}

/// The version of an answer: the second of its last change, and within that second a part of what its entity
/// tag comes to, so that two gateways mostly publish the same state under the same name. Without a last
/// change it is the time of the answer, for an entity tag alone says nothing of what is newer.
///
/// What the web server describes as it describes what is `held` keeps its version, unless its entity tag is a
/// weak one, under which bytes may differ; anything else is newer than what is held, because whoever asks for
/// the newest version gets the one with the largest number.
pub(super) fn version_of(
    known: &ClientValidators,
    modified: Option<UnixTime>,
    now: UnixTime,
    held: Option<HeldVersion<'_>>,
) -> u64 {
    let is_weak = known.etag.as_ref().is_some_and(|etag| etag.starts_with("W/"));
    match held {
        Some(held) if held.known == known && *known != ClientValidators::default() && !is_weak => {
            held.version
        }
        _ => {
            let least = held.map_or(0, |held| held.version.saturating_add(1));
            time_of_change(known, modified, now).max(least)
        }
    }
}

/// In microseconds since 1970.
fn time_of_change(known: &ClientValidators, modified: Option<UnixTime>, now: UnixTime) -> u64 {
    let Some(modified) = modified else { return now.as_millis().saturating_mul(1000) };
    let part = known.etag.as_ref().map_or(0, |etag| {
        let digest = trust::sha256(etag.as_bytes());
        digest.iter().take(7).fold(0u64, |number, byte| number << 8 | u64::from(*byte)) % 1_000_000
    });
    modified.as_secs().saturating_mul(1_000_000).saturating_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(etag: Option<&str>) -> ClientValidators {
        ClientValidators { etag: etag.map(str::to_owned), modified: None }
    }

    #[test]
    fn a_version_follows_from_what_the_server_says_of_its_state() {
        let (now, then) = (UnixTime::from_secs(2_000_000_000), Some(UnixTime::from_secs(1_700_000_000)));
        assert_eq!(version_of(&known(None), then, now, None), 1_700_000_000_000_000);
        let tagged = version_of(&known(Some("\"a\"")), then, now, None);
        assert_eq!(tagged / 1_000_000, 1_700_000_000);
        assert_ne!(tagged, version_of(&known(Some("\"b\"")), then, now, None));
        assert_eq!(tagged, version_of(&known(Some("\"a\"")), then, UnixTime::ZERO, None));
        assert_eq!(version_of(&known(None), None, now, None), 2_000_000_000_000_000);
    }

    #[test]
    fn the_newest_version_is_the_latest_answer_whatever_its_entity_tag_is() {
        let now = UnixTime::from_secs(2_000_000_000);
        for tags in [["\"a\"", "\"b\""], ["\"b\"", "\"a\""]] {
            let [first, second] = tags.map(|tag| known(Some(tag)));
            for modified in [None, Some(UnixTime::from_secs(1_700_000_000))] {
                let before = version_of(&first, modified, now, None);
                assert!(
                    version_of(&second, modified, now, Some(HeldVersion { known: &first, version: before }))
                        > before,
                    "{tags:?}"
                );
                assert_eq!(
                    version_of(&first, modified, now, Some(HeldVersion { known: &first, version: before })),
                    before,
                    "{tags:?}"
                );
            }
        }
        let weak = known(Some("W/\"a\""));
        let before = version_of(&weak, None, now, None);
        assert!(version_of(&weak, None, now, Some(HeldVersion { known: &weak, version: before })) > before);
    }
}
