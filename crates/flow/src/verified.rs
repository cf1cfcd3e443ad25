//! A fetch and what verifies it, as one machine: what an application drives, whatever carries its packets.

use std::collections::{BTreeMap, VecDeque};

use packet::time::Instant;
use packet::{Data, Interest, LinkHeader, NackReason, NameRef, Now};

use crate::fetch::{FetchError, Fetcher, Segment};
use crate::verify::UnverifiedKind;
use crate::verify::{Cost, VerificationError, VerificationOutcome, Verifier};

/// A packet that the verifier refused. The fetch asks for it again, if it was not refused too often.
#[derive(Clone, Debug)]
pub struct RefusedPacket {
    /// The packet.
    pub data: Data,
    /// The forwarder's face that it came by, if the forwarder tells.
    pub incoming_face: Option<u64>,
    /// Why.
    pub error: VerificationError,
}

/// What an Interest of a [`VerifiedFetch`] asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// The object: its version, or a segment.
    Object,
    /// What vouches for it: a certificate, or a manifest.
    Proof,
}

/// Fetches one object of which every packet is verified before the reader sees it.
///
/// # Calling order
/// Tell it what came ([`VerifiedFetch::handle_data`], [`VerifiedFetch::handle_nack`]) and that time has
/// passed ([`VerifiedFetch::handle_timeout`]). After each of these take the content
/// ([`VerifiedFetch::poll_segments`]), see whether it is over ([`VerifiedFetch::outcome`]), send what
/// [`VerifiedFetch::poll_interest`] hands out, and set the timer to [`VerifiedFetch::next_deadline`]. Packets
/// that were refused are told of by [`VerifiedFetch::poll_refused`].
pub struct VerifiedFetch {
    fetcher: Fetcher,
    verifier: Box<dyn Verifier>,
    /// By which face packets came that wait for a verdict, if the forwarder tells.
    faces: BTreeMap<Option<u64>, u64>,
    /// As many as may be refused in a row, at most.
    refused: VecDeque<RefusedPacket>,
}

impl VerifiedFetch {
    /// Fetches with `fetcher`, which must leave verification to its owner, and has `verifier` look at what
    /// comes.
    pub fn new(fetcher: Fetcher, mut verifier: Box<dyn Verifier>) -> Self {
        verifier.handle_delivered(fetcher.next_segment());
        VerifiedFetch { fetcher, verifier, faces: BTreeMap::new(), refused: VecDeque::new() }
    }

    /// The fetch.
    pub fn fetcher(&self) -> &Fetcher {
        &self.fetcher
    }

    /// What verifies it.
    pub fn verifier(&self) -> &dyn Verifier {
        &*self.verifier
    }

    /// What verification has computed since this was last asked for.
    pub fn take_cost(&mut self) -> Cost {
        self.verifier.take_cost()
    }

    /// A Data came, with what its last hop told beside it; says whether it was for this fetch.
    pub fn handle_data(&mut self, now: Now, data: &Data, header: &LinkHeader) -> bool {
        let is_ours = self.verifier.handle_data(now, data)
            || self.fetcher.receive_data(now.instant, data.clone(), header);
        if is_ours {
            self.settle(now, header.incoming_face);
        }
        is_ours
    }

    /// An Interest came back, maybe one of this fetch.
    pub fn handle_nack(&mut self, now: Now, name: NameRef<'_>, reason: NackReason) {
        self.verifier.handle_nack(now, name, reason);
        self.fetcher.receive_nack(now.instant, name, reason);
        self.settle(now, None);
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Now) {
        self.fetcher.handle_timeout(now.instant);
        self.verifier.handle_timeout(now);
        self.settle(now, None);
    }

    /// Hands out the next segments of the object, in order and verified, at most `most` of them.
    pub fn poll_segments(&mut self, most: usize, segments: &mut Vec<Segment>) {
        segments.extend(std::iter::from_fn(|| self.fetcher.poll_content()).take(most));
        if let Some(last) = segments.last() {
            self.verifier.handle_delivered(last.segment + 1);
        }
    }

    /// The next packet that was refused.
    pub fn poll_refused(&mut self) -> Option<RefusedPacket> {
        self.refused.pop_front()
    }

    /// The next Interest to send now, and what it asks for.
    pub fn poll_interest(&mut self, now: Now) -> Option<(Interest, RequestKind)> {
        let proof = self.verifier.poll_interest(now).map(|interest| (interest, RequestKind::Proof));
        proof.or_else(|| Some((self.fetcher.poll_transmit(now.instant)?, RequestKind::Object)))
    }

    /// How it ended, if it has.
    pub fn outcome(&self) -> Option<Result<(), FetchError>> {
        if let Some(error) = self.fetcher.error() {
            return Some(Err(error.clone()));
        }
        if self.fetcher.is_complete() {
            return Some(Ok(()));
        }
        let (error, name) = (self.verifier.hopeless()?, self.fetcher.object_name()?);
        Some(Err(FetchError::NotAccepted { name: self.fetcher.any_name(name), error: error.clone() }))
    }

    /// When to call [`VerifiedFetch::handle_timeout`] and [`VerifiedFetch::poll_interest`] again;
    /// [`Instant::NEVER`] if nothing waits.
    pub fn next_deadline(&self) -> Instant {
        self.fetcher.next_deadline().unwrap_or(Instant::NEVER).min(self.verifier.next_deadline())
    }

    /// Carries what came to the verifier, and verdicts back.
    fn settle(&mut self, now: Now, face: Option<u64>) {
        while let Some(packet) = self.fetcher.poll_unverified() {
            if let Some(face) = face {
                self.faces.insert(place(packet.subject), face);
            }
            self.verifier.handle_packet(now, packet);
        }
        while let Some(VerificationOutcome { subject, refused }) = self.verifier.poll_outcome() {
            let incoming_face = self.faces.remove(&place(subject));
            match refused {
                None => self.fetcher.accept(now.instant, subject),
                Some(error) => self.refuse(now, subject, incoming_face, error),
            }
        }
    }

    fn refuse(
        &mut self,
        now: Now,
        subject: UnverifiedKind,
        incoming_face: Option<u64>,
        error: VerificationError,
    ) {
        if let Some(data) = self.fetcher.under_verification(subject) {
            let data = data.clone();
            if self.refused.len() < crate::MAX_REFUSED_IN_A_ROW as usize {
                self.refused.push_back(RefusedPacket { data, incoming_face, error: error.clone() });
            }
        }
        if let UnverifiedKind::Segment(segment) = subject
            && let Some(digest) = self.verifier.digest_of(segment)
        {
            self.fetcher.require_digest(segment, digest);
        }
        self.fetcher.refuse(now.instant, subject, error);
    }
}

impl std::fmt::Debug for VerifiedFetch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VerifiedFetch").field("fetcher", &self.fetcher).finish_non_exhaustive()
    }
}

fn place(subject: UnverifiedKind) -> Option<u64> {
    match subject {
        UnverifiedKind::Discovery => None,
        UnverifiedKind::Segment(segment) => Some(segment),
    }
}
