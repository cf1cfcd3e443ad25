//! What lets threads begin a window together, and tells when they are done with it.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

use packet::time::Instant;

/// How often a thread looks whether it is its turn before it lets others run: windows take microseconds, and
/// waking up takes as long.
const LOOKS: u32 = 4_000;

/// What the threads tell each other.
#[derive(Default)]
pub(super) struct Gate {
    /// How many windows have begun.
    windows: AtomicU64,
    /// When the latest ends, in nanoseconds.
    until: AtomicU64,
    /// How many threads beside the first are done with it.
    finished: AtomicUsize,
    /// The window before waits for somebody to put it in order.
    is_unsettled: AtomicBool,
    /// Nobody has anything to do any more, or somebody has panicked.
    is_over: AtomicBool,
}

/// Opens the gate for good when dropped, so that nobody waits for one who has panicked.
pub(super) struct Closing<'a>(pub(super) &'a Gate);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Release);
    }
}

impl Gate {
    /// Waits until something is so; false if it will not be any more.
    fn wait(&self, is_so: impl Fn() -> bool) -> bool {
        let mut looks = 0;
        while !is_so() {
            if self.is_over.load(Ordering::Acquire) {
                return false;
            }
            looks += 1;
            if looks < LOOKS {
                spin_loop();
            } else {
                thread::yield_now();
            }
        }
        true
    }

    /// Begins a window that ends at `until`; `is_unsettled` says that the one before is not in order yet.
    pub(super) fn begin(&self, until: Instant, is_unsettled: bool) {
        self.until.store(until.as_nanos(), Ordering::Relaxed);
        self.finished.store(0, Ordering::Relaxed);
        self.is_unsettled.store(is_unsettled, Ordering::Relaxed);
        self.windows.fetch_add(1, Ordering::Release);
    }

    /// Works window by window, until all is over.
    pub(super) fn work(&self, mut window: impl FnMut(Instant)) {
        let _closing = Closing(self);
        let mut windows = 0;
        while self.wait(|| self.windows.load(Ordering::Acquire) != windows) {
            windows += 1;
            window(Instant::from_nanos(self.until.load(Ordering::Relaxed)));
            self.finished.fetch_add(1, Ordering::Release);
        }
    }

    /// Waits until so many threads are done with the window; false if they never will be.
    pub(super) fn wait_for(&self, threads: usize) -> bool {
        self.wait(|| self.finished.load(Ordering::Acquire) == threads)
    }

    /// Whether whoever asks is to put the window before in order: who asks first is.
    pub(super) fn is_to_settle(&self) -> bool {
        self.is_unsettled.load(Ordering::Relaxed) && self.is_unsettled.swap(false, Ordering::AcqRel)
    }
}
