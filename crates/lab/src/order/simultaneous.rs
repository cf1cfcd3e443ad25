//! In which order a repeat in virtual time takes what happens at one instant at different nodes.
//!
//! In the world that has no order. So each repeat takes another, and what differs between repeats in which
//! nothing is random hangs on it.

use packet::random::Random;
use serde::{Deserialize, Serialize};
use sim::SimultaneousOrder;

/// The stream of a repeat's randomness from which the order of workloads at a node is drawn.
const OF_WORKLOADS: u64 = 0x6f72_6465 << 32;

/// The order of a repeat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Simultaneous {
    /// As things were planned, in the end by the names of nodes and workloads: the first repeat's where
    /// nothing is random. Nobody has drawn it, nor that of the second repeat of earlier versions, which was
    /// the other way round.
    #[default]
    #[serde(alias = "reversed")]
    Planned,
    /// Drawn with the repeat's seed: that of all others.
    Drawn,
}

/// The order that a repeat had, and whether it could make a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderSeen {
    /// The order.
    pub order: Simultaneous,
    /// Did anything from different nodes, or different workloads, come together at one node at one instant?
    /// If nothing did, every order gives the same.
    pub may_matter: bool,
}

impl Simultaneous {
    /// That of a repeat, counted from 0. Where something is random in any case repeats differ and nobody
    /// could tell by what: there each is a draw, of the order as well.
    #[must_use]
    pub fn of_repeat(repeat: u32, is_random: bool) -> Self {
        match repeat {
            0 if !is_random => Simultaneous::Planned,
            _ => Simultaneous::Drawn,
        }
    }

    /// What a network is told in a repeat with this seed.
    pub(crate) fn of_network(self, seed: u64) -> SimultaneousOrder {
        match self {
            Simultaneous::Planned => SimultaneousOrder::Planned,
            Simultaneous::Drawn => SimultaneousOrder::Drawn(seed),
        }
    }

    /// Puts the workloads of a node in this order.
    pub(crate) fn arrange<T>(self, list: &mut [T], seed: u64, node: usize) {
        match self {
            Simultaneous::Planned => {}
            Simultaneous::Drawn => {
                let mut random = Random::derive(seed, OF_WORKLOADS | node as u64);
                for place in (1..list.len()).rev() {
                    list.swap(place, random.below(place as u64 + 1) as usize);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_repeat_has_the_planned_order_and_every_later_one_draws_its_own() {
        let of = |repeat: u32| {
            let mut list = ['a', 'b', 'c'];
            Simultaneous::of_repeat(repeat, false).arrange(&mut list, u64::from(repeat), 2);
            list
        };
        assert_eq!(of(0), ['a', 'b', 'c']);
        let later: std::collections::BTreeSet<_> = (1..60).map(of).collect();
        assert_eq!(later.len(), 6, "of three workloads there are six orders");
        assert_eq!(Simultaneous::of_repeat(0, true), Simultaneous::Drawn, "each is a draw");
    }

    #[test]
    fn the_reversed_order_of_earlier_versions_is_none_that_anybody_has_drawn() {
        let seen: OrderSeen = serde_json::from_str(r#"{"order": "reversed", "may_matter": true}"#).unwrap();
        assert_eq!(seen.order, Simultaneous::Planned);
    }
}
