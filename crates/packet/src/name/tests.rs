use super::*;
use crate::error::Rule;
use proptest::prelude::*;

fn name(uri: &str) -> Name {
    uri.parse().unwrap_or_else(|error| panic!("{uri}: {error}"))
}

fn bytes(name: &Name) -> Vec<u8> {
    name.canonical().to_vec()
}

#[test]
fn components_encode_as_the_specification_shows() {
    assert_eq!(bytes(&name("/A")), [8, 1, 0x41]);
    assert_eq!(bytes(&name("/v=0")), [0x36, 1, 0]);
    assert_eq!(bytes(&name("/seg=256")), [0x32, 2, 1, 0]);
    assert_eq!(bytes(&name("/v=1617592200702")), [0x36, 8, 0, 0, 1, 0x78, 0xa0, 2, 0x2d, 0xfe]);
    assert_eq!(bytes(&name("/32=metadata")), b"\x20\x08metadata");
    assert_eq!(bytes(&name("/...")), [8, 0]);
    assert_eq!(bytes(&name("/42=...")), [42, 0]);
    assert_eq!(bytes(&name("/.....")), b"\x08\x02..");
    assert_eq!(bytes(&name("/65535=%FF")), [0xfd, 0xff, 0xff, 1, 0xff]);
}

#[test]
fn uris_print_in_one_form_and_parse_in_many() {
    for (input, output) in [
        ("ndn:/A/B", "/A/B"),
        ("NDN:/A/B/", "/A/B"),
        ("ndn://authority/A", "/A"),
        ("ndn://authority", "/"),
        ("/", "/"),
        ("/8=A", "/A"),
        ("/54=%05", "/v=5"),
        ("/54=%00%05", "/54=%00%05"),
        ("/50=abc", "/50=abc"),
        ("/a%2fb", "/a%2Fb"),
        ("/%41~", "/A~"),
        ("/a//b", "/a/.../b"),
        ("/....", "/...."),
        ("/t=1/seq=2/off=3", "/t=1/seq=2/off=3"),
    ] {
        assert_eq!(name(input).to_string(), output, "{input}");
        assert_eq!(name(output).to_string(), output);
    }
    let digest = "0123456789abcdef".repeat(4);
    let full = name(&format!("/A/sha256digest={}", digest.to_uppercase()));
    assert_eq!(full.to_string(), format!("/A/sha256digest={digest}"));
    assert_eq!(format!("{:#}", name("/A/v=5").as_ref()), "/A/54=%05");
}

#[test]
fn uris_that_are_not_names_say_why() {
    use UriError::*;
    for (input, expected) in [
        ("A/B", NoSlash),
        ("", NoSlash),
        ("http://A", Scheme),
        ("/a%2", Escape("a%2".into())),
        ("/a%zz", Escape("a%zz".into())),
        ("/.", Periods(".".into())),
        ("/a/..", Periods("..".into())),
        ("/0=a", Kind("0=a".into())),
        ("/65536=a", Kind("65536=a".into())),
        ("/x=a", Kind("x=a".into())),
        ("/seg=007", Value("seg=007".into(), "decimal number")),
        ("/v=18446744073709551616", Value("v=18446744073709551616".into(), "decimal number")),
        ("/sha256digest=00", Value("sha256digest=00".into(), "digest of 64 hex digits")),
    ] {
        assert_eq!(input.parse::<Name>(), Err(expected), "{input}");
    }
    assert!(matches!("/1=ab".parse::<Name>(), Err(Malformed(DecodeError { rule: Rule::BadLength(2), .. }))));
}

#[test]
fn canonical_order_is_by_type_then_length_then_bytes_with_prefixes_first() {
    let digest = format!("/sha256digest={}", "ff".repeat(32));
    let sorted =
        ["/", &digest, "/...", "/A", "/A/A", "/A/B", "/B", "/AA", "/32=A", "/v=1", "/v=256", "/300=A"];
    for pair in sorted.windows(2) {
        assert!(name(pair[0]) < name(pair[1]), "{pair:?}");
    }
}

#[test]
fn prefixes_are_counted_in_components() {
    let whole = name("/a/b/c");
    assert_eq!(whole.prefix(0), Name::root());
    assert_eq!(whole.prefix(2), name("/a/b"));
    assert_eq!(whole.prefix(9), whole);
    assert!(name("/a").as_ref().is_prefix_of(whole.as_ref()));
    assert!(whole.as_ref().is_prefix_of(whole.as_ref()));
    assert!(!name("/a/bb").as_ref().is_prefix_of(whole.as_ref()));
    assert!(!whole.as_ref().is_prefix_of(name("/a").as_ref()));
    assert_eq!(whole.as_ref().last().map(|c| c.value), Some(&b"c"[..]));
    assert_eq!(whole.with(Component::generic(b"d")).unwrap(), name("/a/b/c/d"));
}

#[test]
fn malformed_canonical_bytes_are_refused_where_they_stand() {
    for (bytes, field, offset, rule) in [
        (&[8u8, 2, 0x41][..], "Name", 0, Rule::Truncated { missing: 1 }),
        (&[8, 1, 0x41, 0, 0], "Name", 3, Rule::TypeOutOfRange(0)),
        (&[0xfe, 0, 1, 0, 0, 0], "NameComponent", 0, Rule::TypeOutOfRange(65536)),
        (&[0xfd, 0, 8, 0], "Name", 0, Rule::NotShortest),
        (&[8, 0xfd, 0, 1, 0x41], "Name", 1, Rule::NotShortest),
        (&[8, 0, 1, 3, 1, 2, 3], "ImplicitSha256DigestComponent", 2, Rule::BadLength(3)),
        (&[2, 0], "ParametersSha256DigestComponent", 0, Rule::BadLength(0)),
    ] {
        assert_eq!(NameRef::decode(bytes), Err(DecodeError::new(field, offset, rule)), "{bytes:?}");
    }
    let twice = [&[2u8, 32][..], &[0; 32], &[2, 32], &[0; 32]].concat();
    assert_eq!(
        NameRef::decode(&twice),
        Err(DecodeError::new("ParametersSha256DigestComponent", 34, Rule::OutOfOrder))
    );
}

fn any_component() -> impl Strategy<Value = (u16, Vec<u8>)> {
    (
        prop_oneof![Just(8u16), Just(32), Just(50), Just(54), 3..=u16::MAX],
        prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..12),
            proptest::collection::vec(Just(b'.'), 0..6)
        ],
    )
}

proptest! {
    #[test]
    fn every_name_survives_both_uri_forms(parts in proptest::collection::vec(any_component(), 0..8)) {
        let original = Name::from_components(
            parts.iter().map(|(kind, value)| Component::new(ComponentKind::new(*kind).unwrap(), value)),
        ).unwrap();
        prop_assert_eq!(&name(&original.to_string()), &original);
        prop_assert_eq!(&name(&format!("{:#}", original.as_ref())), &original);
        prop_assert_eq!(original.components().count(), parts.len());
    }

    #[test]
    fn byte_order_is_component_order(
        a in proptest::collection::vec(any_component(), 0..4),
        b in proptest::collection::vec(any_component(), 0..4),
    ) {
        let make = |parts: &[(u16, Vec<u8>)]| Name::from_components(
            parts.iter().map(|(kind, value)| Component::new(ComponentKind::new(*kind).unwrap(), value)),
        ).unwrap();
        let (a, b) = (make(&a), make(&b));
        prop_assert_eq!(a.cmp(&b), a.components().cmp(b.components()));
    }

    #[test]
    fn no_bytes_make_the_decoder_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(name) = NameRef::decode(&bytes) {
            prop_assert_eq!(name.to_name().to_string().parse::<Name>().unwrap(), name.to_name());
        }
    }
}
