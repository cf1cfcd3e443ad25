//! A name with a key, and the certificate that says so.

use packet::{Component, Name};
use thiserror::Error;
use trust::certificate::{Issue, names, self_signed};
use trust::{Certificate, CertificateError, KeyError, KeyKind, PrivateKey, Signer, UnixTime, ValidityPeriod};

/// How long a certificate counts, in milliseconds: a year of 365 days.
const VALIDITY_MILLIS: u64 = 365 * 24 * 3600 * 1000;

/// Why there is no identity.
#[derive(Debug, Error)]
pub enum IdentityError {
    /// The key cannot be made.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The certificate cannot be made.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The name is too long for that of a key.
    #[error("the name becomes too long: {0}")]
    Name(#[from] packet::DecodeError),
}

/// Who signs. Keys that are to outlive the program are kept by [`trust::store`], and made by `cairn key`.
///
/// ```
/// use cairn::{DataBuilder, Identity};
///
/// let lab = Identity::anchor(&"/lab".parse()?)?;
/// let alice = lab.certify(&"/lab/alice".parse()?)?;
/// let data = alice.signer.sign_data(&DataBuilder::new("/lab/alice/hello".parse()?))?;
/// alice.certificate.verifier().verify_data(&data)?;
/// assert!(lab.certificate.verifier().verify_data(&data).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Identity {
    /// Signs, and names its certificate in what it signs.
    pub signer: Signer,
    /// Of its key.
    pub certificate: Certificate,
}

impl Identity {
    /// A new key for `name`, which certifies itself for a year: a trust anchor.
    ///
    /// # Errors
    /// Key or certificate cannot be made.
    pub fn anchor(name: &Name) -> Result<Self, IdentityError> {
        let (key, key_name, now) = new_key(name)?;
        let certificate = self_signed(&key, &key_name, names::SELF, now, validity(now))?;
        Ok(Identity { signer: Signer::new(key, certificate.name().to_name()), certificate })
    }

    /// A new key for `name`, which this identity certifies for a year. Whoever verifies what it signs asks
    /// for its certificate by name: serve it.
    ///
    /// # Errors
    /// Key or certificate cannot be made.
    pub fn certify(&self, name: &Name) -> Result<Self, IdentityError> {
        let (key, key_name, now) = new_key(name)?;
        let issuer = self.certificate.identity().last().unwrap_or(names::SELF);
        let issue = Issue { issuer_id: issuer, version: now.as_millis(), validity: validity(now) };
        let certificate = issue.certify(&key_name, &key.public_key()?, &self.signer)?;
        Ok(Identity { signer: Signer::new(key, certificate.name().to_name()), certificate })
    }
}

fn new_key(name: &Name) -> Result<(PrivateKey, Name, UnixTime), IdentityError> {
    let now = client::Clock::start().unix();
    let key = PrivateKey::generate(KeyKind::EcdsaP256)?;
    let id = now.as_millis().to_string();
    let key_name = name.with(names::KEY)?.with(Component::generic(id.as_bytes()))?;
    Ok((key, key_name, now))
}

/// From a minute ago, as clocks differ, for a year.
fn validity(now: UnixTime) -> ValidityPeriod {
    ValidityPeriod {
        not_before: UnixTime::from_millis(now.as_millis().saturating_sub(60_000)),
        not_after: UnixTime::from_millis(now.as_millis().saturating_add(VALIDITY_MILLIS)),
    }
}
