//! What a strategy sees of the node, and what it may command.

use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Buffer, Interest, LinkType, NackReason, NameHash, NameHasher, NameRef, Nonce, PrefixHashes};

use crate::drop_reason::DropReason;
use crate::face::FaceTable;
use crate::face_id::FaceId;
use crate::scope;
use crate::tables::fib::{Fib, FibNode, NextHop};
use crate::tables::pending::{InRecord, OutRecord, Pending, StrategyInfo};
use crate::transmit::Event;
use crate::trigger::Trigger;

/// One pending Interest and its surroundings, read-only but for [`StrategyContext::info`], and a list of
/// actions.
pub struct StrategyContext<'a> {
    pub(crate) event: StrategyEvent<'a>,
    pub(crate) interest: HashedInterest<'a>,
    pub(crate) routes: Routes<'a>,
    pub(crate) entry: &'a mut Pending,
    pub(crate) faces: &'a FaceTable,
    pub(crate) random: &'a mut Random,
    pub(crate) actions: &'a mut Vec<Action>,
}

/// What happened, as far as the strategy needs to know.
#[derive(Clone, Copy)]
pub(crate) struct StrategyEvent<'a> {
    pub(crate) now: Instant,
    pub(crate) trigger: Trigger,
    pub(crate) ingress: Option<FaceId>,
    pub(crate) non_discovery: bool,
    /// Of the Interest that arrived: it goes on with it.
    pub(crate) congestion_mark: u64,
    pub(crate) announcement: Option<&'a Buffer>,
}

impl StrategyEvent<'_> {
    /// Something other than the arrival of an Interest.
    pub(crate) fn other(now: Instant) -> Self {
        StrategyEvent {
            now,
            trigger: Trigger::Other,
            ingress: None,
            non_discovery: false,
            congestion_mark: 0,
            announcement: None,
        }
    }
}

/// The Interest to send: the one that arrived, or else the pending one.
#[derive(Clone, Copy)]
pub(crate) struct HashedInterest<'a> {
    pub(crate) interest: &'a Interest,
    /// Of the Interest's name, or of a longer one that it is a prefix of.
    pub(crate) hashes: &'a PrefixHashes,
    pub(crate) hasher: &'a NameHasher,
}

/// Where the Interest may go by the routes.
#[derive(Clone, Copy)]
pub(crate) struct Routes<'a> {
    pub(crate) next_hops: &'a [NextHop],
    pub(crate) fib: &'a Fib,
    /// Where the routes of the name are, or of the hint that leads to it.
    pub(crate) route: FibNode,
    /// Where the name itself is.
    pub(crate) node: FibNode,
}

/// A command, to be carried out when the strategy is done.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Send { face: FaceId, nonce: Option<Nonce>, non_discovery: bool },
    SuppressUpstream { face: FaceId, span: Duration },
    NackTo { face: FaceId, reason: NackReason },
    NackAll { reason: NackReason, drop: DropReason },
    Reject { drop: DropReason },
    DropArrival { drop: DropReason },
    CallAt(Instant),
    WaitAtLeast(Duration),
    HoldData,
    Announce(Box<Buffer>),
    Emit(Box<Event>),
}

/// Whether `interest`, which came by `ingress` and is pending in `entry`, may go to `face`.
#[inline(always)]
pub(crate) fn may_send(
    faces: &FaceTable,
    interest: &Interest,
    entry: &Pending,
    ingress: Option<FaceId>,
    face: FaceId,
) -> bool {
    let Some(target) = faces.get(face) else { return false };
    let back = ingress == Some(face) && target.config.link_type != LinkType::AdHoc;
    let from_remote = || entry.in_records.iter().all(|record| !record.is_local);
    !back
        && target.config.dialect == interest.dialect()
        && scope::interest_may_leave(interest, from_remote, || entry.stays_on_host, target.is_local())
}

impl StrategyContext<'_> {
    /// The time.
    pub fn now(&self) -> Instant {
        self.event.now
    }

    /// Why the strategy is called.
    pub fn trigger(&self) -> Trigger {
        self.event.trigger
    }

    /// The name that is asked for.
    pub fn name(&self) -> NameRef<'_> {
        self.interest.interest.name()
    }

    /// Hash of the name's prefix of `components` components; `None` if the name is shorter, or the prefix too
    /// long to have been hashed.
    pub fn prefix_hash(&self, components: usize) -> Option<NameHash> {
        if components <= self.interest.interest.component_count() {
            self.interest.hashes.prefix(components)
        } else {
            None
        }
    }

    /// Hash of any other name in the Interest's dialect; costs a pass over the name.
    pub fn hash_of(&self, name: NameRef<'_>) -> NameHash {
        self.interest.hasher.hash(self.interest.interest.dialect(), name.components()).whole()
    }

    /// The face the Interest just came by; `None` when the call is about something else.
    pub fn ingress(&self) -> Option<FaceId> {
        self.event.ingress
    }

    /// The route's next hops, cheapest first, suitable or not.
    pub fn next_hops(&self) -> &[NextHop] {
        self.routes.next_hops
    }

    /// Identifies the route that the next hops belong to.
    pub fn route(&self) -> NameHash {
        self.routes
            .fib
            .route_of(self.routes.route)
            .map(|node| self.routes.fib.prefix_hash(node))
            .unwrap_or_default()
    }

    /// Who waits.
    pub fn in_records(&self) -> &[InRecord] {
        &self.entry.in_records
    }

    /// Whom it was sent to.
    pub fn out_records(&self) -> &[OutRecord] {
        &self.entry.out_records
    }

    /// The record of having sent it to `face`.
    pub fn out_record(&self, face: FaceId) -> Option<&OutRecord> {
        self.entry.out_record(face)
    }

    /// True if it was sent somewhere, and an answer may still come.
    pub fn has_pending_out_records(&self) -> bool {
        self.out_records().iter().any(|record| record.nacked.is_none() && record.expires > self.event.now)
    }

    /// A few words kept with the pending Interest for its strategy.
    pub fn info(&mut self) -> &mut StrategyInfo {
        &mut self.entry.strategy_info
    }

    /// The node's random numbers.
    pub fn random(&mut self) -> &mut Random {
        self.random
    }

    /// Whether the face exists still.
    pub fn has_face(&self, face: FaceId) -> bool {
        self.faces.get(face).is_some()
    }

    /// Whether the Interest may go to `face`: the face exists, scope allows it, and it is not where the
    /// Interest just came from, except on wireless media.
    pub fn may_send(&self, face: FaceId) -> bool {
        may_send(self.faces, self.interest.interest, self.entry, self.event.ingress, face)
    }

    /// Whether `face` leads to an application on this host.
    pub fn is_local(&self, face: FaceId) -> bool {
        self.faces.is_local(face)
    }

    /// The next hops that [`StrategyContext::may_send`] allows, cheapest first.
    pub fn eligible_next_hops(&self) -> impl Iterator<Item = NextHop> + '_ {
        self.routes.next_hops.iter().copied().filter(|hop| self.may_send(hop.face))
    }

    /// The cheapest next hop that [`StrategyContext::may_send`] allows.
    pub fn first_eligible(&self) -> Option<FaceId> {
        self.eligible_next_hops().next().map(|hop| hop.face)
    }

    /// All faces, for strategies that flood.
    pub fn all_faces(&self) -> impl Iterator<Item = FaceId> + '_ {
        self.faces.iter().map(|(id, _)| id)
    }

    /// Whether the Interest must not be flooded to find a route.
    pub fn is_non_discovery(&self) -> bool {
        self.event.non_discovery
    }

    /// The prefix announcement that came with the Data.
    pub fn incoming_announcement(&self) -> Option<&Buffer> {
        self.event.announcement
    }

    /// The announcement of the route at or above the name, if it was learned by one.
    pub fn stored_announcement(&self) -> Option<&Buffer> {
        self.routes.fib.announcement(self.routes.node)
    }

    /// Sends the Interest to `face`.
    pub fn send(&mut self, face: FaceId) {
        let non_discovery = self.event.non_discovery;
        self.actions.push(Action::Send { face, nonce: None, non_discovery });
    }

    /// Sends the Interest to `face`, marked as for discovery or not.
    pub fn send_marked(&mut self, face: FaceId, non_discovery: bool) {
        self.actions.push(Action::Send { face, nonce: None, non_discovery });
    }

    /// Sends the Interest to `face` under a new nonce, so that it is no duplicate where it was before.
    pub fn send_probe(&mut self, face: FaceId) {
        let nonce = Some(Nonce(self.random.next_u32()));
        let non_discovery = self.event.non_discovery;
        self.actions.push(Action::Send { face, nonce, non_discovery });
    }

    /// Notes that the Interest should not go to `face` again for `span`. Takes effect after what was sent in
    /// this call.
    pub fn suppress_upstream(&mut self, face: FaceId, span: Duration) {
        self.actions.push(Action::SuppressUpstream { face, span });
    }

    /// Sends the Interest back to one face that waits.
    pub fn nack_to(&mut self, face: FaceId, reason: NackReason) {
        self.actions.push(Action::NackTo { face, reason });
    }

    /// Sends the Interest back to all who wait, and forgets it.
    pub fn nack_all(&mut self, reason: NackReason, drop: DropReason) {
        self.actions.push(Action::NackAll { reason, drop });
    }

    /// Forgets the Interest without telling anybody.
    pub fn reject(&mut self, drop: DropReason) {
        self.actions.push(Action::Reject { drop });
    }

    /// Counts the Interest that just arrived as dropped. Those who wait go on waiting.
    pub fn drop_arrival(&mut self, drop: DropReason) {
        self.actions.push(Action::DropArrival { drop });
    }

    /// Asks for [`Strategy::after_timer`](super::Strategy::after_timer) at `when`, or up to a millisecond
    /// later, if the Interest is still pending then. A second call replaces the first; [`Instant::NEVER`]
    /// takes it back.
    pub fn call_at(&mut self, when: Instant) {
        self.actions.push(Action::CallAt(when));
    }

    /// Keeps the Interest pending for `span` from now, even when it would be done.
    pub fn wait_at_least(&mut self, span: Duration) {
        self.actions.push(Action::WaitAtLeast(span));
    }

    /// In [`after_data`](super::Strategy::after_data): does not send the Data to those who wait.
    pub fn hold_data(&mut self) {
        self.actions.push(Action::HoldData);
    }

    /// In [`after_data`](super::Strategy::after_data): sends `announcement` along with the Data.
    pub fn announce(&mut self, announcement: Buffer) {
        self.actions.push(Action::Announce(Box::new(announcement)));
    }

    /// Tells the owner of the engine.
    pub fn emit(&mut self, event: Event) {
        self.actions.push(Action::Emit(Box::new(event)));
    }
}
