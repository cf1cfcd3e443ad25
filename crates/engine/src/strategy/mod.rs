//! Who gets an Interest: one file for each way of deciding.
//!
//! A [`Strategy`] is told what happened to one pending Interest, sees a narrow view of the node
//! ([`StrategyContext`]) and answers with actions on it, which the pipeline carries out afterwards. It
//! cannot reach the tables, and it cannot break the rules of scope: an action that would is not carried out,
//! and counted.

mod access;
mod asf;
mod best_route;
mod context;
mod load_balance;
mod multicast;
mod nacks;
mod random;
mod registry;
mod rtt;
mod self_learning;
mod stateful_forwarding;
mod suppression;

use std::fmt;

use packet::{Data, NackReason};

use crate::face_id::FaceId;
use crate::tables::fib::NextHop;

pub use context::StrategyContext;
pub(crate) use context::{Action, HashedInterest, Routes, StrategyEvent, may_send};
pub use packet::parameters::{ParameterError, Parameters};
pub use packet::registry::{AddError, UnknownWord};
pub(crate) use registry::Instance;
pub use registry::{StrategyError, StrategyKind, StrategySpec, add_strategies, strategy_names};

/// Decides where Interests go.
///
/// Every method is called with the context of one pending Interest and must end in bounded time. What is
/// not commanded does not happen: an Interest that is neither sent nor rejected waits until it expires.
pub trait Strategy: fmt::Debug + Send {
    /// An Interest arrived, new or again, and no cache answered it.
    fn after_interest(&mut self, context: &mut StrategyContext<'_>);

    /// Whether all it does about an Interest that nobody waited for before is to send it to the first of
    /// [`StrategyContext::eligible_next_hops`]. Where it is and there is one, the Interest goes there without
    /// [`Strategy::after_interest`]. Never changes.
    fn sends_new_to_first(&self) -> bool {
        false
    }

    /// Whether [`Strategy::after_data`] does anything. Where it does not, Data passes without being shown to
    /// the strategy. Never changes.
    fn watches_data(&self) -> bool {
        true
    }

    /// Data arrived by `from` and will now be sent to all who wait.
    fn after_data(&mut self, context: &mut StrategyContext<'_>, from: FaceId, data: &Data) {
        let _ = (context, from, data);
    }

    /// The Interest came back from `from`, which it had been sent to.
    fn after_nack(&mut self, context: &mut StrategyContext<'_>, from: FaceId, reason: NackReason) {
        let _ = (from, reason);
        nacks::pass_on_when_all_nacked(context);
    }

    /// The time that was asked for with [`StrategyContext::call_at`] has come.
    fn after_timer(&mut self, context: &mut StrategyContext<'_>) {
        let _ = context;
    }

    /// Whether [`Strategy::after_new_next_hop`] is worth calling: it costs a look at every pending Interest.
    fn wants_new_next_hops(&self) -> bool {
        false
    }

    /// What it had measured and forgot before its time for want of room, in entries.
    fn forgotten_early(&self) -> u64 {
        0
    }

    /// A next hop was added to the route while the Interest was pending.
    fn after_new_next_hop(&mut self, context: &mut StrategyContext<'_>, hop: NextHop) {
        let _ = (context, hop);
    }
}
