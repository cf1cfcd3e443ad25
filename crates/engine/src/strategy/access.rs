//! Access: for the edge of a network, where one of a few next hops has the content (NFD's strategy of that
//! name, version 1).
//!
//! The first Interest under a prefix goes to all next hops; the one that answers first gets those that
//! follow, until it takes longer than its usual time: then the others are asked too.

use std::collections::BTreeMap;

use packet::time::Duration;
use packet::{Data, NameHash};

use super::rtt::RttEstimator;
use super::suppression::{Suppression, Verdict};
use super::{Strategy, StrategyContext};
use crate::drop_reason::DropReason;
use crate::face_id::FaceId;
use crate::tables::measurements::Measurements;
use packet::parameters::{ParameterError, Parameters};

/// Interests are not sent again within this time.
const SUPPRESSION_INTERVAL: Duration = Duration::from_millis(100);
/// How long a prefix's last next hop is remembered.
const LIFETIME: Duration = Duration::from_secs(8);
/// Prefixes remembered.
const MAX_PREFIXES: u32 = 65_536;
/// Faces whose round-trip times are remembered. Beyond that the one with the smallest number, the oldest, is
/// forgotten.
const MAX_FACES: usize = 1024;

#[derive(Debug)]
struct Access {
    suppression: Suppression,
    prefixes: Measurements<LastHop>,
    /// What a prefix starts with when its last next hop changes.
    faces: BTreeMap<FaceId, RttEstimator>,
    faces_forgotten: u64,
}

/// The next hop that answered last, and how fast it does under this prefix.
#[derive(Clone, Copy, Debug)]
struct LastHop {
    face: FaceId,
    rtt: RttEstimator,
}

pub(super) fn start(_: &mut Parameters) -> Result<Box<dyn Strategy>, ParameterError> {
    Ok(Box::new(Access {
        suppression: Suppression::fixed(SUPPRESSION_INTERVAL),
        prefixes: Measurements::new(LIFETIME, MAX_PREFIXES),
        faces: BTreeMap::new(),
        faces_forgotten: 0,
    }))
}

impl Access {
    /// Sends to the prefix's last next hop, if there is one, and asks to be called when it has had its time.
    fn send_to_last_hop(&mut self, context: &mut StrategyContext<'_>) -> bool {
        let longest = context.name().component_count();
        let found = self
            .prefixes
            .longest_match(context.now(), longest, |length| context.prefix_hash(length))
            .copied();
        let Some(last) = found else { return false };
        if !context.eligible_next_hops().any(|hop| hop.face == last.face) {
            return false;
        }
        context.send(last.face);
        let due = context.now() + last.rtt.timeout();
        context.call_at(due);
        // Who asked must not be asked back when the time comes.
        context.info().number = context.ingress().map_or(0, |face| face.0);
        true
    }

    fn measured(&mut self, context: &mut StrategyContext<'_>, from: FaceId, data: &Data, rtt: Duration) {
        if self.faces.len() >= MAX_FACES && !self.faces.contains_key(&from) {
            self.faces.pop_first();
            self.faces_forgotten += 1;
        }
        let of_face = self.faces.entry(from).or_default();
        of_face.measure(rtt);
        let first = LastHop { face: from, rtt: *of_face };
        let now = context.now();
        let mut is_new = false;
        let last = self.prefixes.renew(now, prefix_of(context, data), || {
            is_new = true;
            first
        });
        if !is_new && last.face == from {
            last.rtt.measure(rtt);
        } else {
            *last = first;
        }
    }
}

/// Data of one file, or from one application, mostly share all of their names but the last component.
fn prefix_of(context: &StrategyContext<'_>, data: &Data) -> NameHash {
    let length = data.component_count().saturating_sub(1);
    let known =
        context.prefix_hash(length).filter(|_| data.name().prefix(length).is_prefix_of(context.name()));
    known.unwrap_or_else(|| context.hash_of(data.name().prefix(length)))
}

/// Sends to all next hops but `except`; false if there are none.
fn multicast(
    context: &mut StrategyContext<'_>,
    except: impl Fn(&StrategyContext<'_>, FaceId) -> bool,
) -> bool {
    let mut sent = false;
    for place in 0..context.next_hops().len() {
        let Some(hop) = context.next_hops().get(place).copied() else { break };
        if context.may_send(hop.face) && !except(context, hop.face) {
            context.send(hop.face);
            sent = true;
        }
    }
    sent
}

impl Strategy for Access {
    fn forgotten_early(&self) -> u64 {
        self.prefixes.forgotten_early() + self.faces_forgotten
    }

    fn after_interest(&mut self, context: &mut StrategyContext<'_>) {
        match self.suppression.decide(context) {
            Verdict::Aggregate => {}
            Verdict::Suppress => context.drop_arrival(DropReason::RetransmissionSuppressed),
            Verdict::Forward => {
                if !multicast(context, |_, _| false) {
                    context.drop_arrival(DropReason::NoNextHop);
                }
            }
            Verdict::New => {
                if !self.send_to_last_hop(context) && !multicast(context, |_, _| false) {
                    context.reject(DropReason::NoNextHop);
                }
            }
        }
    }

    fn after_data(&mut self, context: &mut StrategyContext<'_>, from: FaceId, data: &Data) {
        // Only the first Data says who is fastest.
        if context.in_records().is_empty() {
            return;
        }
        let Some(sent_at) = context.out_record(from).map(|record| record.sent_at) else { return };
        let rtt = context.now().saturating_since(sent_at);
        self.measured(context, from, data, rtt);
    }

    /// A Nack changes nothing: the others are asked when the time is over.
    fn after_nack(&mut self, _: &mut StrategyContext<'_>, _: FaceId, _: packet::NackReason) {}

    fn after_timer(&mut self, context: &mut StrategyContext<'_>) {
        let asker = FaceId(context.info().number);
        if context.in_records().iter().any(|record| record.face == asker) {
            multicast(context, |context, face| face == asker || context.out_record(face).is_some());
        }
    }
}
