//! Which objects to give up when there is no more room.
//!
//! A policy knows numbers of objects, their sizes and the order of events, nothing of names or disks, so the
//! same policies serve the store and studies of request traces.

mod by_worth;
mod delete_queue;
mod heap;
mod list;
pub mod optimum;
mod tiny_lfu;

use std::fmt;

pub use by_worth::{Gdsf, Lfu};
pub use delete_queue::{DeleteQueue, DeleteQueueConfig, Push};
pub use tiny_lfu::TinyLfu;

/// Decides who leaves. Numbers are small and may be used again after their object has left.
///
/// Calling order for one object: [`include`](Eviction::include) once, then [`grow`](Eviction::grow) and
/// [`request`](Eviction::request) in any order, until [`evict`](Eviction::evict) names it or
/// [`remove`](Eviction::remove) is called.
pub trait Eviction: fmt::Debug + Send {
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

/// The words by which [`by_name`] finds a policy.
pub const NAMES: [&str; 5] = ["delete-queue", "lru", "lfu", "gdsf", "tiny-lfu"];

/// A new policy by its word in configurations; `None` if there is none of this name.
pub fn by_name(name: &str) -> Option<Box<dyn Eviction>> {
    Some(match name {
        "delete-queue" => Box::new(DeleteQueue::new(DeleteQueueConfig::default())),
        // New objects enter where those that were asked for go.
        "lru" => Box::new(DeleteQueue::new(DeleteQueueConfig { inclusion_point: 1.0, push: Push::First })),
        "lfu" => Box::new(Lfu::default()),
        "gdsf" => Box::new(Gdsf::default()),
        "tiny-lfu" => Box::new(TinyLfu::default()),
        _ => return None,
    })
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
        if stored_bytes <= self.threshold_bytes {
            return None;
        }
        let freed = (stored_bytes as f64 * self.ratio.clamp(0.0, 1.0)) as u64;
        Some(stored_bytes.saturating_sub(freed).min(self.threshold_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_means_a_policy_and_lru_is_least_recently_used() {
        assert!(NAMES.iter().all(|name| by_name(name).is_some_and(|policy| policy.is_empty())));
        assert!(by_name("fifo").is_none());
        let mut lru = by_name("lru").unwrap();
        (0..4).for_each(|id| lru.include(id, 0, 1));
        lru.request(1, 0);
        lru.request(0, 0);
        let left: Vec<_> = std::iter::from_fn(|| lru.evict()).collect();
        assert_eq!(left, [2, 3, 1, 0]);
    }
}
