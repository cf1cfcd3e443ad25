//! One run of the paper's evaluation.

use packet::random::{Random, ZipfError};
use packet::time::{Duration, Instant};

use super::{CLASSES, Reading, Request, Requests, Workload};
use crate::eviction::{DeletionRule, ObjectEviction};
use crate::replay::ReplayedCache;

/// What happened from the first deletion on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Requests that count, by class.
    pub requests: [u64; CLASSES],
    /// Those of them that were hits.
    pub hits: [u64; CLASSES],
    /// Bytes of the files that those requests were for.
    pub requested_bytes: u64,
    /// Bytes of those that were hits.
    pub hit_bytes: u64,
    /// Deletion operations, the one that began the evaluation not counted.
    pub deletions: u64,
    /// Files that they deleted.
    pub deleted_files: u64,
    /// Bytes that were included.
    pub included_bytes: u64,
    /// Bytes of files that were created.
    pub created_bytes: u64,
    /// Files created.
    pub created_files: u64,
    /// All requests since the beginning, those that create files and those that do not count among them.
    pub all_requests: u64,
}

impl Outcome {
    /// Hits of all requests, 0 to 1.
    pub fn hit_rate(&self) -> f64 {
        let requests: u64 = self.requests.iter().sum();
        self.hits.iter().sum::<u64>() as f64 / (requests as f64).max(1.0)
    }

    /// Bytes of hits, of those of all requests, 0 to 1.
    pub fn byte_hit_rate(&self) -> f64 {
        self.hit_bytes as f64 / (self.requested_bytes as f64).max(1.0)
    }

    /// Hits of the requests of one class, 0 to 1; `None` if nobody asked for it.
    pub fn class_hit_rate(&self, class: usize) -> Option<f64> {
        let (requests, hits) = (*self.requests.get(class)?, *self.hits.get(class)?);
        (requests > 0).then(|| hits as f64 / requests as f64)
    }
}

/// One run, from an empty repository on.
#[derive(Debug)]
pub struct Run<P> {
    requests: Requests,
    reading: Reading,
    replay: ReplayedCache<P>,
    outcome: Outcome,
}

impl<P: ObjectEviction> Run<P> {
    /// A run with an empty policy.
    ///
    /// # Errors
    /// An exponent of the workload is negative or no number.
    pub fn new(
        workload: Workload,
        reading: Reading,
        rule: DeletionRule,
        policy: P,
        random: Random,
    ) -> Result<Self, ZipfError> {
        let requests = Requests::new(workload, reading, random)?;
        Ok(Run { requests, reading, replay: ReplayedCache::new(rule, policy), outcome: Outcome::default() })
    }

    /// Runs until `duration` after the first deletion.
    pub fn run(mut self, duration: Duration) -> Outcome {
        let (mut end, mut all) = (None, 0);
        loop {
            let request = self.requests.draw();
            if end.is_some_and(|end: Instant| request.at > end) {
                let counters = self.replay.counters();
                self.outcome.deletions = counters.deletions;
                self.outcome.deleted_files = counters.deleted_objects;
                self.outcome.included_bytes = counters.included_bytes;
                self.outcome.all_requests = all;
                return self.outcome;
            }
            all += 1;
            self.answer(&request);
            if end.is_none() && self.replay.counters().deletions > 0 {
                end = Some(request.at + duration);
                self.outcome = Outcome::default();
                self.replay.begin_counting();
            }
        }
    }

    #[inline]
    fn answer(&mut self, &Request { file, class, bytes, is_new, .. }: &Request) {
        let is_hit = self.replay.touch(file, 0);
        if !is_hit && (is_new || self.reading.keeps_missed) {
            self.replay.include(file, bytes.into());
        }
        if is_new {
            self.outcome.created_files += 1;
            self.outcome.created_bytes += u64::from(bytes);
            if !self.reading.new_are_hits {
                return;
            }
        }
        let class = usize::from(class);
        if let (Some(requests), Some(hits)) =
            (self.outcome.requests.get_mut(class), self.outcome.hits.get_mut(class))
        {
            *requests += 1;
            *hits += u64::from(is_hit || is_new);
        }
        self.outcome.requested_bytes += u64::from(bytes);
        self.outcome.hit_bytes += if is_hit || is_new { u64::from(bytes) } else { 0 };
    }
}
