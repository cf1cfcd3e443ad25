//! Who is first of those that do something at one instant.

use packet::random::Random;

/// The place of a node, an application or the owner among those that do something at one instant: the upper
/// bits of a [`Turn`](crate::events::queue::Turn)'s number. Of equal ones, what was planned first is first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank(u64);

/// Bits below the rank: numbers of turns, enough for weeks of events.
const NUMBER_BITS: u32 = 44;
/// Those bits.
pub(crate) const NUMBERS: u64 = (1 << NUMBER_BITS) - 1;

impl Rank {
    /// One that `random` draws.
    pub(crate) fn drawn(random: &mut Random) -> Rank {
        Rank(random.next_u64() >> NUMBER_BITS << NUMBER_BITS)
    }

    /// The number of a turn with this rank.
    #[inline(always)]
    pub(crate) fn with(self, number: u64) -> u64 {
        self.0 | number
    }
}
