//! Asking a run to end before it is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A wish that a run ends early, from another thread than the one that carries it out. A run in virtual time
/// heeds it at its next sample, one in namespaces at its next event. What is measured so far stays, and the
/// run can be gone on with.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks for the end.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Was it asked for?
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
