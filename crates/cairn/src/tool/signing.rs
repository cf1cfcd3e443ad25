//! Which key a tool signs with, and where keys are.

use std::path::PathBuf;

use clap::Args;
use packet::{Data, Name};
use trust::ccnx::{CcnxSigner, DEFAULT_KEY_FILE};
use trust::certificate::names::key_of;
use trust::store::{KeyStore, StoredKey};
use trust::{Certificate, Signer};

use super::ToolError;

/// Where keys are.
#[derive(Clone, Debug, Args)]
pub(crate) struct StoreArguments {
    /// The folder with the keys. Left out: CAIRN_KEYS from the environment, or ~/.cairn/keys.
    #[arg(long, value_name = "FOLDER", global = true, help_heading = "Keys")]
    pub(crate) keys: Option<PathBuf>,
}

impl StoreArguments {
    pub(crate) fn open(&self) -> Result<KeyStore, ToolError> {
        Ok(KeyStore::open(self.folder()?)?)
    }

    fn folder(&self) -> Result<PathBuf, ToolError> {
        let folder = self.keys.clone().or_else(|| std::env::var_os("CAIRN_KEYS").map(PathBuf::from));
        let folder =
            folder.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cairn/keys")));
        folder.ok_or_else(|| ToolError::other("there is no HOME to keep keys in: say where with --keys"))
    }
}

/// Which key to sign with.
#[derive(Clone, Debug, Args)]
pub(crate) struct SigningArguments {
    /// What to sign with: an identity, key or certificate in the key store, by its name; `default` for the
    /// store's default key; `digest` for a digest that proves integrity only; `null` for nothing.
    #[arg(
        long,
        short = 'S',
        value_name = "KEY",
        default_value = "digest",
        global = true,
        help_heading = "Keys"
    )]
    pub(crate) sign: String,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

impl SigningArguments {
    pub(crate) fn signer(&self) -> Result<Signer, ToolError> {
        match self.sign.as_str() {
            "digest" => Ok(Signer::digest()),
            "null" => Ok(Signer::null()),
            _ => Ok(self.key()?.map_or_else(Signer::digest, |key| key.signer())),
        }
    }

    /// What signs for CCNx, where everything carries a signature: an RSA key of the store, or, if none is
    /// named, a key that is kept for this alone.
    pub(crate) fn ccnx_signer(&self) -> Result<CcnxSigner, ToolError> {
        match self.key()? {
            Some(stored) => Ok(CcnxSigner::new(stored.key)?),
            None if self.sign == "null" => Err(ToolError::other("every object of CCNx is signed")),
            None => {
                let path = self.store.folder()?.join(DEFAULT_KEY_FILE);
                node::ccnx_signer(&path).map_err(ToolError::file(path))
            }
        }
    }

    /// The certificate that `key` signs under, and those above it that are in the key store too.
    pub(crate) fn certificates(&self, key: &StoredKey) -> Result<Vec<Data>, ToolError> {
        let store = self.store.open()?;
        let mut found: Vec<Certificate> = key.default_certificate.iter().cloned().collect();
        while let Some(issuer) =
            found.last().filter(|top| !top.is_self_signed()).and_then(Certificate::signer)
        {
            let Some(issuer_key) = key_of(issuer) else { break };
            let all = store.certificates(&issuer_key.to_name())?;
            let above = all.into_iter().find(|other| other.name() == issuer || other.key_name() == issuer);
            match above.filter(|above| found.iter().all(|below| below.name() != above.name())) {
                Some(above) => found.push(above),
                None => break,
            }
        }
        Ok(found.iter().map(|certificate| certificate.data().clone()).collect())
    }

    /// The key, if it is one.
    pub(crate) fn key(&self) -> Result<Option<StoredKey>, ToolError> {
        match self.sign.as_str() {
            "digest" | "null" => Ok(None),
            "default" => Ok(Some(self.store.open()?.default()?)),
            name => {
                let name: Name =
                    name.parse().map_err(|error| ToolError::other(format!("--sign {name}: {error}")))?;
                Ok(Some(self.store.open()?.find(&name)?))
            }
        }
    }
}
