//! Ctrl-C as a value: whoever waits looks at it, and everything is taken down in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, getppid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Whether to stop. Copies see the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop {
    told: Arc<AtomicBool>,
    /// Who started this process, if it is to end with him.
    parent: Option<Pid>,
}

impl Stop {
    /// Set by Ctrl-C, SIGTERM and SIGHUP, and by the end of whoever started this process: a terminal tells
    /// only him.
    pub(crate) fn by_signals() -> std::io::Result<Self> {
        let stop = Stop { parent: getppid(), ..Stop::default() };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, stop.told.clone())?;
        }
        Ok(stop)
    }

    pub(crate) fn set(&self) {
        self.told.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.told.load(Ordering::Relaxed) || self.parent.is_some() && self.parent != getppid()
    }

    /// Waits; fails as soon as it is to stop.
    pub(crate) fn wait(&self, time: Duration) -> Result<(), String> {
        let until = Instant::now() + time;
        loop {
            if self.is_set() {
                return Err("stopped".to_owned());
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_stopped_does_not_wait() {
        let stop = Stop::default();
        assert_eq!(stop.wait(Duration::ZERO), Ok(()));
        stop.clone().set();
        assert!(stop.wait(Duration::from_secs(3600)).is_err());
    }
}
