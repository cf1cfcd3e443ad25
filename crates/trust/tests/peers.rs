//! Keys, certificates and packets that other implementations made are read, and their signatures hold.
//!
//! `vectors/ndnd-*` were written by `ndnd sec` 1.5.3, `vectors/python-ndn-*` by python-ndn 0.5.2 (secret of
//! the HMAC: bytes 0 to 31), `vectors/openssl-*.safebag` by OpenSSL 3.0 around certificates of ndnd
//! (passphrase "correct horse").

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

use cairn_trust::certificate::names;
use cairn_trust::text::{from_base64, packets_in};
use cairn_trust::{
    Certificate, KeyError, KeyKind, PrivateKey, SafeBag, SafeBagError, SignatureVerifier, UnixTime,
    UnsupportedEncryption, open_key_packet,
};
use packet::{Buffer, Data, Interest};

macro_rules! vector {
    ($name:literal) => {
        packets_in(include_bytes!(concat!("vectors/", $name))).unwrap().remove(0)
    };
}

fn certificate(bytes: &[u8]) -> Certificate {
    Certificate::decode(bytes).unwrap()
}

#[test]
fn certificates_of_ndnd_hold_in_a_chain() {
    let root = certificate(&vector!("ndnd-root.cert"));
    let alice = certificate(&vector!("ndnd-alice.cert"));
    let bob = certificate(&vector!("ndnd-bob.cert"));

    assert!(root.is_self_signed() && !alice.is_self_signed());
    assert_eq!(root.public_key().kind(), KeyKind::Ed25519);
    assert_eq!(alice.public_key().kind(), KeyKind::EcdsaP256);
    assert_eq!(bob.public_key().kind(), KeyKind::Rsa);
    assert_eq!(alice.identity().to_string(), "/lab/alice");
    assert_eq!(alice.issuer_id().value, b"lab");
    assert_eq!(alice.signer().and_then(names::key_of), Some(root.key_name()));

    root.verifier().verify_data(root.data()).unwrap();
    root.verifier().verify_data(alice.data()).unwrap();
    alice.verifier().verify_data(bob.data()).unwrap();
    assert!(root.verifier().verify_data(bob.data()).is_err());

    let validity = root.validity();
    assert_eq!(validity.to_string(), "2024-01-01 00:00:00 UTC to 2044-01-01 00:00:00 UTC");
    assert!(validity.contains(UnixTime::from_iso(b"20240101T000000").unwrap()));
    assert!(!validity.contains(UnixTime::from_iso(b"20231231T235959").unwrap()));
    assert!(!validity.contains(UnixTime::from_iso(b"20440101T000001").unwrap()));
}

#[test]
fn private_keys_of_ndnd_belong_to_their_certificates() {
    let pairs = [
        (vector!("ndnd-root.key"), vector!("ndnd-root.cert")),
        (vector!("ndnd-alice.key"), vector!("ndnd-alice.cert")),
        (vector!("ndnd-bob.key"), vector!("ndnd-bob.cert")),
    ];
    for (key, cert) in pairs {
        let data = Data::decode_ndn(Buffer::from(key)).unwrap();
        let (name, key) = open_key_packet(&data).unwrap().unwrap();
        let certificate = certificate(&cert);
        assert_eq!(name.as_ref(), certificate.key_name());
        assert_eq!(&key.public_key().unwrap(), certificate.public_key());
        // What ndnd signed with the key itself, it signed as we would check it.
        SignatureVerifier::of_private(&key).unwrap().verify_data(&data).unwrap();
    }
}

#[test]
fn packets_of_python_ndn_are_verified_and_changed_ones_are_not() {
    let carol = certificate(&vector!("python-ndn-carol.cert"));
    carol.verifier().verify_data(carol.data()).unwrap();

    let mut wire = vector!("python-ndn-ecdsa.data");
    let data = Data::decode_ndn(Buffer::from(wire.clone())).unwrap();
    carol.verifier().verify_data(&data).unwrap();
    let at = wire.windows(5).rposition(|window| window == b"hello").unwrap();
    wire[at] ^= 1;
    assert!(carol.verifier().verify_data(&Data::decode_ndn(Buffer::from(wire)).unwrap()).is_err());

    let interest = Interest::decode_ndn(Buffer::from(vector!("python-ndn-ecdsa.interest"))).unwrap();
    carol.verifier().verify_interest(&interest).unwrap();

    let secret: Vec<u8> = (0..32).collect();
    let verifier = SignatureVerifier::of_private(&PrivateKey::hmac(&secret)).unwrap();
    let data = Data::decode_ndn(Buffer::from(vector!("python-ndn-hmac.data"))).unwrap();
    verifier.verify_data(&data).unwrap();
    assert!(SignatureVerifier::of_private(&PrivateKey::hmac(b"other")).unwrap().verify_data(&data).is_err());
}

#[test]
fn keys_in_the_older_form_of_ndn_cxx_are_read() {
    let key = from_base64(include_str!("vectors/python-ndn-carol.sec1")).unwrap();
    let key = PrivateKey::from_der(&key).unwrap();
    let carol = certificate(&vector!("python-ndn-carol.cert"));
    assert_eq!(&key.public_key().unwrap(), carol.public_key());
}

#[test]
fn safe_bags_of_openssl_open_with_their_passphrase_only() {
    for bag in [vector!("openssl-ecdsa-aes256-sha256.safebag"), vector!("openssl-rsa-aes128-sha1.safebag")] {
        SafeBag::open(&bag, b"correct horse").unwrap();
        assert_eq!(SafeBag::open(&bag, b"wrong").unwrap_err(), SafeBagError::Key(KeyError::Passphrase));
    }
}

#[test]
fn a_safe_bag_with_triple_des_is_refused_in_words() {
    let bag = vector!("openssl-ed25519-3des.safebag");
    let error = SafeBag::open(&bag, b"correct horse").unwrap_err();
    assert_eq!(error, SafeBagError::Key(KeyError::Encryption(UnsupportedEncryption::Cipher)));
    assert!(error.to_string().contains("AES-256-CBC"));
}
