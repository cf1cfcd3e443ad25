//! Hop-by-hop Interest shaping (Rozhnova, Fdida, "An effective hop-by-hop Interest shaping mechanism for CCN
//! communications", IEEE INFOCOM NOMEN 2012; "An extended Hop-by-Hop Interest shaping mechanism for
//! Content-Centric Networking", IEEE GLOBECOM 2014).
//!
//! Interests go on at the rate C + h (r - q) / A: what the link carries, C, and a correction that brings its
//! queue of q Data to r within the time A/h, where A is how long answers take. The constants are those of the
//! authors' own program.
//!
//! A is taken no shorter than makes C + h r / A twice the link's rate: next to a producer it is nothing, and
//! the rate would jump between nothing and all at every Data.
//!
//! Consumers are told the same, divided by the number of flows, with two differences. What waits in the
//! router for its turn counts as queue: otherwise a consumer that follows the rate exactly never lets that
//! queue become shorter. And A is longer by the time that Data waits for the link, for it is behind that
//! queue that consumers hear of it.

use packet::NameHash;
use packet::time::{Duration, Instant};

use super::SLOWEST;
use super::load::Load;
use crate::tables::measurements::Measurements;

/// h: which part of the difference is corrected in one response time.
const GAIN: f64 = 0.1;
/// r: Data that should wait for the link.
const TARGET: f64 = 50.0;
/// A flow counts as long after its last Interest.
const FLOW_LIFETIME: Duration = Duration::from_secs(1);
/// Flows that are counted at most.
const MAX_FLOWS: u32 = 65_536;

#[derive(Debug)]
pub(super) struct Hobhis {
    /// By the hash of the name without its last component. Two with one hash count as one.
    flows: Measurements<()>,
}

impl Default for Hobhis {
    fn default() -> Self {
        Hobhis { flows: Measurements::new(FLOW_LIFETIME, MAX_FLOWS) }
    }
}

impl Hobhis {
    pub(super) fn handle_interest(&mut self, now: Instant, flow: NameHash) {
        self.flows.renew(now, flow, || ());
    }

    pub(super) fn reported_rate(&self, now: Instant, load: &Load, held: usize) -> f64 {
        let waiting = load.queued(now) + held as f64;
        corrected(load, waiting, waiting / load.capacity()) / f64::from(self.flows.len().max(1))
    }
}

pub(super) fn shaping_rate(now: Instant, load: &Load) -> f64 {
    corrected(load, load.queued(now), 0.0)
}

/// The link's rate, so much more or less that `waiting` becomes the target; the answer shows `behind_seconds`
/// later than Data comes.
fn corrected(load: &Load, waiting: f64, behind_seconds: f64) -> f64 {
    let capacity = load.capacity();
    let Some(response) = load.response_seconds() else { return capacity };
    let response = response.max(GAIN * TARGET / capacity) + behind_seconds;
    (capacity + GAIN * (TARGET - waiting) / response).max(capacity * SLOWEST)
}
