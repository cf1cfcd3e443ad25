//! A packet is trusted exactly if a chain of certificates that count now leads from it to an anchor under the
//! rules.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

mod common;

use cairn_trust::certificate::Issue;
use cairn_trust::policy::{ClaimKind, Policy, PolicyError};
use cairn_trust::validator::{CertificateFetchError, Subject, ValidationError};
use cairn_trust::{Freshness, Signer, UnixTime, Validator, ValidatorLimits, ValidityPeriod};
use common::{NOW, Party, name};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::random::Random;
use packet::{Component, Data, NackReason, Name};

fn years(from: u64, to: u64) -> ValidityPeriod {
    let year = |year: u64| UnixTime::from_secs((year - 1970) * 31_556_952);
    ValidityPeriod { not_before: year(from), not_after: year(to) }
}

/// What a party publishes under a name.
fn signed(party: &Party, uri: &str) -> Subject {
    Subject::Data(party.signer().sign_data(&DataBuilder::new(name(uri))).unwrap())
}

fn validator(policy: Policy, anchors: &[&Party]) -> Validator {
    let anchors = anchors.iter().map(|party| party.certificate.clone());
    Validator::new(policy, anchors, ValidatorLimits::default(), Random::from_seed(1))
}

/// Validates one packet, answering Interests out of `published`.
fn decide(
    validator: &mut Validator,
    subject: Subject,
    published: &[&Party],
) -> Result<Name, ValidationError> {
    decide_at(NOW, validator, subject, published)
}

fn decide_at(
    now: UnixTime,
    validator: &mut Validator,
    subject: Subject,
    published: &[&Party],
) -> Result<Name, ValidationError> {
    let id = validator.validate(now, subject);
    for _ in 0..100 {
        if let Some(outcome) = validator.poll_outcome() {
            assert_eq!(outcome.id, id);
            return outcome.verdict.map(|certificate| certificate.name().to_name());
        }
        let interest = validator.poll_interest().expect("neither an outcome nor an Interest");
        let found = published.iter().find(|party| interest.name().is_prefix_of(party.certificate.name()));
        match found {
            Some(party) => assert!(validator.handle_data(now, party.certificate.data())),
            None => validator.handle_failure(interest.name(), CertificateFetchError::Timeout),
        }
    }
    panic!("no decision");
}

#[test]
fn a_packet_is_trusted_through_two_certificates_and_later_without_fetching() {
    let root = Party::anchor("/lab/KEY/1");
    let group = root.issue("/lab/net/KEY/1", years(2000, 2100));
    let alice = group.issue("/lab/net/alice/KEY/1", years(2000, 2100));
    let mut validator = validator(Policy::Hierarchical, &[&root]);
    let trusted = decide(&mut validator, signed(&alice, "/lab/net/alice/x"), &[&group, &alice]);
    assert_eq!(trusted, Ok(alice.certificate.name().to_name()));
    assert_eq!(validator.counters().interests, 2);
    decide(&mut validator, signed(&alice, "/lab/net/alice/y"), &[]).unwrap();
    assert_eq!(validator.counters().interests, 2);
    assert_eq!(validator.counters().accepted, 2);

    // An hour later the certificates have to be shown again.
    let later = NOW.plus_secs(3601);
    let refused = decide_at(later, &mut validator, signed(&alice, "/lab/net/alice/z"), &[]).unwrap_err();
    assert!(
        matches!(refused, ValidationError::NotFetched { failure: CertificateFetchError::Timeout, .. }),
        "{refused}"
    );
}

#[test]
fn a_certificate_counts_no_longer_than_the_one_that_it_was_verified_by() {
    let root = Party::anchor("/lab/KEY/1");
    let soon = ValidityPeriod { not_before: NOW, not_after: NOW.plus_secs(60) };
    let group = root.issue("/lab/net/KEY/1", soon);
    let alice = group.issue("/lab/net/alice/KEY/1", years(2000, 2100));
    let bob = group.issue("/lab/net/bob/KEY/1", years(2000, 2100));
    let mut validator = validator(Policy::Hierarchical, &[&root]);
    decide(&mut validator, signed(&alice, "/lab/net/alice/x"), &[&group, &alice]).unwrap();
    // By what is remembered of the group.
    decide(&mut validator, signed(&bob, "/lab/net/bob/x"), &[&bob]).unwrap();
    for party in [&alice, &bob] {
        let uri = format!("{}/y", party.certificate.identity());
        let refused =
            decide_at(NOW.plus_secs(61), &mut validator, signed(party, &uri), &[&group, &alice, &bob]);
        assert!(matches!(refused, Err(ValidationError::NotValidNow { .. })), "{refused:?}");
    }
}

#[test]
fn names_that_do_not_go_together_are_refused() {
    let root = Party::anchor("/lab/KEY/1");
    let alice = root.issue("/lab/alice/KEY/1", years(2000, 2100));
    let mut validator = validator(Policy::Hierarchical, &[&root]);
    let refused = decide(&mut validator, signed(&alice, "/lab/bob/x"), &[&alice]).unwrap_err();
    assert!(matches!(refused, ValidationError::Policy(PolicyError::NotUnderSigner { .. })));

    // Alice certifies somebody who is not under her.
    let bob = alice.issue("/lab/bob/KEY/1", years(2000, 2100));
    let refused = decide(&mut validator, signed(&bob, "/lab/bob/x"), &[&alice, &bob]).unwrap_err();
    assert!(matches!(refused, ValidationError::Policy(PolicyError::NotUnderSigner { .. })));
}

#[test]
fn a_forged_chain_is_refused_whatever_it_is_called() {
    let root = Party::anchor("/lab/KEY/1");
    let impostor = Party::anchor("/lab/KEY/1");
    let alice = impostor.issue("/lab/alice/KEY/1", years(2000, 2100));
    let mut validator = validator(Policy::Hierarchical, &[&root]);
    let refused = decide(&mut validator, signed(&alice, "/lab/alice/x"), &[&alice]).unwrap_err();
    assert!(
        matches!(&refused, ValidationError::Signature { name, .. } if name.to_string().contains("/lab/alice/KEY")),
        "{refused}"
    );
    let refused = decide(&mut validator, signed(&impostor, "/lab/x"), &[&impostor]).unwrap_err();
    assert!(matches!(refused, ValidationError::Signature { .. }));
    // Nothing of it was kept.
    assert!(decide(&mut validator, signed(&alice, "/lab/alice/x"), &[]).is_err());
}

#[test]
fn a_certificate_of_a_key_whose_name_is_longer_does_not_speak_for_the_key_that_was_named() {
    let root = Party::anchor("/lab/KEY/1");
    let other = root.issue("/lab/alice/KEY/1/KEY/2", years(2000, 2100));
    let mut validator = validator(Policy::Hierarchical, &[&root]);
    let signer = Signer::new(other.key.clone(), name("/lab/alice/KEY/1"));
    let data = signer.sign_data(&DataBuilder::new(name("/lab/alice/x"))).unwrap();
    let refused = decide(&mut validator, Subject::Data(data), &[&other]).unwrap_err();
    assert!(matches!(refused, ValidationError::OtherKey { .. }), "{refused}");
}

#[test]
fn certificates_count_only_in_their_time() {
    let root = Party::anchor_for("/lab/KEY/1", years(2000, 2100));
    let expired = root.issue("/lab/alice/KEY/1", years(2000, 2010));
    let future = root.issue("/lab/bob/KEY/1", years(2090, 2100));
    let mut validator = validator(Policy::Hierarchical, &[&root]);
    for (party, uri) in [(&expired, "/lab/alice/x"), (&future, "/lab/bob/x")] {
        let refused = decide(&mut validator, signed(party, uri), &[party]).unwrap_err();
        assert!(matches!(refused, ValidationError::NotValidNow { .. }), "{refused}");
    }
    // An anchor out of its time is none.
    let past = UnixTime::from_secs(1000);
    assert!(decide_at(past, &mut validator, signed(&root, "/lab/x"), &[&root]).is_err());
}

#[test]
fn circles_and_long_ways_end() {
    let root = Party::anchor("/lab/KEY/0");
    let (a, b) = (Party::anchor("/lab/KEY/a"), Party::anchor("/lab/KEY/b"));
    let issue = |signer: &Party, of: &Party| {
        let issue = Issue { issuer_id: Component::generic(b"x"), version: 1, validity: years(2000, 2100) };
        let key = of.key.public_key().unwrap();
        let certificate = issue.certify(&of.certificate.to_key_name(), &key, &signer.signer()).unwrap();
        Party { key: of.key.clone(), certificate }
    };
    let (a_by_b, b_by_a) = (issue(&b, &a), issue(&a, &b));
    let by_key = Party { key: a.key.clone(), certificate: a_by_b.certificate.clone() };
    let mut circle = validator(Policy::AnySigner, &[&root]);
    let subject = Subject::Data(
        Signer::new(by_key.key.clone(), name("/lab/KEY/a"))
            .sign_data(&DataBuilder::new(name("/lab/x")))
            .unwrap(),
    );
    // `self` certificates of both are there too, but lead nowhere.
    let refused = decide(&mut circle, subject, &[&a_by_b, &b, &b_by_a]).unwrap_err();
    assert!(matches!(refused, ValidationError::Loop(_)), "{refused}");

    let mut chain = vec![root.issue("/lab/KEY/1", years(2000, 2100))];
    for number in 2..15 {
        let next = chain.last().unwrap().issue(&format!("/lab/KEY/{number}"), years(2000, 2100));
        chain.push(next);
    }
    let mut long = validator(Policy::Hierarchical, &[&root]);
    let published: Vec<&Party> = chain.iter().collect();
    let refused = decide(&mut long, signed(chain.last().unwrap(), "/lab/x"), &published).unwrap_err();
    assert_eq!(refused, ValidationError::TooDeep(10));
    decide(&mut long, signed(&chain[8], "/lab/x"), &published).unwrap();
}

#[test]
fn a_packet_that_nobody_signed_is_refused_in_words() {
    let root = Party::anchor("/lab/KEY/1");
    let mut validator = validator(Policy::Hierarchical, &[&root]);
    let data = DataBuilder::new(name("/lab/x")).build_with_digest().unwrap();
    let refused = decide(&mut validator, Subject::Data(data), &[]).unwrap_err();
    assert_eq!(refused.to_string(), "/lab/x is not signed by anybody: it carries no key locator");
    let data = Signer::new(root.key.clone(), name("/lab/no-key"))
        .sign_data(&DataBuilder::new(name("/lab/x")))
        .unwrap();
    assert!(matches!(decide(&mut validator, Subject::Data(data), &[]), Err(ValidationError::NoKeyName(_))));
    let data = Signer::with_key_digest(root.key.clone())
        .unwrap()
        .sign_data(&DataBuilder::new(name("/lab/x")))
        .unwrap();
    assert!(matches!(decide(&mut validator, Subject::Data(data), &[]), Err(ValidationError::NoKeyName(_))));
}

#[test]
fn commands_are_validated_like_data() {
    let root = Party::anchor("/lab/KEY/1");
    let alice = root.issue("/lab/alice/KEY/1", years(2000, 2100));
    let mut validator = validator(Policy::Hierarchical, &[&root]);
    let command = InterestBuilder::new(name("/lab/alice/do"));
    let interest = alice.signer().sign_interest(&command, Freshness::default()).unwrap();
    decide(&mut validator, Subject::Interest(interest), &[&alice]).unwrap();
    assert!(decide(&mut validator, Subject::Interest(command.build().unwrap()), &[]).is_err());
}

#[test]
fn packets_that_need_one_certificate_share_its_fetch() {
    let root = Party::anchor("/lab/KEY/1");
    let alice = root.issue("/lab/alice/KEY/1", years(2000, 2100));
    let mut validator = validator(Policy::Hierarchical, &[&root]);
    for number in 0..5 {
        validator.validate(NOW, signed(&alice, &format!("/lab/alice/{number}")));
    }
    assert_eq!(validator.waiting(), 5);
    assert!(validator.poll_interest().is_some() && validator.poll_interest().is_none());
    validator.handle_data(NOW, alice.certificate.data());
    let accepted =
        std::iter::from_fn(|| validator.poll_outcome()).filter(|outcome| outcome.verdict.is_ok()).count();
    assert_eq!((accepted, validator.waiting()), (5, 0));
}

#[test]
fn at_the_limit_packets_are_refused_and_counted() {
    let root = Party::anchor("/lab/KEY/1");
    let alice = root.issue("/lab/alice/KEY/1", years(2000, 2100));
    let limits = ValidatorLimits { pending: 2, cached: 1, ..ValidatorLimits::default() };
    let mut validator =
        Validator::new(Policy::Hierarchical, [root.certificate.clone()], limits, Random::from_seed(1));
    for number in 0..3 {
        validator.validate(NOW, signed(&alice, &format!("/lab/alice/{number}")));
    }
    assert!(matches!(validator.poll_outcome().unwrap().verdict, Err(ValidationError::Full(2))));
    assert_eq!(validator.counters().refused_full, 1);
    validator.handle_data(NOW, alice.certificate.data());
    let bob = root.issue("/lab/bob/KEY/1", years(2000, 2100));
    validator.validate(NOW, signed(&bob, "/lab/bob/1"));
    validator.handle_data(NOW, bob.certificate.data());
    assert_eq!((validator.counters().accepted, validator.counters().cache_evicted), (3, 1));
}

#[test]
fn a_lost_interest_is_repeated_and_a_nack_ends_the_wait() {
    let root = Party::anchor("/lab/KEY/1");
    let alice = root.issue("/lab/alice/KEY/1", years(2000, 2100));
    let mut validator = validator(Policy::Hierarchical, &[&root]);
    validator.validate(NOW, signed(&alice, "/lab/alice/1"));
    let first = validator.poll_interest().unwrap();
    validator.handle_failure(first.name(), CertificateFetchError::Timeout);
    let second = validator.poll_interest().unwrap();
    assert_eq!(first.name(), second.name());
    assert_ne!(first.nonce(), second.nonce());
    validator.handle_failure(second.name(), CertificateFetchError::Nack(NackReason::NoRoute));
    let refused = validator.poll_outcome().unwrap().verdict.unwrap_err();
    assert!(matches!(refused, ValidationError::NotFetched { failure: CertificateFetchError::Nack(_), .. }));
    assert!(!validator.handle_data(NOW, alice.certificate.data()));
}

#[test]
fn an_answer_that_is_no_certificate_is_refused() {
    let root = Party::anchor("/lab/KEY/1");
    let alice = root.issue("/lab/alice/KEY/1", years(2000, 2100));
    let mut validator = validator(Policy::Hierarchical, &[&root]);
    validator.validate(NOW, signed(&alice, "/lab/alice/1"));
    let asked = validator.poll_interest().unwrap();
    let bogus: Data = DataBuilder::new(asked.name().to_name()).build_with_digest().unwrap();
    validator.handle_data(NOW, &bogus);
    assert!(matches!(
        validator.poll_outcome().unwrap().verdict,
        Err(ValidationError::NotACertificate { .. })
    ));
    assert_eq!(ClaimKind::Certificate.to_string(), "certificate");
}

#[test]
fn a_key_alone_is_judged_by_its_certificates_whatever_it_signs() {
    let root = Party::anchor("/lab/KEY/1");
    let group = root.issue("/lab/people/KEY/1", years(2000, 2100));
    let alice = group.issue("/lab/people/alice/KEY/1", years(2000, 2100));
    let stray = group.issue("/lab/machines/bob/KEY/1", years(2000, 2100));
    let published = [&group, &alice, &stray];
    let mut validator = validator(Policy::Hierarchical, &[&root]);
    let by_certificate = Subject::Key(alice.certificate.name().to_name());
    assert_eq!(decide(&mut validator, by_certificate, &published), Ok(alice.certificate.name().to_name()));
    let by_key = Subject::Key(alice.certificate.to_key_name());
    assert_eq!(decide(&mut validator, by_key, &[]), Ok(alice.certificate.name().to_name()), "known by now");
    let outcome = decide(&mut validator, Subject::Key(stray.certificate.name().to_name()), &published);
    assert!(matches!(outcome, Err(ValidationError::Policy(_))), "{outcome:?}");
    let outcome = decide(&mut validator, Subject::Key(name("/lab/people/alice")), &published);
    assert!(matches!(outcome, Err(ValidationError::NoKeyName(_))), "{outcome:?}");
}

#[test]
fn whoever_makes_up_keys_has_only_so_many_certificates_asked_for_at_once() {
    let lab = Party::anchor("/lab/KEY/0");
    let limits = ValidatorLimits { fetches: 3, ..ValidatorLimits::default() };
    let anchors = [lab.certificate.clone()];
    let mut validator = Validator::new(Policy::Hierarchical, anchors, limits, Random::from_seed(1));
    for number in 0..50 {
        let stranger = Party::anchor(&format!("/lab/{number}/KEY/1"));
        validator.validate(NOW, signed(&stranger, &format!("/lab/{number}/x")));
    }
    assert_eq!(std::iter::from_fn(|| validator.poll_interest()).count(), 3);
    let refused = std::iter::from_fn(|| validator.poll_outcome())
        .filter(|outcome| matches!(outcome.verdict, Err(ValidationError::TooManyFetches(3))))
        .count();
    assert_eq!((refused, validator.counters().refused_fetches, validator.waiting()), (47, 47, 3));
}
