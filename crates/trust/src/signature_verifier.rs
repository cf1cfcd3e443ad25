//! Checking signatures against one key. Whether that key may sign that name is the validator's question.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use packet::ndn::SignatureType;
use packet::{Data, Interest};

use crate::digest::sha256;
use crate::error::VerifyError;
use crate::key::{KeyKind, PrivateKey, PublicKey};

/// Checks signatures against one key, or against none where the signature needs none. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct SignatureVerifier(Method);

#[derive(Clone, Debug)]
enum Method {
    Digest,
    Public(PublicKey),
    Secret(PrivateKey),
}

impl SignatureVerifier {
    /// Checks signatures of the private part of `key`.
    pub fn new(key: PublicKey) -> Self {
        SignatureVerifier(Method::Public(key))
    }

    /// Checks signatures made with `key` itself: for HMAC, by the secret.
    ///
    /// # Errors
    /// The public part cannot be computed.
    pub fn of_private(key: &PrivateKey) -> Result<Self, crate::KeyError> {
        Ok(SignatureVerifier(match key.kind() {
            KeyKind::Hmac => Method::Secret(key.clone()),
            _ => Method::Public(key.public_key()?),
        }))
    }

    /// Checks DigestSha256: that nothing was damaged. Anybody can make such a signature.
    pub fn digest() -> Self {
        SignatureVerifier(Method::Digest)
    }

    /// The SignatureType it checks.
    pub fn signature_type(&self) -> SignatureType {
        match &self.0 {
            Method::Digest => SignatureType::DIGEST_SHA256,
            Method::Public(key) => key.kind().signature_type(),
            Method::Secret(key) => key.kind().signature_type(),
        }
    }

    /// Checks `value` over `signed_portion`.
    ///
    /// # Errors
    /// Another algorithm than the key's; a signature that does not fit.
    pub fn verify(
        &self,
        signature_type: SignatureType,
        signed_portion: &[u8],
        value: &[u8],
    ) -> Result<(), VerifyError> {
        let expected = self.signature_type();
        if signature_type != expected {
            return Err(VerifyError::OtherAlgorithm { found: signature_type, expected });
        }
        let holds = match &self.0 {
            Method::Digest => verify_slices_are_equal(&sha256(signed_portion), value).is_ok(),
            Method::Public(key) => key.verifies(signed_portion, value),
            Method::Secret(key) => {
                key.hmac_key().is_some_and(|key| hmac::verify(key, signed_portion, value).is_ok())
            }
        };
        if holds { Ok(()) } else { Err(VerifyError::Wrong) }
    }

    /// Checks the signature of a Data.
    ///
    /// # Errors
    /// As [`SignatureVerifier::verify`]; a Data of the CCNx dialect counts as unsigned.
    pub fn verify_data(&self, data: &Data) -> Result<(), VerifyError> {
        let view = data.ndn().ok_or(VerifyError::Unsigned)?;
        let info = view.signature_info().ok_or(VerifyError::Unsigned)?;
        self.verify(info.signature_type, view.signed_portion(), view.signature_value())
    }

    /// Checks the signature of an Interest, and the digest in its name.
    ///
    /// # Errors
    /// As [`SignatureVerifier::verify`]; an Interest that is not signed, or whose name has not the digest of
    /// its parameters.
    pub fn verify_interest(&self, interest: &Interest) -> Result<(), VerifyError> {
        let view = interest.ndn().ok_or(VerifyError::Unsigned)?;
        let info = view.signature_info().ok_or(VerifyError::Unsigned)?;
        let value = view.signature_value().ok_or(VerifyError::Unsigned)?;
        if view.parameters_digest_is_valid() != Some(true) {
            return Err(VerifyError::ParametersDigest);
        }
        let portion: Vec<u8> =
            view.signed_portion().ok_or(VerifyError::Unsigned)?.flatten().copied().collect();
        self.verify(info.signature_type, &portion, value)
    }
}
