//! A bucket that has failed is not asked again for a while, so that nobody waits for it meanwhile.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Bucket, UploadBody};

/// How long a bucket is left alone after a failure of the network.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// A bucket behind a circuit breaker.
#[derive(Debug)]
pub struct CircuitBreaker<B> {
    bucket: B,
    reads: BreakerState,
    /// Apart: a bucket that is full is read as before.
    writes: BreakerState,
}

/// Nothing of a kind is asked before.
#[derive(Debug, Default)]
struct BreakerState(Mutex<Option<Instant>>);

impl<B: Bucket> CircuitBreaker<B> {
    /// Closed.
    pub fn new(bucket: B) -> Self {
        CircuitBreaker { bucket, reads: BreakerState::default(), writes: BreakerState::default() }
    }
}

impl BreakerState {
    fn guarded<T>(&self, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let rests_until = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if rests_until().is_some_and(|until| Instant::now() < until) {
            return Err(io::Error::new(io::ErrorKind::NotConnected, "the cold tier has just failed"));
        }
        let result = act();
        // That something is not there says nothing about the network.
        let has_failed = result.as_ref().is_err_and(|error| {
            !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof)
        });
        *rests_until() = has_failed.then(|| Instant::now() + RETRY_INTERVAL);
        result
    }
}

impl<B: Bucket> Bucket for CircuitBreaker<B> {
    fn put(&self, object: &str, len_bytes: u64, source: &mut UploadBody<'_>) -> io::Result<()> {
        self.writes.guarded(|| self.bucket.put(object, len_bytes, source))
    }

    fn read_at(&self, object: &str, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.reads.guarded(|| self.bucket.read_at(object, offset, out))
    }

    fn remove(&self, object: &str) -> io::Result<()> {
        self.writes.guarded(|| self.bucket.remove(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cold::SimulatedBucket;

    #[test]
    fn after_a_failure_nobody_asks_for_a_while_and_a_missing_object_is_none() {
        let simulated = SimulatedBucket::new(1);
        let bucket = CircuitBreaker::new(simulated.clone());
        bucket
            .put("a", 3, &mut |_, out| {
                out.fill(7);
                Ok(())
            })
            .unwrap();
        assert_eq!(bucket.read_at("b", 0, &mut [0]).unwrap_err().kind(), io::ErrorKind::NotFound);
        let mut out = [0; 2];
        bucket.read_at("a", 1, &mut out).unwrap();
        assert_eq!(out, [7, 7]);
        simulated.set_reachable(false);
        assert!(bucket.read_at("a", 1, &mut out).is_err());
        let asked = simulated.calls();
        assert_eq!(bucket.read_at("a", 1, &mut out).unwrap_err().kind(), io::ErrorKind::NotConnected);
        assert_eq!(simulated.calls(), asked, "it rests");
    }

    #[test]
    fn a_bucket_that_takes_nothing_more_is_read_as_before() {
        let simulated = SimulatedBucket::new(1);
        let bucket = CircuitBreaker::new(simulated.clone());
        bucket.put("a", 1, &mut |_, _| Ok(())).unwrap();
        simulated.set_reachable(false);
        assert!(bucket.put("b", 1, &mut |_, _| Ok(())).is_err());
        simulated.set_reachable(true);
        let asked = bucket.put("b", 1, &mut |_, _| Ok(()));
        assert_eq!(asked.unwrap_err().kind(), io::ErrorKind::NotConnected, "writes rest");
        bucket.read_at("a", 0, &mut [0]).unwrap();
    }
}
