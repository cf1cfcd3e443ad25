//! Limits over all faces together: what one may have depends on what the others have already.

use std::collections::BTreeMap;

use engine::{FaceId, FaceScope};
use packet::time::Duration;

use super::DataPlane;
use crate::control::FacePersistency;
use crate::drop_reason::DropReason;
use crate::face::{Face, StreamPort, Transport};

/// One of so many places for faces made on demand is kept for peers on this host, so that strangers do not shut them out.
const KEPT_FOR_LOCAL: usize = 8;
/// What may always wait for a peer: two packets of the largest size.
const LEAST_QUEUE_BYTES: usize = 16 << 10;
/// Time between two searches for faces that can go.
const SEARCH_INTERVAL: Duration = Duration::from_millis(100);
/// Faces that go after one search: more would keep the others waiting.
const MAX_GOING: usize = 256;

impl DataPlane {
    /// Whether there is room for one more face that nobody asked for. If there is none, those that were idle for a short time go;
    /// if that does not help, it is counted.
    pub(super) fn may_add_on_demand(&mut self, scope: FaceScope) -> bool {
        if self.has_place(scope) {
            return true;
        }
        self.close_idle_strangers();
        let has_place = self.has_place(scope);
        if !has_place {
            self.drops.count(DropReason::TooManyFaces);
        }
        has_place
    }

    fn has_place(&self, scope: FaceScope) -> bool {
        let most = self.settings.max_on_demand_faces;
        let kept = if scope == FaceScope::Local { 0 } else { most / KEPT_FOR_LOCAL };
        self.on_demand_faces < most - kept && self.faces.len() < self.settings.max_faces
    }

    #[cold]
    fn close_idle_strangers(&mut self) {
        if self.now < self.next_search {
            return;
        }
        self.next_search = self.now + SEARCH_INTERVAL;
        let (now, patience) = (self.now, self.settings.crowded_idle_timeout);
        let is_idle = |face: &Face| {
            let on_demand = face.persistency == FacePersistency::OnDemand;
            on_demand && matches!(face.transport, Transport::Datagram(_)) && face.last_used + patience <= now
        };
        let going: Vec<FaceId> =
            self.faces.values().filter(|face| is_idle(face)).take(MAX_GOING).map(|face| face.id).collect();
        if !going.is_empty() {
            tracing::debug!(count = going.len(), "as many faces as there may be: idle ones are closed early");
        }
        for id in going {
            self.destroy_face(id, "idle, and others want its place");
        }
    }

    /// How much may wait for one peer at present: no more than is left of what may wait for all, but always a little, so that
    /// those who never read do not shut out those who do.
    #[inline]
    pub(super) fn send_queue_limit(&self) -> usize {
        let left = self.settings.all_send_queues_bytes.saturating_sub(self.queued_bytes);
        self.settings.send_queue_bytes.min(left.max(LEAST_QUEUE_BYTES))
    }

    /// Takes note of how much waits for a peer.
    pub(super) fn note_queue(&mut self, id: FaceId) {
        if let Some(face) = self.faces.get_mut(&id)
            && let Transport::Stream(port) = &mut face.transport
        {
            note_queue(&mut self.queued_bytes, port);
        }
    }

    /// Takes note of what the incomplete packets of a face take. If all together take too much, those of this face go, which
    /// has just had something to do with it.
    pub(super) fn note_partial_packets(&mut self, id: FaceId) {
        let Some(face) = self.faces.get_mut(&id) else { return };
        let held = face.codec.partial_bytes();
        self.partial_bytes = (self.partial_bytes + held).saturating_sub(face.partial_bytes);
        face.partial_bytes = held;
        if held > 0 && self.partial_bytes > self.settings.reassembly_bytes {
            face.codec.evict_partial_packets();
            self.partial_bytes -= held;
            face.partial_bytes = 0;
        }
    }

    /// Forgets what a face held that is gone, and keeps what its link counted.
    pub(super) fn forget_holdings(&mut self, face: &mut Face) {
        self.partial_bytes = self.partial_bytes.saturating_sub(face.partial_bytes);
        for (word, count) in face.codec.drops() {
            *self.past_link_drops.entry(word).or_default() += count;
        }
        if let Transport::Stream(port) = &mut face.transport {
            port.stream = None;
            note_queue(&mut self.queued_bytes, port);
        }
    }

    /// What links dropped, over all faces, past ones included.
    pub(super) fn all_link_drops(&self) -> BTreeMap<&'static str, u64> {
        let mut all = self.past_link_drops.clone();
        for (word, count) in self.faces.values().flat_map(|face| face.codec.drops()) {
            *all.entry(word).or_default() += count;
        }
        all
    }
}

/// Brings the sum over all faces in line with what waits for this one.
#[inline]
pub(super) fn note_queue(sum: &mut usize, port: &mut StreamPort) {
    let waits = port.stream.as_ref().map_or(0, |stream| stream.queue_cost());
    *sum = (*sum + waits).saturating_sub(port.noted_queue);
    port.noted_queue = waits;
}
