//! Objects come whole and checked, or not at all, over a connection that loses and forges.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use std::collections::BTreeSet;
use std::io;

use cairn_client::{FetchFailure, FetchOptions, Reader, RefusedPacketInfo};
use flow::verify::{AnchoredVerifier, IntegrityVerifier, ManifestVerifier, VerificationOutcome, Verifier};
use flow::{
    Answer, Authenticity, Discovery, FetchConfig, FetchError, Fetcher, Publication, PublicationConfig,
    Segment, SegmentSize, Unverified, UnverifiedKind, Verification, VerifiedFetch,
};
use packet::ndn::DataBuilder;
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Component, Data, Interest, LinkHeader, NackReason, Name, Now};
use trust::certificate::{Issue, names, self_signed};
use trust::manifest::{MANIFEST, ManifestLimits};
use trust::{
    Certificate, KeyKind, Policy, PrivateKey, Signer, UnixTime, Validator, ValidatorLimits, ValidityPeriod,
};

use common::{Peer, connect};

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

/// A root and somebody it certifies.
struct Parties {
    root: Certificate,
    alice: Certificate,
    signer: Signer,
}

fn parties() -> Parties {
    let validity = ValidityPeriod { not_before: UnixTime::from_secs(0), not_after: UnixTime::END };
    let (root_key, key) =
        (PrivateKey::generate(KeyKind::Ed25519).unwrap(), PrivateKey::generate(KeyKind::EcdsaP256).unwrap());
    let now = UnixTime::from_secs(1_700_000_000);
    let root = self_signed(&root_key, &name("/lab/KEY/0"), names::SELF, now, validity).unwrap();
    let issue = Issue { issuer_id: Component::generic(b"lab"), version: 1, validity };
    let root_signer = Signer::new(root_key, name("/lab/KEY/0"));
    let alice = issue.certify(&name("/lab/alice/KEY/1"), &key.public_key().unwrap(), &root_signer).unwrap();
    let signer = Signer::new(key, alice.name().to_name());
    Parties { root, alice, signer }
}

fn bytes() -> Vec<u8> {
    (0..100_000u32).map(|number| (number % 251) as u8).collect()
}

/// Publishes one object and certificates, with some mischief.
struct Publisher {
    publication: Publication,
    bytes: Vec<u8>,
    others: Vec<Data>,
    /// Every so many-th packet is lost.
    lost: u64,
    /// This segment is forged once, or always.
    forged: Option<(u64, bool)>,
    /// Whether what is asked for by its digest is answered with that alone.
    is_exact: bool,
    /// What is answered once in place of what should be.
    once: Vec<Data>,
    /// Whether the first Interest for each thing beside the object itself comes back: there is congestion.
    congested: bool,
    came_back: BTreeSet<Name>,
}

impl Publisher {
    fn new(signer: Signer, others: Vec<Data>) -> Self {
        let bytes = bytes();
        let config = PublicationConfig::new(name("/lab/alice/file"), 7, bytes.len() as u64, signer);
        let publication = Publication::new(config).unwrap();
        Publisher {
            publication,
            bytes,
            others,
            lost: 0,
            forged: None,
            is_exact: false,
            once: Vec::new(),
            congested: false,
            came_back: BTreeSet::new(),
        }
    }

    fn serve(mut self, mut peer: Peer) {
        let mut count = 0u64;
        while let Some(received) = peer.receive() {
            count += 1;
            if self.lost > 0 && count.is_multiple_of(self.lost) {
                continue;
            }
            if self.congested && self.comes_back(&received.interest()) {
                peer.send(&received.packet, &LinkHeader::default(), Some(NackReason::Congestion));
                continue;
            }
            match self.answer(&received.interest()) {
                Some(data) => peer.send_data(&data),
                None => peer.send(&received.packet, &LinkHeader::default(), Some(NackReason::Unspecified)),
            }
        }
    }

    fn comes_back(&mut self, interest: &Interest) -> bool {
        let name = interest.name().to_name();
        let is_beside = [names::KEY, MANIFEST].iter().any(|word| name.components().any(|part| part == *word));
        is_beside && self.came_back.insert(name)
    }

    fn answer(&mut self, interest: &Interest) -> Option<Data> {
        if let Some(place) = self.once.iter().position(|data| interest.matches(data)) {
            return Some(self.once.remove(place));
        }
        if let Some(found) = self.others.iter().find(|data| interest.matches(data)) {
            return Some(found.clone());
        }
        match self.publication.answer(interest).unwrap() {
            Answer::Data(data) => Some(data),
            Answer::Segment(range) => match self.forged {
                Some((segment, always))
                    if segment == range.segment
                        && !(self.is_exact && interest.implicit_digest().is_some()) =>
                {
                    self.forged = self.forged.filter(|_| always);
                    let forged = DataBuilder::new(interest.name().to_name()).content(b"forged".to_vec());
                    Some(forged.build_with_digest().unwrap())
                }
                _ => Some(self.segment(range.segment)),
            },
            Answer::Refuse | Answer::NotMine => None,
        }
    }

    fn segment(&self, segment: u64) -> Data {
        let range = self.publication.range(segment).unwrap();
        let start = range.offset_bytes as usize;
        self.publication.segment(segment, &self.bytes[start..start + range.len_bytes as usize]).unwrap()
    }
}

#[derive(Default)]
struct Collected(Vec<u8>, Vec<RefusedPacketInfo>);

impl Reader for Collected {
    fn segments(&mut self, segments: &[Segment]) -> io::Result<()> {
        segments.iter().for_each(|segment| self.0.extend_from_slice(segment.data.content()));
        Ok(())
    }

    fn refused(&mut self, refused: RefusedPacketInfo) {
        self.1.push(refused);
    }
}

fn fetch(publisher: Publisher, verifier: Box<dyn Verifier>) -> (Result<(), FetchFailure>, Vec<u8>, bool) {
    fetch_from(publisher, "/lab/alice/file", 0, verifier)
}

fn fetch_from(
    publisher: Publisher,
    uri: &str,
    first_segment: u64,
    verifier: Box<dyn Verifier>,
) -> (Result<(), FetchFailure>, Vec<u8>, bool) {
    let (mut client, peer) = connect(move |peer| publisher.serve(peer));
    let mut config = FetchConfig {
        verification: Verification::Owner,
        discovery: Discovery::Metadata,
        discovery_timeout: Duration::from_millis(100),
        first_segment,
        ..FetchConfig::default()
    };
    // Losses by number hit the same segment several times now and then.
    config.transfer.max_attempts = 12;
    config.transfer.round_trip.bounds.min = Duration::from_millis(10);
    config.transfer.round_trip.bounds.initial = Duration::from_millis(50);
    let fetcher = Fetcher::new(name(uri), config, client.now(), 1);
    let mut collected = Collected::default();
    let fetch = VerifiedFetch::new(fetcher, verifier);
    let (fetch, result) = client.fetch(fetch, &mut collected, &FetchOptions::default());
    drop(client);
    peer.join().unwrap();
    (result, collected.0, fetch.verifier().summary().trusted)
}

fn anchored(root: &Certificate) -> Box<dyn Verifier> {
    let limits = ValidatorLimits::default();
    let validator = Validator::new(Policy::Hierarchical, [root.clone()], limits, Random::from_seed(1));
    Box::new(AnchoredVerifier::new(validator))
}

#[test]
fn without_an_anchor_an_object_comes_whole_and_untrusted() {
    let (result, got, trusted) =
        fetch(Publisher::new(Signer::digest(), vec![]), Box::new(IntegrityVerifier::new()));
    result.unwrap();
    assert_eq!((got, trusted), (bytes(), false));
}

#[test]
fn with_an_anchor_the_certificate_is_fetched_and_losses_are_mended() {
    let Parties { root, alice, signer } = parties();
    let mut publisher = Publisher::new(signer, vec![alice.data().clone()]);
    publisher.lost = 5;
    let (result, got, trusted) = fetch(publisher, anchored(&root));
    result.unwrap();
    assert_eq!((got, trusted), (bytes(), true));
}

#[test]
fn a_segment_that_is_forged_once_is_asked_for_again() {
    let Parties { root, alice, signer } = parties();
    let mut publisher = Publisher::new(signer, vec![alice.data().clone()]);
    publisher.forged = Some((3, false));
    let (result, got, _) = fetch(publisher, anchored(&root));
    result.unwrap();
    assert_eq!(got, bytes());
}

#[test]
fn a_segment_that_stays_forged_ends_the_fetch_and_is_not_handed_on() {
    let Parties { root, alice, signer } = parties();
    let mut publisher = Publisher::new(signer, vec![alice.data().clone()]);
    publisher.forged = Some((3, true));
    let (result, got, _) = fetch(publisher, anchored(&root));
    let failure = result.unwrap_err();
    assert!(matches!(failure, FetchFailure::Fetch(FetchError::NotAccepted { .. })), "{failure}");
    assert!(got.len() <= 3 * 8000 && bytes().starts_with(&got));
}

#[test]
fn however_much_comes_while_a_certificate_is_fetched_is_verified_when_it_has_come() {
    let Parties { root, alice, signer } = parties();
    let publisher = Publisher::new(signer, vec![]);
    let limits = ValidatorLimits { pending: 2, ..ValidatorLimits::default() };
    let validator = Validator::new(Policy::Hierarchical, [root], limits, Random::from_seed(1));
    let mut verifier = AnchoredVerifier::new(validator);
    let now = Now { instant: Instant::ZERO, unix: UnixTime::from_secs(1_700_000_000) };
    for segment in 0..9 {
        let data = publisher.segment(segment);
        verifier.handle_packet(now, Unverified { subject: UnverifiedKind::Segment(segment), data });
    }
    assert!(verifier.poll_interest(now).is_some() && verifier.poll_interest(now).is_none());
    assert_eq!(verifier.poll_outcome(), None);
    assert!(verifier.handle_data(now, alice.data()));
    for segment in 0..9 {
        let accepted = VerificationOutcome { subject: UnverifiedKind::Segment(segment), refused: None };
        assert_eq!(verifier.poll_outcome(), Some(accepted));
    }
}

#[test]
fn somebody_elses_object_is_refused() {
    let (ours, theirs) = (parties(), parties());
    let publisher = Publisher::new(theirs.signer, vec![theirs.alice.data().clone()]);
    let (result, got, _) = fetch(publisher, anchored(&ours.root));
    assert!(matches!(result, Err(FetchFailure::Fetch(FetchError::NotAccepted { .. }))));
    assert!(got.is_empty());
}

/// Published with a manifest of several packets in place of a signature in each segment.
fn with_manifest(signer: &Signer, others: Vec<Data>) -> Publisher {
    let mut publisher = Publisher::new(signer.clone(), others);
    let size_bytes = publisher.bytes.len() as u64;
    let mut config = PublicationConfig::new(name("/lab/alice/file"), 7, size_bytes, signer.clone());
    config.segment_size = SegmentSize::Packet(1200);
    config.metadata_freshness = Duration::from_secs(1);
    config.authenticity = Authenticity::Manifest;
    let mut publication = Publication::new(config).unwrap();
    while let Some(range) = publication.next_unlisted() {
        let start = range.offset_bytes as usize;
        publication.list_segment(&publisher.bytes[start..start + range.len_bytes as usize]).unwrap();
    }
    publisher.publication = publication;
    publisher
}

#[test]
fn a_manifest_of_several_packets_vouches_for_all_segments() {
    let Parties { root, alice, signer } = parties();
    let mut publisher = with_manifest(&signer, vec![alice.data().clone()]);
    assert!(publisher.publication.manifest().len() > 2);
    publisher.lost = 7;
    publisher.forged = Some((5, false));
    let (result, got, trusted) = fetch(publisher, Box::new(ManifestVerifier::new(anchored(&root), 1)));
    result.unwrap();
    assert_eq!((got, trusted), (bytes(), true));
}

#[test]
fn congestion_on_the_way_to_manifest_and_certificate_ends_nothing() {
    let Parties { root, alice, signer } = parties();
    let mut publisher = with_manifest(&signer, vec![alice.data().clone()]);
    publisher.congested = true;
    let (result, got, trusted) = fetch(publisher, Box::new(ManifestVerifier::new(anchored(&root), 1)));
    result.unwrap();
    assert_eq!((got, trusted), (bytes(), true));
}

#[test]
fn a_manifest_larger_than_what_is_kept_of_it_is_read_as_the_object_is_delivered() {
    let Parties { root, alice, signer } = parties();
    let publisher = with_manifest(&signer, vec![alice.data().clone()]);
    let limits = ManifestLimits { segments: 30, ..ManifestLimits::default() };
    let verifier = ManifestVerifier::new(anchored(&root), 1).with_limits(limits);
    let (result, got, trusted) = fetch(publisher, Box::new(verifier));
    result.unwrap();
    assert_eq!((got, trusted), (bytes(), true));
}

#[test]
fn a_fetch_from_the_middle_needs_no_room_for_what_comes_before() {
    let Parties { root, alice, signer } = parties();
    let publisher = with_manifest(&signer, vec![alice.data().clone()]);
    let before = publisher.publication.range(70).unwrap().offset_bytes as usize;
    let limits = ManifestLimits { segments: 30, ..ManifestLimits::default() };
    let verifier = ManifestVerifier::new(anchored(&root), 1).with_limits(limits);
    let (result, got, _) = fetch_from(publisher, "/lab/alice/file/v=7", 70, Box::new(verifier));
    result.unwrap();
    assert_eq!(got, bytes()[before..]);
}

#[test]
fn a_manifest_of_somebody_else_or_none_at_all_is_refused() {
    let (ours, theirs) = (parties(), parties());
    let forged = with_manifest(&theirs.signer, vec![ours.alice.data().clone()]);
    let none = Publisher::new(Signer::digest(), vec![]);
    for publisher in [forged, none] {
        let (result, got, _) = fetch(publisher, Box::new(ManifestVerifier::new(anchored(&ours.root), 1)));
        let failure = result.unwrap_err();
        assert!(matches!(failure, FetchFailure::Fetch(FetchError::NotAccepted { .. })), "{failure}");
        assert!(got.is_empty());
    }
}

#[test]
fn a_packet_of_the_manifest_that_is_forged_once_is_asked_for_again() {
    for packet in [0, 1, 2] {
        let Parties { root, alice, signer } = parties();
        let mut publisher = with_manifest(&signer, vec![alice.data().clone()]);
        let forged = DataBuilder::new(name(&format!("/lab/alice/file/v=7/32=manifest/seg={packet}")));
        publisher.once.push(forged.content(b"forged".to_vec()).build_with_digest().unwrap());
        let (result, got, trusted) = fetch(publisher, Box::new(ManifestVerifier::new(anchored(&root), 1)));
        result.unwrap();
        assert_eq!((got, trusted), (bytes(), true), "{packet}");
    }
}

#[test]
fn a_segment_that_a_cache_has_forged_for_good_is_had_by_the_digest_that_the_manifest_lists() {
    let Parties { root, alice, signer } = parties();
    let mut publisher = with_manifest(&signer, vec![alice.data().clone()]);
    // A cache answers by name, and for ever.
    publisher.forged = Some((3, true));
    publisher.is_exact = true;
    let (result, got, trusted) = fetch(publisher, Box::new(ManifestVerifier::new(anchored(&root), 1)));
    result.unwrap();
    assert_eq!((got, trusted), (bytes(), true));
}

#[test]
fn what_is_refused_is_reported_with_its_digest_its_alleged_signer_and_the_face_it_came_by() {
    let Parties { root, .. } = parties();
    let (mut client, peer) = connect(|mut peer: Peer| {
        let mut next_hops = Vec::new();
        let forged = DataBuilder::new(name("/lab/alice/file/32=metadata/v=1/seg=0"))
            .content(b"forged".to_vec())
            .build_with_digest()
            .unwrap();
        while let Some(received) = peer.receive() {
            next_hops.push(received.header.next_hop_face);
            let header = LinkHeader { incoming_face: Some(261), ..LinkHeader::default() };
            peer.send(forged.wire(), &header, None);
        }
        (next_hops, forged)
    });
    let config = FetchConfig { verification: Verification::Owner, ..FetchConfig::default() };
    let attempts = config.discovery_attempts as usize;
    let fetcher = Fetcher::new(name("/lab/alice/file"), config, client.now(), 1);
    let mut collected = Collected::default();
    let options = FetchOptions { next_hop_face: Some(300), ..FetchOptions::default() };
    let fetch = VerifiedFetch::new(fetcher, anchored(&root));
    let (_, result) = client.fetch(fetch, &mut collected, &options);
    assert!(matches!(result, Err(FetchFailure::Fetch(FetchError::NotAccepted { .. }))));
    drop(client);
    let (next_hops, forged) = peer.join().unwrap();
    assert_eq!(next_hops, vec![Some(300); attempts]);
    assert_eq!(collected.1.len(), attempts);
    let refused = &collected.1[0];
    assert_eq!((refused.digest, refused.incoming_face), (forged.implicit_digest(), Some(261)));
    let words = refused.to_string();
    assert!(words.contains("/lab/alice/file/32=metadata/v=1/seg=0/sha256digest="), "{words}");
    assert!(words.contains("names no signer, from face 261"), "{words}");
}
