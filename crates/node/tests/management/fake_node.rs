//! A node without data plane: it remembers what it was asked for.

use std::collections::BTreeMap;

use cairn_node::InnerFace;
use cairn_node::control::{
    AddNextHopError, ContentStoreChanges, ContentStoreStatus, CreateFace, CreateFaceError, CreateInnerFace,
    FaceChanges, FaceConflict, FacePersistency, FaceSnapshot, FaceState, FaceUri, MANAGEMENT_FACE,
    MemoryStatus, NextHopChange, NodeControl, NodeStatus, RouteStatus, SetStrategyError, TurnCounters,
    UnsupportedFace, UpdateFaceError,
};
use engine::{FaceId, FaceScope, NextHop, StrategySpec};
use management::StrategyChoice;
use packet::time::{Duration, Instant};
use packet::{Buffer, Data, Dialect, Name, PacketCounts};

use crate::no_data_plane;

/// The application that commands come from.
pub(crate) const APPLICATION: FaceId = FaceId(300);
/// A neighbour.
pub(crate) const NEIGHBOUR: FaceId = FaceId(301);

#[derive(Debug)]
pub(crate) struct FakeNode {
    pub(crate) faces: BTreeMap<FaceId, FaceSnapshot>,
    pub(crate) hops: BTreeMap<(Name, FaceId), u64>,
    pub(crate) announcements: BTreeMap<(Name, FaceId), Buffer>,
    pub(crate) strategies: BTreeMap<Name, Name>,
    pub(crate) store: ContentStoreStatus,
    /// Data that erasures will find.
    pub(crate) erasable: usize,
    /// What the store was to forget.
    pub(crate) forgotten: Vec<Data>,
    /// How the next connection goes.
    pub(crate) new_faces_are: FaceState,
    /// Answer to the next request for a face, if it is to fail.
    pub(crate) create_error: Option<CreateFaceError>,
    pub(crate) created: Vec<CreateFace>,
    /// Faces that commands have destroyed, and of which nobody was told yet.
    pub(crate) destroyed: Vec<FaceSnapshot>,
    pub(crate) table_is_full: bool,
    /// How many changes to next hops each call brought.
    pub(crate) batches: Vec<usize>,
    next_face: u32,
}

pub(crate) fn face(id: FaceId, remote: &str, local: &str) -> FaceSnapshot {
    let remote: FaceUri = remote.parse().unwrap();
    let scope = match remote {
        FaceUri::Internal(_) | FaceUri::FileDescriptor(_) => FaceScope::Local,
        _ => FaceScope::NonLocal,
    };
    let face = no_data_plane::face(id, remote, local.parse().unwrap());
    FaceSnapshot { scope, mtu_bytes: Some(1400), ..face }
}

impl FakeNode {
    pub(crate) fn new() -> Self {
        let internal = face(MANAGEMENT_FACE, "internal://", "internal://");
        let mut application = face(APPLICATION, "fd://19", "unix:///run/nfd/nfd.sock");
        application.mtu_bytes = None;
        application.persistency = FacePersistency::OnDemand;
        application.expires_in = Some(Duration::from_secs(600));
        application.traffic.packets =
            PacketCounts { in_interests: 15, in_data: 1, out_data: 14, ..Default::default() };
        let neighbour = face(NEIGHBOUR, "udp4://192.0.2.1:6363", "udp4://192.0.2.2:6363");
        FakeNode {
            faces: [internal, application, neighbour].map(|face| (face.id, face)).into(),
            hops: BTreeMap::new(),
            announcements: BTreeMap::new(),
            strategies: BTreeMap::new(),
            store: ContentStoreStatus {
                max_entries: 65_536,
                max_bytes: 1 << 30,
                admit: true,
                serve: true,
                entries: 6,
                bytes: 600,
                hits: 3,
                misses: 17,
            },
            erasable: 0,
            forgotten: Vec::new(),
            new_faces_are: FaceState::Up,
            create_error: None,
            created: Vec::new(),
            destroyed: Vec::new(),
            table_is_full: false,
            batches: Vec::new(),
            next_face: 400,
        }
    }

    /// Faces that lead to `prefix`, with their costs.
    pub(crate) fn next_hops(&self, prefix: &str) -> Vec<(u32, u64)> {
        let prefix: Name = prefix.parse().unwrap();
        let below = self.hops.iter().filter(|((name, _), _)| *name == prefix);
        below.map(|((_, face), cost)| (face.0, *cost)).collect()
    }
}

impl NodeControl for FakeNode {
    fn create_face(&mut self, request: CreateFace) -> Result<FaceSnapshot, CreateFaceError> {
        self.created.push(request.clone());
        if let Some(error) = self.create_error.take() {
            return Err(error);
        }
        if let Some(known) = self.faces.values().find(|face| face.remote == request.remote) {
            return Err(CreateFaceError::Exists(Box::new(known.clone())));
        }
        let mut face = face(FaceId(self.next_face), &request.remote.to_string(), "udp4://192.0.2.2:6363");
        face.state = self.new_faces_are;
        face.dialect = request.dialect;
        // As the data plane does it: the face is made, and then changed.
        face.persistency = request.changes.persistency.unwrap_or(request.persistency);
        face.reliability = request.changes.reliability.unwrap_or(false);
        face.congestion_marking = request.changes.congestion_marking.unwrap_or(true);
        self.next_face += 1;
        self.faces.insert(face.id, face.clone());
        Ok(face)
    }

    fn create_inner_face(&mut self, _: CreateInnerFace) -> Result<InnerFace, CreateFaceError> {
        Err(UnsupportedFace::Scheme("internal").into())
    }

    fn update_face(&mut self, id: FaceId, changes: FaceChanges) -> Result<FaceSnapshot, UpdateFaceError> {
        let face = self.faces.get_mut(&id).ok_or(UpdateFaceError::NoFace(id))?;
        if id == MANAGEMENT_FACE {
            return face.clone().refusing(&changes);
        }
        let mut conflicts = Vec::new();
        if changes.local_fields == Some(true) && face.scope == FaceScope::NonLocal {
            conflicts.push(FaceConflict::LocalFields);
        }
        if changes.mtu_bytes.is_some_and(|mtu| mtu < 64 || face.mtu_bytes.is_none()) {
            conflicts.push(FaceConflict::Mtu);
        }
        if changes.persistency == Some(FacePersistency::OnDemand) {
            conflicts.push(FaceConflict::Persistency);
        }
        if !conflicts.is_empty() {
            return Err(UpdateFaceError::Conflict { face: id, conflicts });
        }
        face.local_fields = changes.local_fields.unwrap_or(face.local_fields);
        face.reliability = changes.reliability.unwrap_or(face.reliability);
        face.congestion_marking = changes.congestion_marking.unwrap_or(face.congestion_marking);
        face.persistency = changes.persistency.unwrap_or(face.persistency);
        face.mtu_bytes = changes.mtu_bytes.or(face.mtu_bytes);
        face.congestion.interval = changes.congestion_interval.unwrap_or(face.congestion.interval);
        Ok(face.clone())
    }

    fn destroy_face(&mut self, face: FaceId) -> bool {
        let destroyed = if face == MANAGEMENT_FACE { None } else { self.faces.remove(&face) };
        let is_destroyed = destroyed.is_some();
        self.destroyed.extend(destroyed);
        is_destroyed
    }

    fn face(&mut self, face: FaceId) -> Option<FaceSnapshot> {
        self.faces.get(&face).cloned()
    }

    fn faces(&mut self) -> Vec<FaceSnapshot> {
        self.faces.values().cloned().collect()
    }

    fn channels(&mut self) -> Vec<FaceUri> {
        ["udp4://0.0.0.0:6363", "unix:///run/nfd/nfd.sock"].map(|uri| uri.parse().unwrap()).to_vec()
    }

    fn add_next_hop(
        &mut self,
        dialect: Dialect,
        prefix: &Name,
        hop: NextHop,
        announcement: Option<Buffer>,
    ) -> Result<(), AddNextHopError> {
        assert_eq!(dialect, Dialect::Ndn);
        if !self.faces.contains_key(&hop.face) {
            return Err(AddNextHopError::NoFace(hop.face));
        }
        if self.table_is_full {
            return Err(AddNextHopError::Table(engine::RouteError::TableFull { limit: 7 }));
        }
        self.hops.insert((prefix.clone(), hop.face), hop.cost);
        if let Some(announcement) = announcement {
            self.announcements.insert((prefix.clone(), hop.face), announcement);
        }
        Ok(())
    }

    fn remove_next_hop(&mut self, _: Dialect, prefix: &Name, face: FaceId) -> bool {
        self.hops.remove(&(prefix.clone(), face)).is_some()
    }

    fn change_next_hops(
        &mut self,
        dialect: Dialect,
        changes: Vec<NextHopChange>,
    ) -> Vec<(NextHopChange, AddNextHopError)> {
        self.batches.push(changes.len());
        no_data_plane::change_one_by_one(self, dialect, changes, |_, _, _| {})
    }

    fn routes(&mut self, _: Dialect) -> Vec<RouteStatus> {
        no_data_plane::routes(&self.hops)
    }

    fn set_strategy(
        &mut self,
        _: Dialect,
        prefix: &Name,
        strategy: &StrategySpec,
    ) -> Result<(), SetStrategyError> {
        self.strategies.insert(prefix.clone(), strategy.name().clone());
        Ok(())
    }

    fn unset_strategy(&mut self, _: Dialect, prefix: &Name) -> bool {
        self.strategies.remove(prefix).is_some()
    }

    fn strategies(&mut self, _: Dialect) -> Vec<StrategyChoice> {
        no_data_plane::strategies(&self.strategies)
    }

    fn configure_content_store(&mut self, changes: ContentStoreChanges) -> ContentStoreStatus {
        self.store.max_entries = changes.max_entries.unwrap_or(self.store.max_entries);
        self.store.admit = changes.admit.unwrap_or(self.store.admit);
        self.store.serve = changes.serve.unwrap_or(self.store.serve);
        self.store
    }

    fn content_store(&mut self) -> ContentStoreStatus {
        self.store
    }

    fn forget_cached(&mut self, data: &Data) {
        self.forgotten.push(data.clone());
    }

    fn erase_cached(&mut self, _: Dialect, _: &Name, limit: usize) -> usize {
        let erased = self.erasable.min(limit);
        self.erasable -= erased;
        erased
    }

    fn status(&mut self) -> NodeStatus {
        let mut engine = engine::Engine::new(engine::EngineConfig::seeded(1).unwrap()).unwrap();
        engine.advance(Instant::ZERO);
        NodeStatus {
            version: "cairn 1.2.3".to_owned(),
            started_unix: packet::UnixTime::from_millis(1_600_000_000_000),
            started: Instant::ZERO,
            uptime: Duration::from_secs(5),
            tables: engine.table_sizes(),
            engine: *engine.counters(),
            content_store: *engine.content_store_counters(),
            packets: PacketCounts {
                in_interests: 1,
                in_data: 2,
                in_nacks: 3,
                out_interests: 4,
                out_data: 5,
                out_nacks: 6,
            },
            sharing: engine::SharingCounters { waited: 11, ..Default::default() },
            parity: Default::default(),
            memory: MemoryStatus { queued_bytes: 7, reassembly_bytes: 8, budget_bytes: 10 },
            turns: TurnCounters::default(),
            transport_drops: Default::default(),
            second_store: None,
            sampling: None,
            repositories: Vec::new(),
            link_drops: [("malformed-frame", 9)].into(),
        }
    }
}
