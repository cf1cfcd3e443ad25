//! A bad link on purpose: loss, delay, jitter, a rate with a queue, reordering, duplicates, corruption.

mod faults;

pub use faults::{Arrivals, FaultStreams, Faults, flip_bit};
use packet::time::{Duration, Instant};

use crate::tap::{Direction, FrameTap, TapVerdict};
use crate::transmission::Transmission;

/// How bad a link is. The default is perfect.
#[derive(Clone, Debug, PartialEq)]
pub struct ImpairmentConfig {
    /// Bits per second that leave the queue; `None` for infinitely many.
    pub rate_bits_per_second: Option<u64>,
    /// Bytes that may wait for the rate, counting what is left of the frame being sent. A frame that would
    /// exceed them is dropped.
    pub queue_limit_bytes: usize,
    /// Time every frame is under way.
    pub delay: Duration,
    /// What goes wrong under way.
    pub faults: Faults,
}

impl Default for ImpairmentConfig {
    fn default() -> Self {
        ImpairmentConfig {
            rate_bits_per_second: None,
            queue_limit_bytes: usize::MAX,
            delay: Duration::ZERO,
            faults: Faults::NONE,
        }
    }
}

impl From<Faults> for ImpairmentConfig {
    fn from(faults: Faults) -> Self {
        ImpairmentConfig { faults, ..ImpairmentConfig::default() }
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
/// As a [`FrameTap`] it treats every frame it is shown alike; give each direction its own.
#[derive(Clone, Debug)]
pub struct Impairment {
    config: ImpairmentConfig,
    streams: FaultStreams,
    /// Of a link with a rate.
    transmission: Option<Transmission>,
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
            streams: FaultStreams::new(config.faults, seed),
            transmission: config.rate_bits_per_second.map(Transmission::new),
            config,
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
        self.streams.faults = config.faults;
        if self.config.rate_bits_per_second != config.rate_bits_per_second {
            self.transmission = config.rate_bits_per_second.map(Transmission::new);
        }
        self.config = config;
    }

    /// Decides what becomes of a frame of `size_bytes` that enters the link now. [`on_frame`](Self::on_frame)
    /// does the same for its bytes.
    pub fn decide(&mut self, now: Instant, size_bytes: usize) -> ImpairmentVerdict {
        let Some(departure) = self.pass_queue(now, size_bytes) else {
            self.note(Fault::QueueFull);
            return ImpairmentVerdict { verdict: TapVerdict::QueueFull, flipped_bit: None };
        };
        if self.streams.is_lost() {
            self.note(Fault::Loss);
            return ImpairmentVerdict { verdict: TapVerdict::Drop, flipped_bit: None };
        }
        let flipped_bit = self.streams.flipped_bit(size_bytes);
        if flipped_bit.is_some() {
            self.note(Fault::Corrupt);
        }
        let arrivals = self.streams.arrivals(departure + self.config.delay, &mut self.latest_arrival);
        if arrivals.is_held_back {
            self.note(Fault::Reorder);
        }
        let first = arrivals.first.saturating_since(now);
        let verdict = match arrivals.second {
            Some(second) => {
                self.note(Fault::Duplicate);
                TapVerdict::Duplicate(first, second.saturating_since(now))
            }
            None if first == Duration::ZERO => TapVerdict::Pass,
            None => TapVerdict::Delay(first),
        };
        ImpairmentVerdict { verdict, flipped_bit }
    }

    /// When the frame has left the queue; `None` if it does not fit in.
    fn pass_queue(&mut self, now: Instant, size_bytes: usize) -> Option<Instant> {
        let Some(transmission) = &mut self.transmission else { return Some(now) };
        let backlog = self.busy_until.saturating_since(now);
        let waiting_bytes = transmission.bytes_in(backlog).saturating_add(size_bytes as u64);
        if waiting_bytes > self.config.queue_limit_bytes as u64 {
            return None;
        }
        if backlog == Duration::ZERO {
            transmission.rest();
        }
        let send_time = transmission.next(u32::try_from(size_bytes).unwrap_or(u32::MAX));
        self.busy_until = now + backlog + send_time;
        Some(self.busy_until)
    }

    fn note(&mut self, fault: Fault) {
        if let Some(count) = self.counts.get_mut(fault as usize) {
            *count += 1;
        }
    }
}

impl FrameTap for Impairment {
    fn on_frame(&mut self, now: Instant, _direction: Direction, frame: &mut Vec<u8>) -> TapVerdict {
        let ImpairmentVerdict { verdict, flipped_bit } = self.decide(now, frame.len());
        if let Some(bit) = flipped_bit {
            flip_bit(frame, bit);
        }
        verdict
    }
}
