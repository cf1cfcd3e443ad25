//! Stateful forwarding: best route under a rate limit, with a Nack when the limit is reached (Kato et al., after Yi et al., "A
//! case for stateful forwarding plane", Computer Communications 2013).
//!
//! Towards each next hop there is a token bucket. An Interest that finds no token on any of its next hops goes back with
//! a Nack for congestion, which tells the consumer, and the routers on the way, to send more slowly.

use std::collections::BTreeMap;

use packet::{NackReason, NameHash};

use super::parameters::{ParameterError, Parameters};
use super::suppression::{Suppression, Verdict};
use super::{Situation, Strategy};
use crate::drop_reason::DropReason;
use crate::face::{FaceId, RateLimit};
use crate::limit::TokenBucket;

/// Buckets kept; beyond that the one that was made first is dropped, and starts full if it is needed again.
const MAX_BUCKETS: usize = 65_536;

#[derive(Debug)]
struct StatefulForwarding {
    suppression: Suppression,
    limit: RateLimit,
    share: Share,
    buckets: BTreeMap<BucketKey, TokenBucket>,
}

/// What a bucket is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    /// One bucket for each face.
    Face,
    /// One bucket for each route and face.
    Route,
}

/// The route is none for buckets of a whole face.
type BucketKey = (Option<NameHash>, FaceId);

/// Parameters: `rate` in Interests a second (1000), `depth` in Interests (50), `limit` per `route` or per `face` (route).
pub(super) fn start(parameters: &mut Parameters) -> Result<Box<dyn Strategy>, ParameterError> {
    let suppression = Suppression::from_parameters(parameters)?;
    let limit =
        RateLimit { per_second: parameters.count("rate", 1000)?, burst: parameters.count("depth", 50)? };
    let share = match parameters.word("limit", &["route", "face"], "route")? {
        "face" => Share::Face,
        _ => Share::Route,
    };
    Ok(Box::new(StatefulForwarding { suppression, limit, share, buckets: BTreeMap::new() }))
}

impl StatefulForwarding {
    fn take_token(&mut self, situation: &Situation<'_>, face: FaceId) -> bool {
        let route = match self.share {
            Share::Face => None,
            Share::Route => Some(situation.route()),
        };
        let key = (route, face);
        if self.buckets.len() >= MAX_BUCKETS && !self.buckets.contains_key(&key) {
            self.buckets.pop_first();
        }
        let limit = self.limit;
        let now = situation.now();
        self.buckets.entry(key).or_insert_with(|| TokenBucket::full(limit, now)).take(now)
    }
}

impl Strategy for StatefulForwarding {
    fn watches_data(&self) -> bool {
        false
    }

    fn after_interest(&mut self, situation: &mut Situation<'_>) {
        if self.suppression.decide(situation) == Verdict::Suppress {
            return situation.drop_arrival(DropReason::RetransmissionSuppressed);
        }
        let mut has_next_hop = false;
        for place in 0..situation.next_hops().len() {
            let face = situation.next_hops()[place].face;
            if !situation.may_send(face) {
                continue;
            }
            has_next_hop = true;
            if self.take_token(situation, face) {
                return situation.send(face);
            }
        }
        if has_next_hop {
            situation.nack_all(NackReason::Congestion, DropReason::UpstreamRate);
        } else {
            situation.nack_all(NackReason::NoRoute, DropReason::NoNextHop);
        }
    }
}
