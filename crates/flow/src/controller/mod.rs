//! How fast to ask: one file for each way of deciding, with its paper.
//!
//! A [`Controller`] is told what happens to the Interests of one transfer and answers how many may be on
//! their way ([`Allowance::window`]), how many may leave in a second ([`Allowance::rate`]), or both. It sends
//! nothing and keeps no time: its owner, usually a [`Transfer`](crate::Transfer), calls it and obeys.
//!
//! | word | limits | idea |
//! |---|---|---|
//! | `fixed` | window | the same always |
//! | `aimd` | window | ICP: one more for a window of Data, half for a loss |
//! | `cubic` | window | grows by the cube of the time since the last loss |
//! | `bic` | window | searches by halves for the window at which a loss came |
//! | `pcon` | window | as `bic`, and eases off at congestion marks |
//! | `raaqm` | window | eases off by chance, the likelier the longer the route's delay |
//! | `bbr` | window and rate | measures bandwidth and shortest delay, and sends as much as fits |
//! | `stateful-forwarding` | rate | one more for each Data, half for each Nack |
//! | `nack-suppressing` | rate | the same, with one reduction for a congestion event |
//! | `hobhis` | rate | what the routers report, at once |
//! | `mircc` | rate | what the routers report, for each route, sum of all routes |
//!
//! # How a rate travels
//! `hobhis` and `mircc` obey routers. Those reckon what the link that Data leaves by can carry
//! (`engine::RateControlConfig`) and write it into a network-layer field of NDNLPv2,
//! [`ExplicitRate`](packet::ExplicitRate), TLV-TYPE 936, of LpPackets that carry Data: the smaller
//! of the router's own rate and the one that came with the Data. The number lies in 800–959 and is a multiple
//! of four, so peers that do not know the field ignore it, and a consumer behind them sees no rate. It is no
//! part of the Data, so signatures and caches are not touched. A transfer is given it in
//! [`Arrival::explicit_rate`](crate::Arrival::explicit_rate).
//!
//! No field says by which route Data came: `mircc` and `raaqm` tell routes apart by
//! [`Arrival::route`](crate::Arrival::route), which owners that know set, and which is the same for all Data
//! otherwise.

mod aimd;
mod bbr;
mod bic;
mod cubic;
mod fixed;
mod hobhis;
mod mircc;
mod nack_suppressing;
mod pcon;
mod raaqm;
mod recovery;
mod registry;
mod routes;
mod slow_start;
mod stateful_forwarding;
mod window;

use std::fmt;

use packet::NackReason;
use packet::time::{Duration, Instant};

pub use registry::{ControllerKind, ControllerSpec, StartController, add_controllers, controller_names};

pub use packet::parameters::{ParameterError, Parameters};

/// Decides how fast a transfer may ask.
///
/// Transmissions are numbered from 0 in the order in which they leave; a repeated Interest gets a new number.
/// So a controller can tell a new congestion event from the echo of one it has answered already: the echo
/// comes from a transmission that left before the answer.
pub trait Controller: fmt::Debug + Send {
    /// What may be sent now.
    fn allowance(&self) -> Allowance;

    /// An Interest left.
    fn handle_sent(&mut self, now: Instant, sent: &SentReport) {
        let _ = (now, sent);
    }

    /// Data came.
    fn handle_data(&mut self, now: Instant, data: &DataReport);

    /// An Interest came back. Nacks for duplicates are not reported: they say nothing about congestion.
    fn handle_nack(&mut self, now: Instant, nack: &NackReport);

    /// An Interest counts as lost.
    fn handle_loss(&mut self, now: Instant, loss: &LossReport);
}

/// How much may be sent: two limits, of which most controllers use one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowance {
    /// Interests that may be on their way at once; infinite for no limit. Counted in full Interests, rounded
    /// down.
    pub window: f64,
    /// Interests that may leave in a second; infinite for no limit.
    pub rate: f64,
}

impl Allowance {
    /// A limit on Interests on their way.
    pub const fn window(interests: f64) -> Self {
        Allowance { window: interests, rate: f64::INFINITY }
    }

    /// A limit on Interests in a second.
    pub const fn rate(per_second: f64) -> Self {
        Allowance { window: f64::INFINITY, rate: per_second }
    }

    /// Whether one more Interest fits into the window.
    pub fn has_room(&self, in_flight: u32) -> bool {
        f64::from(in_flight) + 1.0 <= self.window
    }
}

/// An Interest left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SentReport {
    /// The transmission.
    pub number: u64,
    /// Interests on their way, this one included.
    pub in_flight: u32,
}

/// Data came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataReport {
    /// The latest transmission of the Interest that it answers.
    pub number: u64,
    /// Time since that transmission; `None` if the Interest was sent more than once.
    pub round_trip: Option<Duration>,
    /// Whether a queue on the way was too long.
    pub congestion_marked: bool,
    /// The smallest rate that the routers on the way reported, in Interests a second.
    pub explicit_rate: Option<f64>,
    /// Tells the routes that Data comes by from each other; 0 where nothing does.
    pub route: u64,
    /// Interests still on their way.
    pub in_flight: u32,
}

/// An Interest came back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NackReport {
    /// The transmission.
    pub number: u64,
    /// Why.
    pub reason: NackReason,
    /// Interests still on their way.
    pub in_flight: u32,
}

/// An Interest counts as lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossReport {
    /// The transmission.
    pub number: u64,
    /// What says so.
    pub evidence: LossEvidence,
    /// Interests still on their way.
    pub in_flight: u32,
}

/// Why an Interest counts as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossEvidence {
    /// Nothing came for as long as the round-trip estimate allows.
    Timeout,
    /// Later transmissions were answered, and it had more than its time.
    Overtaken,
}
