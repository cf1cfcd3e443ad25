//! Boundaries, by enumeration: every form of every number, every length beside the one that is right, every
//! place at which a packet may be cut.
#![allow(clippy::unwrap_used, reason = "tests")]

use cairn_packet::ndn::tlv::{
    self, MAX_PACKET_BYTES, Reader, element_len, is_critical, nni_len, number_len, read_nni, read_number,
};
use cairn_packet::ndn::{DataBuilder, DataView, InterestBuilder, InterestView, types};
use cairn_packet::{
    Buffer, Component, ComponentKind, Data, DecodeError, EncodeError, Interest, Name, NameRef, Nonce, Rule,
};
use testkit::vectors::load;

/// Numbers on both sides of every change of form.
const NUMBERS: [u64; 18] = [
    0,
    1,
    31,
    32,
    127,
    128,
    252,
    253,
    254,
    255,
    256,
    65_535,
    65_536,
    (1 << 32) - 1,
    1 << 32,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX,
];

/// `number` as a VAR-NUMBER of 1, 3, 5 or 9 bytes, if it fits and the form can hold it.
fn var_number(number: u64, width: usize) -> Option<Vec<u8>> {
    let digits = number.to_be_bytes();
    let (first, digits) = match width {
        1 if number <= 252 => return Some(vec![number as u8]),
        3 if number <= 0xffff => (253, &digits[6..]),
        5 if number <= 0xffff_ffff => (254, &digits[4..]),
        9 => (255, &digits[..]),
        _ => return None,
    };
    Some([&[first], digits].concat())
}

#[test]
fn every_number_has_one_form_and_the_longer_ones_are_refused() {
    for number in NUMBERS {
        let shortest = [1, 3, 5, 9].into_iter().find_map(|width| var_number(number, width)).unwrap();
        let mut written = Vec::new();
        tlv::write_number(&mut written, number);
        assert_eq!((&written, number_len(number)), (&shortest, shortest.len()));
        for width in [1, 3, 5, 9] {
            let Some(form) = var_number(number, width) else { continue };
            let expected = if form == shortest { Ok((number, width)) } else { Err(Rule::NotShortest) };
            assert_eq!(read_number(&form, 0), expected, "{number} in {width} bytes");
            for cut in 0..width {
                let missing = if cut == 0 { 1 } else { width - cut };
                assert_eq!(read_number(&form[..cut], 0), Err(Rule::Truncated { missing }), "{number}");
            }
        }
        assert_eq!(read_number(&shortest, shortest.len() + 5), Err(Rule::Truncated { missing: 1 }));
    }
}

#[test]
fn an_element_ends_where_its_length_says_and_a_length_past_the_end_is_refused() {
    for announced in [0, 1, 2, 251, 252, 253, 254, 65_535, 65_536, 1 << 32, u64::MAX] {
        let mut wire = vec![8];
        tlv::write_number(&mut wire, announced);
        let header = wire.len();
        for present in [announced.saturating_sub(1), announced, announced.saturating_add(1)] {
            // Lengths beyond that are not put into memory; the header alone is enough to refuse them.
            let present = if present > 1 << 17 { 0 } else { present };
            wire.resize(header + present as usize, 0x55);
            let mut reader = Reader::new(&wire, "X");
            if present < announced {
                let rule = Rule::Truncated { missing: (announced - present) as usize };
                assert_eq!(reader.element(), Err(DecodeError::new("X", 0, rule)));
                continue;
            }
            let element = reader.element().unwrap().unwrap();
            assert_eq!(
                (element.kind, element.value.len() as u64, element.value_start),
                (8, announced, header)
            );
            assert_eq!((element.end(), reader.position()), (header + announced as usize, element.end()));
            let rest = (present - announced) as usize;
            match rest {
                0 => assert_eq!(reader.finish(), Ok(())),
                _ => assert_eq!(reader.finish().unwrap_err().rule, Rule::Trailing(rest)),
            }
        }
    }
}

#[test]
fn an_element_inside_another_may_not_leave_it() {
    // The bytes are there, but they are not the inner element's.
    let wire = [7, 3, 8, 2, 0x41, 0x42];
    let mut reader = Reader::new(&wire, "outer");
    let outer = reader.element().unwrap().unwrap();
    let error = reader.inside(outer, "inner").element().unwrap_err();
    assert_eq!(error, DecodeError::new("inner", 2, Rule::Truncated { missing: 1 }));
}

#[test]
fn types_are_1_to_32_bits_and_unknown_ones_follow_the_evolvability_rule() {
    for number in NUMBERS {
        let mut wire = Vec::new();
        tlv::write_number(&mut wire, number);
        wire.push(0);
        let read = Reader::new(&wire, "X").element().map(|element| element.unwrap().kind);
        if number == 0 || number >= 1 << 32 {
            assert_eq!(read, Err(DecodeError::new("X", 0, Rule::TypeOutOfRange(number))));
            continue;
        }
        assert_eq!(read, Ok(number as u32));
        assert_eq!(is_critical(number as u32), number < 32 || number % 2 == 1, "{number}");
        // None of these types is an element of Interest or Data.
        let packet = |outer: u32, behind: &[u8]| {
            let value = [&[7, 3, 8, 1, 0x41], &wire[..], behind].concat();
            let mut packet = Vec::new();
            tlv::write_element(&mut packet, outer, &value);
            packet
        };
        let interest = InterestView::decode(&packet(types::INTEREST, &[])).map(|_| ());
        let data = DataView::decode(&packet(types::DATA, &[0x16, 3, 0x1b, 1, 0, 0x17, 0])).map(|_| ());
        for (read, field) in [(interest, "Interest"), (data, "Data")] {
            let expected = if number < 32 || number % 2 == 1 {
                Err(DecodeError::new(field, 7, Rule::UnrecognisedCritical(number)))
            } else {
                Ok(())
            };
            assert_eq!(read, expected, "type {number}");
        }
    }
}

#[test]
fn numbers_have_1_2_4_or_8_bytes_wherever_one_stands() {
    for width in 0..=9usize {
        let legal = matches!(width, 1 | 2 | 4 | 8);
        for digit in [0, 1, 0x7f, 0xff] {
            let value = vec![digit; width];
            let mut wire = vec![0x0c];
            tlv::write_number(&mut wire, width as u64);
            wire.extend_from_slice(&value);
            let element = Reader::new(&wire, "X").element().unwrap().unwrap();
            let expected = value.iter().fold(0u64, |number, &digit| number << 8 | u64::from(digit));
            let rule = Rule::BadLength(width);
            let expected = if legal { Ok(expected) } else { Err(DecodeError::new("X", 0, rule)) };
            assert_eq!(read_nni(element, "X"), expected);

            let field = |kind: u8| [&[kind, width as u8], &value[..]].concat();
            let interest = [&[5, 7 + width as u8, 7, 3, 8, 1, 0x41], &field(0x0c)[..]].concat();
            check_width(InterestView::decode(&interest).map(|_| ()), legal, "InterestLifetime", 7, width);
            let data = |meta: &[u8], info: &[u8]| {
                let mut value = vec![7, 3, 8, 1, 0x41];
                tlv::write_element(&mut value, types::META_INFO, meta);
                tlv::write_element(&mut value, types::SIGNATURE_INFO, info);
                tlv::write_element(&mut value, types::SIGNATURE_VALUE, &[]);
                let mut wire = Vec::new();
                tlv::write_element(&mut wire, types::DATA, &value);
                DataView::decode(&wire).map(|_| ())
            };
            let digest = [0x1b, 1, 0];
            check_width(data(&field(0x19), &digest), legal, "FreshnessPeriod", 9, width);
            check_width(data(&[], &field(0x1b)), legal, "SignatureType", 11, width);
            let time = [&digest, &field(0x28)[..]].concat();
            check_width(data(&[], &time), legal, "SignatureTime", 14, width);
            let number = [&digest, &field(0x2a)[..]].concat();
            check_width(data(&[], &number), legal, "SignatureSeqNum", 14, width);
            check_width(data(&field(0x18), &digest), legal, "ContentType", 9, width);
        }
    }
    for number in NUMBERS {
        let mut written = Vec::new();
        tlv::write_nni(&mut written, number);
        assert_eq!(written.len(), nni_len(number));
        assert_eq!(Component::generic(&written).number(), Some(number));
        let shorter = [1, 2, 4, 8].into_iter().rev().find(|&width| width < written.len());
        assert!(shorter.is_none_or(|width| number >> (8 * width) > 0), "{number} fits in {shorter:?} bytes");
    }
}

#[track_caller]
fn check_width(read: Result<(), DecodeError>, legal: bool, field: &'static str, at: usize, width: usize) {
    let expected = if legal { Ok(()) } else { Err(DecodeError::new(field, at, Rule::BadLength(width))) };
    assert_eq!(read, expected);
}

/// Reads the bytes as what the vector says they are.
fn decode(kind: &str, wire: &[u8]) -> Result<(), DecodeError> {
    match kind {
        "ndn-interest" => InterestView::decode(wire).map(|_| ()),
        "ndn-data" => DataView::decode(wire).map(|_| ()),
        _ => {
            let mut reader = Reader::new(wire, "Name");
            let name = reader.required(types::NAME, "Name")?;
            reader.finish()?;
            NameRef::decode(name.value).map(|_| ()).map_err(|error| error.shifted(name.value_start))
        }
    }
}

#[test]
fn a_vector_cut_anywhere_is_refused_without_looking_past_its_end() {
    for vector in load("ndn").into_iter().filter(|vector| vector.get("error").is_none()) {
        for cut in 0..vector.bytes.len() {
            let error = decode(vector.kind(), &vector.bytes[..cut]).err();
            let offset = error.unwrap_or_else(|| panic!("{} cut at {cut} was accepted", vector.name)).offset;
            assert!(offset <= cut, "{} cut at {cut}: offset {offset}", vector.name);
        }
    }
}

#[test]
fn a_vector_with_a_byte_more_is_refused_for_that_byte() {
    for vector in load("ndn").into_iter().filter(|vector| vector.get("error").is_none()) {
        let mut bytes = vector.bytes.clone();
        bytes.push(0);
        let error = decode(vector.kind(), &bytes).unwrap_err();
        let rule = if bytes.len() > MAX_PACKET_BYTES {
            (0, Rule::TooLarge { size: bytes.len(), limit: MAX_PACKET_BYTES })
        } else {
            (vector.bytes.len(), Rule::Trailing(1))
        };
        assert_eq!((error.offset, error.rule), rule, "{}", vector.name);
    }
}

/// Offsets of all types and lengths outside of names' and other opaque values: the outermost element's and
/// its children's.
fn number_offsets(wire: &[u8]) -> Vec<usize> {
    let mut reader = Reader::new(wire, "");
    let outer = reader.element().unwrap().unwrap();
    let mut inside = reader.inside(outer, "");
    let mut starts = vec![0];
    while let Some(element) = inside.element().unwrap() {
        starts.push(element.start);
        if element.kind == types::NAME {
            let mut name = inside.inside(element, "");
            starts.extend(std::iter::from_fn(|| name.element().unwrap()).map(|element| element.start));
        }
    }
    starts.into_iter().flat_map(|start| [start, read_number(wire, start).unwrap().1]).collect()
}

#[test]
fn a_number_that_is_not_in_its_shortest_form_is_refused_where_it_stands() {
    let mut count = 0;
    for vector in load("ndn").into_iter().filter(|vector| vector.get("error").is_none()) {
        // The outermost length grows with what it holds, and must stay in one form meanwhile.
        if vector.kind() == "ndn-name" || vector.bytes.len() > 240 {
            continue;
        }
        for at in number_offsets(&vector.bytes) {
            let (number, end) = read_number(&vector.bytes, at).unwrap();
            for width in [3, 5, 9] {
                let Some(form) = var_number(number, width).filter(|form| form.len() > end - at) else {
                    continue;
                };
                let mut bytes = [&vector.bytes[..at], &form, &vector.bytes[end..]].concat();
                let grown = form.len() - (end - at);
                if at > 1 {
                    bytes[1] += grown as u8;
                }
                // So that a number inside the Name does not leave it.
                if at > 3 && at < 4 + usize::from(vector.bytes[3]) {
                    bytes[3] += grown as u8;
                }
                let error = decode(vector.kind(), &bytes).unwrap_err();
                assert_eq!((error.offset, error.rule), (at, Rule::NotShortest), "{} at {at}", vector.name);
                count += 1;
            }
        }
    }
    assert!(count > 3000, "only {count} numbers");
}

#[test]
fn components_of_every_length_around_a_change_of_form_survive() {
    for len in [0, 1, 31, 32, 33, 251, 252, 253, 254, 255, 256, 8000] {
        let value = vec![0xa5; len];
        for kind in [3, 8, 252, 253, 65_535] {
            let component = Component::new(ComponentKind::new(kind).unwrap(), &value);
            let name = Name::from_components([component, Component::generic(b"z")]).unwrap();
            assert_eq!(name.canonical().len(), element_len(kind.into(), len) + 3);
            let interest = InterestBuilder::new(name.clone()).build().unwrap();
            assert_eq!(interest.name().components().next(), Some(component));
            let data = DataBuilder::new(name.clone()).final_block(component).build_with_digest();
            match data {
                Ok(data) => {
                    assert_eq!(data.name(), name.as_ref());
                    assert_eq!(data.ndn().unwrap().final_block(), Some(component));
                }
                Err(error) => assert!(len == 8000 && matches!(error, EncodeError::TooLarge { .. })),
            }
        }
        for kind in [ComponentKind::IMPLICIT_DIGEST, ComponentKind::PARAMETERS_DIGEST] {
            let made = Name::from_components([Component::new(kind, &value)]);
            assert_eq!(
                made.map(|_| ()).map_err(|error| error.rule),
                match len {
                    32 => Ok(()),
                    _ => Err(Rule::BadLength(len)),
                }
            );
        }
    }
}

#[test]
fn a_name_has_at_most_65535_bytes_and_an_interest_that_large_none() {
    // One component: a byte of type, three of length (or five), and the value.
    for (len, total) in [(65_531, 65_535), (65_532, 65_536), (65_535, 65_539), (65_536, 65_542)] {
        let value = vec![0; len];
        let component = Component::generic(&value);
        assert_eq!(component.encoded_len(), total);
        let made = Name::from_components([component]);
        let rule = Rule::TooLarge { size: total, limit: NameRef::MAX_BYTES };
        match made {
            Ok(name) => {
                assert!(total <= 65_535);
                assert_eq!(NameRef::decode(name.canonical()).unwrap(), name.as_ref());
                let refused = InterestBuilder::new(name).build().unwrap_err();
                assert!(matches!(refused, EncodeError::TooLarge { .. }));
            }
            Err(error) => {
                assert!(total > 65_535);
                assert_eq!(error, DecodeError::new("Name", 0, rule));
                let mut canonical = Vec::new();
                component.append_to(&mut canonical);
                assert_eq!(NameRef::decode(&canonical).unwrap_err().rule, rule);
            }
        }
    }
}

#[test]
fn packets_have_at_most_8800_bytes() {
    let rule = |size| Rule::TooLarge { size, limit: MAX_PACKET_BYTES };
    for size in [8799, 8800, 8801, 8802] {
        // Name /A, then an element that decoders skip and that fills the packet, with four bytes of header
        // each.
        let packet = |outer: u32, tail: &[u8]| {
            let filling = size - 4 - 5 - 4 - tail.len();
            let mut value = vec![7, 3, 8, 1, 0x41];
            tlv::write_element(&mut value, 128, &vec![0; filling]);
            value.extend_from_slice(tail);
            let mut wire = Vec::new();
            tlv::write_element(&mut wire, outer, &value);
            assert_eq!(wire.len(), size);
            wire
        };
        let interest = packet(types::INTEREST, &[]);
        let data = packet(types::DATA, &[0x16, 3, 0x1b, 1, 0, 0x17, 0]);
        let interest = Interest::decode_ndn(Buffer::from(interest)).map(|_| ()).map_err(|error| error.rule);
        let data = Data::decode_ndn(Buffer::from(data)).map(|_| ()).map_err(|error| error.rule);
        let expected = if size <= 8800 { Ok(()) } else { Err(rule(size)) };
        assert_eq!((interest, data), (expected, expected));

        let content = vec![0; size - 4 - 5 - 4 - 5 - 34];
        let built = DataBuilder::new("/A".parse().unwrap()).content(content).build_with_digest();
        let built = built.map(|data| data.wire().len());
        let too_large = EncodeError::TooLarge { size, limit: MAX_PACKET_BYTES };
        assert_eq!(built, if size <= 8800 { Ok(size) } else { Err(too_large) });
        let parameters = vec![0; size - 4 - 2 - 3 - 34 - 4];
        let built = InterestBuilder::new("/A".parse().unwrap()).application_parameters(parameters).build();
        let built = built.map(|interest| interest.wire().len());
        assert_eq!(built, if size <= 8800 { Ok(size) } else { Err(too_large) });
    }
}

#[test]
fn a_field_that_would_make_an_interest_too_large_is_refused_and_the_interest_kept() {
    for size in [8794, 8795, 8797, 8798, 8800] {
        let parameters = vec![0; size - 4 - 2 - 3 - 34 - 4];
        let built = InterestBuilder::new("/A".parse().unwrap()).application_parameters(parameters).build();
        let original = built.unwrap();
        assert_eq!(original.wire().len(), size);
        let mut with_nonce = original.clone();
        assert_eq!(with_nonce.set_nonce(Nonce(1)).is_ok(), size + 6 <= 8800);
        let mut with_hops = original.clone();
        assert_eq!(with_hops.add_hop_limit(1).is_ok(), size + 3 <= 8800);
        for (changed, grown) in [(with_nonce, 6), (with_hops, 3)] {
            let expected = if size + grown <= 8800 { size + grown } else { size };
            assert_eq!(changed.wire().len(), expected);
        }
    }
}

#[test]
fn names_of_more_than_128_components_are_refused_in_packets() {
    for (count, fits) in [(128, true), (129, false), (4300, false)] {
        let mut name = Vec::new();
        tlv::write_element(&mut name, types::NAME, &[8, 0].repeat(count));
        let signature = [&[0x16, 3, 0x1b, 1, 0][..], &[0x17, 0]].concat();
        let (mut interest, mut data, mut hinted) = (Vec::new(), Vec::new(), Vec::new());
        tlv::write_element(&mut interest, types::INTEREST, &name);
        tlv::write_element(&mut data, types::DATA, &[&name[..], &signature].concat());
        let mut hint = vec![7, 3, 8, 1, b'a'];
        tlv::write_element(&mut hint, types::FORWARDING_HINT, &name);
        tlv::write_element(&mut hinted, types::INTEREST, &hint);
        let errors = [
            InterestView::decode(&interest).err(),
            DataView::decode(&data).err(),
            InterestView::decode(&hinted).err(),
        ];
        for error in errors {
            let rule = Rule::TooManyComponents { found: count, limit: 128 };
            assert_eq!(error.map(|error| error.rule), (!fits).then_some(rule), "{count}");
        }
    }
}

// ndn-cxx reads them likewise: what follows the three standard elements is the application's, whatever its
// number.
#[test]
fn elements_of_applications_may_stand_in_meta_info_and_other_critical_ones_not() {
    let read = |inside: &[u8]| {
        let (mut meta, mut wire) = (Vec::new(), Vec::new());
        tlv::write_element(&mut meta, types::META_INFO, inside);
        let value = [&[7, 3, 8, 1, b'a'][..], &meta, &[0x16, 3, 0x1b, 1, 0], &[0x17, 0]].concat();
        tlv::write_element(&mut wire, types::DATA, &value);
        DataView::decode(&wire).map(|view| (view.content_type().0, view.freshness().as_millis()))
    };
    for application in [128, 129, 251, 252] {
        assert_eq!(read(&[0x18, 1, 2, 0x19, 1, 9, application, 0]), Ok((2, 9)));
    }
    assert_eq!(read(&[0x18, 1, 2, 0x19, 1, 9, 126, 0]), Ok((2, 9)), "even, and so not critical");
    assert!(read(&[0x18, 1, 2, 0x19, 1, 9, 127, 0]).is_err());
    let large = [&[0x18, 8][..], &u64::MAX.to_be_bytes()].concat();
    assert_eq!(read(&large), Ok((u64::MAX, 0)), "any ContentType");
}

// HopLimit has an even number of 32 or more, so section 1.3 has a second one ignored, and ndn-cxx does.
#[test]
fn of_several_hop_limits_the_first_counts() {
    let wire = [5, 11, 7, 3, 8, 1, b'a', 0x22, 1, 5, 0x22, 1, 9];
    assert_eq!(InterestView::decode(&wire).unwrap().hop_limit(), Some(5));
    let mut interest = Interest::decode_ndn(Buffer::copy_from(&wire)).unwrap();
    interest.set_hop_limit(4);
    assert_eq!(interest.wire()[9..], [4, 0x22, 1, 9]);
}
