//! Small values that stand in Interests and SignedInfo.

use crate::ccnx::block::{body_element_len, write_blob_element};
use crate::ccnx::dtag::Dtag;
use crate::ccnx::reader::Reader;
use crate::error::{DecodeError, Rule};

/// ChildSelector: which of several answers is wanted, by the order of the component just below the prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChildSelector(u8);

impl ChildSelector {
    /// The last in canonical order; the first is the default.
    pub const RIGHTMOST: ChildSelector = ChildSelector(1);

    /// The selector written as `number`; `None` above 5.
    pub fn new(number: u64) -> Option<Self> {
        u8::try_from(number).ok().filter(|&number| number <= 5).map(ChildSelector)
    }

    /// The number on the wire.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Whether the last answer is wanted. CCNx looks at the lowest bit only.
    pub const fn is_rightmost(self) -> bool {
        self.0 & 1 != 0
    }
}

/// AnswerOriginKind: where an answer may come from. Bits without a meaning are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AnswerOriginKind(u32);

impl AnswerOriginKind {
    /// The largest number a CCNx peer can read.
    pub const MAX: u64 = i32::MAX as u64;
    const STORE: u32 = 1;
    const GENERATED: u32 = 2;
    const STALE: u32 = 4;
    const MARK_STALE: u32 = 16;

    /// The kind written as `bits`; `None` above [`AnswerOriginKind::MAX`].
    pub fn new(bits: u64) -> Option<Self> {
        if bits <= Self::MAX { u32::try_from(bits).ok().map(AnswerOriginKind) } else { None }
    }

    /// The number on the wire.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether a content store may answer.
    pub const fn from_store(self) -> bool {
        self.0 & Self::STORE != 0
    }

    /// Whether a producer may make a new answer.
    pub const fn generated(self) -> bool {
        self.0 & Self::GENERATED != 0
    }

    /// Whether a stale answer will do.
    pub const fn stale(self) -> bool {
        self.0 & Self::STALE != 0
    }

    /// Whether what matches in the content store is to be marked stale. Only an Interest of [`Scope::LOCAL`]
    /// may ask so.
    pub const fn marks_stale(self) -> bool {
        self.0 & Self::MARK_STALE != 0
    }
}

impl Default for AnswerOriginKind {
    /// From the store or newly made, but not stale.
    fn default() -> Self {
        AnswerOriginKind(Self::STORE | Self::GENERATED)
    }
}

/// Scope: how far an Interest may go. None at all is farther than any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope(u8);

impl Scope {
    /// Not beyond the forwarder that receives it.
    pub const LOCAL: Scope = Scope(0);
    /// Not beyond this host.
    pub const HOST: Scope = Scope(1);
    /// Not beyond the next host.
    pub const NEXT_HOST: Scope = Scope(2);

    /// The scope written as `number`; `None` above 9. Numbers from 3 up have no meaning of their own.
    pub fn new(number: u64) -> Option<Self> {
        u8::try_from(number).ok().filter(|&number| number <= 9).map(Scope)
    }

    /// The number on the wire.
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// What identifies a publisher: a digest of its key or certificate, or of its issuer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PublisherId<'a> {
    /// What the digest is of.
    pub kind: PublisherIdKind,
    /// The digest, 16 to 64 bytes.
    pub digest: &'a [u8],
}

/// What the digest in a [`PublisherId`] is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PublisherIdKind {
    /// The publisher's public key, as a DER SubjectPublicKeyInfo.
    PublicKey,
    /// The publisher's certificate. Parsed but never compared, as in CCNx 0.8.2; the same goes for the next
    /// two.
    Certificate,
    /// The public key that signed the publisher's certificate.
    IssuerKey,
    /// The certificate of that key.
    IssuerCertificate,
}

impl PublisherIdKind {
    const ALL: [PublisherIdKind; 4] = [
        PublisherIdKind::PublicKey,
        PublisherIdKind::Certificate,
        PublisherIdKind::IssuerKey,
        PublisherIdKind::IssuerCertificate,
    ];

    /// The element that holds the digest.
    pub const fn dtag(self) -> Dtag {
        match self {
            PublisherIdKind::PublicKey => Dtag::PUBLISHER_PUBLIC_KEY_DIGEST,
            PublisherIdKind::Certificate => Dtag::PUBLISHER_CERTIFICATE_DIGEST,
            PublisherIdKind::IssuerKey => Dtag::PUBLISHER_ISSUER_KEY_DIGEST,
            PublisherIdKind::IssuerCertificate => Dtag::PUBLISHER_ISSUER_CERTIFICATE_DIGEST,
        }
    }
}

impl<'a> PublisherId<'a> {
    /// How long a digest may be, in bytes.
    pub const DIGEST_BYTES: std::ops::RangeInclusive<usize> = 16..=64;

    /// The publisher whose public key has this digest.
    pub const fn public_key(digest: &'a [u8]) -> Self {
        PublisherId { kind: PublisherIdKind::PublicKey, digest }
    }

    /// Reads any of the four elements, if one is next.
    #[inline(always)]
    pub(crate) fn read_optional(reader: &mut Reader<'a>) -> Result<Option<Self>, DecodeError> {
        let Some(kind) = PublisherIdKind::ALL.into_iter().find(|kind| reader.next_is(kind.dtag())) else {
            return Ok(None);
        };
        let digest = reader.blob_element(kind.dtag(), FIELD, Self::DIGEST_BYTES)?;
        Ok(Some(PublisherId { kind, digest }))
    }

    pub(crate) fn check(&self) -> Result<(), DecodeError> {
        match self.digest.len() {
            len if Self::DIGEST_BYTES.contains(&len) => Ok(()),
            len => Err(DecodeError::new(FIELD, 0, Rule::BadLength(len))),
        }
    }

    pub(crate) fn encoded_len(&self) -> usize {
        body_element_len(self.kind.dtag(), self.digest.len())
    }

    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) {
        write_blob_element(out, self.kind.dtag(), self.digest);
    }
}

const FIELD: &str = "PublisherID";
