//! Answers from the content store that wait whether somebody else's is heard first.

use std::collections::VecDeque;

use packet::NameHash;
use packet::time::Instant;

use crate::transmit::Transmit;

/// An answer that waits.
#[derive(Debug)]
pub(crate) struct WaitingAnswer {
    pub(crate) name: NameHash,
    /// When the Interest came.
    pub(crate) since: Instant,
    due: Instant,
    pub(crate) transmit: Transmit,
}

/// Answers that wait on one face, in the order in which they are due.
#[derive(Debug, Default)]
pub(crate) struct WaitingAnswers {
    answers: VecDeque<WaitingAnswer>,
}

/// Answers that wait at once on one face; of more the newest are not given: others have the Data as well.
const MAX_ANSWERS: usize = 256;

impl WaitingAnswers {
    /// Keeps an answer until `due`; false if there is no room.
    pub(crate) fn push(&mut self, name: NameHash, since: Instant, due: Instant, transmit: Transmit) -> bool {
        if self.answers.len() >= MAX_ANSWERS {
            return false;
        }
        let place = self.answers.partition_point(|answer| answer.due <= due);
        self.answers.insert(place, WaitingAnswer { name, since, due, transmit });
        true
    }

    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<WaitingAnswer> {
        if self.next_deadline() > now {
            return None;
        }
        self.answers.pop_front()
    }

    pub(crate) fn next_deadline(&self) -> Instant {
        self.answers.front().map_or(Instant::NEVER, |answer| answer.due)
    }
}
