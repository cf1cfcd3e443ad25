//! What the link to a face carries, how much Data waits for it, and how long answers take.

use packet::time::{Duration, Instant};

/// Bytes of a Data as long as none was seen.
const FIRST_GUESS_BYTES: f64 = 1500.0;
/// Bytes of an NDNLPv2 header with nothing but a rate in it, around a Data of some hundred bytes or more.
const LINK_HEADER_BYTES: usize = 16;
/// Weight of a new sample in the averages.
const WEIGHT: f64 = 0.125;

/// Load of one direction of a link, as far as the engine can know: it sees what it sends and not the queue
/// that this joins. With the rate of the link the one follows from the other, as long as the queue drops
/// nothing.
#[derive(Debug)]
pub(super) struct Load {
    bits_per_second: u64,
    overhead_bytes: u32,
    /// Of a Data on the link.
    mean_bytes: f64,
    seen: bool,
    /// When the link will have sent all Data that it was given.
    busy_until: Instant,
    /// How much later than that it really is: nanoseconds, less than one, times the rate. A link that is
    /// reckoned too fast by that for each Data has a queue that nobody sees.
    later: u64,
    /// From an Interest that was forwarded to its Data.
    response_seconds: Option<f64>,
}

impl Load {
    pub(super) fn new(bits_per_second: u64, overhead_bytes: u32, now: Instant) -> Self {
        Load {
            bits_per_second: bits_per_second.max(1),
            overhead_bytes,
            mean_bytes: FIRST_GUESS_BYTES,
            seen: false,
            busy_until: now,
            later: 0,
            response_seconds: None,
        }
    }

    pub(super) fn handle_data(&mut self, now: Instant, bytes: usize, response: Option<Duration>) {
        let bytes = (bytes + LINK_HEADER_BYTES) as u64 + u64::from(self.overhead_bytes);
        let weight = if self.seen { WEIGHT } else { 1.0 };
        self.seen = true;
        self.mean_bytes += weight * (bytes as f64 - self.mean_bytes);
        if self.busy_until < now {
            (self.busy_until, self.later) = (now, 0);
        }
        let sending = bytes.saturating_mul(8_000_000_000).saturating_add(self.later);
        self.busy_until += Duration::from_nanos(sending / self.bits_per_second);
        self.later = sending % self.bits_per_second;
        if let Some(response) = response.map(Duration::as_secs_f64) {
            let average = self.response_seconds.get_or_insert(response);
            *average += WEIGHT * (response - *average);
        }
    }

    /// Data a second that the link carries.
    pub(super) fn capacity(&self) -> f64 {
        self.bits_per_second as f64 / 8.0 / self.mean_bytes
    }

    /// Data that wait for the link.
    pub(super) fn queued(&self, now: Instant) -> f64 {
        self.busy_until.saturating_since(now).as_secs_f64() * self.capacity()
    }

    /// Average time from an Interest to its Data; `None` before the first.
    pub(super) fn response_seconds(&self) -> Option<f64> {
        self.response_seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_busy_as_long_as_its_rate_says_even_if_data_take_parts_of_nanoseconds() {
        for rate in [10_000_000_000u64, 3_000_000_007, 1_000_000_000_000, 7] {
            let mut load = Load::new(rate, 2, Instant::ZERO);
            for data in 1..=1000 {
                load.handle_data(Instant::ZERO, 1250, None);
                let exact = u128::from(data * 1268u64) * 8_000_000_000 / u128::from(rate);
                assert_eq!(u128::from(load.busy_until.as_nanos()), exact, "{data} at {rate}");
            }
        }
        // What comes later waits for nothing of that.
        let mut load = Load::new(10_000_000_000, 2, Instant::ZERO);
        for second in 0..3 {
            let now = Instant::from_secs(second);
            load.handle_data(now, 1250, None);
            assert_eq!(load.busy_until, now + Duration::from_nanos(1014));
        }
    }

    #[test]
    fn data_waits_as_long_as_the_link_takes_for_what_came_before() {
        // 100 bytes with all headers, 800 bits: a thousand of them a second.
        let mut load = Load::new(800_000, 4, Instant::ZERO);
        for _ in 0..20 {
            load.handle_data(Instant::ZERO, 80, None);
        }
        assert_eq!((load.capacity(), load.queued(Instant::ZERO)), (1000.0, 20.0));
        assert_eq!(load.queued(Instant::from_millis(15)), 5.0);
        assert_eq!(load.queued(Instant::from_secs(1)), 0.0);
        assert_eq!(load.response_seconds(), None);
        load.handle_data(Instant::from_secs(1), 80, Some(Duration::from_millis(80)));
        load.handle_data(Instant::from_secs(1), 80, Some(Duration::from_millis(160)));
        assert_eq!(load.response_seconds(), Some(0.09));
    }
}
