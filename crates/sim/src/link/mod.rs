//! What joins nodes.

mod channel;
mod codel;
mod drop_reason;
mod fifo;
mod flights;
pub(crate) mod services;
pub(crate) mod taps;

use packet::Dialect;
use packet::time::Duration;

pub(crate) use channel::{Channel, Offer};
pub(crate) use codel::Departure;
pub use drop_reason::{LinkDropCounters, LinkDropReason};
use engine::{FaceConfig, RateControlConfig, RateMethod};
pub(crate) use flights::{Flight, PREPARED_AT_ONCE};
pub use link::Faults;

/// How a link, or one direction of it, behaves. The default is ideal: any number of packets at once, and no
/// time lost.
///
/// ```
/// use packet::time::Duration;
/// use cairn_sim::{LinkConfig, Queue};
///
/// let dsl = LinkConfig::ideal()
///     .mbps(10.0)
///     .delay(Duration::from_millis(20))
///     .queue(Queue::packets(50))
///     .loss(0.001);
/// assert_eq!(dsl.rate_bits_per_second, Some(10_000_000));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Bits a second; `None` for any number.
    pub rate_bits_per_second: Option<u64>,
    /// Bytes that a link with a rate sends at once after it was idle, as one does that is shaped by a token
    /// bucket; with none each packet takes its time. CoDel has no bucket.
    pub bucket_bytes: u32,
    /// From the last bit sent to the last bit received.
    pub delay: Duration,
    /// What waits for the rate, and what happens to what cannot.
    pub queue: Queue,
    /// Bytes added to each packet, for headers below NDNLPv2 (whose own are counted by themselves).
    pub overhead_bytes: u32,
    /// What goes wrong under way, after the queue.
    pub impairment: Faults,
    /// What a path along this link costs routing.
    pub metric: u32,
    /// How engines see their ends of the link. The link type is set by the number of ends.
    pub face: FaceConfig,
    /// Have engines tell consumers behind the link how fast to ask, by this method, and let so many of their
    /// Interests wait. Needs a rate; takes the place of what `face` says of it.
    pub rate_control: Option<(RateMethod, u32)>,
    /// Cut packets into frames, put them together, repair losses: both ends run the link service of a real
    /// face, and what the link carries is encoded frames. Costs time; without it packets pass by
    /// reference.
    pub framing: Option<Framing>,
}

/// What cuts packets into frames, with its parameters. It decides which dialect the link speaks.
#[derive(Clone, Debug, PartialEq)]
pub enum Framing {
    /// NDNLPv2, for NDN.
    V2(Box<link::v2::Config>),
    /// NDNLP v1, for CCNx, between two ends.
    V1(Box<link::v1::Config>),
}

impl Framing {
    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Framing::V2(_) => link::v2::DIALECT,
            Framing::V1(_) => link::v1::DIALECT,
        }
    }
}

impl From<link::v2::Config> for Framing {
    fn from(config: link::v2::Config) -> Self {
        Framing::V2(Box::new(config))
    }
}

impl From<link::v1::Config> for Framing {
    fn from(config: link::v1::Config) -> Self {
        Framing::V1(Box::new(config))
    }
}

impl Default for LinkConfig {
    fn default() -> Self {
        LinkConfig::ideal()
    }
}

impl LinkConfig {
    /// Any number of packets at once, no delay, no loss.
    pub const fn ideal() -> Self {
        LinkConfig {
            rate_bits_per_second: None,
            bucket_bytes: 0,
            delay: Duration::ZERO,
            queue: Queue::UNLIMITED,
            overhead_bytes: 0,
            impairment: Faults::NONE,
            metric: 1,
            face: FaceConfig::remote(),
            rate_control: None,
            framing: None,
        }
    }

    /// With so many megabits (10^6 bits) a second.
    pub fn mbps(self, megabits_per_second: f64) -> Self {
        LinkConfig { rate_bits_per_second: Some((megabits_per_second * 1e6) as u64), ..self }
    }

    /// With this delay.
    pub fn delay(self, delay: Duration) -> Self {
        LinkConfig { delay, ..self }
    }

    /// With this delay in milliseconds.
    pub fn millis(self, delay_ms: u64) -> Self {
        self.delay(Duration::from_millis(delay_ms))
    }

    /// With this queue in front.
    pub fn queue(self, queue: Queue) -> Self {
        LinkConfig { queue, ..self }
    }

    /// Losing packets with this probability.
    pub fn loss(mut self, probability: f64) -> Self {
        self.impairment.loss = probability;
        self
    }

    /// With engines at its ends that tell consumers behind it how fast to ask, and let so many of their
    /// Interests wait.
    pub fn rate_control(self, method: RateMethod, max_held: u32) -> Self {
        LinkConfig { rate_control: Some((method, max_held)), ..self }
    }

    /// How engines see their ends.
    pub(crate) fn face_config(&self) -> FaceConfig {
        let (overhead_bytes, face) = (self.overhead_bytes, self.face);
        match (self.rate_control, self.rate_bits_per_second) {
            (Some((method, max_held)), Some(bits_per_second)) => {
                let control = RateControlConfig { method, bits_per_second, overhead_bytes, max_held };
                FaceConfig { rate_control: Some(control), ..face }
            }
            _ => face,
        }
    }

    /// With real frames and the link service of a face, of NDNLPv2 or NDNLP v1.
    pub fn framed(self, service: impl Into<Framing>) -> Self {
        LinkConfig { framing: Some(service.into()), ..self }
    }
}

/// What waits in front of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueLength {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

/// Who waits in front of a link with a rate. A packet that is being sent waits no more.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// Packets that may wait.
    pub max_packets: u32,
    /// Bytes that may wait.
    pub max_bytes: u64,
    /// Bytes waiting above which packets that join get a congestion mark; `None` for never.
    pub mark_above_bytes: Option<u64>,
    /// Keep the time that packets wait short, by dropping, or marking, some that waited too long.
    pub codel: Option<CoDel>,
}

impl Queue {
    /// Everybody may wait.
    pub const UNLIMITED: Queue =
        Queue { max_packets: u32::MAX, max_bytes: u64::MAX, mark_above_bytes: None, codel: None };

    /// So many packets may wait; who comes later is dropped.
    pub const fn packets(max_packets: u32) -> Self {
        Queue { max_packets, ..Queue::UNLIMITED }
    }

    /// So many bytes may wait; who comes later is dropped.
    pub const fn bytes(max_bytes: u64) -> Self {
        Queue { max_bytes, ..Queue::UNLIMITED }
    }

    /// CoDel with the parameters of RFC 8289, dropping, in front of room for so many packets.
    pub const fn codel(max_packets: u32) -> Self {
        Queue { max_packets, codel: Some(CoDel::RFC_8289), ..Queue::UNLIMITED }
    }

    /// Marking what joins while more than so many bytes wait.
    pub const fn mark_above(self, bytes: u64) -> Self {
        Queue { mark_above_bytes: Some(bytes), ..self }
    }
}

/// Controlled delay (RFC 8289).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDel {
    /// How long packets may wait in the long run.
    pub target: Duration,
    /// For how long that may be exceeded.
    pub interval: Duration,
    /// What happens to a packet that is chosen.
    pub action: CoDelAction,
}

impl CoDel {
    /// 5 ms, 100 ms, drop.
    pub const RFC_8289: CoDel = CoDel {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        action: CoDelAction::Drop,
    };
}

/// See [`CoDel::action`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoDelAction {
    /// It is dropped.
    Drop,
    /// It gets a congestion mark and goes on.
    Mark,
}

/// What went through one direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelCounters {
    /// Packets, or frames, that entered, dropped ones not counted.
    pub packets: u64,
    /// Their bytes, with headers.
    pub bytes: u64,
    /// Congestion marks given.
    pub marks: u64,
    /// Packets that arrived a second time.
    pub duplicated: u64,
    /// Packets that were held back.
    pub reordered: u64,
    /// Dropped, by reason.
    pub drops: LinkDropCounters,
}

impl ChannelCounters {
    /// Dropped for one reason.
    pub fn dropped(&self, reason: LinkDropReason) -> u64 {
        self.drops.get(reason)
    }

    pub(crate) fn drop(&mut self, reason: LinkDropReason) {
        self.drops.add(reason, 1);
    }
}
