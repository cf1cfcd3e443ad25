//! In which order things happen that happen at one instant at different nodes, and whether it can matter.
//!
//! In the world nothing is in order that happens at one instant in different places. A simulator has to take
//! one thing after the other, and whatever decides which is first (here: what was planned first, in the end
//! the order in which nodes were added) may decide what comes out: of two equal consumers that begin at once,
//! one is always in front of the other in the queue behind them. So the order can be changed, and whoever
//! wants to know what hangs on it runs a network in several.

use packet::random::Random;

use crate::arena::{AppId, NodeId};
use crate::events::queue::EventSource;
use crate::events::rank::Rank;

/// In which order things happen that happen at one instant at different nodes. What one node, or one
/// application, brings about stays in its order, and what something plans for its own instant comes after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SimultaneousOrder {
    /// In the order in which they were planned.
    #[default]
    Planned,
    /// In an order of nodes, and of applications, that is drawn with this seed.
    Drawn(u64),
}

/// The streams from which ranks are drawn.
const OF_OWNER: u64 = 4 << 32;
const OF_NODES: u64 = 5 << 32;
const OF_APPLICATIONS: u64 = 6 << 32;

impl SimultaneousOrder {
    /// The rank of what the owner of the network plans.
    pub(crate) fn of_owner(self) -> Rank {
        self.rank(OF_OWNER)
    }

    pub(crate) fn of_node(self, node: NodeId) -> Rank {
        self.rank(OF_NODES | u64::from(node.0))
    }

    pub(crate) fn of_application(self, application: AppId) -> Rank {
        self.rank(OF_APPLICATIONS | u64::from(application.0))
    }

    fn rank(self, stream: u64) -> Rank {
        match self {
            SimultaneousOrder::Planned => Rank::default(),
            SimultaneousOrder::Drawn(seed) => Rank::drawn(&mut Random::derive(seed, stream)),
        }
    }
}

/// From whom something comes: what comes from the same stays in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Node(NodeId),
    Application(AppId),
}

/// Events of one instant among which more than this would have to be looked through are taken to meet.
const MAX_TOUCHED: usize = 64;

/// Whether there were ties: things of different causes that happened to one node at one instant, or packets
/// of different nodes that came to one shared link at one instant. As long as there were none, nothing hangs
/// on the order of what happens at one instant, for neither a node nor a link sees anything of it.
#[derive(Debug, Default)]
pub(crate) struct Ties {
    pub(crate) any: bool,
    /// What happened first at the present instant. Mostly it is alone, and nobody looks at it.
    first: Option<EventSource>,
    /// What happened at the present instant to whom, if there is more than one thing.
    touched: Vec<(NodeId, Cause)>,
}

impl Ties {
    /// None beside those that there were before.
    pub(crate) fn after(any: bool) -> Self {
        Ties { any, ..Ties::default() }
    }

    /// The first thing happens at another instant.
    #[inline(always)]
    pub(crate) fn begin(&mut self, source: EventSource) {
        self.first = Some(source);
    }

    /// Something else happens at the present instant: gives what happened first, unless it was asked for.
    pub(crate) fn take_first(&mut self) -> Option<EventSource> {
        let first = self.first.take();
        if first.is_some() {
            self.touched.clear();
        }
        first
    }

    /// Something happens to a node.
    pub(crate) fn touch(&mut self, node: NodeId, cause: Cause) {
        let others = self.touched.iter().any(|(touched, other)| *touched == node && *other != cause);
        self.any |= others || self.touched.len() > MAX_TOUCHED;
        self.touched.push((node, cause));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::rank::NUMBERS;

    #[test]
    fn as_planned_nobody_is_before_anybody_else_by_rank() {
        let planned = SimultaneousOrder::Planned;
        assert_eq!((planned.of_owner(), planned.of_node(NodeId(3))), (Rank::default(), Rank::default()));
    }

    #[test]
    fn drawn_orders_differ_with_the_seed_and_leave_room_for_numbers() {
        let first = |seed, count| {
            let of = |node: &u32| SimultaneousOrder::Drawn(seed).of_node(NodeId(*node)).with(0);
            (0..count).min_by_key(of)
        };
        let firsts: std::collections::BTreeSet<_> = (0..40).map(|seed| first(seed, 5)).collect();
        assert_eq!(firsts.len(), 5, "each of five is first now and then");
        let rank = SimultaneousOrder::Drawn(9).of_application(AppId(4));
        assert_eq!(rank.with(NUMBERS) & NUMBERS, NUMBERS);
        assert_eq!(rank.with(0) & NUMBERS, 0);
    }
}
