//! Keys on disk. The only part of this crate that touches files.
//!
//! ```text
//! <store>/                              0700
//!   lock                                held by whoever changes something
//!   default-identity                    the URI of an identity
//!   identities/<hash>/                  one folder for each identity; the hash is of its name
//!     name                              its URI
//!     default-key                       the URI of a key
//!     keys/<hash>/
//!       name                            its URI
//!       private                         0600, PKCS#8 in DER; for HMAC the bare secret
//!       kind                            ecdsa-p256, ed25519, rsa, hmac
//!       default-certificate             the URI of a certificate
//!       certificates/<hash>.cert        base64 of the Data, as ndnsec writes it
//! ```
//!
//! Every file is written beside its place, flushed to the disk, and renamed into it, so that a crash leaves
//! either the old or the new one. A key is there when its `name` is, which is therefore the last file to be
//! written and the first to be removed, and an identity is there when one of its keys is. A default that
//! names what is not there stands for another of its kind. So whoever is killed at whatever moment leaves a
//! store that works, without or with what he was about to change.
//!
//! Private keys are not encrypted here: who can read the owner's files can use them, as with the
//! stores of other implementations. Take them elsewhere in a [`SafeBag`](crate::SafeBag).

mod files;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use packet::{Component, Name};
use thiserror::Error;

use crate::certificate::{Certificate, CertificateError, UnixTime, ValidityPeriod, names, self_signed};
use crate::error::KeyError;
use crate::key::{KeyKind, PrivateKey};
use crate::safe_bag::check_pair;
use crate::signer::Signer;
use crate::text;

/// A store that cannot be used, or something that is not in it.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The operating system refuses.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What it says.
        error: io::Error,
    },
    /// Others can read the private keys.
    #[error("{} can be read by others than its owner: run `chmod -R go-rwx` on the key store", .0.display())]
    Permissions(PathBuf),
    /// A file of the store does not hold what it should.
    #[error(
        "{} is damaged: {problem}. Put back a copy of it; without one, remove {} and make anew what was there",
        path.display(),
        holder(path).display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// No identity, key or certificate of this name.
    #[error("{} is not in the key store {}", .0, .1.display())]
    Missing(String, PathBuf),
    /// There already is one of this name.
    #[error("{0} is already in the key store: delete it first, or choose another key id")]
    Exists(String),
    /// No default was set, as nothing was ever generated.
    #[error("the key store {} holds no default {}: generate a key first", .0.display(), .1)]
    NoDefault(PathBuf, &'static str),
    /// The name is not of the kind that is needed here.
    #[error("{0}: not the name of a {1}")]
    Name(String, &'static str),
    /// The certificate cannot be used.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// Identities, their keys, and the keys' certificates, in a folder.
#[derive(Clone, Debug)]
pub struct KeyStore {
    root: PathBuf,
}

/// A key in the store.
#[derive(Clone, Debug)]
pub struct StoredKey {
    /// Its name.
    pub name: Name,
    /// The private part.
    pub key: PrivateKey,
    /// The certificate that goes into KeyLocators, if there is any.
    pub default_certificate: Option<Certificate>,
}

impl StoredKey {
    /// Signs with this key, under the name of its default certificate, or of the key if it has none.
    pub fn signer(&self) -> Signer {
        let certificate = self.default_certificate.as_ref();
        let locator =
            certificate.map_or_else(|| self.name.clone(), |certificate| certificate.name().to_name());
        Signer::new(self.key.clone(), locator)
    }
}

impl KeyStore {
    /// Opens the store in `root`, making the folder if it is not there.
    ///
    /// # Errors
    /// The folder cannot be made, or others than its owner may look into it.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let root = root.into();
        files::make_folder(&root)?;
        files::check_private(&root)?;
        Ok(KeyStore { root })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Makes a key and a certificate that it signs for itself, and makes it the default where there is none.
    ///
    /// # Errors
    /// There is such a key already; it cannot be made or written.
    pub fn generate(
        &self,
        identity: &Name,
        key_id: Component<'_>,
        key: PrivateKey,
        now: UnixTime,
        validity: ValidityPeriod,
    ) -> Result<StoredKey, StoreError> {
        let name = names::key_name(identity, key_id).map_err(CertificateError::from)?;
        let certificate = match key.kind() {
            KeyKind::Hmac => None,
            _ => Some(self_signed(&key, &name, names::SELF, now, validity)?),
        };
        self.add_key(&name, &key, certificate.as_ref())?;
        Ok(StoredKey { name, key, default_certificate: certificate })
    }

    /// Puts in a key that was made elsewhere, with a certificate if there is one.
    ///
    /// # Errors
    /// There is such a key already; the certificate is of another key; it cannot be written.
    pub fn add_key(
        &self,
        name: &Name,
        key: &PrivateKey,
        certificate: Option<&Certificate>,
    ) -> Result<(), StoreError> {
        // Of a name with two KEY in it, it could not be said where the identity ends.
        if names::key_of(name.as_ref()) != Some(name.as_ref()) {
            return Err(StoreError::Name(name.to_string(), "key"));
        }
        if let Some(certificate) = certificate {
            check_pair(certificate, key)?;
            if certificate.key_name() != name.as_ref() {
                return Err(KeyError::Mismatch(certificate.name().to_string()).into());
            }
        }
        let _lock = self.lock()?;
        if self.has_key(name) {
            return Err(StoreError::Exists(name.to_string()));
        }
        let identity =
            names::identity_of(name.as_ref()).map(|identity| identity.to_name()).unwrap_or(Name::root());
        self.sweep(&identity)?;
        let (folder, identity_folder) = (self.key_folder(name), self.identity_folder(&identity));
        files::make_folder(&folder)?;
        files::write(&identity_folder.join("name"), identity.to_string().as_bytes())?;
        files::write(&folder.join("kind"), kind_word(key.kind()).as_bytes())?;
        files::write(&folder.join("private"), &key.to_pkcs8()?)?;
        if let Some(certificate) = certificate {
            self.write_certificate(certificate)?;
        }
        // The name makes the key visible, so it comes last.
        files::write(&folder.join("name"), name.to_string().as_bytes())?;
        self.default_if_none(&identity_folder.join("default-key"), name)?;
        self.default_if_none(&self.root.join("default-identity"), &identity)
    }

    /// Adds a certificate of a key in the store, and makes it the key's default if the key has none or only
    /// one that it signed itself.
    ///
    /// # Errors
    /// The key is not in the store, or is another one; it cannot be written.
    pub fn add_certificate(&self, certificate: &Certificate) -> Result<(), StoreError> {
        let _lock = self.lock()?;
        check_pair(certificate, &self.private_key(&certificate.to_key_name())?)?;
        self.write_certificate(certificate)
    }

    fn write_certificate(&self, certificate: &Certificate) -> Result<(), StoreError> {
        let key_name = certificate.to_key_name();
        let present = self.default_certificate(&key_name)?;
        let path = self.certificate_file(&certificate.name().to_name());
        files::make_folder(&self.key_folder(&key_name).join("certificates"))?;
        files::write(&path, text::to_base64(certificate.data().wire()).as_bytes())?;
        let replaces =
            present.is_none_or(|present| present.is_self_signed() && !certificate.is_self_signed());
        if replaces { self.set_default_certificate(&certificate.name().to_name()) } else { Ok(()) }
    }

    /// The names of all identities, in their order.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn identities(&self) -> Result<Vec<Name>, StoreError> {
        let mut found = Vec::new();
        for identity in names_below(&self.root.join("identities"))? {
            if !self.keys(&identity)?.is_empty() {
                found.push(identity);
            }
        }
        Ok(found)
    }

    /// The names of an identity's keys, in their order.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn keys(&self, identity: &Name) -> Result<Vec<Name>, StoreError> {
        names_below(&self.identity_folder(identity).join("keys"))
    }

    /// The certificates of a key, in the order of their names.
    ///
    /// # Errors
    /// The store cannot be read, or a certificate in it is damaged.
    pub fn certificates(&self, key: &Name) -> Result<Vec<Certificate>, StoreError> {
        let folder = self.key_folder(key).join("certificates");
        let mut certificates = Vec::new();
        for path in files::list(&folder)? {
            let bytes = files::read(&path)?;
            let damaged = |problem: String| StoreError::Damaged { path: path.clone(), problem };
            let packets = text::packets_in(&bytes).map_err(|error| damaged(error.to_string()))?;
            if packets.is_empty() {
                return Err(damaged("there is no certificate in it".to_owned()));
            }
            for packet in packets {
                let certificate = Certificate::decode(&packet).map_err(|error| damaged(error.to_string()))?;
                if certificate.key_name() != key.as_ref() {
                    return Err(damaged(format!(
                        "it is a certificate of another key: {}",
                        certificate.name()
                    )));
                }
                certificates.push(certificate);
            }
        }
        certificates.sort_by(|a, b| a.name().cmp(&b.name()));
        Ok(certificates)
    }

    /// A key by its name, by the name of one of its certificates, or by that of its identity, whose default
    /// key is meant then.
    ///
    /// # Errors
    /// There is no such key, or it cannot be read.
    pub fn find(&self, name: &Name) -> Result<StoredKey, StoreError> {
        let key_name = match names::key_of(name.as_ref()) {
            Some(key) => key.to_name(),
            None => self.default_key(name)?,
        };
        let key = self.private_key(&key_name)?;
        let mut default_certificate = self.default_certificate(&key_name)?;
        if let Some(certificate) = &default_certificate {
            // Nobody would believe what it signs.
            let path = self.key_folder(&key_name).join("private");
            check_pair(certificate, &key)
                .map_err(|error| StoreError::Damaged { path, problem: error.to_string() })?;
        }
        if names::is_certificate_name(name.as_ref()) {
            let all = self.certificates(&key_name)?;
            default_certificate = all.into_iter().find(|certificate| certificate.name() == name.as_ref());
            if default_certificate.is_none() {
                return Err(self.missing(name));
            }
        }
        Ok(StoredKey { name: key_name, key, default_certificate })
    }

    /// The default key of the default identity.
    ///
    /// # Errors
    /// Nothing was generated yet, or it cannot be read.
    pub fn default(&self) -> Result<StoredKey, StoreError> {
        self.find(&self.default_identity()?)
    }

    /// The identity that is meant when none is named.
    ///
    /// # Errors
    /// There is none.
    pub fn default_identity(&self) -> Result<Name, StoreError> {
        let all = self.identities()?;
        let named = files::read_name(&self.root.join("default-identity"))?;
        named
            .filter(|named| all.contains(named))
            .or_else(|| all.into_iter().next())
            .ok_or_else(|| StoreError::NoDefault(self.root.clone(), "identity"))
    }

    /// The key that is meant when only its identity is named.
    ///
    /// # Errors
    /// The identity is not in the store, or has no key.
    pub fn default_key(&self, identity: &Name) -> Result<Name, StoreError> {
        let all = self.keys(identity)?;
        let named = files::read_name(&self.identity_folder(identity).join("default-key"))?;
        named
            .filter(|named| all.contains(named))
            .or_else(|| all.into_iter().next())
            .ok_or_else(|| self.missing(identity))
    }

    /// The certificate that goes into KeyLocators of a key.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn default_certificate(&self, key: &Name) -> Result<Option<Certificate>, StoreError> {
        let named = files::read_name(&self.key_folder(key).join("default-certificate"))?;
        let mut all = self.certificates(key)?;
        let is_named = |certificate: &Certificate| {
            named.as_ref().is_some_and(|named| certificate.name() == named.as_ref())
        };
        let place = all.iter().position(is_named);
        Ok(place.map(|place| all.swap_remove(place)).or_else(|| all.pop()))
    }

    /// Makes an identity, key or certificate, whichever the name is of, the default of what it belongs to.
    ///
    /// # Errors
    /// It is not in the store, or the store cannot be written.
    pub fn set_default(&self, name: &Name) -> Result<(), StoreError> {
        let _lock = self.lock()?;
        if names::is_certificate_name(name.as_ref()) {
            self.find(name)?;
            return self.set_default_certificate(name);
        }
        let (file, exists) = match names::identity_of(name.as_ref()) {
            Some(identity) => {
                (self.identity_folder(&identity.to_name()).join("default-key"), self.has_key(name))
            }
            None => (self.root.join("default-identity"), !self.keys(name)?.is_empty()),
        };
        if !exists {
            return Err(self.missing(name));
        }
        files::write(&file, name.to_string().as_bytes())
    }

    /// Deletes an identity, key or certificate, whichever the name is of, and all below it. It may be
    /// damaged.
    ///
    /// # Errors
    /// It is not in the store, or the store cannot be written.
    pub fn delete(&self, name: &Name) -> Result<(), StoreError> {
        let _lock = self.lock()?;
        if names::is_certificate_name(name.as_ref()) {
            return self.delete_certificate(name);
        }
        let Some(identity) = names::identity_of(name.as_ref()) else { return self.delete_identity(name) };
        let identity = identity.to_name();
        if !self.has_key(name) {
            return Err(self.missing(name));
        }
        self.delete_key(name)?;
        match self.keys(&identity)?.pop() {
            Some(other) => {
                let file = self.identity_folder(&identity).join("default-key");
                self.mend_default(&file, name, || Ok(Some(other)))
            }
            None => self.forget_identity(&identity),
        }
    }

    fn delete_certificate(&self, name: &Name) -> Result<(), StoreError> {
        let key = names::key_of(name.as_ref()).map(|key| key.to_name()).unwrap_or(Name::root());
        let file = self.certificate_file(name);
        if !self.has_key(&key) || !file.exists() {
            return Err(self.missing(name));
        }
        files::remove_file(&file)?;
        self.mend_default(&self.key_folder(&key).join("default-certificate"), name, || {
            let rest = self.certificates(&key)?;
            Ok(rest.last().map(|certificate| certificate.name().to_name()))
        })
    }

    /// What is left of a key when this is broken off has no name, and is not there.
    fn delete_key(&self, name: &Name) -> Result<(), StoreError> {
        let folder = self.key_folder(name);
        files::remove_file(&folder.join("name"))?;
        files::remove_folder(&folder)
    }

    fn delete_identity(&self, identity: &Name) -> Result<(), StoreError> {
        let keys = self.keys(identity)?;
        if keys.is_empty() {
            return Err(self.missing(identity));
        }
        keys.iter().try_for_each(|key| self.delete_key(key))?;
        self.forget_identity(identity)
    }

    /// Removes what is left of an identity without keys.
    fn forget_identity(&self, identity: &Name) -> Result<(), StoreError> {
        files::remove_folder(&self.identity_folder(identity))?;
        self.mend_default(&self.root.join("default-identity"), identity, || Ok(self.identities()?.pop()))
    }

    /// Removes what somebody who was killed has left of keys of this identity: secrets that nobody knows of.
    fn sweep(&self, identity: &Name) -> Result<(), StoreError> {
        for folder in files::list(&self.identity_folder(identity).join("keys"))? {
            if !folder.join("name").exists() {
                files::remove_folder(&folder)?;
            }
        }
        Ok(())
    }

    /// Held while something is changed.
    fn lock(&self) -> Result<File, StoreError> {
        files::lock(&self.root.join("lock"))
    }

    fn has_key(&self, name: &Name) -> bool {
        self.key_folder(name).join("name").exists()
    }

    fn missing(&self, name: &Name) -> StoreError {
        StoreError::Missing(name.to_string(), self.root.clone())
    }

    fn certificate_file(&self, certificate: &Name) -> PathBuf {
        let key = names::key_of(certificate.as_ref()).map(|key| key.to_name()).unwrap_or(Name::root());
        self.key_folder(&key).join("certificates").join(format!("{}.cert", hash(certificate)))
    }

    /// If the default in `file` is `gone`, makes `other` the default, or leaves none.
    fn mend_default(
        &self,
        file: &Path,
        gone: &Name,
        other: impl FnOnce() -> Result<Option<Name>, StoreError>,
    ) -> Result<(), StoreError> {
        if files::read_name(file)?.as_ref() != Some(gone) {
            return Ok(());
        }
        match other()? {
            Some(other) => files::write(file, other.to_string().as_bytes()),
            None => files::remove_file(file),
        }
    }

    fn set_default_certificate(&self, name: &Name) -> Result<(), StoreError> {
        let key = names::key_of(name.as_ref()).map(|key| key.to_name()).unwrap_or(Name::root());
        files::write(&self.key_folder(&key).join("default-certificate"), name.to_string().as_bytes())
    }

    fn default_if_none(&self, file: &Path, name: &Name) -> Result<(), StoreError> {
        if file.exists() { Ok(()) } else { files::write(file, name.to_string().as_bytes()) }
    }

    fn private_key(&self, name: &Name) -> Result<PrivateKey, StoreError> {
        let folder = self.key_folder(name);
        if !self.has_key(name) {
            return Err(self.missing(name));
        }
        let path = folder.join("private");
        files::check_private(&path)?;
        let bytes = files::read(&path)?;
        let kind = kind_in(&folder.join("kind"))?;
        let damaged = |problem: String| StoreError::Damaged { path: path.clone(), problem };
        // An HMAC without a secret would be one that anybody can make.
        if kind == KeyKind::Hmac {
            return match bytes.is_empty() {
                true => Err(damaged("it is empty".to_owned())),
                false => Ok(PrivateKey::hmac(&bytes)),
            };
        }
        let key = PrivateKey::from_der(&bytes).map_err(|error| damaged(error.to_string()))?;
        match key.kind() == kind {
            true => Ok(key),
            false => Err(damaged(format!("it is a key of kind {}, and was one of {kind}", key.kind()))),
        }
    }

    fn identity_folder(&self, identity: &Name) -> PathBuf {
        self.root.join("identities").join(hash(identity))
    }

    fn key_folder(&self, key: &Name) -> PathBuf {
        let identity = names::identity_of(key.as_ref()).map(|name| name.to_name()).unwrap_or(Name::root());
        self.identity_folder(&identity).join("keys").join(hash(key))
    }
}

/// The names of what lies in the folders of `folder`.
fn names_below(folder: &Path) -> Result<Vec<Name>, StoreError> {
    let mut found = Vec::new();
    for path in files::list(folder)? {
        let file = path.join("name");
        let Some(name) = files::read_name(&file)? else { continue };
        // A name that was cut is the name of something else.
        if path.file_name().is_none_or(|folder| folder != hash(&name).as_str()) {
            let problem = format!("it says {name}, which is not the name of what is in its folder");
            return Err(StoreError::Damaged { path: file, problem });
        }
        found.push(name);
    }
    found.sort();
    Ok(found)
}

/// The kind of a key, as it stands in a file.
fn kind_in(path: &Path) -> Result<KeyKind, StoreError> {
    let bytes = files::read(path)?;
    let mut all = [KeyKind::EcdsaP256, KeyKind::Ed25519, KeyKind::Rsa, KeyKind::Hmac].into_iter();
    all.find(|kind| kind_word(*kind).as_bytes() == bytes.trim_ascii()).ok_or_else(|| StoreError::Damaged {
        path: path.to_owned(),
        problem: "it names no kind of key".to_owned(),
    })
}

/// What is of no use without this file: the folder of a key or an identity, or the file alone.
fn holder(path: &Path) -> &Path {
    match path.file_name().and_then(|name| name.to_str()) {
        Some("name" | "private" | "kind") => path.parent().unwrap_or(path),
        _ => path,
    }
}

/// What names a file: names may be longer than file names, and hold anything.
fn hash(name: &Name) -> String {
    packet::hex::encode(&crate::sha256(name.canonical())[..16])
}

fn kind_word(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::EcdsaP256 => "ecdsa-p256",
        KeyKind::Ed25519 => "ed25519",
        KeyKind::Rsa => "rsa",
        KeyKind::Hmac => "hmac",
    }
}
