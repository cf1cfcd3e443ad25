//! The system's calendar, which the processes and hosts of a run share as far as their clocks agree: in
//! nanoseconds since 1970 for what is compared, as [`UnixTime`] for what people read.

use std::time::{SystemTime, UNIX_EPOCH};

use packet::UnixTime;

/// Nanoseconds since 1970; zero where a clock is set before that.
pub(crate) fn epoch_ns() -> u64 {
    epoch_ns_of(SystemTime::now())
}

/// For a file's name: `20260331-142309`.
pub(crate) fn for_file_name(time: UnixTime) -> String {
    time.to_iso().map(char::from).iter().collect::<String>().replace('T', "-")
}

fn epoch_ns_of(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_time_before_1970_counts_as_zero_and_one_after_it_to_the_nanosecond() {
        let after = Duration::new(1_700_000_000, 123_456_789);
        assert_eq!(epoch_ns_of(UNIX_EPOCH + after), 1_700_000_000_123_456_789);
        assert_eq!(epoch_ns_of(UNIX_EPOCH - Duration::from_secs(1)), 0);
    }

    #[test]
    fn a_moment_is_written_without_what_a_shell_minds() {
        assert_eq!(for_file_name(UnixTime::from_secs(1_335_953_368)), "20120502-100928");
    }
}
