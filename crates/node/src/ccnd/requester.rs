//! Who asks: an application on this host, which may ask for anything, or a neighbour, for whom there is only
//! so much time.

use std::collections::BTreeMap;
use std::time::Instant;

use engine::FaceId;

use crate::origin::Owner;
use crate::remote_control::RemoteControl;
use crate::time_budget::NeighbourBudgets;

/// Faces of neighbours that are remembered, so that the data plane is not asked about each of their packets.
const MAX_KNOWN: usize = 4096;

/// Who asks for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requester {
    /// An application on this host.
    Application(FaceId),
    Neighbour(Owner),
}

/// What neighbours have had.
#[derive(Debug)]
pub(crate) struct Neighbours {
    /// A face of a neighbour stays one, and its number is never given out again.
    known: BTreeMap<FaceId, Owner>,
    pub(super) pings: NeighbourBudgets,
    pub(super) pages: NeighbourBudgets,
}

impl Neighbours {
    pub(crate) fn new(now: Instant) -> Self {
        Neighbours {
            known: BTreeMap::new(),
            pings: NeighbourBudgets::new(now),
            pages: NeighbourBudgets::new(now),
        }
    }

    /// Who asks by a face; `None` if it is gone.
    pub(crate) fn requester(&mut self, face: FaceId, node: &RemoteControl) -> Option<Requester> {
        if let Some(owner) = self.known.get(&face) {
            return Some(Requester::Neighbour(*owner));
        }
        let neighbour = node.call(move |plane| plane.faces.neighbour_behind(face)).flatten()?;
        let Some(owner) = neighbour else { return Some(Requester::Application(face)) };
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        self.known.insert(face, owner);
        Some(Requester::Neighbour(owner))
    }
}
