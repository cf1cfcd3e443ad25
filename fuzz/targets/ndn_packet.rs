//! Interest and Data. What decodes can be read in every field, hashes as its name does, and is the same
//! packet when it is built again from its fields.

#![no_main]

use packet::ndn::{
    DataBuilder, DataView, InterestBuilder, InterestView, SignatureInfo, SignatureInfoBuilder,
};
use packet::ndn::{KeyLocator, SignatureType, tlv};
use packet::{Buffer, Data, Dialect, Interest, NameHasher, NameRef, Nonce, PrefixHashes};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    match InterestView::decode(bytes) {
        Ok(interest) => check_interest(interest),
        Err(error) => assert!(error.offset <= bytes.len(), "{error}"),
    }
    match DataView::decode(bytes) {
        Ok(data) => check_data(data),
        Err(error) => assert!(error.offset <= bytes.len(), "{error}"),
    }
});

fn check_interest(interest: InterestView<'_>) {
    check_name(interest.name(), interest.component_count());
    assert!(interest.component_count() > 0);
    check_hashes(interest.name(), |hasher, hashes| {
        InterestView::decode_hashed(interest.wire(), hasher, hashes).is_ok()
    });
    for name in interest.forwarding_hint() {
        check_name(name, name.component_count());
    }
    if let Some(info) = interest.signature_info() {
        check_signature_info(info);
        let signed: Vec<&[u8]> =
            interest.signed_portion().expect("a signed Interest has signed bytes").collect();
        assert!(signed.concat().len() < interest.wire().len());
    }
    let _ = (interest.parameters_digest_is_valid(), interest.signature_value(), interest.lifetime());

    let owned = Interest::decode_ndn(Buffer::copy_from(interest.wire())).expect("it decodes once more");
    check_same_interest(owned.ndn().expect("it is an NDN Interest"), interest);
    check_forwarders_changes(&owned);
    rebuild_interest(interest);
}

/// A forwarder changes the Nonce and the HopLimit, and nothing else with them.
fn check_forwarders_changes(interest: &Interest) {
    let digest_is_valid =
        |interest: &Interest| interest.ndn().and_then(|view| view.parameters_digest_is_valid());
    let before = interest;
    let mut changed = interest.clone();
    if changed.set_nonce(Nonce(7)).is_ok() {
        assert_eq!(changed.nonce(), Some(Nonce(7)));
        assert_eq!(changed.hop_limit(), before.hop_limit());
        assert_eq!(changed.distinguishing_bytes(), before.distinguishing_bytes());
        assert_eq!(digest_is_valid(&changed), digest_is_valid(before));
    } else {
        assert!(before.nonce().is_none(), "a Nonce that is there can always be replaced");
        let grown_bytes = before.wire().len() + 6 + 2;
        assert!(grown_bytes > tlv::MAX_PACKET_BYTES, "only a full packet has no room for a Nonce");
    }
    let mut changed = interest.clone();
    changed.set_hop_limit(9);
    assert_eq!(changed.hop_limit(), before.hop_limit().map(|_| 9));
    assert_eq!((changed.name(), changed.nonce()), (before.name(), before.nonce()));
    assert_eq!(changed.wire().len(), before.wire().len());
    assert_eq!(interest.hop_limit(), before.hop_limit(), "the original is not touched");
}

/// Builds the Interest again from its fields. Only unsigned ones, and only where the name has no digest of
/// its own.
fn rebuild_interest(interest: InterestView<'_>) {
    if interest.parameters_digest_is_valid().is_some() {
        return;
    }
    let mut builder = InterestBuilder::new(interest.name().to_name())
        .can_be_prefix(interest.can_be_prefix())
        .must_be_fresh(interest.must_be_fresh())
        .forwarding_hint(interest.forwarding_hint().map(|name| name.to_name()).collect())
        .lifetime(interest.lifetime());
    if let Some(Nonce(nonce)) = interest.nonce() {
        builder = builder.nonce(nonce);
    }
    if let Some(hops) = interest.hop_limit() {
        builder = builder.hop_limit(hops);
    }
    // The lifetime is written out, so the packet may have grown beyond the limit.
    if let Ok(again) = builder.build() {
        check_same_interest(again.ndn().expect("it is an NDN Interest"), interest);
    }
}

fn check_same_interest(one: InterestView<'_>, other: InterestView<'_>) {
    assert_eq!(one.name(), other.name());
    assert_eq!(one.can_be_prefix(), other.can_be_prefix());
    assert_eq!(one.must_be_fresh(), other.must_be_fresh());
    assert!(one.forwarding_hint().eq(other.forwarding_hint()));
    assert_eq!(one.nonce(), other.nonce());
    // Times beyond 584 years saturate at a nanosecond that is no whole millisecond.
    assert_eq!(one.lifetime().as_millis(), other.lifetime().as_millis());
    assert_eq!(one.hop_limit(), other.hop_limit());
    assert_eq!(one.application_parameters(), other.application_parameters());
    assert_eq!(one.signature_info(), other.signature_info());
    assert_eq!(one.signature_value(), other.signature_value());
}

fn check_data(data: DataView<'_>) {
    check_name(data.name(), data.component_count());
    check_hashes(data.name(), |hasher, hashes| DataView::decode_hashed(data.wire(), hasher, hashes).is_ok());
    let info = data.signature_info().expect("a Data has a SignatureInfo");
    check_signature_info(info);
    assert!(data.signed_portion().len() + data.signature_value().len() < data.wire().len());
    let owned = Data::decode_ndn(Buffer::copy_from(data.wire())).expect("it decodes once more");
    assert_eq!(owned.implicit_digest(), data.implicit_digest());
    check_same_data(owned.ndn().expect("it is an NDN Data"), data);
    rebuild_data(data, info);
}

fn rebuild_data(data: DataView<'_>, info: SignatureInfo<'_>) {
    let mut builder = DataBuilder::new(data.name().to_name())
        .content_type(data.content_type())
        .freshness(data.freshness())
        .content(data.content().to_vec());
    if let Some(component) = data.final_block() {
        builder = builder.final_block(component);
    }
    let signature = data.signature_value();
    // Every field is written out, so the packet may have grown beyond the limit.
    if let Ok(again) = builder.build_signed(&rebuild_signature_info(info), |_| signature.to_vec()) {
        check_same_data(again.ndn().expect("it is an NDN Data"), data);
    }
}

fn rebuild_signature_info(info: SignatureInfo<'_>) -> SignatureInfoBuilder {
    let builder = SignatureInfoBuilder::new(SignatureType(info.signature_type.0));
    match info.key_locator {
        Some(KeyLocator::Name(name)) => builder.key_name(&name.to_name()),
        Some(KeyLocator::Digest(digest)) => match digest.try_into() {
            Ok(digest) => builder.key_digest(digest),
            Err(_) => builder,
        },
        None => builder,
    }
}

fn check_same_data(one: DataView<'_>, other: DataView<'_>) {
    assert_eq!(one.name(), other.name());
    assert_eq!(one.content_type(), other.content_type());
    assert_eq!(one.freshness().as_millis(), other.freshness().as_millis());
    assert_eq!(one.final_block(), other.final_block());
    assert_eq!(one.content(), other.content());
    assert_eq!(one.signature_value(), other.signature_value());
    let signature_type = |data: DataView<'_>| data.signature_info().map(|info| info.signature_type);
    assert_eq!(signature_type(one), signature_type(other));
}

fn check_signature_info(info: SignatureInfo<'_>) {
    if let Some(KeyLocator::Name(name)) = info.key_locator {
        check_name(name, name.component_count());
    }
    assert!(info.nonce.is_none_or(|nonce| !nonce.is_empty()));
}

fn check_name(name: NameRef<'_>, component_count: usize) {
    assert_eq!(name.component_count(), component_count);
    assert_eq!(NameRef::decode(name.canonical()), Ok(name), "a name in a packet is in canonical form");
}

/// The hashes that decoding computes are those of the name.
fn check_hashes(name: NameRef<'_>, decode: impl FnOnce(&NameHasher, &mut PrefixHashes) -> bool) {
    let hasher = NameHasher::new([1, 2]);
    let mut hashes = PrefixHashes::default();
    assert!(decode(&hasher, &mut hashes), "hashing does not change the verdict");
    let expected = hasher.hash(Dialect::Ndn, name.components());
    assert_eq!(hashes.whole(), expected.whole());
    assert_eq!(hashes.component_count(), name.component_count());
    for length in 0..=hashes.longest_known_prefix() {
        assert_eq!(hashes.prefix(length), expected.prefix(length));
    }
}
