//! Parameters of NDNLP v1 on one link, as the configuration says them.

use packet::time::Duration;
use serde::{Deserialize, Serialize};

use crate::control::Ndnlp1Timings;

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
        let usual = Ndnlp1Timings::USUAL;
        NdnlpTimingsSection {
            sent_packets: usual.sent_packets_capacity,
            retries: usual.retransmit_count,
            retransmit_millis: usual.retransmit_time.as_millis(),
            acknowledge_millis: usual.acknowledge_time.as_millis(),
        }
    }
}

impl NdnlpTimingsSection {
    pub(crate) fn timings(&self) -> Ndnlp1Timings {
        Ndnlp1Timings {
            sent_packets_capacity: self.sent_packets,
            retransmit_count: self.retries,
            retransmit_time: Duration::from_millis(self.retransmit_millis),
            acknowledge_time: Duration::from_millis(self.acknowledge_millis),
        }
    }
}
