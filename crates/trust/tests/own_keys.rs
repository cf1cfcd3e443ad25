//! What this crate makes, it reads; what was changed on the way, it refuses.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

use cairn_trust::certificate::{Issue, names, self_signed};
use cairn_trust::{
    Certificate, CertificateError, Freshness, InterestSigner, KeyError, KeyKind, PrivateKey, SafeBag,
    SafeBagError, SignatureVerifier, Signer, UnixTime, ValidityPeriod, VerifyError, open_key_packet,
    to_key_packet,
};
use packet::ndn::{DataBuilder, InterestBuilder, SignatureType};
use packet::random::Random;
use packet::{Buffer, Data, Interest, Name};
use proptest::prelude::*;

const KINDS: [KeyKind; 4] = [KeyKind::EcdsaP256, KeyKind::Ed25519, KeyKind::Rsa, KeyKind::Hmac];
const WITH_PUBLIC: [KeyKind; 3] = [KeyKind::EcdsaP256, KeyKind::Ed25519, KeyKind::Rsa];

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn validity() -> ValidityPeriod {
    ValidityPeriod {
        not_before: UnixTime::from_secs(1_700_000_000),
        not_after: UnixTime::from_secs(1_900_000_000),
    }
}

fn own_certificate(key: &PrivateKey, uri: &str) -> Certificate {
    self_signed(key, &name(uri), names::SELF, UnixTime::from_secs(1_700_000_000), validity()).unwrap()
}

#[test]
fn every_kind_signs_data_that_only_its_own_key_verifies() {
    for kind in KINDS {
        let key = PrivateKey::generate(kind).unwrap();
        let signer = Signer::new(key.clone(), name("/a/KEY/1"));
        let data = signer.sign_data(&DataBuilder::new(name("/a/b")).content(vec![1; 100])).unwrap();
        let view = data.ndn().unwrap();
        assert!(view.signature_value().len() <= signer.max_signature_bytes(), "{kind}");
        assert_eq!(view.signature_info().unwrap().signature_type, kind.signature_type());

        SignatureVerifier::of_private(&key).unwrap().verify_data(&data).unwrap();
        let other = SignatureVerifier::of_private(&PrivateKey::generate(kind).unwrap()).unwrap();
        assert_eq!(other.verify_data(&data), Err(VerifyError::Wrong), "{kind}");
        let expected = SignatureType::DIGEST_SHA256;
        let found = kind.signature_type();
        assert_eq!(
            SignatureVerifier::digest().verify_data(&data),
            Err(VerifyError::OtherAlgorithm { found, expected })
        );
    }
}

#[test]
fn keys_come_back_from_pkcs8_and_from_packets() {
    for kind in WITH_PUBLIC {
        let key = PrivateKey::generate(kind).unwrap();
        let again = PrivateKey::from_der(&key.to_pkcs8().unwrap()).unwrap();
        assert_eq!(again.public_key().unwrap(), key.public_key().unwrap());
        let older = PrivateKey::from_der(&key.to_older_der().unwrap()).unwrap();
        assert_eq!(older.public_key().unwrap(), key.public_key().unwrap());
        let packet = to_key_packet(&key, &name("/a/KEY/1")).unwrap();
        let (found, again) = open_key_packet(&packet).unwrap().unwrap();
        assert_eq!((found, again.public_key().unwrap()), (name("/a/KEY/1"), key.public_key().unwrap()));
    }
}

#[test]
fn a_safe_bag_comes_back_and_a_pair_that_does_not_fit_is_refused() {
    for kind in WITH_PUBLIC {
        let key = PrivateKey::generate(kind).unwrap();
        let certificate = own_certificate(&key, "/a/KEY/1");
        let bag = SafeBag { certificate: certificate.clone(), key: key.clone() }.seal(b"secret").unwrap();
        let opened = SafeBag::open(&bag, b"secret").unwrap();
        assert_eq!(opened.certificate, certificate);
        assert_eq!(opened.key.public_key().unwrap(), key.public_key().unwrap());
        assert_eq!(SafeBag::open(&bag, b"other").unwrap_err(), SafeBagError::Key(KeyError::Passphrase));

        let stranger = PrivateKey::generate(kind).unwrap();
        let refused = SafeBag { certificate, key: stranger }.seal(b"secret").unwrap_err();
        assert!(matches!(refused, SafeBagError::Key(KeyError::Mismatch(_))));
    }
}

#[test]
fn a_request_is_signed_by_an_issuer_if_its_own_key_signed_it() {
    let (issuer, key) =
        (PrivateKey::generate(KeyKind::EcdsaP256).unwrap(), PrivateKey::generate(KeyKind::Ed25519).unwrap());
    let now = UnixTime::from_secs(1_700_000_000);
    let request = self_signed(&key, &name("/lab/alice/KEY/7"), names::REQUEST, now, validity()).unwrap();
    let issue = Issue { issuer_id: packet::Component::generic(b"lab"), version: 3, validity: validity() };
    let signer = Signer::new(issuer.clone(), name("/lab/KEY/1"));
    let issued = issue.certify_request(&request, &signer).unwrap();
    assert_eq!(issued.name().to_string(), "/lab/alice/KEY/7/lab/v=3");
    assert_eq!(issued.validity(), validity());
    assert_eq!(issued.signer().unwrap(), name("/lab/KEY/1").as_ref());
    SignatureVerifier::of_private(&issuer).unwrap().verify_data(issued.data()).unwrap();

    // Somebody puts another's key into a request of their own.
    let forged = issue.certify(&name("/lab/eve/KEY/8"), &key.public_key().unwrap(), &signer).unwrap();
    assert!(matches!(issue.certify_request(&forged, &signer), Err(CertificateError::Request(..))));
}

#[test]
fn what_is_not_a_certificate_is_refused_with_the_rule_it_breaks() {
    let key = PrivateKey::generate(KeyKind::Ed25519).unwrap();
    let signer = Signer::new(key.clone(), name("/a/KEY/1"));
    let data = signer.sign_data(&DataBuilder::new(name("/a/KEY/1/self/v=1"))).unwrap();
    assert!(matches!(Certificate::new(data), Err(CertificateError::ContentType(_, 0))));
    let data = signer.sign_data(&DataBuilder::new(name("/a/b"))).unwrap();
    assert!(matches!(Certificate::new(data), Err(CertificateError::Name(_))));
    assert!(matches!(Certificate::decode(&[6, 1]), Err(CertificateError::Decode(_))));
    let cert = DataBuilder::new(name("/a/KEY/1/self/v=1")).content_type(packet::ContentType::KEY);
    let stale = signer.sign_data(&cert).unwrap();
    assert!(matches!(Certificate::new(stale), Err(CertificateError::Freshness(_))));
    let cert = cert.freshness(packet::time::Duration::from_secs(1));
    assert!(matches!(Certificate::new(signer.sign_data(&cert).unwrap()), Err(CertificateError::Validity(_))));
}

#[test]
fn signed_interests_get_growing_times_and_do_not_survive_a_change() {
    let key = PrivateKey::generate(KeyKind::EcdsaP256).unwrap();
    let mut signer = InterestSigner::new(Signer::new(key.clone(), name("/a/KEY/1")), Random::from_seed(1));
    let verifier = SignatureVerifier::of_private(&key).unwrap();
    let command =
        InterestBuilder::new(name("/localhost/nfd/rib/register")).application_parameters(vec![1, 2, 3]);
    let times: Vec<u64> = [1000, 1000, 999, 2000]
        .into_iter()
        .map(|now| {
            let interest = signer.sign(now, &command).unwrap();
            verifier.verify_interest(&interest).unwrap();
            interest.ndn().unwrap().signature_info().unwrap().time_ms.unwrap()
        })
        .collect();
    assert_eq!(times, [1000, 1001, 1002, 2000]);

    let signed = signer.signer().sign_interest(&command, Freshness::default()).unwrap();
    let mut wire = signed.wire().to_vec();
    let at = wire.windows(3).position(|window| window == [1, 2, 3]).unwrap();
    wire[at] = 9;
    let changed = Interest::decode_ndn(Buffer::from(wire)).unwrap();
    assert_eq!(verifier.verify_interest(&changed), Err(VerifyError::ParametersDigest));
    assert_eq!(verifier.verify_interest(&command.build().unwrap()), Err(VerifyError::Unsigned));
}

#[test]
fn the_worked_signed_interest_of_the_specification_comes_out() {
    let info = Freshness {
        nonce: Some(0x0102_0304_0506_0708),
        time_ms: Some(1_700_000_000_000),
        sequence_number: None,
    };
    let interest = InterestBuilder::new(name("/A")).nonce(0x0102_0304);
    let signed = Signer::digest().sign_interest(&interest, info).unwrap();
    let hex = packet::hex::encode(signed.wire());
    assert_eq!(
        hex,
        "056a072508014102201b308359f0f2712300a469e69cc6c1eb91d2a30cdbba2fd40f0a568bc2428f090a040102030424002c171b0100\
         2608010203040506070828080000018bcfe568002e2043ba55645256454386d76618ddfcc19665dfa9320f33d889203d73238fa380cc"
    );
    SignatureVerifier::digest().verify_interest(&signed).unwrap();
}

#[test]
fn the_worked_hmac_of_the_specification_comes_out() {
    let secret: Vec<u8> = (0..16).collect();
    let signer = Signer::new(PrivateKey::hmac(&secret), name("/k"));
    let data = signer.sign_data(&DataBuilder::new(name("/A")).content(b"hi".to_vec())).unwrap();
    let hex = packet::hex::encode(data.ndn().unwrap().signature_value());
    assert_eq!(hex, "61c2a197da83cf1a90c3cd6dd7a53511f04a6bef786990b19765625d0e0b1441");
}

proptest! {
    #[test]
    fn no_bytes_panic_the_readers(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = PrivateKey::from_der(&bytes).is_ok();
        let _ = cairn_trust::PublicKey::from_spki(&bytes).is_ok();
        let _ = SafeBag::open(&bytes, b"x").is_ok();
        let _ = Certificate::decode(&bytes).is_ok();
        let _ = cairn_trust::text::packets_in(&bytes).is_ok();
        let _ = PrivateKey::from_encrypted_pkcs8(&bytes, b"x").is_ok();
    }

    #[test]
    fn one_changed_bit_anywhere_spoils_data(at in 0usize..1000, bit in 0u8..8) {
        let secret = [7u8; 32];
        let signer = Signer::new(PrivateKey::hmac(&secret), name("/k"));
        let data = signer.sign_data(&DataBuilder::new(name("/A/b")).content(vec![5; 50])).unwrap();
        let mut wire = data.wire().to_vec();
        let at = at % wire.len();
        wire[at] ^= 1 << bit;
        if let Ok(changed) = Data::decode_ndn(Buffer::from(wire)) {
            prop_assert!(SignatureVerifier::of_private(&PrivateKey::hmac(&secret)).unwrap().verify_data(&changed).is_err());
        }
    }
}
