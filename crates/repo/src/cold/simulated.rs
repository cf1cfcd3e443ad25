//! A bucket in memory that cannot be reached at times, repeatably.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use packet::random::Random;

use super::{Bucket, UploadBody};

/// The bucket. Clones are the same bucket.
#[derive(Clone, Debug)]
pub struct SimulatedBucket {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    random: Random,
    objects: BTreeMap<String, Vec<u8>>,
    is_reachable: bool,
    /// How probable it is that a call fails, before or after it has done what it should.
    failing: f64,
    calls: u64,
}

impl SimulatedBucket {
    /// An empty bucket.
    pub fn new(seed: u64) -> Self {
        let random = Random::derive(seed, 99);
        let state = State { random, objects: BTreeMap::new(), is_reachable: true, failing: 0.0, calls: 0 };
        SimulatedBucket { state: Arc::new(Mutex::new(state)) }
    }

    /// Whether calls reach it from now on.
    pub fn set_reachable(&self, is_reachable: bool) {
        self.lock().is_reachable = is_reachable;
    }

    /// How probable it is from now on that a call fails.
    pub fn set_failing(&self, failing: f64) {
        self.lock().failing = failing;
    }

    /// Names of all objects.
    pub fn objects(&self) -> Vec<String> {
        self.lock().objects.keys().cloned().collect()
    }

    /// Calls that reached it.
    pub fn calls(&self) -> u64 {
        self.lock().calls
    }

    /// Inverts a byte of an object.
    pub fn damage(&self, object: &str, offset: usize) {
        if let Some(byte) = self.lock().objects.get_mut(object).and_then(|bytes| bytes.get_mut(offset)) {
            *byte = !*byte;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something, or fails before or after.
    fn call<T>(&self, act: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.lock();
        let lost = || io::Error::new(io::ErrorKind::TimedOut, "the bucket does not answer");
        if !state.is_reachable {
            return Err(lost());
        }
        state.calls += 1;
        let failing = state.failing;
        if state.random.chance(failing / 2.0) {
            return Err(lost());
        }
        let result = act(&mut state);
        if state.random.chance(failing / 2.0) { Err(lost()) } else { result }
    }
}

impl Bucket for SimulatedBucket {
    fn put(&self, object: &str, len_bytes: u64, source: &mut UploadBody<'_>) -> io::Result<()> {
        let mut bytes = vec![0; len_bytes as usize];
        // In pieces, as one that is sent.
        for (number, part) in bytes.chunks_mut(1000).enumerate() {
            source(number as u64 * 1000, part)?;
        }
        self.call(|state| {
            state.objects.insert(object.to_owned(), bytes);
            Ok(())
        })
    }

    fn read_at(&self, object: &str, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.call(|state| {
            let bytes = state.objects.get(object).ok_or(io::ErrorKind::NotFound)?;
            let part = bytes.get(offset as usize..).and_then(|bytes| bytes.get(..out.len()));
            out.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        })
    }

    fn remove(&self, object: &str) -> io::Result<()> {
        self.call(|state| {
            state.objects.remove(object);
            Ok(())
        })
    }
}
