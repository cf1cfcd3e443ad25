//! Objects are fetched and verified without a socket: the network is a function, and time is a number.

#![allow(clippy::unwrap_used, reason = "tests")]

extern crate trust as cairn_trust;

#[path = "../../trust/tests/common/mod.rs"]
mod parties;

use cairn_flow::source::{MemoryObject, Packets, Reply, Source};
use cairn_flow::verify::{AnchoredVerifier, Cost, IntegrityVerifier, ManifestVerifier, Verifier};
use cairn_flow::{
    Authenticity, Discovery, FetchConfig, Fetcher, Publication, PublicationConfig, SegmentSize, Verification,
};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Interest, LinkHeader, Now};
use trust::{Certificate, Policy, Signer, UnixTime, Validator, ValidatorLimits};

use parties::{name, root_and_alice};

const TODAY: UnixTime = UnixTime::from_secs(1_700_000_000);

fn bytes() -> Vec<u8> {
    (0..30_000u32).map(|number| (number % 251) as u8).collect()
}

fn anchored(root: &Certificate) -> AnchoredVerifier {
    let limits = ValidatorLimits::default();
    AnchoredVerifier::new(Validator::new(Policy::Hierarchical, [root.clone()], limits, Random::from_seed(1)))
}

/// An object of ten segments in memory.
fn object(signer: Signer, authenticity: Authenticity) -> MemoryObject<Publication, Vec<u8>> {
    let mut config = PublicationConfig::new(name("/lab/alice/file"), 7, bytes().len() as u64, signer);
    config.segment_size = SegmentSize::Content(3000);
    config.authenticity = authenticity;
    let mut publication = Publication::new(config).unwrap();
    while let Some(range) = publication.next_unlisted() {
        let start = range.offset_bytes as usize;
        publication.list_segment(&bytes()[start..start + range.len_bytes as usize]).unwrap();
    }
    MemoryObject::new(publication, bytes())
}

/// What came of a fetch, and the bytes of all packets that came.
struct Outcome {
    got: Vec<u8>,
    cost: Cost,
    came_bytes: u64,
}

fn fetch(mut network: impl Source, verifier: &mut dyn Verifier) -> Outcome {
    let config = FetchConfig {
        verification: Verification::Owner,
        discovery: Discovery::Metadata,
        ..FetchConfig::default()
    };
    let mut outcome = Outcome { got: Vec::new(), cost: Cost::default(), came_bytes: 0 };
    let mut now = Now { instant: Instant::ZERO, unix: TODAY };
    let mut fetcher = Fetcher::new(name("/lab/alice/file"), config, now.instant, 1);
    for _ in 0..1000 {
        let mut asked: Vec<Interest> = std::iter::from_fn(|| fetcher.poll_transmit(now.instant)).collect();
        asked.extend(std::iter::from_fn(|| verifier.poll_interest(now)));
        now.instant += Duration::from_millis(10);
        for interest in &asked {
            let Reply::Data(data) = network.answer(interest).unwrap() else { continue };
            outcome.came_bytes += data.wire().len() as u64;
            if !verifier.handle_data(now, &data) {
                fetcher.receive_data(now.instant, data, &LinkHeader::default());
            }
        }
        while let Some(packet) = fetcher.poll_unverified() {
            verifier.handle_packet(now, packet);
        }
        while let Some(verdict) = verifier.poll_outcome() {
            match verdict.refused {
                None => fetcher.accept(now.instant, verdict.subject),
                Some(problem) => fetcher.refuse(now.instant, verdict.subject, problem),
            }
        }
        outcome.cost += verifier.take_cost();
        while let Some(segment) = fetcher.poll_content() {
            outcome.got.extend_from_slice(segment.data.content());
        }
        if fetcher.is_complete() || fetcher.error().is_some() {
            break;
        }
        fetcher.handle_timeout(now.instant);
        verifier.handle_timeout(now);
    }
    assert_eq!(verifier.take_cost(), Cost::default(), "it is charged once");
    outcome
}

#[test]
fn every_signature_up_to_the_anchor_is_charged_and_certificates_once() {
    let (root, alice, signer) = root_and_alice();
    let network = (object(signer, Authenticity::EachPacket), Packets::new([alice.data().clone()]));
    let outcome = fetch(network, &mut anchored(&root));
    assert_eq!(outcome.got, bytes());
    // Metadata, ten segments, and Alice's certificate.
    assert_eq!(outcome.cost, Cost { signatures: 12, hashed_bytes: outcome.came_bytes });
}

#[test]
fn with_a_manifest_few_signatures_are_charged_and_every_byte_is_hashed() {
    let (root, alice, signer) = root_and_alice();
    let network = (object(signer, Authenticity::Manifest), Packets::new([alice.data().clone()]));
    let outcome = fetch(network, &mut ManifestVerifier::new(Box::new(anchored(&root)), 1));
    assert_eq!(outcome.got, bytes());
    // Metadata, the manifest, and Alice's certificate.
    assert_eq!(outcome.cost, Cost { signatures: 3, hashed_bytes: outcome.came_bytes });
}

#[test]
fn digests_cost_no_signature_and_signatures_that_nobody_checks_cost_nothing() {
    let network = object(Signer::digest(), Authenticity::EachPacket);
    let mut verifier = IntegrityVerifier::new();
    let outcome = fetch(network, &mut verifier);
    assert_eq!((outcome.got, verifier.summary().trusted), (bytes(), false));
    assert_eq!(outcome.cost, Cost { signatures: 0, hashed_bytes: outcome.came_bytes });
    let (_, _, signer) = root_and_alice();
    let outcome = fetch(object(signer, Authenticity::EachPacket), &mut IntegrityVerifier::new());
    assert_eq!((outcome.got, outcome.cost), (bytes(), Cost::default()));
}

#[test]
fn what_somebody_else_signed_is_charged_for_and_not_handed_on() {
    let ((root, _, _), (_, alice, signer)) = (root_and_alice(), root_and_alice());
    let network = (object(signer, Authenticity::EachPacket), Packets::new([alice.data().clone()]));
    let outcome = fetch(network, &mut anchored(&root));
    assert_eq!(outcome.got, []);
    assert!(outcome.cost.signatures > 0);
}
