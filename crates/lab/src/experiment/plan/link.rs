//! A link, and what follows from its plan.

use serde::{Deserialize, Serialize};

use super::{Ndnlp1Plan, NodeIndex, SimulatedLink};

/// A link, complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkPlan {
    /// Its name.
    pub name: String,
    /// Its two nodes, or the first two of those who share it.
    pub between: [NodeIndex; 2],
    /// Where more than two share it, the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedPlan>,
    /// What carries packets.
    pub kind: LinkKind,
    /// Bits a second in each direction; `None` is as fast as it goes.
    pub rate_bps: Option<u64>,
    /// One way.
    pub delay_ns: u64,
    /// The part of frames that is lost.
    pub loss: f64,
    /// Frames that wait.
    pub queue: u32,
    /// Bytes of an IP packet.
    pub mtu: u32,
    /// Its length for shortest paths.
    #[serde(default = "LinkPlan::one")]
    pub metric: u32,
    /// What virtual time makes of it beside.
    #[serde(default)]
    pub simulated: SimulatedLink,
    /// NDNLP v1, where messages of CCNx travel in its packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ndnlp1: Option<Ndnlp1Plan>,
}

/// What carries packets over a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkKind {
    /// Datagrams.
    Udp,
    /// A byte stream.
    Tcp,
    /// Ethernet frames.
    Ether,
}

/// A link of more than two nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedPlan {
    /// The nodes beside the first two.
    pub others: Vec<NodeIndex>,
    /// Do those who want the same Data fetch it together?
    pub share: bool,
}

impl LinkPlan {
    fn one() -> u32 {
        1
    }

    /// Bytes that a real link sends at once after a pause: what its kernel's token bucket holds. That is what
    /// the rate carries in one tick of a slow clock (4 ms), and two frames at least.
    #[must_use]
    pub fn bucket_bytes(&self) -> u32 {
        let carried = u32::try_from(self.rate_bps.unwrap_or(0) / 8 / 250).unwrap_or(u32::MAX);
        carried.max(self.frame_bytes().saturating_mul(2))
    }

    /// Bytes of a full frame: an IP packet behind an Ethernet header.
    #[must_use]
    pub fn frame_bytes(&self) -> u32 {
        self.mtu.saturating_add(14)
    }

    /// Its nodes.
    pub fn ends(&self) -> impl Iterator<Item = NodeIndex> + '_ {
        let others = self.shared.iter().flat_map(|shared| shared.others.iter().copied());
        self.between.into_iter().chain(others)
    }

    /// Do those who share it fetch together? Who of them asks is drawn then.
    #[must_use]
    pub fn is_sharing(&self) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.share)
    }

    /// Is a node one of them?
    #[must_use]
    pub fn joins(&self, node: NodeIndex) -> bool {
        self.ends().any(|end| end == node)
    }

    /// Two nodes at a time: both, or every pair of those who share it.
    pub fn pairs(&self) -> impl Iterator<Item = [NodeIndex; 2]> + '_ {
        self.ends().enumerate().flat_map(move |(place, a)| self.ends().skip(place + 1).map(move |b| [a, b]))
    }

    /// Its lines on a drawing: from the first node to each of the others.
    pub fn star(&self) -> impl Iterator<Item = [NodeIndex; 2]> + '_ {
        self.ends().skip(1).map(move |end| [self.between[0], end])
    }

    /// The other end of the link, seen from `node`. Of a shared link, where there are several, a hop says
    /// which one it leads to.
    #[must_use]
    pub fn other(&self, node: NodeIndex) -> NodeIndex {
        if self.between[0] == node { self.between[1] } else { self.between[0] }
    }
}
