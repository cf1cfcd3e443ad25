//! The table of prefixes that clients have registered, with what they asked for and until when it holds.
//!
//! The engine knows next hops and no more. A registration whose face is gone is forgotten when the table is
//! looked through, now and then and when it is full.

use engine::FaceId;
use packet::Name;
use packet::time::{Duration, Instant};

use super::entries::{Entries, Registration};
use super::inheritance::Inheritance;
use crate::control::NodeControl;

#[derive(Debug)]
pub(super) struct Registrations {
    entries: Entries,
    inheritance: Inheritance,
    most: usize,
    /// When the table is looked through next.
    look_at: Instant,
}

/// Time between two looks through the table.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

impl Registrations {
    pub(super) fn new(most: usize) -> Self {
        Registrations {
            entries: Entries::new(),
            inheritance: Inheritance::default(),
            most,
            look_at: Instant::NEVER,
        }
    }

    /// Registers a prefix at a face; whether it was registered there already, or `None` if it cannot be.
    pub(super) fn add(
        &mut self,
        now: Instant,
        node: &mut dyn NodeControl,
        key: &(Name, FaceId),
        registration: Registration,
    ) -> Option<bool> {
        let is_new = !self.entries.contains_key(key);
        if is_new && self.entries.len() >= self.most {
            self.look_through(now, node);
            if self.entries.len() >= self.most {
                return None;
            }
        }
        let before = self.entries.insert(key.clone(), registration);
        if !self.inheritance.update(node, &self.entries, &key.0, Some(key.1)) {
            match before {
                Some(before) => self.entries.insert(key.clone(), before),
                None => self.entries.remove(key),
            };
            self.inheritance.update(node, &self.entries, &key.0, None);
            return None;
        }
        self.look_at = self.look_at.min(now + CHECK_INTERVAL);
        Some(!is_new)
    }

    /// Takes a registration back; false if there was none. One of the configuration is none of a client's.
    pub(super) fn remove(&mut self, node: &mut dyn NodeControl, prefix: &Name, face: FaceId) -> bool {
        let was_there = self.entries.remove(&(prefix.clone(), face)).is_some();
        if was_there {
            self.inheritance.update(node, &self.entries, prefix, None);
        }
        was_there
    }

    /// Whether a next hop of a prefix is only that of a shorter one.
    pub(super) fn is_inherited(&self, prefix: &Name, face: FaceId) -> bool {
        self.inheritance.is_inherited(&self.entries, prefix, face)
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
        let is_there = |face: FaceId| faces.binary_search(&face).is_ok();
        self.inheritance.forget(is_there);
        let mut changed: Vec<Name> = Vec::new();
        self.entries.retain(|(prefix, face), registration| {
            let is_over = !is_there(*face) || registration.until <= now;
            if is_over && changed.last() != Some(prefix) {
                changed.push(prefix.clone());
            }
            !is_over
        });
        for prefix in changed {
            self.inheritance.update(node, &self.entries, &prefix, None);
        }
        self.look_at = if self.entries.is_empty() { Instant::NEVER } else { now + CHECK_INTERVAL };
    }
}
