//! Packets by kind and direction.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// How many packets came in and went out: over a face, or over all faces of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCounts {
    /// Interests received.
    pub in_interests: u64,
    /// Data received.
    pub in_data: u64,
    /// Nacks received.
    pub in_nacks: u64,
    /// Interests sent.
    pub out_interests: u64,
    /// Data sent.
    pub out_data: u64,
    /// Nacks sent.
    pub out_nacks: u64,
}

impl PacketCounts {
    /// Packets of every kind that were received.
    pub const fn received(&self) -> u64 {
        self.in_interests + self.in_data + self.in_nacks
    }

    /// What has been counted since `earlier`; what has become less since then counts as nothing.
    pub const fn since(&self, earlier: &PacketCounts) -> PacketCounts {
        PacketCounts {
            in_interests: self.in_interests.saturating_sub(earlier.in_interests),
            in_data: self.in_data.saturating_sub(earlier.in_data),
            in_nacks: self.in_nacks.saturating_sub(earlier.in_nacks),
            out_interests: self.out_interests.saturating_sub(earlier.out_interests),
            out_data: self.out_data.saturating_sub(earlier.out_data),
            out_nacks: self.out_nacks.saturating_sub(earlier.out_nacks),
        }
    }
}

impl Add for PacketCounts {
    type Output = PacketCounts;

    fn add(self, other: PacketCounts) -> PacketCounts {
        PacketCounts {
            in_interests: self.in_interests + other.in_interests,
            in_data: self.in_data + other.in_data,
            in_nacks: self.in_nacks + other.in_nacks,
            out_interests: self.out_interests + other.out_interests,
            out_data: self.out_data + other.out_data,
            out_nacks: self.out_nacks + other.out_nacks,
        }
    }
}

impl AddAssign for PacketCounts {
    fn add_assign(&mut self, other: PacketCounts) {
        *self = *self + other;
    }
}

impl Sum for PacketCounts {
    fn sum<I: Iterator<Item = PacketCounts>>(counts: I) -> PacketCounts {
        counts.fold(PacketCounts::default(), Add::add)
    }
}
