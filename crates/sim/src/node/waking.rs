//! What packets take on top that find a processor asleep: by how long it has slept.

use packet::PacketKind;
use packet::time::Duration;

/// What it takes to wake a processor up, by how long it has slept.
///
/// ```
/// use cairn_sim::Waking;
/// use packet::time::Duration;
///
/// // 20 us after a millisecond, 60 us after five; between them as on a line, beyond them as at the ends.
/// let [millis, micros] = [Duration::from_millis, Duration::from_micros];
/// let waking = Waking::new([(millis(1), micros(20)), (millis(5), micros(60))]);
/// assert_eq!(waking.after(Some(millis(2))), micros(30));
/// assert_eq!(waking.after(Some(millis(9))), micros(60));
/// assert_eq!(waking.after(None), Duration::ZERO, "it is at work");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waking {
    /// How long it has slept and what it takes then, the shortest sleep first and each once.
    points: Vec<(Duration, Duration)>,
}

impl Waking {
    /// It takes nothing.
    pub const NOTHING: Waking = Waking { points: Vec::new() };

    /// A curve through these points: how long the processor has slept, and what waking it up takes then.
    /// Between two points it is a line, beyond the first and the last it stays what it is there. Of several
    /// points for the same sleep the first counts.
    #[must_use]
    pub fn new(points: impl IntoIterator<Item = (Duration, Duration)>) -> Self {
        let mut points: Vec<_> = points.into_iter().collect();
        points.sort_by_key(|(slept, _)| *slept);
        points.dedup_by_key(|(slept, _)| *slept);
        Waking { points }
    }

    /// What it takes after so long a sleep, to the nanosecond below; nothing if the processor is at work.
    #[must_use]
    pub fn after(&self, slept: Option<Duration>) -> Duration {
        let Some(slept) = slept else { return Duration::ZERO };
        let above = self.points.partition_point(|(point, _)| *point <= slept);
        let below = above.checked_sub(1).and_then(|below| self.points.get(below));
        match (below, self.points.get(above)) {
            (None, None) => Duration::ZERO,
            (Some((_, takes)), None) | (None, Some((_, takes))) => *takes,
            (Some(below), Some(above)) => between(*below, *above, slept),
        }
    }
}

/// On the line between two points.
fn between(below: (Duration, Duration), above: (Duration, Duration), slept: Duration) -> Duration {
    let nanos = |span: Duration| u128::from(span.as_nanos());
    let span = nanos(above.0.saturating_sub(below.0)).max(1);
    let past = nanos(slept.saturating_sub(below.0));
    let sum = nanos(below.1) * span.saturating_sub(past) + nanos(above.1) * past;
    Duration::from_nanos(u64::try_from(sum / span).unwrap_or(u64::MAX))
}

/// What packets of each kind take on top that find a processor asleep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindWaking {
    /// An Interest.
    pub interest: Waking,
    /// Data.
    pub data: Waking,
    /// A Nack.
    pub nack: Waking,
}

impl KindWaking {
    pub(crate) fn after(&self, kind: PacketKind, slept: Option<Duration>) -> Duration {
        let waking = match kind {
            PacketKind::Interest => &self.interest,
            PacketKind::Data => &self.data,
            PacketKind::Nack => &self.nack,
        };
        waking.after(slept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn nanos(nanos: u64) -> Duration {
        Duration::from_nanos(nanos)
    }

    #[test]
    fn a_curve_is_lines_between_its_points_and_stays_what_it_is_beyond_them() {
        let points = [(nanos(1000), nanos(300)), (nanos(0), nanos(100)), (nanos(3000), nanos(200))];
        let waking = Waking::new(points);
        let after = |slept| waking.after(Some(nanos(slept))).as_nanos();
        assert_eq!([0, 500, 1000].map(after), [100, 200, 300]);
        assert_eq!([2000, 3000, u64::MAX].map(after), [250, 200, 200], "it may fall");
        assert_eq!(after(1), 100, "whole nanoseconds");
        let late = Waking::new([(nanos(10), nanos(7))]);
        assert_eq!([0, 10, 11].map(|slept| late.after(Some(nanos(slept)))), [nanos(7); 3]);
        assert_eq!(Waking::NOTHING.after(Some(nanos(5))), Duration::ZERO);
    }

    #[test]
    fn the_longest_times_do_not_overflow() {
        let waking = Waking::new([(nanos(0), Duration::ZERO), (Duration::MAX, Duration::MAX)]);
        let middle = nanos(u64::MAX / 2);
        assert_eq!(waking.after(Some(middle)), middle);
    }

    #[test]
    fn each_kind_of_packet_has_a_curve_of_its_own() {
        let only = |takes| Waking::new([(nanos(0), nanos(takes))]);
        let kinds = KindWaking { interest: only(1), data: only(2), nack: only(3) };
        let all = [PacketKind::Interest, PacketKind::Data, PacketKind::Nack];
        assert_eq!(all.map(|kind| kinds.after(kind, Some(nanos(9))).as_nanos()), [1, 2, 3]);
        assert_eq!(kinds.after(PacketKind::Data, None), Duration::ZERO);
    }
}
