//! Every limit of the CCNx formats, from both sides.
#![allow(clippy::unwrap_used, reason = "tests")]

use cairn_packet::ccnx::block::{
    BlockKind, MAX_NUMBER, header_len, write_blob_element, write_close, write_header, write_open,
};
use cairn_packet::ccnx::content_object::assemble;
use cairn_packet::ccnx::{
    ContentObjectFields, ContentObjectView, Dtag, InterestFields, InterestView, PublisherId, Reader, Scope,
    Signature, SignedInfo, Ticks, message_len, uri,
};
use cairn_packet::{Component, EncodeError, Name, Rule};

/// An Interest for `/a` with one more element `tag`.
fn interest(tag: Dtag, kind: BlockKind, body: &[u8]) -> Vec<u8> {
    let mut wire = vec![0x01, 0xd2, 0xf2, 0xfa, 0x8d, b'a', 0x00, 0x00];
    write_open(&mut wire, tag);
    if !body.is_empty() {
        write_header(&mut wire, kind, body.len() as u64);
        wire.extend_from_slice(body);
    }
    wire.extend([0x00, 0x00]);
    wire
}

#[test]
fn every_form_of_a_length_is_met_exactly_or_refused() {
    for len in [1u64, 2, 14, 15, 16, 17, 2046, 2047, 2048, 2049, 262_143, 262_144, 262_145] {
        for there in [len - 1, len, len + 1] {
            let mut wire = Vec::new();
            write_open(&mut wire, Dtag::CONTENT);
            write_header(&mut wire, BlockKind::Blob, len);
            wire.resize(wire.len() + there as usize, 0xaa);
            write_close(&mut wire);
            let read = Reader::new(&wire, "Content").blob_element(Dtag::CONTENT, "Content", ..);
            match there.cmp(&len) {
                // The close is taken for the last byte, and then is missing.
                std::cmp::Ordering::Less => {
                    assert_eq!(read.unwrap_err().rule, Rule::Truncated { missing: 1 });
                    assert_eq!(message_len(&wire), Ok(None));
                }
                std::cmp::Ordering::Equal => {
                    assert_eq!(read.unwrap().len() as u64, len);
                    assert_eq!(message_len(&wire), Ok(Some(wire.len())));
                }
                std::cmp::Ordering::Greater => {
                    // 0xaa opens an element that is not in the dictionary.
                    assert_eq!(read.unwrap_err().rule, Rule::UnexpectedType(5));
                    assert_eq!(message_len(&wire), Ok(None));
                }
            }
        }
    }
}

#[test]
fn lengths_beyond_all_memory_are_refused_or_never_complete() {
    for len in [u64::from(u32::MAX), 1 << 32, MAX_NUMBER - 1, MAX_NUMBER] {
        for kind in [BlockKind::Blob, BlockKind::Udata, BlockKind::Tag] {
            let mut wire = vec![0xf2];
            write_header(&mut wire, kind, len);
            wire.extend([0xaa; 100]);
            assert!(!matches!(message_len(&wire), Ok(Some(_))));
            let error = Reader::new(&wire, "Name").blob_element(Dtag::NAME, "Name", ..).unwrap_err();
            assert!(error.offset <= wire.len(), "{error}");
        }
    }
    let mut wire = vec![0xf2];
    write_header(&mut wire, BlockKind::Blob, MAX_NUMBER + 1);
    assert!(header_len(MAX_NUMBER + 1) > header_len(MAX_NUMBER) || message_len(&wire).is_err());
    assert!(message_len(&wire).is_err());
}

#[test]
fn blobs_in_an_interest_have_the_lengths_of_the_specification() {
    let cases = [
        (Dtag::PUBLISHER_PUBLIC_KEY_DIGEST, 16, 64),
        (Dtag::PUBLISHER_CERTIFICATE_DIGEST, 16, 64),
        (Dtag::PUBLISHER_ISSUER_KEY_DIGEST, 16, 64),
        (Dtag::PUBLISHER_ISSUER_CERTIFICATE_DIGEST, 16, 64),
        (Dtag::INTEREST_LIFETIME, 1, 8),
        (Dtag::NONCE, 4, 64),
    ];
    for (tag, shortest, longest) in cases {
        for len in [0, shortest - 1, shortest, longest, longest + 1] {
            let read = InterestView::decode(&interest(tag, BlockKind::Blob, &vec![7; len])).map(|_| ());
            match (shortest..=longest).contains(&len) {
                true => assert_eq!(read, Ok(()), "{tag} of {len}"),
                false => assert_eq!(read.unwrap_err().rule, Rule::BadLength(len), "{tag} of {len}"),
            }
        }
    }
}

#[test]
fn numbers_in_an_interest_have_the_ranges_of_the_specification() {
    let int = i32::MAX as u64;
    let cases = [
        (Dtag::MIN_SUFFIX_COMPONENTS, int, int + 1),
        (Dtag::MAX_SUFFIX_COMPONENTS, int, int + 1),
        (Dtag::CHILD_SELECTOR, 5, 6),
        (Dtag::ANSWER_ORIGIN_KIND, 15, int + 1),
        (Dtag::SCOPE, 9, 10),
        (Dtag::FACE_ID, u32::MAX.into(), u64::from(u32::MAX) + 1),
    ];
    for (tag, largest, refused) in cases {
        let read = |number: u64| {
            let wire = interest(tag, BlockKind::Udata, number.to_string().as_bytes());
            InterestView::decode(&wire).map(|_| ())
        };
        assert_eq!(read(0), Ok(()), "{tag}");
        assert_eq!(read(largest), Ok(()), "{tag}");
        assert!(matches!(read(refused).unwrap_err().rule, Rule::BadValue(_)), "{tag}");
        assert!(matches!(read(u64::MAX).unwrap_err().rule, Rule::BadValue(_)), "{tag}");
    }
    // More suffix components than any name has are as many as one can have.
    let wire = interest(Dtag::MAX_SUFFIX_COMPONENTS, BlockKind::Udata, int.to_string().as_bytes());
    assert_eq!(InterestView::decode(&wire).unwrap().max_suffix_components(), 32_767);
    let wire = interest(Dtag::MIN_SUFFIX_COMPONENTS, BlockKind::Udata, b"32768");
    let view = InterestView::decode(&wire).unwrap();
    assert_eq!((view.min_suffix_components(), view.max_suffix_components()), (32_767, 32_767));
}

#[test]
fn a_timestamp_has_three_to_seven_bytes() {
    let name = Name::root();
    let signed_info = SignedInfo::new(&[1; 32], Ticks::from_unix(1_234_567_890, 0));
    let object = ContentObjectFields { name: (&name).into(), signed_info, content: b"" };
    let wire = object.encode(None, |_| Ok::<_, EncodeError>([2; 16])).unwrap();
    let six = [0x04, 0x99, 0x60, 0x2d, 0x20, 0x00];
    let place = wire.windows(6).position(|bytes| bytes == six).unwrap();
    for width in 0..=9usize {
        // Its header says how long it is: eight times that, and the kind of block.
        let header = 0x80 | (width as u8) << 3 | 5;
        let wire = [&wire[..place - 1], &[header][..], &vec![7; width][..], &wire[place + 6..]].concat();
        let read = ContentObjectView::decode(&wire).map(|view| view.timestamp().as_bytes().to_vec());
        match width {
            3..=7 => assert_eq!(read, Ok(vec![7; width])),
            0 => assert!(read.is_err()),
            _ => assert_eq!(read.unwrap_err().rule, Rule::BadLength(width)),
        }
    }
    let written = |ticks| {
        let object =
            ContentObjectFields { signed_info: SignedInfo { timestamp: ticks, ..signed_info }, ..object };
        object.encode(None, |_| Ok::<_, EncodeError>([2; 16]))
    };
    for short in [&[9][..], &[0, 9]] {
        let wire = written(Ticks::from_bytes(short).unwrap()).unwrap();
        assert_eq!(ContentObjectView::decode(&wire).unwrap().timestamp().as_bytes(), [0, 0, 9]);
    }
    assert!(written(Ticks::from_count(u64::MAX)).is_err());
}

#[test]
fn names_of_more_than_128_components_are_refused() {
    for (count, fits) in [(128, true), (129, false), (4000, false)] {
        let wire = [&[0x01, 0xd2, 0xf2][..], &[0xfa, 0x00].repeat(count), &[0x00, 0x00]].concat();
        match InterestView::decode(&wire) {
            Ok(view) => assert!(fits && view.name().len() == count),
            Err(error) => {
                let rule = Rule::TooManyComponents { found: count, limit: 128 };
                assert_eq!((fits, error.rule), (false, rule));
            }
        }
    }
}

#[test]
fn what_is_not_given_has_its_default() {
    let wire = [0x01, 0xd2, 0xf2, 0x00, 0x00];
    let view = InterestView::decode(&wire).unwrap();
    assert!(view.name().is_empty());
    assert_eq!((view.min_suffix_components(), view.max_suffix_components()), (0, 32_767));
    assert_eq!((view.child_selector().number(), view.answer_origin_kind().bits()), (0, 3));
    assert_eq!(view.lifetime().as_millis(), 4000);
    assert_eq!((view.scope(), view.nonce(), view.face_id()), (None, None, None));
    assert!(view.publisher().is_none() && view.exclude().is_none());
    assert_eq!(view.aggregation_range(), 4..4);
}

#[test]
fn messages_of_65535_bytes_are_read_and_longer_ones_refused() {
    for (size, fits) in [(65_535, true), (65_536, false)] {
        let mut wire = vec![0x01, 0xd2, 0xf2];
        write_blob_element(&mut wire, Dtag::COMPONENT, &vec![7; size - 10]);
        wire.extend([0x00, 0x00]);
        assert_eq!(wire.len(), size);
        let read = InterestView::decode(&wire);
        assert_eq!(read.is_ok(), fits);
        if let Ok(view) = read {
            assert_eq!(view.name().component(0).unwrap().len(), size - 10);
            assert!(view.name().to_name().is_ok());
        }
    }
}

#[test]
fn messages_of_8800_bytes_are_written_and_longer_ones_refused() {
    let too_large = |size| Some(EncodeError::TooLarge { size, limit: 8_800 });
    let name = |len| Name::from_components([Component::generic(&vec![7; len])]).unwrap();
    let fields = InterestFields::default();
    assert_eq!(fields.encode(&name(8_790)).unwrap().len(), 8_800);
    assert_eq!(fields.encode(&name(8_791)).err(), too_large(8_801));

    let root = Name::root();
    let object = |content: &[u8]| {
        let signed_info = SignedInfo::new(&[1; 32], Ticks::from_count(1));
        let object = ContentObjectFields { name: (&root).into(), signed_info, content };
        object.encode(None, |_| Ok::<_, EncodeError>([2; 16]))
    };
    let around = object(&[3; 8_000]).unwrap().len() - 8_000;
    assert_eq!(object(&vec![3; 8_800 - around]).unwrap().len(), 8_800);
    assert_eq!(object(&vec![3; 8_801 - around]).err(), too_large(8_801));
}

#[test]
fn encoders_refuse_what_decoders_refuse() {
    let name = uri::parse("/a").unwrap();
    let refused = |fields: InterestFields<'_>| match fields.encode(&name) {
        Err(EncodeError::Invalid(error)) => (error.field, error.rule),
        other => panic!("{other:?}"),
    };
    let none = InterestFields::default();
    let nonce = |bytes| refused(InterestFields { nonce: Some(bytes), ..none });
    assert_eq!(nonce(&[0; 3]), ("Nonce", Rule::BadLength(3)));
    assert_eq!(nonce(&[0; 65]), ("Nonce", Rule::BadLength(65)));
    let publisher =
        |digest| refused(InterestFields { publisher: Some(PublisherId::public_key(digest)), ..none });
    assert_eq!(publisher(&[0; 15]), ("PublisherID", Rule::BadLength(15)));
    assert_eq!(publisher(&[0; 65]), ("PublisherID", Rule::BadLength(65)));
    let range = InterestFields { min_suffix_components: Some(2), max_suffix_components: Some(1), ..none };
    assert_eq!(refused(range), ("MaxSuffixComponents", Rule::BadValue(1)));
    let marking = cairn_packet::ccnx::AnswerOriginKind::new(19);
    let marks = |scope| refused(InterestFields { answer_origin_kind: marking, scope, ..none });
    assert_eq!(marks(None), ("Scope", Rule::Missing));
    assert_eq!(marks(Some(Scope::HOST)), ("Scope", Rule::BadValue(1)));

    let typed: Name = "/a/v=1".parse().unwrap();
    assert!(matches!(none.encode(&typed), Err(EncodeError::Invalid(_))));

    let object = |signed_info| ContentObjectFields { name: (&name).into(), signed_info, content: b"" };
    let info = SignedInfo::new(&[1; 32], Ticks::from_count(1));
    assert!(object(SignedInfo { final_block_id: Some(b""), ..info }).signed_bytes().is_err());
    assert!(object(SignedInfo { ext_opt: Some(b""), ..info }).signed_bytes().is_err());
    let signed = object(info).signed_bytes().unwrap();
    let signature = |witness, bits| Signature { digest_algorithm: None, witness, bits };
    assert!(assemble(&signature(None, &[0; 15]), &signed).is_err());
    assert!(assemble(&signature(Some(&[0; 7]), &[0; 16]), &signed).is_err());
    let wire = assemble(&signature(Some(&[0; 8]), &[0; 16]), &signed).unwrap();
    assert!(ContentObjectView::decode(&wire).is_ok());
}
