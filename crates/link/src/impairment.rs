//! A bad link on purpose: loss, delay, jitter, a rate with a queue, reordering, duplicates, corruption.

use packet::random::Random;
use packet::time::{Duration, Instant};

use crate::tap::{Direction, FrameTap, TapVerdict};

/// How bad a link is. The default is perfect. Probabilities lie in 0.0..=1.0 and count per frame.
#[derive(Clone, Debug, PartialEq)]
pub struct ImpairmentConfig {
    /// Bits per second that leave the queue; `None` for infinitely many.
    pub rate_bits_per_second: Option<u64>,
    /// Bytes that may wait for the rate, counting what is left of the frame being sent. A frame that would
    /// exceed them is dropped.
    pub queue_limit_bytes: usize,
    /// Probability that a frame is lost after it has left the queue.
    pub loss: f64,
    /// Time every frame is under way.
    pub delay: Duration,
    /// Upper bound of an additional delay, drawn uniformly for each frame. Jitter alone never reorders.
    pub jitter: Duration,
    /// Probability that a frame is held back for [`reorder_delay`](Self::reorder_delay), so that later
    /// frames overtake it.
    pub reorder: f64,
    /// How long a frame that is to be overtaken is held back.
    pub reorder_delay: Duration,
    /// Probability that a frame arrives twice.
    pub duplicate: f64,
    /// Probability that one bit of a frame, any bit, arrives flipped.
    pub corrupt: f64,
}

impl Default for ImpairmentConfig {
    fn default() -> Self {
        ImpairmentConfig {
            rate_bits_per_second: None,
            queue_limit_bytes: usize::MAX,
            loss: 0.0,
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            reorder: 0.0,
            reorder_delay: Duration::ZERO,
            duplicate: 0.0,
            corrupt: 0.0,
        }
    }
}

/// What a bad link does to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The queue before the rate was full.
    QueueFull,
    /// Lost under way.
    Loss,
    /// Held back, so that others overtake it.
    Reorder,
    /// Arrives twice.
    Duplicate,
    /// One bit is flipped.
    Corrupt,
}

/// The verdict on one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImpairmentVerdict {
    /// Whether and when the frame arrives.
    pub verdict: TapVerdict,
    /// The bit that arrives flipped, counted from the most significant bit of the first byte.
    pub flipped_bit: Option<usize>,
}

/// One direction of a bad link.
///
/// Each kind of fault draws from a random stream of its own, so that turning one on does not change which
/// frames another one hits. As a [`FrameTap`] it treats every frame it is shown alike; give each direction
/// its own.
#[derive(Clone, Debug)]
pub struct Impairment {
    config: ImpairmentConfig,
    loss: Random,
    jitter: Random,
    reorder: Random,
    duplicate: Random,
    corrupt: Random,
    /// When the last frame that entered the queue will have left it.
    busy_until: Instant,
    /// When the latest frame that was not held back arrives; no other may come before it.
    latest_arrival: Instant,
    counts: [u64; 5],
}

impl Impairment {
    /// A bad link that does the same to the same frames whenever `seed` is the same.
    pub fn new(config: ImpairmentConfig, seed: u64) -> Self {
        Impairment {
            config,
            loss: Random::derive(seed, 1),
            jitter: Random::derive(seed, 2),
            reorder: Random::derive(seed, 3),
            duplicate: Random::derive(seed, 4),
            corrupt: Random::derive(seed, 5),
            busy_until: Instant::ZERO,
            latest_arrival: Instant::ZERO,
            counts: [0; 5],
        }
    }

    /// How bad the link is at present.
    pub fn config(&self) -> &ImpairmentConfig {
        &self.config
    }

    /// How often `fault` has occurred.
    pub fn count(&self, fault: Fault) -> u64 {
        self.counts.get(fault as usize).copied().unwrap_or(0)
    }

    /// Makes the link better or worse from now on. Frames under way are not affected.
    pub fn set_config(&mut self, config: ImpairmentConfig) {
        self.config = config;
    }

    /// Decides what becomes of a frame of `size_bytes` that enters the link now. For owners that move decoded
    /// packets instead of bytes, such as the simulator.
    pub fn judge(&mut self, now: Instant, size_bytes: usize) -> ImpairmentVerdict {
        let Some(departure) = self.pass_queue(now, size_bytes) else {
            return self.dropped(Fault::QueueFull);
        };
        if self.loss.chance(self.config.loss) {
            return self.dropped(Fault::Loss);
        }
        let flipped_bit = self.corrupt.chance(self.config.corrupt).then(|| {
            self.note(Fault::Corrupt);
            self.corrupt.below(size_bytes as u64 * 8) as usize
        });
        let held_back = self.reorder.chance(self.config.reorder);
        if held_back {
            self.note(Fault::Reorder);
        }
        let first = self.arrival(departure, held_back).saturating_since(now);
        let verdict = if self.duplicate.chance(self.config.duplicate) {
            self.note(Fault::Duplicate);
            TapVerdict::Duplicate(first, self.arrival(departure, held_back).saturating_since(now))
        } else if first == Duration::ZERO {
            TapVerdict::Pass
        } else {
            TapVerdict::Delay(first)
        };
        ImpairmentVerdict { verdict, flipped_bit }
    }

    /// When the frame has left the queue; `None` if it does not fit in.
    fn pass_queue(&mut self, now: Instant, size_bytes: usize) -> Option<Instant> {
        let Some(rate) = self.config.rate_bits_per_second else { return Some(now) };
        let rate = u128::from(rate.max(1));
        let backlog_nanos = u128::from(self.busy_until.saturating_since(now).as_nanos());
        let backlog_bytes = backlog_nanos * rate / NANOS_PER_SECOND / 8;
        if backlog_bytes + size_bytes as u128 > self.config.queue_limit_bytes as u128 {
            return None;
        }
        let send_nanos = (size_bytes as u128 * 8 * NANOS_PER_SECOND).div_ceil(rate);
        let send_time = Duration::from_nanos(u64::try_from(send_nanos).unwrap_or(u64::MAX));
        self.busy_until = self.busy_until.max(now) + send_time;
        Some(self.busy_until)
    }

    fn arrival(&mut self, departure: Instant, held_back: bool) -> Instant {
        let jitter = self.jitter.below(self.config.jitter.as_nanos().saturating_add(1));
        let arrival = departure + self.config.delay + Duration::from_nanos(jitter);
        if held_back {
            return arrival + self.config.reorder_delay;
        }
        self.latest_arrival = self.latest_arrival.max(arrival);
        self.latest_arrival
    }

    fn dropped(&mut self, fault: Fault) -> ImpairmentVerdict {
        self.note(fault);
        ImpairmentVerdict { verdict: TapVerdict::Drop, flipped_bit: None }
    }

    fn note(&mut self, fault: Fault) {
        if let Some(count) = self.counts.get_mut(fault as usize) {
            *count += 1;
        }
    }
}

const NANOS_PER_SECOND: u128 = 1_000_000_000;

impl FrameTap for Impairment {
    fn on_frame(&mut self, now: Instant, _direction: Direction, frame: &mut Vec<u8>) -> TapVerdict {
        let judgement = self.judge(now, frame.len());
        if let Some(bit) = judgement.flipped_bit
            && let Some(byte) = frame.get_mut(bit / 8)
        {
            *byte ^= 0x80 >> (bit % 8);
        }
        judgement.verdict
    }
}
