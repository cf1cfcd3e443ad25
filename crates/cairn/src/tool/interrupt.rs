//! Ctrl-C ends a tool in good order: with its statistics, and its files closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};

/// Tells whether somebody wants the tool to stop. A second Ctrl-C stops it at once.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Begins to catch SIGINT and SIGTERM.
    pub(crate) fn catch() -> std::io::Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // Registered in this order: the first signal finds the flag down and raises it.
            signal_hook::flag::register_conditional_shutdown(signal, 130, flag.clone())?;
            signal_hook::flag::register(signal, flag.clone())?;
        }
        Ok(Interrupt(flag))
    }

    pub(crate) fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
