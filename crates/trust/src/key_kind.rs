//! What keys are for.

use std::fmt;

use packet::ndn::SignatureType;

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyKind {
    /// ECDSA over the curve P-256 with SHA-256.
    EcdsaP256,
    /// Ed25519.
    Ed25519,
    /// RSASSA-PKCS1-v1_5 with SHA-256, 2048 to 8192 bits.
    Rsa,
    /// HMAC with SHA-256: one secret for both sides.
    Hmac,
}

impl KeyKind {
    /// The SignatureType that a packet signed with such a key has.
    pub fn signature_type(self) -> SignatureType {
        match self {
            KeyKind::EcdsaP256 => SignatureType::SHA256_WITH_ECDSA,
            KeyKind::Ed25519 => SignatureType::ED25519,
            KeyKind::Rsa => SignatureType::SHA256_WITH_RSA,
            KeyKind::Hmac => SignatureType::HMAC_WITH_SHA256,
        }
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyKind::EcdsaP256 => "ECDSA P-256",
            KeyKind::Ed25519 => "Ed25519",
            KeyKind::Rsa => "RSA",
            KeyKind::Hmac => "HMAC-SHA256",
        })
    }
}
