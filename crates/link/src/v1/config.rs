//! Parameters of a link service, with the defaults of the paper (NDN-0006, section 3.3.1).

use packet::ccnx::MAX_MESSAGE_BYTES;
use packet::ccnx::ndnlp::max_payload_bytes;
use packet::time::Duration;
use thiserror::Error;

use super::pacing::PacingConfig;
use super::timings::Timings;

/// What a link service does. The paper's options of `ndnldc` stand in brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The largest packet the layer below takes; `None` for streams, on which every message travels whole.
    /// Default 1500 bytes.
    pub mtu_bytes: Option<usize>,
    /// Whether the peer is asked to acknowledge packets [-a]. Packets of a peer that asks are acknowledged
    /// in any case. Default no.
    pub request_acks: bool,
    /// How long acknowledgements take and are waited for, and what is kept to be sent again: at the limit the
    /// oldest packet is forgotten. Default [`Timings::PAPER`].
    pub timings: Timings,
    /// How long to wait for the next fragment of a message. The paper leaves this open ("some time").
    /// Default 6 s, in which a peer with the defaults above has sent a packet for the last time.
    pub partial_timeout: Duration,
    /// Incomplete messages that are kept; the one that waited longest makes room. Default 64.
    pub max_partial_messages: usize,
    /// Memory for incomplete messages; the one that waited longest makes room. Default 1 MiB.
    pub max_partial_bytes: usize,
    /// The largest message that is sent or delivered. Default 65 535 bytes, more than any CCNx message has.
    pub max_message_bytes: usize,
    /// The largest buffer that is allocated before the fragments have come. A larger message is kept as a
    /// list of its fragments until it is complete, so that it takes no more memory than the peer has
    /// sent bytes. Default 16 KiB.
    pub max_preallocated_bytes: usize,
    /// Acknowledgements that wait to be sent. From half of them on they wait no longer; at the limit further
    /// packets are dropped for the peer to send again. Default 4096.
    pub max_pending_acks: usize,
    /// Consecutive sequence numbers that are remembered to notice repeated packets, for half a byte each.
    /// Default 65 536.
    pub max_recent_sequences: usize,
    /// How packets are held back that the neighbour's socket may not hold. Default not at all: they leave
    /// when the owner takes them.
    pub pacing: Option<PacingConfig>,
    /// Messages that may wait for the owner to take their packets. Further ones are dropped. Default 1024.
    pub max_outgoing_messages: usize,
    /// Messages that may wait for the owner to take them. Further ones are dropped. Default 1024.
    pub max_deliveries: usize,
    /// The first sequence number, of which 48 bits count; `None` to draw it at random, as ndnld does.
    pub first_sequence: Option<u64>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            mtu_bytes: Some(1500),
            request_acks: false,
            timings: Timings::PAPER,
            partial_timeout: Duration::from_secs(6),
            max_partial_messages: 64,
            max_partial_bytes: 1 << 20,
            max_message_bytes: MAX_MESSAGE_BYTES,
            max_preallocated_bytes: 16 << 10,
            max_pending_acks: 4096,
            max_recent_sequences: 1 << 16,
            pacing: None,
            max_outgoing_messages: 1024,
            max_deliveries: 1024,
            first_sequence: None,
        }
    }
}

impl Config {
    /// For a link to one neighbour, in packets of up to so many bytes, or over a stream. Packets are paced;
    /// of a stream the receiver takes what it can.
    pub fn of_neighbour(timings: &Timings, mtu_bytes: Option<usize>, request_acks: bool) -> Self {
        Config {
            mtu_bytes,
            request_acks,
            timings: *timings,
            pacing: mtu_bytes.map(|_| PacingConfig::default()),
            ..Config::default()
        }
    }

    /// Bytes of a message in each packet but the last; `None` if messages travel whole.
    pub fn max_payload_bytes(&self) -> Option<usize> {
        self.mtu_bytes.map(max_payload_bytes)
    }

    /// Checks that the parameters make sense together.
    ///
    /// # Errors
    /// The first one that does not.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.mtu_bytes.is_some_and(|mtu_bytes| mtu_bytes < MIN_MTU_BYTES) {
            return Err(ConfigError::MtuTooSmall);
        }
        let limits = [
            self.max_partial_messages,
            self.max_partial_bytes,
            self.max_message_bytes,
            self.max_pending_acks,
            self.max_recent_sequences,
            self.max_outgoing_messages,
            self.max_deliveries,
        ];
        if limits.contains(&0) { Err(ConfigError::ZeroLimit) } else { Ok(()) }
    }
}

/// The largest packet over UDP, and over IP alone, where nothing else is said: ndnld's.
pub const UDP_MTU_BYTES: usize = 1420;

/// The smallest MTU: room for a fragment of some bytes, and for an acknowledgement.
pub const MIN_MTU_BYTES: usize = 64;

/// Why a configuration makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// An MTU below 64 bytes.
    #[error("an MTU must be at least {MIN_MTU_BYTES} bytes")]
    MtuTooSmall,
    /// A limit of nothing at all.
    #[error("a limit must be at least 1")]
    ZeroLimit,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_to_one_neighbour_are_paced_and_a_stream_is_not() {
        let of = |mtu_bytes| Config::of_neighbour(&Timings::PAPER, mtu_bytes, true);
        let paced = Config { request_acks: true, pacing: Some(PacingConfig::default()), ..Config::default() };
        assert_eq!(of(Some(1500)), paced);
        assert_eq!(of(None), Config { mtu_bytes: None, pacing: None, ..paced });
    }

    #[test]
    fn nonsense_is_refused() {
        assert_eq!(Config::default().check(), Ok(()));
        let mtu = |mtu_bytes| Config { mtu_bytes, ..Config::default() }.check();
        assert_eq!(mtu(None), Ok(()));
        assert_eq!(mtu(Some(64)), Ok(()));
        assert_eq!(mtu(Some(63)), Err(ConfigError::MtuTooSmall));
        let none = Config { max_pending_acks: 0, ..Config::default() };
        assert_eq!(none.check(), Err(ConfigError::ZeroLimit));
    }
}
