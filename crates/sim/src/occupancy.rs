//! How full tables were, integrated over time from change to change: a mean that needs no samples.

use packet::time::Instant;

/// A knot of an integral over time: between two neighbours the level was constant, or has changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OccupancyKnot {
    /// The moment.
    pub at: Instant,
    /// The integral of the level from time zero to that moment: entries times seconds.
    pub entry_seconds: f64,
}

/// What a level came to since it was looked at last: knots in the order of time. The level was constant up to
/// the first of three and behind the second, so that whoever interpolates finds the exact integral at every
/// moment but those between the first and the last change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Occupancy {
    /// Pending Interests.
    pub pending: Vec<OccupancyKnot>,
    /// Data in the content store.
    pub cached: Vec<OccupancyKnot>,
    /// The most Interests that were pending at once since the last look, the level then among them.
    pub pending_most: u32,
    /// The most Data in the content store, likewise.
    pub cached_most: u32,
}

/// A level that is integrated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    value: u32,
    /// Up to when `area` counts; the last change, or the last look.
    since: Instant,
    /// Entries times nanoseconds.
    area: u128,
    /// The first change since the last look, and the area by then.
    first: Option<(Instant, u128)>,
    /// The highest value since the last look.
    most: u32,
}

impl Default for Level {
    fn default() -> Self {
        Level { value: 0, since: Instant::ZERO, area: 0, first: None, most: 0 }
    }
}

impl Level {
    /// The level is this from now on.
    #[inline(always)]
    pub(crate) fn note(&mut self, now: Instant, value: u32) {
        if value != self.value {
            self.change(now, value);
        }
    }

    #[inline]
    fn change(&mut self, now: Instant, value: u32) {
        self.area = self.area(now);
        self.since = self.since.max(now);
        self.value = value;
        self.most = self.most.max(value);
        if self.first.is_none() {
            self.first = Some((now, self.area));
        }
    }

    /// Entries times nanoseconds from time zero to now.
    pub(crate) fn area(&self, now: Instant) -> u128 {
        let span = now.saturating_since(self.since).as_nanos();
        self.area + u128::from(self.value) * u128::from(span)
    }

    /// The highest value since it was asked for last.
    fn take_most(&mut self) -> u32 {
        std::mem::replace(&mut self.most, self.value)
    }

    /// The knots since the last look, the last of them now.
    fn look(&mut self, now: Instant) -> Vec<OccupancyKnot> {
        let mut knots: Vec<(Instant, u128)> = Vec::with_capacity(3);
        knots.extend(self.first.take());
        knots.push((self.since, self.area));
        self.area = self.area(now);
        self.since = self.since.max(now);
        knots.push((self.since, self.area));
        knots.dedup_by_key(|(at, _)| *at);
        let knot = |(at, area): (Instant, u128)| OccupancyKnot { at, entry_seconds: area as f64 / 1e9 };
        knots.into_iter().map(knot).collect()
    }
}

/// The levels of a node.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Levels {
    pending: Level,
    cached: Level,
}

impl Levels {
    #[inline(always)]
    pub(crate) fn note(&mut self, now: Instant, engine: &engine::Engine) {
        self.pending.note(now, engine.pending_count());
        self.cached.note(now, engine.cached_count());
    }

    /// Pending and cached entries times seconds from time zero to now.
    pub(crate) fn entry_seconds(&self, now: Instant) -> [f64; 2] {
        [self.pending, self.cached].map(|level| level.area(now) as f64 / 1e9)
    }

    pub(crate) fn look(&mut self, now: Instant) -> Occupancy {
        Occupancy {
            pending: self.pending.look(now),
            cached: self.cached.look(now),
            pending_most: self.pending.take_most(),
            cached_most: self.cached.take_most(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integral_of_a_level_is_exact_however_seldom_it_is_looked_at() {
        let at = Instant::from_secs;
        let mut level = Level::default();
        // 3 for two seconds, 5 for one, and nothing before and behind.
        level.note(at(4), 3);
        level.note(at(6), 5);
        level.note(at(7), 5);
        level.note(at(7), 0);
        assert_eq!((level.take_most(), level.take_most()), (5, 0));
        let knot = |second, entry_seconds| OccupancyKnot { at: at(second), entry_seconds };
        assert_eq!(level.look(at(10)), [knot(4, 0.0), knot(7, 11.0), knot(10, 11.0)]);
        assert_eq!(level.look(at(10)), [knot(10, 11.0)]);
        level.note(at(12), 1);
        assert_eq!(level.look(at(13)), [knot(12, 11.0), knot(13, 12.0)]);
        assert_eq!(level.look(at(20)), [knot(13, 12.0), knot(20, 19.0)]);
    }
}
