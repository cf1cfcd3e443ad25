//! What the engine knows about its faces: enough to decide, nothing of sockets.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use packet::{Data, Dialect, LinkType, PacketCounts};

use crate::batch::answers_due::AnswersDue;
use crate::drop_reason::{DropCounters, DropReason};
use crate::face_id::FaceId;
use crate::limit::{RateControl, RateControlConfig, RateLimit, TokenBucket};
use crate::scope;
use crate::sharing::SharingConfig;

/// Whether the peer is on this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaceScope {
    /// Another host.
    NonLocal,
    /// An application on this host.
    Local,
}

/// What the owner says about a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaceConfig {
    /// The language the peer speaks.
    pub dialect: Dialect,
    /// Whether the peer is on this host.
    pub scope: FaceScope,
    /// How many peers there are.
    pub link_type: LinkType,
    /// Attach a PIT token to Interests sent out, for peers that echo it.
    pub send_pit_tokens: bool,
    /// Most Interests that may be pending for this face; `None` for no limit but the table's.
    pub max_pending: Option<u32>,
    /// Interests a second that may come in, and how many at once; `None` for any number.
    pub interest_rate: Option<RateLimit>,
    /// Who is behind the face, as far as the owner can tell: faces with the same value share what one may
    /// take where something is full. `None` for a face that counts by itself.
    pub origin: Option<u64>,
    /// How to compute the rate that consumers behind the face are told, and that their Interests are
    /// forwarded at; `None` for neither: what routers further away told them is then passed on.
    pub rate_control: Option<RateControlConfig>,
    /// How to share a link where all hear each other with the others who ask for the same; `None` for not at
    /// all, as suits a point-to-point link.
    pub sharing: Option<SharingConfig>,
}

impl FaceConfig {
    /// Without what makes no sense where only one peer hears: sharing.
    pub(crate) fn checked(self) -> Self {
        let is_shared = !self.link_type.is_point_to_point();
        FaceConfig { sharing: self.sharing.filter(|_| is_shared), ..self }
    }

    /// A point-to-point face to another host that speaks NDN, without limits.
    pub const fn remote() -> Self {
        FaceConfig {
            dialect: Dialect::Ndn,
            scope: FaceScope::NonLocal,
            link_type: LinkType::PointToPoint,
            send_pit_tokens: false,
            max_pending: None,
            interest_rate: None,
            origin: None,
            rate_control: None,
            sharing: None,
        }
    }

    /// A face to an application on this host that speaks NDN, without limits.
    pub const fn local() -> Self {
        FaceConfig { scope: FaceScope::Local, ..FaceConfig::remote() }
    }
}

/// What went through a face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaceCounters {
    /// Packets by kind and direction.
    pub packets: PacketCounts,
    /// What was dropped of the packets received here.
    pub drops: DropCounters,
}

/// A face as the engine keeps it.
#[derive(Debug)]
pub(crate) struct Face {
    pub(crate) config: FaceConfig,
    pub(crate) counters: FaceCounters,
    /// Interests pending that this face is waiting for.
    pub(crate) pending: u32,
    /// The same of all faces of its origin together.
    pub(crate) pending_of_origin: Option<Arc<AtomicU32>>,
    pub(crate) rate: Option<TokenBucket>,
    pub(crate) rate_control: Option<Box<RateControl>>,
    /// Interests sent to the face and not answered yet.
    pub(crate) answers_due: AnswersDue,
    /// Data of this face whose digest may be computed to see whether somebody asks for it.
    pub(crate) digests_due: u32,
    /// Of the Data it was last sent that answers several Interests.
    pub(crate) round: u64,
}

impl Face {
    #[inline]
    pub(crate) fn waits_for_one_more(&mut self) {
        self.pending += 1;
        self.add_to_origin(1);
    }

    #[inline]
    pub(crate) fn waits_for_one_less(&mut self) {
        if self.pending > 0 {
            self.pending -= 1;
            self.add_to_origin(u32::MAX);
        }
    }

    /// Counts `change` more of its origin, modulo 2^32. Nobody else counts at the same time: the engine is
    /// borrowed.
    #[inline]
    fn add_to_origin(&self, change: u32) {
        if let Some(pending) = &self.pending_of_origin {
            pending.store(pending.load(Ordering::Relaxed).wrapping_add(change), Ordering::Relaxed);
        }
    }

    /// Interests pending for all who are behind it.
    pub(crate) fn load(&self) -> u32 {
        self.pending_of_origin.as_ref().map_or(self.pending, |pending| pending.load(Ordering::Relaxed))
    }

    pub(crate) fn is_local(&self) -> bool {
        self.config.scope == FaceScope::Local
    }

    pub(crate) fn is_point_to_point(&self) -> bool {
        self.config.link_type.is_point_to_point()
    }
}

/// Who holds what there is only so much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Holder {
    Face(FaceId),
    Origin(u64),
}

/// All faces of a node.
///
/// Small numbers, which is all a node has for long, are found by indexing; a node that has seen many faces
/// come and go falls back to a search tree.
#[derive(Debug, Default)]
pub(crate) struct FaceTable {
    dense: Vec<Option<Box<Face>>>,
    sparse: BTreeMap<FaceId, Box<Face>>,
    len: usize,
    /// Interests pending for the faces of each origin.
    origins: BTreeMap<u64, Arc<AtomicU32>>,
}

const DENSE_LIMIT: usize = 4096;
/// Places are made so many at a time.
const DENSE_STEP: usize = 16;

impl FaceTable {
    pub(crate) fn insert(&mut self, id: FaceId, mut face: Face) -> bool {
        if self.get(id).is_some() {
            return false;
        }
        self.enter_origin(&mut face);
        let index = id.0 as usize;
        if index < DENSE_LIMIT {
            if self.dense.len() <= index {
                // Not doubled: nodes of a simulation have few faces, and there may be 100,000 nodes.
                let places = (index + 1).next_multiple_of(DENSE_STEP);
                self.dense.reserve_exact(places - self.dense.len());
                self.dense.resize_with(index + 1, || None);
            }
            self.dense[index] = Some(Box::new(face));
        } else {
            self.sparse.insert(id, Box::new(face));
        }
        self.len += 1;
        true
    }

    pub(crate) fn remove(&mut self, id: FaceId) -> Option<Face> {
        let face = match self.dense.get_mut(id.0 as usize) {
            Some(slot) => slot.take(),
            None => self.sparse.remove(&id),
        };
        self.len -= usize::from(face.is_some());
        face.map(|mut face| {
            self.leave_origin(&mut face);
            *face
        })
    }

    /// Changes what the owner says about a face; gives what it said before.
    pub(crate) fn configure(&mut self, id: FaceId, config: FaceConfig) -> Option<FaceConfig> {
        let before = self.get(id)?.config;
        if before.origin == config.origin {
            self.get_mut(id)?.config = config;
        } else {
            let mut face = self.remove(id)?;
            face.config = config;
            self.insert(id, face);
        }
        Some(before)
    }

    /// What is pending for a face counts for its origin, too.
    fn enter_origin(&mut self, face: &mut Face) {
        face.pending_of_origin =
            face.config.origin.map(|origin| self.origins.entry(origin).or_default().clone());
        face.add_to_origin(face.pending);
    }

    fn leave_origin(&mut self, face: &mut Face) {
        face.add_to_origin(face.pending.wrapping_neg());
        // The last one takes the count along.
        let is_last = face.pending_of_origin.take().is_some_and(|count| Arc::strong_count(&count) == 2);
        if let (true, Some(origin)) = (is_last, face.config.origin) {
            self.origins.remove(&origin);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(crate) fn get(&self, id: FaceId) -> Option<&Face> {
        match self.dense.get(id.0 as usize) {
            Some(slot) => slot.as_deref(),
            None => self.sparse.get(&id).map(Box::as_ref),
        }
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self, id: FaceId) -> Option<&mut Face> {
        match self.dense.get_mut(id.0 as usize) {
            Some(slot) => slot.as_deref_mut(),
            None => self.sparse.get_mut(&id).map(Box::as_mut),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (FaceId, &Face)> {
        let dense = self
            .dense
            .iter()
            .enumerate()
            .filter_map(|(index, slot)| Some((FaceId(index as u32), slot.as_deref()?)));
        dense.chain(self.sparse.iter().map(|(id, face)| (*id, &**face)))
    }

    /// Whether an application on this host is behind a face.
    pub(crate) fn is_local(&self, id: FaceId) -> bool {
        self.get(id).is_some_and(Face::is_local)
    }

    /// Interests pending for a face and all of its origin; more than any other has if it is gone.
    pub(crate) fn load(&self, id: FaceId) -> u32 {
        self.get(id).map_or(u32::MAX, Face::load)
    }

    /// Who is behind a face that is there.
    pub(crate) fn holder(&self, id: FaceId) -> Option<Holder> {
        let face = self.get(id)?;
        Some(face.config.origin.map_or(Holder::Face(id), Holder::Origin))
    }

    /// The rate that a face is told, if it is told one.
    pub(crate) fn rate_control_mut(&mut self, id: FaceId) -> Option<&mut RateControl> {
        self.get_mut(id)?.rate_control.as_deref_mut()
    }

    /// Counts Data that came by a face, and checks what does not need the tables.
    #[inline]
    pub(crate) fn admit_data(&mut self, id: FaceId, data: &Data) -> Result<(), DropReason> {
        let Some(ingress) = self.get_mut(id) else { return Err(DropReason::UnknownFace) };
        ingress.counters.packets.in_data += 1;
        if ingress.config.dialect != data.dialect() {
            return Err(DropReason::WrongDialect);
        }
        if !ingress.is_local() && scope::is_for_this_host_only(data) {
            return Err(DropReason::Scope);
        }
        Ok(())
    }

    /// Counts a drop on the face the packet came by.
    pub(crate) fn count_drop(&mut self, id: FaceId, reason: DropReason) {
        if let Some(face) = self.get_mut(id) {
            face.counters.drops.count(reason);
        }
    }
}
