//! Which answers a face owes, in the order in which it was asked.
//!
//! Most producers answer in the order in which they are asked, so that the Data that arrives is most likely the one that the face was
//! asked for longest ago. To compare its name with that Interest's is far cheaper than to hash it: if they are equal, so are their hashes.
//! A wrong guess costs the comparison and nothing else.

use std::collections::VecDeque;

use packet::{Dialect, NameHash, NameRef, Nonce};

use super::pending::{PendingId, PendingTable};
use crate::face::FaceId;

/// Interests that were sent to one face.
#[derive(Debug, Default)]
pub(crate) struct AnswersDue {
    asked: VecDeque<(PendingId, Nonce)>,
    /// Whether anybody has ever asked for a guess: only then is it worth remembering anything.
    wanted: bool,
}

/// Interests remembered for a face; of more the oldest are forgotten.
const MOST: usize = 1024;
/// With more Interests pending than this, looking at one is likely to wait for memory, which takes longer than to hash a name.
const MOST_PENDING: u32 = 4096;

/// How long before they are looked at entries are fetched, and then their names.
const ENTRIES_AHEAD: usize = 8;
const NAMES_AHEAD: usize = 4;

impl AnswersDue {
    /// The face was asked.
    #[inline]
    pub(crate) fn note(&mut self, id: PendingId, nonce: Nonce) {
        if !self.wanted {
            return;
        }
        if self.asked.len() >= MOST {
            self.asked.pop_front();
        }
        self.asked.push_back((id, nonce));
    }

    /// The hash of `name` if it is the one that `face` was asked for longest ago, which is then crossed off, whether it was or not: after a
    /// loss the next guess is right again.
    #[inline]
    pub(crate) fn guess(
        &mut self,
        pending: &PendingTable,
        face: FaceId,
        dialect: Dialect,
        name: NameRef<'_>,
    ) -> Option<NameHash> {
        self.wanted = true;
        if pending.len() > MOST_PENDING {
            return None;
        }
        if let Some(&(id, _)) = self.asked.get(ENTRIES_AHEAD) {
            pending.prefetch(id);
        }
        if let Some(&(id, _)) = self.asked.get(NAMES_AHEAD) {
            pending.prefetch_name(id);
        }
        while let Some((id, nonce)) = self.asked.pop_front() {
            let Some(entry) = pending.get(id) else { continue };
            // The entry's number may belong to another Interest by now, and the face may have been asked again.
            if entry.out_record(face).is_none_or(|record| record.nonce != nonce) {
                continue;
            }
            let is_it = entry.interest.dialect() == dialect && entry.name() == name;
            return is_it.then_some(entry.hash());
        }
        None
    }
}
