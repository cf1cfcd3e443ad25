//! Fetching from CCNx: the latest version by excluding those that are known, then segments by their markers.

use packet::ccnx::{
    AnswerOriginKind, ChildSelector, ContentKind, ContentObjectView, Exclude, InterestFields, Ticks, markers,
};
use packet::time::Instant;
use packet::{Component, Data, Interest};

use super::super::object::Object;
use super::super::version_search::VersionSearch;
use super::super::{FetchError, Fetcher, Phase};
use crate::naming::NamingConvention;

impl Fetcher {
    /// The next Interest of a fetch from CCNx.
    pub(super) fn poll_ccnx(&mut self, now: Instant) -> Option<Interest> {
        let mut exclude = None;
        let (name, lifetime) = match &mut self.phase {
            Phase::Finding(finder) => {
                if !finder.is_due(now, &self.config) {
                    return None;
                }
                exclude = finder.search().map(VersionSearch::exclude);
                // Longer than the next attempt takes to come, so that a forwarder asks others then.
                (finder.asked().clone(), self.config.discovery_timeout.min(self.config.lifetime))
            }
            Phase::Fetching(object) => {
                let request = self.transfer.poll_request(now)?;
                match object.convention.with_segment(&object.name, request.item) {
                    Ok(name) => (name, self.config.lifetime),
                    Err(_) => return self.fail_for_length(),
                }
            }
            Phase::Failed(_) => return None,
        };
        let is_search = exclude.is_some();
        let is_segment = matches!(self.phase, Phase::Fetching(_));
        let nonce = self.nonces.next_u32().to_be_bytes();
        let fields = InterestFields {
            // The digest is the component behind a segment's number.
            max_suffix_components: is_segment.then_some(1),
            exclude: exclude.as_ref().map(Exclude::as_ref),
            child_selector: is_search.then_some(ChildSelector::RIGHTMOST),
            answer_origin_kind: if is_search { AnswerOriginKind::new(1) } else { None },
            lifetime: Some(Ticks::from_duration(lifetime)),
            nonce: Some(&nonce),
            ..InterestFields::default()
        };
        match fields.build(&name) {
            Ok(interest) => Some(interest),
            Err(_) => self.fail_for_length(),
        }
    }

    /// Takes up what discovery found: looks for a later version, or begins with what is there.
    pub(super) fn begin_ccnx(&mut self, now: Instant, data: Data) {
        let Phase::Finding(finder) = &mut self.phase else { return };
        if super::is_application_nack(&data) {
            self.phase = Phase::Failed(FetchError::Refused { name: data.any_name() });
        } else if finder.look_for_later_version(now, data.name()) {
            self.settle_version(now);
        } else {
            self.begin_with_segment(data);
        }
    }

    /// Begins with the latest version, when nobody has told of a later one in time.
    pub(in crate::fetch) fn settle_version(&mut self, now: Instant) {
        let Phase::Finding(finder) = &self.phase else { return };
        if let Some(name) = finder.settled_version(now, &self.config) {
            self.phase = Phase::Fetching(Object { name, convention: NamingConvention::Ccnx });
        }
    }
}

pub(super) fn final_segment(object: ContentObjectView<'_>) -> Option<u64> {
    object.final_block_id().and_then(markers::parse_segment)
}

pub(super) fn is_application_nack(object: ContentObjectView<'_>) -> bool {
    object.kind() == ContentKind::Nack
}

pub(super) fn is_version(component: Component<'_>) -> bool {
    markers::parse_version(component.value).is_some()
}
