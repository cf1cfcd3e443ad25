//! What goes wrong under way: which frames are lost, late, doubled or changed.

use packet::random::Random;
use packet::time::{Duration, Instant};

/// What goes wrong on a link after its queue. The default is nothing. Probabilities lie in 0.0..=1.0 and
/// count for each frame, or for each packet where packets are not cut into frames.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    /// Probability that a frame is lost.
    pub loss: f64,
    /// Probability that a frame arrives twice.
    pub duplicate: f64,
    /// Probability that a frame is held back for [`reorder_delay`](Self::reorder_delay), so that later
    /// frames overtake it.
    pub reorder: f64,
    /// How long a frame that is to be overtaken is held back.
    pub reorder_delay: Duration,
    /// Upper bound of an additional delay, drawn uniformly for each frame. Jitter alone never reorders.
    pub jitter: Duration,
    /// Probability that one bit of a frame, any bit, arrives flipped, as over a link without a checksum. The
    /// simulator's packets that pass by reference stay whole.
    pub corrupt: f64,
}

impl Faults {
    /// Nothing.
    pub const NONE: Faults = Faults {
        loss: 0.0,
        duplicate: 0.0,
        reorder: 0.0,
        reorder_delay: Duration::ZERO,
        jitter: Duration::ZERO,
        corrupt: 0.0,
    };
}

/// Draws the [`Faults`] of one direction of a link.
///
/// Each kind of fault draws from a random stream of its own, so that turning one on does not change which
/// frames another one hits.
#[derive(Clone, Debug)]
pub struct FaultStreams {
    /// What goes wrong. May be changed at any time, for frames that leave from then on.
    pub faults: Faults,
    loss: Random,
    jitter: Random,
    reorder: Random,
    duplicate: Random,
    corrupt: Random,
}

/// When a frame that was not lost arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrivals {
    /// The first time.
    pub first: Instant,
    /// The second time, if it arrives twice.
    pub second: Option<Instant>,
    /// Whether it is held back, so that others overtake it.
    pub is_held_back: bool,
}

impl FaultStreams {
    /// Does the same to the same frames whenever `seed` is the same.
    pub fn new(faults: Faults, seed: u64) -> Self {
        FaultStreams {
            faults,
            loss: Random::derive(seed, 1),
            jitter: Random::derive(seed, 2),
            reorder: Random::derive(seed, 3),
            duplicate: Random::derive(seed, 4),
            corrupt: Random::derive(seed, 5),
        }
    }

    /// Whether the next frame is lost.
    pub fn is_lost(&mut self) -> bool {
        self.loss.chance(self.faults.loss)
    }

    /// When a frame arrives that nothing delayed would arrive at `due`.
    ///
    /// `latest` is the latest arrival so far of a frame that was not held back; none arrives before it but
    /// those that are held back, and it is moved on.
    pub fn arrivals(&mut self, due: Instant, latest: &mut Instant) -> Arrivals {
        let is_held_back = self.reorder.chance(self.faults.reorder);
        let first = self.arrival(due, is_held_back, latest);
        let is_doubled = self.duplicate.chance(self.faults.duplicate);
        let second = is_doubled.then(|| self.arrival(due, is_held_back, latest));
        Arrivals { first, second, is_held_back }
    }

    fn arrival(&mut self, due: Instant, is_held_back: bool, latest: &mut Instant) -> Instant {
        let jitter = self.jitter.below(self.faults.jitter.as_nanos().saturating_add(1));
        let arrival = due + Duration::from_nanos(jitter);
        if is_held_back {
            return arrival + self.faults.reorder_delay;
        }
        *latest = arrival.max(*latest);
        *latest
    }

    /// The bit of a frame of so many bytes that arrives flipped, if any, counted from the most significant
    /// bit of the first byte.
    pub fn flipped_bit(&mut self, size_bytes: usize) -> Option<usize> {
        let is_hit = size_bytes > 0 && self.corrupt.chance(self.faults.corrupt);
        is_hit.then(|| self.corrupt.below(size_bytes as u64 * 8) as usize)
    }
}

/// Flips the bit of a frame that [`FaultStreams::flipped_bit`] has named.
pub fn flip_bit(frame: &mut [u8], bit: usize) {
    if let Some(byte) = frame.get_mut(bit / 8) {
        *byte ^= 0x80 >> (bit % 8);
    }
}
