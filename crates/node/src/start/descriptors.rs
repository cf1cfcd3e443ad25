//! File descriptors: as many as the system gives, and some of them kept for this host.

use std::fs::File;

use rustix::io::fcntl_dupfd_cloexec;
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

/// Has the system make room for so many descriptors at once, or for as many as it gives.
///
/// Otherwise its table of them grows when a connection comes that does not fit, and whoever accepts that one
/// waits until all processors have seen the larger table: 4 to 14 ms at each power of two, in which no packet
/// is forwarded.
pub(crate) fn make_room(faces: usize) {
    let wanted = u64::try_from(faces).unwrap_or(PLENTY).saturating_add(OWN);
    let most = getrlimit(Resource::Nofile).current.unwrap_or(PLENTY).min(PLENTY);
    let last = i32::try_from(wanted.min(most).saturating_sub(1)).unwrap_or(i32::MAX);
    // The copy is closed again; the table stays.
    let made = File::open("/dev/null").and_then(|file| Ok(fcntl_dupfd_cloexec(&file, last)?));
    if let Err(error) = made {
        tracing::debug!(%error, "no room could be made for file descriptors");
    }
}

/// How many connections of other hosts leave some descriptors for applications on this one.
pub(crate) fn for_remote_connections() -> usize {
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

    #[test]
    fn a_table_with_room_for_all_faces_does_not_grow_when_they_come() {
        raise_limit();
        let most = getrlimit(Resource::Nofile).current.unwrap_or(PLENTY);
        make_room(5000);
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let size = status.lines().find_map(|line| line.strip_prefix("FDSize:")).unwrap();
        assert!(size.trim().parse::<u64>().unwrap() >= most.min(5000 + OWN), "{size}");
    }
}
