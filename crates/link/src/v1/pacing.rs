//! How fast packets leave for a neighbour of which nothing is known but that it has a socket.
//!
//! NDNLP v1 has no word for what a receiver can take, and its acknowledgements may come a third of a second
//! later. So a bucket of tokens holds back what the neighbour's socket buffer would not hold, were it not
//! read meanwhile.

use packet::time::{Duration, Instant};

/// A bucket of tokens, one for each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacingConfig {
    /// Packets that may leave at once. Default 64, which take two thirds of the 212,992 bytes of kernel
    /// memory that Linux gives a socket: up to 2,304 each with packets of up to 1,500 bytes.
    pub burst_packets: u32,
    /// Packets that may leave in a second after that. Default 12,500.
    pub packets_per_second: u32,
    /// Bytes of messages that may wait, each counted with 256 bytes more; further messages are dropped.
    /// Default 8 MiB.
    pub max_waiting_bytes: usize,
}

impl Default for PacingConfig {
    fn default() -> Self {
        PacingConfig { burst_packets: 64, packets_per_second: 12_500, max_waiting_bytes: 8 << 20 }
    }
}

/// So many tokens are waited for, if as many packets wait: the owner need not wake for each.
const TOKENS_AT_ONCE: u64 = 8;

/// The bucket. No `engine::TokenBucket`, though both count tokens as time: this crate is below the engine. It
/// is in nanoseconds instead of fractions of them, as is enough for a guess at a socket's buffer; takes a
/// token also where there is none; and says when there will be some.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    /// Time in which one token comes.
    interval: Duration,
    /// Time in which an empty bucket becomes full.
    burst: Duration,
    /// When the bucket will be full.
    full_at: Instant,
}

impl Pacer {
    pub(super) fn new(config: &PacingConfig) -> Self {
        let interval = Duration::from_nanos(1_000_000_000 / u64::from(config.packets_per_second.max(1)));
        let burst = times(interval, config.burst_packets.max(1).into());
        Pacer { interval, burst, full_at: Instant::ZERO }
    }

    /// Whether a packet may leave now.
    pub(super) fn may_send(&self, now: Instant) -> bool {
        self.full_at.saturating_since(now).as_nanos() + self.interval.as_nanos() <= self.burst.as_nanos()
    }

    /// One has left, whether it might or not.
    pub(super) fn note_sent(&mut self, now: Instant) {
        self.full_at = self.full_at.max(now) + self.interval;
    }

    /// When some of the packets that wait, of which there are at least so many, may leave.
    pub(super) fn next_turn(&self, waiting: u64) -> Instant {
        let wanted = times(self.interval, waiting.clamp(1, TOKENS_AT_ONCE));
        let ahead = self.burst.saturating_sub(wanted);
        // The bucket has had all these tokens when it is full but for what may be ahead.
        Instant::from_nanos(self.full_at.as_nanos().saturating_sub(ahead.as_nanos()))
    }
}

fn times(interval: Duration, count: u64) -> Duration {
    Duration::from_nanos(interval.as_nanos().saturating_mul(count))
}
