//! What is known of a name is not read again, and reading less of a packet changes nothing of what is found.
#![allow(clippy::unwrap_used, reason = "tests")]

use cairn_packet::ccnx::{
    AnswerOriginKind, CcnxNameRef, ContentObjectFields, ContentObjectView, InterestFields, InterestView,
    PublisherId, Scope, SignedInfo, Ticks,
};
use cairn_packet::{Component, Data, EncodeError, Interest, Name, WireName};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Few bytes, so that two names often have components in common; and all kinds of headers.
fn components(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vec<u8>>> {
    let lengths = prop_oneof![0..3usize, Just(15), Just(16), Just(32), Just(127), Just(128), Just(300)];
    vec(lengths.prop_flat_map(|len| vec(0u8..2, len)), count)
}

fn name(components: &[Vec<u8>]) -> Name {
    Name::from_components(components.iter().map(|component| Component::generic(component))).unwrap()
}

fn interest(name: &Name, fields: InterestFields<'_>) -> Vec<u8> {
    InterestFields { nonce: Some(b"once"), ..fields }.encode(name).unwrap()
}

fn object(name: &Name, seconds: Option<u32>) -> Vec<u8> {
    let signed_info = SignedInfo::new(&[0x11; 32], Ticks::from_unix(1_234_567_890, 0));
    let signed_info = SignedInfo { freshness_seconds: seconds, ..signed_info };
    let fields = ContentObjectFields { name: name.into(), signed_info, content: b"content" };
    fields.encode(None, |_| Ok::<_, EncodeError>([0xaa; 16])).unwrap()
}

/// The components of the name in an Interest for it, and how many bytes and components the first `count` are.
fn first(wire: &[u8], count: usize) -> (&[u8], usize) {
    let mut name = InterestView::decode(wire).unwrap().name();
    while name.len() > count {
        name = name.split_last().unwrap().0;
    }
    (name.component_bytes(), name.len())
}

proptest! {
    #[test]
    fn an_interest_behind_another_is_read_as_if_it_were_alone(
        shared in components(0..4),
        ends in [components(0..3), components(0..3)],
        count in 0..8usize,
        broken in option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let [before, name] = ends.map(|end| name(&[&shared[..], &end].concat()));
        let before = interest(&before, InterestFields::default());
        let mut wire = interest(&name, InterestFields::default());
        if let Some((place, byte)) = broken {
            let place = place.index(wire.len());
            wire[place] = byte;
        }
        let seen = |view: InterestView<'_>| (view.name().to_string(), view.wire().len(), view.nonce().map(<[u8]>::to_vec));
        let alone = InterestView::decode_first_after(&wire, (&[], 0)).map(seen);
        prop_assert_eq!(InterestView::decode_first_after(&wire, first(&before, count)).map(seen), alone.clone());
        prop_assert_eq!(InterestView::decode(&wire).map(seen).is_ok(), alone.is_ok_and(|(_, len, _)| len == wire.len()));
    }

    #[test]
    fn an_object_whose_name_is_recognised_is_read_as_if_it_were_not(all in components(0..5), count in 0..6usize) {
        let name = name(&all);
        let (asked, wire) = (interest(&name, InterestFields::default()), object(&name, None));
        let (known, count) = first(&asked, count);
        let view = ContentObjectView::decode_first_asking(&wire, |rest| {
            assert!(rest.starts_with(known));
            Some((known.len(), count))
        });
        let (view, alone) = (view.unwrap(), ContentObjectView::decode(&wire).unwrap());
        prop_assert_eq!(view.name(), alone.name());
        prop_assert_eq!((view.wire(), view.signed_range()), (alone.wire(), alone.signed_range()));
        prop_assert_eq!(view.content(), alone.content());
    }

    #[test]
    fn names_begin_with_each_other_on_the_wire_as_in_canonical_form(a in components(0..4), b in components(0..4)) {
        let (a, b) = (name(&a), name(&b));
        let (wire_a, wire_b) = (interest(&a, InterestFields::default()), interest(&b, InterestFields::default()));
        let packets = [wire_a, wire_b].map(|wire| Interest::decode_ccnx(wire.into()).unwrap());
        let [own, other] = packets.each_ref().map(|packet| packet.ccnx_name().unwrap());
        for count in 0..5 {
            let prefix = a.prefix(count);
            prop_assert!(own.begins_with(prefix.as_ref()));
            let expected = prefix.as_ref().is_prefix_of(b.as_ref());
            prop_assert_eq!(other.begins_with(prefix.as_ref()), expected);
            prop_assert_eq!(packets[1].wire_name().begins_with(prefix.as_ref()), expected);
            prop_assert_eq!(WireName::Ndn(b.as_ref()).begins_with(prefix.as_ref()), expected);
        }
        prop_assert_eq!(packets[0].wire_components() == packets[1].wire_components(), a == b);
        prop_assert_eq!(CcnxNameRef::is_prefix_of(&own, &other), a.as_ref().is_prefix_of(b.as_ref()));
    }

    #[test]
    fn an_owned_interest_says_what_is_in_its_bytes(
        all in components(0..4),
        lifetime in option::of(1u64..1 << 40),
        face_id in any::<Option<u32>>(),
        (scope, kind) in (option::of(0..4u64), option::of(0..8u64)),
        publisher in option::of(vec(any::<u8>(), 16..40)),
        nonce in vec(any::<u8>(), 4..20),
    ) {
        let name = name(&all);
        let fields = InterestFields {
            scope: scope.and_then(Scope::new),
            answer_origin_kind: kind.and_then(AnswerOriginKind::new),
            publisher: publisher.as_deref().map(PublisherId::public_key),
            lifetime: lifetime.map(Ticks::from_count),
            nonce: Some(&nonce),
            face_id,
            ..InterestFields::default()
        };
        let wire = fields.encode(&name).unwrap();
        let view = InterestView::decode(&wire).unwrap();
        let interest = Interest::decode_ccnx(wire.clone().into()).unwrap();
        let again = interest.ccnx().unwrap();
        prop_assert_eq!((again.fields(), again.name(), again.wire()), (fields, view.name(), &wire[..]));
        prop_assert_eq!(again.aggregation_range(), view.aggregation_range());
        prop_assert_eq!((interest.name(), interest.component_count()), (name.as_ref(), all.len()));
        prop_assert_eq!((interest.lifetime(), interest.face_id()), (view.lifetime(), face_id));
        prop_assert_eq!(interest.must_be_fresh(), !view.answer_origin_kind().stale());
        prop_assert_eq!(interest.has_selectors(), !view.aggregation_range().is_empty());
        prop_assert_eq!(interest.distinguishing_bytes(), &wire[view.aggregation_range()]);
        prop_assert_eq!(interest.ccnx_selectors().is_some(), interest.has_selectors());
        let last = all.last().filter(|last| last.len() == 32);
        prop_assert_eq!(interest.implicit_digest(), last.map(|last| &last[..]));
        let copy = interest.clone();
        prop_assert_eq!(copy.name(), name.as_ref());
        let parent = all.split_last().map(|(_, parent)| parent).unwrap_or_default();
        let parent = Interest::decode_ccnx(InterestFields::default().encode(&self::name(parent)).unwrap().into()).unwrap();
        prop_assert_eq!(interest.parent_wire_components(), parent.wire_components());
    }

    #[test]
    fn an_owned_object_says_what_is_in_its_bytes(all in components(0..4), seconds in any::<Option<u32>>()) {
        let name = name(&all);
        let wire = object(&name, seconds);
        let data = Data::decode_ccnx(wire.clone().into()).unwrap();
        let view = data.ccnx().unwrap();
        prop_assert_eq!((data.name(), data.component_count()), (name.as_ref(), all.len()));
        prop_assert_eq!((data.content(), data.ccnx_publisher()), (view.content(), Some(view.publisher())));
        prop_assert_eq!((view.wire(), view.name()), (&wire[..], data.ccnx_name().unwrap()));
        prop_assert_eq!(view.freshness_seconds(), seconds);
        let moved = data.moved(None);
        prop_assert_eq!(moved.name(), name.as_ref());
        prop_assert_eq!(data.content_type(), None);
    }
}
