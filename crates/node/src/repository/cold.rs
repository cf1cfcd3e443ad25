//! The cold tier of a repository, as the configuration says it.

use std::sync::Arc;

use repo::cold::{Bucket, CircuitBreaker, FolderBucket, TieredDisk};
use repo::disk::Disk;

use super::s3::{Location, S3Bucket};
use crate::config::{ColdPlace, ColdSection};

/// The folder with what the section says behind it. Nothing is asked of the network yet.
///
/// # Errors
/// In words.
pub(super) fn tiered(
    section: &ColdSection,
    base: Arc<dyn Disk>,
    seed: u64,
) -> Result<Arc<TieredDisk>, String> {
    let bucket: Arc<dyn Bucket> = match section.place().map_err(|error| error.to_string())? {
        ColdPlace::Folder(path) => {
            let bucket = FolderBucket::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
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
