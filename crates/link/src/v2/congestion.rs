//! When to mark packets because the send queue is too long (NDNLPv2 digest, section 6).

use packet::time::{Duration, Instant};

/// Thresholds of congestion marking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CongestionConfig {
    /// Bytes in the send queue above which it counts as too long. Default 65 536.
    pub threshold_bytes: u64,
    /// How long the queue must be too long before the first mark, and the time between marks at first.
    /// Default 100 ms.
    pub interval: Duration,
}

impl Default for CongestionConfig {
    fn default() -> Self {
        CongestionConfig { threshold_bytes: 65_536, interval: Duration::from_millis(100) }
    }
}

/// Marks in the manner of CoDel: after the queue has been above the threshold for a whole interval, and then
/// ever more often, with the square root of the number of marks, until the queue is short again.
#[derive(Clone, Debug)]
pub(crate) struct CongestionMarker {
    config: CongestionConfig,
    /// When the next packet is to be marked; `None` while the queue is short.
    next_mark: Option<Instant>,
    /// Marks since the queue became too long.
    marks: u64,
}

impl CongestionMarker {
    pub(crate) fn new(config: CongestionConfig) -> Self {
        CongestionMarker { config, next_mark: None, marks: 0 }
    }

    /// Whether [`shall_mark`](Self::shall_mark) would say no and change nothing.
    #[inline]
    pub(crate) fn is_calm(&self, queued_bytes: u64) -> bool {
        queued_bytes <= self.config.threshold_bytes && self.next_mark.is_none()
    }

    /// Whether the packet that is about to join a queue of `queued_bytes` gets a mark.
    pub(crate) fn shall_mark(&mut self, now: Instant, queued_bytes: u64) -> bool {
        if queued_bytes <= self.config.threshold_bytes {
            self.next_mark = None;
            self.marks = 0;
            return false;
        }
        match self.next_mark {
            None => {
                self.next_mark = Some(now + self.config.interval);
                false
            }
            Some(next) if now < next => false,
            Some(next) => {
                self.marks += 1;
                let interval = self.config.interval.as_secs_f64() / ((self.marks + 1) as f64).sqrt();
                self.next_mark = Some(next + Duration::from_secs_f64(interval));
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times, in microseconds, at which packets sent every 100 µs get a mark.
    fn marks(marker: &mut CongestionMarker, from_micros: u64, to_micros: u64, queued: u64) -> Vec<u64> {
        (from_micros..to_micros)
            .step_by(100)
            .filter(|&micros| marker.shall_mark(Instant::from_nanos(micros * 1000), queued))
            .collect()
    }

    #[test]
    fn marks_begin_after_an_interval_and_close_up_with_the_square_root() {
        let mut marker = CongestionMarker::new(CongestionConfig::default());
        // 100 ms, then 100/√2 = 70.7 ms, 100/√3 = 57.7 ms and 100/√4 = 50 ms later.
        assert_eq!(marks(&mut marker, 0, 300_000, 65_537), [100_000, 170_800, 228_500, 278_500]);
    }

    #[test]
    fn a_queue_at_the_threshold_is_short_and_starts_the_count_anew() {
        let mut marker = CongestionMarker::new(CongestionConfig::default());
        assert_eq!(marks(&mut marker, 0, 200_000, 70_000).len(), 2);
        assert_eq!(marks(&mut marker, 200_000, 200_100, 65_536), []);
        assert_eq!(marks(&mut marker, 200_100, 300_000, 70_000), []);
        assert_eq!(marks(&mut marker, 300_000, 301_000, 70_000), [300_100]);
    }
}
