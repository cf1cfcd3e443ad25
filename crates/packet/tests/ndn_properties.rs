//! What holds for every NDN packet: building and decoding are inverse, rewriting a field leaves the others,
//! and no bytes make a decoder panic.
#![allow(clippy::unwrap_used, reason = "tests")]

use cairn_packet::ndn::{
    DEFAULT_LIFETIME, DataBuilder, DataView, InterestBuilder, InterestView, KeyLocator, SignatureInfo,
    SignatureInfoBuilder, SignatureType, ValidityPeriod, tlv,
};
use cairn_packet::time::Duration;
use cairn_packet::{
    Buffer, Component, ComponentKind, ContentType, Data, Dialect, Interest, Name, NameHasher, NameRef, Nonce,
    PrefixHashes, UnixTime,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

fn bytes(len: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), len)
}

fn component() -> impl Strategy<Value = (u16, Vec<u8>)> {
    let kind = prop_oneof![6 => Just(8u16), 1 => 3..=65_535u16, 1 => Just(50), 1 => Just(32)];
    prop_oneof![9 => (kind, bytes(0..20)), 1 => bytes(32).prop_map(|digest| (1, digest))]
}

/// A name without parameters digest, which the builder writes itself.
fn name(count: std::ops::Range<usize>) -> impl Strategy<Value = Name> {
    vec(component(), count).prop_map(|all| {
        let components =
            all.iter().map(|(kind, value)| Component::new(ComponentKind::new(*kind).unwrap(), value));
        Name::from_components(components).unwrap()
    })
}

/// Numbers of every width.
fn number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64u32).prop_map(|(number, shift)| number >> shift)
}

/// Milliseconds that a Duration can hold.
fn milliseconds() -> impl Strategy<Value = u64> {
    number().prop_map(|number| number % Duration::MAX.as_millis())
}

#[derive(Clone, Debug)]
enum Locator {
    None,
    Name(Name),
    Digest([u8; 32]),
}

/// What a SignatureInfo is built from.
#[derive(Clone, Debug)]
struct Info {
    signature_type: u64,
    locator: Locator,
    nonce: Option<u64>,
    time_ms: Option<u64>,
    sequence_number: Option<u64>,
    validity: Option<ValidityPeriod>,
}

impl Info {
    fn builder(&self) -> SignatureInfoBuilder {
        let mut builder = SignatureInfoBuilder::new(SignatureType(self.signature_type));
        builder = match &self.locator {
            Locator::None => builder,
            Locator::Name(name) => builder.key_name(name),
            Locator::Digest(digest) => builder.key_digest(digest),
        };
        if let Some(nonce) = self.nonce {
            builder = builder.nonce(nonce);
        }
        if let Some(time_ms) = self.time_ms {
            builder = builder.time_ms(time_ms);
        }
        if let Some(number) = self.sequence_number {
            builder = builder.sequence_number(number);
        }
        match &self.validity {
            Some(validity) => builder.validity_period(validity),
            None => builder,
        }
    }

    #[track_caller]
    fn check(&self, read: SignatureInfo<'_>) {
        assert_eq!(read.signature_type.0, self.signature_type);
        assert_eq!(
            read.key_locator,
            match &self.locator {
                Locator::None => None,
                Locator::Name(name) => Some(KeyLocator::Name(name.as_ref())),
                Locator::Digest(digest) => Some(KeyLocator::Digest(digest)),
            }
        );
        assert_eq!(read.nonce, self.nonce.map(u64::to_be_bytes).as_ref().map(|nonce| &nonce[..]));
        assert_eq!((read.time_ms, read.sequence_number), (self.time_ms, self.sequence_number));
        let period = self
            .validity
            .map(|validity| (validity.not_before.to_iso(), validity.not_after.to_iso()))
            .map(|(from, to)| [&[0xfd, 0, 0xfe, 15], &from[..], &[0xfd, 0, 0xff, 15], &to[..]].concat());
        assert_eq!(read.validity_period, period.as_deref());
    }
}

fn validity() -> impl Strategy<Value = ValidityPeriod> {
    let ends = (0..=UnixTime::END.as_secs(), 0..=UnixTime::END.as_secs());
    ends.prop_map(|(from, to)| ValidityPeriod {
        not_before: UnixTime::from_secs(from),
        not_after: UnixTime::from_secs(to),
    })
}

fn info() -> impl Strategy<Value = Info> {
    let locator = prop_oneof![
        Just(Locator::None),
        name(0..4).prop_map(Locator::Name),
        any::<[u8; 32]>().prop_map(Locator::Digest),
    ];
    let numbers = (option::of(any::<u64>()), option::of(number()), option::of(number()));
    (number(), locator, numbers, option::of(validity())).prop_map(
        |(signature_type, locator, (nonce, time_ms, sequence_number), validity)| Info {
            signature_type,
            locator,
            nonce,
            time_ms,
            sequence_number,
            validity,
        },
    )
}

/// What an Interest is built from.
#[derive(Clone, Debug)]
struct InterestFields {
    name: Name,
    can_be_prefix: bool,
    must_be_fresh: bool,
    hints: Vec<Name>,
    nonce: Option<u32>,
    lifetime_ms: Option<u64>,
    hop_limit: Option<u8>,
    parameters: Option<Vec<u8>>,
    signature: Option<(Info, Vec<u8>)>,
}

impl InterestFields {
    fn build(&self) -> (Interest, Vec<u8>) {
        let mut builder = InterestBuilder::new(self.name.clone())
            .can_be_prefix(self.can_be_prefix)
            .must_be_fresh(self.must_be_fresh)
            .forwarding_hint(self.hints.clone());
        if let Some(nonce) = self.nonce {
            builder = builder.nonce(nonce);
        }
        if let Some(ms) = self.lifetime_ms {
            builder = builder.lifetime(Duration::from_millis(ms));
        }
        if let Some(hops) = self.hop_limit {
            builder = builder.hop_limit(hops);
        }
        if let Some(parameters) = &self.parameters {
            builder = builder.application_parameters(parameters.clone());
        }
        let mut signed = Vec::new();
        let built = match &self.signature {
            None => builder.build(),
            Some((info, value)) => builder.build_signed(&info.builder(), |portion| {
                signed = portion.to_vec();
                value.clone()
            }),
        };
        (built.unwrap(), signed)
    }

    #[track_caller]
    fn check(&self, view: &InterestView<'_>) {
        let has_parameters = self.parameters.is_some() || self.signature.is_some();
        let count = self.name.components().count();
        assert_eq!(view.name().prefix(count), self.name.as_ref());
        assert_eq!(view.component_count(), count + usize::from(has_parameters));
        assert_eq!(view.parameters_digest_is_valid(), has_parameters.then_some(true));
        let last = self.name.components().last().map(|component| component.kind);
        let ends_in_digest = last == Some(ComponentKind::IMPLICIT_DIGEST) && !has_parameters;
        assert_eq!(view.ends_in_implicit_digest(), ends_in_digest);
        assert_eq!((view.can_be_prefix(), view.must_be_fresh()), (self.can_be_prefix, self.must_be_fresh));
        assert!(view.forwarding_hint().eq(self.hints.iter().map(Name::as_ref)));
        assert_eq!(view.nonce(), self.nonce.map(Nonce));
        assert_eq!(view.lifetime(), self.lifetime_ms.map_or(DEFAULT_LIFETIME, Duration::from_millis));
        assert_eq!(view.hop_limit(), self.hop_limit);
        let empty = has_parameters.then_some(&[][..]);
        assert_eq!(view.application_parameters(), self.parameters.as_deref().or(empty));
        assert_eq!(view.signature_info().is_some(), self.signature.is_some());
        if let (Some((info, value)), Some(read)) = (&self.signature, view.signature_info()) {
            info.check(read);
            assert_eq!(view.signature_value(), Some(&value[..]));
        }
    }
}

fn interest() -> impl Strategy<Value = InterestFields> {
    let options = (any::<bool>(), any::<bool>(), vec(name(0..4), 0..3));
    let numbers = (any::<Option<u32>>(), option::of(milliseconds()), any::<Option<u8>>());
    let tail = (option::of(bytes(0..300)), option::of((info(), bytes(0..80))));
    (name(1..20), options, numbers, tail).prop_map(|(name, options, numbers, tail)| InterestFields {
        name,
        can_be_prefix: options.0,
        must_be_fresh: options.1,
        hints: options.2,
        nonce: numbers.0,
        lifetime_ms: numbers.1,
        hop_limit: numbers.2,
        parameters: tail.0,
        signature: tail.1,
    })
}

/// What a Data is built from.
#[derive(Clone, Debug)]
struct DataFields {
    name: Name,
    content_type: u64,
    freshness_ms: Option<u64>,
    final_block: Option<(u16, Vec<u8>)>,
    content: Option<Vec<u8>>,
    info: Info,
    value: Vec<u8>,
}

impl DataFields {
    fn final_block(&self) -> Option<Component<'_>> {
        let (kind, value) = self.final_block.as_ref()?;
        Some(Component::new(ComponentKind::new(*kind).unwrap(), value))
    }

    fn build(&self) -> (Data, Vec<u8>) {
        let mut builder = DataBuilder::new(self.name.clone()).content_type(ContentType(self.content_type));
        if let Some(ms) = self.freshness_ms {
            builder = builder.freshness(Duration::from_millis(ms));
        }
        if let Some(component) = self.final_block() {
            builder = builder.final_block(component);
        }
        if let Some(content) = &self.content {
            builder = builder.content(content.clone());
        }
        let mut signed = Vec::new();
        let built = builder.build_signed(&self.info.builder(), |portion| {
            signed = portion.to_vec();
            self.value.clone()
        });
        (built.unwrap(), signed)
    }

    #[track_caller]
    fn check(&self, view: &DataView<'_>) {
        assert_eq!(view.name(), self.name.as_ref());
        assert_eq!(view.component_count(), self.name.components().count());
        assert_eq!(view.content_type().0, self.content_type);
        assert_eq!(view.freshness(), Duration::from_millis(self.freshness_ms.unwrap_or(0)));
        assert_eq!(view.final_block(), self.final_block());
        assert_eq!(view.content(), self.content.as_deref().unwrap_or_default());
        self.info.check(view.signature_info().unwrap());
        assert_eq!(view.signature_value(), self.value);
    }
}

fn data() -> impl Strategy<Value = DataFields> {
    let meta = (prop_oneof![Just(0), number()], option::of(milliseconds()), option::of(component()));
    (name(0..20), meta, option::of(bytes(0..300)), info(), bytes(0..80)).prop_map(
        |(name, meta, content, info, value)| DataFields {
            name,
            content_type: meta.0,
            freshness_ms: meta.1,
            final_block: meta.2,
            content,
            info,
            value,
        },
    )
}

/// Both decoders must come to an end, with errors inside the bytes.
fn decode_anything(wire: &[u8]) {
    if let Err(error) = InterestView::decode(wire) {
        assert!(error.offset <= wire.len(), "{error}");
    }
    if let Err(error) = DataView::decode(wire) {
        assert!(error.offset <= wire.len(), "{error}");
    }
    if let Err(error) = NameRef::decode(wire) {
        assert!(error.offset <= wire.len(), "{error}");
    }
}

/// Calls every getter: what was accepted must be readable.
fn read_interest(view: &InterestView<'_>) -> usize {
    view.name().to_string().len()
        + view.forwarding_hint().map(NameRef::component_count).sum::<usize>()
        + view.application_parameters().map_or(0, <[u8]>::len)
        + view.signature_value().map_or(0, <[u8]>::len)
        + view.signed_portion().map_or(0, |portion| portion.map(<[u8]>::len).sum())
        + usize::from(view.parameters_digest_is_valid() == Some(true))
        + usize::from(view.signature_info().is_some())
}

fn read_data(view: &DataView<'_>) -> usize {
    assert!(view.signature_info().is_some() && !view.signed_portion().is_empty());
    view.name().to_string().len()
        + view.final_block().map_or(0, |component| component.to_string().len())
        + view.content().len()
        + view.signature_value().len()
}

fn check_hashes(name: NameRef<'_>, hasher: &NameHasher, hashes: &PrefixHashes) {
    let expected = hasher.hash(Dialect::Ndn, name.components());
    assert_eq!((hashes.whole(), hashes.component_count()), (expected.whole(), name.component_count()));
    for count in 0..=name.component_count() + 1 {
        assert_eq!(hashes.prefix(count), expected.prefix(count), "prefix of {count}");
        if let Some(hash) = hashes.prefix(count) {
            assert_eq!(hash, hasher.hash(Dialect::Ndn, name.prefix(count).components()).whole());
        }
    }
}

/// Section 3.2 of the packet format, on the full name, which has the digest as its last component.
fn answers(interest: &Interest, data: &Data) -> bool {
    let digest = data.implicit_digest();
    let full: Vec<Component<'_>> =
        data.name().components().chain([Component::new(ComponentKind::IMPLICIT_DIGEST, &digest)]).collect();
    let wanted: Vec<Component<'_>> = interest.name().components().collect();
    let without_digest = &full[..full.len() - 1];
    wanted == full || wanted == without_digest || (interest.can_be_prefix() && full.starts_with(&wanted))
}

/// `wire` with an element that may be ignored before the field number `place` behind the name, or at the end.
fn with_stranger(wire: &[u8], place: usize) -> Vec<u8> {
    let mut outer = tlv::Reader::new(wire, "packet");
    let packet = outer.element().unwrap().unwrap();
    let mut fields = outer.inside(packet, "packet");
    let mut value = Vec::new();
    let mut number = 0;
    while let Some(field) = fields.element().unwrap() {
        if number == place + 1 {
            value.extend([240, 0]);
        }
        value.extend_from_slice(&wire[field.start..field.end()]);
        number += 1;
    }
    if number <= place + 1 {
        value.extend([240, 0]);
    }
    let mut changed = Vec::new();
    tlv::write_element(&mut changed, packet.kind, &value);
    changed
}

#[test]
fn a_type_of_several_bytes_is_not_mistaken_for_the_byte_it_begins_with() {
    for kind in [253, 254, 255] {
        let mut wire = Vec::new();
        tlv::write_element(&mut wire, kind, &[1, 2, 3]);
        assert_eq!(tlv::Reader::new(&wire, "packet").plain(kind), None);
        let element = tlv::Reader::new(&wire, "packet").required(kind, "packet").unwrap();
        assert_eq!((element.kind, element.value), (kind, &[1, 2, 3][..]));
    }
}

proptest! {
    /// Fields are read in one step as long as they stand in their usual form; what makes the form unusual
    /// must change nothing else.
    #[test]
    fn an_element_to_be_ignored_changes_no_field(interest in interest(), data in data(), place in 0..8usize) {
        let interest = InterestFields { parameters: None, signature: None, ..interest };
        interest.check(&InterestView::decode(&with_stranger(interest.build().0.wire(), place)).unwrap());
        data.check(&DataView::decode(&with_stranger(data.build().0.wire(), place)).unwrap());
    }

    #[test]
    fn interests_survive(fields in interest()) {
        let (interest, signed) = fields.build();
        let view = InterestView::decode(interest.wire()).unwrap();
        fields.check(&view);
        fields.check(&interest.ndn().unwrap());
        prop_assert_eq!(view.wire(), &interest.wire()[..]);
        let portion = view.signed_portion().map(|portion| portion.collect::<Vec<_>>().concat());
        prop_assert_eq!(portion, fields.signature.is_some().then_some(signed));
        for cut in 0..interest.wire().len() {
            let error = InterestView::decode(&interest.wire()[..cut]).err();
            prop_assert!(error.is_some_and(|error| error.offset <= cut));
        }
    }

    #[test]
    fn data_survive(fields in data()) {
        let (data, signed) = fields.build();
        let view = DataView::decode(data.wire()).unwrap();
        fields.check(&view);
        fields.check(&data.ndn().unwrap());
        prop_assert_eq!(view.signed_portion(), signed);
        prop_assert_eq!(view.implicit_digest()[..].to_vec(), Sha256::digest(data.wire()).to_vec());
        for cut in 0..data.wire().len() {
            let error = DataView::decode(&data.wire()[..cut]).err();
            prop_assert!(error.is_some_and(|error| error.offset <= cut));
        }
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(noise in bytes(0..200), kind in 5..=6u8) {
        decode_anything(&noise);
        // Behind a right header, with and without a Name, they come further.
        let value = [&[7, 3, 8, 1, 0x41], &noise[..]].concat();
        for inside in [&noise, &value] {
            let mut wire = Vec::new();
            tlv::write_element(&mut wire, kind.into(), inside);
            decode_anything(&wire);
        }
    }

    #[test]
    fn a_packet_with_a_byte_changed_is_refused_inside_or_can_be_read(
        interest in interest(),
        data in data(),
        place in any::<prop::sample::Index>(),
        changed in any::<u8>(),
    ) {
        for wire in [interest.build().0.wire().to_vec(), data.build().0.wire().to_vec()] {
            let mut wire = wire;
            let at = place.index(wire.len());
            wire[at] = changed;
            decode_anything(&wire);
            if let Ok(view) = InterestView::decode(&wire) {
                read_interest(&view);
            }
            if let Ok(view) = DataView::decode(&wire) {
                read_data(&view);
            }
        }
    }

    #[test]
    fn rewriting_a_field_leaves_the_others(mut fields in interest(), nonce in any::<u32>(), hops in any::<u8>()) {
        let original = fields.build().0;
        let mut interest = original.clone();
        interest.set_nonce(Nonce(nonce)).unwrap();
        fields.nonce = Some(nonce);
        fields.check(&interest.ndn().unwrap());
        // The builder would have written the very same bytes.
        prop_assert_eq!(interest.wire().to_vec(), fields.build().0.wire().to_vec());

        interest.set_hop_limit(hops);
        fields.hop_limit = fields.hop_limit.map(|_| hops);
        fields.check(&interest.ndn().unwrap());
        interest.add_hop_limit(hops ^ 1).unwrap();
        fields.hop_limit = fields.hop_limit.or(Some(hops ^ 1));
        fields.check(&interest.ndn().unwrap());
        prop_assert_eq!(interest.wire().to_vec(), fields.build().0.wire().to_vec());
        fields.check(&InterestView::decode(interest.wire()).unwrap());
    }

    #[test]
    fn decoding_with_hashes_finds_the_same_and_hashes_every_prefix(
        interest in interest(),
        data in data(),
        key in any::<[u64; 2]>(),
    ) {
        let hasher = NameHasher::new(key);
        // Left over from another packet, as a caller's would be.
        let mut hashes = hasher.hash(Dialect::Ccnx, data.name.components());
        let wire = interest.build().0.wire().clone();
        let view = InterestView::decode_hashed(&wire, &hasher, &mut hashes).unwrap();
        interest.check(&view);
        check_hashes(view.name(), &hasher, &hashes);
        let owned = Interest::decode_ndn_hashed(Buffer::copy_from(&wire), &hasher, &mut hashes).unwrap();
        interest.check(&owned.ndn().unwrap());
        check_hashes(owned.name(), &hasher, &hashes);

        let wire = data.build().0.wire().clone();
        let view = DataView::decode_hashed(&wire, &hasher, &mut hashes).unwrap();
        data.check(&view);
        check_hashes(view.name(), &hasher, &hashes);
        let owned = Data::decode_ndn_hashed(Buffer::copy_from(&wire), &hasher, &mut hashes).unwrap();
        data.check(&owned.ndn().unwrap());
        check_hashes(owned.name(), &hasher, &hashes);
    }
}

/// Names from few components, so that they are often prefixes of each other.
fn small_name(count: std::ops::Range<usize>) -> impl Strategy<Value = Name> {
    let component = prop_oneof![
        Just(Component::generic(b"a")),
        Just(Component::generic(b"")),
        Just(Component::new(ComponentKind::KEYWORD, b"a")),
    ];
    vec(component, count).prop_map(|all| Name::from_components(all).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn matching_agrees_with_its_definition(
        wanted in small_name(1..4),
        name in small_name(0..4),
        can_be_prefix in any::<bool>(),
        // What the Interest asks for: another name, the name, or the name and a right, a wrong or a mistyped
        // digest.
        tail in 0..6,
    ) {
        let data = DataBuilder::new(name.clone()).build_with_digest().unwrap();
        let digest = data.implicit_digest();
        let with = |name: &Name, kind, digest: &[u8]| name.with(Component::new(kind, digest)).unwrap();
        let wanted = match tail {
            0 => wanted,
            1 if name.as_ref().is_root() => wanted,
            1 => name,
            2 => with(&name, ComponentKind::IMPLICIT_DIGEST, &digest),
            3 => with(&name, ComponentKind::IMPLICIT_DIGEST, &[0; 32]),
            4 => with(&name, ComponentKind::GENERIC, &digest),
            _ => with(&wanted, ComponentKind::IMPLICIT_DIGEST, &digest),
        };
        let interest = InterestBuilder::new(wanted).can_be_prefix(can_be_prefix).build().unwrap();
        prop_assert_eq!(interest.matches(&data), answers(&interest, &data));
    }
}
