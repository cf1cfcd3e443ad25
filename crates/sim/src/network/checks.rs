//! What must be so of a node at any time, and what at rest.

use engine::{DropReason, FaceCounters};
use packet::PacketCounts;

use thiserror::Error;

use crate::arena::NodeId;
use crate::network::Network;

/// A promise of an engine that does not hold, in words and numbers.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("node {node}: {what}")]
pub struct InvariantViolation {
    /// Whose engine.
    pub node: NodeId,
    /// What was found.
    pub what: String,
}

/// Reasons for which an Interest is dropped before anybody waits for it.
const BEFORE_PENDING: &[DropReason] = &[
    DropReason::WrongDialect,
    DropReason::HopLimitZero,
    DropReason::Scope,
    DropReason::DuplicateNonce,
    DropReason::InterestRate,
    DropReason::FacePendingLimit,
    DropReason::PendingTableFull,
    DropReason::TooManyVariants,
    DropReason::NoRoomForField,
];

impl Network {
    /// Compares an engine's counters with each other and with its tables: what went in must have come out,
    /// been dropped for a reason, or be there still. Holds after any number of packets as long as no Data or
    /// Nack was dropped for a reason that Interests are dropped for, too: for scope, or for the wrong
    /// dialect. Tables hold no more than they may. Nothing is wrong with a host, nor with a node that is not
    /// there.
    ///
    /// # Errors
    /// What does not hold.
    pub fn check_conservation(&self, id: NodeId) -> Result<(), InvariantViolation> {
        let Some(node) = self.core.nodes.get(id) else { return Ok(()) };
        let Some(engine) = &node.engine else { return Ok(()) };
        let counters = engine.counters();
        let present = engine.faces().filter_map(|(face, _)| engine.face_counters(face));
        let faces: Vec<&FaceCounters> = present.chain(&node.gone).collect();
        let packets: PacketCounts = faces.iter().map(|face| face.packets).sum();
        let refused: u64 =
            faces.iter().flat_map(|face| BEFORE_PENDING.iter().map(|&reason| face.drops.get(reason))).sum();
        let equal = |what: &str, left: u64, right: u64| {
            if left == right { Ok(()) } else { Err(wrong(id, format!("{what}: {left} is not {right}"))) }
        };
        equal(
            "interests received = cache hits + created + joined + refused",
            packets.in_interests,
            counters.cache_hits + counters.pending_created + counters.pending_joined + refused,
        )?;
        equal(
            "pending created = satisfied + unsatisfied + still pending",
            counters.pending_created,
            counters.satisfied + counters.unsatisfied + u64::from(engine.table_sizes().pending),
        )?;
        equal("interests sent", counters.interests_sent, packets.out_interests)?;
        equal("data sent", counters.data_sent, packets.out_data)?;
        equal("nacks sent", counters.nacks_sent, packets.out_nacks)?;
        equal("cache hits of engine and store", counters.cache_hits, engine.content_store_counters().hits)?;
        let (sizes, config) = (engine.table_sizes(), engine.content_store_config());
        if sizes.cached > config.max_entries || sizes.cached_bytes > config.max_bytes {
            return Err(wrong(id, format!("the content store holds more than it may: {sizes:?}")));
        }
        Ok(())
    }

    /// What must be so of a node when nothing is left to happen: nobody waits for anything.
    ///
    /// # Errors
    /// What does not hold.
    pub fn check_rest(&self, id: NodeId) -> Result<(), InvariantViolation> {
        let Some(engine) = self.engine(id) else { return Ok(()) };
        let pending = engine.table_sizes().pending;
        if pending > 0 {
            return Err(wrong(id, format!("{pending} Interests are pending though nothing is to come")));
        }
        for (face, _) in engine.faces() {
            if engine.face_pending(face) != Some(0) {
                return Err(wrong(id, format!("face {face} waits for Interests that are not pending")));
            }
        }
        Ok(())
    }
}

fn wrong(node: NodeId, what: String) -> InvariantViolation {
    InvariantViolation { node, what }
}
