//! Names as text, in the URIs of both dialects. Whatever parses prints as a text that parses to the same
//! name, in every form; so does every name that comes from the wire.

#![no_main]

use packet::ccnx::uri::{self, Escaping};
use packet::{ComponentKind, Name, NameRef};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        for name in [text.parse::<Name>().ok(), uri::parse(text).ok()].into_iter().flatten() {
            NameRef::decode(name.canonical()).expect("a parsed name is in canonical form");
            check_text(&name);
        }
    }
    if let Ok(name) = NameRef::decode(bytes) {
        assert_eq!(name.components().count(), name.component_count());
        check_components(name);
        check_text(&name.to_name());
    }
});

fn check_text(name: &Name) {
    for text in [format!("{name}"), format!("{name:#}")] {
        match text.parse::<Name>() {
            Ok(again) => assert_eq!(&again, name, "{text}"),
            Err(error) => panic!("{text}: {error}"),
        }
    }
    if name.components().any(|component| component.kind != ComponentKind::GENERIC) {
        return;
    }
    for escaping in [Escaping::Percent, Escaping::Mixed] {
        let text = uri::format(name.components().map(|component| component.value), escaping);
        match uri::parse(&text) {
            Ok(again) => assert_eq!(&again, name, "{text}"),
            Err(error) => panic!("{text}: {error}"),
        }
    }
}

fn check_components(name: NameRef<'_>) {
    let again = Name::from_components(name.components()).expect("the components of a name make a name");
    assert_eq!(again.as_ref(), name);
    let count = name.component_count();
    for length in 0..=count.min(8) {
        let prefix = name.prefix(length);
        assert_eq!(prefix.component_count(), length);
        assert!(prefix.is_prefix_of(name));
        assert!(prefix <= name, "a prefix sorts before what it is a prefix of");
        assert_eq!(name.component(length).is_some(), length < count);
    }
}
