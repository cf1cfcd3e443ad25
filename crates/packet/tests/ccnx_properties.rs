//! What holds for every CCNx packet: encoding and decoding are inverse, encoders know the length beforehand,
//! and no bytes make a decoder panic.
#![allow(clippy::unwrap_used, reason = "tests")]

use cairn_packet::ccnx::bloom::{Bloom, BloomRef};
use cairn_packet::ccnx::content_object::assemble;
use cairn_packet::ccnx::management::{
    Collection, FaceInstance, ForwardingEntry, ForwardingFlags, IpProtocol, Link, NdnldConnection,
    RepositoryInfo, StatusResponse, StrategySelection,
};
use cairn_packet::ccnx::ndnlp::{AckBlock, Flags, Fragment, LinkAck, LinkData, LinkPacket, Sequence};
use cairn_packet::ccnx::pdu::{unwrap_pdu, wrap_pdu};
use cairn_packet::ccnx::uri::{self, Escaping};
use cairn_packet::ccnx::{
    AnswerOriginKind, CcnxNameRef, ChildSelector, ContentKind, ContentObjectFields, ContentObjectView,
    Exclude, ExcludeEntry, ExcludeRef, Framer, InterestFields, InterestView, KeyLocator, Message, NameSource,
    PublisherId, PublisherIdKind, Scope, SequenceNumber, Signature, SignedInfo, Ticks, message_len,
};
use cairn_packet::{Component, DecodeError, Dialect, Name, NameHasher, PrefixHashes};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn bytes(len: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), len)
}

fn name() -> impl Strategy<Value = Name> {
    vec(bytes(0..20), 0..6).prop_map(|components| {
        Name::from_components(components.iter().map(|c| Component::generic(c))).unwrap()
    })
}

fn text() -> impl Strategy<Value = String> {
    "[ -~ü]{0,20}"
}

fn timestamp() -> impl Strategy<Value = Ticks> {
    bytes(3..=7).prop_map(|bytes| Ticks::from_bytes(&bytes).unwrap())
}

fn ticks() -> impl Strategy<Value = Ticks> {
    bytes(1..=8).prop_map(|bytes| Ticks::from_bytes(&bytes).unwrap())
}

fn publisher_kind() -> impl Strategy<Value = PublisherIdKind> {
    prop_oneof![
        Just(PublisherIdKind::PublicKey),
        Just(PublisherIdKind::Certificate),
        Just(PublisherIdKind::IssuerKey),
        Just(PublisherIdKind::IssuerCertificate),
    ]
}

/// Components and what follows each of them: nothing, Any, or bytes for a Bloom filter.
fn exclude() -> impl Strategy<Value = Exclude> {
    let filler =
        || prop_oneof![Just(None), Just(Some(None)), bytes(1..20).prop_map(|bloom| Some(Some(bloom)))];
    (filler(), vec((bytes(0..4), filler()), 0..6)).prop_map(|(first, mut entries)| {
        entries.sort_by(|(a, _), (b, _)| (a.len(), a).cmp(&(b.len(), b)));
        entries.dedup_by(|(a, _), (b, _)| a == b);
        let mut exclude = Exclude::default();
        let fill = |exclude: &mut Exclude, filler: Option<Option<Vec<u8>>>| match filler {
            None => {}
            Some(None) => exclude.push(ExcludeEntry::Any).unwrap(),
            Some(Some(bloom)) => exclude.push(ExcludeEntry::Bloom(&bloom)).unwrap(),
        };
        fill(&mut exclude, first);
        for (component, filler) in entries {
            exclude.push(ExcludeEntry::Component(&component)).unwrap();
            fill(&mut exclude, filler);
        }
        exclude
    })
}

proptest! {
    #[test]
    fn names_survive_ccnb_and_both_kinds_of_uri(name in name()) {
        let mut wire = Vec::new();
        NameSource::from(&name).encode_into(&mut wire).unwrap();
        prop_assert_eq!(NameSource::from(&name).encoded_len(), Ok(wire.len()));
        let read = CcnxNameRef::decode(&wire).unwrap();
        prop_assert_eq!(&read.to_name().unwrap(), &name);
        prop_assert_eq!(read.len(), name.components().count());
        for escaping in [Escaping::Percent, Escaping::Mixed] {
            let text = uri::format(name.components().map(|component| component.value), escaping);
            prop_assert_eq!(&uri::parse(&text).unwrap(), &name, "{}", text);
        }
    }

    #[test]
    fn excludes_survive_and_agree_with_their_definition(exclude in exclude(), candidate in bytes(0..4)) {
        let entries: Vec<ExcludeEntry<'_>> = exclude.as_ref().entries().collect();
        let name = Name::root();
        let fields = InterestFields { exclude: Some(exclude.as_ref()), ..InterestFields::default() };
        let wire = fields.encode(&name).unwrap();
        let read = InterestView::decode(&wire).unwrap().exclude().unwrap();
        prop_assert_eq!(read.entries().collect::<Vec<_>>(), entries.clone());
        prop_assert_eq!(read.excludes(&candidate), excluded(&entries, &candidate));
    }

    #[test]
    fn interests_survive(
        name in name(),
        suffix in (option::of(0..=32_767u16), option::of(0..=32_767u16)),
        publisher in option::of((publisher_kind(), bytes(16..=64))),
        exclude in option::of(exclude()),
        selectors in (option::of(0..=5u64), option::of(0..=i32::MAX as u64), option::of(0..=9u64)),
        lifetime in option::of(ticks()),
        nonce in option::of(bytes(4..=64)),
        face_id in any::<Option<u32>>(),
    ) {
        let (child, kind, scope) = selectors;
        let kind = kind.and_then(AnswerOriginKind::new);
        let fields = InterestFields {
            min_suffix_components: suffix.0.min(suffix.1),
            max_suffix_components: suffix.0.max(suffix.1),
            publisher: publisher.as_ref().map(|(kind, digest)| PublisherId { kind: *kind, digest }),
            exclude: exclude.as_ref().map(Exclude::as_ref),
            child_selector: child.and_then(ChildSelector::new),
            answer_origin_kind: kind,
            scope: match kind {
                Some(kind) if kind.marks_stale() => Some(Scope::LOCAL),
                _ => scope.and_then(Scope::new),
            },
            lifetime,
            nonce: nonce.as_deref(),
            face_id,
        };
        let wire = fields.encode(&name).unwrap();
        prop_assert_eq!(wire.capacity(), wire.len());
        let view = InterestView::decode(&wire).unwrap();
        prop_assert_eq!(view.fields(), fields);
        prop_assert_eq!(view.name().to_name().unwrap(), name);
        prop_assert_eq!(view.wire(), &wire);
        // Exactly lifetime, nonce and face are outside the range that makes Interests the same.
        let same = InterestFields { lifetime: None, nonce: None, face_id: None, ..fields };
        let same = same.encode(view.name()).unwrap();
        let range = view.aggregation_range();
        prop_assert_eq!(&wire[range.clone()], &same[range.start..same.len() - 1]);
        check_cuts(&wire, |cut| InterestView::decode(cut).err());
    }

    #[test]
    fn content_objects_survive(
        name in name(),
        publisher in any::<[u8; 32]>(),
        timestamp in timestamp(),
        kind in option::of(any::<[u8; 3]>()),
        freshness_seconds in any::<Option<u32>>(),
        blobs in (option::of(bytes(1..10)), option::of(bytes(1..10)), bytes(0..50)),
        locator in (0..4, bytes(0..40), name_and_publisher()),
        signature in (option::of(text()), option::of(bytes(8..20)), bytes(16..80)),
    ) {
        let (which, key, (key_name, key_publisher)) = &locator;
        let key_publisher = key_publisher.as_ref().map(|(kind, digest)| PublisherId { kind: *kind, digest });
        let signed_info = SignedInfo {
            publisher: &publisher,
            timestamp,
            kind: kind.map(ContentKind::from_bytes),
            freshness_seconds,
            final_block_id: blobs.0.as_deref(),
            key_locator: match which {
                0 => None,
                1 => Some(KeyLocator::Key(key)),
                2 => Some(KeyLocator::Certificate(key)),
                _ => Some(KeyLocator::KeyName { name: key_name.into(), publisher: key_publisher }),
            },
            ext_opt: blobs.1.as_deref(),
        };
        let object = ContentObjectFields { name: (&name).into(), signed_info, content: &blobs.2 };
        let signed = object.signed_bytes().unwrap();
        let signature = Signature {
            digest_algorithm: signature.0.as_deref(),
            witness: signature.1.as_deref(),
            bits: &signature.2,
        };
        let wire = assemble(&signature, &signed).unwrap();
        prop_assert_eq!((signed.capacity(), wire.capacity()), (signed.len(), wire.len()));
        let view = ContentObjectView::decode(&wire).unwrap();
        prop_assert_eq!(view.name().to_name().unwrap(), name);
        prop_assert_eq!(view.signature(), signature);
        prop_assert_eq!(view.signed_bytes(), &signed);
        prop_assert_eq!((view.publisher(), view.timestamp()), (&publisher, timestamp));
        prop_assert_eq!(view.kind().to_bytes(), kind.unwrap_or(ContentKind::Data.to_bytes()));
        prop_assert_eq!((view.freshness_seconds(), view.content()), (freshness_seconds, &blobs.2[..]));
        prop_assert_eq!((view.final_block_id(), view.signed_info().ext_opt), (blobs.0.as_deref(), blobs.1.as_deref()));
        let again = ContentObjectFields {
            name: view.name().into(),
            signed_info: view.signed_info(),
            content: view.content(),
        };
        prop_assert_eq!(again.signed_bytes().unwrap(), signed);
        check_cuts(&wire, |cut| ContentObjectView::decode(cut).err());
    }

    #[test]
    fn hashes_taken_while_decoding_are_those_of_the_name(name in name(), key in any::<[u64; 2]>()) {
        let hasher = NameHasher::new(key);
        let expected = hasher.hash(Dialect::Ccnx, name.components());
        let interest = InterestFields::default().encode(&name).unwrap();
        let signed_info = SignedInfo::new(&[0; 32], Ticks::from_count(1));
        let object = ContentObjectFields { name: (&name).into(), signed_info, content: b"" };
        let object = object.encode(None, |_| Ok::<_, cairn_packet::EncodeError>([0; 16])).unwrap();
        let mut found = [PrefixHashes::default(); 2];
        InterestView::decode_hashed(&interest, &hasher, &mut found[0]).unwrap();
        ContentObjectView::decode_hashed(&object, &hasher, &mut found[1]).unwrap();
        for hashes in &found {
            prop_assert_eq!(hashes.component_count(), expected.component_count());
            for count in 0..=expected.component_count() {
                prop_assert_eq!(hashes.prefix(count), expected.prefix(count));
            }
        }
    }

    #[test]
    fn the_first_packet_of_some_bytes_is_the_one_that_the_framer_cuts_off(
        (start, middle) in (sample_start(), ccnb_like()),
        name in name(),
        is_object in any::<bool>(),
        rest in bytes(0..30),
    ) {
        let signed_info = SignedInfo::new(&[0; 32], Ticks::from_count(1));
        let object = ContentObjectFields { name: (&name).into(), signed_info, content: &rest };
        let legal = match is_object {
            true => object.encode(None, |_| Ok::<_, cairn_packet::EncodeError>([0; 16])).unwrap(),
            false => InterestFields::default().encode(&name).unwrap(),
        };
        for (bytes, is_legal) in [([&legal[..], &rest].concat(), true), ([start, middle].concat(), false)] {
            let framed = message_len(&bytes).ok().flatten().map(|len| &bytes[..len]);
            let alone = framed.and_then(|wire| match Message::decode(wire) {
                Ok(Message::Interest(_) | Message::ContentObject(_)) => Some(wire),
                _ => None,
            });
            let interest = InterestView::decode_first_after(&bytes, (&[], 0)).map(|view| view.wire());
            let first = interest
                .or_else(|_| ContentObjectView::decode_first_asking(&bytes, |_| None).map(|view| view.wire()));
            prop_assert_eq!(first.ok(), alone);
            prop_assert!(!is_legal || alone == Some(&legal[..]));
        }
    }

    #[test]
    fn link_packets_survive(
        sequence in any::<u64>().prop_map(Sequence::new),
        flags in any::<u16>().prop_map(Flags::from_bits),
        fragment in any::<(u16, u16)>().prop_map(|(index, count)| Fragment { index, count }),
        payload in bytes(0..100),
        blocks in vec((any::<u64>().prop_map(Sequence::new), bytes(0..20)), 1..5),
        padding in 0..50usize,
    ) {
        let data = LinkData { sequence, flags, fragment, payload: &payload };
        let mut frame = data.encode();
        prop_assert_eq!(frame.len(), data.encoded_len());
        check_cuts(&frame, |cut| LinkPacket::decode(cut).err());
        frame.extend(std::iter::repeat_n(0, padding));
        prop_assert_eq!(LinkPacket::decode(&frame), Ok(LinkPacket::Data(data)));
        prop_assert_eq!(data.message().plus(fragment.index.into()), sequence);

        let blocks: Vec<AckBlock<'_>> =
            blocks.iter().map(|(base, bitmap)| AckBlock { base: *base, bitmap }).collect();
        let mut frame = Vec::new();
        LinkAck::encode_into(&blocks, &mut frame);
        prop_assert_eq!(frame.len(), LinkAck::encoded_len(blocks.iter().map(AckBlock::encoded_len)));
        check_cuts(&frame, |cut| LinkPacket::decode(cut).err());
        frame.extend(std::iter::repeat_n(0xff, padding));
        let Ok(LinkPacket::Ack(ack)) = LinkPacket::decode(&frame) else { panic!("no acknowledgement") };
        prop_assert_eq!(ack.blocks().collect::<Vec<_>>(), blocks.clone());
        let set_bits: u32 = blocks.iter().flat_map(|block| block.bitmap).map(|byte| byte.count_ones()).sum();
        prop_assert_eq!(ack.sequences().count(), set_bits as usize);
    }

    #[test]
    fn wrappers_and_sequence_numbers_survive(name in name(), digits in bytes(1..=6)) {
        let message = InterestFields::default().encode(&name).unwrap();
        let wrapped = wrap_pdu(&message);
        prop_assert_eq!(unwrap_pdu(&wrapped), Ok(&message[..]));
        check_cuts(&wrapped, |cut| unwrap_pdu(cut).err());
        let number = SequenceNumber::from_bytes(&digits).unwrap();
        prop_assert_eq!(SequenceNumber::decode(&number.encode()), Ok(number));
    }

    #[test]
    fn faces_connections_and_status_survive(
        texts in vec(option::of(text()), 5),
        numbers in vec(any::<Option<u32>>(), 5),
        small in any::<(Option<u8>, Option<u16>, Option<u8>)>(),
        id in any::<Option<[u8; 32]>>(),
    ) {
        let text = |index: usize| texts[index].as_deref();
        let face = FaceInstance {
            action: text(0),
            ccnd_id: id.as_ref(),
            face_id: numbers[0],
            ip_protocol: small.0.map(IpProtocol),
            host: text(1),
            port: small.1,
            multicast_interface: text(2),
            multicast_ttl: small.2,
            freshness_seconds: numbers[1],
        };
        let wire = face.encode();
        prop_assert_eq!(FaceInstance::decode(&wire), Ok(face));
        check_cuts(&wire, |cut| FaceInstance::decode(cut).err());

        let connection = NdnldConnection {
            action: text(0),
            face_id: numbers[0],
            lower_protocol: text(1),
            host: text(2),
            local_interface: text(3),
            flags: small.1.map(Flags::from_bits),
            sent_packets_capacity: numbers[1],
            retransmit_count: numbers[2],
            retransmit_millis: numbers[3],
            acknowledge_millis: numbers[4],
            status: text(4),
        };
        let wire = connection.encode();
        prop_assert_eq!(NdnldConnection::decode(&wire), Ok(connection));
        check_cuts(&wire, |cut| NdnldConnection::decode(cut).err());

        let status = StatusResponse { code: numbers[0].unwrap_or(450), text: text(0) };
        let wire = status.encode();
        prop_assert_eq!(StatusResponse::decode(&wire), Ok(status));
        check_cuts(&wire, |cut| StatusResponse::decode(cut).err());
    }

    #[test]
    fn entries_and_strategies_survive(
        name in name(),
        texts in vec(option::of(text()), 3),
        numbers in vec(any::<Option<u32>>(), 3),
        id in any::<Option<[u8; 32]>>(),
    ) {
        let text = |index: usize| texts[index].as_deref();
        let entry = ForwardingEntry {
            action: text(0),
            name: (&name).into(),
            ccnd_id: id.as_ref(),
            face_id: numbers[0],
            flags: numbers[1].map(ForwardingFlags),
            freshness_seconds: numbers[2],
        };
        let wire = entry.encode().unwrap();
        let read = ForwardingEntry::decode(&wire).unwrap();
        prop_assert_eq!((read.action, read.ccnd_id, read.face_id), (entry.action, entry.ccnd_id, entry.face_id));
        prop_assert_eq!((read.flags, read.freshness_seconds), (entry.flags, entry.freshness_seconds));
        prop_assert_eq!(read.name.to_name().unwrap(), name.clone());
        prop_assert_eq!(read.encode().unwrap(), wire.clone());
        check_cuts(&wire, |cut| ForwardingEntry::decode(cut).err());

        let selection = StrategySelection {
            action: text(0),
            name: (&name).into(),
            ccnd_id: id.as_ref(),
            strategy: text(1),
            parameters: text(2),
            freshness_seconds: numbers[0],
        };
        let wire = selection.encode().unwrap();
        let read = StrategySelection::decode(&wire).unwrap();
        prop_assert_eq!((read.action, read.ccnd_id), (selection.action, selection.ccnd_id));
        prop_assert_eq!((read.strategy, read.parameters), (selection.strategy, selection.parameters));
        prop_assert_eq!(read.encode().unwrap(), wire);
    }

    #[test]
    fn repository_answers_and_collections_survive(name in name(), texts in vec(option::of(text()), 5)) {
        let text = |index: usize| texts[index].as_deref();
        let info = RepositoryInfo {
            version: text(0).unwrap_or(""),
            kind: "DATA",
            repository_version: text(1).unwrap_or("2.0"),
            global_prefix: (&name).into(),
            local_name: text(2).unwrap_or(""),
            name: texts[3].as_ref().map(|_| (&name).into()),
            info: text(4),
        };
        let wire = info.encode().unwrap();
        let read = RepositoryInfo::decode(&wire).unwrap();
        prop_assert_eq!((read.version, read.local_name, read.info), (info.version, info.local_name, info.info));
        prop_assert_eq!(read.global_prefix.to_name().unwrap(), name.clone());
        prop_assert_eq!(read.encode().unwrap(), wire);

        let link = Link { name: (&name).into(), label: text(0), authenticator: None };
        let links = vec![link.encode().unwrap(); 3];
        let wire = Collection::encode(&links);
        let collection = Collection::decode(&wire).unwrap();
        prop_assert_eq!(collection.items().collect::<Vec<_>>(), links);
        for read in collection.links() {
            let read = read.unwrap();
            prop_assert_eq!((read.name.to_name().unwrap(), read.label), (name.clone(), link.label));
        }
        check_cuts(&wire, |cut| Collection::decode(cut).err());
    }

    #[test]
    fn streams_are_cut_alike_however_they_arrive(
        names in vec(name(), 1..5),
        cuts in vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let messages: Vec<Vec<u8>> =
            names.iter().map(|name| InterestFields::default().encode(name).unwrap()).collect();
        let stream = messages.concat();
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len())).chain([stream.len()]).collect();
        ends.sort();
        let (mut framer, mut start, mut found) = (Framer::new(10_000), 0, Vec::new());
        for end in ends {
            while let Some(len) = framer.scan(&stream[start..end]).unwrap() {
                found.push(stream[start..start + len].to_vec());
                start += len;
            }
        }
        prop_assert_eq!(found, messages);
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(start in sample_start(), rest in ccnb_like()) {
        let wire = [start, rest].concat();
        for error in decode_as_everything(&wire).into_iter().flatten() {
            prop_assert!(error.offset <= wire.len(), "{}", error);
        }
    }

    #[test]
    fn no_text_makes_the_uri_parser_panic(text in "\\PC{0,40}") {
        let _ = uri::parse(&text);
        if let Ok(name) = uri::resolve(Name::root().as_ref(), &text) {
            let printed = uri::format(name.components().map(|component| component.value), Escaping::Mixed);
            prop_assert_eq!(uri::parse(&printed).unwrap(), name);
        }
    }
}

fn name_and_publisher() -> impl Strategy<Value = (Name, Option<(PublisherIdKind, Vec<u8>)>)> {
    (name(), option::of((publisher_kind(), bytes(16..=64))))
}

/// The definition of CCNx 0.8, slowly: look at every gap.
fn excluded(entries: &[ExcludeEntry<'_>], candidate: &[u8]) -> bool {
    let key = |component: &[u8]| (component.len(), component.to_vec());
    let listed = |entry: &ExcludeEntry<'_>| match entry {
        ExcludeEntry::Component(component) => Some(key(component)),
        _ => None,
    };
    entries.iter().enumerate().any(|(index, entry)| {
        let above = entries[..index].iter().rev().find_map(listed).is_none_or(|low| low < key(candidate));
        let below = entries[index..].iter().find_map(listed).is_none_or(|high| key(candidate) < high);
        match entry {
            ExcludeEntry::Component(component) => component == &candidate,
            ExcludeEntry::Any => above && below,
            ExcludeEntry::Bloom(bloom) => {
                above && below && BloomRef::decode(bloom).is_none_or(|bloom| bloom.contains(candidate))
            }
        }
    })
}

/// Every proper prefix of `wire` must be refused, at a byte that is there.
fn check_cuts(wire: &[u8], decode: impl Fn(&[u8]) -> Option<DecodeError>) {
    for cut in 0..wire.len() {
        let error = decode(&wire[..cut]);
        assert!(error.is_some_and(|error| error.offset <= cut), "cut at {cut}: {error:?}");
    }
}

/// Headers that lead deep into the decoders.
fn sample_start() -> impl Strategy<Value = Vec<u8>> {
    let starts: [&[u8]; 9] = [
        b"",
        &[0x01, 0xd2, 0xf2, 0x00],
        &[0x01, 0xd2, 0xf2, 0xfa, 0x8d, 0x61, 0x00, 0x00, 0x02, 0xda],
        &[0x04, 0x82, 0x02, 0xaa],
        &[0x05, 0x82],
        &[0x05, 0x8a],
        b"CCN\x82",
        b"NdL\x82NdL\x8a\xb5\0\0\0\0\0\x01\0",
        b"NdL\xb2NdL\xba",
    ];
    prop::sample::select(starts.map(<[u8]>::to_vec).to_vec())
}

/// Bytes that look like blocks more often than bytes drawn evenly would.
fn ccnb_like() -> impl Strategy<Value = Vec<u8>> {
    let block = prop_oneof![
        3 => Just(vec![0x00]),
        2 => (0u64..150).prop_map(|number| header(2, number)),
        2 => bytes(1..40).prop_map(|body| [header(5, body.len() as u64), body].concat()),
        1 => "[0-9]{1,12}".prop_map(|digits| [header(6, digits.len() as u64), digits.into_bytes()].concat()),
        1 => bytes(1..4),
        1 => (0u8..8, any::<u64>()).prop_map(|(kind, number)| header(kind, number)),
    ];
    vec(block, 0..20).prop_map(|blocks| blocks.concat())
}

/// A block header by the definition, without the crate's own writer.
fn header(kind: u8, number: u64) -> Vec<u8> {
    let mut out = vec![0x80 | ((number & 15) as u8) << 3 | kind];
    let mut rest = number >> 4;
    while rest > 0 {
        out.insert(0, (rest & 0x7f) as u8);
        rest >>= 7;
    }
    out
}

fn decode_as_everything(wire: &[u8]) -> Vec<Option<DecodeError>> {
    let _ = BloomRef::decode(wire);
    vec![
        message_len(wire).err(),
        Message::decode(wire).err(),
        LinkPacket::decode(wire).err(),
        CcnxNameRef::decode(wire).err(),
        ExcludeRef::decode(wire).err(),
        FaceInstance::decode(wire).err(),
        ForwardingEntry::decode(wire).err(),
        StrategySelection::decode(wire).err(),
        StatusResponse::decode(wire).err(),
        Collection::decode(wire).err(),
        Link::decode(wire).err(),
        NdnldConnection::decode(wire).err(),
        RepositoryInfo::decode(wire).err(),
    ]
}

#[test]
fn a_bloom_filter_goes_through_an_interest() {
    let mut bloom = Bloom::new(3, 0x0102_0304);
    for component in ["foo", "bar", "baz"] {
        bloom.insert(component.as_bytes());
    }
    let mut exclude = Exclude::default();
    exclude.push(ExcludeEntry::Bloom(bloom.as_bytes())).unwrap();
    let fields = InterestFields { exclude: Some(exclude.as_ref()), ..InterestFields::default() };
    let wire = fields.encode(&Name::root()).unwrap();
    let read = InterestView::decode(&wire).unwrap().exclude().unwrap();
    assert!(read.excludes(b"foo") && read.excludes(b"baz"));
}
