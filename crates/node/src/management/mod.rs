//! NFD's management protocol: what makes existing tools and client libraries work with a node unchanged.
//!
//! [`NfdManagement`] is a [`ControlApplication`](crate::control::ControlApplication): it is told of Interests
//! under `/localhost/nfd` and of what happens to faces, and asks a [`NodeControl`] for what commands want
//! done. It owns the RIB; everything else belongs to the node.
//!
//! Behaviour is NFD's where tools can see it: status codes, what is in the answers, what gets no answer at
//! all. An Interest that is not a known request, has no readable parameters, or whose signature names no key
//! is not answered. Everything else is.
//!
//! - `application` is what the node calls.
//! - [`CommandAuthority`] says whose commands are carried out; [`TrustedKeys`] are those of an operator.
//! - [`rib`] keeps routes and works out next hops; `revoked_routes` takes those of revoked keys away.
//! - `parameters` knows what each command needs, `forwarder_commands`, `face_commands` and `routes` carry
//!   commands out.
//! - `datasets` says how things are, `store` keeps what may be asked for again, `state` what survives a
//!   restart.

mod application;
mod authority;
mod authorization_error;
mod command_times;
mod config;
mod convert;
mod datasets;
mod delegation;
mod face_commands;
mod forwarder_commands;
mod holder;
mod kept_files;
mod key_rejection;
mod keys;
mod parameters;
mod replay_guard;
mod restore;
mod revocation_file;
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

use engine::FaceId;
use management::{
    Command, CommandScope, ControlParameters, ControlResponse, FRESHNESS, RequestName, StatusCode,
    response_data,
};
use packet::ndn::DataBuilder;
use packet::time::{Duration, Instant};
use packet::{ComponentKind, Data, Dialect, Interest, Name, Now};
use trust::{Certificate, Revocations};

use crate::control::{FaceEvent, NodeControl};
pub use authority::{CommandAuthority, SignedCommand, VerifyCommand};
pub use authorization_error::{AuthorizationError, CommandTimeError, MalformedCommand, UnauthorizedCommand};
pub use config::{ManagementConfig, ManagementCounters};
pub use delegation::Delegation;
use delegation::PendingCommand;
use face_commands::PendingFace;
use holder::holder;
pub use key_rejection::KeyRejection;
pub use keys::{MODULES, Privileges, TrustedKeys};
pub use replay_guard::ReplayGuard;
pub use revocation_file::{RevocationFile, TakeInError};
pub use revocations::{RevocationList, RevocationListError};
use rib::Rib;
pub use routes::KEYLESS_LEAST_COST;
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
const REFUSED_LOG_INTERVAL: Duration = Duration::from_secs(1);

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
    applied_revocations: Arc<Revocations>,
    /// When to look whether there are others; [`Instant::NEVER`] while no route depends on them.
    look_at_revocations: Instant,
    /// What is cached below these is still to be erased.
    prefixes_of_revoked_keys: Vec<Name>,
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
            applied_revocations: Arc::default(),
            revocations: config.revocations,
            look_at_revocations: Instant::NEVER,
            prefixes_of_revoked_keys: Vec::new(),
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
        if self.cannot_tell_revoked_keys(scope) {
            return self.refuse(request, &UnauthorizedCommand::OldRevocations.into());
        }
        let Some(authority) = self.authority(scope) else { return Outcome::NoReply };
        // An announcement is signed itself, by whom it concerns.
        let outcome = match command {
            Command::RibAnnounce => Ok(()),
            _ => authority.check(now, command, scope, interest),
        };
        self.note_times_ahead(now);
        match outcome {
            Ok(()) => self.carry_out_authorized(node, request, parameters),
            Err(AuthorizationError::UnknownKey(key))
                if self.delegation.concerns(command, scope, key.as_ref()) =>
            {
                let (interest, holder) = (interest.clone(), holder(node, scope, from));
                let pending = PendingCommand { command, scope, interest, from, holder, key, renewals: 0 };
                if self.delegation.await_certificate(now, pending) {
                    return Outcome::Later;
                }
                self.refuse(request, &UnauthorizedCommand::TooManyPending.into())
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

    /// Carries out a command of somebody who may give it.
    fn carry_out_authorized(
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
        if self.trusts_anyone(request.scope)
            && parameters::face_or_self(&parameters, request.from) != request.from
        {
            return self.refuse(request, &UnauthorizedCommand::OtherFace.into());
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

    /// Whether keys are asked for, and none counts because nobody knows which are revoked.
    fn cannot_tell_revoked_keys(&mut self, scope: CommandScope) -> bool {
        matches!(self.authority(scope), Some(CommandAuthority::Keys(..))) && self.revocations.is_too_old()
    }

    /// Whether commands of this scope come from neighbours of whom no keys are asked.
    fn trusts_anyone(&self, scope: CommandScope) -> bool {
        scope == CommandScope::Localhop && matches!(self.localhop, Some(CommandAuthority::Anyone))
    }

    /// Carries out, or refuses, commands about whose keys all is known by now.
    fn conclude_delegates(&mut self, now: Now, node: &mut dyn NodeControl) {
        while let Some(bad) = self.delegation.poll_bad_certificate() {
            node.forget_cached(&bad);
        }
        while let Some((pending, verdict)) = self.delegation.poll_concluded() {
            let PendingCommand { command, scope, interest, from, .. } = pending;
            let certificate = verdict.as_ref().ok();
            let request = Request { now, command, interest: &interest, from, scope, certificate };
            let Some(authority) = self.authority(scope) else { continue };
            let allowed = match &verdict {
                Ok(certificate) => authority.check_delegate(now, &interest, certificate),
                Err(error) => Err(UnauthorizedCommand::from(error.clone()).into()),
            };
            self.note_times_ahead(now);
            let outcome = match (allowed, parameters_of(request)) {
                (Ok(()), Some(parameters)) => self.carry_out_authorized(node, request, parameters),
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
        self.next_refusal_logged = now + REFUSED_LOG_INTERVAL;
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

/// What a command says is to be done; `None` if it cannot be read. Announcements say it otherwise.
fn parameters_of(request: Request<'_>) -> Option<ControlParameters> {
    if request.command == Command::RibAnnounce {
        return Some(ControlParameters::default());
    }
    let name = RequestName::parse(request.interest.name())?;
    ControlParameters::decode(name.parameter()?.value).ok()
}
