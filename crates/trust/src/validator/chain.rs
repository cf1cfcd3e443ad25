//! A packet and the certificates found above it so far.

use packet::ndn::{KeyLocator, SignatureInfo, SignatureType};
use packet::{AnyName, NameRef};

use super::ValidatorCounters;
use super::outcome::{Subject, ValidationError, of_ndn};
use crate::certificate::{Certificate, UnixTime, names};
use crate::policy::{Claim, ClaimKind};
use crate::revocation::Revocations;

/// The packet, and from it upwards the certificate of the key that signed it, the certificate of the key that
/// signed that, and so on. Nothing in it has been verified.
#[derive(Debug)]
pub(super) struct Chain {
    subject: Subject,
    certificates: Vec<Certificate>,
}

impl Chain {
    /// The chain of a packet alone.
    pub(super) fn new(subject: Subject) -> Result<Self, ValidationError> {
        let chain = Chain { subject, certificates: Vec::new() };
        chain.locator()?;
        Ok(chain)
    }

    /// Puts a certificate on top that the topmost packet's KeyLocator led to.
    pub(super) fn push(
        &mut self,
        now: UnixTime,
        certificate: Certificate,
        depth: usize,
    ) -> Result<(), ValidationError> {
        let validity = certificate.validity();
        let name = || of_ndn(certificate.name());
        if self.certificates.len() >= depth {
            return Err(ValidationError::TooDeep(depth));
        }
        if self.certificates.iter().any(|below| below.key_name() == certificate.key_name()) {
            return Err(ValidationError::Loop(of_ndn(certificate.key_name())));
        }
        // One that signs itself leads nowhere, unless it is an anchor, and those are not fetched.
        if certificate.is_self_signed() {
            return Err(ValidationError::Loop(of_ndn(certificate.key_name())));
        }
        if !validity.contains(now) {
            return Err(ValidationError::NotValidNow { name: name(), validity });
        }
        self.certificates.push(certificate);
        Ok(())
    }

    /// The name of the key or certificate that signed the topmost packet.
    pub(super) fn locator(&self) -> Result<NameRef<'_>, ValidationError> {
        if let (Subject::Key(name), []) = (&self.subject, &self.certificates[..]) {
            let is_key = names::key_of(name.as_ref()).is_some();
            return if is_key {
                Ok(name.as_ref())
            } else {
                Err(ValidationError::NoKeyName(of_ndn(name.as_ref())))
            };
        }
        match self.top_info().and_then(|info| info.key_locator) {
            None => Err(ValidationError::NotSigned(self.top_any_name())),
            Some(KeyLocator::Name(name)) if names::key_of(name).is_some() => Ok(name),
            Some(_) => Err(ValidationError::NoKeyName(self.top_any_name())),
        }
    }

    /// What the topmost packet claims, for the policy; `None` if there is only a key, which claims nothing.
    pub(super) fn claim(&self) -> Option<Claim<'_>> {
        let info = self.top_info();
        Some(Claim {
            kind: if self.certificates.is_empty() { self.subject.kind()? } else { ClaimKind::Certificate },
            name: self.top_name(),
            signer: self.locator().unwrap_or(NameRef::ROOT),
            signature_type: info.map_or(SignatureType::NULL, |info| info.signature_type),
        })
    }

    /// Checks all signatures, from the one that `trusted` made down to the packet's, and that no certificate
    /// is revoked.
    pub(super) fn verify_down(
        &self,
        trusted: &Certificate,
        revocations: &Revocations,
        counters: &mut ValidatorCounters,
    ) -> Result<(), ValidationError> {
        let mut count = |bytes: usize| {
            counters.signatures_checked += 1;
            counters.hashed_bytes += bytes as u64;
        };
        let mut signer = trusted;
        not_revoked(revocations, trusted, trusted.is_self_signed().then_some(trusted))?;
        for certificate in self.certificates.iter().rev() {
            count(certificate.data().wire().len());
            signer
                .verifier()
                .verify_data(certificate.data())
                .map_err(|error| ValidationError::Signature { name: of_ndn(certificate.name()), error })?;
            not_revoked(revocations, certificate, Some(signer))?;
            signer = certificate;
        }
        if let Some(bytes) = self.subject.signed_bytes() {
            count(bytes);
        }
        self.subject
            .verify(&signer.verifier())
            .map_err(|error| ValidationError::Signature { name: self.subject.any_name(), error })?;
        match self.subject.as_certificate() {
            Some(certificate) => not_revoked(revocations, &certificate, Some(signer)),
            None => Ok(()),
        }
    }

    /// The certificate of the key that signed the packet, when `trusted` is on top of the chain.
    pub(super) fn signer_of_subject(&self, trusted: &Certificate) -> Certificate {
        self.certificates.first().unwrap_or(trusted).clone()
    }

    pub(super) fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }

    pub(super) fn into_subject(self) -> Subject {
        self.subject
    }

    fn top_name(&self) -> NameRef<'_> {
        self.certificates.last().map_or(self.subject.name(), Certificate::name)
    }

    fn top_any_name(&self) -> AnyName {
        self.certificates.last().map_or_else(|| self.subject.any_name(), |top| of_ndn(top.name()))
    }

    fn top_info(&self) -> Option<SignatureInfo<'_>> {
        match self.certificates.last() {
            Some(certificate) => certificate.data().ndn()?.signature_info(),
            None => self.subject.signature_info(),
        }
    }
}

fn not_revoked(
    revocations: &Revocations,
    certificate: &Certificate,
    issuer: Option<&Certificate>,
) -> Result<(), ValidationError> {
    match revocations.find(certificate, issuer) {
        Some(record) => Err(ValidationError::Revoked {
            name: of_ndn(certificate.name()),
            record: of_ndn(record.data().name()),
        }),
        None => Ok(()),
    }
}
