//! Stateful forwarding: best route under a rate limit, with a Nack when the limit is reached (Kato et al.,
//! after Yi et al., "A case for stateful forwarding plane", Computer Communications 2013).
//!
//! Towards each next hop there is a token bucket. An Interest that finds no token on any of its next hops
//! goes back with a Nack for congestion, which tells the consumer, and the routers on the way, to send more
//! slowly. Before the bucket of a next hop there may be one for each route, as `PerFibLimits` of ndnSIM 1
//! have it, whose rate may adapt as a consumer's does.

use packet::time::{Duration, Instant};
use packet::{Data, NackReason, NameHash};
use smallvec::SmallVec;

use super::best_route::tried_at;
use super::suppression::{Suppression, Verdict};
use super::{Strategy, StrategyContext, nacks};
use crate::drop_reason::DropReason;
use crate::face_id::FaceId;
use crate::limit::RateLimit;
use crate::limit::{LeakyBucket, TokenBucket};
use crate::tables::measurements::Measurements;
use packet::parameters::{ParameterError, Parameters};

/// Buckets kept. Beyond that the one that was not used for longest is dropped, and starts full if it is
/// needed again.
const MAX_BUCKETS: u32 = 65_536;

#[derive(Debug)]
struct StatefulForwarding {
    suppression: Suppression,
    limit: Limit,
    share: Share,
    /// Buckets of routes, before those of faces.
    routes: Option<Routes>,
    /// A bucket is forgotten when it has not been used for as long as it takes to fill: a new one is full
    /// too.
    buckets: Measurements<Bucket>,
}

/// The kind of the buckets.
#[derive(Clone, Copy, Debug)]
enum Limit {
    Even(RateLimit),
    Whole { per_second: f64, depth: u32, leak: f64 },
}

#[derive(Clone, Copy, Debug)]
enum Bucket {
    Even(TokenBucket),
    Whole(LeakyBucket),
}

impl Bucket {
    fn new(limit: Limit, now: Instant) -> Self {
        match limit {
            Limit::Even(limit) => Bucket::Even(TokenBucket::full(limit, now)),
            Limit::Whole { per_second, depth, leak } => {
                Bucket::Whole(LeakyBucket::empty(per_second, depth, now).losing(leak, now))
            }
        }
    }

    fn take(&mut self, now: Instant) -> bool {
        match self {
            Bucket::Even(bucket) => bucket.take(now),
            Bucket::Whole(bucket) => bucket.put(now),
        }
    }
}

/// Limits of routes. If they adapt they grow by one for each Data and are halved by each Nack.
#[derive(Debug)]
struct Routes {
    start_per_second: f64,
    adapt: bool,
    most_per_second: f64,
    depth: u32,
    leak: f64,
    limits: Measurements<RouteLimit>,
}

#[derive(Clone, Copy, Debug)]
struct RouteLimit {
    per_second: f64,
    bucket: LeakyBucket,
}

/// How long what a route's limit has become is remembered after its last use.
const ROUTE_MEMORY: Duration = Duration::from_secs(60);

impl Routes {
    fn limit(&mut self, now: Instant, key: NameHash) -> &mut RouteLimit {
        let (per_second, depth, leak) = (self.start_per_second, self.depth, self.leak);
        let bucket = || LeakyBucket::empty(per_second, depth, now).losing(leak, now);
        self.limits.renew(now, key, || RouteLimit { per_second, bucket: bucket() })
    }

    fn change(&mut self, now: Instant, key: NameHash, change: impl FnOnce(f64) -> f64) {
        let most = self.most_per_second;
        let Some(limit) = self.limits.get(now, key).filter(|_| self.adapt) else { return };
        // At least one a second, as consumers send, even where the face's own limit is lower.
        limit.per_second = change(limit.per_second).min(most).max(1.0);
        limit.bucket.set_rate(limit.per_second, now);
    }
}

/// What a bucket is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    /// One bucket for each face.
    Face,
    /// One bucket for each route and face.
    Route,
}

/// Parameters: `rate` in Interests a second (1000), `depth` in Interests (50), `limit` per `route` or per
/// `face` (route), `tokens` that come `even`ly, or `whole` (even), and those of retransmission suppression.
/// Of whole tokens `leak` come at a time (1), and the rate may have a fraction, both to a thousandth. With
/// `start`, in Interests a second, there is another bucket before each, for each route, with that rate, which
/// grows by one for each Data, up to `rate`, and is halved by each Nack unless `adapt` is `no` (yes).
pub(super) fn start(parameters: &mut Parameters) -> Result<Box<dyn Strategy>, ParameterError> {
    let suppression = Suppression::from_parameters(parameters)?;
    let depth = parameters.count("depth", 50)?;
    let leak = parameters.number("leak", 1.0, (f64::MIN, f64::MAX))?;
    if leak < 0.001 {
        return Err(ParameterError::new("leak", "must be a thousandth at least"));
    }
    let limit = if parameters.word("tokens", false, &[("even", false), ("whole", true)])? {
        let per_second = parameters.number("rate", 1000.0, (f64::MIN, f64::MAX))?;
        Limit::Whole { per_second, depth, leak }
    } else {
        Limit::Even(RateLimit { per_second: parameters.count("rate", 1000)?, burst: depth })
    };
    let share = parameters.word("limit", Share::Route, &[("route", Share::Route), ("face", Share::Face)])?;
    // Never for a rate of zero.
    let (lifetime, most_per_second) = match limit {
        Limit::Even(limit) => (
            Duration::from_secs(limit.burst.into()) / u64::from(limit.per_second) + Duration::from_nanos(1),
            f64::from(limit.per_second),
        ),
        Limit::Whole { per_second, depth, leak } => {
            let slowest = LeakyBucket::empty(per_second, depth, Instant::ZERO).losing(leak, Instant::ZERO);
            (slowest.interval() * ((f64::from(depth) / leak).ceil() as u64 + 1), per_second)
        }
    };
    let start_per_second = parameters.number("start", 0.0, (f64::MIN, f64::MAX))?;
    let adapt = parameters.yes("adapt", true)?;
    let routes = (start_per_second > 0.0).then(|| Routes {
        start_per_second,
        adapt,
        most_per_second,
        depth,
        leak,
        limits: Measurements::new(ROUTE_MEMORY, MAX_BUCKETS),
    });
    let buckets = Measurements::new(lifetime, MAX_BUCKETS);
    Ok(Box::new(StatefulForwarding { suppression, limit, share, routes, buckets }))
}

impl StatefulForwarding {
    fn take_token(&mut self, context: &mut StrategyContext<'_>, face: FaceId) -> bool {
        let route = match self.share {
            Share::Face => NameHash(0),
            Share::Route => context.route(),
        };
        let key = key(route, face);
        let (now, limit) = (context.now(), self.limit);
        match &mut self.routes {
            None => self.buckets.renew(now, key, || Bucket::new(limit, now)).take(now),
            Some(routes) => {
                // Nothing is taken of either unless both have it.
                let own = routes.limit(now, route_key(context, face));
                own.bucket.has_room(now)
                    && self.buckets.renew(now, key, || Bucket::new(limit, now)).take(now)
                    && own.bucket.put(now)
            }
        }
    }
}

/// A number for a route towards a face. An odd factor spreads face numbers over all the bits that tables look
/// at.
fn key(route: NameHash, face: FaceId) -> NameHash {
    NameHash(route.0 ^ u64::from(face.0).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn route_key(context: &StrategyContext<'_>, face: FaceId) -> NameHash {
    key(context.route(), face)
}

impl Strategy for StatefulForwarding {
    fn forgotten_early(&self) -> u64 {
        let of_routes = self.routes.as_ref().map_or(0, |routes| routes.limits.forgotten_early());
        self.buckets.forgotten_early() + of_routes
    }

    fn watches_data(&self) -> bool {
        self.routes.as_ref().is_some_and(|routes| routes.adapt)
    }

    fn after_data(&mut self, context: &mut StrategyContext<'_>, from: FaceId, _: &Data) {
        if let Some(routes) = &mut self.routes {
            routes.change(context.now(), route_key(context, from), |rate| rate + 1.0);
        }
    }

    fn after_nack(&mut self, context: &mut StrategyContext<'_>, from: FaceId, _: NackReason) {
        if let Some(routes) = &mut self.routes {
            routes.change(context.now(), route_key(context, from), |rate| rate / 2.0);
        }
        nacks::pass_on_when_all_nacked(context);
    }

    fn after_interest(&mut self, context: &mut StrategyContext<'_>) {
        let verdict = self.suppression.decide(context);
        match verdict {
            Verdict::Aggregate => return,
            Verdict::Suppress => return context.drop_arrival(DropReason::RetransmissionSuppressed),
            Verdict::New | Verdict::Forward => {}
        }
        let mut hops: SmallVec<[FaceId; 8]> = context.eligible_next_hops().map(|hop| hop.face).collect();
        if verdict == Verdict::Forward {
            // Stable: those not yet tried stay in order of cost, before the others.
            hops.sort_by_key(|&face| tried_at(context, face));
        }
        for &face in &hops {
            if self.take_token(context, face) {
                return context.send(face);
            }
        }
        if hops.is_empty() {
            nacks::refuse(context, NackReason::NoRoute, DropReason::NoNextHop);
        } else {
            nacks::refuse(context, NackReason::Congestion, DropReason::UpstreamRate);
        }
    }
}
