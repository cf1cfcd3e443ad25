//! What goes into a validator and what comes out.

use packet::ndn::SignatureInfo;
use packet::{AnyName, Data, Dialect, Interest, NackReason, Name, NameRef};
use thiserror::Error;

use crate::certificate::{Certificate, CertificateError, ValidityPeriod, names};
use crate::error::VerifyError;
use crate::policy::{ClaimKind, PolicyError};
use crate::signature_verifier::SignatureVerifier;

/// One packet's validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValidationId(pub(super) u64);

/// A packet that asks to be trusted.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A Data.
    Data(Data),
    /// A signed Interest.
    Interest(Interest),
    /// A key, by its name or that of its certificate. The outcome says whether it leads up to an anchor;
    /// whether it may sign what it has signed, and has signed it, is for the owner to check.
    Key(Name),
}

impl Subject {
    /// The packet's name.
    pub fn name(&self) -> NameRef<'_> {
        match self {
            Subject::Data(data) => data.name(),
            Subject::Interest(interest) => interest.name(),
            Subject::Key(name) => name.as_ref(),
        }
    }

    /// The same with its dialect.
    pub(super) fn any_name(&self) -> AnyName {
        let dialect = match self {
            Subject::Data(data) => data.dialect(),
            Subject::Interest(interest) => interest.dialect(),
            Subject::Key(_) => Dialect::Ndn,
        };
        AnyName::new(dialect, self.name().to_name())
    }

    /// What kind of packet it is, if it is one.
    pub(super) fn kind(&self) -> Option<ClaimKind> {
        Some(match self {
            Subject::Data(data) if names::is_certificate_name(data.name()) => ClaimKind::Certificate,
            Subject::Data(_) => ClaimKind::Data,
            Subject::Interest(_) => ClaimKind::Interest,
            Subject::Key(_) => return None,
        })
    }

    /// The certificate that it is, if it is one.
    pub(super) fn as_certificate(&self) -> Option<Certificate> {
        match self {
            Subject::Data(data) if self.kind() == Some(ClaimKind::Certificate) => {
                Certificate::new(data.clone()).ok()
            }
            _ => None,
        }
    }

    pub(super) fn signature_info(&self) -> Option<SignatureInfo<'_>> {
        match self {
            Subject::Data(data) => data.ndn()?.signature_info(),
            Subject::Interest(interest) => interest.ndn()?.signature_info(),
            Subject::Key(_) => None,
        }
    }

    /// How many bytes the packet has whose signature is checked; `None` for a key alone.
    pub(super) fn signed_bytes(&self) -> Option<usize> {
        match self {
            Subject::Data(data) => Some(data.wire().len()),
            Subject::Interest(interest) => Some(interest.wire().len()),
            Subject::Key(_) => None,
        }
    }

    pub(super) fn verify(&self, verifier: &SignatureVerifier) -> Result<(), VerifyError> {
        match self {
            Subject::Data(data) => verifier.verify_data(data),
            Subject::Interest(interest) => verifier.verify_interest(interest),
            Subject::Key(_) => Ok(()),
        }
    }
}

/// A decision about a packet.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Which validation it was.
    pub id: ValidationId,
    /// The packet.
    pub subject: Subject,
    /// The certificate of the key that signed the packet, or why the packet is refused.
    pub verdict: Result<Certificate, ValidationError>,
}

/// Why an Interest for a certificate was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateFetchError {
    /// Nothing came in time.
    Timeout,
    /// Nothing came in time a moment ago, so it was not asked for again.
    RecentTimeout,
    /// The network said no.
    Nack(NackReason),
    /// The Interest could not be sent at all.
    Unsendable,
}

impl std::fmt::Display for CertificateFetchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CertificateFetchError::Timeout => f.write_str("nobody answered in time"),
            CertificateFetchError::RecentTimeout => f.write_str("nobody answered in time a moment ago"),
            CertificateFetchError::Nack(reason) => write!(f, "the network answered {reason:?}"),
            CertificateFetchError::Unsendable => f.write_str("the Interest could not be sent"),
        }
    }
}

/// Why a packet is not trusted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ValidationError {
    /// The packet is not signed with a key: a bare digest, no signature, or one without KeyLocator.
    #[error("{0} is not signed by anybody: it carries no key locator")]
    NotSigned(AnyName),
    /// The KeyLocator is no name, or the name of something that is no key.
    #[error("{0} names no key as its signer, so its certificate cannot be found")]
    NoKeyName(AnyName),
    /// The name rules do not let this key sign this packet.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// More certificates between packet and anchor than allowed.
    #[error("no trust anchor was reached after {0} certificates")]
    TooDeep(usize),
    /// Certificates sign each other in a circle.
    #[error("the chain of certificates comes back to {0} without reaching a trust anchor")]
    Loop(AnyName),
    /// A certificate of the chain does not count now.
    #[error("the certificate {name} is valid from {validity} and not now")]
    NotValidNow {
        /// The certificate.
        name: AnyName,
        /// When it is valid.
        validity: ValidityPeriod,
    },
    /// A certificate of the chain was revoked.
    #[error("the certificate {name} is revoked by {record}")]
    Revoked {
        /// The certificate.
        name: AnyName,
        /// The record.
        record: AnyName,
    },
    /// A certificate of the chain could not be had.
    #[error("the certificate {name} could not be fetched: {failure}")]
    NotFetched {
        /// The name that was asked for.
        name: AnyName,
        /// Why it did not come.
        failure: CertificateFetchError,
    },
    /// What came is a certificate of another key.
    #[error("{name} is no certificate of the key that {asked} names")]
    OtherKey {
        /// The name that was asked for.
        asked: AnyName,
        /// The certificate.
        name: AnyName,
    },
    /// What came instead of a certificate is none.
    #[error("{error}")]
    NotACertificate {
        /// What came.
        name: AnyName,
        /// Why it is none.
        error: Box<CertificateError>,
    },
    /// A signature of the chain does not hold.
    #[error("{name}: {error}")]
    Signature {
        /// The packet whose signature it is.
        name: AnyName,
        /// What is wrong.
        error: VerifyError,
    },
    /// Too many certificates are being asked for.
    #[error("{0} certificates are already asked for, more are not at once")]
    TooManyFetches(usize),
    /// Too many packets wait for certificates.
    #[error("{0} packets already wait for certificates, more are not kept")]
    Full(usize),
}

impl ValidationError {
    /// Whether it is `packet` that is wrong, and not another one of the chain: who brought that is to blame,
    /// and not who brought what it was to vouch for.
    pub fn concerns(&self, packet: NameRef<'_>) -> bool {
        match self {
            ValidationError::Policy(
                PolicyError::NotUnderSigner { name, .. } | PolicyError::NoRule { name, .. },
            ) => packet == name.as_ref(),
            ValidationError::TooDeep(_) => names::is_certificate_name(packet),
            _ => self.culprit().is_some_and(|name| name.name.as_ref().is_prefix_of(packet)),
        }
    }

    /// Whether certificates came above `packet`, and there is something wrong with one of them.
    pub fn is_about_certificates_above(&self, packet: NameRef<'_>) -> bool {
        let is_about_none = matches!(
            self,
            ValidationError::NotFetched { .. }
                | ValidationError::TooManyFetches(_)
                | ValidationError::Full(_)
        );
        !is_about_none && !self.concerns(packet)
    }

    /// The packet of the chain that is wrong, or its key, where there is one.
    pub fn culprit(&self) -> Option<&AnyName> {
        match self {
            ValidationError::NotSigned(name)
            | ValidationError::NoKeyName(name)
            | ValidationError::Loop(name)
            | ValidationError::NotValidNow { name, .. }
            | ValidationError::Revoked { name, .. }
            | ValidationError::OtherKey { name, .. }
            | ValidationError::NotACertificate { name, .. }
            | ValidationError::Signature { name, .. } => Some(name),
            ValidationError::Policy(_)
            | ValidationError::TooDeep(_)
            | ValidationError::NotFetched { .. }
            | ValidationError::TooManyFetches(_)
            | ValidationError::Full(_) => None,
        }
    }
}

/// The name of a key or a certificate, which are NDN's.
pub(super) fn of_ndn(name: NameRef<'_>) -> AnyName {
    AnyName::new(Dialect::Ndn, name.to_name())
}
