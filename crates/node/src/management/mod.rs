//! NFD's management protocol: what makes existing tools and client libraries work with a node unchanged.
//!
//! [`NfdManagement`] is a [`ControlApplication`]: it is told of Interests under `/localhost/nfd` and of what
//! happens to faces, and asks a [`NodeControl`] for what commands want done. It owns the RIB; everything else
//! belongs to the node.
//!
//! Behaviour is NFD's where tools can see it: status codes, what is in the answers, what gets no answer at
//! all. An Interest that is not a known request, has no readable parameters, or whose signature names no key
//! is not answered. Everything else is.
//!
//! - [`CommandAuthority`] says whose commands are carried out; [`TrustedKeys`] are those of an operator.
//! - [`rib`] keeps routes and works out next hops; `revoked_routes` takes those of revoked keys away.
//! - `parameters` knows what each command needs, `forwarder_commands`, `face_commands` and `routes` carry
//!   commands out.
//! - `datasets` says how things are, `store` keeps what may be asked for again, `state` what survives a
//!   restart.

mod authority;
mod convert;
mod datasets;
mod delegation;
mod face_commands;
mod forwarder_commands;
mod holder;
mod key_rejection;
mod keys;
mod parameters;
mod replay_guard;
mod restore;
mod revocations;
mod revoked_routes;
pub mod rib;
mod routes;
mod setup;
mod signer;
mod state;
mod store;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use engine::{FaceId, NextHop};
use management::{
    Command, CommandScope, ControlParameters, ControlResponse, FRESHNESS, RequestName, StatusCode, Target,
    response_data,
};
use packet::ndn::DataBuilder;
use packet::time::{Duration, Instant};
use packet::{ComponentKind, Data, Dialect, Interest, NackReason, Name, Now};
use trust::{Certificate, Revocations};

use crate::control::{ControlApplication, FaceEvent, NodeControl, OutgoingInterest};
pub use authority::{AuthorizationError, CommandAuthority, SignedCommand, VerifyCommand};
pub use delegation::Delegation;
use delegation::PendingCommand;
use face_commands::PendingFace;
pub use key_rejection::KeyRejection;
pub use keys::{MODULES, Privileges, TrustedKeys};
pub use replay_guard::ReplayGuard;
pub use revocations::{RevocationList, RevocationListError};
use rib::Rib;
pub use routes::STRANGERS_LEAST_COST;
pub(crate) use setup::read_certificate;
pub use signer::RouteSigner;
use state::StateFile;
use store::DataStore;

/// The dialect that is managed: NFD's protocol has no word for any other.
pub(crate) const MANAGED: Dialect = Dialect::Ndn;

/// Most components of a prefix that routes and strategies can be given for: as many as tables look up by.
pub const MAX_PREFIX_COMPONENTS: usize = packet::PrefixHashes::MAX_PREFIX_COMPONENTS;

/// Most Data that one command erases from the content store, as in NFD.
pub const ERASE_LIMIT: usize = 256;

/// Time between two lines of the log about refused commands.
const REFUSAL_LOG_INTERVAL: Duration = Duration::from_secs(1);

/// What management is made with.
#[derive(Debug)]
pub struct ManagementConfig {
    /// Whose commands are carried out that come from this host.
    pub localhost: CommandAuthority,
    /// Whose route registrations are accepted from neighbours; `None` for nobody's. Announced routes are
    /// learned only where this is set.
    pub localhop: Option<CommandAuthority>,
    /// Which keys have been certified by those whose commands are carried out, and count as theirs.
    pub delegation: Delegation,
    /// Which keys are revoked: their routes go.
    pub revocations: Arc<RevocationList>,
    /// Most routes in the RIB.
    pub max_routes: usize,
    /// Most bytes of names, announcements and signers of these routes.
    pub max_route_bytes: usize,
    /// Most prefixes in the forwarding table, of which neighbours may have their share.
    pub max_prefixes: usize,
    /// Where routes of origin static are kept over a restart.
    pub state_file: Option<PathBuf>,
    /// Segments of datasets, and as many notifications, kept for those who ask again.
    pub max_stored_packets: usize,
}

impl Default for ManagementConfig {
    /// What NFD does by default: applications on this host may do anything, neighbours nothing.
    fn default() -> Self {
        ManagementConfig {
            localhost: CommandAuthority::Anyone,
            localhop: None,
            delegation: Delegation::default(),
            revocations: Arc::default(),
            max_routes: 65_536,
            max_route_bytes: 64 << 20,
            max_prefixes: 1 << 21,
            state_file: None,
            max_stored_packets: 256,
        }
    }
}

/// What management has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ManagementCounters {
    /// Commands that succeeded.
    pub commands_done: u64,
    /// Commands that failed, whatever the reason.
    pub commands_failed: u64,
    /// Commands of which the signer was refused; counted among the failed too if they were answered.
    pub unauthorized: u64,
    /// Requests that were not answered.
    pub unanswered: u64,
    /// Datasets made.
    pub datasets: u64,
    /// Notifications sent.
    pub notifications: u64,
    /// Next hops that the forwarding table did not take.
    pub next_hops_refused: u64,
    /// Routes that were removed because the key that made them was revoked.
    pub routes_of_revoked_keys: u64,
}

/// A command on its way.
#[derive(Clone, Copy, Debug)]
struct Request<'a> {
    now: Now,
    command: Command,
    interest: &'a Interest,
    /// The face it came by.
    from: FaceId,
    scope: CommandScope,
    /// The certificate of its key, if that is no operator's.
    certificate: Option<&'a Certificate>,
}

/// What a command leads to.
#[derive(Debug)]
enum Outcome {
    /// An answer at once.
    Answer(ControlResponse),
    /// An answer later.
    Later,
    /// None.
    NoReply,
}

impl From<ControlResponse> for Outcome {
    fn from(response: ControlResponse) -> Self {
        Outcome::Answer(response)
    }
}

/// NFD's management protocol, served by a node.
#[derive(Debug)]
pub struct NfdManagement {
    localhost: CommandAuthority,
    localhop: Option<CommandAuthority>,
    delegation: Delegation,
    revocations: Arc<RevocationList>,
    /// Those that routes were held against.
    heeded_revocations: Arc<Revocations>,
    /// When to look whether there are others; [`Instant::NEVER`] while no route depends on them.
    look_at_revocations: Instant,
    rib: Rib,
    state_path: Option<(PathBuf, usize)>,
    /// Where routes are kept over a restart, once that has been read.
    state: Option<StateFile>,
    datasets: DataStore,
    /// Kept apart: whoever asks for datasets again and again takes no news from others.
    notifications: DataStore,
    /// Faces that are being connected, and who waits for them.
    connecting: BTreeMap<FaceId, PendingFace>,
    /// Data to send.
    outgoing: VecDeque<Data>,
    /// Version of the last dataset.
    last_version: u64,
    /// Number of the next notification.
    next_notification: u64,
    counters: ManagementCounters,
    /// When the next refusal is written to the log, and how many were not.
    next_refusal_logged: Instant,
    refusals_not_logged: u64,
}

impl NfdManagement {
    /// Management that has not been started.
    pub fn new(config: ManagementConfig) -> Self {
        NfdManagement {
            localhost: config.localhost,
            localhop: config.localhop,
            delegation: config.delegation,
            heeded_revocations: Arc::default(),
            revocations: config.revocations,
            look_at_revocations: Instant::NEVER,
            rib: Rib::new(config.max_routes)
                .with_max_bytes(config.max_route_bytes)
                .with_max_prefixes(config.max_prefixes),
            state_path: config.state_file.map(|path| (path, config.max_routes)),
            state: None,
            datasets: DataStore::new(config.max_stored_packets),
            notifications: DataStore::new(config.max_stored_packets),
            connecting: BTreeMap::new(),
            outgoing: VecDeque::new(),
            last_version: 0,
            next_notification: 0,
            counters: ManagementCounters::default(),
            next_refusal_logged: Instant::ZERO,
            refusals_not_logged: 0,
        }
    }

    /// What management has done.
    pub fn counters(&self) -> &ManagementCounters {
        &self.counters
    }

    /// The routes.
    pub fn rib(&self) -> &Rib {
        &self.rib
    }

    /// Whose commands of this scope are carried out; `None` if nobody's.
    fn authority(&mut self, scope: CommandScope) -> Option<&mut CommandAuthority> {
        match scope {
            CommandScope::Localhost => Some(&mut self.localhost),
            CommandScope::Localhop => self.localhop.as_mut(),
        }
    }

    fn handle_command(&mut self, node: &mut dyn NodeControl, request: Request<'_>) -> Outcome {
        let Some(parameters) = parameters_of(request) else { return Outcome::NoReply };
        let Request { now, command, scope, interest, from, .. } = request;
        let Some(authority) = self.authority(scope) else { return Outcome::NoReply };
        // An announcement is signed itself, by whom it concerns.
        let outcome = match command {
            Command::RibAnnounce => Ok(()),
            _ => authority.check(now, command, scope, interest),
        };
        self.note_times_ahead(now);
        match outcome {
            Ok(()) => self.obey(node, request, parameters),
            Err(AuthorizationError::UnknownKey(key))
                if self.delegation.concerns(command, scope, key.as_ref()) =>
            {
                let pending = PendingCommand { command, scope, interest: interest.clone(), from };
                if self.delegation.await_certificate(now, key, pending) {
                    return Outcome::Later;
                }
                let reason = "too many commands wait for certificates".to_owned();
                self.refuse(request, &AuthorizationError::Unauthorized(reason))
            }
            Err(refusal) => self.refuse(request, &refusal),
        }
    }

    fn refuse(&mut self, request: Request<'_>, refusal: &AuthorizationError) -> Outcome {
        self.counters.unauthorized += 1;
        self.log_refusal(request, refusal);
        match refusal {
            AuthorizationError::Malformed(_) => Outcome::NoReply,
            AuthorizationError::Unauthorized(_) | AuthorizationError::UnknownKey(_) => {
                ControlResponse::error(StatusCode::Unauthorized, "authorization rejected").into()
            }
        }
    }

    /// Does what somebody wants who may want it.
    fn obey(
        &mut self,
        node: &mut dyn NodeControl,
        request: Request<'_>,
        parameters: ControlParameters,
    ) -> Outcome {
        if !parameters::are_valid(request.command, &parameters) {
            return ControlResponse::error(StatusCode::BadParameters, "failed in validating parameters")
                .into();
        }
        // A stranger next door speaks for himself: other neighbours' routes, and the operator's, are not his
        // to give or take.
        if self.heeds_anyone(request.scope)
            && parameters::face_or_self(&parameters, request.from) != request.from
        {
            let reason = "a neighbour without a key may make routes to itself only".to_owned();
            return self.refuse(request, &AuthorizationError::Unauthorized(reason));
        }
        if let Err(refusal) = self.check_owner(request, &parameters) {
            return self.refuse(request, &refusal);
        }
        self.carry_out(node, request, parameters)
    }

    /// Whether a route that is given or taken is for names of whoever signed the command, where keys are
    /// bound to their names.
    fn check_owner(
        &mut self,
        request: Request<'_>,
        parameters: &ControlParameters,
    ) -> Result<(), AuthorizationError> {
        let Request { command, scope, interest, .. } = request;
        if !matches!(command, Command::RibRegister | Command::RibUnregister) {
            return Ok(());
        }
        let (Some(authority), Some(prefix)) = (self.authority(scope), &parameters.name) else {
            return Ok(());
        };
        authority.check_owner(command, scope, interest, prefix.as_ref())
    }

    /// Whether commands of this scope come from neighbours of whom no keys are asked.
    fn heeds_anyone(&self, scope: CommandScope) -> bool {
        scope == CommandScope::Localhop && matches!(self.localhop, Some(CommandAuthority::Anyone))
    }

    /// Carries out, or refuses, commands about whose keys all is known by now.
    fn conclude_delegates(&mut self, now: Now, node: &mut dyn NodeControl) {
        while let Some((pending, verdict)) = self.delegation.poll_concluded() {
            let PendingCommand { command, scope, interest, from } = pending;
            let certificate = verdict.as_ref().ok();
            let request = Request { now, command, interest: &interest, from, scope, certificate };
            let Some(authority) = self.authority(scope) else { continue };
            let allowed = match &verdict {
                Ok(certificate) => authority.check_delegate(now, &interest, certificate),
                Err(error) => Err(AuthorizationError::Unauthorized(error.to_string())),
            };
            self.note_times_ahead(now);
            let outcome = match (allowed, parameters_of(request)) {
                (Ok(()), Some(parameters)) => self.obey(node, request, parameters),
                (Ok(()), None) => Outcome::NoReply,
                (Err(refusal), _) => self.refuse(request, &refusal),
            };
            self.conclude(request, outcome);
        }
    }

    fn conclude(&mut self, request: Request<'_>, outcome: Outcome) {
        match outcome {
            Outcome::Answer(response) => self.respond(request.interest.name().to_name(), &response),
            Outcome::Later => {}
            Outcome::NoReply => self.counters.unanswered += 1,
        }
    }

    /// Who gives commands by the thousand that are refused does not fill the log.
    fn log_refusal(&mut self, request: Request<'_>, refusal: &AuthorizationError) {
        let now = request.now.instant;
        if now < self.next_refusal_logged {
            self.refusals_not_logged += 1;
            return;
        }
        self.next_refusal_logged = now + REFUSAL_LOG_INTERVAL;
        let others = std::mem::take(&mut self.refusals_not_logged);
        let (command, from) = (request.command, request.from.0);
        tracing::warn!(?command, from, %refusal, others_before = others, "command refused");
    }

    fn carry_out(
        &mut self,
        node: &mut dyn NodeControl,
        request: Request<'_>,
        parameters: ControlParameters,
    ) -> Outcome {
        let from = request.from;
        match request.command {
            Command::FacesCreate => self.create_face(node, request, &parameters),
            Command::FacesUpdate => face_commands::update(node, from, &parameters).into(),
            Command::FacesDestroy => self.destroy_face(node, request.now, &parameters).into(),
            Command::FibAddNextHop => forwarder_commands::add_next_hop(node, from, parameters).into(),
            Command::FibRemoveNextHop => forwarder_commands::remove_next_hop(node, from, parameters).into(),
            Command::CsConfig => forwarder_commands::configure_store(node, &parameters).into(),
            Command::CsErase => forwarder_commands::erase(node, parameters).into(),
            Command::StrategySet => forwarder_commands::set_strategy(node, parameters).into(),
            Command::StrategyUnset => forwarder_commands::unset_strategy(node, &parameters).into(),
            Command::RibRegister => self.register(node, request, parameters).into(),
            Command::RibUnregister => self.unregister(node, request, parameters).into(),
            Command::RibAnnounce => self.announce(node, request),
        }
    }

    /// Answers the request called `name`.
    fn respond(&mut self, name: Name, response: &ControlResponse) {
        tracing::debug!(%name, code = response.code.number(), text = response.text, "answered");
        if response.is_ok() {
            self.counters.commands_done += 1;
            self.forget_how_things_were();
        } else {
            self.counters.commands_failed += 1;
        }
        self.send(&response_data(name, response));
    }

    /// Signs by digest, as NFD does for those who have no key: it proves that nothing was damaged.
    fn send(&mut self, data: &DataBuilder) {
        match data.build_with_digest() {
            Ok(data) => self.outgoing.push_back(data),
            // An answer that does not fit into a packet.
            Err(_) => self.counters.unanswered += 1,
        }
    }

    /// Datasets made before now answer nobody who wants to know how things are.
    fn forget_how_things_were(&mut self) {
        self.datasets.make_stale();
    }

    fn notify(&mut self, now: Now, event: &FaceEvent) {
        let content = convert::face_event(event).encode();
        let number = self.next_notification;
        let name = management::face_events_name()
            .and_then(|stream| stream.with_number(ComponentKind::SEQUENCE_NUMBER, number));
        let Ok(name) = name else { return };
        let data = DataBuilder::new(name).freshness(FRESHNESS).content(content).build_with_digest();
        let Ok(data) = data else { return };
        self.next_notification += 1;
        self.counters.notifications += 1;
        self.notifications.insert(now.instant + FRESHNESS, vec![data.clone()]);
        // Somebody may be waiting for it.
        self.outgoing.push_back(data);
    }
}

impl ControlApplication for NfdManagement {
    fn start(&mut self, now: Now, node: &mut dyn NodeControl) {
        self.open_state();
        let before = self.state.as_ref().map(|state| state.obeyed().clone()).unwrap_or_default();
        self.localhost.start(now, &before);
        if let Some(localhop) = &mut self.localhop {
            localhop.start(now, &before);
        }
        let mut scopes = vec![CommandScope::Localhost];
        scopes.extend(self.localhop.as_ref().map(|_| CommandScope::Localhop));
        for scope in scopes {
            if let Ok(prefix) = scope.prefix() {
                self.register_own_prefix(now, node, &prefix);
            }
        }
        self.restore_routes(now, node);
    }

    fn handle_interest(&mut self, now: Now, node: &mut dyn NodeControl, interest: &Interest, from: FaceId) {
        let Some(name) = RequestName::parse(interest.name()) else {
            self.counters.unanswered += 1;
            return;
        };
        // Neighbours may register routes and see what became of them, nothing else.
        let is_about_routes = interest.name().component(2).is_some_and(|module| module.value == b"rib");
        if name.scope == CommandScope::Localhop && (self.localhop.is_none() || !is_about_routes) {
            self.counters.unanswered += 1;
            return;
        }
        match name.target {
            Target::Command(command) => {
                let scope = name.scope;
                let request = Request { now, command, interest, from, scope, certificate: None };
                let outcome = self.handle_command(node, request);
                self.conclude(request, outcome);
                // What is known of a key from earlier is known at once.
                self.conclude_delegates(now, node);
            }
            Target::Dataset(dataset) => self.handle_dataset(now, node, interest, name.scope, dataset),
            // Whoever asks for what is still to come waits in the table of pending Interests.
            Target::FaceEvents => {
                if let Some(data) = self.notifications.find(now.instant, interest).cloned() {
                    self.outgoing.push_back(data);
                }
            }
        }
    }

    fn handle_face_event(&mut self, now: Now, node: &mut dyn NodeControl, event: &FaceEvent) {
        self.forget_how_things_were();
        self.notify(now, event);
        self.conclude_connecting(node, event);
        if event.kind == crate::control::FaceEventKind::Destroyed {
            self.rib.remove_face(event.face.id);
            self.update_table(node);
        }
    }

    fn handle_engine_event(&mut self, now: Now, node: &mut dyn NodeControl, event: &engine::Event) {
        match event {
            engine::Event::RouteAnnounced { face, announcement } => {
                self.learn_route(now, node, *face, announcement);
            }
            engine::Event::RouteFailed { face, name } => self.forget_route(node, *face, name),
            engine::Event::MeasurementsFull { .. } => {}
        }
    }

    fn handle_timeout(&mut self, now: Now, node: &mut dyn NodeControl) {
        if self.rib.expire(now.instant) > 0 {
            self.forget_how_things_were();
        }
        self.heed_revocations(now, node);
        self.update_table(node);
        if self.look_at_clock() <= now.instant {
            self.note_times_ahead(now);
        }
        if let Some(state) = &mut self.state {
            state.handle_timeout(now);
        }
        self.give_up_connecting(now, node);
        self.delegation.handle_timeout(now);
        self.conclude_delegates(now, node);
    }

    fn handle_configured_routes(&mut self, now: Now, node: &mut dyn NodeControl, routes: &[(Name, NextHop)]) {
        self.adopt_routes(now, node, routes);
        self.forget_how_things_were();
    }

    fn handle_data(&mut self, now: Now, node: &mut dyn NodeControl, data: &Data) {
        self.delegation.handle_data(now, data);
        self.conclude_delegates(now, node);
    }

    fn handle_nack(&mut self, now: Now, node: &mut dyn NodeControl, interest: &Interest, reason: NackReason) {
        self.delegation.handle_nack(now, interest.name(), reason);
        self.conclude_delegates(now, node);
    }

    fn poll_interest(&mut self) -> Option<OutgoingInterest> {
        self.delegation.poll_interest()
    }

    fn poll_data(&mut self) -> Option<Data> {
        self.outgoing.pop_front()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let counters = &self.counters;
        vec![
            ("commands-done", counters.commands_done),
            ("commands-failed", counters.commands_failed),
            ("unauthorized", counters.unauthorized),
            ("unanswered", counters.unanswered),
            ("datasets", counters.datasets),
            ("notifications", counters.notifications),
            ("routes-refused", self.rib.refused()),
            ("routes-refused-to-neighbours", self.rib.refused_for_share()),
            ("routes-of-revoked-keys", counters.routes_of_revoked_keys),
            ("next-hops-refused", counters.next_hops_refused + self.rib.hops_left_out()),
        ]
    }

    fn has_background_work(&self) -> bool {
        self.rib.is_behind()
    }

    fn do_background_work(&mut self, _now: Now, node: &mut dyn NodeControl) {
        self.settle_some_heirs(node);
    }

    fn next_deadline(&self) -> Instant {
        let connecting = self.connecting.values().map(|pending| pending.deadline).min();
        let connecting = connecting.unwrap_or(Instant::NEVER);
        let state = self.state.as_ref().map_or(Instant::NEVER, StateFile::next_deadline);
        let revocations = self.look_at_revocations;
        self.rib
            .next_deadline()
            .min(connecting)
            .min(state)
            .min(revocations)
            .min(self.look_at_clock())
            .min(self.delegation.next_deadline())
    }
}

/// What a command says is to be done; `None` if it cannot be read. Announcements say it otherwise.
fn parameters_of(request: Request<'_>) -> Option<ControlParameters> {
    if request.command == Command::RibAnnounce {
        return Some(ControlParameters::default());
    }
    let name = RequestName::parse(request.interest.name())?;
    ControlParameters::decode(name.parameter()?.value).ok()
}
