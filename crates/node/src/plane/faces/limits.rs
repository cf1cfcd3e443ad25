//! Limits over all faces together: what one may have depends on what the others have already.

use engine::{FaceId, FaceScope};
use packet::time::{Duration, Instant};

use crate::control::FacePersistency;
use crate::drop_reason::DropReason;
use crate::face::{Face, Faces, StreamPort, Transport};
use crate::origin::Origin;
use crate::origin::Owner;
use crate::plane::DataPlane;
use crate::plane::faces::numbers::Numbers;
use crate::plane::faces::on_demand::OnDemandFaces;
use crate::plane::faces::partials::Partials;

/// One of so many places for faces made on demand is kept for peers on this host, so that strangers do not
/// shut them out.
const KEPT_FOR_LOCAL: usize = 8;
/// What may always wait for a peer: two packets of the largest size.
const MIN_QUEUE_BYTES: usize = 16 << 10;
/// Time between two searches for faces that can go.
const SEARCH_INTERVAL: Duration = Duration::from_millis(100);
/// Faces that go after one search: more would keep the others waiting.
const MAX_GOING: usize = 256;

/// What is taken of that which all faces share.
pub(in crate::plane) struct Occupancy {
    pub(in crate::plane) population: Population,
    pub(in crate::plane) held: BufferedMemory,
}

impl Occupancy {
    pub(in crate::plane) fn new(now: Instant) -> Self {
        Occupancy { population: Population::new(now), held: BufferedMemory::default() }
    }
}

/// Who has faces: their numbers, and how many of them nobody asked for.
pub(in crate::plane) struct Population {
    pub(in crate::plane) numbers: Numbers,
    pub(in crate::plane) on_demand: usize,
    /// Faces inside the process.
    pub(in crate::plane) inner: usize,
    pub(in crate::plane) on_demand_datagrams: OnDemandFaces,
    pub(in crate::plane) on_demand_streams: OnDemandFaces,
    /// When faces that can go are next searched for.
    next_search: Instant,
}

impl Population {
    pub(in crate::plane) fn new(now: Instant) -> Self {
        Population {
            numbers: Numbers::default(),
            on_demand: 0,
            inner: 0,
            on_demand_datagrams: Default::default(),
            on_demand_streams: Default::default(),
            next_search: now,
        }
    }

    pub(in crate::plane) fn on_demand_of(&mut self, kind: Kind) -> &mut OnDemandFaces {
        match kind {
            Kind::Datagram => &mut self.on_demand_datagrams,
            Kind::Stream => &mut self.on_demand_streams,
        }
    }
}

/// What waits, over all faces.
#[derive(Default)]
pub(in crate::plane) struct BufferedMemory {
    /// What waits for peers to read.
    pub(in crate::plane) queued_bytes: usize,
    /// What incomplete packets take.
    pub(in crate::plane) partials: Partials,
    /// What packets take that wait until neighbours can take them.
    pub(in crate::plane) waiting: Partials,
    /// How often a stream was not read for a while because its reader was slow.
    pub(in crate::plane) holds: u64,
}

/// What a face takes of what is scarce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::plane) enum Kind {
    /// A place.
    Datagram,
    /// A place and a descriptor.
    Stream,
}

impl Kind {
    pub(in crate::plane) fn of(face: &Face) -> Self {
        if matches!(face.transport, Transport::Datagram(_)) { Kind::Datagram } else { Kind::Stream }
    }
}

impl Faces {
    /// The stranger behind a face; `None` for what is on this host. The outer one is `None` if there is no
    /// such face.
    pub(crate) fn neighbour_behind(&self, id: FaceId) -> Option<Option<Owner>> {
        let face = self.get(&id)?;
        let is_stranger = face.scope == FaceScope::NonLocal;
        Some(is_stranger.then(|| face.origin_now().map_or(Owner::Face(id), Owner::Origin)))
    }
}

impl DataPlane {
    /// Whether there is room for one more face that nobody asked for, from `origin`, or from this host if
    /// there is none. Where there is too little, somebody may have to give way: whoever holds most, or
    /// those that were idle for a short time. If that does not help, it is counted.
    pub(in crate::plane) fn may_add_on_demand(&mut self, origin: Option<Origin>, kind: Kind) -> bool {
        if let Some(origin) = origin
            && self.occupancy.population.on_demand_of(kind).count(origin)
                >= self.settings.faces.max_on_demand_per_address
            && !self.give_way(origin, kind, true)
        {
            self.gone_counters.drops.count(DropReason::AddressShare);
            return false;
        }
        if self.has_place(origin, kind) {
            return true;
        }
        self.make_place(origin, kind);
        let has_place = self.has_place(origin, kind);
        if !has_place {
            self.gone_counters.drops.count(DropReason::TooManyFaces);
        }
        has_place
    }

    /// How many faces there are to others than applications inside the process.
    pub(in crate::plane) fn outer_faces(&self) -> usize {
        self.faces.len() - self.occupancy.population.inner
    }

    fn has_place(&self, origin: Option<Origin>, kind: Kind) -> bool {
        let most = self.settings.faces.max_on_demand;
        if self.occupancy.population.on_demand >= most || self.outer_faces() >= self.settings.faces.max {
            return false;
        }
        if origin.is_none() {
            return true;
        }
        let on_demand = self.occupancy.population.on_demand_streams.total()
            + self.occupancy.population.on_demand_datagrams.total();
        let has_descriptor = kind == Kind::Datagram
            || self.occupancy.population.on_demand_streams.total()
                < self.settings.faces.max_remote_connections;
        has_descriptor && on_demand < most - most / KEPT_FOR_LOCAL
    }

    #[cold]
    fn make_place(&mut self, origin: Option<Origin>, kind: Kind) {
        let needs_descriptor = kind == Kind::Stream
            && origin.is_some()
            && self.occupancy.population.on_demand_streams.total()
                >= self.settings.faces.max_remote_connections;
        let mut holders = vec![(self.occupancy.population.on_demand_streams.most(), Kind::Stream)];
        if !needs_descriptor {
            holders.push((self.occupancy.population.on_demand_datagrams.most(), Kind::Datagram));
        }
        let most = holders.into_iter().filter_map(|(most, kind)| Some((most?, kind)));
        let most = most.max_by_key(|((_, count), _)| *count);
        let own = origin.map_or(0, |origin| self.occupancy.population.on_demand_of(kind).count(origin));
        // To take from somebody who holds no more would only go round in circles.
        if let Some(((holder, count), held)) = most
            && count > own + 1
            && self.give_way(holder, held, false)
        {
            return;
        }
        if let Some(origin) = origin
            && self.give_way(origin, kind, true)
        {
            return;
        }
        self.close_idle_on_demand();
    }

    /// Closes the least recently used face of an origin; with `only_idle` only if it was idle for the time
    /// that holds when places are short.
    fn give_way(&mut self, origin: Origin, kind: Kind, only_idle: bool) -> bool {
        let faces = &self.faces;
        let on_demand = match kind {
            Kind::Datagram => &mut self.occupancy.population.on_demand_datagrams,
            Kind::Stream => &mut self.occupancy.population.on_demand_streams,
        };
        let Some(id) = on_demand.least_recently_used(origin, faces) else { return false };
        let Some(face) = self.faces.get(&id) else { return false };
        if only_idle && face.activity.last_used + self.settings.timeouts.crowded_idle > self.now {
            return false;
        }
        self.gone_counters.drops.count(DropReason::GaveWay);
        self.destroy_face(id, "others want its place");
        true
    }

    /// Closes a connection of a stranger, so that there is a descriptor; false if there is none.
    pub(in crate::plane) fn free_descriptor(&mut self) -> bool {
        let most = self.occupancy.population.on_demand_streams.most();
        most.is_some_and(|(origin, _)| self.give_way(origin, Kind::Stream, false))
    }

    #[cold]
    fn close_idle_on_demand(&mut self) {
        if self.now < self.occupancy.population.next_search {
            return;
        }
        self.occupancy.population.next_search = self.now + SEARCH_INTERVAL;
        let (now, idle) = (self.now, self.settings.timeouts.crowded_idle);
        let is_idle = |face: &Face| {
            let may_go = face.probation.origin.is_some() || matches!(face.transport, Transport::Datagram(_));
            may_go && face.persistency == FacePersistency::OnDemand && face.activity.last_used + idle <= now
        };
        let going: Vec<FaceId> =
            self.faces.values().filter(|face| is_idle(face)).take(MAX_GOING).map(|face| face.id).collect();
        if !going.is_empty() {
            tracing::debug!(count = going.len(), "as many faces as there may be: idle ones are closed early");
        }
        self.gone_counters.drops.add(DropReason::GaveWay, going.len() as u64);
        for id in going {
            self.destroy_face(id, "idle, and others want its place");
        }
    }

    /// Counts a face among those made on demand, or no longer, as it is now.
    pub(in crate::plane) fn note_on_demand(&mut self, id: FaceId) {
        let now = self.now;
        let Some(face) = self.faces.get_mut(&id) else { return };
        let origin = face.origin_now().filter(|_| face.persistency == FacePersistency::OnDemand);
        let (kind, before) = (Kind::of(face), std::mem::replace(&mut face.probation.origin, origin));
        if before == origin {
            return;
        }
        if let Some(before) = before {
            self.occupancy.population.on_demand_of(kind).remove(before, id);
        }
        if let Some(origin) = origin {
            self.occupancy.population.on_demand_of(kind).add(origin, id, now);
        }
    }

    /// How much may wait for one peer at present: no more than is left of what may wait for all, but always a
    /// little, so that those who never read do not shut out those who do.
    #[inline]
    pub(in crate::plane) fn send_queue_limit(&self) -> usize {
        let left =
            self.settings.memory.all_send_queues_bytes.saturating_sub(self.occupancy.held.queued_bytes);
        self.settings.memory.send_queue_bytes.min(left.max(MIN_QUEUE_BYTES))
    }

    /// Takes note of how much waits for a peer.
    pub(in crate::plane) fn note_queue(&mut self, id: FaceId) {
        if let Some(face) = self.faces.get_mut(&id)
            && let Transport::Stream(port) = &mut face.transport
        {
            note_queue(&mut self.occupancy.held.queued_bytes, port);
        }
    }

    /// Takes note of what the packets of a face take that are incomplete, and of those that wait until the
    /// neighbour can take them. If those of one kind together take too much, those go of whoever holds
    /// most of that kind.
    #[inline]
    pub(in crate::plane) fn note_held_packets(&mut self, id: FaceId) {
        let Some(face) = self.faces.get(&id) else { return };
        let weighs_waiting = face.codec.waiting_bytes() != face.held.waiting_bytes;
        if face.codec.partial_bytes() != face.held.partial_bytes {
            self.weigh_partial_packets(id);
        }
        if weighs_waiting {
            self.weigh_waiting_packets(id);
        }
    }

    fn weigh_waiting_packets(&mut self, id: FaceId) {
        let Some(face) = self.faces.get_mut(&id) else { return };
        face.held.waiting_bytes = face.codec.waiting_bytes();
        self.occupancy.held.waiting.set(id, owner_of(face), face.held.waiting_bytes);
        while self.occupancy.held.waiting.total_bytes() > self.settings.memory.all_waiting_bytes
            && let Some(heaviest) = self.occupancy.held.waiting.heaviest()
        {
            let Some(face) = self.faces.get_mut(&heaviest) else { return };
            face.codec.evict_waiting_packets();
            face.held.waiting_bytes = 0;
            self.occupancy.held.waiting.set(heaviest, owner_of(face), 0);
        }
    }

    fn weigh_partial_packets(&mut self, id: FaceId) {
        let Some(face) = self.faces.get_mut(&id) else { return };
        face.held.partial_bytes = face.codec.partial_bytes();
        self.occupancy.held.partials.set(id, owner_of(face), face.held.partial_bytes);
        while self.occupancy.held.partials.total_bytes() > self.settings.memory.reassembly_bytes
            && let Some(heaviest) = self.occupancy.held.partials.heaviest()
        {
            let Some(face) = self.faces.get_mut(&heaviest) else { return };
            face.codec.evict_partial_packets();
            face.held.partial_bytes = 0;
            self.occupancy.held.partials.set(heaviest, owner_of(face), 0);
        }
    }

    /// Forgets what a face held that is gone, and keeps what its link counted.
    pub(in crate::plane) fn forget_holdings(&mut self, face: &mut Face) {
        self.occupancy.held.partials.set(face.id, owner_of(face), 0);
        self.occupancy.held.waiting.set(face.id, owner_of(face), 0);
        for (word, count) in face.codec.drops() {
            *self.gone_counters.link_drops.entry(word).or_default() += count;
        }
        if let Transport::Stream(port) = &mut face.transport {
            port.stream = None;
            note_queue(&mut self.occupancy.held.queued_bytes, port);
        }
    }
}

fn owner_of(face: &Face) -> Owner {
    face.probation.origin.map_or(Owner::Face(face.id), Owner::Origin)
}

/// Brings the sum over all faces in line with what waits for this one.
#[inline]
pub(in crate::plane) fn note_queue(sum: &mut usize, port: &mut StreamPort) {
    let waits = port.stream.as_ref().map_or(0, |stream| stream.queue_cost());
    *sum = (*sum + waits).saturating_sub(port.noted_queue);
    port.noted_queue = waits;
}
