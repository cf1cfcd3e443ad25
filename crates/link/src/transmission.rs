//! How long packets take to be sent: by a link that is bad on purpose, and by the simulator's links.
//!
//! What may wait meanwhile follows two rules. The simulator's queues list what waits behind the packet that
//! is being sent, because observers ask for it. A link that is bad on purpose remembers no frames, but when
//! it will be idle; so what is left of the frame that is being sent counts as well.

use packet::time::Duration;

/// Sends packets one after the other at a fixed rate. Each leaves at a whole nanosecond, the first at which
/// its last bit is sent; what that is too late is not lost to the next, so that a link carries what its rate
/// says however fast it is.
#[derive(Clone, Copy, Debug)]
pub struct Transmission {
    rate_bits_per_second: u64,
    /// How much later than its last bit the last packet left, in nanoseconds divided by the rate. Less than
    /// the rate.
    late: u64,
    /// The last packet's size: most are followed by others of the same, which nothing need be divided for.
    size_bytes: u32,
    /// How many nanoseconds one of that size takes, rounded down, and what is left over, in nanoseconds
    /// divided by the rate.
    whole_nanos: u64,
    rest: u64,
}

impl Transmission {
    /// At so many bits a second, one at least.
    pub fn new(rate_bits_per_second: u64) -> Self {
        let rate_bits_per_second = rate_bits_per_second.max(1);
        Transmission { rate_bits_per_second, late: 0, size_bytes: 0, whole_nanos: 0, rest: 0 }
    }

    /// Bytes that are sent within a span of time.
    pub fn bytes_in(&self, span: Duration) -> u64 {
        let bits = u128::from(span.as_nanos()) * u128::from(self.rate_bits_per_second) / 1_000_000_000;
        u64::try_from(bits / 8).unwrap_or(u64::MAX)
    }

    /// The next packet begins to be sent when it comes, not when the last one has left.
    #[inline]
    pub fn rest(&mut self) {
        self.late = 0;
    }

    /// From the time at which the last packet left to that at which the next does.
    #[inline]
    pub fn next(&mut self, size_bytes: u32) -> Duration {
        if size_bytes != self.size_bytes {
            self.measure(size_bytes);
        }
        // What the last packet was too late is gained now, or a part of it.
        if self.rest <= self.late {
            self.late -= self.rest;
            return Duration::from_nanos(self.whole_nanos);
        }
        self.late += self.rate_bits_per_second - self.rest;
        Duration::from_nanos(self.whole_nanos.saturating_add(1))
    }

    /// Finds out how long packets of a size take.
    #[inline(never)]
    fn measure(&mut self, size_bytes: u32) {
        let bits = u64::from(size_bytes).saturating_mul(8_000_000_000);
        self.size_bytes = size_bytes;
        (self.whole_nanos, self.rest) = (bits / self.rate_bits_per_second, bits % self.rate_bits_per_second);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_carries_what_its_rate_says_even_if_packets_take_parts_of_nanoseconds() {
        for (rate, bytes) in [(10_000_000_000, 1252), (3_000_000_007, 1), (400_000_000_000, 1), (7, 65_535)] {
            let mut transmission = Transmission::new(rate);
            let mut nanos = 0u128;
            for packet in 1..=1000u128 {
                nanos += u128::from(transmission.next(bytes).as_nanos());
                let exact = packet * u128::from(bytes) * 8_000_000_000;
                let rate = u128::from(rate);
                assert_eq!(nanos, exact.div_ceil(rate), "{bytes} bytes at {rate}, packet {packet}");
            }
        }
    }

    #[test]
    fn packets_of_changing_sizes_leave_when_their_last_bits_are_sent() {
        for rate in [10_000_000_000, 3_000_000_007, 400_000_000_000_000, 7] {
            let mut transmission = Transmission::new(rate);
            let (mut nanos, mut bits) = (0, 0);
            for bytes in [1252, 1252, 61, 61, 0, 1, 65_535, 1252, 1, 1, 61].repeat(50) {
                nanos += u128::from(transmission.next(bytes).as_nanos());
                bits += u128::from(bytes) * 8_000_000_000;
                assert_eq!(nanos, bits.div_ceil(rate.into()), "{bytes} bytes at {rate}");
            }
        }
    }

    #[test]
    fn a_packet_that_waited_for_nobody_takes_its_whole_time() {
        let mut transmission = Transmission::new(10_000_000_000);
        let times = [1002, 1002, 1001, 1002, 1001].map(Duration::from_nanos);
        assert_eq!(times.map(|_| transmission.next(1252)), times);
        for _ in 0..5 {
            transmission.rest();
            assert_eq!(transmission.next(1252), Duration::from_nanos(1002));
        }
    }

    #[test]
    fn a_slow_link_and_a_large_packet_do_not_overflow() {
        let time = |rate, bytes| Transmission::new(rate).next(bytes);
        assert_eq!(time(1, 65_535), Duration::from_secs(8 * 65_535));
        assert_eq!(time(0, 1), Duration::from_secs(8));
        assert_eq!(time(10_000_000, 1250), Duration::from_millis(1));
        let mut fastest = Transmission::new(u64::MAX);
        assert_eq!([0; 3].map(|_| fastest.next(65_535)), [1, 0, 0].map(Duration::from_nanos));
    }
}
