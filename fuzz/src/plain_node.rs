//! A node without data plane that does what it is asked, and holds what it was asked for.

use std::collections::BTreeMap;

use engine::{FaceId, FaceScope, NamespaceRules, NextHop, StrategySpec};
use management::StrategyChoice;
use node::InnerFace;
use node::control::{
    AddNextHopError, ContentStoreChanges, ContentStoreStatus, CreateFace, CreateFaceError, CreateInnerFace,
    FaceChanges, FacePersistency, FaceSnapshot, FaceUri, NextHopChange, NodeControl, NodeStatus, RouteStatus,
    SetStrategyError, UnsupportedFace, UpdateFaceError,
};
use packet::{Buffer, Data, Dialect, Name};

#[path = "../../crates/node/tests/management/no_data_plane.rs"]
mod no_data_plane;

/// Faces that it has room for.
const MAX_FACES: usize = 16;

/// The node.
#[derive(Debug, Default)]
pub struct PlainNode {
    /// Its faces.
    pub faces: BTreeMap<FaceId, FaceSnapshot>,
    /// Its routes in CCNx.
    pub hops: BTreeMap<(Name, FaceId), u64>,
    /// What holds under prefixes there beside routes.
    pub rules: BTreeMap<Name, NamespaceRules>,
    strategies: BTreeMap<Name, Name>,
    next_face: u32,
}

impl PlainNode {
    /// A node with an application, which has face 300, and a neighbour, which has face 301.
    pub fn new() -> Self {
        let mut node = PlainNode { next_face: 300, ..PlainNode::default() };
        let local = CreateFace {
            remote: FaceUri::FileDescriptor(19),
            local: None,
            persistency: FacePersistency::OnDemand,
            changes: FaceChanges::default(),
            dialect: Dialect::Ccnx,
        };
        let remote = FaceUri::Udp(([192, 0, 2, 1], 9695).into());
        for (remote, scope) in [(local.remote.clone(), FaceScope::Local), (remote, FaceScope::NonLocal)] {
            let face = node.create_face(CreateFace { remote, ..local.clone() }).expect("there is room");
            node.faces.entry(face.id).and_modify(|face| face.scope = scope);
        }
        node
    }
}

impl NodeControl for PlainNode {
    fn create_face(&mut self, request: CreateFace) -> Result<FaceSnapshot, CreateFaceError> {
        if let Some(known) = self.faces.values().find(|face| face.remote == request.remote) {
            return Err(CreateFaceError::Exists(Box::new(known.clone())));
        }
        if self.faces.len() >= MAX_FACES {
            return Err(CreateFaceError::TooManyFaces { limit: MAX_FACES });
        }
        let id = FaceId(self.next_face);
        let face = FaceSnapshot {
            dialect: request.dialect,
            persistency: request.persistency,
            ..no_data_plane::face(id, request.remote, FaceUri::FileDescriptor(3))
        };
        self.next_face += 1;
        self.faces.insert(face.id, face.clone());
        Ok(face)
    }

    fn create_inner_face(&mut self, _: CreateInnerFace) -> Result<InnerFace, CreateFaceError> {
        Err(UnsupportedFace::Scheme("internal").into())
    }

    fn update_face(&mut self, id: FaceId, _: FaceChanges) -> Result<FaceSnapshot, UpdateFaceError> {
        self.face(id).ok_or(UpdateFaceError::NoFace(id))
    }

    fn destroy_face(&mut self, face: FaceId) -> bool {
        self.hops.retain(|(_, hop), _| *hop != face);
        self.faces.remove(&face).is_some()
    }

    fn face(&mut self, face: FaceId) -> Option<FaceSnapshot> {
        self.faces.get(&face).cloned()
    }

    fn faces(&mut self) -> Vec<FaceSnapshot> {
        self.faces.values().cloned().collect()
    }

    fn channels(&mut self) -> Vec<FaceUri> {
        Vec::new()
    }

    fn add_next_hop(
        &mut self,
        dialect: Dialect,
        prefix: &Name,
        hop: NextHop,
        _: Option<Buffer>,
    ) -> Result<(), AddNextHopError> {
        assert_eq!(dialect, Dialect::Ccnx, "a client of CCNx has changed routes of NDN");
        if !self.faces.contains_key(&hop.face) {
            return Err(AddNextHopError::NoFace(hop.face));
        }
        self.hops.insert((prefix.clone(), hop.face), hop.cost);
        Ok(())
    }

    fn remove_next_hop(&mut self, dialect: Dialect, prefix: &Name, face: FaceId) -> bool {
        assert_eq!(dialect, Dialect::Ccnx, "a client of CCNx has changed routes of NDN");
        self.hops.remove(&(prefix.clone(), face)).is_some()
    }

    fn change_next_hops(
        &mut self,
        dialect: Dialect,
        changes: Vec<NextHopChange>,
    ) -> Vec<(NextHopChange, AddNextHopError)> {
        no_data_plane::change_one_by_one(self, dialect, changes, |node, prefix, rules| {
            if *rules == NamespaceRules::default() {
                node.rules.remove(prefix);
            } else {
                node.rules.insert(prefix.clone(), rules.clone());
            }
        })
    }

    fn routes(&mut self, _: Dialect) -> Vec<RouteStatus> {
        no_data_plane::routes(&self.hops)
    }

    fn set_strategy(
        &mut self,
        dialect: Dialect,
        prefix: &Name,
        strategy: &StrategySpec,
    ) -> Result<(), SetStrategyError> {
        assert_eq!(dialect, Dialect::Ccnx, "a client of CCNx has chosen a strategy of NDN");
        self.strategies.insert(prefix.clone(), strategy.name().clone());
        Ok(())
    }

    fn unset_strategy(&mut self, _: Dialect, prefix: &Name) -> bool {
        self.strategies.remove(prefix).is_some()
    }

    fn strategies(&mut self, _: Dialect) -> Vec<StrategyChoice> {
        no_data_plane::strategies(&self.strategies)
    }

    fn configure_content_store(&mut self, _: ContentStoreChanges) -> ContentStoreStatus {
        unreachable!("no client of CCNx changes the content store")
    }

    fn content_store(&mut self) -> ContentStoreStatus {
        unreachable!("no client of CCNx asks about the content store but by the status page")
    }

    /// It has no content store.
    fn forget_cached(&mut self, _: &Data) {}

    fn erase_cached(&mut self, _: Dialect, _: &Name, _: usize) -> usize {
        unreachable!("no client of CCNx erases Data")
    }

    fn status(&mut self) -> NodeStatus {
        unreachable!("the status page is asked for by other means")
    }
}
