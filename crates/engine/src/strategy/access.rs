//! Access: for the edge of a network, where one of a few next hops has the content (NFD's strategy of that
//! name, version 1).
//!
//! The first Interest under a prefix goes to all next hops; the one that answers first gets those that
//! follow, until it takes longer than its usual time: then the others are asked too.

use std::collections::BTreeMap;

use packet::time::Duration;
use packet::{Data, NameHash};

use super::parameters::{ParameterError, Parameters};
use super::rtt::RttEstimator;
use super::suppression::{Suppression, Verdict};
use super::{Situation, Strategy};
use crate::drop_reason::DropReason;
use crate::face::FaceId;
use crate::tables::measurements::Measurements;
use crate::transmit::Event;

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
    }))
}

impl Access {
    /// Sends to the prefix's last next hop, if there is one, and asks to be called when it has had its time.
    fn send_to_last_hop(&mut self, situation: &mut Situation<'_>) -> bool {
        let longest = situation.name().component_count();
        let found = self
            .prefixes
            .longest_match(situation.now(), longest, |length| situation.prefix_hash(length))
            .copied();
        let Some(last) = found else { return false };
        if !situation.eligible_next_hops().any(|hop| hop.face == last.face) {
            return false;
        }
        situation.send(last.face);
        let due = situation.now() + last.rtt.timeout();
        situation.call_at(due);
        // Who asked must not be asked back when the time comes.
        situation.notes().number = situation.ingress().map_or(0, |face| face.0);
        true
    }

    fn measured(&mut self, situation: &mut Situation<'_>, from: FaceId, data: &Data, rtt: Duration) {
        if self.faces.len() >= MAX_FACES && !self.faces.contains_key(&from) {
            self.faces.pop_first();
        }
        let of_face = self.faces.entry(from).or_default();
        of_face.measure(rtt);
        let first = LastHop { face: from, rtt: *of_face };
        let now = situation.now();
        let mut is_new = false;
        let last = self.prefixes.renew(now, prefix_of(situation, data), || {
            is_new = true;
            first
        });
        if !is_new && last.face == from {
            last.rtt.measure(rtt);
        } else {
            *last = first;
        }
        if self.prefixes.take_warning(now) {
            let name = situation.name().to_name();
            situation.tell(Event::MeasurementsFull { name, lifetime: LIFETIME });
        }
    }
}

/// Data of one file, or from one application, mostly share all of their names but the last component.
fn prefix_of(situation: &Situation<'_>, data: &Data) -> NameHash {
    let length = data.component_count().saturating_sub(1);
    let known =
        situation.prefix_hash(length).filter(|_| data.name().prefix(length).is_prefix_of(situation.name()));
    known.unwrap_or_else(|| situation.hash_of(data.name().prefix(length)))
}

/// Sends to all next hops but `except`; false if there are none.
fn multicast(situation: &mut Situation<'_>, except: impl Fn(&Situation<'_>, FaceId) -> bool) -> bool {
    let mut sent = false;
    for place in 0..situation.next_hops().len() {
        let Some(hop) = situation.next_hops().get(place).copied() else { break };
        if situation.may_send(hop.face) && !except(situation, hop.face) {
            situation.send(hop.face);
            sent = true;
        }
    }
    sent
}

impl Strategy for Access {
    fn after_interest(&mut self, situation: &mut Situation<'_>) {
        match self.suppression.decide(situation) {
            Verdict::Suppress => situation.drop_arrival(DropReason::RetransmissionSuppressed),
            Verdict::Forward => {
                if !multicast(situation, |_, _| false) {
                    situation.drop_arrival(DropReason::NoNextHop);
                }
            }
            Verdict::New => {
                if !self.send_to_last_hop(situation) && !multicast(situation, |_, _| false) {
                    situation.reject(DropReason::NoNextHop);
                }
            }
        }
    }

    fn after_data(&mut self, situation: &mut Situation<'_>, from: FaceId, data: &Data) {
        // Only the first Data says who is fastest.
        if situation.in_records().is_empty() {
            return;
        }
        let Some(sent_at) = situation.out_record(from).map(|record| record.sent_at) else { return };
        let rtt = situation.now().saturating_since(sent_at);
        self.measured(situation, from, data, rtt);
    }

    /// A Nack changes nothing: the others are asked when the time is over.
    fn after_nack(&mut self, _: &mut Situation<'_>, _: FaceId, _: packet::NackReason) {}

    fn after_timer(&mut self, situation: &mut Situation<'_>) {
        let asker = FaceId(situation.notes().number);
        if situation.in_records().iter().any(|record| record.face == asker) {
            multicast(situation, |situation, face| face == asker || situation.out_record(face).is_some());
        }
    }
}
