//! What each source may take of a turn, so that who sends most does not keep all others waiting.
//!
//! A share is time, not packets: one packet may cost a hundred times what another does. Whoever has used up
//! his share is read again in the next turn, after those who have not; the system keeps what came, and drops
//! what it has no room for. So who sends little waits for the rest of the turn in which it came, and for no
//! other.

use packet::time::Duration;

use crate::origin::Origin;

/// Time for one source in one turn. It is looked at after each read, so that one more read may go on top.
pub(in crate::plane) const SHARE: Duration = Duration::from_micros(100);

/// Who shares one part of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::plane) enum ChargedTo {
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
pub(in crate::plane) struct Turn {
    taken: Vec<(ChargedTo, Duration)>,
    /// Who used up a share in the turn before.
    heavy: Vec<ChargedTo>,
    number: usize,
}

impl Turn {
    /// Begins another turn with so many events, and says which of them is the first: another one each time,
    /// for those that come late may find nothing left of a share.
    pub(in crate::plane) fn begin(&mut self, events: usize) -> usize {
        self.heavy.clear();
        self.heavy
            .extend(self.taken.drain(..).filter(|(_, taken)| *taken >= SHARE).map(|(source, _)| source));
        self.number = self.number.wrapping_add(1);
        self.number.checked_rem(events).unwrap_or(0)
    }

    /// Whether anybody used up a share in the turn before.
    pub(in crate::plane) fn has_heavy(&self) -> bool {
        !self.heavy.is_empty()
    }

    /// Whether a source comes after the others, because it used up its share in the turn before.
    pub(in crate::plane) fn comes_last(&self, source: ChargedTo) -> bool {
        self.heavy.contains(&source)
    }

    /// Whether a source has something left of its share.
    pub(in crate::plane) fn has_left(&self, source: ChargedTo) -> bool {
        self.taken.iter().find(|(other, _)| *other == source).is_none_or(|(_, taken)| *taken < SHARE)
    }

    /// Takes note of what a source took.
    pub(in crate::plane) fn note(&mut self, source: ChargedTo, took: Duration) {
        match self.taken.iter_mut().find(|(other, _)| *other == source) {
            Some((_, taken)) => *taken += took,
            None => self.taken.push((source, took)),
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::NextHop;
    use packet::Dialect;
    use packet::ndn::InterestBuilder;

    use super::*;
    use crate::plane::bench::{bench, peer};

    const A: ChargedTo = ChargedTo::Origin(Origin::Address(system::AddressPrefix::V4(1)));
    const B: ChargedTo = ChargedTo::Datagrams(1);

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
    fn who_has_used_up_a_share_comes_last_in_the_next_turn_and_no_longer_after_a_light_one() {
        let mut turn = Turn::default();
        turn.begin(2);
        turn.note(A, SHARE);
        turn.note(B, SHARE / 2);
        assert!(!turn.has_heavy() && !turn.comes_last(A));
        turn.begin(2);
        assert!(turn.has_heavy() && turn.comes_last(A) && !turn.comes_last(B));
        turn.note(A, SHARE / 2);
        turn.begin(2);
        assert!(!turn.has_heavy() && !turn.comes_last(A));
    }

    #[test]
    fn each_event_comes_first_in_some_turn() {
        let mut turn = Turn::default();
        let mut firsts: Vec<usize> = (0..5).map(|_| turn.begin(5)).collect();
        firsts.sort_unstable();
        assert_eq!(firsts, [0, 1, 2, 3, 4]);
        assert_eq!(turn.begin(0), 0);
    }

    #[test]
    fn what_comes_with_that_of_a_heavy_source_leaves_before_it_whichever_was_ready_first() {
        let mut bench = bench();
        let (producer, face) = bench.neighbour();
        let hop = NextHop { face, cost: 0 };
        bench.plane.add_next_hop(Dialect::Ndn, &"/x".parse().unwrap(), hop, None).unwrap();
        let (stranger, (honest, _)) = (peer(), bench.neighbour());
        let shared = bench.plane.sockets.channels.get(0).unwrap();
        assert!(shared.owner().is_none());
        for round in 0..8 {
            let ask = |who: &str| {
                let name = format!("/x/{who}/{round}").parse().unwrap();
                InterestBuilder::new(name).nonce(round).build().unwrap().wire().to_vec()
            };
            stranger.send_to(&ask("stranger"), bench.here).unwrap();
            honest.send_to(&ask("honest"), bench.here).unwrap();
            bench.plane.schedule.turn.note(ChargedTo::Datagrams(0), SHARE);
            bench.work();
            let mut order = Vec::new();
            let mut frame = [0; 9000];
            while let Ok(length) = producer.recv(&mut frame) {
                let has = |who: &[u8]| frame[..length].windows(who.len()).any(|part| part == who);
                order.extend(["stranger", "honest"].into_iter().filter(|who| has(who.as_bytes())));
            }
            assert_eq!(order, ["honest", "stranger"], "round {round}");
        }
    }
}
