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
    Unsupported(String),
    /// The public and the private part do not belong together.
    #[error("the private key does not belong to the certificate {0}")]
    Mismatch(String),
    /// The passphrase does not open the key, or the key is damaged.
    #[error("the passphrase does not open this key, or the key is damaged")]
    Passphrase,
    /// Encryption of another kind than is supported.
    #[error("the key is encrypted with {0}: export it again with AES-128-CBC or AES-256-CBC (PBES2)")]
    Encryption(String),
    /// The operating system or the library failed.
    #[error("the cryptographic library failed at {0}")]
    Library(&'static str),
}

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
