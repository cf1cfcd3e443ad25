//! Every element that the protocols have is shown as a field of its name.

use super::frames::{self, CCNX, Direction, NDN, ethernet, in_turn, udp};
use super::tshark::Tshark;

/// The dictionary of CCNx 0.8 and what ndnld adds to it. Those of NDNLP are fields of that protocol.
const DICTIONARY: &str = "\
13 Any, 14 Name, 15 Component, 16 Certificate, 17 Collection, 18 CompleteName, 19 Content, 20 SignedInfo, \
21 ContentDigest, 22 ContentHash, 24 Count, 25 Header, 26 Interest, 27 Key, 28 KeyLocator, 29 KeyName, \
30 Length, 31 Link, 32 LinkAuthenticator, 33 NameComponentCount, 34 ExtOpt, 36 RootDigest, 37 Signature, \
38 Start, 39 Timestamp, 40 Type, 41 Nonce, 42 Scope, 43 Exclude, 44 Bloom, 45 BloomSeed, \
47 AnswerOriginKind, 48 InterestLifetime, 53 Witness, 54 SignatureBits, 55 DigestAlgorithm, 56 BlockSize, \
58 FreshnessSeconds, 59 FinalBlockID, 60 PublisherPublicKeyDigest, 61 PublisherCertificateDigest, \
62 PublisherIssuerKeyDigest, 63 PublisherIssuerCertificateDigest, 64 ContentObject, 65 WrappedKey, \
66 WrappingKeyIdentifier, 67 WrapAlgorithm, 68 KeyAlgorithm, 69 Label, 70 EncryptedKey, \
71 EncryptedNonceKey, 72 WrappingKeyName, 73 Action, 74 FaceID, 75 IPProto, 76 Host, 77 Port, \
78 MulticastInterface, 79 ForwardingFlags, 80 FaceInstance, 81 ForwardingEntry, 82 MulticastTTL, \
83 MinSuffixComponents, 84 MaxSuffixComponents, 85 ChildSelector, 86 RepositoryInfo, 87 Version, \
88 RepositoryVersion, 89 GlobalPrefix, 90 LocalName, 91 Policy, 92 Namespace, 93 GlobalPrefixName, \
94 PolicyVersion, 95 KeyValueSet, 96 KeyValuePair, 97 IntegerValue, 98 DecimalValue, 99 StringValue, \
100 BinaryValue, 101 NameValue, 102 Entry, 103 ACL, 104 ParameterizedName, 105 Prefix, 106 Suffix, \
107 Root, 108 ProfileName, 109 Parameters, 110 InfoString, 112 StatusResponse, 113 StatusCode, \
114 StatusText, 115 SyncNode, 116 SyncNodeKind, 117 SyncNodeElement, 118 SyncVersion, \
119 SyncNodeElements, 120 SyncContentHash, 121 SyncLeafCount, 122 SyncTreeDepth, 123 SyncByteCount, \
124 SyncConfigSlice, 125 SyncConfigSliceList, 126 SyncConfigSliceOp, 127 SyncNodeDeltas, \
144 StrategySelection, 145 StrategyID, 146 StrategyParameters, 256 SequenceNumber, \
17702112 CCNProtocolDataUnit, 20653264 NdnldConnection, 20653265 NdnldLowerProtocol, \
20653266 NdnldLocalInterface, 20653267 NdnldSentPktsCapacity, 20653268 NdnldRetransmitCount, \
20653269 NdnldRetransmitTime, 20653270 NdnldAcknowledgeTime";

/// What is in a packet of NDNLP, the conventions of names, filters and signatures, and the link protocol of
/// NDN: shown for at least one of the packets below or of the vectors.
const OTHERS: &[&str] = &[
    "ndnlp.data",
    "ndnlp.sequence",
    "ndnlp.flags",
    "ndnlp.frag_index",
    "ndnlp.frag_count",
    "ndnlp.payload",
    "ndnlp.ack",
    "ndnlp.ack_block",
    "ndnlp.sequence_base",
    "ndnlp.bitmap",
    "ndnlp.acknowledges",
    "ccnx.segment",
    "ccnx.byte_offset",
    "ccnx.name_version",
    "ccnx.command",
    "ccnx.bloom.lg_bits",
    "ccnx.bloom.hashes",
    "ccnx.bloom.method",
    "ccnx.bloom.seed",
    "ccnx.bloom.bits",
    "ccnx.witness.node",
    "ccnx.witness.hash",
    "ndnlpv2.sequence",
    "ndnlpv2.frag_index",
    "ndnlpv2.frag_count",
    "ndnlpv2.pit_token",
    "ndnlpv2.nack",
    "ndnlpv2.nack_reason",
    "ndnlpv2.incoming_face_id",
    "ndnlpv2.next_hop_face_id",
    "ndnlpv2.cache_policy",
    "ndnlpv2.cache_policy_type",
    "ndnlpv2.congestion_mark",
    "ndnlpv2.ack",
    "ndnlpv2.tx_sequence",
    "ndnlpv2.non_discovery",
    "ndnlpv2.prefix_announcement",
    "ndnlpv2.explicit_rate",
    "ndnlpv2.echo_request",
    "ndnlpv2.receive_capacity",
    "ndnlpv2.echo_reply",
    "ndnlpv2.padding",
    "ndnlpv2.parity",
    "ndnlpv2.unknown",
    "ndnlpv2.fragment",
];

/// A block header of ccnb: its number in base 128, the last four bits of it and the type in the last byte.
pub(super) fn block(number: u32, kind: u8) -> Vec<u8> {
    let mut bytes = vec![0x80 | ((number & 15) as u8) << 3 | kind];
    let mut rest = number >> 4;
    while rest > 0 {
        bytes.insert(0, (rest & 127) as u8);
        rest >>= 7;
    }
    bytes
}

/// An element of ccnb with this in it.
pub(super) fn element(tag: u32, inner: &[u8]) -> Vec<u8> {
    [&block(tag, 2), inner, &[0]].concat()
}

/// A value of bytes.
pub(super) fn blob(bytes: &[u8]) -> Vec<u8> {
    [&block(bytes.len() as u32, 5), bytes].concat()
}

fn text(text: &str) -> Vec<u8> {
    [&block(text.len() as u32, 6), text.as_bytes()].concat()
}

/// The name of a field: small letters, words apart.
fn snake(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut words = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| letters.get(at));
        let is_next_small = letters.get(at + 1).is_some_and(char::is_ascii_lowercase);
        let begins = letter.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase() || before.is_ascii_uppercase() && is_next_small
            });
        if begins {
            words.push('_');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

/// A witness: the object's digest is node 5 of the tree, and two digests lead to its root.
fn witness() -> Vec<u8> {
    let der = |tag: u8, inner: &[u8]| [&[tag, inner.len() as u8], inner].concat();
    let hashes = der(0x30, &[der(4, &[1; 32]), der(4, &[2; 32])].concat());
    let path = der(0x30, &[der(2, &[5]), hashes].concat());
    let algorithm = der(0x30, &der(6, &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 11, 2, 2]));
    der(0x30, &[algorithm, der(4, &path)].concat())
}

fn packets() -> Result<Vec<Vec<u8>>, String> {
    let mut packets = Vec::new();
    for entry in DICTIONARY.split(", ") {
        let number = entry.split(' ').next().unwrap_or_default();
        let tag: u32 = number.parse().map_err(|error| format!("{entry}: {error}"))?;
        for inner in [Vec::new(), text("1"), blob(&[7; 6]), blob(&[7; 32])] {
            packets.push(udp(Direction::There, CCNX, &element(tag, &inner)));
        }
    }
    packets.push(udp(Direction::There, CCNX, &element(53, &blob(&witness()))));
    let offset = element(14, &element(15, &blob(&[0xfb, 1, 0])));
    packets.push(udp(Direction::There, CCNX, &offset));
    // An LpPacket with the fields that are Cairn's own, and one that nobody has.
    let number = [1, 2, 3, 4, 5, 6, 7, 8];
    let mut fields = vec![0xfd, 3, 0x24, 0];
    for (kind, value) in
        [(0xa8, &number[..1]), (0xac, &number), (0xb0, &number[..4]), (0xb4, &number), (0xb8, &[0; 20])]
    {
        fields.extend([0xfd, 3, kind, value.len() as u8]);
        fields.extend(value);
    }
    packets.push(udp(Direction::There, NDN, &[&[100, fields.len() as u8], &fields[..]].concat()));
    for dialect in ["ccnx", "ndn-lp"] {
        for vector in testkit::vectors::load(dialect) {
            packets.push(match vector.kind() {
                "ndn-lp" => udp(Direction::There, NDN, &vector.bytes),
                kind if kind.starts_with("ndnlp1") => ethernet(Direction::There, &vector.bytes),
                _ => udp(Direction::There, CCNX, &vector.bytes),
            });
        }
    }
    Ok(packets)
}

pub(super) fn check(tshark: &Tshark) -> Result<String, String> {
    let names = DICTIONARY.split(", ").filter_map(|entry| entry.split(' ').nth(1));
    let mut fields: Vec<String> = names.map(|name| format!("ccnx.{}", snake(name))).collect();
    fields.extend(OTHERS.iter().map(|&field| field.to_owned()));
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    let file = tshark.path("elements.pcapng");
    frames::write(&file, &in_turn(packets()?), frames::WHOLE)?;
    let rows = tshark.fields(&file, &fields, &[])?;
    let is_shown = |at: usize| rows.iter().any(|row| row.get(at).is_some_and(|values| !values.is_empty()));
    // An element without anything in it is a field without a value: it is looked for by a filter.
    let mut missing = Vec::new();
    for (at, field) in fields.iter().enumerate() {
        if !is_shown(at) && tshark.fields(&file, &["frame.number"], &["-Y", field])?.is_empty() {
            missing.push(*field);
        }
    }
    if missing.is_empty() {
        Ok(format!("{} fields", fields.len()))
    } else {
        Err(format!("never shown: {}", missing.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_headers_are_those_of_the_specification() {
        assert_eq!(block(26, 2), [0x01, 0xd2]);
        assert_eq!(block(14, 2), [0xf2]);
        assert_eq!(block(20_653_248, 2), *b"NdL\x82");
        assert_eq!(block(8192, 5), [0x04, 0x00, 0x85]);
    }

    #[test]
    fn names_of_fields_have_words_apart() {
        for (name, field) in [("IPProto", "ip_proto"), ("ACL", "acl"), ("FinalBlockID", "final_block_id")] {
            assert_eq!(snake(name), field);
        }
        assert_eq!(snake("CCNProtocolDataUnit"), "ccn_protocol_data_unit");
    }
}
