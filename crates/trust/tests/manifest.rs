//! A manifest vouches for the segments of one object and for nothing else, in whatever order packets arrive.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

use cairn_trust::manifest::{ManifestError, ManifestLimits, ManifestReader, ManifestWriter, SegmentVerdict};
use cairn_trust::{KeyKind, PrivateKey, SignatureVerifier, Signer};
use packet::ndn::DataBuilder;
use packet::random::Random;
use packet::{Data, Name};
use proptest::prelude::*;

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn segment(number: u64, content: u8) -> Data {
    let uri = format!("/object/v=1/seg={number}");
    DataBuilder::new(name(&uri)).content(vec![content; 10]).build_with_digest().unwrap()
}

fn object(segments: u64, packet_bytes: usize, signer: &Signer) -> (Vec<Data>, Vec<Data>) {
    let segments: Vec<Data> = (0..segments).map(|number| segment(number, number as u8)).collect();
    let mut writer = ManifestWriter::new(name("/object/v=1")).packet_bytes(packet_bytes);
    segments.iter().for_each(|segment| writer.push_segment(segment));
    let packets = writer.finish(signer).unwrap();
    (segments, packets)
}

fn reader(limits: ManifestLimits) -> ManifestReader {
    ManifestReader::new(name("/object/v=1"), limits)
}

#[test]
fn only_the_first_packet_is_signed_and_all_fit_a_packet() {
    let key = PrivateKey::generate(KeyKind::Rsa).unwrap();
    let signer = Signer::new(key.clone(), name("/a/long/name/of/a/key/KEY/1/issuer/v=17"));
    let (_, packets) = object(1000, 8800, &signer);
    assert!((4..=5).contains(&packets.len()), "{} packets", packets.len());
    let verifier = SignatureVerifier::of_private(&key).unwrap();
    verifier.verify_data(&packets[0]).unwrap();
    for packet in &packets[1..] {
        assert!(verifier.verify_data(packet).is_err());
        SignatureVerifier::digest().verify_data(packet).unwrap();
    }
    assert_eq!(packets[0].name().to_string(), "/object/v=1/32=manifest/seg=0");
    let last = packets.last().unwrap().name().last();
    assert_eq!(packets[0].ndn().unwrap().final_block(), last);
}

#[test]
fn an_object_without_segments_has_a_manifest_that_says_so() {
    let (_, packets) = object(0, 8800, &Signer::digest());
    let mut reader = reader(ManifestLimits::default());
    reader.handle_first(&packets[0]).unwrap();
    assert!(reader.is_complete() && reader.known_segments() == 0);
    assert_eq!(reader.verify(&segment(0, 0)), SegmentVerdict::NotInObject);
}

#[test]
fn a_changed_segment_is_forged_and_one_beyond_the_end_is_not_in_the_object() {
    let (segments, packets) = object(5, 8800, &Signer::digest());
    let mut reader = reader(ManifestLimits::default());
    assert_eq!(reader.verify(&segments[0]), SegmentVerdict::Unknown);
    assert_eq!(reader.wanted_packet(), Some(0));
    reader.handle_first(&packets[0]).unwrap();
    assert_eq!(reader.verify(&segments[3]), SegmentVerdict::Verified);
    assert_eq!(reader.verify(&segment(3, 99)), SegmentVerdict::Forged);
    assert_eq!(reader.verify(&segment(5, 5)), SegmentVerdict::NotInObject);
    let other = DataBuilder::new(name("/other/v=1/seg=3")).content(vec![3; 10]).build_with_digest().unwrap();
    assert_eq!(reader.verify(&other), SegmentVerdict::NotInObject);
    assert_eq!(reader.wanted_packet(), None);
    reader.forget_below(4);
    assert_eq!(reader.verify(&segments[3]), SegmentVerdict::NotInObject);
    assert_eq!(reader.verify(&segments[4]), SegmentVerdict::Verified);
    assert_eq!(reader.known_segments(), 5);
}

#[test]
fn a_packet_that_was_not_announced_is_refused_and_the_right_one_still_taken() {
    let (segments, packets) = object(40, 400, &Signer::digest());
    let (_, forged) = {
        let mut writer = ManifestWriter::new(name("/object/v=1")).packet_bytes(400);
        (0..40).for_each(|number| writer.push_segment(&segment(number, 77)));
        ((), writer.finish(&Signer::digest()).unwrap())
    };
    let mut reader = reader(ManifestLimits::default());
    reader.handle_first(&packets[0]).unwrap();
    assert_eq!(reader.handle_packet(&forged[1]), Err(ManifestError::Digest(1)));
    assert!(matches!(reader.handle_packet(&segments[1]), Err(ManifestError::Name(_))));
    reader.handle_packet(&packets[1]).unwrap();
    assert_eq!(reader.wanted_packet(), Some(2));
    // Nobody but the owner vouches for packet 0.
    let mut fresh = ManifestReader::new(name("/object/v=1"), ManifestLimits::default());
    assert!(fresh.handle_packet(&packets[0]).is_err());
}

#[test]
fn limits_on_early_packets_and_on_segments_hold() {
    let (_, packets) = object(40, 400, &Signer::digest());
    let mut reader = reader(ManifestLimits { segments: 10, early_packets: 1 });
    reader.handle_packet(&packets[2]).unwrap();
    assert_eq!(reader.handle_packet(&packets[3]), Err(ManifestError::TooManyEarly(1)));
    let mut taken = 0;
    let mut refused = reader.handle_first(&packets[0]);
    while refused.is_ok() {
        taken += 1;
        refused = reader.handle_packet(&packets[taken]);
    }
    assert_eq!(refused, Err(ManifestError::TooMany(10)));
    // What was delivered makes room.
    reader.forget_below(reader.known_segments());
    reader.handle_packet(&packets[usize::try_from(reader.wanted_packet().unwrap()).unwrap()]).unwrap();
}

#[test]
fn what_is_not_wanted_takes_no_room_and_what_is_asked_for_has_room() {
    let (segments, packets) = object(60, 400, &Signer::digest());
    let mut reader = reader(ManifestLimits { segments: 300, early_packets: 4 });
    assert!(reader.has_room_beside(0) && !reader.has_room_beside(1));
    // Whoever goes on with an object from the middle needs no digests of what comes before.
    reader.forget_below(50);
    reader.handle_first(&packets[0]).unwrap();
    for packet in &packets[1..packets.len() - 1] {
        assert!(reader.has_room_beside(0));
        reader.handle_packet(packet).unwrap();
    }
    assert_eq!(reader.verify(&segments[50]), SegmentVerdict::Verified);
    assert_eq!(reader.verify(&segments[49]), SegmentVerdict::NotInObject);
    let mut small =
        ManifestReader::new(name("/object/v=1"), ManifestLimits { segments: 20, early_packets: 4 });
    small.forget_below(50);
    small.handle_first(&packets[0]).unwrap();
    packets[1..].iter().for_each(|packet| small.handle_packet(packet).unwrap());
    assert!(small.is_complete());
    assert_eq!(small.known_segments(), 60);
}

proptest! {
    #[test]
    fn in_any_order_every_segment_is_verified(count in 1u64..120, packet_bytes in 300usize..900, seed: u64) {
        let (segments, packets) = object(count, packet_bytes, &Signer::digest());
        let mut reader = reader(ManifestLimits { segments: 1000, early_packets: 1000 });
        let mut order: Vec<usize> = (0..packets.len()).collect();
        let mut random = Random::from_seed(seed);
        for index in (1..order.len()).rev() {
            order.swap(index, random.below(index as u64 + 1) as usize);
        }
        for index in order {
            match index {
                0 => reader.handle_first(&packets[0]).unwrap(),
                _ => reader.handle_packet(&packets[index]).unwrap(),
            }
        }
        prop_assert!(reader.is_complete());
        prop_assert_eq!(reader.known_segments(), count);
        for segment in &segments {
            prop_assert_eq!(reader.verify(segment), SegmentVerdict::Verified);
        }
    }
}
