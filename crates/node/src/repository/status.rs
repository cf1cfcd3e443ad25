//! What has to be asked of a repository for its status, from any thread.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use repo::ccnr::CcnrCounters;
use repo::cold::TieredDisk;
use repo::service::ServiceHandle;

use crate::control::RepositoryStatus;

/// Tells how a repository is.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub(crate) path: PathBuf,
    pub(crate) max_bytes: u64,
    pub(crate) handle: ServiceHandle,
    pub(crate) cold: Option<Arc<TieredDisk>>,
    pub(crate) ccnr: Option<SharedCounters>,
}

impl Watched {
    pub(crate) fn status(&self) -> RepositoryStatus {
        RepositoryStatus {
            path: self.path.clone(),
            max_bytes: self.max_bytes,
            service: self.handle.status(),
            cold: self.cold.as_ref().map(|cold| cold.counters()),
            ccnr: self.ccnr.as_ref().map(SharedCounters::get),
        }
    }
}

/// What a repository of CCNx has counted, as others see it.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedCounters(pub(crate) Arc<Mutex<CcnrCounters>>);

impl SharedCounters {
    pub(crate) fn get(&self) -> CcnrCounters {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
