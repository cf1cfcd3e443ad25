//! Traces of requests that others have recorded: who asked for which object, and how large it is.
//!
//! | word | what it is |
//! |---|---|
//! | `csv` | fields apart by commas: columns by their header, or without one time, object and size |
//! | `oracle-general` | records of 24 bytes of libCacheSim: time, object, size, next request |
//! | `wiki` | fields apart by tabs, as Wikimedia publishes them: time, object, type of image or nothing, size, time to the first byte |
//! | `cdn` | fields apart by blanks, as webcachesim reads them: time, object, size |
//!
//! A header of `csv` calls the object `obj_id`, `object`, `key` or `name`, its size `obj_size`, `size` or
//! `bytes`, and the time `time`, `timestamp` or `ts`.
//!
//! ```
//! use cairn_repo::eviction::{DeleteQueue, DeletionRule};
//! use cairn_repo::trace::{Objects, RequestTraceFormat, TraceReader, replay};
//!
//! let text = "time,obj_id,obj_size\n1,film,700\n2,song,300\n3,film,700\n";
//! let mut objects = Objects::default();
//! let mut requests = Vec::new();
//! for entry in TraceReader::new(text.as_bytes(), RequestTraceFormat::Csv) {
//!     requests.push(objects.number(entry?));
//! }
//! let rule = DeletionRule { threshold_bytes: 2000, ratio: 0.25 };
//! let outcome = replay(&requests, rule, DeleteQueue::default(), 0);
//! assert_eq!((outcome.requests, outcome.hits, outcome.hit_bytes), (3, 1, 700));
//! # Ok::<(), cairn_repo::trace::TraceError>(())
//! ```

mod read;

use std::collections::HashMap;

pub use read::{MAX_LINE, RequestTraceFormat, TraceError, TraceReader};

use crate::eviction::optimum::Request;
use crate::eviction::{DeletionRule, ObjectEviction};
use crate::replay::ReplayedCache;

/// A request as a trace has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When it was asked for, in nanoseconds since what the trace counts from, where the trace says so. All
    /// formats count in seconds, with a fraction or without.
    pub time_ns: Option<u64>,
    /// The object, or a hash of what it is called.
    pub object: u64,
    /// Its size.
    pub bytes: u64,
}

/// Gives the objects of a trace small numbers, in the order in which they appear.
#[derive(Debug, Default)]
pub struct Objects {
    numbers: HashMap<u64, u32>,
}

impl Objects {
    /// The same request, with the object's number.
    pub fn number(&mut self, entry: Entry) -> Request {
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(entry.object).or_insert(next);
        Request { key: number.into(), bytes: entry.bytes.max(1) }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
}

/// What a policy made of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Requests that count.
    pub requests: u64,
    /// Those of them that were hits.
    pub hits: u64,
    /// Bytes asked for by requests that count.
    pub bytes: u64,
    /// Bytes of the hits.
    pub hit_bytes: u64,
    /// Deletion operations.
    pub deletions: u64,
}

/// Plays requests for numbered objects. The first `warm_up` of them do not count.
pub fn replay<P: ObjectEviction>(
    requests: &[Request],
    rule: DeletionRule,
    policy: P,
    warm_up: usize,
) -> Outcome {
    let (mut cache, mut outcome) = (ReplayedCache::new(rule, policy), Outcome::default());
    for (at, request) in requests.iter().enumerate() {
        if at == warm_up {
            cache.begin_counting();
        }
        // Numbers of objects are those of `Objects`.
        let is_hit = cache.request(request.key as u32, request.bytes);
        if at >= warm_up {
            outcome.requests += 1;
            outcome.bytes += request.bytes;
            outcome.hits += u64::from(is_hit);
            outcome.hit_bytes += if is_hit { request.bytes } else { 0 };
        }
    }
    Outcome { deletions: cache.counters().deletions, ..outcome }
}
