//! Telling a new congestion event from the echo of an old one.

/// One reduction for a congestion event, however many Interests it hits.
///
/// When the owner reduces, everything that has left so far may still come back with bad news of the same
/// event. So news counts only if it is about a transmission that left after the last reduction. (NewReno's
/// recovery point, RFC 6582; the chunk tools of NDN call it conservative window adaptation.)
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recovery {
    /// The number of the next transmission.
    next: u64,
    /// Transmissions below are covered by the last reduction.
    point: u64,
}

impl Recovery {
    pub(super) fn handle_sent(&mut self, number: u64) {
        self.next = self.next.max(number + 1);
    }

    /// Whether bad news about transmission `number` is of a new event. If so, all that was sent so far
    /// belongs to it.
    pub(super) fn begins_event(&mut self, number: u64) -> bool {
        let new = number >= self.point;
        if new {
            self.point = self.next;
        }
        new
    }

    /// Whether `number` left after the last reduction.
    pub(super) fn is_past(&self, number: u64) -> bool {
        number >= self.point
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_losses_of_one_flight_are_one_event() {
        let mut recovery = Recovery::default();
        (0..10).for_each(|number| recovery.handle_sent(number));
        assert!(recovery.begins_event(3));
        assert!(!(4..10).any(|number| recovery.begins_event(number)));
        recovery.handle_sent(10);
        assert!(recovery.begins_event(10));
    }
}
