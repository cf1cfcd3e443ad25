//! Messages in ccnb: Interests, ContentObjects and what wraps them. What decodes is framed as one message,
//! can be read in every field, hashes as its name does, and is the same message when it is encoded again.

#![no_main]

use packet::ccnx::content_object::assemble;
use packet::ccnx::pdu::{unwrap_pdu, wrap_pdu};
use packet::ccnx::{self, ContentObjectFields, ContentObjectView, Framer, InterestView, Message};
use packet::{Buffer, Data, Dialect, EncodeError, Interest, NameHasher, NameRef, Nonce, PrefixHashes};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check_framing(bytes);
    check_first_packet(bytes);
    match Message::decode(bytes) {
        Ok(message) => check_message(bytes, message),
        Err(error) => assert!(error.offset <= bytes.len(), "{error}"),
    }
});

fn check_message(wire: &[u8], message: Message<'_>) {
    assert_eq!(ccnx::message_len(wire), Ok(Some(wire.len())), "a message is one whole element");
    match message {
        Message::Interest(interest) => check_interest(interest),
        Message::ContentObject(object) => check_object(object),
        Message::SequenceNumber(number) => {
            assert_eq!(ccnx::SequenceNumber::decode(&number.encode()), Ok(number));
        }
        Message::Pdu(inside) => {
            assert_eq!(unwrap_pdu(&wrap_pdu(inside)), Ok(inside));
            let mut rest = inside;
            while !rest.is_empty() {
                let len = ccnx::message_len(rest).expect("whole elements").expect("nothing is cut off");
                rest = &rest[len..];
            }
        }
        Message::Other(element) => assert_eq!(element, wire),
    }
}

/// The packet that is read from the start of some bytes is the one that is cut off first and read then.
fn check_first_packet(bytes: &[u8]) {
    let cut = ccnx::message_len(bytes).ok().flatten().map(|len| &bytes[..len]);
    let read = cut
        .filter(|wire| matches!(Message::decode(wire), Ok(Message::Interest(_) | Message::ContentObject(_))));
    let interest = InterestView::decode_first_after(bytes, (&[], 0)).map(|view| view.wire());
    let first =
        interest.or_else(|_| ContentObjectView::decode_first_asking(bytes, |_| None).map(|view| view.wire()));
    assert_eq!(first.ok(), read);
}

/// A stream that arrives byte by byte is cut where one that arrives at once is.
fn check_framing(bytes: &[u8]) {
    let at_once = ccnx::message_len(bytes);
    // Long inputs add nothing but time.
    let Some(bytes) = Some(bytes).filter(|bytes| bytes.len() <= 512) else { return };
    let mut framer = Framer::new(usize::MAX);
    let mut piecewise = Ok(None);
    for end in 0..=bytes.len() {
        piecewise = framer.scan(&bytes[..end]);
        match piecewise {
            Ok(None) => {}
            Ok(Some(len)) => {
                assert!(len <= end);
                break;
            }
            Err(_) => break,
        }
    }
    assert_eq!(piecewise, at_once);
}

fn check_interest(interest: InterestView<'_>) {
    let wire = interest.wire();
    check_hashes(&interest.name().to_name().expect("a name from the wire").as_ref(), |hasher, hashes| {
        InterestView::decode_hashed(wire, hasher, hashes).is_ok()
    });
    let fields = interest.fields();
    match fields.encode(interest.name()) {
        Ok(again) => {
            let again = InterestView::decode(&again).expect("an Interest that was written can be read");
            assert_eq!(again.name(), interest.name());
            assert_eq!(again.fields(), fields);
        }
        Err(EncodeError::TooLarge { size, limit }) => assert!(size > limit),
        Err(EncodeError::Invalid(error)) => panic!("what was read cannot be written: {error}"),
    }
    let mut owned = Interest::decode_ccnx(Buffer::copy_from(wire)).expect("it decodes once more");
    let before = owned.clone();
    if owned.set_nonce(Nonce(7)).is_ok() {
        assert_eq!(owned.nonce(), Some(Nonce(7)));
        assert_eq!((owned.name(), owned.lifetime()), (before.name(), before.lifetime()));
    }
}

fn check_object(object: ContentObjectView<'_>) {
    let wire = object.wire();
    let name = object.name().to_name().expect("a name from the wire");
    check_hashes(&name.as_ref(), |hasher, hashes| {
        ContentObjectView::decode_hashed(wire, hasher, hashes).is_ok()
    });
    assert_eq!(object.signed_bytes(), &wire[object.signed_range()]);

    let fields = ContentObjectFields {
        name: object.name().into(),
        signed_info: object.signed_info(),
        content: object.content(),
    };
    let again = fields.signed_bytes().and_then(|signed| assemble(&object.signature(), &signed));
    match again {
        Ok(again) => {
            let again = ContentObjectView::decode(&again).expect("an object that was written can be read");
            check_same_object(again, object);
        }
        Err(EncodeError::TooLarge { size, limit }) => assert!(size > limit),
        Err(EncodeError::Invalid(error)) => panic!("what was read cannot be written: {error}"),
    }
    let owned = Data::decode_ccnx(Buffer::copy_from(wire)).expect("it decodes once more");
    assert_eq!(owned.implicit_digest(), object.implicit_digest());
    assert_eq!(owned.content(), object.content());
}

fn check_same_object(one: ContentObjectView<'_>, other: ContentObjectView<'_>) {
    assert_eq!(one.name(), other.name());
    assert_eq!(one.signature(), other.signature());
    assert_eq!(one.publisher(), other.publisher());
    assert_eq!(one.timestamp(), other.timestamp());
    assert_eq!(one.kind(), other.kind());
    assert_eq!(one.freshness_seconds(), other.freshness_seconds());
    assert_eq!(one.final_block_id(), other.final_block_id());
    assert_eq!(one.key_locator().is_some(), other.key_locator().is_some());
    assert_eq!(one.content(), other.content());
}

/// The hashes that decoding computes are those of the name.
fn check_hashes(name: &NameRef<'_>, decode: impl FnOnce(&NameHasher, &mut PrefixHashes) -> bool) {
    let hasher = NameHasher::new([1, 2]);
    let mut hashes = PrefixHashes::default();
    assert!(decode(&hasher, &mut hashes), "hashing does not change the verdict");
    let expected = hasher.hash(Dialect::Ccnx, name.components());
    assert_eq!(hashes.whole(), expected.whole());
    assert_eq!(hashes.component_count(), name.component_count());
}
