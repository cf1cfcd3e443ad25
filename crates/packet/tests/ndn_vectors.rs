//! Every vector under `vectors/ndn` says what is in it, or what is wrong with it; the decoders must say the
//! same, and the builders must write the same bytes again.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use cairn_packet::ndn::tlv::Reader;
use cairn_packet::ndn::{
    DataBuilder, DataView, InterestBuilder, InterestView, KeyLocator, SignatureInfo, SignatureInfoBuilder,
    ValidityPeriod, types,
};
use cairn_packet::{Buffer, Data, DecodeError, EncodeError, Interest, Name, NameRef, Nonce};
use sha2::{Digest as _, Sha256};
use testkit::bytes::hex;
use testkit::vectors::{Vector, load};

/// Keys that say where the bytes are from rather than what is in them.
const PROVENANCE: [&str; 3] = ["source", "kind", "about"];
/// Keys that another test of this file checks.
const CHECKED_APART: [&str; 2] = ["also-parses-from", "hmac-key"];

fn good() -> impl Iterator<Item = Vector> {
    load("ndn").into_iter().filter(|vector| vector.get("error").is_none())
}

fn bad() -> impl Iterator<Item = Vector> {
    load("ndn").into_iter().filter(|vector| vector.get("error").is_some())
}

/// What a decoder found, in the words of the vectors' headers.
type Fields = BTreeMap<&'static str, String>;

fn describe(kind: &str, wire: &[u8]) -> Result<Fields, DecodeError> {
    let mut fields = Fields::new();
    match kind {
        "ndn-name" => describe_name(decode_name(wire)?, &mut fields),
        "ndn-interest" => describe_interest(&InterestView::decode(wire)?, &mut fields),
        "ndn-data" => describe_data(&DataView::decode(wire)?, &mut fields),
        _ => panic!("{kind} is no kind of vector"),
    }
    Ok(fields)
}

fn decode_name(wire: &[u8]) -> Result<NameRef<'_>, DecodeError> {
    let mut reader = Reader::new(wire, "Name");
    let element = reader.required(types::NAME, "Name")?;
    reader.finish()?;
    NameRef::decode(element.value).map_err(|error| error.shifted(element.value_start))
}

fn describe_name(name: NameRef<'_>, fields: &mut Fields) {
    let (canonical, alternate) = (format!("{name:#}"), name.to_string());
    fields.insert("components", name.component_count().to_string());
    if alternate != canonical {
        fields.insert("name-alternate", alternate);
    }
    fields.insert("name", canonical);
}

fn describe_interest(view: &InterestView<'_>, fields: &mut Fields) {
    describe_name(view.name(), fields);
    assert_eq!(view.component_count(), view.name().component_count());
    fields.insert("can-be-prefix", view.can_be_prefix().to_string());
    fields.insert("must-be-fresh", view.must_be_fresh().to_string());
    let hints: Vec<String> = view.forwarding_hint().map(|name| format!("{name:#}")).collect();
    if !hints.is_empty() {
        fields.insert("forwarding-hint", hints.join(" "));
    }
    if let Some(nonce) = view.nonce() {
        fields.insert("nonce", format!("{:08x}", nonce.0));
    }
    if has_element(view.wire(), &[types::INTEREST_LIFETIME]) {
        fields.insert("lifetime-ms", view.lifetime().as_millis().to_string());
    } else {
        assert_eq!(view.lifetime(), cairn_packet::ndn::DEFAULT_LIFETIME);
    }
    if let Some(hops) = view.hop_limit() {
        fields.insert("hop-limit", hops.to_string());
    }
    if let Some(parameters) = view.application_parameters() {
        fields.insert("parameters-len", parameters.len().to_string());
    }
    if let Some(valid) = view.parameters_digest_is_valid() {
        fields.insert("parameters-digest-valid", valid.to_string());
    }
    if let Some(info) = view.signature_info() {
        describe_signature(&info, fields);
    }
    if let Some(signed) = view.signed_portion() {
        fields.insert("signed-len", signed.map(<[u8]>::len).sum::<usize>().to_string());
    }
}

fn describe_data(view: &DataView<'_>, fields: &mut Fields) {
    describe_name(view.name(), fields);
    assert_eq!(view.component_count(), view.name().component_count());
    fields.insert("content-type", view.content_type().0.to_string());
    if has_element(view.wire(), &[types::META_INFO, types::FRESHNESS_PERIOD]) {
        fields.insert("freshness-ms", view.freshness().as_millis().to_string());
    } else {
        assert_eq!(view.freshness().as_millis(), 0);
    }
    if let Some(component) = view.final_block() {
        fields.insert("final-block", format!("{component:#}"));
    }
    fields.insert("content-len", view.content().len().to_string());
    describe_signature(&view.signature_info().unwrap(), fields);
    let signed = view.signed_portion();
    let start = signed.as_ptr() as usize - view.wire().as_ptr() as usize;
    fields.insert("signed-range", format!("{start}..{}", start + signed.len()));
    fields.insert("implicit-digest", cairn_packet::hex::encode(&view.implicit_digest()));
}

fn describe_signature(info: &SignatureInfo<'_>, fields: &mut Fields) {
    fields.insert("signature-type", info.signature_type.0.to_string());
    match info.key_locator {
        Some(KeyLocator::Name(name)) => fields.insert("key-locator", format!("{name:#}")),
        Some(KeyLocator::Digest(digest)) => {
            fields.insert("key-locator", format!("key-digest {}", cairn_packet::hex::encode(digest)))
        }
        None => None,
    };
    if let Some(nonce) = info.nonce {
        fields.insert("signature-nonce", cairn_packet::hex::encode(nonce));
    }
    if let Some(time_ms) = info.time_ms {
        fields.insert("signature-time-ms", time_ms.to_string());
    }
    if let Some(number) = info.sequence_number {
        fields.insert("signature-seq-num", number.to_string());
    }
    if let Some(period) = info.validity_period {
        let [from, to] = validity(period);
        fields.insert("not-before", String::from_utf8(from.to_vec()).unwrap());
        fields.insert("not-after", String::from_utf8(to.to_vec()).unwrap());
    }
}

fn validity(period: &[u8]) -> [[u8; 15]; 2] {
    let mut reader = Reader::new(period, "ValidityPeriod");
    [types::NOT_BEFORE, types::NOT_AFTER]
        .map(|kind| reader.required(kind, "ValidityPeriod").unwrap().value.try_into().unwrap())
}

/// Whether the packet holds an element at this path below its outermost one.
fn has_element(wire: &[u8], path: &[u32]) -> bool {
    let mut inside = Reader::new(wire, "").element().unwrap().unwrap().value;
    path.iter().all(|&kind| {
        let mut reader = Reader::new(inside, "");
        let found = std::iter::from_fn(|| reader.element().unwrap()).find(|element| element.kind == kind);
        inside = found.map_or(&[], |element| element.value);
        found.is_some()
    })
}

#[test]
fn every_vector_has_the_fields_it_says_and_no_others() {
    let mut count = 0;
    for vector in good() {
        let described = describe(vector.kind(), &vector.bytes);
        let found = described.unwrap_or_else(|error| panic!("{}: {error}", vector.name));
        let found: BTreeMap<&str, &str> = found.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let apart = |key: &str| PROVENANCE.contains(&key) || CHECKED_APART.contains(&key);
        let said = vector.header.iter().filter(|(key, _)| !apart(key));
        let said: BTreeMap<&str, &str> = said.map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(said, found, "{}", vector.name);
        count += 1;
    }
    assert!(count >= 123, "only {count} vectors");
}

#[test]
fn every_erroneous_vector_is_refused_for_the_reason_and_at_the_byte_it_says() {
    let mut count = 0;
    for vector in bad() {
        match describe(vector.kind(), &vector.bytes) {
            Ok(_) => panic!("{} was accepted", vector.name),
            Err(DecodeError { field, offset, rule }) => {
                assert_eq!(Some(format!("{field} {rule}").as_str()), vector.get("error"), "{}", vector.name);
                assert_eq!(Some(offset.to_string().as_str()), vector.get("error-at"), "{}", vector.name);
            }
        }
        let keys = vector.header.iter().map(|(key, _)| key.as_str());
        for key in keys.filter(|key| !PROVENANCE.contains(key)) {
            assert!(["error", "error-at"].contains(&key), "{}: {key} says nothing of an error", vector.name);
        }
        count += 1;
    }
    assert!(count >= 82, "only {count} erroneous vectors");
}

#[test]
fn the_owned_packets_say_what_their_views_say() {
    for vector in good() {
        let buffer = Buffer::copy_from(&vector.bytes);
        let mut found = Fields::new();
        match vector.kind() {
            "ndn-interest" => {
                let interest = Interest::decode_ndn(buffer).unwrap();
                describe_interest(&interest.ndn().unwrap(), &mut found);
                assert_eq!(interest.name(), interest.ndn().unwrap().name());
                assert_eq!(interest.implicit_digest().is_some(), vector.name == "interest-implicit-digest");
            }
            "ndn-data" => {
                let data = Data::decode_ndn(buffer).unwrap();
                describe_data(&data.ndn().unwrap(), &mut found);
                assert_eq!(data.name(), data.ndn().unwrap().name());
                assert_eq!(data.implicit_digest(), data.ndn().unwrap().implicit_digest());
            }
            _ => continue,
        }
        assert_eq!(found, describe(vector.kind(), &vector.bytes).unwrap(), "{}", vector.name);
    }
}

/// The packet put together again from what the view of it says.
fn rebuild(kind: &str, wire: &[u8]) -> Result<Vec<u8>, EncodeError> {
    Ok(match kind {
        "ndn-name" => {
            let name = Name::from_components(decode_name(wire)?.components())?;
            let mut out = Vec::new();
            cairn_packet::ndn::tlv::write_element(&mut out, types::NAME, name.canonical());
            out
        }
        "ndn-interest" => rebuild_interest(&InterestView::decode(wire)?)?.wire().to_vec(),
        _ => rebuild_data(&DataView::decode(wire)?)?.wire().to_vec(),
    })
}

fn rebuild_interest(view: &InterestView<'_>) -> Result<Interest, EncodeError> {
    let mut builder = InterestBuilder::new(view.name().to_name())
        .can_be_prefix(view.can_be_prefix())
        .must_be_fresh(view.must_be_fresh())
        .forwarding_hint(view.forwarding_hint().map(NameRef::to_name).collect());
    if let Some(nonce) = view.nonce() {
        builder = builder.nonce(nonce.0);
    }
    if has_element(view.wire(), &[types::INTEREST_LIFETIME]) {
        builder = builder.lifetime(view.lifetime());
    }
    if let Some(hops) = view.hop_limit() {
        builder = builder.hop_limit(hops);
    }
    if let Some(parameters) = view.application_parameters() {
        builder = builder.application_parameters(parameters.to_vec());
    }
    match view.signature_info() {
        Some(info) => {
            let value = view.signature_value().unwrap_or_default().to_vec();
            builder.build_signed(&rebuild_signature_info(&info), |_| value)
        }
        None => builder.build(),
    }
}

fn rebuild_data(view: &DataView<'_>) -> Result<Data, EncodeError> {
    let mut builder = DataBuilder::new(view.name().to_name()).content_type(view.content_type());
    if has_element(view.wire(), &[types::META_INFO, types::FRESHNESS_PERIOD]) {
        builder = builder.freshness(view.freshness());
    }
    if let Some(component) = view.final_block() {
        builder = builder.final_block(component);
    }
    if has_element(view.wire(), &[types::CONTENT]) {
        builder = builder.content(view.content().to_vec());
    }
    let info = rebuild_signature_info(&view.signature_info().unwrap());
    builder.build_signed(&info, |signed| {
        let changed = signed != view.signed_portion();
        // A builder that cannot write the packet must not seem to have written it.
        if changed { Vec::new() } else { view.signature_value().to_vec() }
    })
}

fn rebuild_signature_info(info: &SignatureInfo<'_>) -> SignatureInfoBuilder {
    let mut builder = SignatureInfoBuilder::new(info.signature_type);
    builder = match info.key_locator {
        Some(KeyLocator::Name(name)) => builder.key_name(&name.to_name()),
        Some(KeyLocator::Digest(digest)) => builder.key_digest(digest.try_into().unwrap()),
        None => builder,
    };
    if let Some(nonce) = info.nonce.and_then(|nonce| nonce.try_into().ok()) {
        builder = builder.nonce(u64::from_be_bytes(nonce));
    }
    if let Some(time_ms) = info.time_ms {
        builder = builder.time_ms(time_ms);
    }
    if let Some(number) = info.sequence_number {
        builder = builder.sequence_number(number);
    }
    if let Some(period) = info.validity_period {
        builder = builder.validity_period(&ValidityPeriod::decode(period).unwrap());
    }
    builder
}

const SKIPPED: &str = "holds an element that decoders skip";
const EMPTY_META_INFO: &str = "a MetaInfo without anything in it is left out";
const WIDE: &str = "numbers are written in their shortest form, and ContentType 0 not at all";
const DIGEST: &str = "the parameters digest is always computed, and stands last";
const SIGNATURE: &str = "a signed Interest has a SignatureValue, and its nonce eight bytes";

/// Vectors that the builders cannot write, and why.
const NOT_WRITTEN: [(&str, &str); 20] = [
    ("data-certificate-ecdsa", "has AdditionalDescription, which decoders skip"),
    ("data-element-after-signature", SKIPPED),
    ("data-empty-metainfo", EMPTY_META_INFO),
    ("data-every-metainfo", WIDE),
    ("data-metainfo-application", SKIPPED),
    ("data-metainfo-application-odd", SKIPPED),
    ("data-unknown-not-critical", SKIPPED),
    ("interest-hop-limit-late", SKIPPED),
    ("interest-hop-limit-repeated", SKIPPED),
    ("interest-lifetime-wide", WIDE),
    ("interest-parameters-digest-missing", DIGEST),
    ("interest-parameters-digest-not-last", DIGEST),
    ("interest-parameters-digest-wrong", DIGEST),
    ("interest-parameters-repeated", SKIPPED),
    ("interest-parameters-unknown-after", SKIPPED),
    ("interest-reserved-126", SKIPPED),
    ("interest-signature-info-alone", SIGNATURE),
    ("interest-signature-nonce-only", SIGNATURE),
    ("interest-unknown-not-critical", SKIPPED),
    ("ndnpoke-data", EMPTY_META_INFO),
];

#[test]
fn every_vector_is_written_again_to_the_same_bytes_but_for_those_that_no_builder_can_write() {
    let mut others: Vec<String> = good()
        .filter(|vector| rebuild(vector.kind(), &vector.bytes).as_ref() != Ok(&vector.bytes))
        .map(|vector| vector.name)
        .collect();
    others.sort_unstable();
    assert_eq!(others, NOT_WRITTEN.map(|(name, _)| name));
}

#[test]
fn a_name_is_read_from_every_uri_it_may_be_written_as() {
    let mut count = 0;
    for vector in good() {
        let Some(expected) = describe(vector.kind(), &vector.bytes).unwrap().remove("name") else {
            panic!("{} has no name", vector.name)
        };
        let uris =
            ["name", "name-alternate", "also-parses-from"].into_iter().filter_map(|key| vector.get(key));
        for uri in uris.flat_map(str::split_whitespace) {
            let name: Name = uri.parse().unwrap_or_else(|error| panic!("{}: {uri}: {error}", vector.name));
            assert_eq!(format!("{name:#}"), expected, "{}: {uri}", vector.name);
            count += 1;
        }
    }
    assert!(count >= 180, "only {count} URIs");
}

#[test]
fn a_nonce_and_a_hop_limit_can_be_written_into_every_interest_and_change_nothing_else() {
    for vector in good().filter(|vector| vector.kind() == "ndn-interest" && vector.bytes.len() < 8700) {
        let mut expected = describe(vector.kind(), &vector.bytes).unwrap();
        let mut interest = Interest::decode_ndn(Buffer::copy_from(&vector.bytes)).unwrap();
        interest.set_nonce(Nonce(0xaabb_ccdd)).unwrap();
        expected.insert("nonce", "aabbccdd".to_owned());
        assert_eq!(describe(vector.kind(), interest.wire()).unwrap(), expected, "{}", vector.name);
        interest.add_hop_limit(9).unwrap();
        expected.entry("hop-limit").or_insert("9".to_owned());
        assert_eq!(describe(vector.kind(), interest.wire()).unwrap(), expected, "{}", vector.name);
        interest.set_hop_limit(8);
        expected.insert("hop-limit", "8".to_owned());
        assert_eq!(describe(vector.kind(), interest.wire()).unwrap(), expected, "{}", vector.name);
    }
}

/// HMAC (RFC 2104) with SHA-256, of a key of at most one block.
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let padded = |pad: u8| {
        let mut block = [pad; 64];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().into()
}

#[test]
fn the_signed_bytes_are_those_the_signatures_were_made_over() {
    let (mut hmacs, mut digests) = (0, 0);
    for vector in good().filter(|vector| vector.kind() != "ndn-name") {
        let (signed, value) = if vector.kind() == "ndn-data" {
            let view = DataView::decode(&vector.bytes).unwrap();
            (view.signed_portion().to_vec(), view.signature_value())
        } else {
            let view = InterestView::decode(&vector.bytes).unwrap();
            match (view.signed_portion(), view.signature_value()) {
                (Some(signed), Some(value)) => (signed.collect::<Vec<_>>().concat(), value),
                _ => continue,
            }
        };
        if let Some(key) = vector.get("hmac-key") {
            assert_eq!(value, hmac(&hex(key), &signed), "{}", vector.name);
            hmacs += 1;
        } else if vector.get("signature-type") == Some("0") && value == &Sha256::digest(&signed)[..] {
            digests += 1;
        }
    }
    assert_eq!(hmacs, 3);
    assert!(digests >= 20, "only {digests} digests are right");
}
