//! Matching, against the definition written out slowly, on packets of other implementations and on drawn
//! ones.
#![allow(clippy::unwrap_used, reason = "tests")]

use cairn_packet::ccnx::matching::matches_with_digest;
use cairn_packet::ccnx::{
    ContentObjectFields, ContentObjectView, Exclude, ExcludeEntry, InterestFields, InterestView, PublisherId,
    PublisherIdKind, SignedInfo, Ticks, matches,
};
use cairn_packet::{Component, EncodeError, Name};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// The definition of CCNx 0.8: the full name has the digest as its last component.
fn answers(interest: &InterestView<'_>, object: &ContentObjectView<'_>) -> bool {
    let digest = object.implicit_digest();
    let full: Vec<&[u8]> = object.name().components().chain([&digest[..]]).collect();
    let prefix: Vec<&[u8]> = interest.name().components().collect();
    let (min, max) = (interest.min_suffix_components(), interest.max_suffix_components());
    full.starts_with(&prefix)
        && full.len() >= prefix.len() + usize::from(min)
        && full.len() <= prefix.len() + usize::from(max)
        && interest.publisher().is_none_or(|publisher| {
            publisher.kind != PublisherIdKind::PublicKey || publisher.digest == object.publisher()
        })
        && interest
            .exclude()
            .is_none_or(|exclude| full.get(prefix.len()).is_none_or(|next| !exclude.excludes(next)))
}

#[test]
fn every_captured_interest_is_answered_by_the_captured_objects_that_it_should_be() {
    let vectors = testkit::vectors::load("ccnx");
    let good = |kind: &'static str| {
        vectors.iter().filter(move |vector| vector.kind() == kind && vector.get("error").is_none())
    };
    let mut pairs = Vec::new();
    for interest in good("ccnx-interest") {
        for object in good("ccnx-content") {
            let (interest_view, object_view) = (
                InterestView::decode(&interest.bytes).unwrap(),
                ContentObjectView::decode(&object.bytes).unwrap(),
            );
            let matched = matches(&interest_view, &object_view);
            assert_eq!(matched, answers(&interest_view, &object_view), "{} {}", interest.name, object.name);
            if matched {
                pairs.push((interest.name.as_str(), object.name.as_str()));
            }
        }
    }
    for expected in [
        ("interest-localhost", "content-reply-localhost"),
        ("interest-ccnd-ping", "content-reply-ping"),
        ("interest-ccnd-newface", "content-reply-ccnd-newface"),
        ("interest-ccnd-prefixreg", "content-reply-ccnd-prefixreg"),
        ("interest-name-enumeration", "content-reply-name-enumeration"),
        ("interest-sync-node-fetch", "content-reply-sync-node-fetch"),
    ] {
        assert!(pairs.contains(&expected), "{expected:?} is not among {pairs:?}");
    }
}

fn name() -> impl Strategy<Value = Name> {
    let component = prop_oneof![Just(&b""[..]), Just(&b"a"[..]), Just(&b"b"[..]), Just(&b"aa"[..])];
    vec(component, 0..4)
        .prop_map(|all| Name::from_components(all.into_iter().map(Component::generic)).unwrap())
}

fn object(name: &Name, publisher: &[u8; 32]) -> Vec<u8> {
    let signed_info = SignedInfo::new(publisher, Ticks::from_count(1));
    let object = ContentObjectFields { name: name.into(), signed_info, content: b"" };
    object.encode(None, |_| Ok::<_, EncodeError>([0xaa; 16])).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn matching_agrees_with_its_definition(
        names in (name(), name()),
        // What the Interest's name has behind that: nothing, the right digest, or another 32 bytes.
        tail in 0..4,
        suffix in (option::of(0..4u16), option::of(0..4u16)),
        publisher in option::of((any::<bool>(), any::<bool>())),
        exclude in vec(prop_oneof![Just(&b""[..]), Just(&b"a"[..]), Just(&b"aa"[..])], 0..3),
        exclude_digest in any::<bool>(),
        exclude_all_above in any::<bool>(),
    ) {
        let wire = object(&names.1, &[1; 32]);
        let object = ContentObjectView::decode(&wire).unwrap();
        let digest = object.implicit_digest();

        let mut listed = exclude;
        if exclude_digest {
            listed.push(&digest);
        }
        let mut exclude = Exclude::components(listed);
        if exclude_all_above {
            exclude.push(ExcludeEntry::Any).unwrap();
        }
        let (min, max) = (suffix.0.min(suffix.1), suffix.0.max(suffix.1));
        let publisher = publisher.map(|(right, compared)| PublisherId {
            kind: if compared { PublisherIdKind::PublicKey } else { PublisherIdKind::IssuerKey },
            digest: if right { &[1; 32] } else { &[2; 32] },
        });
        let fields = InterestFields {
            min_suffix_components: min,
            max_suffix_components: max,
            publisher,
            exclude: Some(exclude.as_ref()),
            ..InterestFields::default()
        };
        let name = match tail {
            0 => names.0,
            1 => names.1,
            2 => names.1.with(Component::generic(&digest)).unwrap(),
            _ => names.1.with(Component::generic(&[0; 32])).unwrap(),
        };
        let wire = fields.encode(&name).unwrap();
        let interest = InterestView::decode(&wire).unwrap();
        prop_assert_eq!(matches(&interest, &object), answers(&interest, &object), "{:?}", interest);
    }
}

#[test]
fn the_digest_is_computed_only_if_the_answer_depends_on_it() {
    let name = cairn_packet::ccnx::uri::parse("/a/b").unwrap();
    let wire = object(&name, &[1; 32]);
    let object = ContentObjectView::decode(&wire).unwrap();
    let asks_for_digest = |uri: &str, exclude: Option<&Exclude>| {
        let prefix = cairn_packet::ccnx::uri::parse(uri).unwrap();
        let fields = InterestFields { exclude: exclude.map(Exclude::as_ref), ..InterestFields::default() };
        let wire = fields.encode(&prefix).unwrap();
        let mut asked = false;
        matches_with_digest(&InterestView::decode(&wire).unwrap(), &object, || {
            asked = true;
            object.implicit_digest()
        });
        asked
    };
    let exclude = Exclude::components([&b"x"[..]]);
    assert!(!asks_for_digest("/a", None));
    assert!(!asks_for_digest("/a/b", None));
    assert!(!asks_for_digest("/a", Some(&exclude)));
    assert!(asks_for_digest("/a/b", Some(&exclude)));
    assert!(asks_for_digest("/a/b/any-last-component", None));
    assert!(!asks_for_digest("/a/c/any-last-component", None));
}
