//! Forgers that name keys nobody has, and honest keys that come slowly: time is a number.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

extern crate trust as cairn_trust;

#[path = "../../trust/tests/common/mod.rs"]
mod parties;

use std::collections::BTreeMap;

use cairn_flow::source::{Reply, Source as _};
use cairn_flow::verify::{
    AnchoredVerifier, PublisherVerifier, Unverified, UnverifiedKind, VerificationError, Verifier,
};
use cairn_flow::{
    Discovery, FetchConfig, FetchError, Fetcher, Publication, PublicationConfig, Verification, VerifiedFetch,
};
use packet::ccnx::{KeyLocator, SignedInfo, Ticks, uri};
use packet::ndn::{DataBuilder, SignatureInfoBuilder, SignatureType};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Component, Data, Dialect, Interest, LinkHeader, Name, Now, UnixTime};
use trust::ccnx::CcnxSigner;
use trust::certificate::{Issue, names};
use trust::{Certificate, KeyKind, Policy, PrivateKey, Signer, Validator, ValidatorLimits};

use parties::{ALWAYS, name, root_and_alice};

const BEGIN: Instant = Instant::from_secs(1);
const TODAY: UnixTime = UnixTime::from_secs(1_700_000_000);
const NEAR: Duration = Duration::from_millis(10);
const BYTES: &[u8] = &[7; 30_000];

fn config(dialect: Dialect) -> FetchConfig {
    let discovery = Discovery::MetadataThenPrefix;
    FetchConfig { dialect, discovery, verification: Verification::Owner, ..FetchConfig::default() }
}

/// What came of a fetch.
struct Outcome {
    result: Result<(), FetchError>,
    bytes: Vec<u8>,
    /// In milliseconds.
    took: u64,
    asked: Vec<Interest>,
}

/// Runs a fetch through a network that answers each Interest, of this number, so much later or not at all.
fn fetch(
    wanted: &Name,
    dialect: Dialect,
    verifier: Box<dyn Verifier>,
    mut network: impl FnMut(usize, &Interest) -> Option<(Duration, Data)>,
) -> Outcome {
    let fetcher = Fetcher::new(wanted.clone(), config(dialect), BEGIN, 1);
    let mut fetch = VerifiedFetch::new(fetcher, verifier);
    let mut now = Now { instant: BEGIN, unix: TODAY };
    let (mut on_the_way, mut asked, mut segments) = (BTreeMap::new(), Vec::new(), Vec::new());
    let result = loop {
        while let Some((interest, _)) = fetch.poll_interest(now) {
            if let Some((after, data)) = network(asked.len(), &interest) {
                on_the_way.insert((now.instant + after, asked.len()), data);
            }
            asked.push(interest);
        }
        fetch.poll_segments(1000, &mut segments);
        if let Some(result) = fetch.outcome() {
            break result;
        }
        let next = on_the_way.keys().next().map_or(Instant::NEVER, |(at, _)| *at);
        now.instant = now.instant.max(next.min(fetch.next_deadline()));
        assert!(now.instant < Instant::from_secs(1000), "nothing ends it");
        while let Some(entry) = on_the_way.first_entry().filter(|entry| entry.key().0 <= now.instant) {
            fetch.handle_data(now, &entry.remove(), &LinkHeader::NONE);
        }
        fetch.handle_timeout(now);
    };
    let bytes = segments.iter().flat_map(|segment| segment.data.content().to_vec()).collect();
    Outcome { result, bytes, took: now.instant.saturating_since(BEGIN).as_millis(), asked }
}

/// An honest producer of NDN: `/lab/alice/file`, the anchor, and Alice's certificate.
struct Honest {
    publication: Publication,
    root: Certificate,
    alice: Data,
}

impl Honest {
    fn new() -> Self {
        let (root, alice, signer) = root_and_alice();
        let config = PublicationConfig::new(name("/lab/alice/file"), 7, BYTES.len() as u64, signer);
        let publication = Publication::new(config).unwrap();
        Honest { publication, root, alice: alice.data().clone() }
    }

    fn verifier(&self) -> Box<dyn Verifier> {
        let (limits, random) = (ValidatorLimits::default(), Random::from_seed(1));
        let validator = Validator::new(Policy::Hierarchical, [self.root.clone()], limits, random);
        Box::new(AnchoredVerifier::new(validator))
    }

    /// A packet of the object, or Alice's certificate.
    fn answer(&self, interest: &Interest) -> Option<Data> {
        let mut source = cairn_flow::source::Packets::new([self.alice.clone()]);
        if let Ok(Reply::Data(data)) = source.answer(interest) {
            return Some(data);
        }
        match self.publication.answer(interest).unwrap() {
            cairn_flow::Answer::Data(data) => Some(data),
            cairn_flow::Answer::Segment(range) => {
                let start = range.offset_bytes as usize;
                let content = &BYTES[start..start + range.len_bytes as usize];
                Some(self.publication.segment(range.segment, content).unwrap())
            }
            cairn_flow::Answer::Refuse | cairn_flow::Answer::NotMine => None,
        }
    }
}

fn is_for_key(interest: &Interest) -> bool {
    names::key_of(interest.name()).is_some()
}

/// An answer of NDN that says this key has signed it.
fn forged(interest: &Interest, key: u64) -> Data {
    let key = name(&format!("/lab/alice/KEY/none-{key}"));
    let info = SignatureInfoBuilder::new(SignatureType::ED25519).key_name(&key);
    let below = interest.name().to_name().with_number(packet::ComponentKind::VERSION, 9).unwrap();
    let exact = interest.ndn().is_some_and(|view| !view.can_be_prefix());
    let answer = if exact { interest.name().to_name() } else { below };
    DataBuilder::new(answer).content(b"lie".to_vec()).build_signed(&info, |_| vec![7; 64]).unwrap()
}

#[test]
fn a_key_that_nobody_has_costs_two_seconds_however_many_packets_name_it() {
    let honest = Honest::new();
    let outcome = fetch(&name("/lab/alice/file"), Dialect::Ndn, honest.verifier(), |_, interest| {
        (!is_for_key(interest)).then(|| (NEAR, forged(interest, 1)))
    });
    let FetchError::NotAccepted { error, .. } = outcome.result.unwrap_err() else { panic!("another error") };
    assert!(error.to_string().contains("none-1"), "{error}");
    assert!((2000..2200).contains(&outcome.took), "{} ms", outcome.took);
    assert_eq!(outcome.asked.iter().filter(|interest| is_for_key(interest)).count(), 3);
}

#[test]
fn each_further_key_that_nobody_has_costs_less_and_all_together_a_few_seconds() {
    let (honest, mut keys) = (Honest::new(), 0);
    let outcome = fetch(&name("/lab/alice/file"), Dialect::Ndn, honest.verifier(), |_, interest| {
        keys += 1;
        (!is_for_key(interest)).then(|| (NEAR, forged(interest, keys)))
    });
    assert!(matches!(outcome.result, Err(FetchError::NotAccepted { .. })), "{:?}", outcome.result);
    // Four attempts at the metadata, and four by prefix: 2 s, 1 s, and six times half a second.
    assert!((5900..6500).contains(&outcome.took), "{} ms", outcome.took);
}

/// A certificate of the key `none-…` that an Interest asks for, by the key of the next number: one of a chain
/// without an end.
fn link_of_an_endless_chain(interest: &Interest, key: &PrivateKey) -> Data {
    let asked = names::key_of(interest.name()).unwrap().to_name();
    let number: u64 = asked.to_string().rsplit('-').next().unwrap().parse().unwrap();
    let signer = Signer::new(key.clone(), name(&format!("/lab/alice/KEY/none-{}", number + 1)));
    let issue = Issue { issuer_id: Component::generic(b"lab"), version: 1, validity: ALWAYS };
    issue.certify(&asked, &key.public_key().unwrap(), &signer).unwrap().data().clone()
}

#[test]
fn chains_of_certificates_without_an_end_cost_less_than_a_minute_however_late_each_is_shown() {
    let (honest, key) = (Honest::new(), PrivateKey::generate(KeyKind::Ed25519).unwrap());
    for late in [1900, 900, 450, 10] {
        let mut chains = 0;
        let outcome = fetch(&name("/lab/alice/file"), Dialect::Ndn, honest.verifier(), |_, interest| {
            if is_for_key(interest) {
                let link = link_of_an_endless_chain(interest, &key);
                return Some((Duration::from_millis(late), link));
            }
            chains += 1;
            Some((NEAR, forged(interest, 1000 * chains)))
        });
        assert!(matches!(outcome.result, Err(FetchError::NotAccepted { .. })), "{:?}", outcome.result);
        assert!(outcome.took < 60_000, "{late} ms for each: {} ms", outcome.took);
    }
}

#[test]
fn segments_signed_with_keys_that_nobody_has_end_a_fetch_in_seconds() {
    let (honest, mut keys) = (Honest::new(), 0);
    let outcome = fetch(&name("/lab/alice/file/v=7"), Dialect::Ndn, honest.verifier(), |_, interest| {
        keys += 1;
        (!is_for_key(interest)).then(|| (NEAR, forged(interest, keys)))
    });
    assert!(matches!(outcome.result, Err(FetchError::NoneAccepted { .. })), "{:?}", outcome.result);
    assert!(outcome.bytes.is_empty() && outcome.took < 15_000, "{} ms", outcome.took);
}

#[test]
fn a_forger_who_is_first_now_and_then_only_delays_an_honest_fetch() {
    let honest = Honest::new();
    let outcome = fetch(&name("/lab/alice/file"), Dialect::Ndn, honest.verifier(), |number, interest| {
        let is_forged = !is_for_key(interest) && number % 3 == 0;
        let data = if is_forged { Some(forged(interest, 1)) } else { honest.answer(interest) };
        data.map(|data| (NEAR, data))
    });
    assert_eq!(outcome.result, Ok(()));
    assert!(outcome.bytes == BYTES && outcome.took < 3000, "{} ms", outcome.took);
}

#[test]
fn a_certificate_that_needs_nearly_two_seconds_still_counts() {
    let honest = Honest::new();
    let outcome = fetch(&name("/lab/alice/file"), Dialect::Ndn, honest.verifier(), |_, interest| {
        let after = if is_for_key(interest) { Duration::from_millis(1900) } else { NEAR };
        honest.answer(interest).map(|data| (after, data))
    });
    assert_eq!(outcome.result, Ok(()));
    assert!(outcome.bytes == BYTES);
}

#[test]
fn a_certificate_whose_first_two_interests_are_lost_still_counts() {
    let (honest, mut lost) = (Honest::new(), 0);
    let outcome = fetch(&name("/lab/alice/file"), Dialect::Ndn, honest.verifier(), |_, interest| {
        lost += u32::from(is_for_key(interest));
        let is_lost = is_for_key(interest) && lost <= 2;
        honest.answer(interest).filter(|_| !is_lost).map(|data| (Duration::from_millis(300), data))
    });
    assert_eq!(outcome.result, Ok(()));
    assert!(outcome.bytes == BYTES);
}

/// A packet of the object, to be verified alone.
fn unverified(honest: &Honest) -> Unverified {
    let interest = Dialect::Ndn.interest(name("/lab/alice/file/v=7/seg=0"), 1, Duration::from_secs(4));
    Unverified { subject: UnverifiedKind::Segment(0), data: honest.answer(&interest.unwrap()).unwrap() }
}

/// Asks for the certificate in vain, noticing each time so late that its time is up.
fn wait_in_vain(verifier: &mut dyn Verifier, now: &mut Now, late: Duration) {
    for _ in 0..3 {
        assert!(verifier.poll_interest(*now).is_some());
        now.instant = verifier.next_deadline() + late;
        verifier.handle_timeout(*now);
    }
    assert!(verifier.poll_outcome().unwrap().refused.is_some());
}

#[test]
fn a_certificate_that_did_not_come_is_not_asked_for_again_for_ten_seconds() {
    let honest = Honest::new();
    let (mut verifier, mut now) = (honest.verifier(), Now { instant: BEGIN, unix: TODAY });
    verifier.handle_packet(now, unverified(&honest));
    wait_in_vain(&mut *verifier, &mut now, Duration::ZERO);
    now.instant += Duration::from_millis(9_999);
    verifier.handle_packet(now, unverified(&honest));
    let refused = verifier.poll_outcome().unwrap().refused.unwrap().to_string();
    assert!(refused.contains("a moment ago") && verifier.poll_interest(now).is_none(), "{refused}");
    now.instant += Duration::from_millis(1);
    verifier.handle_packet(now, unverified(&honest));
    assert!(verifier.poll_outcome().is_none() && verifier.poll_interest(now).is_some());
}

#[test]
fn a_certificate_that_comes_late_is_asked_for_again_at_once() {
    let honest = Honest::new();
    let (mut verifier, mut now) = (honest.verifier(), Now { instant: BEGIN, unix: TODAY });
    verifier.handle_packet(now, unverified(&honest));
    wait_in_vain(&mut *verifier, &mut now, Duration::ZERO);
    verifier.handle_data(now, &honest.alice);
    verifier.handle_packet(now, unverified(&honest));
    assert!(verifier.poll_outcome().is_none() && verifier.poll_interest(now).is_some());
}

#[test]
fn an_outage_in_which_the_time_of_a_key_passes_makes_it_not_missing() {
    let honest = Honest::new();
    let (mut verifier, mut now) = (honest.verifier(), Now { instant: BEGIN, unix: TODAY });
    verifier.handle_packet(now, unverified(&honest));
    wait_in_vain(&mut *verifier, &mut now, Duration::from_secs(60));
    verifier.handle_packet(now, unverified(&honest));
    assert!(verifier.poll_outcome().is_none() && verifier.poll_interest(now).is_some());
}

fn ccnx(text: &str) -> Name {
    uri::parse(text).unwrap()
}

fn signer() -> CcnxSigner {
    CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap()
}

/// A packet of CCNx by `signer`, who says that his key is there.
fn with_key_at(signer: &CcnxSigner, packet: &str, key: &Name, content: &[u8]) -> Data {
    let key_locator = Some(KeyLocator::KeyName { name: key.into(), publisher: None });
    let (packet, at) = (ccnx(packet), Ticks::from_unix(1_700_000_000, 0));
    let complete = |info| SignedInfo { key_locator, final_block_id: Some(&[0]), ..info };
    signer.sign_data(&packet, content, at, complete).unwrap()
}

#[test]
fn in_ccnx_a_key_that_nobody_has_costs_two_seconds_however_many_packets_name_it() {
    let forger = signer();
    let none = ccnx("ccnx:/none");
    let wanted = ccnx("ccnx:/f/%FD%04%8C%A5%0A%E5%D4");
    let lie = with_key_at(&forger, "ccnx:/f/%FD%04%8C%A5%0A%E5%D4/%00", &none, b"lie");
    let verifier = Box::new(PublisherVerifier::new([], 1));
    let outcome = fetch(&wanted, Dialect::Ccnx, verifier, |_, interest| {
        interest.matches(&lie).then(|| (NEAR, lie.clone()))
    });
    let keys = outcome.asked.iter().filter(|interest| interest.name() == none.as_ref()).count();
    let Err(FetchError::NotAccepted { error, .. }) = outcome.result else { panic!("another end") };
    assert_eq!((error, keys), (VerificationError::NoKey(*forger.publisher()), 5));
    assert!((2000..2500).contains(&outcome.took), "{} ms", outcome.took);
}

#[test]
fn who_says_of_another_publishers_key_that_it_is_where_it_is_not_keeps_nobody_from_it() {
    let honest = signer();
    let (key_place, none) = (ccnx("ccnx:/keys/honest"), ccnx("ccnx:/none"));
    let wanted = ccnx("ccnx:/f/%FD%04%8C%A5%0A%E5%D4");
    let segment = "ccnx:/f/%FD%04%8C%A5%0A%E5%D4/%00";
    // The forger's packet carries the honest publisher's digest, and anything for a signature.
    let lie = with_key_at(&honest, segment, &none, b"lie");
    let good = with_key_at(&honest, segment, &key_place, b"good");
    let key = honest.sign_data(&key_place, honest.spki(), Ticks::from_unix(1_700_000_000, 0), |info| info);
    let key = key.unwrap();
    let mut forge = 2;
    let verifier = Box::new(PublisherVerifier::new([], 1));
    let outcome = fetch(&wanted, Dialect::Ccnx, verifier, |_, interest| {
        if interest.matches(&key) {
            return Some((NEAR, key.clone()));
        }
        if !interest.matches(&good) {
            return None;
        }
        let is_forged = forge > 0;
        forge -= i32::from(is_forged);
        Some((NEAR, if is_forged { lie.clone() } else { good.clone() }))
    });
    assert_eq!((outcome.result, &outcome.bytes[..]), (Ok(()), &b"good"[..]));
    assert!((2000..2500).contains(&outcome.took), "{} ms", outcome.took);
}
