//! Keys of an experiment, all of them made from the seed: two runs sign the same bytes.

use packet::Name;
use packet::name::UriError;
use packet::random::Random;
use trust::certificate::{names, self_signed};
use trust::revocation::RevocationError;
use trust::{
    Certificate, CertificateError, PrivateKey, Revocation, RevocationReason, Signer, UnixTime, ValidityPeriod,
};

use crate::experiment::plan::EarlierKey;

/// What part of the seed a key is drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyRole {
    /// Whose certificate is believed.
    Trusted,
    /// A forger's, who calls it by the trusted one's name.
    Forged,
    /// The one that the owner had before, which somebody has stolen. Its certificate counts like that of the
    /// trusted one, unless it has run out or is revoked.
    Earlier,
}

/// Why the keys of an identity cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum IdentityKeyError {
    /// The identity is no name.
    #[error("{name}: {source}")]
    Name {
        /// The name that its key would have.
        name: String,
        /// What is wrong with it.
        source: UriError,
    },
    /// The key.
    #[error(transparent)]
    Key(#[from] trust::KeyError),
    /// Its certificate.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The record that revokes it.
    #[error(transparent)]
    Revocation(#[from] RevocationError),
}

/// The key of an identity, in a run with this seed.
pub(crate) fn key(seed: u64, role: KeyRole, identity: &str) -> Result<PrivateKey, IdentityKeyError> {
    let stream: u64 = match role {
        KeyRole::Trusted => 0x6b65_7973,
        KeyRole::Forged => 0x666f_7267,
        KeyRole::Earlier => 0x6561_726c,
    };
    let of_identity = identity
        .bytes()
        .fold(stream, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mut random = Random::derive(seed, of_identity);
    let mut bytes = [0; 32];
    for part in bytes.chunks_exact_mut(8) {
        part.copy_from_slice(&random.next_u64().to_le_bytes());
    }
    Ok(PrivateKey::ed25519_of_seed(&bytes)?)
}

/// What signs with it.
pub(crate) fn signer(seed: u64, role: KeyRole, identity: &str) -> Result<Signer, IdentityKeyError> {
    Ok(Signer::new(key(seed, role, identity)?, key_name(role, identity)?))
}

/// The certificate of the trusted key of an identity, valid for ever and signed by itself.
pub(crate) fn certificate(seed: u64, identity: &str) -> Result<Certificate, IdentityKeyError> {
    certificate_of(seed, KeyRole::Trusted, identity, UnixTime::END)
}

/// The certificate of the earlier key of an identity, signed by itself.
pub(crate) fn earlier_certificate(
    seed: u64,
    identity: &str,
    state: EarlierKey,
) -> Result<Certificate, IdentityKeyError> {
    // All but the first second of virtual time is later than that.
    let until = if state == EarlierKey::Expired { UnixTime::from_secs(0) } else { UnixTime::END };
    certificate_of(seed, KeyRole::Earlier, identity, until)
}

/// Everything that is believed of an identity's keys.
pub(crate) fn certificates(
    seed: u64,
    identity: &str,
    earlier: Option<EarlierKey>,
) -> Result<Vec<Certificate>, IdentityKeyError> {
    let mut list = vec![certificate(seed, identity)?];
    if let Some(state) = earlier {
        list.push(earlier_certificate(seed, identity, state)?);
    }
    Ok(list)
}

/// The record by which an owner revokes its earlier key.
pub(crate) fn revocation(seed: u64, identity: &str) -> Result<Revocation, IdentityKeyError> {
    let certificate = earlier_certificate(seed, identity, EarlierKey::Revoked)?;
    let signer = signer(seed, KeyRole::Earlier, identity)?;
    let reason = RevocationReason::KeyCompromise;
    Ok(Revocation::issue(&certificate, &signer, UnixTime::from_secs(0), reason)?)
}

/// Who signs the list in which the owner of a prefix revokes its keys: the identity above it.
pub(crate) fn list_authority(prefix: &str) -> &str {
    let prefix = prefix.trim_end_matches('/');
    match prefix.rsplit_once('/') {
        Some((above, _)) if !above.is_empty() => above,
        _ => "/",
    }
}

/// What that list is called.
pub(crate) fn list_name(prefix: &str) -> String {
    format!("{}/REVOKED", list_authority(prefix).trim_end_matches('/'))
}

fn certificate_of(
    seed: u64,
    role: KeyRole,
    identity: &str,
    not_after: UnixTime,
) -> Result<Certificate, IdentityKeyError> {
    let key = key(seed, role, identity)?;
    let validity = ValidityPeriod { not_before: UnixTime::from_secs(0), not_after };
    let key_name = key_name(role, identity)?;
    Ok(self_signed(&key, &key_name, names::SELF, UnixTime::from_secs(0), validity)?)
}

fn key_name(role: KeyRole, identity: &str) -> Result<Name, IdentityKeyError> {
    let identity = identity.trim_end_matches('/');
    let id = if role == KeyRole::Earlier { 0 } else { 1 };
    let name = format!("{identity}/KEY/{id}");
    name.parse().map_err(|source| IdentityKeyError::Name { name, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_lies_beside_the_prefix_and_is_signed_by_whoever_is_above_both() {
        for (prefix, authority, list) in [
            ("/net/files", "/net", "/net/REVOKED"),
            ("/net/files/", "/net", "/net/REVOKED"),
            ("/files", "/", "/REVOKED"),
        ] {
            assert_eq!((list_authority(prefix), list_name(prefix).as_str()), (authority, list));
            let above = certificate(7, authority).unwrap();
            assert!(above.identity().is_prefix_of(list.parse::<Name>().unwrap().as_ref()));
        }
    }
}
