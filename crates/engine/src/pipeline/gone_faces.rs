//! What is done a little at a time: forgetting what faces leave behind when they go, Interests that nobody
//! else waits for, and putting the content store in order.
//!
//! Whose Interests are whose is noted nowhere but in the Interests themselves, for that would cost every one
//! of them. So the table is gone through once for all faces that are gone, so many entries at a time. Faces
//! that go meanwhile, however many, start it only once more.

use packet::time::Instant;

use crate::engine::Engine;
use crate::tables::pending::PendingId;
use crate::tables::sweep::PAUSE;

impl Engine {
    /// When the next step of what is done a little at a time is to be made.
    #[inline]
    pub(crate) fn background_deadline(&self) -> Instant {
        let order_at =
            if self.tables.store.wants_order() { self.maintenance.order_at } else { Instant::NEVER };
        self.maintenance.sweep.next_deadline().min(order_at)
    }

    /// Makes some more of the content store findable by prefix, if somebody asked for that.
    pub(crate) fn order_store(&mut self, now: Instant) {
        if self.tables.store.wants_order() && self.maintenance.order_at <= now {
            self.tables.store.put_in_order();
            self.maintenance.order_at = now + PAUSE;
        }
    }

    /// Makes a step of the search if it is due.
    pub(crate) fn sweep(&mut self, now: Instant) {
        for number in self.maintenance.sweep.step(now, self.tables.pending.slot_count()) {
            self.forget_gone_faces(now, PendingId(number));
        }
    }

    /// Takes the faces that are gone from an entry, and the entry away if they alone waited for it.
    fn forget_gone_faces(&mut self, now: Instant, id: PendingId) {
        let Some(entry) = self.tables.pending.get_mut(id) else { return };
        let waited = entry.in_records.len();
        entry.in_records.retain(|record| self.faces.get(record.face).is_some());
        if waited > 0 && entry.in_records.is_empty() {
            self.finish(now, id);
        }
    }
}
