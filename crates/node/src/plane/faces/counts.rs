//! What faces have counted, in pieces: thousands of faces lie in memory that nobody has touched for a while,
//! and to add all of them up at once would keep everybody waiting.

use engine::FaceId;
use packet::PacketCounts;

use crate::control::NodeStatus;
use crate::drop_reason::DropCounters;
use crate::face::Faces;
use crate::plane::DataPlane;

/// Faces that are looked at in one go.
pub(crate) const FACES_AT_ONCE: usize = 128;

/// What one face has counted.
#[derive(Clone, Debug)]
pub(crate) struct FaceCounts {
    pub(crate) face: FaceId,
    packets: PacketCounts,
    drops: DropCounters,
    parity: link::v2::ParityCounters,
    link_drops: Vec<(&'static str, u64)>,
}

impl FaceCounts {
    /// Adds them to the sums over all faces.
    pub(crate) fn add_to(&self, status: &mut NodeStatus) {
        status.packets += self.packets;
        status.transport_drops.absorb(&self.drops);
        status.parity += &self.parity;
        for (word, count) in &self.link_drops {
            *status.link_drops.entry(word).or_default() += count;
        }
    }
}

impl Faces {
    /// The numbers of all faces there are, in no particular order.
    pub(crate) fn ids(&self) -> Vec<FaceId> {
        self.keys().copied().collect()
    }
}

impl DataPlane {
    /// What those of these faces have counted that are still there.
    pub(crate) fn face_counts(&self, faces: &[FaceId]) -> Vec<FaceCounts> {
        let counts = faces.iter().filter_map(|id| {
            let (face, counted) = (self.faces.get(id)?, self.engine.face_counters(*id)?);
            Some(FaceCounts {
                face: *id,
                packets: counted.packets,
                drops: face.counters.drops,
                parity: face.codec.parity_counters(),
                link_drops: face.codec.drops(),
            })
        });
        counts.collect()
    }
}
