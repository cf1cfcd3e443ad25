//! What can go wrong with keys and signatures.

use packet::EncodeError;
use packet::ndn::SignatureType;
use thiserror::Error;

use crate::key_kind::KeyKind;

/// A key that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KeyError {
    /// The bytes are not a key in the format that was expected.
    #[error("not a {0}: the bytes are damaged or in another format")]
    Malformed(&'static str),
    /// A key of an algorithm, curve or size that is not supported.
    #[error("{0} is not supported: use ECDSA P-256, Ed25519, or RSA of 2048 to 8192 bits")]
    Unsupported(UnsupportedKey),
    /// A key of another kind than those that all of CCNx 0.8 verifies.
    #[error("signing for CCNx with a key of kind {0} is not supported: use RSA")]
    CcnxKind(KeyKind),
    /// The public and the private part do not belong together.
    #[error("the private key does not belong to the certificate {0}")]
    Mismatch(String),
    /// The passphrase does not open the key, or the key is damaged.
    #[error("the passphrase does not open this key, or the key is damaged")]
    Passphrase,
    /// Encryption of another kind than is supported.
    #[error("the key is encrypted with {0}: export it again with AES-128-CBC or AES-256-CBC (PBES2)")]
    Encryption(UnsupportedEncryption),
    /// The operating system or the library failed.
    #[error("the cryptographic library failed at {0}")]
    Library(&'static str),
}

/// What there is no support for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnsupportedKey {
    /// RSA with so many bits.
    #[error("an RSA key of {0} bits")]
    RsaBits(u32),
    /// RSA with more or fewer bits than may be.
    #[error("an RSA key of this size")]
    RsaSize,
    /// Another elliptic curve.
    #[error("an elliptic curve other than P-256")]
    Curve,
    /// An elliptic curve without a name.
    #[error("a curve given by its parameters and not by its name")]
    CurveParameters,
    /// An algorithm with this object identifier, in DER.
    #[error("a key with the algorithm identifier {0:02x?}")]
    Algorithm(Vec<u8>),
    /// An HMAC secret, which has no form under a passphrase.
    #[error("an encrypted HMAC secret")]
    EncryptedHmac,
    /// The public part of an HMAC secret, which has none.
    #[error("a public key for an HMAC secret")]
    PublicHmac,
}

/// How a key is encrypted that cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UnsupportedEncryption {
    /// By a scheme of PKCS#5 1.5, or of PKCS#12.
    #[error("a scheme older than PBES2")]
    Scheme,
    /// The key of the cipher is not derived by PBKDF2.
    #[error("a key derivation other than PBKDF2")]
    KeyDerivation,
    /// PBKDF2 with another pseudo-random function.
    #[error("PBKDF2 with another function than HMAC-SHA1 or -SHA256")]
    PseudoRandomFunction,
    /// No rounds of PBKDF2, or more than are computed.
    #[error("{0} rounds of PBKDF2, of which there may be 1 to {max}", max = MAX_PBKDF2_ROUNDS)]
    Rounds(u64),
    /// Another cipher.
    #[error("a cipher other than AES-CBC")]
    Cipher,
}

/// The most rounds of PBKDF2 that are computed for a key that is read: some seconds. A file that asks for
/// more wants to keep its reader busy.
pub(crate) const MAX_PBKDF2_ROUNDS: u64 = 10_000_000;

/// A packet that could not be signed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SignError {
    /// The library failed, which happens when the system gives no randomness or memory.
    #[error("the cryptographic library could not sign with {0}")]
    Library(KeyKind),
    /// The packet cannot be encoded with this signature.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// Why a signature does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum VerifyError {
    /// The packet carries no signature, or is not of the NDN dialect.
    #[error("the packet carries no NDN signature")]
    Unsigned,
    /// The object brings no key to verify it with, and none is known (CCNx).
    #[error("the object brings no key, and none is known that could verify it")]
    NoKey,
    /// The signature is of another algorithm than the key.
    #[error("the signature is of type {}, the key checks type {}", found.0, expected.0)]
    OtherAlgorithm {
        /// What the packet says.
        found: SignatureType,
        /// What the key is for.
        expected: SignatureType,
    },
    /// The signature does not fit the bytes.
    #[error("the signature does not fit: the packet was changed, or signed by another key")]
    Wrong,
    /// The key is not the one that the packet names as its publisher's (CCNx).
    #[error("the key is not that of the publisher whom the packet names")]
    OtherPublisher,
    /// The signature is over a digest that is not supported (CCNx).
    #[error("the signature is over a digest other than SHA-256")]
    UnknownDigest,
    /// The way from the packet to the root of the Merkle tree that was signed leads nowhere (CCNx).
    #[error("the packet's witness is no way to the root of a Merkle tree")]
    Witness,
    /// The name of an Interest does not carry the digest of its parameters.
    #[error("the parameters digest in the name does not fit the parameters")]
    ParametersDigest,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_key_is_told_with_what_is_supported() {
        let told = |error: KeyError| error.to_string();
        assert_eq!(
            told(KeyError::Unsupported(UnsupportedKey::Algorithm(vec![0x2a, 0x03]))),
            "a key with the algorithm identifier [2a, 03] is not supported: use ECDSA P-256, Ed25519, or RSA of \
             2048 to 8192 bits"
        );
        assert_eq!(
            told(KeyError::Encryption(UnsupportedEncryption::Rounds(0))),
            "the key is encrypted with 0 rounds of PBKDF2, of which there may be 1 to 10000000: export it again \
             with AES-128-CBC or AES-256-CBC (PBES2)"
        );
        assert!(told(KeyError::CcnxKind(KeyKind::Ed25519)).ends_with("is not supported: use RSA"));
    }
}
