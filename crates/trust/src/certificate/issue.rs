//! Making certificates: for oneself, asking for one, giving one.

use packet::ndn::DataBuilder;
use packet::time::Duration;
use packet::{Component, ComponentKind, ContentType, Name};

use super::{Certificate, CertificateError, UnixTime, ValidityPeriod, names};
use crate::key::{PrivateKey, PublicKey};
use crate::signer::Signer;

/// How long caches may count a certificate as fresh: an hour, as the format recommends.
const FRESHNESS: Duration = Duration::from_secs(3600);

/// What an issuer writes into a certificate beside name and key.
#[derive(Clone, Copy, Debug)]
pub struct Issue<'a> {
    /// The issuer, in a word of its choice.
    pub issuer_id: Component<'a>,
    /// A number that grows; the time in milliseconds is the usual choice.
    pub version: u64,
    /// From when to when it counts.
    pub validity: ValidityPeriod,
}

impl Issue<'_> {
    /// Certifies that `key` has the name `key_name`, signed by `signer`.
    ///
    /// # Errors
    /// A name that is no key's name; the signature cannot be made.
    pub fn certify(
        &self,
        key_name: &Name,
        key: &PublicKey,
        signer: &Signer,
    ) -> Result<Certificate, CertificateError> {
        if !names::is_key_name(key_name.as_ref()) {
            return Err(CertificateError::KeyName(key_name.to_string()));
        }
        let name = key_name.with(self.issuer_id)?.with_number(ComponentKind::VERSION, self.version)?;
        let data = DataBuilder::new(name)
            .content_type(ContentType::KEY)
            .freshness(FRESHNESS)
            .content(key.spki().to_vec());
        let info = signer.signature_info().validity_period(&self.validity);
        Certificate::new(signer.sign_data_with(&data, &info)?)
    }

    /// Certifies the key of a request, which is a certificate that the key signed for itself. That it did is
    /// checked: whoever asks has the private part.
    ///
    /// # Errors
    /// A request that its own key did not sign; the signature cannot be made.
    pub fn certify_request(
        &self,
        request: &Certificate,
        signer: &Signer,
    ) -> Result<Certificate, CertificateError> {
        request
            .verifier()
            .verify_data(request.data())
            .map_err(|error| CertificateError::Request(request.name().to_string(), error))?;
        self.certify(&request.to_key_name(), request.public_key(), signer)
    }
}

/// Certifies `key` by itself: a trust anchor with the issuer id [`names::SELF`], a request for a certificate
/// with [`names::REQUEST`].
///
/// # Errors
/// As [`Issue::certify`]; an HMAC secret has no certificates.
pub fn self_signed(
    key: &PrivateKey,
    key_name: &Name,
    issuer_id: Component<'_>,
    now: UnixTime,
    validity: ValidityPeriod,
) -> Result<Certificate, CertificateError> {
    let public = key.public_key().map_err(|error| CertificateError::Key(key_name.to_string(), error))?;
    let signer = Signer::new(key.clone(), key_name.clone());
    Issue { issuer_id, version: now.as_millis(), validity }.certify(key_name, &public, &signer)
}
