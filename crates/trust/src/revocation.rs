//! Records that revoke certificates before their time: signed packets that their owner or their issuer
//! makes, in the form of ndnrevoke.
//!
//! A record is called `/<identity>/REVOKE/<key id>/<issuer id>/<version>/<publisher>` for the certificate
//! `/<identity>/KEY/<key id>/<issuer id>/<version>`. Signed by the revoked key itself, with the publisher
//! `self`, it counts for every certificate of that key: whoever holds a key may say that it is burnt. Signed
//! by the key that issued the certificate, it counts for that certificate alone. Others revoke nothing.
//!
//! What time a record says is for people. It counts from when it is known, whatever the clocks say, and for
//! all that the key has signed: Data does not say when it was signed, and whoever has stolen a key would
//! write an early time.

use std::collections::BTreeMap;

use packet::ndn::{DataBuilder, tlv};
use packet::time::Duration;
use packet::{Component, Data, DecodeError, Name, NameRef};
use thiserror::Error;

use crate::certificate::{Certificate, UnixTime, names};
use crate::error::SignError;
use crate::signer::Signer;

/// The component in a record's name where the certificate's has `KEY`.
pub const REVOKE: Component<'static> = Component::generic(b"REVOKE");

/// TLV-TYPEs of the content.
const REVOCATION_TIMESTAMP: u32 = 201;
const PUBLIC_KEY_HASH: u32 = 202;
const REVOCATION_REASON: u32 = 203;

/// How long caches may count a record as fresh.
const FRESHNESS: Duration = Duration::from_secs(100 * 3600);

/// Why a certificate is revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevocationReason {
    /// Nobody says.
    Unspecified,
    /// Somebody else may have the key.
    KeyCompromise,
    /// Somebody else may have the issuer's key.
    IssuerCompromise,
    /// There is a newer one.
    Superseded,
    /// A number that has no meaning here.
    Other(u64),
}

impl RevocationReason {
    /// Words for those that have one.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("unspecified", RevocationReason::Unspecified),
        ("key-compromise", RevocationReason::KeyCompromise),
        ("issuer-compromise", RevocationReason::IssuerCompromise),
        ("superseded", RevocationReason::Superseded),
    ];

    fn number(self) -> u64 {
        match self {
            RevocationReason::Unspecified => 0,
            RevocationReason::KeyCompromise => 1,
            RevocationReason::IssuerCompromise => 2,
            RevocationReason::Superseded => 4,
            RevocationReason::Other(number) => number,
        }
    }

    fn of(number: u64) -> Self {
        let known = Self::WORDS.iter().find(|(_, reason)| reason.number() == number);
        known.map_or(RevocationReason::Other(number), |(_, reason)| *reason)
    }
}

/// A Data that is no record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RevocationError {
    /// The name has another form.
    #[error("{0}: a revocation is called /<identity>/REVOKE/<key id>/<issuer id>/<version>/<publisher>")]
    Name(String),
    /// The content cannot be read.
    #[error(transparent)]
    Content(#[from] DecodeError),
    /// A certificate that has no issuer or version in its name, or one whose record cannot be signed.
    #[error(transparent)]
    Sign(#[from] SignError),
}

/// A record, read and not verified.
#[derive(Clone, Debug)]
pub struct Revocation {
    data: Data,
    certificate: Name,
    time: UnixTime,
    key_digest: [u8; 32],
    reason: RevocationReason,
}

impl Revocation {
    /// Reads a Data as a record. Whether it counts is said by [`Revocations::find`].
    ///
    /// # Errors
    /// The name or the content is not that of a record.
    pub fn new(data: Data) -> Result<Self, RevocationError> {
        let certificate =
            certificate_of(data.name()).ok_or_else(|| RevocationError::Name(data.name().to_string()))?;
        let mut reader = tlv::Reader::new(data.content(), "RevocationRecord");
        let time = reader.required(REVOCATION_TIMESTAMP, "RevocationTimestamp")?;
        let time = UnixTime::from_millis(tlv::read_nni(time, "RevocationTimestamp")?);
        let hash = reader.required(PUBLIC_KEY_HASH, "PublicKeyHash")?;
        let wrong_length = packet::Rule::BadLength(hash.value.len());
        let key_digest =
            hash.value.try_into().map_err(|_| DecodeError::new("PublicKeyHash", hash.start, wrong_length))?;
        let reason = reader.required(REVOCATION_REASON, "RevocationReason")?;
        let reason = RevocationReason::of(tlv::read_nni(reason, "RevocationReason")?);
        Ok(Revocation { certificate, time, key_digest, reason, data })
    }

    /// Revokes `certificate`, signed by its own key, or by its issuer's if `signer` is the issuer.
    ///
    /// # Errors
    /// The name becomes too long, or it cannot be signed.
    pub fn issue(
        certificate: &Certificate,
        signer: &Signer,
        now: UnixTime,
        reason: RevocationReason,
    ) -> Result<Self, RevocationError> {
        let is_own = signer.key_locator().and_then(|name| names::key_of(name.as_ref()))
            == Some(certificate.key_name());
        let publisher = if is_own { names::SELF } else { certificate.issuer_id() };
        let mut content = Vec::new();
        tlv::write_nni_element(&mut content, REVOCATION_TIMESTAMP, now.as_millis());
        tlv::write_element(&mut content, PUBLIC_KEY_HASH, &certificate.public_key().digest());
        tlv::write_nni_element(&mut content, REVOCATION_REASON, reason.number());
        let name = renamed(certificate.name(), 4, REVOKE)?.with(publisher)?;
        let data = DataBuilder::new(name).freshness(FRESHNESS).content(content);
        Revocation::new(signer.sign_data(&data)?)
    }

    /// The packet.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The certificate that it revokes.
    pub fn certificate(&self) -> &Name {
        &self.certificate
    }

    /// When it was made, as it says.
    pub fn time(&self) -> UnixTime {
        self.time
    }

    /// Why.
    pub fn reason(&self) -> RevocationReason {
        self.reason
    }

    /// Whether it revokes `certificate`, whose issuer's certificate is `issuer` where that is known.
    fn revokes(&self, certificate: &Certificate, issuer: Option<&Certificate>) -> bool {
        if self.key_digest != certificate.public_key().digest() {
            return false;
        }
        if self.data.name().last() == Some(names::SELF)
            && certificate.verifier().verify_data(&self.data).is_ok()
        {
            return true;
        }
        let is_it = self.certificate.as_ref() == certificate.name();
        is_it && issuer.is_some_and(|issuer| issuer.verifier().verify_data(&self.data).is_ok())
    }
}

/// The certificate that a record of this name is about.
fn certificate_of(name: NameRef<'_>) -> Option<Name> {
    (names::from_end(name, 5)? == REVOKE).then_some(())?;
    renamed(name.prefix(name.component_count() - 1), 4, names::KEY).ok()
}

/// The name with another component so many places from the end.
fn renamed(name: NameRef<'_>, back: usize, component: Component<'_>) -> Result<Name, DecodeError> {
    let at = name.component_count().saturating_sub(back);
    let mut made = name.prefix(at).to_name().with(component)?;
    for place in at + 1..name.component_count() {
        if let Some(component) = name.component(place) {
            made = made.with(component)?;
        }
    }
    Ok(made)
}

/// Records that somebody has put together, by the key that they are about.
///
/// Whoever can add records decides about memory, so their number is limited: of one key, and in all. At the
/// limit further ones are refused and counted. A key's records are verified when a certificate of it is
/// looked at; as many as [`Revocations::MAX_PER_KEY`] cost that many checks at most.
#[derive(Clone, Debug, Default)]
pub struct Revocations {
    by_key: BTreeMap<Name, Vec<Revocation>>,
    count: usize,
    refused: u64,
}

impl Revocations {
    /// Records in all.
    pub const MAX: usize = 4096;
    /// Records of one key.
    pub const MAX_PER_KEY: usize = 8;

    /// Adds one; false if there is no room, or it is there.
    pub fn add(&mut self, record: Revocation) -> bool {
        let key = names::key_of(record.certificate.as_ref()).map(|key| key.to_name());
        let Some(key) = key else { return false };
        let known = self.by_key.get(&key).map_or(&[][..], Vec::as_slice);
        if known.iter().any(|other| other.data.wire() == record.data.wire()) {
            return false;
        }
        if self.count >= Self::MAX || known.len() >= Self::MAX_PER_KEY {
            self.refused += 1;
            return false;
        }
        self.by_key.entry(key).or_default().push(record);
        self.count += 1;
        true
    }

    /// All of them, in the order of the keys' names.
    pub fn iter(&self) -> impl Iterator<Item = &Revocation> {
        self.by_key.values().flatten()
    }

    /// Whether this very record is among them.
    pub fn contains(&self, record: &Revocation) -> bool {
        let key = names::key_of(record.certificate.as_ref());
        let known = key.and_then(|key| self.by_key.get(&key.to_name()));
        known.is_some_and(|known| known.iter().any(|other| other.data.wire() == record.data.wire()))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many found no room.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// The record that revokes `certificate`, if there is one. Those of its issuer count only where the
    /// issuer's certificate is known.
    pub fn find(&self, certificate: &Certificate, issuer: Option<&Certificate>) -> Option<&Revocation> {
        if self.by_key.is_empty() {
            return None;
        }
        let records = self.by_key.get(&certificate.to_key_name())?;
        records.iter().find(|record| record.revokes(certificate, issuer))
    }
}
