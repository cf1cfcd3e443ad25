//! Who signed a packet, and whether they may: keys, certificates, signing, verification, signed manifests and
//! trust rules.
//!
//! A [`Signer`] makes signatures, a [`SignatureVerifier`] checks them against one key, and a [`Validator`]
//! decides whether that key may speak for that name: it follows key locators up to a trust anchor, under a
//! [`Policy`] of name rules. Everything is a state machine or a function but [`store`], which keeps keys on
//! disk, and [`whole_file`], which reads and writes files; a validator that needs a certificate says which
//! Interest to send and is told what came back.
//!
//! ```
//! use packet::ndn::DataBuilder;
//! use cairn_trust::{KeyKind, PrivateKey, Signer, SignatureVerifier};
//!
//! let key = PrivateKey::generate(KeyKind::EcdsaP256)?;
//! let signer = Signer::new(key.clone(), "/alice/KEY/1".parse()?);
//! let data = signer.sign_data(&DataBuilder::new("/alice/hello".parse()?).content(b"hi".to_vec()))?;
//!
//! let verifier = SignatureVerifier::new(key.public_key()?);
//! verifier.verify_data(&data)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! To make keys, ECDSA signatures, encrypted keys and names of unfinished files, the cryptographic library
//! uses the system's randomness, because seeded randomness would make them worthless. Everything else is as
//! repeatable as the rest of Cairn.

pub mod ccnx;
pub mod certificate;
mod digest;
mod error;
pub mod files;
pub mod key;
mod key_kind;
mod key_packet;
mod killed;
pub mod manifest;
pub mod policy;
pub mod revocation;
mod safe_bag;
mod signature_verifier;
mod signer;
pub mod store;
pub mod text;
pub mod validator;
pub mod whole_file;

pub use certificate::{Certificate, CertificateError, UnixTime, ValidityPeriod};
pub use digest::{Sha256, sha256};
pub use error::{KeyError, SignError, UnsupportedEncryption, UnsupportedKey, VerifyError};
pub use key::{KeyKind, PrivateKey, PublicKey};
pub use key_packet::{open_key_packet, to_key_packet};
pub use policy::Policy;
pub use revocation::{Revocation, RevocationReason, Revocations};
pub use safe_bag::{SafeBag, SafeBagError};
pub use signature_verifier::SignatureVerifier;
pub use signer::{Freshness, InterestSigner, Signer};
pub use validator::{Validator, ValidatorLimits};
