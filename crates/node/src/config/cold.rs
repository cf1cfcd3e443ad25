//! The cold tier of a repository, as the configuration says it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ConfigError;

/// Where volumes of a repository go that its folder has no room for: another folder, or a bucket of an
/// S3-compatible store, which several nodes may share.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ColdSection {
    /// When volumes in the repository's own folder take more bytes, the oldest leave it.
    pub hot_bytes: u64,
    /// Another folder.
    pub folder: Option<PathBuf>,
    /// Or a store of objects: its address, as https://host:port.
    pub endpoint: Option<String>,
    /// The store's bucket, which must be there.
    pub bucket: Option<String>,
    /// What names of objects in the bucket begin with.
    #[serde(default)]
    pub prefix: String,
    /// The store's region.
    #[serde(default = "default_region")]
    pub region: String,
    /// A file with lines aws_access_key_id = and aws_secret_access_key =; left out, AWS_ACCESS_KEY_ID and
    /// AWS_SECRET_ACCESS_KEY of the environment.
    pub credentials: Option<PathBuf>,
}

fn default_region() -> String {
    "us-east-1".to_owned()
}

/// Which of the two it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColdPlace<'a> {
    Folder(&'a Path),
    S3 { endpoint: &'a str, bucket: &'a str },
}

impl ColdSection {
    /// Where it is.
    ///
    /// # Errors
    /// It is nowhere, or in two places.
    pub(crate) fn place(&self) -> Result<ColdPlace<'_>, ConfigError> {
        match (&self.folder, &self.endpoint, &self.bucket) {
            (Some(folder), None, None) => Ok(ColdPlace::Folder(folder)),
            (None, Some(endpoint), Some(bucket)) if !bucket.is_empty() => {
                Ok(ColdPlace::S3 { endpoint, bucket })
            }
            _ => Err(ConfigError::new(
                "repository.cold: give either folder, or endpoint and bucket".to_owned(),
            )),
        }
    }
}
