//! Finding the first window: double it every round trip, and stop before the queue is long (HyStart++, RFC
//! 9406).

use packet::time::Duration;

use super::{DataReport, SentReport};

/// Samples of a round before its shortest time is believed.
const ENOUGH_SAMPLES: u32 = 8;
const MIN_RISE: Duration = Duration::from_millis(4);
const MAX_RISE: Duration = Duration::from_millis(16);

/// Watches round trips during slow start. A round ends when the first transmission after its begin is
/// answered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlowStart {
    next_number: u64,
    round_ends_at: u64,
    last_min: Option<Duration>,
    current_min: Option<Duration>,
    samples: u32,
}

impl SlowStart {
    pub(super) fn handle_sent(&mut self, sent: &SentReport) {
        self.next_number = sent.number + 1;
    }

    /// True when round trips have grown so much that a queue must be filling.
    pub(super) fn handle_data(&mut self, data: &DataReport) -> bool {
        if data.number >= self.round_ends_at {
            self.round_ends_at = self.next_number;
            self.last_min = self.current_min.take().or(self.last_min);
            self.samples = 0;
        }
        let Some(sample) = data.round_trip else { return false };
        self.samples += 1;
        let min = self.current_min.map_or(sample, |min| min.min(sample));
        self.current_min = Some(min);
        let Some(last) = self.last_min else { return false };
        self.samples >= ENOUGH_SAMPLES && min >= last + (last / 8).clamp(MIN_RISE, MAX_RISE)
    }
}
