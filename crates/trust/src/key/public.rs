//! Public keys in SubjectPublicKeyInfo form, as certificates carry them.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::signature::{self, ParsedPublicKey, VerificationAlgorithm};

use super::KeyKind;
use super::der::{self, Reader, oid};
use crate::digest::sha256;
use crate::error::{KeyError, UnsupportedKey};

const WHAT: &str = "public key (SubjectPublicKeyInfo)";

/// A public key, parsed once and ready to verify. Cloning is cheap.
#[derive(Clone)]
pub struct PublicKey {
    kind: KeyKind,
    spki: Arc<[u8]>,
    parsed: Arc<ParsedPublicKey>,
}

impl PublicKey {
    /// Reads a DER SubjectPublicKeyInfo: the content of a certificate.
    ///
    /// # Errors
    /// Bytes that are no such thing; algorithms, curves and sizes that are not supported. Curves must be
    /// named, as all implementations write them now.
    pub fn from_spki(spki: &[u8]) -> Result<Self, KeyError> {
        Self::read(spki, &signature::RSA_PKCS1_2048_8192_SHA256)
    }

    /// The same for keys of CCNx 0.8, whose RSA keys may have 1,024 bits, too. That is little against whoever
    /// has much to gain; the caller decides what such a key is good for.
    ///
    /// # Errors
    /// As [`PublicKey::from_spki`].
    pub fn from_spki_of_ccnx(spki: &[u8]) -> Result<Self, KeyError> {
        Self::read(spki, &signature::RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY)
    }

    fn read(spki: &[u8], rsa: &'static dyn VerificationAlgorithm) -> Result<Self, KeyError> {
        let (kind, key) = open_spki(spki)?;
        let algorithm: &'static dyn VerificationAlgorithm = match kind {
            KeyKind::EcdsaP256 => &signature::ECDSA_P256_SHA256_ASN1,
            KeyKind::Ed25519 => &signature::ED25519,
            KeyKind::Rsa | KeyKind::Hmac => rsa,
        };
        let parsed = ParsedPublicKey::new(algorithm, key).map_err(|_| match kind {
            KeyKind::Rsa => KeyError::Unsupported(UnsupportedKey::RsaSize),
            _ => KeyError::Malformed(WHAT),
        })?;
        Ok(PublicKey { kind, spki: spki.into(), parsed: Arc::new(parsed) })
    }

    /// The algorithm.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The DER SubjectPublicKeyInfo.
    pub fn spki(&self) -> &[u8] {
        &self.spki
    }

    /// SHA-256 of the SubjectPublicKeyInfo: the KeyDigest of a KeyLocator.
    pub fn digest(&self) -> [u8; 32] {
        sha256(&self.spki)
    }

    /// Whether `signature` was made over `message` by the private part of this key.
    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        self.parsed.verify_sig(message, signature).is_ok()
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.spki == other.spki
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PublicKey").field(&self.kind).finish()
    }
}

/// The algorithm, and the key in the algorithm's own form.
fn open_spki(spki: &[u8]) -> Result<(KeyKind, &[u8]), KeyError> {
    let mut outer = Reader::new(spki, WHAT);
    let mut info = outer.inside(der::SEQUENCE)?;
    outer.finish()?;
    let mut algorithm = info.inside(der::SEQUENCE)?;
    let kind = match algorithm.value(der::OBJECT_IDENTIFIER)? {
        oid::RSA_ENCRYPTION => KeyKind::Rsa,
        oid::ED25519 => KeyKind::Ed25519,
        oid::EC_PUBLIC_KEY if algorithm.peek() == Some(der::OBJECT_IDENTIFIER) => {
            match algorithm.value(der::OBJECT_IDENTIFIER)? {
                oid::P256 => KeyKind::EcdsaP256,
                _ => return Err(KeyError::Unsupported(UnsupportedKey::Curve)),
            }
        }
        oid::EC_PUBLIC_KEY => return Err(KeyError::Unsupported(UnsupportedKey::CurveParameters)),
        other => return Err(KeyError::Unsupported(UnsupportedKey::Algorithm(other.to_vec()))),
    };
    let bits = info.value(der::BIT_STRING)?;
    info.finish()?;
    match bits.split_first() {
        Some((0, key)) => Ok((kind, key)),
        _ => Err(KeyError::Malformed(WHAT)),
    }
}

/// The SubjectPublicKeyInfo of a key in the algorithm's own form.
pub(super) fn write_spki(kind: KeyKind, key: &[u8]) -> Vec<u8> {
    let identifier = |value| der::element(der::OBJECT_IDENTIFIER, &[value]);
    let algorithm = match kind {
        KeyKind::EcdsaP256 => [identifier(oid::EC_PUBLIC_KEY), identifier(oid::P256)].concat(),
        KeyKind::Ed25519 => identifier(oid::ED25519),
        KeyKind::Rsa | KeyKind::Hmac => {
            [identifier(oid::RSA_ENCRYPTION), der::element(der::NULL, &[])].concat()
        }
    };
    let algorithm = der::element(der::SEQUENCE, &[&algorithm]);
    let bits = der::element(der::BIT_STRING, &[&[0], key]);
    der::element(der::SEQUENCE, &[&algorithm, &bits])
}
