//! Names and nonces of Interests that are pending no more, so that a copy that still travels in a loop is
//! recognised.
//!
//! Two generations of fingerprints: the current one takes new entries, the previous one is only consulted,
//! and after half a lifetime the previous one is dropped and the current one takes its place. An entry is
//! therefore remembered for between half the lifetime and all of it. When the current generation is full the
//! change comes early, which is counted.

use packet::time::{Duration, Instant};
use packet::{NameHash, Nonce};

use crate::batch::processor::prefetch;

/// Fingerprints that share one cache line.
const LINE: usize = 8;

/// The dead nonce list.
#[derive(Debug)]
pub(crate) struct DeadNonces {
    current: Generation,
    previous: Generation,
    /// When the current generation becomes the previous one.
    turn_at: Instant,
    lifetime: Duration,
    half_life: Duration,
    max_entries: usize,
    early_turns: u64,
}

impl DeadNonces {
    /// An empty list that remembers for up to `lifetime`, in normal use no less than half of that, and holds
    /// at most `max_entries`.
    pub(crate) fn new(lifetime: Duration, max_entries: u32) -> Self {
        DeadNonces {
            current: Generation::default(),
            previous: Generation::default(),
            turn_at: Instant::ZERO,
            lifetime,
            half_life: lifetime / 2,
            max_entries: (max_entries as usize / 2).max(LINE),
            early_turns: 0,
        }
    }

    /// For how long it remembers at most.
    #[inline(always)]
    pub(crate) fn lifetime(&self) -> Duration {
        self.lifetime
    }

    /// Remembers an Interest.
    pub(crate) fn insert(&mut self, now: Instant, name: NameHash, nonce: Nonce) {
        self.advance(now);
        if self.current.len >= self.max_entries {
            self.early_turns += 1;
            self.turn(now);
        }
        self.current.insert(fingerprint(name, nonce));
    }

    /// Whether an Interest is remembered.
    #[inline]
    pub(crate) fn contains(&mut self, now: Instant, name: NameHash, nonce: Nonce) -> bool {
        if self.current.len == 0 && self.previous.len == 0 {
            return false;
        }
        self.advance(now);
        let fingerprint = fingerprint(name, nonce);
        self.current.contains(fingerprint) || self.previous.contains(fingerprint)
    }

    /// Hints that an Interest will be asked for soon.
    #[inline]
    pub(crate) fn prefetch(&self, name: NameHash, nonce: Nonce) {
        let fingerprint = fingerprint(name, nonce);
        self.current.prefetch(fingerprint);
        self.previous.prefetch(fingerprint);
    }

    /// Entries remembered.
    pub(crate) fn len(&self) -> usize {
        self.current.len + self.previous.len
    }

    /// How often entries were forgotten before their time for want of room.
    pub(crate) fn early_turns(&self) -> u64 {
        self.early_turns
    }

    pub(crate) fn footprint_bytes(&self) -> usize {
        (self.current.lines.len() + self.previous.lines.len()) * size_of::<[u64; LINE]>()
    }

    fn advance(&mut self, now: Instant) {
        if now >= self.turn_at + self.half_life {
            // Nothing has happened for so long that even the current entries are too old.
            self.current.clear();
        }
        if now >= self.turn_at {
            self.turn(now);
        }
    }

    fn turn(&mut self, now: Instant) {
        std::mem::swap(&mut self.current, &mut self.previous);
        self.current.clear();
        self.turn_at = now + self.half_life;
    }
}

/// Sixty-four bits of which forty name bits are secret-keyed: chance matches are as rare as they need to be.
#[inline]
fn fingerprint(name: NameHash, nonce: Nonce) -> u64 {
    let mixed =
        (name.0 ^ (u64::from(nonce.0) << 32 | u64::from(nonce.0))).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // Zero marks an empty place.
    (mixed ^ (mixed >> 29)).max(1)
}

/// A set of fingerprints in lines of eight; a line that is full spills into the next.
#[derive(Debug, Default)]
struct Generation {
    lines: Vec<[u64; LINE]>,
    len: usize,
}

impl Generation {
    fn insert(&mut self, fingerprint: u64) {
        // At most half full, so that a free place is near.
        if self.len * 2 >= self.lines.len() * LINE {
            self.grow();
        }
        let start = self.line_of(fingerprint);
        for step in 0..self.lines.len() {
            let line = (start + step) & (self.lines.len() - 1);
            for place in &mut self.lines[line] {
                if *place == fingerprint {
                    return;
                }
                if *place == 0 {
                    *place = fingerprint;
                    self.len += 1;
                    return;
                }
            }
        }
    }

    #[inline]
    fn contains(&self, fingerprint: u64) -> bool {
        if self.len == 0 {
            return false;
        }
        let start = self.line_of(fingerprint);
        for step in 0..self.lines.len() {
            let line = &self.lines[(start + step) & (self.lines.len() - 1)];
            if line.contains(&fingerprint) {
                return true;
            }
            if line.contains(&0) {
                return false;
            }
        }
        false
    }

    #[inline]
    fn prefetch(&self, fingerprint: u64) {
        if self.len > 0 {
            prefetch(&self.lines[self.line_of(fingerprint)]);
        }
    }

    fn clear(&mut self) {
        if self.len > 0 {
            self.lines.fill([0; LINE]);
            self.len = 0;
        }
    }

    fn grow(&mut self) {
        let lines = (self.lines.len() * 2).max(2);
        let old = std::mem::replace(&mut self.lines, vec![[0; LINE]; lines]);
        self.len = 0;
        for fingerprint in old.into_iter().flatten().filter(|&fingerprint| fingerprint != 0) {
            self.insert(fingerprint);
        }
    }

    fn line_of(&self, fingerprint: u64) -> usize {
        fingerprint as usize & (self.lines.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::random::Random;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn entries_are_remembered_for_half_the_lifetime_at_least_and_the_lifetime_at_most() {
        let mut random = Random::from_seed(3);
        let mut list = DeadNonces::new(SECOND * 6, 1 << 20);
        let mut inserted = Vec::new();
        let mut now = Instant::from_secs(100);
        for number in 0..20_000u64 {
            now += Duration::from_micros(random.below(4_000));
            list.insert(now, NameHash(number.wrapping_mul(0x5851_f42d_4c95_7f2d)), Nonce(number as u32));
            inserted.push(now);
            let asked = random.below(number + 1);
            let age = now.saturating_since(inserted[asked as usize]);
            let found =
                list.contains(now, NameHash(asked.wrapping_mul(0x5851_f42d_4c95_7f2d)), Nonce(asked as u32));
            assert!(found || age >= SECOND * 3, "forgotten after {age}");
            assert!(!found || age <= SECOND * 6, "remembered for {age}");
        }
        assert_eq!(list.early_turns(), 0);
    }

    #[test]
    fn a_full_list_forgets_early_and_stays_within_its_bound() {
        let mut list = DeadNonces::new(SECOND * 6, 1000);
        for number in 0..10_000 {
            list.insert(Instant::ZERO, NameHash(number), Nonce(7));
            assert!(list.contains(Instant::ZERO, NameHash(number), Nonce(7)));
            assert!(list.len() <= 1000);
        }
        assert_eq!(list.early_turns(), 19);
        assert!(!list.contains(Instant::ZERO, NameHash(1), Nonce(7)));
    }

    #[test]
    fn name_and_nonce_both_count() {
        let mut list = DeadNonces::new(SECOND * 6, 1000);
        list.insert(Instant::ZERO, NameHash(1), Nonce(2));
        assert!(!list.contains(Instant::ZERO, NameHash(1), Nonce(3)));
        assert!(!list.contains(Instant::ZERO, NameHash(2), Nonce(2)));
        assert!(list.contains(Instant::ZERO, NameHash(1), Nonce(2)));
        assert!(
            !list.contains(Instant::from_secs(60), NameHash(1), Nonce(2)),
            "long silence clears the list"
        );
    }
}
