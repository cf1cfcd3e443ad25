//! Packets spelled out in the NDN packet format, read and written byte for byte.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use cairn_packet::ndn::{
    DataBuilder, InterestBuilder, InterestView, KeyLocator, SignatureInfoBuilder, SignatureType,
};
use cairn_packet::time::Duration;
use cairn_packet::{Buffer, Component, ComponentKind, ContentType, Data, Interest, Name, Nonce, Rule};
use sha2::{Digest as _, Sha256};
use testkit::bytes::hex;

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

#[test]
fn the_interest_with_every_field_reads_and_writes_as_specified() {
    let wire = hex("0520 0706080141080142 2100 1200 1e050703080148 0a0401020304 0c0203e8 2201ff");
    let built = InterestBuilder::new(name("/A/B"))
        .can_be_prefix(true)
        .must_be_fresh(true)
        .forwarding_hint(vec![name("/H")])
        .nonce(0x01020304)
        .lifetime(Duration::from_millis(1000))
        .hop_limit(255)
        .build()
        .unwrap();
    assert_eq!(built.wire()[..], wire[..]);
    let view = InterestView::decode(&wire).unwrap();
    assert_eq!(view.name().to_string(), "/A/B");
    assert!(view.can_be_prefix() && view.must_be_fresh());
    assert_eq!(view.forwarding_hint().map(|n| n.to_string()).collect::<Vec<_>>(), ["/H"]);
    assert_eq!(view.nonce(), Some(Nonce(0x01020304)));
    assert_eq!(view.lifetime(), Duration::from_millis(1000));
    assert_eq!(view.hop_limit(), Some(255));
}

#[test]
fn parameters_are_digested_into_the_name() {
    let interest = InterestBuilder::new(name("/B"))
        .nonce(0x01020304)
        .application_parameters(b"hi".to_vec())
        .build()
        .unwrap();
    assert_eq!(
        interest.wire()[..],
        hex("0531 0725 080142 0220 71ebd12fd721d390aab8b9d4dfc443385a0ddb62e0bed1b4fbd766bc67354ca1
             0a0401020304 24026869")[..]
    );
    assert_eq!(interest.ndn().unwrap().parameters_digest_is_valid(), Some(true));
    assert_eq!(interest.ndn().unwrap().application_parameters(), Some(&b"hi"[..]));
}

#[test]
fn the_signed_interest_covers_name_parameters_and_info() {
    let info = SignatureInfoBuilder::new(SignatureType::DIGEST_SHA256)
        .nonce(0x0102030405060708)
        .time_ms(1_700_000_000_000);
    let mut covered = Vec::new();
    let interest = InterestBuilder::new(name("/A"))
        .nonce(0x01020304)
        .build_signed(&info, |signed| {
            covered = signed.to_vec();
            Sha256::digest(signed).to_vec()
        })
        .unwrap();
    assert_eq!(covered, hex("080141 2400 2c17 1b0100 26080102030405060708 28080000018bcfe56800"));
    assert_eq!(
        interest.wire()[..],
        hex("056a 0725 080141 0220 1b308359f0f2712300a469e69cc6c1eb91d2a30cdbba2fd40f0a568bc2428f09
             0a0401020304 2400 2c17 1b0100 26080102030405060708 28080000018bcfe56800
             2e20 43ba55645256454386d76618ddfcc19665dfa9320f33d889203d73238fa380cc")[..]
    );
    let view = interest.ndn().unwrap();
    assert_eq!(view.signed_portion().unwrap().collect::<Vec<_>>().concat(), covered);
    let info = view.signature_info().unwrap();
    assert_eq!(info.signature_type, SignatureType::DIGEST_SHA256);
    assert_eq!(info.nonce, Some(&[1, 2, 3, 4, 5, 6, 7, 8][..]));
    assert_eq!(info.time_ms, Some(1_700_000_000_000));
    assert_eq!(view.signature_value().map(<[u8]>::len), Some(32));
    assert_eq!(view.parameters_digest_is_valid(), Some(true));
}

#[test]
fn the_data_with_every_field_reads_and_writes_as_specified() {
    let wire = hex("063b 0703080141 1409190203e81a03320100 15026869 16031b0100
                    1720 3b6fb3324468f4ca77c4cec382608aa3b5ebe4998785ec2a522c20b45f9e36cf");
    let data = DataBuilder::new(name("/A"))
        .freshness(Duration::from_secs(1))
        .final_block(Component::new(ComponentKind::SEGMENT, &[0]))
        .content(b"hi".to_vec())
        .build_with_digest()
        .unwrap();
    assert_eq!(data.wire()[..], wire[..]);
    assert_eq!(data.ndn().unwrap().content_type(), ContentType::BLOB);
    assert_eq!(data.freshness(), Duration::from_secs(1));
    assert_eq!(data.content(), b"hi");
    let view = data.ndn().unwrap();
    assert_eq!(view.final_block().unwrap().to_string(), "seg=0");
    assert_eq!(view.signed_portion().len(), 25);
    assert_eq!(view.signature_value()[..], Sha256::digest(view.signed_portion())[..]);
    assert_eq!(
        data.implicit_digest()[..],
        hex("b3e363a7f299e617f704d9a455816e68ce810eecbc1d743718c45c843c6a19e6")[..]
    );
}

#[test]
fn the_smallest_data_has_neither_meta_info_nor_content() {
    let data = DataBuilder::new(name("/A")).build_with_digest().unwrap();
    assert_eq!(
        data.wire()[..],
        hex("062c 0703080141 16031b0100
             1720 4dc3687307ff540517001990590b74ae07d1065ea72fb5d58aa0e03d56bb1d1c")[..]
    );
    assert_eq!(data.freshness(), Duration::ZERO);
}

#[test]
fn the_key_locator_of_the_hmac_sample_is_read() {
    let info = SignatureInfoBuilder::new(SignatureType::HMAC_WITH_SHA256).key_name(&name("/k"));
    let data =
        DataBuilder::new(name("/A")).content(b"hi".to_vec()).build_signed(&info, |_| vec![0; 32]).unwrap();
    let view = data.ndn().unwrap();
    assert_eq!(view.signed_portion(), hex("0703080141 15026869 160a 1b0104 1c05 070308016b"));
    let locator = view.signature_info().unwrap().key_locator;
    assert!(matches!(locator, Some(KeyLocator::Name(key)) if key == name("/k").as_ref()));
}

#[test]
fn elements_after_the_signature_are_digested_but_not_signed() {
    let wire = hex("0631 0703080141 16031b0100
                    1720 4dc3687307ff540517001990590b74ae07d1065ea72fb5d58aa0e03d56bb1d1c fd0258 01 ff");
    let data = Data::decode_ndn(Buffer::from(wire.clone())).unwrap();
    assert_eq!(data.ndn().unwrap().signed_portion(), hex("0703080141 16031b0100"));
    assert_eq!(data.implicit_digest()[..], Sha256::digest(&wire)[..]);
}

#[test]
fn unknown_and_misplaced_elements_follow_the_evolvability_rule() {
    let decode = |text: &str| Interest::decode_ndn(Buffer::from(hex(text)));
    // Even and above 31: skipped, also when it is a known one in the wrong place.
    assert!(decode("050f 0703080141 fd010000 0a0401020304").is_ok());
    let late = decode("0510 0703080141 2400 2201ff 0a0401020304");
    assert_eq!(late.unwrap_err().rule, Rule::OutOfOrder, "a late Nonce is critical");
    let late = decode("0510 0703080141 0a0401020304 2201ff 2200").unwrap();
    assert_eq!(late.hop_limit(), Some(255), "the second HopLimit is ignored");
    // Odd, or up to 31: refused.
    assert_eq!(decode("0507 0703080141 2300").unwrap_err().rule, Rule::UnrecognisedCritical(0x23));
    assert_eq!(decode("0507 0703080141 1c00").unwrap_err().rule, Rule::UnrecognisedCritical(0x1c));
    assert_eq!(decode("0509 0703080141 1200 2100").unwrap_err().rule, Rule::OutOfOrder);
    assert_eq!(decode("0509 0703080141 1200 1200").unwrap_err().rule, Rule::OutOfOrder);
    // Nothing may precede the Name.
    assert_eq!(decode("0507 fc00 0703080141").unwrap_err().rule, Rule::UnexpectedType(0xfc));
}

#[test]
fn a_nonce_is_added_or_replaced_in_its_place() {
    for (before, after) in [
        ("0505 0703080141", "050b 0703080141 0a04aabbccdd"),
        ("0507 0703080141 2100", "050d 0703080141 2100 0a04aabbccdd"),
        ("050b 0703080141 0a0401020304", "050b 0703080141 0a04aabbccdd"),
        ("050c 0703080141 0c0203e8 2201ff", "0512 0703080141 0a04aabbccdd 0c0203e8 2201ff"),
    ] {
        let mut interest = Interest::decode_ndn(Buffer::from(hex(before))).unwrap();
        interest.set_nonce(Nonce(0xaabbccdd)).unwrap();
        assert_eq!(interest.wire()[..], hex(after)[..], "{before}");
    }
}

#[test]
fn a_hop_limit_is_added_in_its_place_but_never_replaced() {
    for (before, after) in [
        ("0505 0703080141", "0508 0703080141 220107"),
        ("0509 0703080141 2402 6869", "050c 0703080141 220107 2402 6869"),
        ("0509 0703080141 0c0203e8", "050c 0703080141 0c0203e8 220107"),
        ("0508 0703080141 220103", "0508 0703080141 220103"),
    ] {
        let mut interest = Interest::decode_ndn(Buffer::from(hex(before))).unwrap();
        interest.add_hop_limit(7).unwrap();
        assert_eq!(interest.wire()[..], hex(after)[..], "{before}");
    }
}

#[test]
fn the_hop_limit_is_written_in_place_unless_the_packet_is_shared() {
    let mut interest = InterestBuilder::new(name("/A")).hop_limit(5).build().unwrap();
    let (place, shared) = (interest.wire().as_ptr(), interest.clone());
    interest.set_hop_limit(4);
    assert_ne!(interest.wire().as_ptr(), place);
    assert_eq!((interest.hop_limit(), shared.hop_limit()), (Some(4), Some(5)));
    drop(shared);
    let place = interest.wire().as_ptr();
    interest.set_hop_limit(3);
    assert_eq!((interest.wire().as_ptr(), interest.hop_limit()), (place, Some(3)));
}

#[test]
fn packets_over_8800_bytes_are_neither_read_nor_written() {
    let too_large = DataBuilder::new(name("/A")).content(vec![0; 8800]).build_with_digest();
    assert!(too_large.is_err());
    let largest = (8700..8800)
        .rev()
        .find_map(|len| DataBuilder::new(name("/A")).content(vec![0; len]).build_with_digest().ok())
        .unwrap();
    assert_eq!(largest.wire().len(), 8800);
}
