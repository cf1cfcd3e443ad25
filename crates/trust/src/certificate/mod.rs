//! NDN certificates v2: a Data that says whose a key is, from when to when, and who says so.

mod issue;
pub mod names;

use packet::ndn::{KeyLocator, SignatureType};
use packet::{Buffer, Component, ContentType, Data, DecodeError, Name, NameRef};
use thiserror::Error;

use crate::error::{KeyError, SignError, VerifyError};
use crate::key::PublicKey;
use crate::signature_verifier::SignatureVerifier;

pub use issue::{Issue, self_signed};
pub use packet::UnixTime;
pub use packet::ndn::ValidityPeriod;

/// A Data that is no certificate, or one that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CertificateError {
    /// It is no Data at all.
    #[error("not a certificate: {0}")]
    Decode(#[from] DecodeError),
    /// The name has not the form of a key's name.
    #[error("{0}: a key's name ends in /KEY/<key id>")]
    KeyName(String),
    /// The name has not the form of a certificate's name.
    #[error("{0}: a certificate's name ends in /KEY/<key id>/<issuer id>/<version>")]
    Name(String),
    /// ContentType is not KEY.
    #[error("{0}: the content type is {1}, a certificate has 2")]
    ContentType(String, u64),
    /// FreshnessPeriod is missing or zero.
    #[error("{0}: a certificate has a freshness period")]
    Freshness(String),
    /// ValidityPeriod is missing or not two dates.
    #[error("{0}: the validity period is missing or malformed")]
    Validity(String),
    /// The key in it cannot be used.
    #[error("{0}: {1}")]
    Key(String, #[source] KeyError),
    /// It cannot be signed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// A request that its own key did not sign.
    #[error("{0}: the request is not signed by the key it is for: {1}")]
    Request(String, #[source] VerifyError),
}

/// A certificate, checked for form and not for truth. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Certificate {
    data: Data,
    public_key: PublicKey,
    validity: ValidityPeriod,
}

impl Certificate {
    /// Reads a Data as a certificate. The signature is not checked.
    ///
    /// # Errors
    /// A rule of the certificate format is broken, or the key is of a kind that is not supported.
    pub fn new(data: Data) -> Result<Self, CertificateError> {
        let name = || data.name().to_string();
        let view = data.ndn().ok_or_else(|| CertificateError::Name(name()))?;
        if !names::is_certificate_name(view.name()) {
            return Err(CertificateError::Name(name()));
        }
        if view.content_type() != ContentType::KEY {
            return Err(CertificateError::ContentType(name(), view.content_type().0));
        }
        if view.freshness().as_millis() == 0 {
            return Err(CertificateError::Freshness(name()));
        }
        let validity = view
            .signature_info()
            .and_then(|info| ValidityPeriod::decode(info.validity_period?).ok())
            .ok_or_else(|| CertificateError::Validity(name()))?;
        let public_key =
            PublicKey::from_spki(view.content()).map_err(|error| CertificateError::Key(name(), error))?;
        Ok(Certificate { public_key, validity, data })
    }

    /// Reads the bytes of a Data as a certificate.
    ///
    /// # Errors
    /// As [`Certificate::new`], and bytes that are no Data.
    pub fn decode(wire: &[u8]) -> Result<Self, CertificateError> {
        Certificate::new(Data::decode_ndn(Buffer::copy_from(wire))?)
    }

    /// The packet.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The name, down to the version.
    pub fn name(&self) -> NameRef<'_> {
        self.data.name()
    }

    /// The name of the key.
    pub fn key_name(&self) -> NameRef<'_> {
        names::key_of(self.name()).unwrap_or(NameRef::ROOT)
    }

    /// Whose key it is.
    pub fn identity(&self) -> NameRef<'_> {
        names::identity_of(self.name()).unwrap_or(NameRef::ROOT)
    }

    /// Who signed, in a word of the issuer's choice.
    pub fn issuer_id(&self) -> Component<'_> {
        names::from_end(self.name(), 2).unwrap_or(Component::generic(b""))
    }

    /// The key.
    pub fn public_key(&self) -> &PublicKey {
        &self.public_key
    }

    /// From when to when it counts.
    pub fn validity(&self) -> ValidityPeriod {
        self.validity
    }

    /// The algorithm it is signed with.
    pub fn signature_type(&self) -> Option<SignatureType> {
        Some(self.data.ndn()?.signature_info()?.signature_type)
    }

    /// The name of the key or certificate that signed it.
    pub fn signer(&self) -> Option<NameRef<'_>> {
        match self.data.ndn()?.signature_info()?.key_locator? {
            KeyLocator::Name(name) => Some(name),
            KeyLocator::Digest(_) => None,
        }
    }

    /// Whether it names its own key as its signer, as trust anchors do.
    pub fn is_self_signed(&self) -> bool {
        self.signer().and_then(names::key_of) == Some(self.key_name())
    }

    /// Checks signatures of the key in it.
    pub fn verifier(&self) -> SignatureVerifier {
        SignatureVerifier::new(self.public_key.clone())
    }

    /// The owned name of the key.
    pub fn to_key_name(&self) -> Name {
        self.key_name().to_name()
    }
}

impl PartialEq for Certificate {
    fn eq(&self, other: &Self) -> bool {
        self.data.wire() == other.data.wire()
    }
}

impl Eq for Certificate {}
