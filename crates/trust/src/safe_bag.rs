//! A certificate and its private key under a passphrase, in one piece: the SafeBag of ndn-cxx (`ndnsec
//! export`).

use packet::ndn::tlv::{Reader, element_len, write_element, write_header};
use packet::ndn::types;
use thiserror::Error;

use crate::certificate::{Certificate, CertificateError};
use crate::error::KeyError;
use crate::key::{PrivateKey, encrypted};

const SAFE_BAG: u32 = 128;
const ENCRYPTED_KEY: u32 = 129;

/// A SafeBag that cannot be opened or made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SafeBagError {
    /// It is no SafeBag.
    #[error("not a SafeBag: {0}")]
    Malformed(#[from] packet::DecodeError),
    /// The certificate in it is none.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The key in it cannot be opened, or not be used.
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// A certificate and the private key that belongs to it.
#[derive(Clone, Debug)]
pub struct SafeBag {
    /// The certificate.
    pub certificate: Certificate,
    /// The key in it, the private part.
    pub key: PrivateKey,
}

impl SafeBag {
    /// Opens a SafeBag. That certificate and key belong together is checked; who signed the certificate is
    /// not.
    ///
    /// # Errors
    /// The wrong passphrase; encryption, key or certificate of a kind that is not supported, or damaged.
    pub fn open(bytes: &[u8], passphrase: &[u8]) -> Result<Self, SafeBagError> {
        let mut outer = Reader::new(bytes, "SafeBag");
        let bag = outer.required(SAFE_BAG, "SafeBag")?;
        outer.finish()?;
        let mut inside = outer.inside(bag, "SafeBag");
        let data = inside.required(types::DATA, "Data")?;
        let encrypted_key = inside.required(ENCRYPTED_KEY, "EncryptedKey")?;
        let certificate = Certificate::decode(bytes.get(data.start..data.end()).unwrap_or_default())?;
        let key = encrypted::decrypt(encrypted_key.value, passphrase)?;
        check_pair(&certificate, &key)?;
        Ok(SafeBag { certificate, key })
    }

    /// Writes the SafeBag, the key encrypted with AES-256.
    ///
    /// # Errors
    /// Certificate and key do not belong together; the system gives no randomness.
    pub fn seal(&self, passphrase: &[u8]) -> Result<Vec<u8>, SafeBagError> {
        check_pair(&self.certificate, &self.key)?;
        let encrypted_key = encrypted::encrypt(&self.key, passphrase)?;
        let data = self.certificate.data().wire();
        let mut bytes = Vec::new();
        write_header(&mut bytes, SAFE_BAG, data.len() + element_len(ENCRYPTED_KEY, encrypted_key.len()));
        bytes.extend_from_slice(data);
        write_element(&mut bytes, ENCRYPTED_KEY, &encrypted_key);
        Ok(bytes)
    }
}

/// Fails unless `certificate` is about `key`.
pub(crate) fn check_pair(certificate: &Certificate, key: &PrivateKey) -> Result<(), KeyError> {
    if key.public_key()? == *certificate.public_key() {
        Ok(())
    } else {
        Err(KeyError::Mismatch(certificate.name().to_string()))
    }
}
