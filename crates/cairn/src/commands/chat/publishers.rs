//! Who signs what a member says, in CCNx: the publisher of the first message that was accepted. What others
//! sign under that name is refused, and with anchors, only what those have signed is accepted.

use std::collections::{BTreeMap, VecDeque};

use flow::Unverified;
use flow::verify::{Cost, PublisherVerifier, Summary, VerificationError, VerificationOutcome, Verifier};
use packet::random::Random;
use packet::time::Instant;
use packet::{Data, Interest, NackReason, Name, NameRef, Now};
use trust::PublicKey;

/// Members whose publishers are remembered: more than there can be messages that wait for a verdict, so that
/// at the limit there is one of whom none waits.
const MAX_PUBLISHERS: usize = super::MAX_ASKED + 1;

/// Verifies the messages of each member by themselves.
pub(super) struct MemberVerifier {
    anchors: Vec<PublicKey>,
    members: BTreeMap<Name, MemberState>,
    verdicts: VecDeque<VerificationOutcome>,
    random: Random,
    /// Counts messages, to tell who was heard longest ago.
    clock: u64,
}

struct MemberState {
    verifier: PublisherVerifier,
    /// Messages that wait for a verdict.
    waiting: usize,
    last_used: u64,
}

impl MemberVerifier {
    /// Believes the holders of `anchors`, or whoever signs a member's first message if there are none.
    pub(super) fn new(anchors: Vec<PublicKey>, seed: u64) -> Self {
        MemberVerifier {
            anchors,
            members: BTreeMap::new(),
            verdicts: VecDeque::new(),
            random: Random::from_seed(seed),
            clock: 0,
        }
    }

    /// Forgets whoever was heard longest ago and has no message that waits.
    fn make_room(&mut self) {
        if self.members.len() < MAX_PUBLISHERS {
            return;
        }
        let idle = self.members.iter().filter(|(_, member)| member.waiting == 0);
        if let Some(name) = idle.min_by_key(|(_, member)| member.last_used).map(|(name, _)| name.clone()) {
            self.members.remove(&name);
        }
    }

    fn collect(&mut self) {
        for member in self.members.values_mut().filter(|member| member.waiting > 0) {
            while let Some(verdict) = member.verifier.poll_outcome() {
                member.waiting -= 1;
                self.verdicts.push_back(verdict);
            }
        }
    }
}

impl Verifier for MemberVerifier {
    fn handle_packet(&mut self, now: Now, packet: Unverified) {
        let name = packet.data.name();
        let name = name.prefix(name.component_count().saturating_sub(1)).to_name();
        if !self.members.contains_key(&name) {
            self.make_room();
        }
        if self.members.len() >= MAX_PUBLISHERS && !self.members.contains_key(&name) {
            let refused = Some(VerificationError::TooManyPublishers);
            return self.verdicts.push_back(VerificationOutcome { subject: packet.subject, refused });
        }
        let (anchors, seed) = (&self.anchors, &mut self.random);
        let member = self.members.entry(name).or_insert_with(|| MemberState {
            verifier: PublisherVerifier::new(anchors.iter().cloned(), seed.next_u64()),
            waiting: 0,
            last_used: 0,
        });
        self.clock += 1;
        (member.waiting, member.last_used) = (member.waiting + 1, self.clock);
        member.verifier.handle_packet(now, packet);
        self.collect();
    }

    fn handle_data(&mut self, now: Now, data: &Data) -> bool {
        let mut is_wanted = false;
        for member in self.members.values_mut().filter(|member| member.waiting > 0) {
            is_wanted |= member.verifier.handle_data(now, data);
        }
        self.collect();
        is_wanted
    }

    fn handle_nack(&mut self, now: Now, name: NameRef<'_>, reason: NackReason) {
        self.members.values_mut().for_each(|member| member.verifier.handle_nack(now, name, reason));
    }

    fn handle_timeout(&mut self, now: Now) {
        for member in self.members.values_mut().filter(|member| member.waiting > 0) {
            member.verifier.handle_timeout(now);
        }
        self.collect();
    }

    fn poll_outcome(&mut self) -> Option<VerificationOutcome> {
        self.verdicts.pop_front()
    }

    fn poll_interest(&mut self, now: Now) -> Option<Interest> {
        let mut waiting = self.members.values_mut().filter(|member| member.waiting > 0);
        waiting.find_map(|member| member.verifier.poll_interest(now))
    }

    fn next_deadline(&self) -> Instant {
        let deadlines = self.members.values().map(|member| member.verifier.next_deadline());
        deadlines.min().unwrap_or(Instant::NEVER)
    }

    fn take_cost(&mut self) -> Cost {
        let mut cost = Cost::default();
        self.members.values_mut().for_each(|member| cost += member.verifier.take_cost());
        cost
    }

    fn summary(&self) -> Summary {
        Summary { trusted: !self.anchors.is_empty(), ..Summary::default() }
    }
}

#[cfg(test)]
mod tests {
    use flow::UnverifiedKind;
    use packet::UnixTime;
    use packet::ccnx::{KeyLocator, SignedInfo, Ticks, uri};
    use trust::ccnx::CcnxSigner;
    use trust::{KeyKind, PrivateKey};

    use super::*;

    const NOW: Now = Now { instant: Instant::from_secs(1), unix: UnixTime::from_secs(1) };

    fn key() -> (CcnxSigner, PublicKey) {
        let key = PrivateKey::generate(KeyKind::Rsa).unwrap();
        let public = key.public_key().unwrap();
        (CcnxSigner::new(key).unwrap(), public)
    }

    fn message(signer: &CcnxSigner, member: &str, number: u64) -> Data {
        let name = uri::parse(&format!("{member}/%00%{number:02X}")).unwrap();
        let wire = signer.sign(&name, b"hello", Ticks::from_unix(1, 0), |info| info).unwrap();
        Data::decode_ccnx(wire.into()).unwrap()
    }

    fn is_accepted(verifier: &mut MemberVerifier, data: Data) -> bool {
        verifier.handle_packet(NOW, Unverified { subject: UnverifiedKind::Segment(7), data });
        let verdict = verifier.poll_outcome().unwrap();
        assert_eq!(verdict.subject, UnverifiedKind::Segment(7));
        verdict.refused.is_none()
    }

    #[test]
    fn every_member_may_have_another_publisher_and_none_has_two() {
        let ((ann, _), (bob, _)) = (key(), key());
        let mut verifier = MemberVerifier::new(Vec::new(), 1);
        assert!(is_accepted(&mut verifier, message(&ann, "ccnx:/ann/room", 1)));
        assert!(is_accepted(&mut verifier, message(&bob, "ccnx:/bob/room", 1)));
        assert!(!is_accepted(&mut verifier, message(&bob, "ccnx:/ann/room", 2)));
        assert!(is_accepted(&mut verifier, message(&ann, "ccnx:/ann/room", 2)));
    }

    #[test]
    fn with_an_anchor_nobody_else_is_believed() {
        let ((ann, anchor), (bob, _)) = (key(), key());
        let mut verifier = MemberVerifier::new(vec![anchor], 1);
        assert!(is_accepted(&mut verifier, message(&ann, "ccnx:/ann/room", 1)));
        assert!(!is_accepted(&mut verifier, message(&bob, "ccnx:/bob/room", 1)));
    }

    #[test]
    fn of_more_members_than_are_remembered_those_stay_whose_key_is_being_fetched() {
        let (ann, _) = key();
        let key_name = uri::parse("ccnx:/key").unwrap();
        let elsewhere = KeyLocator::KeyName { name: (&key_name).into(), publisher: None };
        let name = uri::parse("ccnx:/slow/room/%00%01").unwrap();
        let at = Ticks::from_unix(1, 0);
        let wire = ann.sign(&name, b"hello", at, |info| SignedInfo { key_locator: Some(elsewhere), ..info });
        let slow = Data::decode_ccnx(wire.unwrap().into()).unwrap();
        let mut verifier = MemberVerifier::new(Vec::new(), 1);
        verifier.handle_packet(NOW, Unverified { subject: UnverifiedKind::Segment(1), data: slow });
        assert_eq!(verifier.poll_outcome(), None);
        assert_eq!(verifier.poll_interest(NOW).unwrap().name(), key_name.as_ref());
        for number in 0..2 * MAX_PUBLISHERS {
            let name = uri::parse(&format!("ccnx:/{number}/room/%00%01")).unwrap();
            let wire = ann.sign(&name, b"hello", at, |info| info).unwrap();
            assert!(is_accepted(&mut verifier, Data::decode_ccnx(wire.into()).unwrap()));
        }
        assert_eq!(verifier.members.len(), MAX_PUBLISHERS);
        assert!(verifier.members.values().any(|member| member.waiting == 1));
    }
}
