//! What each source may take of a turn, so that who sends most does not keep all others waiting.
//!
//! A share is time, not packets: one packet may cost a hundred times what another does. Whoever has used up
//! his share is read again in the next turn; the system keeps what came, and drops what it has no room for.

use packet::time::Duration;

use super::Origin;

/// Time for one source in one turn. It is looked at after each read, so that one more read may go on top.
pub(super) const SHARE: Duration = Duration::from_micros(100);

/// Who shares one part of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// All that comes from one address over connections and sockets of its own.
    Origin(Origin),
    /// A socket for datagrams that everybody may send to.
    Datagrams(usize),
    /// An interface.
    Ethernet(usize),
    /// A socket that connections come to.
    Listener(usize),
}

/// What was taken of the turn so far.
#[derive(Debug, Default)]
pub(super) struct Turn {
    taken: Vec<(Source, Duration)>,
    number: usize,
}

impl Turn {
    /// Begins another turn with so many events, and says which of them is the first: another one each time,
    /// for those that come late may find nothing left of a share.
    pub(super) fn begin(&mut self, events: usize) -> usize {
        self.taken.clear();
        self.number = self.number.wrapping_add(1);
        self.number.checked_rem(events).unwrap_or(0)
    }

    /// Whether a source has something left of its share.
    pub(super) fn has_left(&self, source: Source) -> bool {
        self.taken.iter().find(|(other, _)| *other == source).is_none_or(|(_, taken)| *taken < SHARE)
    }

    /// Takes note of what a source took.
    pub(super) fn note(&mut self, source: Source, took: Duration) {
        match self.taken.iter_mut().find(|(other, _)| *other == source) {
            Some((_, taken)) => *taken += took,
            None => self.taken.push((source, took)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Source = Source::Origin(Origin::V4(1));
    const B: Source = Source::Datagrams(1);

    #[test]
    fn who_has_used_up_a_share_waits_for_the_next_turn_and_nobody_else_does() {
        let mut turn = Turn::default();
        turn.begin(2);
        turn.note(A, SHARE / 2);
        assert!(turn.has_left(A) && turn.has_left(B));
        turn.note(A, SHARE / 2);
        turn.note(B, SHARE / 2);
        assert!(!turn.has_left(A) && turn.has_left(B));
        turn.begin(2);
        assert!(turn.has_left(A));
    }

    #[test]
    fn each_event_comes_first_in_some_turn() {
        let mut turn = Turn::default();
        let mut firsts: Vec<usize> = (0..5).map(|_| turn.begin(5)).collect();
        firsts.sort_unstable();
        assert_eq!(firsts, [0, 1, 2, 3, 4]);
        assert_eq!(turn.begin(0), 0);
    }
}
