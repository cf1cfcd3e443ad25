//! Keys of an experiment, all of them made from the seed: two runs sign the same bytes.

use packet::Name;
use packet::random::Random;
use trust::certificate::{names, self_signed};
use trust::{Certificate, PrivateKey, Signer, UnixTime, ValidityPeriod};

/// What part of the seed a key is drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Whose certificate is believed.
    Trusted,
    /// A forger's, who calls it by the trusted one's name.
    Forged,
}

/// The key of an identity, in a run with this seed.
pub(crate) fn key(seed: u64, origin: Origin, identity: &str) -> Result<PrivateKey, String> {
    let stream: u64 = if origin == Origin::Forged { 0x666f_7267 } else { 0x6b65_7973 };
    let of_identity = identity
        .bytes()
        .fold(stream, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mut random = Random::derive(seed, of_identity);
    let mut bytes = [0; 32];
    for part in bytes.chunks_exact_mut(8) {
        part.copy_from_slice(&random.next_u64().to_le_bytes());
    }
    PrivateKey::ed25519_of_seed(&bytes).map_err(|error| error.to_string())
}

/// What signs with it.
pub(crate) fn signer(seed: u64, origin: Origin, identity: &str) -> Result<Signer, String> {
    Ok(Signer::new(key(seed, origin, identity)?, key_name(identity)?))
}

/// The certificate of the trusted key of an identity, valid for ever and signed by itself.
pub(crate) fn certificate(seed: u64, identity: &str) -> Result<Certificate, String> {
    let key = key(seed, Origin::Trusted, identity)?;
    let validity = ValidityPeriod { not_before: UnixTime::from_secs(0), not_after: UnixTime::END };
    self_signed(&key, &key_name(identity)?, names::SELF, UnixTime::from_secs(0), validity)
        .map_err(|error| error.to_string())
}

fn key_name(identity: &str) -> Result<Name, String> {
    let identity = identity.trim_end_matches('/');
    format!("{identity}/KEY/1").parse().map_err(|error: packet::name::UriError| error.to_string())
}
