//! What a transfer works with.

use crate::controller::ControllerSpec;
use crate::pacer::PacerConfig;
use crate::round_trip::RoundTripConfig;

/// What a [`Transfer`](super::Transfer) works with.
#[derive(Clone, Debug, PartialEq)]
pub struct TransferConfig {
    /// How fast to ask.
    pub controller: ControllerSpec,
    /// When Interests leave if the controller limits their rate.
    pub pacing: PacerConfig,
    /// How round trips are estimated.
    pub round_trip: RoundTripConfig,
    /// How often an item is asked for in vain before it counts as one that will not come; at least once.
    /// While later Interests are answered and this one is not, it is asked for more often, ever more rarely,
    /// and each whole timeout of that counts as once.
    pub max_attempts: u32,
    /// Whether an Interest counts as lost when later ones were answered and it is late, or only when its
    /// time is up.
    pub fast_loss: bool,
    /// Interests on their way at once, whatever the controller allows.
    pub max_in_flight: u32,
    /// Items between the first that is missing and the last that was asked for. Memory is in proportion to
    /// it.
    pub max_span: u32,
}

impl Default for TransferConfig {
    fn default() -> Self {
        TransferConfig {
            controller: ControllerSpec::default(),
            pacing: PacerConfig::default(),
            round_trip: RoundTripConfig::default(),
            max_attempts: 16,
            fast_loss: true,
            max_in_flight: 65_536,
            max_span: 1 << 20,
        }
    }
}
