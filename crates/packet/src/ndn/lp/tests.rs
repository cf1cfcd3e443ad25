//! Golden packets, properties and enumerated boundaries of the LpPacket codec.

use proptest::prelude::*;
use testkit::vectors::{self, Vector};

use super::*;

fn number(vector: &Vector, key: &str) -> Option<u64> {
    vector.get(key).map(|text| text.parse().unwrap())
}

fn good_vectors() -> Vec<Vector> {
    vectors::load("ndn-lp").into_iter().filter(|vector| vector.get("error").is_none()).collect()
}

#[test]
fn golden_packets_decode_to_the_fields_their_files_tell() {
    let vectors = vectors::load("ndn-lp");
    assert!(vectors.len() >= 50, "vectors are missing");
    for vector in vectors {
        let file = &vector.name;
        let decoded = LpPacketView::decode(&vector.bytes);
        if let Some(expected) = vector.get("error") {
            let error = decoded.unwrap_err();
            assert_eq!(format!("{} {}", error.field, error.rule), expected, "{file}");
            assert_eq!(Some(error.offset as u64), number(&vector, "error-at"), "{file}");
            continue;
        }
        let view = decoded.unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(view.sequence, number(&vector, "sequence"), "{file}");
        assert_eq!(view.frag_index, number(&vector, "frag-index"), "{file}");
        assert_eq!(view.frag_count, number(&vector, "frag-count"), "{file}");
        assert_eq!(view.tx_sequence, number(&vector, "tx-sequence"), "{file}");
        assert_eq!(view.incoming_face, number(&vector, "incoming-face"), "{file}");
        assert_eq!(view.next_hop_face, number(&vector, "next-hop-face"), "{file}");
        assert_eq!(view.congestion_mark, number(&vector, "congestion-mark").unwrap_or(0), "{file}");
        assert_eq!(view.nack.map(NackReason::as_str), vector.get("nack"), "{file}");
        assert_eq!(view.cache_policy.map(|_| "no-cache"), vector.get("cache-policy"), "{file}");
        let rate = view.explicit_rate.map(ExplicitRate::per_1000_s);
        assert_eq!(rate, number(&vector, "explicit-rate-per-1000-s"), "{file}");
        assert_eq!(view.non_discovery, vector.get("non-discovery").is_some(), "{file}");
        let token = crate::hex::encode(view.pit_token);
        assert_eq!(token, vector.get("pit-token").unwrap_or_default(), "{file}");
        let acks: Vec<String> = view.acks.iter().map(|ack| ack.to_string()).collect();
        assert_eq!(acks.join(" "), vector.get("acks").unwrap_or_default(), "{file}");
        let parity = crate::hex::encode(view.parity);
        assert_eq!(parity, vector.get("parity").unwrap_or_default(), "{file}");
        let length = |part: Option<&[u8]>| part.map(|part| part.len() as u64);
        assert_eq!(length(view.fragment), number(&vector, "fragment-bytes"), "{file}");
        assert_eq!(length(view.prefix_announcement), number(&vector, "prefix-announcement-bytes"), "{file}");
    }
}

#[test]
fn golden_packets_encode_to_the_same_bytes_where_they_are_canonical() {
    let mut compared = 0;
    for vector in good_vectors() {
        let view = LpPacketView::decode(&vector.bytes).unwrap();
        let mut frame = Vec::new();
        view.encode(&mut frame);
        assert_eq!(frame.len(), view.encoded_len(), "{}", vector.name);
        if vector.get("canonical") == Some("false") {
            assert_eq!(LpPacketView::decode(&frame), Ok(view), "{}", vector.name);
            assert_ne!(frame, vector.bytes, "{} is canonical after all", vector.name);
        } else {
            assert_eq!(frame, vector.bytes, "{}", vector.name);
            compared += 1;
        }
    }
    assert!(compared >= 25);
}

#[test]
fn a_golden_packet_cut_short_anywhere_is_refused_as_truncated() {
    for vector in good_vectors() {
        for len in 0..vector.bytes.len() {
            let error = LpPacketView::decode(&vector.bytes[..len]).unwrap_err();
            let truncated = matches!(error.rule, Rule::Truncated { .. }) || len == 0;
            assert!(truncated, "{} cut to {len}: {error}", vector.name);
        }
    }
}

#[test]
fn a_padded_frame_is_refused_by_decode_and_accepted_by_decode_first() {
    let frame = [0x64, 0x05, 0x50, 0x03, 0x05, 0x01, 0x00, 0, 0, 0];
    let (view, used) = LpPacketView::decode_first(&frame).unwrap();
    assert_eq!((view.fragment, used), (Some([0x05, 0x01, 0x00].as_slice()), 7));
    assert_eq!(LpPacketView::decode(&frame).unwrap_err().rule, Rule::Trailing(3));
}

/// One field of every type from 1 to 1000 before the Fragment: known ones with a value that suits them.
#[test]
fn exactly_the_types_800_to_959_divisible_by_four_may_be_unknown() {
    let fragment = [0x50, 0x01, 0x05];
    for kind in 1..1000u32 {
        let value: &[u8] = match kind {
            SEQUENCE | TX_SEQUENCE | ACK => &[0; 8],
            FRAG_INDEX | FRAG_COUNT | PIT_TOKEN | INCOMING_FACE_ID | NEXT_HOP_FACE_ID | CONGESTION_MARK => {
                &[1]
            }
            CACHE_POLICY => &[0xfd, 0x03, 0x35, 1, 1],
            PREFIX_ANNOUNCEMENT => &[0x06, 0],
            EXPLICIT_RATE | RECEIVE_CAPACITY => &[1],
            ECHO_REQUEST | ECHO_REPLY => &[0; 8],
            FRAGMENT => continue,
            _ => &[],
        };
        let mut body = Vec::new();
        tlv::write_element(&mut body, kind, value);
        body.extend_from_slice(&fragment);
        let mut frame = Vec::new();
        tlv::write_element(&mut frame, LP_PACKET, &body);
        let accepted = LpPacketView::decode(&frame).is_ok();
        let expected =
            matches!(kind, 81..=83 | 98) || ((800..=959).contains(&kind) && kind.is_multiple_of(4));
        assert_eq!(accepted, expected, "type {kind}");
    }
}

/// Every ordered pair of known fields; only Ack may follow itself.
#[test]
fn any_two_fields_are_accepted_in_ascending_order_only() {
    let elements: [(u32, &[u8]); 15] = [
        (SEQUENCE, &[0; 8]),
        (FRAG_INDEX, &[0]),
        (FRAG_COUNT, &[1]),
        (PIT_TOKEN, &[1]),
        (NACK, &[]),
        (INCOMING_FACE_ID, &[1]),
        (NEXT_HOP_FACE_ID, &[1]),
        (CACHE_POLICY, &[0xfd, 0x03, 0x35, 1, 1]),
        (CONGESTION_MARK, &[1]),
        (ACK, &[0; 8]),
        (TX_SEQUENCE, &[0; 8]),
        (NON_DISCOVERY, &[]),
        (PREFIX_ANNOUNCEMENT, &[0x06, 0]),
        (EXPLICIT_RATE, &[1]),
        (FRAGMENT, &[0x05]),
    ];
    for (first, &(first_kind, first_value)) in elements.iter().enumerate() {
        for (second, &(second_kind, second_value)) in elements.iter().enumerate() {
            let mut body = Vec::new();
            tlv::write_element(&mut body, first_kind, first_value);
            tlv::write_element(&mut body, second_kind, second_value);
            let mut frame = Vec::new();
            tlv::write_element(&mut frame, LP_PACKET, &body);
            let legal = first < second || (first == second && first_kind == ACK);
            assert_eq!(LpPacketView::decode(&frame).is_ok(), legal, "{first_kind} then {second_kind}");
        }
    }
}

#[test]
fn numbers_of_every_width_are_read_and_other_widths_refused() {
    let kinds = [FRAG_INDEX, FRAG_COUNT, INCOMING_FACE_ID, NEXT_HOP_FACE_ID, CONGESTION_MARK, EXPLICIT_RATE];
    for kind in kinds {
        for width in 0..=9usize {
            let mut body = Vec::new();
            tlv::write_element(&mut body, kind, &vec![0xff; width]);
            let mut frame = Vec::new();
            tlv::write_element(&mut frame, LP_PACKET, &body);
            let view = LpPacketView::decode(&frame);
            assert_eq!(view.is_ok(), matches!(width, 1 | 2 | 4 | 8), "type {kind}, {width} bytes");
        }
    }
}

#[test]
fn lengths_at_every_boundary_round_trip() {
    for length in [1, 2, 250, 251, 252, 253, 254, 1400, 65_530, 65_534, 65_535, 65_536, 70_000] {
        let fragment = vec![0x05; length];
        let view = LpPacketView { sequence: Some(7), fragment: Some(&fragment), ..LpPacketView::default() };
        let mut frame = Vec::new();
        view.encode(&mut frame);
        assert_eq!(frame.len(), view.encoded_len());
        assert_eq!(LpPacketView::decode(&frame), Ok(view));
    }
}

#[test]
fn a_slice_without_header_fields_is_wrapped_so_that_it_cannot_pass_for_a_packet() {
    for slice in [[0x07, 0x00], [0x05, 0x01], [0x06, 0xff]] {
        let view = LpPacketView { fragment: Some(&slice), ..LpPacketView::default() };
        let mut frame = Vec::new();
        view.encode(&mut frame);
        assert_eq!(frame, [0x64, 0x04, 0x50, 0x02, slice[0], slice[1]]);
    }
}

#[test]
fn a_link_header_survives_the_way_through_a_frame() {
    let header = LinkHeader {
        pit_token: PitToken::new(&[7; 20]).unwrap(),
        congestion_mark: 3,
        incoming_face: Some(300),
        next_hop_face: Some(70_000),
        cache_policy: Some(CachePolicy::NoCache),
        non_discovery: true,
        prefix_announcement: Some(Buffer::copy_from(&[0x06, 0x01, 0x07])),
        explicit_rate: ExplicitRate::from_per_1000_s(998_400),
    };
    let view = LpPacketView { fragment: Some(&[0x05, 0x00]), ..LpPacketView::with_header(&header) };
    let mut frame = Vec::new();
    view.encode(&mut frame);
    assert_eq!(LpPacketView::decode(&frame).unwrap().link_header(), header);
}

prop_compose! {
    fn any_field_values()(
        sequence in any::<Option<u64>>(),
        fragmentation in any::<Option<(u64, u64)>>(),
        faces in any::<(Option<u64>, Option<u64>)>(),
        token in proptest::collection::vec(any::<u8>(), 0..=32),
        nack in proptest::option::of(prop_oneof![
            Just(NackReason::Congestion),
            Just(NackReason::Duplicate),
            Just(NackReason::NoRoute),
            Just(NackReason::Unspecified),
        ]),
        flags in any::<(bool, bool)>(),
        mark in prop_oneof![Just(0u64), Just(1), any::<u64>()],
        acks in proptest::collection::vec(any::<u64>(), 0..5),
        tx_sequence in any::<Option<u64>>(),
        announcement in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..300)),
        rate in any::<Option<u64>>(),
        fragment in proptest::option::of(proptest::collection::vec(any::<u8>(), 1..2000)),
    ) -> FieldValues {
        FieldValues { sequence, fragmentation, faces, token, nack, flags, mark, acks, tx_sequence, announcement, rate, fragment }
    }
}

#[derive(Debug)]
struct FieldValues {
    sequence: Option<u64>,
    fragmentation: Option<(u64, u64)>,
    faces: (Option<u64>, Option<u64>),
    token: Vec<u8>,
    nack: Option<NackReason>,
    flags: (bool, bool),
    mark: u64,
    acks: Vec<u64>,
    tx_sequence: Option<u64>,
    announcement: Option<Vec<u8>>,
    rate: Option<u64>,
    fragment: Option<Vec<u8>>,
}

proptest! {
    #[test]
    fn whatever_is_encoded_decodes_to_the_same_fields(values in any_field_values()) {
        let announcement = values.announcement.map(|value| {
            let mut data = Vec::new();
            tlv::write_element(&mut data, DATA, &value);
            data
        });
        let view = LpPacketView {
            sequence: values.sequence,
            frag_index: values.fragmentation.map(|(index, _)| index),
            frag_count: values.fragmentation.map(|(_, count)| count),
            pit_token: &values.token,
            nack: values.nack,
            incoming_face: values.faces.0,
            next_hop_face: values.faces.1,
            cache_policy: values.flags.0.then_some(CachePolicy::NoCache),
            congestion_mark: values.mark,
            acks: Acks::of(&values.acks),
            tx_sequence: values.tx_sequence,
            non_discovery: values.flags.1,
            prefix_announcement: announcement.as_deref(),
            explicit_rate: values.rate.and_then(ExplicitRate::from_per_1000_s),
            echo: match values.mark % 3 {
                0 => None,
                1 => Some(Echo::Request(values.mark)),
                _ => Some(Echo::Reply(values.mark)),
            },
            receive_capacity: values.mark / 3,
            padding: values.token.len(),
            parity: &values.token,
            fragment: values.fragment.as_deref(),
        };
        prop_assume!(view.header_len() > 0);
        let mut frame = vec![0xee];
        view.encode(&mut frame);
        prop_assert_eq!(frame.len(), 1 + view.encoded_len());
        prop_assert_eq!(LpPacketView::decode(&frame[1..]), Ok(view));
        let header = view.link_header();
        prop_assert_eq!(LpPacketView::with_header(&header).pit_token, view.pit_token);
    }

    #[test]
    fn arbitrary_bytes_never_panic_and_what_decodes_encodes_to_something_that_decodes_alike(
        body in proptest::collection::vec(any::<u8>(), 0..200),
        kind in prop_oneof![Just(100u8), Just(5), Just(6), any::<u8>()],
    ) {
        let mut frame = vec![kind];
        tlv::write_number(&mut frame, body.len() as u64);
        frame.extend_from_slice(&body);
        if let Ok(view) = LpPacketView::decode(&frame) {
            let mut again = Vec::new();
            view.encode(&mut again);
            prop_assert_eq!(LpPacketView::decode(&again), Ok(view));
        }
    }

    #[test]
    fn a_golden_packet_with_some_bytes_changed_never_panics(
        choice in any::<prop::sample::Index>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let vectors = vectors::load("ndn-lp");
        let mut bytes = vectors[choice.index(vectors.len())].bytes.clone();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(view) = LpPacketView::decode(&bytes) {
            let mut again = Vec::new();
            view.encode(&mut again);
            prop_assert_eq!(LpPacketView::decode(&again), Ok(view));
        }
    }
}
