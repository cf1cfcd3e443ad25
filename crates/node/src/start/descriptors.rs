//! File descriptors: as many as the system gives, and some of them kept for this host.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Descriptors that the node itself needs: sockets that it listens at, its log, files.
const OWN: u64 = 128;
/// What is taken for the limit where there is none.
const PLENTY: u64 = 1 << 20;

/// Raises the limit that holds for this process to the one that it may have.
pub(crate) fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
        match setrlimit(Resource::Nofile, raised) {
            Ok(()) => tracing::debug!(from = limit.current, to = limit.maximum, "more file descriptors"),
            Err(error) => {
                tracing::info!(%error, limit = limit.current, "no more file descriptors can be had");
            }
        }
    }
}

/// How many connections of other hosts leave some descriptors for applications on this one.
pub(crate) fn for_strangers() -> usize {
    share(getrlimit(Resource::Nofile).current.unwrap_or(PLENTY))
}

fn share(limit: u64) -> usize {
    let share = limit.saturating_sub(OWN) / 4 * 3;
    usize::try_from(share).unwrap_or(usize::MAX).max(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_the_descriptors_is_kept_for_this_host() {
        assert_eq!(share(1024), 672);
        assert_eq!(share(20), 16);
    }
}
