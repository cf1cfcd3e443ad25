//! The table of prefixes that clients have registered, with what they asked for and until when it holds.
//!
//! The engine knows next hops and no more. A registration whose face is gone is forgotten when the table is
//! looked through, now and then and when it is full.

use std::collections::BTreeMap;

use engine::{FaceId, NextHop};
use packet::ccnx::management::ForwardingFlags;
use packet::time::{Duration, Instant};
use packet::{Dialect, Name};

use crate::control::NodeControl;

#[derive(Debug)]
pub(super) struct Registrations {
    entries: BTreeMap<(Name, FaceId), Registration>,
    most: usize,
    /// When the table is looked through next.
    look_at: Instant,
}

/// What was registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Registration {
    pub(super) flags: ForwardingFlags,
    pub(super) until: Instant,
}

/// Time between two looks through the table.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// Who wants to be asked only where there is nobody else costs so much.
const LAST_COST: u64 = 1000;

impl Registrations {
    pub(super) fn new(most: usize) -> Self {
        Registrations { entries: BTreeMap::new(), most, look_at: Instant::NEVER }
    }

    /// Registers a prefix at a face; whether it was registered there already, or `None` if it cannot be.
    pub(super) fn add(
        &mut self,
        now: Instant,
        node: &mut dyn NodeControl,
        key: (Name, FaceId),
        registration: Registration,
    ) -> Option<bool> {
        let (face, Registration { flags, until }) = (key.1, registration);
        let is_new = !self.entries.contains_key(&key);
        if is_new && self.entries.len() >= self.most {
            self.look_through(now, node);
            if self.entries.len() >= self.most {
                return None;
            }
        }
        if flags.contains(ForwardingFlags::ACTIVE) {
            let cost = if flags.contains(ForwardingFlags::LAST) { LAST_COST } else { 0 };
            node.add_next_hop(Dialect::Ccnx, &key.0, NextHop { face, cost }, None).ok()?;
        } else {
            node.remove_next_hop(Dialect::Ccnx, &key.0, face);
        }
        self.entries.insert(key, Registration { flags, until });
        self.look_at = self.look_at.min(now + LOOK_INTERVAL);
        Some(!is_new)
    }

    /// Takes a registration back; false if there was none. One of the configuration is none of a client's.
    pub(super) fn remove(&mut self, node: &mut dyn NodeControl, prefix: &Name, face: FaceId) -> bool {
        let was_there = self.entries.remove(&(prefix.clone(), face)).is_some();
        if was_there {
            node.remove_next_hop(Dialect::Ccnx, prefix, face);
        }
        was_there
    }

    pub(super) fn get(&self, prefix: &Name, face: FaceId) -> Option<Registration> {
        self.entries.get(&(prefix.clone(), face)).copied()
    }

    pub(super) fn next_deadline(&self) -> Instant {
        self.look_at
    }

    pub(super) fn handle_timeout(&mut self, now: Instant, node: &mut dyn NodeControl) {
        if self.look_at <= now {
            self.look_through(now, node);
        }
    }

    fn look_through(&mut self, now: Instant, node: &mut dyn NodeControl) {
        let faces: Vec<FaceId> = node.faces().into_iter().map(|face| face.id).collect();
        self.entries.retain(|(prefix, face), registration| {
            let is_there = faces.binary_search(face).is_ok();
            if is_there && registration.until <= now {
                node.remove_next_hop(Dialect::Ccnx, prefix, *face);
            }
            is_there && registration.until > now
        });
        self.look_at = if self.entries.is_empty() { Instant::NEVER } else { now + LOOK_INTERVAL };
    }
}
