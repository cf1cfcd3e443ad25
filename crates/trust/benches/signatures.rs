//! What signing and checking costs.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot begin should stop")]

use cairn_trust::{KeyKind, PrivateKey, SignatureVerifier, Signer};
use packet::ndn::DataBuilder;

fn main() {
    divan::main();
}

const KINDS: &[KeyKind] = &[KeyKind::EcdsaP256, KeyKind::Ed25519, KeyKind::Rsa, KeyKind::Hmac];

fn segment() -> DataBuilder {
    DataBuilder::new("/lab/file/v=1/seg=7".parse().unwrap()).content(vec![7; 8000])
}

#[divan::bench(args = KINDS)]
fn sign(bencher: divan::Bencher<'_, '_>, kind: KeyKind) {
    let signer = Signer::new(PrivateKey::generate(kind).unwrap(), "/lab/KEY/1".parse().unwrap());
    let segment = segment();
    bencher.bench(|| signer.sign_data(&segment).unwrap());
}

#[divan::bench(args = KINDS)]
fn verify(bencher: divan::Bencher<'_, '_>, kind: KeyKind) {
    let key = PrivateKey::generate(kind).unwrap();
    let data = Signer::new(key.clone(), "/lab/KEY/1".parse().unwrap()).sign_data(&segment()).unwrap();
    let verifier = SignatureVerifier::of_private(&key).unwrap();
    bencher.bench(|| verifier.verify_data(&data).unwrap());
}

#[divan::bench]
fn sign_digest(bencher: divan::Bencher<'_, '_>) {
    let (signer, segment) = (Signer::digest(), segment());
    bencher.bench(|| signer.sign_data(&segment).unwrap());
}

#[divan::bench]
fn verify_digest(bencher: divan::Bencher<'_, '_>) {
    let data = Signer::digest().sign_data(&segment()).unwrap();
    let verifier = SignatureVerifier::digest();
    bencher.bench(|| verifier.verify_data(&data).unwrap());
}
