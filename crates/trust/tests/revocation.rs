//! A certificate is revoked by its owner and its issuer, and by nobody else.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

mod common;

use std::sync::Arc;

use cairn_trust::files::{add_published_revocations, add_revocations, revocations_to_file};
use cairn_trust::policy::Policy;
use cairn_trust::revocation::RevocationError;
use cairn_trust::validator::{Subject, ValidationError};
use cairn_trust::{
    Certificate, Revocation, RevocationReason, Revocations, Signer, UnixTime, Validator, ValidatorLimits,
};
use common::{ALWAYS, NOW, Party, name};
use packet::Data;
use packet::ndn::DataBuilder;
use packet::random::Random;

fn revokes(party: &Party, certificate: &Certificate) -> Revocation {
    let reason = RevocationReason::KeyCompromise;
    Revocation::issue(certificate, &party.signer(), NOW, reason).unwrap()
}

fn records(list: impl IntoIterator<Item = Revocation>) -> Revocations {
    let mut records = Revocations::default();
    for record in list {
        assert!(records.add(record));
    }
    records
}

#[test]
fn a_record_is_named_as_the_certificate_and_says_what_it_was_made_with() {
    let lab = Party::anchor("/lab/KEY/1");
    let alice = lab.issue("/lab/alice/KEY/7", ALWAYS);
    let own = revokes(&alice, &alice.certificate);
    assert_eq!(own.data().name().to_string(), "/lab/alice/REVOKE/7/lab/v=1/self");
    let issuers = revokes(&lab, &alice.certificate);
    assert_eq!(issuers.data().name().to_string(), "/lab/alice/REVOKE/7/lab/v=1/lab");
    let read = Revocation::new(issuers.data().clone()).unwrap();
    assert_eq!(read.certificate(), &alice.certificate.name().to_name());
    assert_eq!((read.reason(), read.time()), (RevocationReason::KeyCompromise, NOW));
    let other: Data = DataBuilder::new(name("/lab/alice/KEY/7/lab/v=1/self")).build_with_digest().unwrap();
    assert!(matches!(Revocation::new(other), Err(RevocationError::Name(_))));
    let empty: Data = DataBuilder::new(own.data().name().to_name()).build_with_digest().unwrap();
    assert!(matches!(Revocation::new(empty), Err(RevocationError::Content(_))));
}

#[test]
fn an_owner_revokes_all_certificates_of_the_key_and_an_issuer_the_one_that_it_issued() {
    let (lab, hub) = (Party::anchor("/lab/KEY/1"), Party::anchor("/lab/KEY/2"));
    let alice = lab.issue("/lab/alice/KEY/7", ALWAYS);
    let renewed = lab.certify(&alice.key, "/lab/alice/KEY/7", 2, ALWAYS);
    let own = records([revokes(&alice, &alice.certificate)]);
    assert!(own.find(&alice.certificate, None).is_some() && own.find(&renewed, None).is_some());
    let issuers = records([revokes(&lab, &alice.certificate)]);
    assert!(issuers.find(&alice.certificate, Some(&lab.certificate)).is_some());
    assert!(issuers.find(&alice.certificate, None).is_none(), "nobody knows that it is the issuer's");
    assert!(issuers.find(&alice.certificate, Some(&hub.certificate)).is_none(), "that is another issuer");
    assert!(issuers.find(&renewed, Some(&lab.certificate)).is_none(), "the issuer speaks of one certificate");
}

#[test]
fn strangers_revoke_nothing_whatever_they_call_their_records() {
    let lab = Party::anchor("/lab/KEY/1");
    let alice = lab.issue("/lab/alice/KEY/7", ALWAYS);
    let stranger = Party::anchor("/stranger/KEY/1");
    // By the name of the owner's key, and that of the issuer's.
    let claims = [alice.certificate.name().to_name(), lab.certificate.name().to_name()];
    let forged = claims.map(|locator| {
        let signer = Signer::new(stranger.key.clone(), locator);
        Revocation::issue(&alice.certificate, &signer, NOW, RevocationReason::Superseded).unwrap()
    });
    // And an honest record of the same key's name for another key.
    let namesake = lab.issue("/lab/alice/KEY/7", ALWAYS);
    let of_another = revokes(&namesake, &namesake.certificate);
    let records = records(forged.into_iter().chain([of_another]));
    assert!(records.find(&alice.certificate, Some(&lab.certificate)).is_none());
    assert!(records.find(&namesake.certificate, Some(&lab.certificate)).is_some());
}

#[test]
fn floods_of_records_are_refused_at_the_limits_and_counted() {
    let lab = Party::anchor("/lab/KEY/1");
    let mut records = Revocations::default();
    for version in 0..20 {
        let certificate = lab.certify(&lab.key, "/lab/KEY/1", version, ALWAYS);
        records.add(revokes(&lab, &certificate));
    }
    assert_eq!((records.count(), records.refused()), (Revocations::MAX_PER_KEY, 12));
    let same = Revocation::new(revokes(&lab, &lab.certificate).data().clone()).unwrap();
    assert!(!records.add(same), "the key has its share");
}

fn verdict(validator: &mut Validator, signer: &Party, published: &[&Party]) -> Result<(), ValidationError> {
    let uri = format!("{}/x", signer.certificate.identity());
    let data = signer.signer().sign_data(&DataBuilder::new(name(&uri))).unwrap();
    validator.validate(NOW, Subject::Data(data));
    while let Some(interest) = validator.poll_interest() {
        let found = published.iter().find(|party| interest.name().is_prefix_of(party.certificate.name()));
        validator.handle_data(NOW, found.expect("it is published").certificate.data());
    }
    validator.poll_outcome().unwrap().verdict.map(drop)
}

#[test]
fn a_validator_refuses_what_hangs_on_a_revoked_certificate_also_if_it_was_verified_before() {
    let lab = Party::anchor("/lab/KEY/1");
    let group = lab.issue("/lab/net/KEY/1", ALWAYS);
    let alice = group.issue("/lab/net/alice/KEY/1", ALWAYS);
    let published = [&group, &alice];
    let limits = ValidatorLimits::default();
    let anchors = [lab.certificate.clone()];
    let mut validator = Validator::new(Policy::Hierarchical, anchors, limits, Random::from_seed(1));
    verdict(&mut validator, &alice, &published).unwrap();
    for (record, revoked) in [
        (revokes(&lab, &group.certificate), &group),
        (revokes(&alice, &alice.certificate), &alice),
        (revokes(&lab, &lab.certificate), &lab),
    ] {
        validator.set_revocations(Arc::new(records([record])));
        let refused = verdict(&mut validator, &alice, &published).unwrap_err();
        let expected = revoked.certificate.name().to_string();
        assert!(
            matches!(&refused, ValidationError::Revoked { name, .. } if name.to_string() == expected),
            "{refused}"
        );
    }
    validator.set_revocations(Arc::default());
    verdict(&mut validator, &alice, &published).unwrap();
}

#[test]
fn a_certificate_that_is_looked_at_itself_is_refused_if_it_is_revoked() {
    let lab = Party::anchor("/lab/KEY/1");
    let alice = lab.issue("/lab/alice/KEY/1", ALWAYS);
    let anchors = [lab.certificate.clone()];
    let limits = ValidatorLimits::default();
    let mut validator = Validator::new(Policy::Hierarchical, anchors, limits, Random::from_seed(1));
    let mut verdict = |record: Option<Revocation>| {
        validator.set_revocations(Arc::new(records(record)));
        validator.validate(NOW, Subject::Data(alice.certificate.data().clone()));
        validator.poll_outcome().unwrap().verdict.map(drop)
    };
    assert_eq!(verdict(None), Ok(()));
    for record in [revokes(&alice, &alice.certificate), revokes(&lab, &alice.certificate)] {
        let refused = verdict(Some(record));
        assert!(matches!(refused, Err(ValidationError::Revoked { .. })), "{refused:?}");
    }
}

#[test]
fn the_time_in_a_record_decides_nothing_whatever_the_clocks_say() {
    let lab = Party::anchor("/lab/KEY/1");
    for time in [UnixTime::from_secs(0), NOW.plus_secs(86_400), UnixTime::END] {
        let reason = RevocationReason::Unspecified;
        let record = Revocation::issue(&lab.certificate, &lab.signer(), time, reason).unwrap();
        assert!(records([record]).find(&lab.certificate, None).is_some());
    }
}

#[test]
fn a_published_list_speaks_of_keys_below_its_own_name_alone_and_of_each_record_once() {
    let (lab, hub) = (Party::anchor("/lab/KEY/1"), Party::anchor("/hub/KEY/1"));
    let alice = lab.issue("/lab/alice/KEY/7", ALWAYS);
    let list = records([revokes(&alice, &alice.certificate), revokes(&hub, &hub.certificate)]);
    let bytes = revocations_to_file(&list);
    let mut known = Revocations::default();
    let published_as = name("/lab/REVOKED");
    assert_eq!(add_published_revocations(&bytes, published_as.as_ref(), &mut known).unwrap(), 1);
    assert_eq!(add_published_revocations(&bytes, published_as.as_ref(), &mut known).unwrap(), 0);
    assert!(known.find(&alice.certificate, None).is_some());
    assert!(known.find(&hub.certificate, None).is_none(), "that is not for /lab to say");
    let mut again = Revocations::default();
    add_revocations(&revocations_to_file(&known), &mut again).unwrap();
    assert!(again.count() == 1 && known.iter().all(|record| again.contains(record)));
    assert!(add_published_revocations(b"no list", published_as.as_ref(), &mut known).is_err());
}
