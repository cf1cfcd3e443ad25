//! The cold tier: sealed volumes that live in a store on the network.
//!
//! A [`TieredDisk`] stands between a store and its folder. A volume that is [moved out](TieredDisk::migrate)
//! is put into a [`Bucket`] as one object, and what is left in the folder is a stub: the volume's length, the
//! object's name, and the ranges that have been punched out of it since. To the store it is a file like any
//! other. A read of it is one ranged read of the object, in which the punched ranges are zeros; it is never
//! "in memory", so the data plane does not wait for it. The log's end, the index and every volume that is
//! written to stay in the folder, so nothing that is acknowledged waits for the network either, and a store
//! opens without it.
//!
//! The local file is removed after the object is known to be there and the stub is durable. An object gets a
//! name that nobody else uses, so many stores share a bucket and none touches what is another's. When the
//! bucket cannot be reached, reads fail, which is a miss to whoever asked, and volumes stay where they are.

mod circuit_breaker;
mod folder;
mod migration;
mod simulated;
mod stub;
mod tiered;

use std::fmt::Debug;
use std::io;

pub use circuit_breaker::CircuitBreaker;
pub use folder::FolderBucket;
pub use migration::MigrationThread;
pub use simulated::SimulatedBucket;
pub(crate) use tiered::is_stub;
pub use tiered::{TieredCounters, TieredDisk};

/// Gives the bytes of an object from an offset on.
pub type UploadBody<'a> = dyn FnMut(u64, &mut [u8]) -> io::Result<()> + 'a;

/// Objects on the network, each written once. Every call may take as long as the network does, but not for
/// ever.
pub trait Bucket: Debug + Send + Sync {
    /// Stores `len_bytes` under `object`, all of them or nothing.
    ///
    /// # Errors
    /// Those of `source` and of the network. The object may be there all the same.
    fn put(&self, object: &str, len_bytes: u64, source: &mut UploadBody<'_>) -> io::Result<()>;

    /// Fills `out` with what lies at `offset`, by one request.
    ///
    /// # Errors
    /// There is no such object, it is shorter, or the network failed.
    fn read_at(&self, object: &str, offset: u64, out: &mut [u8]) -> io::Result<()>;

    /// Removes an object, if it is there.
    ///
    /// # Errors
    /// Those of the network.
    fn remove(&self, object: &str) -> io::Result<()>;
}

/// Moves volumes out, one at a time, while the store does something else.
pub trait VolumeMigrator: Debug + Send {
    /// Whether another one may be given to it.
    fn is_idle(&self) -> bool;

    /// Begins to move this volume out.
    fn begin(&mut self, volume: u32);
}
