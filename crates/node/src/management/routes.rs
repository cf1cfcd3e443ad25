//! Commands for routes, routes that are learned, and keeping the forwarding table in line with the RIB.

use engine::{FaceId, NextHop};
use management::{
    CommandScope, ControlParameters, ControlResponse, PrefixAnnouncement, RouteFlags, RouteOrigin, StatusCode,
};
use packet::ndn::SignatureType;
use packet::time::{Duration, Instant};
use packet::{Buffer, Data, Name, NameScope, Now};

use super::holder::holder;
use super::parameters::{face_or_self, prefix};
use super::rib::{FibUpdate, Holder, Precedence, RibRoute};
use super::{MANAGED, MAX_PREFIX_COMPONENTS, NfdManagement, Outcome, Request};
use crate::control::{AddNextHopError, MANAGEMENT_FACE, NextHopChange, NodeControl};

/// Cost of a route that was announced, as in NFD.
const ANNOUNCED_COST: u64 = 2048;

/// Least cost of a route that a neighbour without a key makes: whoever is on this host, and the operator,
/// come first where they have a route for the same prefix.
pub const KEYLESS_LEAST_COST: u64 = 100;

/// Longest life of a route that was learned by self-learning; Data that comes by it renews it.
const LEARNED_LIFETIME: Duration = Duration::from_secs(600);

impl NfdManagement {
    /// The route by which requests reach management itself, and none besides: nothing is inherited, so
    /// commands never leave the node.
    pub(super) fn register_own_prefix(&mut self, now: Now, node: &mut dyn NodeControl, prefix: &Name) {
        let flags = RouteFlags::CHILD_INHERIT.with(RouteFlags::CAPTURE);
        let parameters = ControlParameters { flags: Some(flags.0), ..Default::default() };
        let route = route(now, MANAGEMENT_FACE, &parameters, Holder::Host);
        // The RIB is empty: there is room.
        if self.rib.register(prefix, route).is_ok() {
            self.update_table(node);
        }
    }

    /// Routes of the configuration: the operator's.
    pub(super) fn adopt_routes(&mut self, now: Now, node: &mut dyn NodeControl, routes: &[(Name, NextHop)]) {
        for (prefix, hop) in routes {
            let parameters = ControlParameters {
                origin: Some(RouteOrigin::Static),
                cost: Some(hop.cost),
                ..Default::default()
            };
            if self.rib.register(prefix, route(now, hop.face, &parameters, Holder::Host)).is_err() {
                tracing::warn!(%prefix, "the RIB is full: a configured route is not in it");
            }
        }
        self.update_table(node);
    }

    /// `rib/register`. The answer does not wait for the forwarding table: a route by a face that does not
    /// exist is fine, and gone at once.
    pub(super) fn register(
        &mut self,
        node: &mut dyn NodeControl,
        request: Request<'_>,
        parameters: ControlParameters,
    ) -> ControlResponse {
        let prefix = match prefix(&parameters) {
            Ok(prefix) => prefix,
            Err(response) => return response,
        };
        let face = face_or_self(&parameters, request.from);
        if let Err(response) = may_route(&prefix, face, request.scope) {
            return response;
        }
        let holder = holder(node, request.scope, request.from);
        let mut route = route(request.now, face, &parameters, holder);
        if self.trusts_anyone(request.scope) {
            route.cost = route.cost.max(KEYLESS_LEAST_COST);
            // Below the prefix of an application of this host it would hide the application.
            route.flags = route.flags.masked(0, RouteFlags::CAPTURE.0);
        }
        route.precedence = self.precedence(request.scope);
        route.signer = self.signer_of_command(request.scope, request.interest, request.certificate);
        let body = ControlParameters {
            face_id: Some(face.0.into()),
            origin: Some(route.origin),
            cost: Some(route.cost),
            flags: Some(route.flags.0),
            ..parameters
        };
        match self.add_route(request.now, node, &prefix, route.clone()) {
            Ok(()) => {
                self.keep_route(request, node, &prefix, &route);
                ControlResponse::ok(&body)
            }
            Err(response) => response,
        }
    }

    /// `rib/unregister`. That there is no such route is fine: it is gone.
    pub(super) fn unregister(
        &mut self,
        node: &mut dyn NodeControl,
        request: Request<'_>,
        parameters: ControlParameters,
    ) -> ControlResponse {
        let face = face_or_self(&parameters, request.from);
        let origin = parameters.origin.unwrap_or(RouteOrigin::App);
        if let Some(prefix) = &parameters.name {
            if let Err(response) = may_route(prefix, face, request.scope) {
                return response;
            }
            if let (Some(state), Some(face)) = (&mut self.state, node.face(face)) {
                state.drop_route(request.now, prefix, origin, &face);
            }
            self.rib.unregister(prefix, face, origin);
            self.update_table(node);
        }
        ControlResponse::ok(&ControlParameters {
            face_id: Some(face.0.into()),
            origin: Some(origin),
            ..parameters
        })
    }

    /// `rib/announce`: the parameters are an announcement, signed by the owner of the prefix.
    pub(super) fn announce(&mut self, node: &mut dyn NodeControl, request: Request<'_>) -> Outcome {
        let Request { now, interest, from, scope, .. } = request;
        let Some(view) = interest.ndn().filter(|view| view.parameters_digest_is_valid() == Some(true)) else {
            return Outcome::NoReply;
        };
        let shown = view.application_parameters().unwrap_or_default();
        let Ok(data) = Data::decode_ndn(Buffer::copy_from(shown)) else { return Outcome::NoReply };
        let Ok(announcement) = PrefixAnnouncement::decode(&data) else { return Outcome::NoReply };
        if let Err(response) = self.check_announcement(now, scope, &data, &announcement) {
            return response.into();
        }
        if let Err(response) = may_route(&announcement.prefix, from, scope) {
            return response.into();
        }
        let lifetime = lifetime(now, &announcement);
        let holder = holder(node, scope, from);
        let mut route = announced_route(from, now.instant + lifetime, &data, holder);
        route.precedence = self.precedence(scope);
        route.signer = self.signer_of_announcement(scope, &data);
        let body = ControlParameters {
            name: Some(announcement.prefix.clone()),
            face_id: Some(from.0.into()),
            origin: Some(route.origin),
            cost: Some(route.cost),
            flags: Some(route.flags.0),
            expiration_period_ms: Some(lifetime.as_millis()),
            ..Default::default()
        };
        match self.add_route(now, node, &announcement.prefix, route) {
            Ok(()) => ControlResponse::ok(&body).into(),
            Err(response) => response.into(),
        }
    }

    /// Data brought an announcement: there is a way to its prefix by `face`, if the announcement is to be
    /// believed.
    pub(super) fn learn_route(
        &mut self,
        now: Now,
        node: &mut dyn NodeControl,
        face: FaceId,
        announcement: &Buffer,
    ) {
        let Ok(data) = Data::decode_ndn(announcement.clone()) else { return };
        let Ok(announcement) = PrefixAnnouncement::decode(&data) else { return };
        // As in NFD, whoever accepts no registrations from neighbours learns no routes from them either.
        if self.check_announcement(now, CommandScope::Localhop, &data, &announcement).is_err()
            || may_route(&announcement.prefix, face, CommandScope::Localhop).is_err()
        {
            return;
        }
        let lifetime = lifetime(now, &announcement).min(LEARNED_LIFETIME);
        let holder = holder(node, CommandScope::Localhop, face);
        let mut route = announced_route(face, now.instant + lifetime, &data, holder);
        route.precedence = self.precedence(CommandScope::Localhop);
        route.signer = self.signer_of_announcement(CommandScope::Localhop, &data);
        // A full RIB or share has counted it.
        let _ = self.add_route(now, node, &announcement.prefix, route);
    }

    /// A learned route did not lead to `name`.
    pub(super) fn forget_route(&mut self, node: &mut dyn NodeControl, face: FaceId, name: &Name) {
        let origin = RouteOrigin::PrefixAnnouncement;
        let prefix = self.rib.longest_prefix(name.as_ref(), face, origin).cloned();
        if let Some(prefix) = prefix {
            self.rib.unregister(&prefix, face, origin);
            self.forget_how_things_were();
            self.update_table(node);
        }
    }

    fn check_announcement(
        &mut self,
        now: Now,
        scope: CommandScope,
        data: &Data,
        announcement: &PrefixAnnouncement,
    ) -> Result<(), ControlResponse> {
        let reject = |reason: String| {
            let text = format!("Prefix announcement rejected: {reason}");
            Err(ControlResponse::error(StatusCode::Unauthorized, text))
        };
        if announcement.prefix.as_ref().component_count() > MAX_PREFIX_COMPONENTS {
            let text = format!("a prefix cannot exceed {MAX_PREFIX_COMPONENTS} components");
            return Err(ControlResponse::error(StatusCode::NameTooLong, text));
        }
        let is_valid_now = announcement.validity.is_none_or(|validity| validity.contains(now.unix));
        if !is_valid_now {
            return reject("its validity period is another".to_owned());
        }
        let info = data.ndn().and_then(|view| view.signature_info());
        if info.is_none_or(|info| info.signature_type == SignatureType::DIGEST_SHA256) {
            return reject("it is signed by a digest only, which anybody can make".to_owned());
        }
        let verdict = match self.authority(scope) {
            Some(authority) => {
                authority.check_announcement(now, scope, data).map_err(|error| error.to_string())
            }
            None => Err("announcements are not accepted here".to_owned()),
        };
        verdict.or_else(|reason| {
            self.counters.unauthorized += 1;
            reject(reason)
        })
    }

    /// What routes come behind that somebody so near asks for or announces.
    fn precedence(&self, scope: CommandScope) -> Precedence {
        if self.trusts_anyone(scope) { Precedence::BehindApplications } else { Precedence::LongestMatch }
    }

    fn add_route(
        &mut self,
        now: Now,
        node: &mut dyn NodeControl,
        prefix: &Name,
        route: RibRoute,
    ) -> Result<(), ControlResponse> {
        if route.expires <= now.instant {
            // Over before it began; and so is the one that it replaces.
            self.rib.unregister(prefix, route.face, route.origin);
        } else if let Err(full) = self.rib.register(prefix, route) {
            return Err(ControlResponse::error(StatusCode::Unavailable, full.to_string()));
        }
        self.watch_revocations(now);
        self.update_table(node);
        Ok(())
    }

    /// Works out for some prefixes what they inherit. No command waits for it: one at a short prefix would
    /// cost as much as there are prefixes below.
    pub(super) fn settle_some_heirs(&mut self, node: &mut dyn NodeControl) {
        if self.rib.settle_inheriting(HEIRS_AT_ONCE) > 0 {
            self.update_table(node);
        }
    }

    /// Brings the forwarding table in line with the RIB, but for prefixes that inherit. Routes by faces that
    /// do not exist go.
    pub(super) fn update_table(&mut self, node: &mut dyn NodeControl) {
        loop {
            let updates = std::iter::from_fn(|| self.rib.poll_update()).take(CHANGES_AT_ONCE);
            let changes: Vec<NextHopChange> = updates.map(change_of).collect();
            if changes.is_empty() {
                return;
            }
            for (change, error) in node.change_next_hops(MANAGED, changes) {
                self.counters.next_hops_refused += 1;
                match (change, error) {
                    (_, AddNextHopError::NoFace(face)) => {
                        self.rib.remove_face(face);
                    }
                    (NextHopChange::Add { prefix, hop, .. }, _) => self.rib.handle_refusal(&prefix, hop.face),
                    (NextHopChange::Remove { .. } | NextHopChange::SetRules { .. }, _) => {}
                }
            }
        }
    }
}

/// Changes to the forwarding table that are made with one call, so that a route at the root costs one for
/// many prefixes and nobody waits long for his packets.
const CHANGES_AT_ONCE: usize = 256;

/// Prefixes of which it is worked out what they inherit, until management looks after others again.
const HEIRS_AT_ONCE: usize = 64;

fn change_of(update: FibUpdate) -> NextHopChange {
    match update {
        FibUpdate::Remove { prefix, face } => NextHopChange::Remove { prefix, face },
        FibUpdate::Add { prefix, face, cost, announcement } => {
            NextHopChange::Add { prefix, hop: NextHop { face, cost }, announcement }
        }
    }
}

/// Whether who is so near may give and take routes for `prefix` by `face`.
///
/// What leads to management itself stays, or nobody could give commands any more. Neighbours neither take all
/// names nor those that have a meaning on this host or this link only.
pub(super) fn may_route(prefix: &Name, face: FaceId, scope: CommandScope) -> Result<(), ControlResponse> {
    let is_below =
        |scope: CommandScope| scope.prefix().is_ok_and(|own| own.as_ref().is_prefix_of(prefix.as_ref()));
    let refuse = |text: &str| Err(ControlResponse::error(StatusCode::Unauthorized, text));
    if is_below(CommandScope::Localhost) || face == MANAGEMENT_FACE && is_below(CommandScope::Localhop) {
        return refuse("this is how management itself is reached; it stays as it is");
    }
    if scope == CommandScope::Localhop {
        if prefix.as_ref().is_root() {
            return refuse("a neighbour cannot have a route for /");
        }
        if prefix.as_ref().scope() != NameScope::Global {
            return refuse("a neighbour cannot have routes below /localhost and /localhop");
        }
    }
    Ok(())
}

/// The route that the parameters of `rib/register` ask for.
fn route(now: Now, face: FaceId, parameters: &ControlParameters, holder: Holder) -> RibRoute {
    // The largest number means for ever.
    let period = parameters.expiration_period_ms.filter(|period| *period < u64::MAX);
    RibRoute {
        face,
        origin: parameters.origin.unwrap_or(RouteOrigin::App),
        cost: parameters.cost.unwrap_or(0),
        flags: parameters.flags.map_or(RouteFlags::CHILD_INHERIT, RouteFlags),
        expires: period.map_or(Instant::NEVER, |period| now.instant + Duration::from_millis(period)),
        announcement: None,
        holder,
        precedence: Precedence::LongestMatch,
        signer: None,
    }
}

fn announced_route(face: FaceId, expires: Instant, data: &Data, holder: Holder) -> RibRoute {
    RibRoute {
        face,
        origin: RouteOrigin::PrefixAnnouncement,
        cost: ANNOUNCED_COST,
        flags: RouteFlags::CHILD_INHERIT,
        expires,
        announcement: Some(data.wire().clone()),
        holder,
        precedence: Precedence::LongestMatch,
        signer: None,
    }
}

/// How long a route by this announcement may live: as long as it says, but not longer than it is valid.
fn lifetime(now: Now, announcement: &PrefixAnnouncement) -> Duration {
    let period = Duration::from_millis(announcement.expiration_period_ms);
    let Some(validity) = announcement.validity else { return period };
    let left_ms = validity.not_after.as_millis().saturating_sub(now.unix.as_millis());
    period.min(Duration::from_millis(left_ms))
}
