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

/// What a frame has besides its part of a packet, and a packet besides its content, in bytes: about.
const FRAME_OVERHEAD_BYTES: u32 = 60;
const PACKET_OVERHEAD_BYTES: u32 = 150;
/// From one frame of 1,500 bytes to the next at 100 Mbit/s, where the receiver finds them together, and at
/// 15 Mbit/s, where it finds each alone: at these rates `cairn lab calibrate` measures.
const TOGETHER_NS: f64 = 120_000.0;
const APART_NS: f64 = 800_000.0;

impl LinkPlan {
    /// How many frames of Data with so much content come so late after the one before that a forwarder has to
    /// be woken up for each. Between the two rates that were measured it is a line; the kernel puts datagrams
    /// together itself.
    pub(crate) fn frames_apart(&self, content_bytes: u32) -> f64 {
        let (Some(rate_bps), LinkKind::Tcp | LinkKind::Ether) = (self.rate_bps, self.kind) else {
            return 0.0;
        };
        let room = self.mtu.saturating_sub(FRAME_OVERHEAD_BYTES).max(1);
        let frames = (content_bytes + PACKET_OVERHEAD_BYTES).div_ceil(room);
        let frame_ns = f64::from(self.mtu) * 8e9 / rate_bps as f64;
        let part = ((frame_ns - TOGETHER_NS) / (APART_NS - TOGETHER_NS)).clamp(0.0, 1.0);
        f64::from(frames - 1) * part
    }

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

#[cfg(test)]
mod tests {
    use super::super::LinkIndex;
    use crate::experiment::Experiment;

    #[test]
    fn frames_of_connections_and_ethernet_come_apart_over_slow_links_and_those_of_datagrams_never() {
        let apart = |kind: &str, rate: &str, content_bytes| {
            let row = testkit::experiment::ROW.replacen(
                "a-b = {}",
                &format!("a-b = {{ kind = '{kind}', rate = '{rate}' }}"),
                1,
            );
            let text = format!("title = 't'\nduration = '9 s'\n{row}");
            let experiment = Experiment::parse("t", "t", &text).unwrap_or_else(|wrong| panic!("{wrong}"));
            experiment.plans("sim").unwrap()[0].links[LinkIndex(0)].frames_apart(content_bytes)
        };
        assert_eq!(apart("tcp", "12 Mbit/s", 4096), 2.0, "three frames");
        assert_eq!(apart("ether", "15 Mbit/s", 4096), 2.0);
        assert_eq!(apart("ether", "12 Mbit/s", 1200), 0.0, "all is in one frame");
        assert_eq!([apart("tcp", "100 Mbit/s", 4096), apart("udp", "12 Mbit/s", 4096)], [0.0; 2]);
        let between = apart("tcp", "30 Mbit/s", 4096);
        assert!((0.8..0.9).contains(&between), "{between}");
    }
}
