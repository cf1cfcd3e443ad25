//! What a client does while its forwarder is away: it connects again, and has everything as before.

use std::collections::{BTreeMap, BTreeSet};

use management::{Command, ControlParameters};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Dialect, Name};

use super::{Answer, Client};
use crate::back_off::{BackOff, BackOffConfig};
use crate::connection::Connection;
use crate::error::ClientError;
use crate::management_request::{ManagementError, ManagementRequest};
use crate::pending::RequestId;
use crate::remote::Remote;
use crate::socket::{Waited, wait_for_time};

/// How long an attempt to connect again may take, during which nothing else happens.
pub(crate) const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);

/// How often what was registered over datagrams is registered again: nothing tells that such a forwarder
/// has started anew.
const REFRESH: Duration = Duration::from_secs(60);

/// What a client does when its forwarder goes away.
#[derive(Clone, Copy, Debug)]
pub enum WhenGone {
    /// The call that finds out fails, with [`ClientError::Closed`] or [`ClientError::Socket`].
    Fail,
    /// It connects again, as soon as that is possible.
    Reconnect {
        /// When it tries.
        back_off: BackOffConfig,
        /// Is told when an outage begins, and when it is over.
        tell: fn(&Outage<'_>),
    },
}

impl Default for WhenGone {
    /// Connects again without a word.
    fn default() -> Self {
        WhenGone::Reconnect { back_off: BackOffConfig::default(), tell: |_| {} }
    }
}

/// News of an outage. Each is told at most once for each outage.
#[derive(Debug)]
pub enum Outage<'a> {
    /// The forwarder went away.
    Begun {
        /// Where it was.
        remote: &'a Remote,
        /// How that showed.
        why: &'a ClientError,
    },
    /// It is there again, and what was registered is registered again.
    Over {
        /// Where it is.
        remote: &'a Remote,
        /// How long it was away.
        lasted: Duration,
    },
    /// It is there again, and does not do what it did before. It is asked again, later and later.
    NotRestored {
        /// What it was to do.
        what: &'a ManagementRequest,
        /// Why it does not.
        why: &'a ManagementError,
    },
}

/// What outages there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutageCounters {
    /// Outages so far.
    pub outages: u64,
    /// Attempts to connect again.
    pub attempts: u64,
    /// Interests that were expressed again after an outage.
    pub repeated: u64,
    /// Answers that were dropped because who had asked was gone with the forwarder, or, where the client does
    /// not wait, because the forwarder takes nothing; and Interests that nobody waits for an answer to.
    pub dropped: u64,
}

/// A command that is given again whenever the forwarder has started again.
#[derive(Debug)]
pub(super) struct RepeatedCommand {
    command: Command,
    parameters: ControlParameters,
}

impl RepeatedCommand {
    fn request(&self, dialect: Dialect) -> ManagementRequest {
        ManagementRequest::of(self.command, &self.parameters, dialect)
    }
}

/// The commands that are given again. An application may register tens of thousands of prefixes, so none is
/// looked for among all.
#[derive(Debug, Default)]
struct RepeatedCommands {
    /// In the order in which they were given.
    by_id: BTreeMap<u64, RepeatedCommand>,
    /// By what they do, and to what: the last one of each counts.
    ids: BTreeMap<(Command, Option<Name>), u64>,
    next_id: u64,
}

impl RepeatedCommands {
    fn keep(&mut self, command: Command, parameters: &ControlParameters) {
        self.forget(command, parameters);
        let id = self.next_id;
        self.next_id += 1;
        self.ids.insert((command, parameters.name.clone()), id);
        self.by_id.insert(id, RepeatedCommand { command, parameters: parameters.clone() });
    }

    fn forget(&mut self, command: Command, parameters: &ControlParameters) {
        if let Some(id) = self.ids.remove(&(command, parameters.name.clone())) {
            self.by_id.remove(&id);
        }
    }
}

/// Outages, and what is to be done after them.
#[derive(Debug)]
pub(super) struct Outages {
    policy: WhenGone,
    back_off: BackOff,
    /// When the next attempt is, while the forwarder is away.
    next_attempt: Option<Instant>,
    /// When the outage began that was told of, until its end is told of.
    begun: Option<Instant>,
    repeated: RepeatedCommands,
    /// Repeated commands under way.
    restoring: BTreeMap<RequestId, u64>,
    /// The question who it is to a forwarder of CCNx, on whose answer they wait.
    learning: Option<RequestId>,
    /// Those that are to be given at `restore_at`.
    unrestored: BTreeSet<u64>,
    restore_at: Instant,
    restore_back_off: BackOff,
    refusal_told: bool,
    refresh_at: Instant,
    counters: OutageCounters,
}

impl Outages {
    pub(super) fn new(policy: WhenGone) -> Self {
        let config = match policy {
            WhenGone::Fail => BackOffConfig::default(),
            WhenGone::Reconnect { back_off, .. } => back_off,
        };
        Outages {
            policy,
            back_off: BackOff::new(config),
            next_attempt: None,
            begun: None,
            repeated: RepeatedCommands::default(),
            restoring: BTreeMap::new(),
            learning: None,
            unrestored: BTreeSet::new(),
            restore_at: Instant::NEVER,
            restore_back_off: BackOff::new(config),
            refusal_told: false,
            refresh_at: Instant::NEVER,
            counters: OutageCounters::default(),
        }
    }

    fn tell(&self, news: &Outage<'_>) {
        if let WhenGone::Reconnect { tell, .. } = self.policy {
            tell(news);
        }
    }

    /// Has everything restored that is not, at once.
    fn restore_all(&mut self, now: Instant) {
        self.unrestored = self.repeated.by_id.keys().copied().collect();
        self.restore_at = if self.unrestored.is_empty() { Instant::NEVER } else { now };
    }

    fn retry_later(&mut self, now: Instant, id: u64, random: &mut Random) {
        if self.unrestored.is_empty() {
            self.restore_at = self.restore_back_off.handle_failure(now, random);
        }
        self.unrestored.insert(id);
    }
}

impl Client {
    /// Decides what happens when the forwarder goes away. A client that was not told otherwise connects
    /// again: then
    /// - [`Client::next`] goes on waiting, and comes back at its time, at a signal, and with what times out;
    /// - Interests that wait for an answer are expressed again, for as long as there is time to answer them;
    /// - [`Client::express`] keeps what it is given until the forwarder is there again, or its time is up;
    /// - [`Client::reply`] and [`Client::nack`] drop what they are given: nobody waits for it any more;
    /// - [`Client::command`], [`Client::dataset`], [`Client::register`] and the like fail, with
    ///   [`ClientError::Away`] while it is away;
    /// - what was registered, or given with [`Client::keep_commanding`], is so again before the outage counts
    ///   as over.
    ///
    /// The first connection is another matter: [`Client::connect`] fails if nobody is there.
    pub fn when_gone(&mut self, policy: WhenGone) {
        self.outages.policy = policy;
        if let WhenGone::Reconnect { back_off, .. } = policy {
            (self.outages.back_off, self.outages.restore_back_off) =
                (BackOff::new(back_off), BackOff::new(back_off));
        }
    }

    /// Whether the forwarder went away, and is not there again yet.
    pub fn is_gone(&self) -> bool {
        self.outages.next_attempt.is_some()
    }

    /// What outages there were.
    pub fn outages(&self) -> OutageCounters {
        self.outages.counters
    }

    /// Gives the forwarder a command that must succeed, now and whenever it has started again.
    ///
    /// # Errors
    /// The forwarder is away, does not answer, or refuses.
    pub fn keep_commanding(
        &mut self,
        command: Command,
        parameters: &ControlParameters,
    ) -> Result<(), ClientError> {
        self.execute(command, parameters)?;
        self.keep(command, parameters);
        Ok(())
    }

    /// Keeps in mind that this command is in force.
    pub(crate) fn keep(&mut self, command: Command, parameters: &ControlParameters) {
        self.outages.repeated.keep(command, parameters);
        if self.connection.is_datagram() {
            self.outages.refresh_at = self.outages.refresh_at.min(self.connection.now() + REFRESH);
        }
    }

    /// What this command did is no longer wanted.
    pub(crate) fn forget(&mut self, command: Command, parameters: &ControlParameters) {
        self.outages.repeated.forget(command, parameters);
    }

    /// The prefixes that are registered, now and after an outage.
    pub(crate) fn registered(&self) -> Vec<Name> {
        let repeated = self.outages.repeated.by_id.values();
        let registrations = repeated.filter(|repeated| repeated.command == Command::RibRegister);
        registrations.filter_map(|repeated| repeated.parameters.name.clone()).collect()
    }

    /// Fails while the forwarder is away.
    pub(super) fn must_be_here(&self) -> Result<(), ClientError> {
        if self.is_gone() { Err(ClientError::Away(self.connection.remote().clone())) } else { Ok(()) }
    }

    /// Takes note of what may be an outage; gives the error back if it is none, or the caller is to learn
    /// of it.
    pub(crate) fn handle_outage(&mut self, error: ClientError) -> Result<(), ClientError> {
        if self.note_outage(&error) { Ok(()) } else { Err(error) }
    }

    /// Says whether it is an outage that this client gets over by itself.
    pub(crate) fn note_outage(&mut self, error: &ClientError) -> bool {
        if !error.is_outage() || matches!(self.outages.policy, WhenGone::Fail) {
            return false;
        }
        if self.is_gone() {
            return true;
        }
        let now = self.connection.now();
        self.outages.counters.outages += 1;
        self.outages.next_attempt = Some(self.outages.back_off.handle_failure(now, &mut self.random));
        if self.outages.begun.is_none() {
            (self.outages.begun, self.outages.refusal_told) = (Some(now), false);
            self.outages.tell(&Outage::Begun { remote: self.connection.remote(), why: error });
        }
        self.outages.restoring.clear();
        self.outages.learning = None;
        // Who asked is gone with the forwarder.
        self.outages.counters.dropped += self.session.handle_forwarder_gone();
        true
    }

    /// Notes that so much was not sent because the forwarder is away, or does not take it.
    pub(super) fn note_dropped(&mut self, count: u64) {
        self.outages.counters.dropped += count;
    }

    /// When [`Client::go_on`] has something to do next.
    pub(crate) fn outage_deadline(&self) -> Instant {
        let outages = &self.outages;
        let attempt = outages.next_attempt.unwrap_or(Instant::NEVER);
        let restore = if outages.unrestored.is_empty() { Instant::NEVER } else { outages.restore_at };
        if self.is_gone() { attempt } else { restore.min(outages.refresh_at) }
    }

    /// Waits while the forwarder is away, and tries to connect again when it is time.
    pub(super) fn wait_while_gone(&mut self, until: Instant) -> Result<Waited, ClientError> {
        let now = self.connection.now();
        // Who does not wait connects by other means.
        if !self.connection.waits() || self.outages.next_attempt.is_none_or(|at| at > now) {
            let until = until.min(self.outage_deadline());
            let timeout = (until < Instant::NEVER).then(|| until.saturating_since(now));
            return wait_for_time(timeout)
                .map_err(|error| ClientError::Socket(self.connection.remote().clone(), error));
        }
        let opened =
            Connection::open_within(self.connection.dialect(), self.connection.remote(), ATTEMPT_TIMEOUT);
        self.handle_attempt(opened)?;
        Ok(Waited::Over)
    }

    /// An attempt to connect again has come to this.
    pub(crate) fn handle_attempt(
        &mut self,
        opened: Result<Connection, ClientError>,
    ) -> Result<(), ClientError> {
        self.outages.counters.attempts += 1;
        let now = self.connection.now();
        match opened {
            Ok(opened) => {
                self.connection.adopt(opened);
                self.forget_who_it_is();
                self.outages.next_attempt = None;
                self.outages.back_off.handle_success(now);
                self.outages.restore_all(now);
                if let Err(error) = self.repeat_pending() {
                    self.handle_outage(error)?;
                }
            }
            Err(_) => {
                let next = self.outages.back_off.handle_failure(now, &mut self.random);
                self.outages.next_attempt = Some(next);
            }
        }
        Ok(())
    }

    /// When the next attempt to connect again is due, while the forwarder is away.
    #[cfg(feature = "async")]
    pub(crate) fn next_attempt(&self) -> Option<Instant> {
        self.outages.next_attempt
    }

    /// When the forwarder went away, if it is away.
    #[cfg(feature = "async")]
    pub(crate) fn gone_since(&self) -> Option<Instant> {
        self.outages.begun.filter(|_| self.is_gone())
    }

    /// Has what was registered registered again, after the owner has connected again.
    pub(super) fn begin_anew(&mut self) {
        let now = self.connection.now();
        self.outages.next_attempt = None;
        self.outages.restoring.clear();
        self.outages.learning = None;
        self.forget_who_it_is();
        self.outages.restore_all(now);
    }

    /// Does what is due: repeats commands, and tells that an outage is over.
    pub(super) fn go_on(&mut self) -> Result<(), ClientError> {
        if self.is_gone() {
            return Ok(());
        }
        self.take_restored();
        self.take_learned();
        let now = self.connection.now();
        if self.outages.refresh_at <= now {
            self.outages.refresh_at = now + REFRESH;
            self.outages.restore_all(now);
        }
        let is_due = self.outages.restore_at <= now && !self.outages.unrestored.is_empty();
        if is_due && self.is_forwarder_unknown() {
            self.outages.restore_at = Instant::NEVER;
            self.outages.learning = Some(self.ask_who_it_is()?);
        } else if is_due {
            for id in std::mem::take(&mut self.outages.unrestored) {
                self.restore(id)?;
            }
        }
        if self.outages.unrestored.is_empty()
            && self.outages.restoring.is_empty()
            && let Some(begun) = self.outages.begun.take()
        {
            let lasted = now.saturating_since(begun);
            self.outages.tell(&Outage::Over { remote: self.connection.remote(), lasted });
        }
        Ok(())
    }

    /// Takes what a forwarder of CCNx says that it is.
    fn take_learned(&mut self) {
        let Some(request) = self.outages.learning else { return };
        let Some(answer) = self.session.take_answer(request) else { return };
        self.outages.learning = None;
        let now = self.connection.now();
        self.outages.restore_at = match answer {
            Answer::Data(data) => {
                self.handle_forwarder_key(&data);
                now
            }
            Answer::Nack(_) | Answer::Timeout => {
                self.outages.restore_back_off.handle_failure(now, &mut self.random)
            }
        };
    }

    /// Repeats a command.
    fn restore(&mut self, id: u64) -> Result<(), ClientError> {
        let Some(repeated) = self.outages.repeated.by_id.get(&id) else { return Ok(()) };
        let (command, parameters) = (repeated.command, repeated.parameters.clone());
        let request = self.try_send_command(command, &parameters)?;
        self.outages.restoring.insert(request, id);
        Ok(())
    }

    /// Takes what came of repeated commands.
    fn take_restored(&mut self) {
        let restoring = &self.outages.restoring;
        let is_one = |request: &RequestId| restoring.contains_key(request);
        let requests: Vec<RequestId> = self.session.answered().filter(is_one).collect();
        for request in requests {
            if let Some(answer) = self.session.take_answer(request) {
                self.note_restored(request, &answer);
            }
        }
    }

    fn note_restored(&mut self, request: RequestId, answer: &Answer) {
        let Some(id) = self.outages.restoring.remove(&request) else { return };
        let now = self.connection.now();
        let refusal = match answer {
            Answer::Data(data) => match self.decode_response(data) {
                Ok(response) if response.is_ok() => {
                    return self.outages.restore_back_off.handle_success(now);
                }
                Ok(response) => Some(ManagementError::from(response)),
                Err(error) => Some(ManagementError::from(error)),
            },
            // One that is just starting may have no route to its own management yet. One of CCNx does not
            // answer what is meant for another.
            Answer::Nack(_) | Answer::Timeout => {
                self.forget_who_it_is();
                None
            }
        };
        self.outages.retry_later(now, id, &mut self.random);
        let repeated = self.outages.repeated.by_id.get(&id);
        if let Some((repeated, why)) = repeated.zip(refusal).filter(|_| !self.outages.refusal_told) {
            let what = repeated.request(self.connection.dialect());
            self.outages.tell(&Outage::NotRestored { what: &what, why: &why });
            self.outages.refusal_told = true;
        }
    }

    /// Expresses again what waits for an answer, with nonces that no forwarder takes for those of before.
    fn repeat_pending(&mut self) -> Result<(), ClientError> {
        for interest in self.session.questions() {
            // One whose nonce cannot be set has none to be taken for another's.
            let _ = interest.set_nonce(packet::Nonce(self.random.next_u32()));
            self.connection.send_interest(interest)?;
            self.outages.counters.repeated += 1;
        }
        Ok(())
    }
}
