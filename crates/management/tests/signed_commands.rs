//! Both formats of signed commands, byte for byte as other implementations write them.
#![allow(clippy::unwrap_used, reason = "tests")]

use cairn_management::{
    Command, CommandScope, CommandSignature, ControlParameters, LegacyFreshness, RequestName, RouteOrigin,
    SignatureFormat, Target,
};
use packet::ndn::{InterestBuilder, SignatureInfoBuilder, SignatureType};
use packet::{Buffer, Component, Interest, Name};
use sha2::{Digest as _, Sha256};
use testkit::bytes::hex;

fn parameters() -> ControlParameters {
    ControlParameters {
        name: Some("/A".parse().unwrap()),
        origin: Some(RouteOrigin::Static),
        cost: Some(10),
        flags: Some(1),
        ..Default::default()
    }
}

fn digest(signed: &[u8]) -> Vec<u8> {
    Sha256::digest(signed).to_vec()
}

const TIME_MS: u64 = 1_700_000_000_000;
const NONCE: u64 = 0x0102_0304_0506_0708;

/// The same command in both formats, computed without Cairn's code.
const CURRENT: &str = "059a 0753 08096c6f63616c686f7374 08036e6664 0803726962 08087265676973746572
    0810 680e0703080141 6f01ff 6a010a 6c0101
    0220 d100e9ea687d8f9a0e26e6addd8b91099d55e7afcdcbaa11f5302abf9927d186
    1200 0a0401020304 2400 2c17 1b0100 26080102030405060708 28080000018bcfe56800
    2e20 f046414e84c1ed79b0953aea6b8938802a0833d92f82f7a54a83a0302140827a";
const LEGACY: &str = "0578 0770 08096c6f63616c686f7374 08036e6664 0803726962 08087265676973746572
    0810 680e0703080141 6f01ff 6a010a 6c0101
    0808 0000018bcfe56800 0808 0102030405060708 0805 16031b0100
    0822 1720fa745ffa5b48f62ae7dcda4c17a27eb6f80d906d1e85c7afa3309cafa61c5ada
    0a0401020304";

#[test]
fn a_command_of_v03_is_written_as_others_write_it_and_read_back() {
    let info = SignatureInfoBuilder::new(SignatureType::DIGEST_SHA256).nonce(NONCE).time_ms(TIME_MS);
    let interest = Command::RibRegister
        .interest(CommandScope::Localhost, &parameters())
        .unwrap()
        .must_be_fresh(true)
        .nonce(0x0102_0304)
        .build_signed(&info, digest)
        .unwrap();
    assert_eq!(interest.wire()[..], hex(CURRENT));

    let request = RequestName::parse(interest.name()).unwrap();
    assert_eq!(
        (request.scope, request.target),
        (CommandScope::Localhost, Target::Command(Command::RibRegister))
    );
    assert_eq!(ControlParameters::decode(request.parameter().unwrap().value).unwrap(), parameters());

    let signature = CommandSignature::of(&interest).unwrap();
    assert_eq!(signature.format, SignatureFormat::Elements);
    assert_eq!((signature.time_ms, signature.nonce), (Some(TIME_MS), Some(&NONCE.to_be_bytes()[..])));
    assert_eq!(signature.value, digest(&signature.signed));
}

#[test]
fn a_command_of_v02_is_written_as_others_write_it_and_read_back() {
    let info = SignatureInfoBuilder::new(SignatureType::DIGEST_SHA256);
    let freshness = LegacyFreshness { time_ms: TIME_MS, nonce: NONCE };
    let name = Command::RibRegister
        .legacy_name(CommandScope::Localhost, &parameters(), freshness, &info, digest)
        .unwrap();
    let interest = InterestBuilder::new(name).nonce(0x0102_0304).build().unwrap();
    assert_eq!(interest.wire()[..], hex(LEGACY));

    let signature = CommandSignature::of(&interest).unwrap();
    assert_eq!(signature.format, SignatureFormat::NameComponents);
    assert_eq!((signature.time_ms, signature.nonce), (Some(TIME_MS), Some(&NONCE.to_be_bytes()[..])));
    assert_eq!(signature.info.signature_type, SignatureType::DIGEST_SHA256);
    assert_eq!(signature.value, digest(&signature.signed));
}

#[test]
fn what_is_not_signed_properly_has_no_signature() {
    let unsigned = Command::RibRegister.interest(CommandScope::Localhost, &parameters()).unwrap();
    assert!(CommandSignature::of(&unsigned.build().unwrap()).is_err());
    // Parameters without a signature are no better.
    assert!(CommandSignature::of(&unsigned.application_parameters(vec![]).build().unwrap()).is_err());

    // Every byte behind the command itself matters.
    let good = hex(CURRENT);
    assert!(CommandSignature::of(&Interest::decode_ndn(Buffer::from(good.clone())).unwrap()).is_ok());
    for at in 53..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        let Ok(interest) = Interest::decode_ndn(Buffer::from(bad)) else { continue };
        // But for the nonce of the Interest itself, which forwarders may write.
        let is_free = (91..95).contains(&at);
        let holds = CommandSignature::of(&interest)
            .is_ok_and(|signature| signature.value == digest(&signature.signed));
        assert_eq!(holds, is_free, "byte {at}");
    }

    // In the old format each of the four components must be what it is.
    for broken in ["/a", "/a/b/c/d", "/a/%00/b/%16%03%1B%01%00/%17%00x", "/a/bcd/b/%16%03%1B%01%00/%17%00"] {
        let name: Name = broken.parse().unwrap();
        let name = name.with(Component::generic(b"")).unwrap();
        let interest = InterestBuilder::new(name).build().unwrap();
        assert!(CommandSignature::of(&interest).is_err(), "{broken}");
    }
}
