//! The system's calendar as a run counts it: nanoseconds since 1970, the same for each process and host.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now.
pub(crate) fn epoch_ns() -> u64 {
    epoch_ns_of(SystemTime::now())
}

/// A time as nanoseconds since 1970; zero before that.
pub(crate) fn epoch_ns_of(time: SystemTime) -> u64 {
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
}
