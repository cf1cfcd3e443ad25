//! Private keys, and the secrets of HMAC.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::encoding::{AsDer, EcPrivateKeyRfc5915Der, Pkcs8V1Der};
use aws_lc_rs::hmac;
use aws_lc_rs::rand::{self, SystemRandom};
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};

use super::der::{self, Reader, oid};
use super::public::write_spki;
use super::{KeyKind, PublicKey};
use crate::digest::sha256;
use crate::error::{KeyError, SignError, UnsupportedKey};

const WHAT: &str = "private key (PKCS#8, PKCS#1 or SEC1)";

/// A key that signs. Cloning is cheap and shares the secret, which is wiped when the last clone goes.
#[derive(Clone)]
pub struct PrivateKey(Arc<Secret>);

enum Secret {
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
    Hmac { key: Box<hmac::Key>, bytes: Vec<u8> },
}

impl PrivateKey {
    /// A new key out of the system's randomness; RSA keys have 2048 bits, HMAC secrets 32 bytes.
    ///
    /// # Errors
    /// The system gives no randomness.
    pub fn generate(kind: KeyKind) -> Result<Self, KeyError> {
        const AT: KeyError = KeyError::Library("making a key");
        Ok(PrivateKey(Arc::new(match kind {
            KeyKind::EcdsaP256 => {
                Secret::Ecdsa(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).map_err(|_| AT)?)
            }
            KeyKind::Ed25519 => Secret::Ed25519(Ed25519KeyPair::generate().map_err(|_| AT)?),
            KeyKind::Rsa => Secret::Rsa(RsaKeyPair::generate(KeySize::Rsa2048).map_err(|_| AT)?),
            KeyKind::Hmac => {
                let mut secret = [0; 32];
                rand::fill(&mut secret).map_err(|_| AT)?;
                return Ok(PrivateKey::hmac(&secret));
            }
        })))
    }

    /// A new RSA key of 2048, 3072, 4096 or 8192 bits.
    ///
    /// # Errors
    /// Another size; the system gives no randomness.
    pub fn generate_rsa(bits: u32) -> Result<Self, KeyError> {
        let size = match bits {
            2048 => KeySize::Rsa2048,
            3072 => KeySize::Rsa3072,
            4096 => KeySize::Rsa4096,
            8192 => KeySize::Rsa8192,
            _ => return Err(KeyError::Unsupported(UnsupportedKey::RsaBits(bits))),
        };
        let pair = RsaKeyPair::generate(size).map_err(|_| KeyError::Library("making a key"))?;
        Ok(PrivateKey(Arc::new(Secret::Rsa(pair))))
    }

    /// The Ed25519 key that follows from a seed (RFC 8032 §5.1.5): the same seed makes the same key, so that
    /// simulations can be repeated to the byte. Whoever knows the seed has the key.
    ///
    /// # Errors
    /// The library is out of memory.
    pub fn ed25519_of_seed(seed: &[u8; 32]) -> Result<Self, KeyError> {
        let pair =
            Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| KeyError::Library("making a key"))?;
        Ok(PrivateKey(Arc::new(Secret::Ed25519(pair))))
    }

    /// The secret that both sides of an HMAC know.
    pub fn hmac(secret: &[u8]) -> Self {
        let key = Box::new(hmac::Key::new(hmac::HMAC_SHA256, secret));
        PrivateKey(Arc::new(Secret::Hmac { key, bytes: secret.to_vec() }))
    }

    /// Reads a key in DER: PKCS#8 (unencrypted), or the older PKCS#1 for RSA and SEC1 for elliptic curves, in
    /// which ndn-cxx keeps keys on disk.
    ///
    /// # Errors
    /// Bytes that are no such thing; algorithms, curves and sizes that are not supported.
    pub fn from_der(bytes: &[u8]) -> Result<Self, KeyError> {
        let malformed = |_| KeyError::Malformed(WHAT);
        let secret = match kind_in(bytes)? {
            Form::Pkcs8(KeyKind::EcdsaP256) | Form::Sec1 => Secret::Ecdsa(
                EcdsaKeyPair::from_private_key_der(&ECDSA_P256_SHA256_ASN1_SIGNING, bytes)
                    .map_err(malformed)?,
            ),
            Form::Pkcs8(KeyKind::Ed25519) => {
                Secret::Ed25519(Ed25519KeyPair::from_pkcs8(bytes).map_err(malformed)?)
            }
            Form::Pkcs8(KeyKind::Rsa | KeyKind::Hmac) => {
                Secret::Rsa(RsaKeyPair::from_pkcs8(bytes).map_err(malformed)?)
            }
            Form::Pkcs1 => Secret::Rsa(RsaKeyPair::from_der(bytes).map_err(malformed)?),
        };
        Ok(PrivateKey(Arc::new(secret)))
    }

    /// The key in DER PKCS#8, unencrypted. For HMAC, which has no such form, the bare secret.
    ///
    /// # Errors
    /// The library is out of memory.
    pub fn to_pkcs8(&self) -> Result<Vec<u8>, KeyError> {
        const AT: KeyError = KeyError::Library("writing a key");
        match &*self.0 {
            Secret::Ecdsa(pair) => pair.to_pkcs8v1().map(|key| key.as_ref().to_vec()).map_err(|_| AT),
            Secret::Ed25519(pair) => pair.to_pkcs8v1().map(|key| key.as_ref().to_vec()).map_err(|_| AT),
            Secret::Rsa(pair) => {
                AsDer::<Pkcs8V1Der<'_>>::as_der(pair).map(|key| key.as_ref().to_vec()).map_err(|_| AT)
            }
            Secret::Hmac { bytes, .. } => Ok(bytes.clone()),
        }
    }

    /// The key in the older form of its algorithm, in DER: SEC1 for elliptic curves, PKCS#1 for RSA. For
    /// Ed25519, which has no other, PKCS#8; for HMAC the bare secret.
    ///
    /// # Errors
    /// The library is out of memory.
    pub fn to_older_der(&self) -> Result<Vec<u8>, KeyError> {
        match &*self.0 {
            Secret::Ecdsa(pair) => AsDer::<EcPrivateKeyRfc5915Der<'_>>::as_der(&pair.private_key())
                .map(|key| key.as_ref().to_vec())
                .map_err(|_| KeyError::Library("writing a key")),
            Secret::Rsa(_) => {
                // PKCS#8 is a version, an algorithm, and the older form.
                let pkcs8 = self.to_pkcs8()?;
                let mut info = Reader::new(&pkcs8, WHAT).inside(der::SEQUENCE)?;
                info.number()?;
                info.inside(der::SEQUENCE)?;
                Ok(info.value(der::OCTET_STRING)?.to_vec())
            }
            Secret::Ed25519(_) | Secret::Hmac { .. } => self.to_pkcs8(),
        }
    }

    /// The algorithm.
    pub fn kind(&self) -> KeyKind {
        match &*self.0 {
            Secret::Ecdsa(_) => KeyKind::EcdsaP256,
            Secret::Ed25519(_) => KeyKind::Ed25519,
            Secret::Rsa(_) => KeyKind::Rsa,
            Secret::Hmac { .. } => KeyKind::Hmac,
        }
    }

    /// The public part.
    ///
    /// # Errors
    /// An HMAC secret has none.
    pub fn public_key(&self) -> Result<PublicKey, KeyError> {
        let own_form = match &*self.0 {
            Secret::Ecdsa(pair) => pair.public_key().as_ref(),
            Secret::Ed25519(pair) => pair.public_key().as_ref(),
            Secret::Rsa(pair) => pair.public_key().as_ref(),
            Secret::Hmac { .. } => return Err(KeyError::Unsupported(UnsupportedKey::PublicHmac)),
        };
        PublicKey::from_spki(&write_spki(self.kind(), own_form))
    }

    /// The KeyDigest of a KeyLocator: SHA-256 of the public key, for HMAC of the secret.
    ///
    /// # Errors
    /// As [`PrivateKey::public_key`], but never for HMAC.
    pub fn digest(&self) -> Result<[u8; 32], KeyError> {
        match &*self.0 {
            Secret::Hmac { bytes, .. } => Ok(sha256(bytes)),
            _ => Ok(self.public_key()?.digest()),
        }
    }

    /// The signature over `message`.
    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        let failed = |_| SignError::Library(self.kind());
        let random = SystemRandom::new();
        Ok(match &*self.0 {
            Secret::Ecdsa(pair) => pair.sign(&random, message).map_err(failed)?.as_ref().to_vec(),
            Secret::Ed25519(pair) => pair.try_sign(message).map_err(failed)?.as_ref().to_vec(),
            Secret::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).map_err(failed)?;
                signature
            }
            Secret::Hmac { key, .. } => hmac::sign(key, message).as_ref().to_vec(),
        })
    }

    pub(crate) fn max_signature_bytes(&self) -> usize {
        match &*self.0 {
            Secret::Ecdsa(_) => 72,
            Secret::Ed25519(_) => 64,
            Secret::Rsa(pair) => pair.public_modulus_len(),
            Secret::Hmac { .. } => 32,
        }
    }

    /// The HMAC key, of an HMAC secret.
    pub(crate) fn hmac_key(&self) -> Option<&hmac::Key> {
        match &*self.0 {
            Secret::Hmac { key, .. } => Some(key),
            _ => None,
        }
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PrivateKey").field(&self.kind()).finish()
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        if let Secret::Hmac { bytes, .. } = self {
            // The other kinds are wiped by the library. `black_box` keeps the compiler from dropping the
            // loop.
            bytes.fill(0);
            std::hint::black_box(bytes);
        }
    }
}

enum Form {
    Pkcs8(KeyKind),
    Pkcs1,
    Sec1,
}

/// Which of the forms of a private key this is.
fn kind_in(bytes: &[u8]) -> Result<Form, KeyError> {
    let mut key = Reader::new(bytes, WHAT).inside(der::SEQUENCE)?;
    let version = key.number()?;
    match (key.peek(), version) {
        (Some(der::SEQUENCE), 0 | 1) => {
            let mut algorithm = key.inside(der::SEQUENCE)?;
            match algorithm.value(der::OBJECT_IDENTIFIER)? {
                oid::RSA_ENCRYPTION => Ok(Form::Pkcs8(KeyKind::Rsa)),
                oid::ED25519 => Ok(Form::Pkcs8(KeyKind::Ed25519)),
                oid::EC_PUBLIC_KEY => Ok(Form::Pkcs8(KeyKind::EcdsaP256)),
                other => Err(KeyError::Unsupported(UnsupportedKey::Algorithm(other.to_vec()))),
            }
        }
        (Some(der::INTEGER), 0) => Ok(Form::Pkcs1),
        (Some(der::OCTET_STRING), 1) => Ok(Form::Sec1),
        _ => Err(key.malformed()),
    }
}
