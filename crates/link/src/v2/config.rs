//! Parameters of a link service, with NFD's defaults.

use packet::ndn::tlv::MAX_PACKET_BYTES;
use packet::time::Duration;
use packet::{LinkType, TimeoutBounds};
use thiserror::Error;

use super::congestion::CongestionConfig;
use super::pacing::{MIN_STOCK_BUFFER_BYTES, PacingConfig};
use super::parity::{self, ParityConfig};

/// The smallest MTU a link may have, whether its own or by override.
pub const MIN_MTU_BYTES: usize = 64;

/// What a link service does. The defaults are those of a unicast UDP face: fragmentation and reassembly on,
/// reliability off, congestion marking on, local fields off, self-learning allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The largest frame the transport takes; `None` for streams, which take any. Default 8800 bytes.
    pub transport_mtu_bytes: Option<usize>,
    /// The operator's wish for smaller frames. Has no effect on transports that take frames of any size.
    pub mtu_override_bytes: Option<usize>,
    /// Whether the link has two ends or many.
    pub link_type: LinkType,
    /// Whether frames may carry padding behind their one element, as on Ethernet.
    pub padded_frames: bool,
    /// How packets larger than the MTU are sent; `None` to drop them.
    pub fragmentation: Option<FragmentationConfig>,
    /// How fragments are put together; `None` to drop them.
    pub reassembly: Option<ReassemblyConfig>,
    /// How losses are repaired; `None` to leave that to others.
    pub reliability: Option<ReliabilityConfig>,
    /// When packets are marked because the send queue is too long; `None` for never.
    pub congestion_marking: Option<CongestionConfig>,
    /// How a neighbour is kept from being sent more than it can take, and which frames the path carries;
    /// `None` to send whatever there is at once. For unicast datagrams. Default `None`.
    pub pacing: Option<PacingConfig>,
    /// How what single receivers missed is rebuilt; `None` to leave that to others. For links with many ends.
    /// Default `None`.
    pub parity: Option<ParityConfig>,
    /// Whether IncomingFaceId and NextHopFaceId may be used: on faces to local applications only.
    pub local_fields: bool,
    /// Whether NonDiscovery and PrefixAnnouncement are used or ignored.
    pub self_learning: bool,
    /// The largest network packet that is sent or delivered. Default 8800 bytes.
    pub max_packet_bytes: usize,
    /// Packets that may wait for the owner to take their frames. Further ones are dropped. Default 1024.
    pub max_outgoing_packets: usize,
    /// Packets that may wait for the owner to take them. Further ones are dropped. Default 1024.
    pub max_deliveries: usize,
}

/// How packets larger than the MTU are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentationConfig {
    /// Packets that need more fragments are dropped. Default 400.
    pub max_fragments: u32,
}

/// How fragments are put together, within limits that hold whatever a peer sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReassemblyConfig {
    /// Fragments with a larger FragCount are dropped. Default 400.
    pub max_fragments: u32,
    /// How long to wait for the next fragment of a packet. With reliability on, the wait is at least as long
    /// as the peer may go on retrying. Default 500 ms.
    pub timeout: Duration,
    /// Incomplete packets that are kept, over all peers; the one that waited longest makes room. Default 64.
    pub max_partial_packets: usize,
    /// Memory for incomplete packets; the one that waited longest makes room. Default 1 MiB.
    pub max_partial_bytes: usize,
}

/// How losses are noticed and repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReliabilityConfig {
    /// How often a frame is sent again before its packet is given up. Default 3.
    pub max_retries: u32,
    /// How many later frames must be acknowledged for one to count as lost. Default 3.
    pub loss_threshold: u32,
    /// Bounds of the retransmission timeout.
    pub rto: TimeoutBounds,
    /// How long acks wait for a frame to travel with before they travel alone. Default 5 ms.
    pub idle_ack_delay: Duration,
    /// Transmissions that are remembered until acknowledged, counted from the oldest; at the limit the
    /// oldest is forgotten. Default 4096.
    pub max_unacknowledged_frames: usize,
    /// Bytes of packets that are kept until acknowledged; at the limit the oldest frame is forgotten. Packets
    /// count once all their frames have left. Default 8 MiB.
    pub max_unacknowledged_bytes: usize,
    /// Acks that wait to be sent. From half of them on they wait no longer; at the limit further frames are
    /// dropped for the peer to send again. Default 4096.
    pub max_pending_acks: usize,
    /// Consecutive Sequences that are remembered to notice repeated frames, for half a byte each. Default
    /// 262 144.
    pub max_recent_sequences: usize,
    /// The first Sequence; `None` to draw it at random, so that a peer cannot take the frames of a service
    /// that was restarted for those of the one before.
    pub first_sequence: Option<u64>,
    /// The first TxSequence; `None` to draw it at random.
    pub first_tx_sequence: Option<u64>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            transport_mtu_bytes: Some(MAX_PACKET_BYTES),
            mtu_override_bytes: None,
            link_type: LinkType::PointToPoint,
            padded_frames: false,
            fragmentation: Some(FragmentationConfig::default()),
            reassembly: Some(ReassemblyConfig::default()),
            reliability: None,
            congestion_marking: Some(CongestionConfig::default()),
            pacing: None,
            parity: None,
            local_fields: false,
            self_learning: true,
            max_packet_bytes: MAX_PACKET_BYTES,
            max_outgoing_packets: 1024,
            max_deliveries: 1024,
        }
    }
}

impl Default for FragmentationConfig {
    fn default() -> Self {
        FragmentationConfig { max_fragments: 400 }
    }
}

impl Default for ReassemblyConfig {
    fn default() -> Self {
        ReassemblyConfig {
            max_fragments: 400,
            timeout: Duration::from_millis(500),
            max_partial_packets: 64,
            max_partial_bytes: 1 << 20,
        }
    }
}

impl Default for ReliabilityConfig {
    fn default() -> Self {
        ReliabilityConfig {
            max_retries: 3,
            loss_threshold: 3,
            rto: TimeoutBounds::default(),
            idle_ack_delay: Duration::from_millis(5),
            max_unacknowledged_frames: 4096,
            max_unacknowledged_bytes: 8 << 20,
            max_pending_acks: 4096,
            max_recent_sequences: 1 << 18,
            first_sequence: None,
            first_tx_sequence: None,
        }
    }
}

impl Config {
    /// The largest frame to send: the smaller of transport and override; `None` if the transport takes any.
    pub fn effective_mtu_bytes(&self) -> Option<usize> {
        let transport = self.transport_mtu_bytes?;
        Some(self.mtu_override_bytes.map_or(transport, |wish| wish.min(transport)))
    }

    /// Checks that the parameters make sense together.
    ///
    /// # Errors
    /// The first one that does not.
    pub fn check(&self) -> Result<(), ConfigError> {
        if [self.transport_mtu_bytes, self.mtu_override_bytes]
            .iter()
            .flatten()
            .any(|&mtu| mtu < MIN_MTU_BYTES)
        {
            return Err(ConfigError::MtuTooSmall);
        }
        if self.max_outgoing_packets == 0 || self.max_deliveries == 0 || self.max_packet_bytes == 0 {
            return Err(ConfigError::ZeroLimit);
        }
        if let Some(pacing) = &self.pacing {
            if !self.link_type.is_point_to_point() {
                return Err(ConfigError::PacingOnMultiAccess);
            }
            if pacing.max_waiting_bytes == 0 {
                return Err(ConfigError::ZeroLimit);
            }
            if pacing.stock_buffer_bytes < MIN_STOCK_BUFFER_BYTES {
                return Err(ConfigError::StockBufferTooSmall);
            }
        }
        if self.fragmentation.as_ref().is_some_and(|fragmentation| fragmentation.max_fragments == 0) {
            return Err(ConfigError::ZeroLimit);
        }
        if let Some(reassembly) = &self.reassembly
            && (reassembly.max_fragments == 0
                || reassembly.max_partial_packets == 0
                || reassembly.max_partial_bytes == 0)
        {
            return Err(ConfigError::ZeroLimit);
        }
        self.check_parity()?;
        let Some(reliability) = &self.reliability else { return Ok(()) };
        if !self.link_type.is_point_to_point() {
            return Err(ConfigError::ReliabilityOnMultiAccess);
        }
        if reliability.loss_threshold == 0
            || reliability.max_unacknowledged_frames == 0
            || reliability.max_unacknowledged_bytes == 0
            || reliability.max_pending_acks == 0
            || reliability.max_recent_sequences == 0
        {
            return Err(ConfigError::ZeroLimit);
        }
        Ok(())
    }

    fn check_parity(&self) -> Result<(), ConfigError> {
        let Some(parity) = &self.parity else { return Ok(()) };
        if self.link_type.is_point_to_point() {
            return Err(ConfigError::ParityOnPointToPoint);
        }
        if !(parity::MIN_BLOCK..=parity::MAX_FRAMES).contains(&parity.max_block) {
            return Err(ConfigError::ParityBlock);
        }
        if parity.max_recent_frames == 0 || parity.max_recent_bytes == 0 {
            return Err(ConfigError::ZeroLimit);
        }
        Ok(())
    }
}

/// Why a configuration makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// An MTU below 64 bytes.
    #[error("an MTU must be at least {MIN_MTU_BYTES} bytes")]
    MtuTooSmall,
    /// A limit of nothing at all. To switch a part off, leave its configuration out.
    #[error("a limit must be at least 1")]
    ZeroLimit,
    /// Acknowledgements need exactly one peer.
    #[error("reliability needs a point-to-point link")]
    ReliabilityOnMultiAccess,
    /// A receive buffer that is taken to hold fewer than eight frames: the link would wait for an answer to
    /// each.
    #[error("a neighbour's receive buffer must be taken to hold {MIN_STOCK_BUFFER_BYTES} bytes or more")]
    StockBufferTooSmall,
    /// One neighbour's echoes say nothing about another's queue.
    #[error("pacing needs a point-to-point link")]
    PacingOnMultiAccess,
    /// Acknowledgements repair more where there is one receiver.
    #[error("parity needs a link with many ends")]
    ParityOnPointToPoint,
    /// Blocks of too few or too many frames.
    #[error("a parity frame must stand for {} to {} frames", parity::MIN_BLOCK, parity::MAX_FRAMES)]
    ParityBlock,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_override_lowers_the_mtu_of_a_datagram_link_only() {
        let mtu = |transport, wish| {
            let config =
                Config { transport_mtu_bytes: transport, mtu_override_bytes: wish, ..Config::default() };
            config.effective_mtu_bytes()
        };
        assert_eq!(mtu(Some(1500), Some(1200)), Some(1200));
        assert_eq!(mtu(Some(1500), Some(9000)), Some(1500));
        assert_eq!(mtu(Some(1500), None), Some(1500));
        assert_eq!(mtu(None, Some(1200)), None);
    }

    #[test]
    fn nonsense_is_refused() {
        let check = |change: fn(&mut Config)| {
            let mut config = Config::default();
            change(&mut config);
            config.check()
        };
        assert_eq!(check(|_| ()), Ok(()));
        assert_eq!(check(|config| config.mtu_override_bytes = Some(64)), Ok(()));
        assert_eq!(check(|config| config.mtu_override_bytes = Some(63)), Err(ConfigError::MtuTooSmall));
        assert_eq!(check(|config| config.max_deliveries = 0), Err(ConfigError::ZeroLimit));
        let many = |config: &mut Config| {
            config.link_type = LinkType::MultiAccess;
            config.reliability = Some(ReliabilityConfig::default());
        };
        assert_eq!(check(many), Err(ConfigError::ReliabilityOnMultiAccess));
        let small = |config: &mut Config| {
            let stock_buffer_bytes = MIN_STOCK_BUFFER_BYTES - 1;
            config.pacing = Some(PacingConfig { stock_buffer_bytes, ..PacingConfig::default() });
        };
        assert_eq!(check(small), Err(ConfigError::StockBufferTooSmall));
        let alone = |config: &mut Config| config.parity = Some(ParityConfig::default());
        assert_eq!(check(alone), Err(ConfigError::ParityOnPointToPoint));
        for (max_block, outcome) in [
            (3, Err(ConfigError::ParityBlock)),
            (4, Ok(())),
            (32, Ok(())),
            (33, Err(ConfigError::ParityBlock)),
        ] {
            let parity = Some(ParityConfig { max_block, ..ParityConfig::default() });
            let link_type = LinkType::MultiAccess;
            assert_eq!(Config { link_type, parity, ..Config::default() }.check(), outcome, "{max_block}");
        }
    }
}
