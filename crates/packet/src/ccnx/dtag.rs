//! The dictionary of ccnb: element names that are written as numbers.

use std::fmt;

/// A dictionary tag: the number that stands for an element name in a DTAG block.
///
/// The dictionary is the one of CCNx 0.8.2 with the block that was assigned to NDNLP v1 (NDN-0006, appendix
/// B) and the private numbers of ndnld's control protocol (appendix B.1).
///
/// ```
/// use cairn_packet::ccnx::Dtag;
/// assert_eq!(Dtag::INTEREST.number(), 26);
/// assert_eq!(Dtag::new(64).to_string(), "ContentObject");
/// assert_eq!(Dtag::from_name("NdnlpAck"), Some(Dtag::NDNLP_ACK));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dtag(u64);

impl Dtag {
    /// The tag with this number, which need not be in the dictionary.
    pub const fn new(number: u64) -> Self {
        Dtag(number)
    }

    /// The number on the wire.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The element name, or `None` when the dictionary has no such number.
    pub fn name(self) -> Option<&'static str> {
        DICTIONARY
            .binary_search_by_key(&self.0, |&(number, _)| number)
            .ok()
            .and_then(|index| DICTIONARY.get(index))
            .map(|&(_, name)| name)
    }

    /// The tag that stands for `name`, or `None` when the dictionary has no such name.
    pub fn from_name(name: &str) -> Option<Self> {
        DICTIONARY.iter().find(|&&(_, known)| known == name).map(|&(number, _)| Dtag(number))
    }

    /// Every tag in the dictionary, by ascending number.
    pub fn all() -> impl Iterator<Item = Dtag> {
        DICTIONARY.iter().map(|&(number, _)| Dtag(number))
    }
}

impl fmt::Display for Dtag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "DTAG {}", self.0),
        }
    }
}

impl fmt::Debug for Dtag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dtag({} {self})", self.0)
    }
}

macro_rules! dictionary {
    ($($number:literal $constant:ident $name:ident)*) => {
        impl Dtag {
            $(
                #[doc = concat!("`", stringify!($name), "`, number ", stringify!($number), ".")]
                pub const $constant: Dtag = Dtag($number);
            )*
        }

        /// Sorted by number; a test holds it to that.
        const DICTIONARY: &[(u64, &str)] = &[$(($number, stringify!($name)),)*];
    };
}

dictionary! {
    13 ANY Any
    14 NAME Name
    15 COMPONENT Component
    16 CERTIFICATE Certificate
    17 COLLECTION Collection
    18 COMPLETE_NAME CompleteName
    19 CONTENT Content
    20 SIGNED_INFO SignedInfo
    21 CONTENT_DIGEST ContentDigest
    22 CONTENT_HASH ContentHash
    24 COUNT Count
    25 HEADER Header
    26 INTEREST Interest
    27 KEY Key
    28 KEY_LOCATOR KeyLocator
    29 KEY_NAME KeyName
    30 LENGTH Length
    31 LINK Link
    32 LINK_AUTHENTICATOR LinkAuthenticator
    33 NAME_COMPONENT_COUNT NameComponentCount
    34 EXT_OPT ExtOpt
    36 ROOT_DIGEST RootDigest
    37 SIGNATURE Signature
    38 START Start
    39 TIMESTAMP Timestamp
    40 TYPE Type
    41 NONCE Nonce
    42 SCOPE Scope
    43 EXCLUDE Exclude
    44 BLOOM Bloom
    45 BLOOM_SEED BloomSeed
    47 ANSWER_ORIGIN_KIND AnswerOriginKind
    48 INTEREST_LIFETIME InterestLifetime
    53 WITNESS Witness
    54 SIGNATURE_BITS SignatureBits
    55 DIGEST_ALGORITHM DigestAlgorithm
    56 BLOCK_SIZE BlockSize
    58 FRESHNESS_SECONDS FreshnessSeconds
    59 FINAL_BLOCK_ID FinalBlockID
    60 PUBLISHER_PUBLIC_KEY_DIGEST PublisherPublicKeyDigest
    61 PUBLISHER_CERTIFICATE_DIGEST PublisherCertificateDigest
    62 PUBLISHER_ISSUER_KEY_DIGEST PublisherIssuerKeyDigest
    63 PUBLISHER_ISSUER_CERTIFICATE_DIGEST PublisherIssuerCertificateDigest
    64 CONTENT_OBJECT ContentObject
    65 WRAPPED_KEY WrappedKey
    66 WRAPPING_KEY_IDENTIFIER WrappingKeyIdentifier
    67 WRAP_ALGORITHM WrapAlgorithm
    68 KEY_ALGORITHM KeyAlgorithm
    69 LABEL Label
    70 ENCRYPTED_KEY EncryptedKey
    71 ENCRYPTED_NONCE_KEY EncryptedNonceKey
    72 WRAPPING_KEY_NAME WrappingKeyName
    73 ACTION Action
    74 FACE_ID FaceID
    75 IP_PROTO IPProto
    76 HOST Host
    77 PORT Port
    78 MULTICAST_INTERFACE MulticastInterface
    79 FORWARDING_FLAGS ForwardingFlags
    80 FACE_INSTANCE FaceInstance
    81 FORWARDING_ENTRY ForwardingEntry
    82 MULTICAST_TTL MulticastTTL
    83 MIN_SUFFIX_COMPONENTS MinSuffixComponents
    84 MAX_SUFFIX_COMPONENTS MaxSuffixComponents
    85 CHILD_SELECTOR ChildSelector
    86 REPOSITORY_INFO RepositoryInfo
    87 VERSION Version
    88 REPOSITORY_VERSION RepositoryVersion
    89 GLOBAL_PREFIX GlobalPrefix
    90 LOCAL_NAME LocalName
    91 POLICY Policy
    92 NAMESPACE Namespace
    93 GLOBAL_PREFIX_NAME GlobalPrefixName
    94 POLICY_VERSION PolicyVersion
    95 KEY_VALUE_SET KeyValueSet
    96 KEY_VALUE_PAIR KeyValuePair
    97 INTEGER_VALUE IntegerValue
    98 DECIMAL_VALUE DecimalValue
    99 STRING_VALUE StringValue
    100 BINARY_VALUE BinaryValue
    101 NAME_VALUE NameValue
    102 ENTRY Entry
    103 ACL ACL
    104 PARAMETERIZED_NAME ParameterizedName
    105 PREFIX Prefix
    106 SUFFIX Suffix
    107 ROOT Root
    108 PROFILE_NAME ProfileName
    109 PARAMETERS Parameters
    110 INFO_STRING InfoString
    112 STATUS_RESPONSE StatusResponse
    113 STATUS_CODE StatusCode
    114 STATUS_TEXT StatusText
    115 SYNC_NODE SyncNode
    116 SYNC_NODE_KIND SyncNodeKind
    117 SYNC_NODE_ELEMENT SyncNodeElement
    118 SYNC_VERSION SyncVersion
    119 SYNC_NODE_ELEMENTS SyncNodeElements
    120 SYNC_CONTENT_HASH SyncContentHash
    121 SYNC_LEAF_COUNT SyncLeafCount
    122 SYNC_TREE_DEPTH SyncTreeDepth
    123 SYNC_BYTE_COUNT SyncByteCount
    124 SYNC_CONFIG_SLICE SyncConfigSlice
    125 SYNC_CONFIG_SLICE_LIST SyncConfigSliceList
    126 SYNC_CONFIG_SLICE_OP SyncConfigSliceOp
    127 SYNC_NODE_DELTAS SyncNodeDeltas
    144 STRATEGY_SELECTION StrategySelection
    145 STRATEGY_ID StrategyID
    146 STRATEGY_PARAMETERS StrategyParameters
    256 SEQUENCE_NUMBER SequenceNumber
    17702112 PROTOCOL_DATA_UNIT CCNProtocolDataUnit
    20653248 NDNLP_DATA NdnlpData
    20653249 NDNLP_SEQUENCE NdnlpSequence
    20653250 NDNLP_FLAGS NdnlpFlags
    20653251 NDNLP_FRAG_INDEX NdnlpFragIndex
    20653252 NDNLP_FRAG_COUNT NdnlpFragCount
    20653253 NDNLP_PAYLOAD NdnlpPayload
    20653254 NDNLP_ACK NdnlpAck
    20653255 NDNLP_ACK_BLOCK NdnlpAckBlock
    20653256 NDNLP_SEQUENCE_BASE NdnlpSequenceBase
    20653257 NDNLP_BITMAP NdnlpBitmap
    20653264 NDNLD_CONNECTION NdnldConnection
    20653265 NDNLD_LOWER_PROTOCOL NdnldLowerProtocol
    20653266 NDNLD_LOCAL_INTERFACE NdnldLocalInterface
    20653267 NDNLD_SENT_PKTS_CAPACITY NdnldSentPktsCapacity
    20653268 NDNLD_RETRANSMIT_COUNT NdnldRetransmitCount
    20653269 NDNLD_RETRANSMIT_TIME NdnldRetransmitTime
    20653270 NDNLD_ACKNOWLEDGE_TIME NdnldAcknowledgeTime
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tag_finds_its_name_and_every_name_its_tag() {
        assert!(DICTIONARY.is_sorted_by(|a, b| a.0 < b.0));
        for tag in Dtag::all() {
            assert_eq!(tag.name().and_then(Dtag::from_name), Some(tag));
        }
        assert_eq!(Dtag::new(12).name(), None);
        assert_eq!(Dtag::new(12).to_string(), "DTAG 12");
        assert_eq!(Dtag::from_name("Nothing"), None);
    }
}
