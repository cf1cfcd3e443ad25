//! Verification in virtual time: it refuses what it would refuse on a socket, and takes its time.

#![allow(clippy::unwrap_used, reason = "tests")]

extern crate trust as cairn_trust;

#[path = "../../trust/tests/common/mod.rs"]
mod parties;

use cairn_sim::{
    LinkConfig, Network, ProcessorConfig, Publisher, SourceProducer, VerificationTime, VerifiedFetcher,
};
use flow::source::Packets;
use flow::verify::AnchoredVerifier;
use flow::{FetchConfig, PublicationConfig, SegmentSize};
use packet::random::Random;
use packet::time::Duration;
use trust::{Certificate, KeyKind, Policy, PrivateKey, Signer, Validator, ValidatorLimits};

use parties::{name, root_and_alice};

const SEGMENTS: u64 = 20;

/// A network in which the second node publishes an object signed by `signer`, and the first fetches it and
/// believes `root`; with what became of it after a minute.
fn fetched<T>(
    (root, alice, signer): (&Certificate, &Certificate, &Signer),
    charge: VerificationTime,
    look: impl Fn(&VerifiedFetcher) -> T,
) -> T {
    let mut network = Network::new(1);
    let nodes = network.chain(2, &LinkConfig::ideal().mbps(100.0).millis(5)).unwrap();
    network.set_processor(nodes[0], ProcessorConfig::uniform(Duration::from_micros(10))).unwrap();
    let mut config = PublicationConfig::new(name("/lab/alice/file"), 7, 0, signer.clone());
    config.segment_size = SegmentSize::Content(1000);
    let content = vec![7; 1000 * SEGMENTS as usize];
    network.add_application(nodes[1], Publisher::new(config, content).unwrap()).unwrap();
    let certificates = Packets::new([alice.data().clone()]);
    let shown = SourceProducer::new("/lab/alice/KEY", certificates).unwrap();
    network.add_application(nodes[1], shown).unwrap();
    network.route_shortest_paths().unwrap();
    let limits = ValidatorLimits::default();
    let validator = Validator::new(Policy::Hierarchical, [root.clone()], limits, Random::from_seed(1));
    let verifier = Box::new(AnchoredVerifier::new(validator));
    let fetcher = VerifiedFetcher::new("/lab/alice/file", FetchConfig::default(), verifier).unwrap();
    let id = network.add_application(nodes[0], fetcher.charge(charge)).unwrap();
    network.run_for(Duration::from_secs(60)).unwrap();
    look(network.application(id).unwrap())
}

#[test]
fn what_the_right_key_signed_is_believed_and_what_a_forger_signed_is_refused() {
    let (root, alice, signer) = root_and_alice();
    fetched((&root, &alice, &signer), VerificationTime::default(), |fetch| {
        assert!(matches!(fetch.outcome(), Some(Ok(()))), "{:?}", fetch.outcome());
        assert_eq!((fetch.content_bytes(), fetch.refused()), (1000 * SEGMENTS, 0));
    });
    // He calls his key as hers is called.
    let forger = Signer::new(PrivateKey::generate(KeyKind::Ed25519).unwrap(), alice.name().to_name());
    fetched((&root, &alice, &forger), VerificationTime::default(), |fetch| {
        assert!(matches!(fetch.outcome(), Some(Err(_))), "{:?}", fetch.outcome());
        assert!(fetch.refused() > 0);
        assert_eq!((fetch.content_bytes(), fetch.completed_at()), (0, None));
    });
}

#[test]
fn signatures_and_hashes_keep_the_processor_busy_and_the_object_waits_for_it() {
    let (root, alice, signer) = root_and_alice();
    let parties = (&root, &alice, &signer);
    let ended = |charge| fetched(parties, charge, |fetch| (fetch.completed_at().unwrap(), fetch.charged()));
    let (free, nothing) = ended(VerificationTime::default());
    assert_eq!(nothing, Duration::ZERO);
    let signature = Duration::from_millis(10);
    let (charged, time) = ended(VerificationTime { signature, ..VerificationTime::default() });
    // Each segment, what told the version, and Alice's certificate.
    assert!(time >= signature * SEGMENTS && time <= signature * (SEGMENTS + 3), "{time:?}");
    // What is asked for next waits for what was verified before, and not for its own verification.
    assert!(charged.saturating_since(free) >= signature * (SEGMENTS / 2), "{free:?} {charged:?}");
    let hashed_kibibyte = Duration::from_millis(1);
    let (_, time) = ended(VerificationTime { hashed_kibibyte, ..VerificationTime::default() });
    // A thousand bytes of content in each, and name and signature.
    assert!(time >= hashed_kibibyte * SEGMENTS && time < hashed_kibibyte * (SEGMENTS * 2), "{time:?}");
}
