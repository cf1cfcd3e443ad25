//! Waits between attempts.

use crate::time::Duration;

/// Waits of which each is twice as long as the one before, up to the longest.
///
/// ```
/// use cairn_packet::DoublingWait;
/// use cairn_packet::time::Duration;
///
/// let mut wait = DoublingWait::new(Duration::from_secs(1), Duration::from_secs(3));
/// assert_eq!([(); 4].map(|()| wait.take().as_millis()), [1000, 2000, 3000, 3000]);
/// wait.begin_anew();
/// assert_eq!(wait.take(), Duration::from_secs(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoublingWait {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl DoublingWait {
    /// The first wait, and the longest.
    pub fn new(first: Duration, longest: Duration) -> Self {
        let first = first.min(longest);
        DoublingWait { first, longest, next: first }
    }

    /// The wait that is due now; the next one is twice as long.
    pub fn take(&mut self) -> Duration {
        let wait = self.next;
        self.next = (wait * 2).min(self.longest);
        wait
    }

    /// The next wait is the first again.
    pub fn begin_anew(&mut self) {
        self.next = self.first;
    }
}
