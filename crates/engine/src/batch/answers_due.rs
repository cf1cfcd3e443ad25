//! Which answers a face owes, in the order in which it was asked.
//!
//! Most producers answer in the order in which they are asked, so that the Data that arrives is most likely
//! the one that the face was asked for longest ago. To compare its name with that Interest's is far cheaper
//! than to read and to hash it: if they are equal, so is all that is known of them. A wrong guess costs the
//! comparison and nothing else.

use std::collections::VecDeque;

use packet::{Interest, NameHash, Nonce};

use crate::face_id::FaceId;
use crate::tables::pending::{PendingId, PendingTable};

/// A Data that its face was to send next: which Interest it answers, and what is known of its name therefore.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DueAnswer {
    pub(crate) id: PendingId,
    /// Tells the Interest apart from others that get its number when it has been answered.
    pub(crate) ticket: u32,
    component_count: u16,
    name_bytes: u16,
}

impl DueAnswer {
    /// Number of components of the Data's name.
    #[inline]
    pub(super) fn component_count(&self) -> usize {
        self.component_count.into()
    }

    /// Bytes of these components on the wire.
    #[inline]
    pub(super) fn name_bytes(&self) -> usize {
        self.name_bytes.into()
    }
}

/// Interests that were sent to one face.
#[derive(Debug, Default)]
pub(crate) struct AnswersDue {
    asked: VecDeque<(PendingId, Nonce)>,
    /// Whether anybody has ever asked for a guess: only then is it worth remembering anything.
    wanted: bool,
}

/// Interests remembered for a face; of more the oldest are forgotten.
const MAX_REMEMBERED: usize = 1024;
/// With more Interests pending than this, looking at one is likely to wait for memory, which takes longer
/// than to hash a name.
const MAX_PENDING: u32 = 4096;

/// How long before they are looked at entries are fetched, and then their names.
const ENTRIES_AHEAD: usize = 8;
const NAMES_AHEAD: usize = 4;

impl AnswersDue {
    /// The face was asked.
    #[inline(always)]
    pub(crate) fn note(&mut self, id: PendingId, nonce: Nonce) {
        if self.wanted {
            self.remember(id, nonce);
        }
    }

    #[inline]
    fn remember(&mut self, id: PendingId, nonce: Nonce) {
        if self.asked.len() >= MAX_REMEMBERED {
            self.asked.pop_front();
        }
        self.asked.push_back((id, nonce));
    }

    /// The Interest that `face` was asked longest ago, and the hash of its name, if it `is_it`. It is then
    /// crossed off, whether it was or not: after a loss the next guess is right again.
    #[inline]
    pub(crate) fn guess(
        &mut self,
        pending: &mut PendingTable,
        face: FaceId,
        is_it: impl Fn(&Interest) -> bool,
    ) -> Option<(DueAnswer, NameHash)> {
        self.wanted = true;
        if pending.len() > MAX_PENDING {
            return None;
        }
        if let Some(&(id, _)) = self.asked.get(ENTRIES_AHEAD) {
            pending.prefetch(id);
        }
        if let Some(&(id, _)) = self.asked.get(NAMES_AHEAD) {
            pending.prefetch_name(id);
        }
        while let Some((id, nonce)) = self.asked.pop_front() {
            let found = pending.with_ticket(id, |entry, ticket| {
                // The entry's number may belong to another Interest by now, and the face may have been asked
                // again.
                if entry.out_record(face).is_none_or(|record| record.nonce != nonce) {
                    return None;
                }
                let answer = || {
                    // Packets have no more than 65,535 bytes.
                    let name_bytes = entry.interest.wire_components().len() as u16;
                    let component_count = entry.interest.component_count() as u16;
                    (DueAnswer { id, ticket, component_count, name_bytes }, entry.hash())
                };
                Some(is_it(&entry.interest).then(answer))
            });
            if let Some(Some(answer)) = found {
                return answer;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
