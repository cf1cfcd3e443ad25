//! What the system's clock says, and how a run's folder writes it.

use std::time::{SystemTime, UNIX_EPOCH};

use packet::UnixTime;

/// Now; the beginning of 1970 where a clock is set before that.
pub(super) fn now() -> UnixTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixTime::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// For a file's name: `20260331-142309`.
pub(super) fn compact(time: UnixTime) -> String {
    time.to_iso().map(char::from).iter().collect::<String>().replace('T', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_without_what_a_shell_minds() {
        assert_eq!(compact(UnixTime::from_secs(1_335_953_368)), "20120502-100928");
    }
}
