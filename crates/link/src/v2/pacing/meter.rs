//! How fast a neighbour may be sent to that never says whether it keeps up.

use packet::time::{Duration, Instant};

use super::window::SLOT_BYTES;

/// A token bucket, kept as the time at which the neighbour would be done if each frame took it so long. Of
/// large frames the bucket holds fewer, because the neighbour's socket does.
///
/// The one thing known is how often such a neighbour sends: who keeps up with the answers goes on asking. So
/// it may be sent half as much again as it sent of late, and at least [`SLOWEST`].
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    per_frame: Duration,
    busy_until: Instant,
    depth_bytes: u64,
    /// When what it sent was last counted, and how much it was.
    counted_at: Instant,
    counted: u64,
}

/// A frame to a neighbour of which nothing is known: what forwarders take that are not fast.
const SLOWEST: Duration = Duration::from_micros(80);
const FASTEST: Duration = Duration::from_nanos(200);
const COUNT_INTERVAL: Duration = Duration::from_millis(50);
/// Frames that leave together after a pause: each wake-up costs.
const TOGETHER: u64 = 8;

impl Meter {
    pub(crate) fn new(depth_bytes: u64) -> Self {
        Meter {
            per_frame: SLOWEST,
            busy_until: Instant::ZERO,
            depth_bytes,
            counted_at: Instant::ZERO,
            counted: 0,
        }
    }

    /// Learns how many frames the neighbour has sent so far.
    pub(crate) fn handle_received(&mut self, now: Instant, frames: u64) {
        let elapsed = now.saturating_since(self.counted_at);
        if elapsed < COUNT_INTERVAL {
            return;
        }
        let frames_since = frames.saturating_sub(self.counted).max(1);
        (self.counted_at, self.counted) = (now, frames);
        let per_frame = Duration::from_nanos(elapsed.as_nanos() * 2 / 3 / frames_since);
        // It slows down by degrees, so that a pause does not make a newcomer of it.
        self.per_frame = per_frame.clamp(FASTEST, (self.per_frame * 2).clamp(FASTEST, SLOWEST));
    }

    /// Whether a frame may leave now; if not, when it is worth while to try again.
    pub(crate) fn admits(&self, now: Instant, charge: u64) -> Result<(), Instant> {
        let depth = self.depth(charge);
        let waiting = self.busy_until.saturating_since(now).as_nanos().div_ceil(self.per_frame.as_nanos());
        if waiting < depth {
            return Ok(());
        }
        let few = depth - TOGETHER.min(depth.div_ceil(2));
        let ahead = Duration::from_nanos(self.per_frame.as_nanos() * few);
        let over = self.busy_until.saturating_since(now).saturating_sub(ahead);
        Err(now + over.max(Duration::from_nanos(1)))
    }

    /// Notes that a frame leaves. What leaves faster than the meter allows, because something better than it
    /// decides, fills the bucket and no more: what does not fit a socket is lost, and takes no time.
    pub(crate) fn note_sent(&mut self, now: Instant, charge: u64) {
        let full = now + self.per_frame * self.depth(charge);
        self.busy_until = (self.busy_until.max(now) + self.per_frame).min(full);
    }

    /// Frames of such a charge that the bucket holds.
    fn depth(&self, charge: u64) -> u64 {
        (self.depth_bytes / charge.max(SLOT_BYTES)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames that leave at once, and after a time.
    fn burst(meter: &mut Meter, now: Instant, charge: u64) -> u32 {
        let mut count = 0;
        while meter.admits(now, charge).is_ok() {
            meter.note_sent(now, charge);
            count += 1;
        }
        count
    }

    #[test]
    fn a_burst_fits_the_depth_and_then_frames_are_spaced() {
        let mut meter = Meter::new(48 * SLOT_BYTES);
        let start = Instant::from_secs(1);
        assert_eq!(burst(&mut meter, start, SLOT_BYTES), 48);
        let again = meter.admits(start, SLOT_BYTES).unwrap_err();
        assert_eq!(again, start + SLOWEST * 8);
        assert_eq!(burst(&mut meter, again, SLOT_BYTES), 8);
        let mut large = Meter::new(48 * SLOT_BYTES);
        assert_eq!(burst(&mut large, start, 16_640), 6);
    }

    #[test]
    fn what_left_while_the_meter_had_no_say_is_not_waited_for_once_it_has() {
        let mut meter = Meter::new(48 * SLOT_BYTES);
        let now = Instant::from_secs(1);
        for _ in 0..1_000_000 {
            meter.note_sent(now, SLOT_BYTES);
        }
        let again = meter.admits(now, SLOT_BYTES).unwrap_err();
        assert_eq!(again, now + SLOWEST * 8);
    }

    #[test]
    fn who_sends_fast_is_sent_to_fast_and_a_pause_takes_it_back_by_degrees() {
        let mut meter = Meter::new(48 * SLOT_BYTES);
        let mut now = Instant::from_secs(1);
        meter.handle_received(now, 1);
        now += COUNT_INTERVAL;
        meter.handle_received(now, 1 + 50_000);
        // A million a second came, one and a half millions may go.
        assert_eq!(meter.per_frame, Duration::from_nanos(666));
        now += COUNT_INTERVAL;
        meter.handle_received(now, 1 + 50_000);
        assert_eq!(meter.per_frame, Duration::from_nanos(1332));
        for _ in 0..10 {
            now += COUNT_INTERVAL;
            meter.handle_received(now, 1 + 50_000);
        }
        assert_eq!(meter.per_frame, SLOWEST);
    }
}
