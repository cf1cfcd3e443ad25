//! Every vector under `vectors/ccnx`, most of them put on the wire by CCNx 0.8.2 and ndnld, says what is in
//! it, or what is wrong with it; the codecs must say the same, and must write the same bytes again.
#![allow(clippy::unwrap_used, reason = "tests")]

mod ccnx_describe;

use std::collections::BTreeSet;

use cairn_packet::DecodeError;
use cairn_packet::ccnx::{Framer, Message};
use ccnx_describe::{Described, describe};
use sha2::{Digest as _, Sha256};
use testkit::vectors::{Vector, load};

/// Keys that say where the bytes are from rather than what is in them.
const PROVENANCE: [&str; 4] = ["source", "kind", "about", "capture"];

fn good() -> impl Iterator<Item = Vector> {
    load("ccnx").into_iter().filter(|vector| vector.get("error").is_none())
}

fn bad() -> impl Iterator<Item = Vector> {
    load("ccnx").into_iter().filter(|vector| vector.get("error").is_some())
}

#[test]
fn every_vector_has_the_fields_it_says_and_no_others() {
    for vector in good() {
        let described = describe(vector.kind(), &vector.bytes);
        let Described { fields, .. } = described.unwrap_or_else(|error| panic!("{}: {error}", vector.name));
        let said = vector.header.iter().filter(|(key, _)| !PROVENANCE.contains(&key.as_str()));
        let said: Vec<(&str, &str)> = said.map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let found: Vec<(&str, &str)> = fields.iter().map(|(key, value)| (*key, value.as_str())).collect();
        assert_eq!(said, found, "{}", vector.name);
    }
}

#[test]
fn every_vector_is_written_again_to_the_same_bytes() {
    for vector in good() {
        for encoded in describe(vector.kind(), &vector.bytes).unwrap().encodings {
            assert_eq!(encoded, vector.bytes, "{}", vector.name);
        }
    }
}

#[test]
fn every_erroneous_vector_is_refused_for_the_reason_and_at_the_byte_it_says() {
    for vector in bad() {
        match describe(vector.kind(), &vector.bytes) {
            Ok(_) => panic!("{} was accepted", vector.name),
            Err(DecodeError { field, offset, rule }) => {
                assert_eq!(Some(format!("{field} {rule}").as_str()), vector.get("error"), "{}", vector.name);
                assert_eq!(Some(offset.to_string().as_str()), vector.get("error-at"), "{}", vector.name);
            }
        }
    }
}

#[test]
fn a_vector_cut_anywhere_is_refused_without_looking_past_its_end() {
    // Long payloads look the same at every byte, so vectors beyond this length add nothing.
    for vector in good().filter(|vector| vector.bytes.len() < 700) {
        for cut in 0..vector.bytes.len() {
            let error = describe(vector.kind(), &vector.bytes[..cut]).err();
            let offset = error.unwrap_or_else(|| panic!("{} cut at {cut} was accepted", vector.name)).offset;
            assert!(offset <= cut, "{} cut at {cut}: offset {offset}", vector.name);
        }
    }
}

#[test]
fn a_vector_with_any_byte_changed_never_panics_and_errors_lie_inside() {
    for vector in good().filter(|vector| vector.bytes.len() < 700) {
        let mut bytes = vector.bytes.clone();
        for at in 0..bytes.len() {
            let original = bytes[at];
            for changed in [0x00, 0xff, original ^ 0x01, original ^ 0x08, original ^ 0x80] {
                bytes[at] = changed;
                if let Err(error) = describe(vector.kind(), &bytes) {
                    assert!(error.offset <= bytes.len(), "{} at {at}: {error}", vector.name);
                }
            }
            bytes[at] = original;
        }
    }
}

#[test]
fn all_vectors_in_one_stream_are_cut_apart_again() {
    let vectors: Vec<Vector> = good().collect();
    let stream: Vec<u8> = vectors.iter().flat_map(|vector| vector.bytes.iter().copied()).collect();
    for piece_bytes in [1, 7, 1000, stream.len()] {
        let mut framer = Framer::new(65_535);
        let mut buffer: Vec<u8> = Vec::new();
        let mut expected = vectors.iter();
        for piece in stream.chunks(piece_bytes) {
            buffer.extend_from_slice(piece);
            while let Some(len) = framer.scan(&buffer).unwrap() {
                let message: Vec<u8> = buffer.drain(..len).collect();
                assert_eq!(message, expected.next().unwrap().bytes);
            }
        }
        assert!(buffer.is_empty() && expected.next().is_none());
    }
}

#[test]
fn messages_are_told_apart_by_their_outermost_element() {
    for vector in good() {
        let message = Message::decode(&vector.bytes).unwrap();
        let kind = match message {
            Message::Interest(_) => "ccnx-interest",
            Message::ContentObject(_) => "ccnx-content",
            Message::SequenceNumber(_) => "ccnx-sequence-number",
            Message::Pdu(_) => "ccnx-pdu",
            Message::Other(whole) => {
                assert_eq!(whole, vector.bytes);
                continue;
            }
        };
        assert_eq!(kind, vector.kind(), "{}", vector.name);
    }
}

#[test]
fn a_key_locators_key_has_the_publishers_digest() {
    let mut checked = 0;
    for vector in good().filter(|vector| vector.kind() == "ccnx-content") {
        let object = cairn_packet::ccnx::ContentObjectView::decode(&vector.bytes).unwrap();
        if let Some(cairn_packet::ccnx::KeyLocator::Key(key)) = object.key_locator() {
            assert_eq!(object.publisher()[..], Sha256::digest(key)[..], "{}", vector.name);
            checked += 1;
        }
    }
    assert!(checked > 10, "only {checked} vectors have a key");
}

#[test]
fn there_is_a_vector_of_every_kind_and_an_erroneous_one_of_most() {
    let kinds = |vectors: &mut dyn Iterator<Item = Vector>| -> BTreeSet<String> {
        vectors.map(|vector| vector.kind().to_owned()).collect()
    };
    let all = ccnx_describe::KINDS.map(str::to_owned);
    assert_eq!(kinds(&mut good()), BTreeSet::from(all));
    let lacking: Vec<String> = kinds(&mut good()).difference(&kinds(&mut bad())).cloned().collect();
    // These have no rules of their own beside "these elements in this order".
    let expected = [
        "ccnx-collection",
        "ccnx-link",
        "ccnx-repository-info",
        "ccnx-strategy-selection",
        "ndnld-connection",
    ];
    assert_eq!(lacking, expected);
}
