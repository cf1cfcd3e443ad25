//! Adaptive SRTT-based forwarding: the next hop that answers fastest, measured as traffic goes, and now and
//! then a probe of another (NFD's strategy of that name, version 5; Lehman et al., "An experimental
//! investigation of hyperbolic routing with a smart forwarding plane in NDN", 2016).
//!
//! Measurements belong to a route and are kept for each of its next hops. Nothing here needs a timer: whether
//! a face has let an Interest time out matters only when faces are compared, so it is found out then.

use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Data, NackReason, NameHash};
use smallvec::SmallVec;

use super::best_route::next_to_try;
use super::rtt::RttEstimator;
use super::suppression::Suppression;
use super::{Strategy, StrategyContext, nacks};
use crate::drop_reason::DropReason;
use crate::face_id::FaceId;
use crate::tables::fib::NextHop;
use crate::tables::measurements::Measurements;
use packet::parameters::{ParameterError, Parameters};

/// Routes measured.
const MAX_ROUTES: u32 = 65_536;
/// Faces measured for one route; no route has more next hops at a time.
const MAX_FACES: usize = 64;
/// The first probe of a route is sent this long after its first Interest at most.
const FIRST_PROBE_WITHIN: Duration = Duration::from_secs(5);
/// A pending Interest that was answered stays this long for the answer to the probe.
const WAIT_FOR_PROBE: Duration = Duration::from_millis(50);

#[derive(Debug)]
struct Asf {
    suppression: Suppression,
    probing_interval: Duration,
    max_timeouts: u32,
    lifetime: Duration,
    routes: Measurements<Route>,
}

/// What is known about the next hops of one route.
#[derive(Debug)]
struct Route {
    next_probe: Instant,
    faces: SmallVec<[Face; 2]>,
}

#[derive(Clone, Copy, Debug)]
struct Face {
    id: FaceId,
    /// When what is known becomes worthless.
    expires: Instant,
    rtt: RttEstimator,
    /// What became of the last Interest.
    last: Last,
    /// Timeouts since the last Data.
    timeouts: u32,
    /// One Interest at a time is watched, so that a burst that is lost as a whole is one timeout.
    watched: Option<Watched>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Unknown,
    Data,
    TimedOut,
}

#[derive(Clone, Copy, Debug)]
struct Watched {
    /// The Interest's name.
    name: NameHash,
    times_out: Instant,
}

/// Groups of next hops, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Working,
    Unmeasured,
    TimedOut,
}

/// A next hop and its place among the others: less is better.
type Ranked = (Group, Duration, u64, FaceId);

/// Parameters: `probing-interval` in milliseconds (60 000, at least 1000), `max-timeouts` before a face
/// counts as timed out (3), `measurements-lifetime` in milliseconds (300 000, more than the probing
/// interval), and those of retransmission suppression.
pub(super) fn start(parameters: &mut Parameters) -> Result<Box<dyn Strategy>, ParameterError> {
    let suppression = Suppression::from_parameters(parameters)?;
    let probing_interval = parameters.millis("probing-interval", Duration::from_secs(60))?;
    let max_timeouts = parameters.count("max-timeouts", 3)?;
    let lifetime = parameters.millis("measurements-lifetime", Duration::from_secs(300))?;
    if probing_interval < Duration::from_secs(1) {
        return Err(ParameterError::new("probing-interval", "must not be below 1000"));
    }
    if max_timeouts == 0 {
        return Err(ParameterError::new("max-timeouts", "must not be zero"));
    }
    if lifetime <= probing_interval {
        return Err(ParameterError::new("measurements-lifetime", "must be above probing-interval"));
    }
    let routes = Measurements::new(lifetime, MAX_ROUTES);
    Ok(Box::new(Asf { suppression, probing_interval, max_timeouts, lifetime, routes }))
}

impl Strategy for Asf {
    fn forgotten_early(&self) -> u64 {
        self.routes.forgotten_early()
    }

    fn after_interest(&mut self, context: &mut StrategyContext<'_>) {
        if self.suppression.awaits_with_others(context) {
            return;
        }
        if context.has_pending_out_records() {
            return self.retransmit(context);
        }
        let Some(best) = self.ranked(context).first().map(|ranked| ranked.3) else {
            return nacks::refuse(context, NackReason::NoRoute, DropReason::NoNextHop);
        };
        self.suppression.offer(context, best);
        self.watch(context, best);
        if self.probe_is_due(context)
            && let Some(face) = self.face_to_probe(context, best)
        {
            context.send_probe(face);
            self.watch(context, face);
            self.probed(context);
        }
    }

    fn after_data(&mut self, context: &mut StrategyContext<'_>, from: FaceId, _: &Data) {
        let (now, name) = (context.now(), name_hash(context));
        let expires = now + self.lifetime;
        let sent_at = context.out_record(from).map(|record| record.sent_at);
        let Some(route) = self.routes.get(now, context.route()) else { return };
        let Some(face) = route.faces.iter_mut().find(|face| face.id == from) else { return };
        face.note_timeout(now, self.max_timeouts);
        if let Some(sent_at) = sent_at {
            face.rtt.measure(now.saturating_since(sent_at));
            face.last = Last::Data;
            face.timeouts = 0;
        }
        face.expires = expires;
        face.stop_watching(name);
        context.wait_at_least(WAIT_FOR_PROBE);
    }

    fn after_nack(&mut self, context: &mut StrategyContext<'_>, from: FaceId, _: NackReason) {
        let (now, name) = (context.now(), name_hash(context));
        if let Some(route) = self.routes.get(now, context.route())
            && let Some(face) = route.faces.iter_mut().find(|face| face.id == from)
        {
            face.timeouts = face.timeouts.saturating_add(1);
            face.last = Last::TimedOut;
            face.stop_watching(name);
        }
        nacks::pass_on_when_all_nacked(context);
    }
}

impl Asf {
    /// The consumer asks again, or another does when the answer is late: the best next hop that was not
    /// tried, or else the one that was tried longest ago, unless that was only just now. Probes go out with
    /// new Interests only.
    fn retransmit(&mut self, context: &mut StrategyContext<'_>) {
        let awaited = |face| context.out_record(face).is_some_and(|record| record.expires > context.now());
        let unused = self.ranked(context).iter().map(|ranked| ranked.3).find(|&face| !awaited(face));
        match unused.or_else(|| next_to_try(context).map(|hop| hop.face)) {
            None => context.drop_arrival(DropReason::NoNextHop),
            Some(face) if self.suppression.offer(context, face) => self.watch(context, face),
            Some(_) => context.drop_arrival(DropReason::RetransmissionSuppressed),
        }
    }

    /// The eligible next hops, best first.
    fn ranked(&mut self, context: &StrategyContext<'_>) -> SmallVec<[Ranked; 4]> {
        let (now, max_timeouts) = (context.now(), self.max_timeouts);
        let mut route = self.routes.get(now, context.route());
        let mut ranked: SmallVec<[Ranked; 4]> = context
            .eligible_next_hops()
            .map(|NextHop { face, cost }| {
                let known = route.as_deref_mut().and_then(|route| route.face(now, face));
                let (group, srtt) =
                    known.map_or((Group::Unmeasured, Duration::ZERO), |face| face.rank(now, max_timeouts));
                (group, srtt, cost, face)
            })
            .collect();
        ranked.sort_unstable();
        ranked
    }

    /// Notes that an Interest goes to `face`.
    fn watch(&mut self, context: &mut StrategyContext<'_>, face: FaceId) {
        let (now, name) = (context.now(), name_hash(context));
        let (expires, max_timeouts) = (now + self.lifetime, self.max_timeouts);
        let route = self.route(context);
        let Some(face) = route.face_or_new(now, face) else { return };
        face.expires = expires;
        face.note_timeout(now, max_timeouts);
        if face.watched.is_none() {
            face.watched = Some(Watched { name, times_out: now + face.rtt.timeout() });
        }
    }

    /// The route of the Interest, renewed. A new one has its first probe at a random time, so that routes
    /// that were set up together are not probed together.
    fn route(&mut self, context: &mut StrategyContext<'_>) -> &mut Route {
        let (now, key) = (context.now(), context.route());
        self.routes.renew(now, key, || {
            let delay = Duration::from_nanos(context.random().below(FIRST_PROBE_WITHIN.as_nanos()));
            Route { next_probe: now + delay, faces: SmallVec::new() }
        })
    }

    fn probe_is_due(&mut self, context: &mut StrategyContext<'_>) -> bool {
        let now = context.now();
        self.route(context).next_probe <= now
    }

    fn probed(&mut self, context: &mut StrategyContext<'_>) {
        let next = context.now() + self.probing_interval;
        self.route(context).next_probe = next;
    }

    /// A next hop other than `used`: the cheapest that nothing is known of, or else a random one, the better
    /// the more likely.
    fn face_to_probe(&mut self, context: &mut StrategyContext<'_>, used: FaceId) -> Option<FaceId> {
        let ranked = self.ranked(context);
        let others: SmallVec<[Ranked; 4]> = ranked.into_iter().filter(|ranked| ranked.3 != used).collect();
        let unmeasured = others.iter().find(|ranked| ranked.0 == Group::Unmeasured);
        match unmeasured {
            Some(unmeasured) => Some(unmeasured.3),
            None => {
                draw_by_rank(context.random(), others.len()).and_then(|place| others.get(place)).map(|r| r.3)
            }
        }
    }
}

/// A place among `count`, the first with weight `count`, the last with weight one.
fn draw_by_rank(random: &mut Random, count: usize) -> Option<usize> {
    let count = count as u64;
    let mut left = random.below(count * (count + 1) / 2);
    for place in 0..count {
        let weight = count - place;
        if left < weight {
            return Some(place as usize);
        }
        left -= weight;
    }
    None
}

/// Identifies the pending Interest among those that a face is watched for.
fn name_hash(context: &StrategyContext<'_>) -> NameHash {
    let known = context.prefix_hash(context.name().component_count());
    known.unwrap_or_else(|| context.hash_of(context.name()))
}

impl Route {
    fn face(&mut self, now: Instant, id: FaceId) -> Option<&mut Face> {
        self.faces.iter_mut().find(|face| face.id == id && face.expires > now)
    }

    /// What is known of `id`, which may be nothing yet. `None` if the route measures as many faces as it may.
    fn face_or_new(&mut self, now: Instant, id: FaceId) -> Option<&mut Face> {
        // Faces that the route has no more leave by expiring.
        self.faces.retain(|face| face.expires > now);
        let place = match self.faces.iter().position(|face| face.id == id) {
            Some(place) => place,
            None if self.faces.len() >= MAX_FACES => return None,
            None => {
                let (rtt, last) = (RttEstimator::default(), Last::Unknown);
                self.faces.push(Face { id, expires: Instant::NEVER, rtt, last, timeouts: 0, watched: None });
                self.faces.len() - 1
            }
        };
        self.faces.get_mut(place)
    }
}

impl Face {
    fn rank(&mut self, now: Instant, max_timeouts: u32) -> (Group, Duration) {
        self.note_timeout(now, max_timeouts);
        let srtt = self.rtt.smoothed().unwrap_or_default();
        match self.last {
            Last::Data => (Group::Working, srtt),
            Last::Unknown => (Group::Unmeasured, Duration::ZERO),
            // How fast it was before does not matter any more.
            Last::TimedOut => (Group::TimedOut, Duration::ZERO),
        }
    }

    /// Counts the Interest that is watched as timed out, if it has.
    fn note_timeout(&mut self, now: Instant, max_timeouts: u32) {
        if self.watched.is_none_or(|watched| watched.times_out > now) {
            return;
        }
        self.watched = None;
        self.timeouts = self.timeouts.saturating_add(1);
        if self.timeouts >= max_timeouts {
            self.last = Last::TimedOut;
        }
    }

    fn stop_watching(&mut self, name: NameHash) {
        if self.watched.is_some_and(|watched| watched.name == name) {
            self.watched = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_a_face_the_likelier_its_probe() {
        let mut random = Random::from_seed(6);
        let mut drawn = [0u32; 4];
        for _ in 0..10_000 {
            drawn[draw_by_rank(&mut random, 4).unwrap()] += 1;
        }
        for (place, &count) in drawn.iter().enumerate() {
            let expected = 10_000 * (4 - place as u32) / 10;
            assert!(count.abs_diff(expected) < 200, "{drawn:?}");
        }
        assert_eq!(draw_by_rank(&mut random, 0), None);
    }
}
