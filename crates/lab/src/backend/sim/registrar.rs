//! What takes registrations of neighbours at a simulated node: the daemon's own check of keys, in front of
//! the table of routes of the node's engine.

use std::sync::Arc;

use engine::{FaceConfig, FaceId};
use management::{
    Command, CommandScope, ControlParameters, ControlResponse, RequestName, StatusCode, Target, response_data,
};
use node::management::{
    AuthorizationError, CommandAuthority, KEYLESS_LEAST_COST, Privileges, RevocationList, RouteSigner,
    TrustedKeys,
};
use packet::ndn::KeyLocator;
use packet::time::{Duration, Instant};
use packet::{Data, Interest, LinkHeader, NackReason, Name, Now, UnixTime};
use sim::{AppId, Application, Context, IntoName as _, NodeId};
use trust::Revocations;

use super::error::{ApplicationError, SimulationError};
use super::network::Built;
use crate::agent::activity::Activity as _;
use crate::agent::{KnownRecords, RevocationWatch};
use crate::experiment::plan::{EarlierKey, NodeIndex, Plan, Registrations};
use crate::experiment::resolve::registrations::MANAGEMENT;
use crate::keys;

/// How soon after a command has come its route is there.
const EFFECT: Duration = Duration::from_millis(1);

/// Commands whose routes are not there yet: neighbours ask a few times each.
const MAX_ACCEPTED: usize = 1024;

/// A route that somebody may have.
#[derive(Clone)]
struct Accepted {
    prefix: Name,
    cost: u64,
    /// The neighbour's link and node are known by what it asks with.
    to: NodeId,
    /// The key that has asked.
    signer: Option<RouteSigner>,
}

/// Who asks for a prefix, at which cost.
struct Neighbour {
    prefix: Name,
    cost: u64,
    node: NodeId,
    /// The face that its commands come by, as long as its link is not mended.
    face: Option<FaceId>,
}

/// Takes registrations at one node.
struct Registrar {
    accepts: Registrations,
    authority: CommandAuthority,
    neighbours: Vec<Neighbour>,
    accepted: Vec<Accepted>,
    /// Those that were made.
    given: Vec<Accepted>,
    watches: Vec<RevocationWatch>,
    /// What the watches have found, which the authority has when it was applied.
    known: KnownRecords,
    applied: Arc<Revocations>,
    revocations: Arc<RevocationList>,
}

impl Registrar {
    /// Decides as the daemon does.
    fn decide(&mut self, now: Instant, interest: &Interest) -> Option<Result<ControlParameters, StatusCode>> {
        let request = RequestName::parse(interest.name())?;
        if request.target != Target::Command(Command::RibRegister) {
            return None;
        }
        let parameters = ControlParameters::decode(request.parameter()?.value).ok()?;
        let prefix = parameters.name.as_ref()?;
        let (command, scope) = (Command::RibRegister, CommandScope::Localhop);
        let now = Now { instant: now, unix: UnixTime::from_millis(now.as_nanos() / 1_000_000) };
        let verdict = self.authority.check(now, command, scope, interest);
        match verdict.and_then(|()| self.authority.check_owner(command, scope, interest, prefix.as_ref())) {
            Ok(()) => {}
            Err(AuthorizationError::Malformed(_)) => return None,
            Err(_) => return Some(Err(StatusCode::Unauthorized)),
        }
        Some(Ok(parameters))
    }

    /// Routes whose keys have been revoked since this was last asked.
    fn take_revoked(&mut self) -> Vec<Accepted> {
        let known = self.known.current();
        if Arc::ptr_eq(&known, &self.applied) {
            return Vec::new();
        }
        self.revocations.replace((*known).clone());
        self.applied = known;
        let is_revoked =
            |route: &Accepted| route.signer.as_ref().is_some_and(|signer| self.authority.has_revoked(signer));
        let (gone, left) = std::mem::take(&mut self.given).into_iter().partition(is_revoked);
        self.given = left;
        gone
    }

    /// Asks for lists of revoked keys, and to be called again.
    fn go_on(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let mut next = Instant::NEVER;
        for watch in &mut self.watches {
            watch.handle_timeout(now);
            while let Some(interest) = watch.poll_transmit(now) {
                context.send_interest(interest);
            }
            next = next.min(watch.next_deadline());
        }
        if next != Instant::NEVER {
            context.wake_at(next);
        }
    }

    /// Gives the route to whom the command came from, as the daemon does.
    fn accept(&mut self, interest: &Interest, wanted: &ControlParameters, header: &LinkHeader) {
        let Some(prefix) = &wanted.name else { return };
        let cost = wanted.cost.unwrap_or(0);
        let came_by = |neighbour: &Neighbour| {
            neighbour.face.is_some_and(|face| header.incoming_face == Some(face.0.into()))
        };
        // A link that was mended has another face. Then all are meant who ask for that.
        let is_known = self.neighbours.iter().any(came_by);
        let asks = self.neighbours.iter().filter(|neighbour| {
            neighbour.prefix == *prefix && neighbour.cost == cost && (came_by(neighbour) || !is_known)
        });
        let locator = interest.ndn().and_then(|view| view.signature_info()?.key_locator);
        let signer = match locator {
            Some(KeyLocator::Name(key)) => Some(RouteSigner { key: key.to_name(), certificate: None }),
            _ => None,
        };
        let least = if self.accepts == Registrations::Anyone { KEYLESS_LEAST_COST } else { 0 };
        let new = asks.map(|neighbour| Accepted {
            prefix: neighbour.prefix.clone(),
            cost: neighbour.cost.max(least),
            to: neighbour.node,
            signer: signer.clone(),
        });
        self.accepted.extend(new.take(MAX_ACCEPTED));
        self.accepted.truncate(MAX_ACCEPTED);
    }
}

impl Application for Registrar {
    fn start(&mut self, context: &mut Context<'_>) {
        self.go_on(context);
    }

    fn handle_data(&mut self, context: &mut Context<'_>, data: &Data, _: &LinkHeader) {
        let now = context.now();
        for watch in &mut self.watches {
            watch.receive_data(now, data);
        }
        self.go_on(context);
    }

    fn handle_nack(&mut self, context: &mut Context<'_>, interest: &Interest, reason: NackReason) {
        let now = context.now();
        for watch in &mut self.watches {
            watch.receive_nack(now, interest, reason);
        }
        self.go_on(context);
    }

    fn handle_timer(&mut self, context: &mut Context<'_>) {
        self.go_on(context);
    }

    fn handle_interest(&mut self, context: &mut Context<'_>, interest: &Interest, header: &LinkHeader) {
        let response = match self.decide(context.now(), interest) {
            None => return,
            Some(Ok(parameters)) => {
                self.accept(interest, &parameters, header);
                ControlResponse::ok(&parameters)
            }
            Some(Err(code)) => ControlResponse::error(code, "authorization rejected"),
        };
        let data = response_data(interest.name().to_name(), &response).build_with_digest();
        if let Ok(data) = data {
            context.send_data(data);
        }
    }

    fn prefixes(&self) -> Vec<Name> {
        MANAGEMENT.parse().into_iter().collect()
    }
}

/// Puts one at every node that neighbours may register with, and plans when it is looked at what it has
/// accepted.
pub(super) fn add(built: &mut Built, plan: &Plan, seed: u64) -> Result<(), SimulationError> {
    for (index, node) in plan.nodes.indexed() {
        let accepts = Registrations::of(&node.forwarder);
        let is_asked = plan.registrations().any(|(_, registration)| registration.to == index);
        if accepts == Registrations::Nobody || !is_asked {
            continue;
        }
        let Some(id) = built.nodes.get(index).copied() else { continue };
        let registrar =
            registrar(built, plan, index, accepts, seed).map_err(ApplicationError::of(&node.name))?;
        let face = FaceConfig { dialect: plan.dialect, ..FaceConfig::local() };
        let application = built.network.add_application_with(id, registrar, face)?;
        plan_looks(built, plan, index, id, application);
    }
    Ok(())
}

fn registrar(
    built: &Built,
    plan: &Plan,
    at: NodeIndex,
    accepts: Registrations,
    seed: u64,
) -> Result<Registrar, ApplicationError> {
    let words = ["localhop".to_owned()];
    let mut believed = Vec::new();
    let mut records = Revocations::default();
    for (identity, earlier) in plan.believed_identities() {
        let privileges = Privileges::of(&words)?;
        let privileges = match accepts {
            Registrations::Keys(true) => privileges.for_own_names(),
            _ => privileges,
        };
        let certificates = keys::certificates(seed, identity, earlier)?;
        believed.extend(certificates.into_iter().map(|certificate| (certificate, privileges.clone())));
        if earlier == Some(EarlierKey::Revoked) {
            records.add(keys::revocation(seed, identity)?);
        }
    }
    let mut neighbours = Vec::new();
    for (from, registration) in plan.registrations().filter(|(_, registration)| registration.to == at) {
        let Some(node) = built.nodes.get(from) else { continue };
        let prefix = registration.prefix.as_str().into_name()?;
        let own = built.nodes.get(at);
        let face = own.and_then(|own| built.network.face_towards(*own, *node).ok());
        neighbours.push(Neighbour { prefix, cost: u64::from(registration.cost), node: *node, face });
    }
    // What the watches find is added to what is known from the start.
    let known = KnownRecords::with(records.clone());
    let mut watches = Vec::new();
    if matches!(accepts, Registrations::Keys(_)) {
        for owner in plan.publishing_owners() {
            let seeds = (seed, (at.0 << 16) | 0xffff);
            watches.push(RevocationWatch::new(owner, known.clone(), seeds, 0)?);
        }
    }
    let revocations = Arc::new(RevocationList::fixed(records));
    let keys = TrustedKeys::new(believed).with_revocations(Arc::clone(&revocations));
    let authority = match accepts {
        Registrations::Keys(_) => CommandAuthority::of_keys(Box::new(keys)),
        _ => CommandAuthority::Anyone,
    };
    let (accepted, given, applied) = (Vec::new(), Vec::new(), known.current());
    Ok(Registrar { authority, accepts, neighbours, accepted, given, watches, known, applied, revocations })
}

/// An application cannot change its node: routes are made every so often while neighbours ask.
fn plan_looks(built: &mut Built, plan: &Plan, index: NodeIndex, id: NodeId, application: AppId) {
    let asking = plan.workloads.iter().filter(|workload| {
        plan.registrations().any(|(at, registration)| at == workload.at && registration.to == index)
    });
    let begin = asking.map(|workload| workload.start_ns).min().unwrap_or(0);
    // Attempts are 500 ms apart, and links take their time: until the end every 50 ms, at most so many times.
    let looks =
        (0..).map(|turn| begin + turn * LOOK_EVERY_NS).take_while(|at| *at < plan.schedule.duration_ns);
    for at in looks.take(MAX_LOOKS) {
        let at = Instant::from_nanos(at) + EFFECT;
        built.network.at(at, move |network| {
            let Some(registrar) = network.application_mut::<Registrar>(application) else { return };
            let revoked = registrar.take_revoked();
            let accepted = std::mem::take(&mut registrar.accepted);
            registrar.given.extend(accepted.iter().cloned());
            for Accepted { prefix, to, .. } in revoked {
                // As in the daemon: the route goes, and what was cached below it. Neither need be there.
                let _ = network.remove_route(id, prefix.clone(), to);
                let _ = network.erase_cached(id, prefix);
            }
            for Accepted { prefix, cost, to, .. } in accepted {
                // A table of routes that is full has counted it.
                let _ = network.add_route(id, prefix, to, cost);
            }
        });
    }
}

/// How often it is looked at what was accepted, and how often in all.
const LOOK_EVERY_NS: u64 = 50_000_000;
const MAX_LOOKS: usize = 1200;
