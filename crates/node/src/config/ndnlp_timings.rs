//! Parameters of NDNLP v1 on one link, as the configuration says them.

use link::v1::Timings;
use packet::time::Duration;
use serde::{Deserialize, Serialize};

/// When packets of NDNLP v1 are acknowledged and sent again: parameters of `ndnldc` (NDN-0006, section
/// 3.4.1).
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct NdnlpTimingsSection {
    /// Packets that are kept to be sent again (-S).
    pub sent_packets: u32,
    /// How often a packet is sent again at most (-C).
    pub retries: u32,
    /// Milliseconds that its acknowledgement is waited for (-R).
    pub retransmit_millis: u64,
    /// Milliseconds that an acknowledgement may wait for others (-A).
    pub acknowledge_millis: u64,
}

impl Default for NdnlpTimingsSection {
    fn default() -> Self {
        let paper = Timings::PAPER;
        NdnlpTimingsSection {
            sent_packets: paper.sent_packets_capacity,
            retries: paper.retry_count,
            retransmit_millis: paper.retransmit_time.as_millis(),
            acknowledge_millis: paper.acknowledge_time.as_millis(),
        }
    }
}

impl NdnlpTimingsSection {
    pub(crate) fn timings(&self) -> Timings {
        Timings {
            sent_packets_capacity: self.sent_packets,
            retry_count: self.retries,
            retransmit_time: Duration::from_millis(self.retransmit_millis),
            acknowledge_time: Duration::from_millis(self.acknowledge_millis),
        }
    }
}
