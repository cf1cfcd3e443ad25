//! Persistent repositories behind the content store.
//!
//! The engine asks the [`RepositoryHandles`], in memory, whether a repository may answer; questions and Data
//! to keep go by bounded queues to the threads of each repository, and answers come back by the [`Answers`].
//! The data plane never waits for any of it. What several repositories may answer the first is asked for, and
//! then the others; what several would keep goes to one of them by the name of its object, so that all
//! segments of an object lie together.
//!
//! Three parts are elsewhere, for they are above this in the node: `plane::second_store` carries questions
//! and answers in the data plane's turn, `start::repositories` puts repositories behind its content store,
//! and `ccnr` speaks CCNx's protocol in front of one.

mod cold;
pub(crate) mod handles;
mod s3;
pub(crate) mod status;

use std::sync::Arc;

use formats::printable::printable_path;
use packet::NameHasher;
use repo::cold::{MigrationThread, TieredDisk};
use repo::disk::{Disk, RealDisk};
use repo::service::{self, Service, ServiceConfig, ServiceHandle};
use repo::{OpenError, Store, StoreKeys, eviction};

use crate::config::RepositorySection;
use crate::start_error::{RepositoryError, StartError};
use crate::sys::random_words;
use handles::{Answers, RepositoryHandles};
use status::{SharedCounters, Watched};

/// All repositories of a node, with their threads.
#[derive(Default)]
pub(crate) struct Repositories {
    services: Vec<(RepositorySection, Service, Option<Arc<TieredDisk>>)>,
    /// What their clients of CCNx have had, of each.
    counters: Vec<SharedCounters>,
}

/// Threads that read what lives in a cold tier.
const REMOTE_READERS: usize = 4;

/// Opens the repositories, and makes what the data plane reaches them by: `None` if there are none.
///
/// # Errors
/// One of them cannot be opened.
pub(crate) fn open(
    sections: &[RepositorySection],
    names: &NameHasher,
    answers: &Arc<Answers>,
) -> Result<(Repositories, Option<RepositoryHandles>), StartError> {
    let (mut repositories, mut ends) = (Repositories::default(), Vec::new());
    for (number, section) in sections.iter().enumerate() {
        let (config, kept) = section.understood()?;
        let cannot = |source| StartError::Repository { path: section.path.clone(), source };
        let cannot_open = |error: OpenError| cannot(error.into());
        let [low, high, seed] = random_words()?;
        let keys = StoreKeys { records: [low, high], names: names.clone() };
        let folder = RealDisk::open(&section.path).map_err(|error| cannot_open(error.into()))?;
        let mut disk: Arc<dyn Disk> = Arc::new(folder);
        let cold = section.cold.as_ref().map(|cold| cold::tiered(cold, Arc::clone(&disk), seed));
        let cold = cold.transpose().map_err(|error| cannot(RepositoryError::ColdTier(error.into())))?;
        if let Some(cold) = &cold {
            disk = Arc::clone(cold) as Arc<dyn Disk>;
        }
        let (mut store, recovery) = Store::open(disk, config, keys).map_err(cannot_open)?;
        tracing::info!(
            "repository at {}: {} objects, {} bytes",
            printable_path(&section.path),
            store.catalogue().len(),
            store.bytes()
        );
        if recovery.rebuilt || recovery.missing > 0 {
            tracing::warn!(
                "the index of the repository at {} was damaged and has been made anew; {} objects are lost",
                printable_path(&section.path),
                recovery.missing
            );
        }
        store.set_eviction(eviction::start(&section.policy()?));
        let back = Arc::clone(answers);
        let answered = move |replies: &mut Vec<service::Reply>| back.put(number, replies);
        if let (Some(tiered), Some(cold)) = (&cold, &section.cold) {
            store.set_cold_tier(Box::new(MigrationThread::start(Arc::clone(tiered))?), cold.hot_bytes);
        }
        let remote_readers = if cold.is_some() { REMOTE_READERS } else { 0 };
        let config = ServiceConfig { remote_readers, ..ServiceConfig::default() };
        let service = Service::start(store, config, Arc::new(answered))?;
        ends.push((kept, service.handle()));
        repositories.services.push((section.clone(), service, cold));
        repositories.counters.push(SharedCounters::default());
    }
    let handles = (!ends.is_empty()).then(|| RepositoryHandles::new(ends, names.clone()));
    Ok((repositories, handles))
}

impl Repositories {
    /// Each with its section, what reaches it, and where its clients of CCNx are counted.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&RepositorySection, ServiceHandle, &SharedCounters)> {
        let services = self.services.iter().zip(&self.counters);
        services.map(|((section, service, _), counters)| (section, service.handle(), counters))
    }

    /// Ways to ask them how they are, from any thread.
    pub(crate) fn watched(&self) -> Vec<Watched> {
        let services = self.services.iter().zip(&self.counters);
        let watched = services.map(|((section, service, cold), counters)| Watched {
            path: section.path.clone(),
            max_bytes: section.max_bytes,
            handle: service.handle(),
            cold: cold.clone(),
            ccnr: (!section.ccnx_namespaces.is_empty()).then(|| counters.clone()),
        });
        watched.collect()
    }

    /// Commits what they have, and ends their threads.
    pub(crate) fn stop(&mut self) {
        for (section, service, _) in self.services.drain(..) {
            if service.stop().is_none() {
                tracing::error!("the repository at {} has failed", printable_path(&section.path));
            }
        }
    }
}
