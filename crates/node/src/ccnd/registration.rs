//! Prefixes that clients register for themselves and for other faces.

use engine::FaceId;
use packet::ccnx::NameSource;
use packet::ccnx::management::{ForwardingEntry, ForwardingFlags, StatusResponse, Verb};
use packet::time::Duration;
use packet::{Name, Now};

use super::entries::Registration;
use super::requests::{Answer, Request};
use super::{Ccnd, DIALECT};
use crate::control::NodeControl;

/// The lifetime of a registration that names none, in seconds.
const USUAL: u32 = 2_000_000_000;
/// What is longer than an hour and is not for ever …
const TOO_LONG: std::ops::Range<u32> = 3601..1 << 30;
/// … is shortened to this.
const SHORTENED: u32 = 300;

impl Ccnd {
    pub(super) fn register(
        &mut self,
        now: Now,
        node: &mut dyn NodeControl,
        request: Request<'_>,
    ) -> Option<Answer> {
        let impossible = || Answer::refused(StatusResponse::TEMPORARY, "could not register prefix");
        let Ok(asked) = ForwardingEntry::decode(request.content) else {
            return ForwardingEntry::lacks_name(request.content).then(impossible).flatten();
        };
        asked.action?;
        let done = self.try_to_register(now, node, request, &asked);
        done.and_then(|told| told.encode().ok()).map(Answer::Done).or_else(impossible)
    }

    fn try_to_register<'a>(
        &mut self,
        now: Now,
        node: &mut dyn NodeControl,
        Request { verb, from, .. }: Request<'_>,
        asked: &ForwardingEntry<'a>,
    ) -> Option<ForwardingEntry<'a>> {
        let face = match (verb, asked.face_id.map(FaceId)) {
            (Verb::SelfReg, None) => from,
            (Verb::SelfReg, Some(face)) if face != from => return None,
            (_, face) => face?,
        };
        let right = asked.action == Some(verb.as_str()) && asked.ccnd_id.is_none_or(|id| id == self.id());
        if !right || node.face(face).is_none_or(|face| face.dialect != DIALECT) {
            return None;
        }
        let lifetime = match asked.freshness_seconds.unwrap_or(USUAL) {
            seconds if TOO_LONG.contains(&seconds) => SHORTENED,
            seconds => seconds,
        };
        let flags = asked.flags.unwrap_or_default();
        let prefix = name(&asked.name)?;
        let until = now.instant + Duration::from_secs(lifetime.into());
        let new = Registration { flags, until };
        let refreshed = self.registrations.add(now.instant, node, &(prefix, face), new)?;
        let flags = if refreshed { flags.with(ForwardingFlags::REFRESHED) } else { flags };
        Some(ForwardingEntry {
            action: None,
            face_id: Some(face.0),
            flags: Some(flags),
            freshness_seconds: Some(lifetime),
            ..*asked
        })
    }

    pub(super) fn unregister(&mut self, node: &mut dyn NodeControl, content: &[u8]) -> Option<Answer> {
        let impossible = || Answer::refused(StatusResponse::TEMPORARY, "could not unregister prefix");
        let Ok(asked) = ForwardingEntry::decode(content) else { return impossible() };
        if asked.action != Some(Verb::Unreg.as_str()) {
            return impossible();
        }
        if asked.ccnd_id != Some(self.id()) {
            return Answer::refused(StatusResponse::CCND_ID, "missing or incorrect CCNDID");
        }
        let (Some(face), Some(prefix)) = (asked.face_id.map(FaceId), name(&asked.name)) else {
            return impossible();
        };
        if !self.registrations.remove(node, &prefix, face) {
            return impossible();
        }
        let told = ForwardingEntry { action: None, ..asked };
        told.encode().ok().map(Answer::Done).or_else(impossible)
    }
}

pub(super) fn name(source: &NameSource<'_>) -> Option<Name> {
    match source {
        NameSource::Ccnb(name) => name.to_name().ok(),
        NameSource::Canonical(name) => Some(name.to_name()),
    }
}
