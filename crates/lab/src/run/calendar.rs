//! What the system's clock says, and how a run's folder writes it.

use packet::UnixTime;

/// Now; the beginning of 1970 where a clock is set before that.
pub(super) fn now() -> UnixTime {
    client::Clock::start().unix()
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
