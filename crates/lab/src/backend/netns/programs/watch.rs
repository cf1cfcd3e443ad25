//! Programs end at their time.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::{GRACE, locked};

/// Ends a process group at its time, unless it has ended before.
pub(super) struct Watch {
    over: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    pub(super) fn over(group: Pid, left: Duration) -> Self {
        let over = Arc::new((Mutex::new(false), Condvar::new()));
        let seen = over.clone();
        let thread = std::thread::spawn(move || {
            for (left, signal) in [(left, Signal::SIGTERM), (GRACE, Signal::SIGKILL)] {
                let (is_over, changed) = &*seen;
                let waited = changed.wait_timeout_while(locked(is_over), left, |is_over| !*is_over);
                if *waited.unwrap_or_else(PoisonError::into_inner).0 {
                    return;
                }
                let _ = killpg(group, signal);
            }
        });
        Watch { over, thread: Some(thread) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        *locked(&self.over.0) = true;
        self.over.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // It does nothing that panics.
            let _ = thread.join();
        }
    }
}
