//! Which objects to give up when there is no more room.
//!
//! A policy knows numbers of objects, their sizes and the order of events, nothing of names or disks, so the
//! same policies serve the store and studies of request traces.

mod by_worth;
mod delete_queue;
mod heap;
mod list;
mod of_content_store;
pub mod optimum;
mod registry;
mod tiny_lfu;

use std::fmt;

pub use by_worth::{Gdsf, Lfu};
pub use delete_queue::{DeleteQueue, DeleteQueueConfig, Push};
pub use of_content_store::{OfContentStore, S3Fifo, Sieve};
pub use registry::{
    ObjectEvictionKind, ObjectEvictionSpec, StartObjectEviction, add_object_evictions, names, start,
};
pub use tiny_lfu::TinyLfu;

/// Decides who leaves. Numbers are small and may be used again after their object has left.
///
/// Calling order for one object: [`include`](Self::include) once, then [`grow`](Self::grow) and
/// [`request`](Self::request) in any order, until [`evict`](Self::evict) names it or
/// [`remove`](Self::remove) is called. A content store's policy is [`engine::Eviction`]: it counts entries,
/// not bytes that grow.
pub trait ObjectEviction: fmt::Debug + Send {
    /// Object `id` has come, with so many bytes so far. `key` identifies its name across its comings and
    /// goings.
    fn include(&mut self, id: u32, key: u64, bytes: u64);

    /// Object `id` has so many bytes now.
    fn grow(&mut self, id: u32, bytes: u64) {
        let _ = (id, bytes);
    }

    /// This segment of object `id` was asked for and found.
    fn request(&mut self, id: u32, segment: u32);

    /// Object `id` leaves for a reason of its own.
    fn remove(&mut self, id: u32);

    /// Chooses who leaves for lack of room, and forgets it; `None` if there is nobody.
    fn evict(&mut self) -> Option<u32>;

    /// Objects present.
    fn len(&self) -> usize;

    /// True when there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory held.
    fn footprint_bytes(&self) -> usize;
}

impl ObjectEviction for Box<dyn ObjectEviction> {
    fn include(&mut self, id: u32, key: u64, bytes: u64) {
        (**self).include(id, key, bytes);
    }

    fn grow(&mut self, id: u32, bytes: u64) {
        (**self).grow(id, bytes);
    }

    fn request(&mut self, id: u32, segment: u32) {
        (**self).request(id, segment);
    }

    fn remove(&mut self, id: u32) {
        (**self).remove(id);
    }

    fn evict(&mut self) -> Option<u32> {
        (**self).evict()
    }

    fn len(&self) -> usize {
        (**self).len()
    }

    fn footprint_bytes(&self) -> usize {
        (**self).footprint_bytes()
    }
}

/// When a deletion begins, and how far it goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeletionRule {
    /// A deletion begins once more bytes than this are stored. A soft threshold: what is being included is
    /// completed first.
    pub threshold_bytes: u64,
    /// The share of the stored bytes that a deletion frees at least, 0 to 1. With 0 it frees what is above
    /// the threshold.
    pub ratio: f64,
}

impl DeletionRule {
    /// Down to how many bytes objects are to be deleted, when so many are stored; `None` if no deletion is
    /// due.
    pub fn target_bytes(&self, stored_bytes: u64) -> Option<u64> {
        self.target(stored_bytes, self.threshold_bytes)
    }

    /// The same for whatever may not be more than `threshold`.
    pub(crate) fn target(&self, stored: u64, threshold: u64) -> Option<u64> {
        if stored <= threshold {
            return None;
        }
        let freed = (stored as f64 * self.ratio.clamp(0.0, 1.0)) as u64;
        Some(stored.saturating_sub(freed).min(threshold))
    }
}
