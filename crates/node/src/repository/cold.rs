//! The cold tier of a repository, as the configuration says it.

use std::path::PathBuf;
use std::sync::Arc;

use formats::printable::printable_path;
use repo::cold::{Bucket, CircuitBreaker, FolderBucket, TieredDisk};
use repo::disk::Disk;
use thiserror::Error;

use super::s3::{Location, S3Bucket, S3Error};
use crate::config::{ColdPlace, ColdSection, ConfigError};

/// Why there is no cold tier.
#[derive(Debug, Error)]
pub(super) enum ColdTierError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{}: {source}", printable_path(path))]
    Folder { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    S3(#[from] S3Error),
}

/// The folder with what the section says behind it. Nothing is asked of the network yet.
///
/// # Errors
/// The section is wrong, or what it names is not there.
pub(super) fn tiered(
    section: &ColdSection,
    base: Arc<dyn Disk>,
    seed: u64,
) -> Result<Arc<TieredDisk>, ColdTierError> {
    let bucket: Arc<dyn Bucket> = match section.place()? {
        ColdPlace::Folder(path) => {
            let bucket = FolderBucket::open(path)
                .map_err(|source| ColdTierError::Folder { path: path.to_owned(), source })?;
            Arc::new(CircuitBreaker::new(bucket))
        }
        ColdPlace::S3 { endpoint, bucket } => {
            let location = Location {
                endpoint,
                region: &section.region,
                bucket,
                prefix: &section.prefix,
                credentials: section.credentials.as_deref(),
            };
            Arc::new(CircuitBreaker::new(S3Bucket::new(&location)?))
        }
    };
    Ok(Arc::new(TieredDisk::new(base, bucket, seed)))
}
