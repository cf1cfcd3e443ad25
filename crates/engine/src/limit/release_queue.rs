//! Whose turn it is among the faces whose Interests wait.

use std::collections::BTreeSet;

use packet::time::Instant;

use crate::face_id::FaceId;

/// Faces with Interests that wait, and when the first of each may go on.
#[derive(Debug)]
pub(crate) struct ReleaseQueue {
    turns: BTreeSet<(Instant, FaceId)>,
    /// The first of them; kept apart because it is asked for after every packet.
    next: Instant,
}

impl Default for ReleaseQueue {
    fn default() -> Self {
        ReleaseQueue { turns: BTreeSet::new(), next: Instant::NEVER }
    }
}

impl ReleaseQueue {
    /// When somebody's turn comes; [`Instant::NEVER`] if nobody waits.
    pub(crate) fn next_deadline(&self) -> Instant {
        self.next
    }

    /// The first Interest of `face` was to go on at one time, and now at another.
    pub(crate) fn set(&mut self, face: FaceId, before: Option<Instant>, after: Option<Instant>) {
        if before == after {
            return;
        }
        if let Some(at) = before {
            self.turns.remove(&(at, face));
        }
        if let Some(at) = after {
            self.turns.insert((at, face));
        }
        self.next = self.turns.first().map_or(Instant::NEVER, |(at, _)| *at);
    }

    /// A face whose turn has come.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<FaceId> {
        if self.next > now {
            return None;
        }
        let (_, face) = self.turns.pop_first()?;
        self.next = self.turns.first().map_or(Instant::NEVER, |(at, _)| *at);
        Some(face)
    }
}
