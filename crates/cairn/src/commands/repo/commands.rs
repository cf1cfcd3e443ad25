//! Commands to a running repository over the network: insert, delete, and how far they are.
//!
//! A thread with a connection of its own takes them. Each command that inserts is a thread as well, with a
//! connection to fetch by, so that a slow publisher holds up nobody else.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration as StdDuration, Instant as StdInstant};

use client::{AskError, Client};
use flow::source::{AppFace as _, Reply, answer_with};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::Duration;
use packet::{Data, Dialect, Interest, LinkHeader, Name};
use repo::Selection;
use repo::protocol::{
    Code, Command, CommandStatus, Extent, MAX_OBJECTS, Notify, ObjectCommand, ObjectStatus, Query,
    check_prefix, message_name, notify_prefix,
};
use repo::service::ServiceHandle;
use trust::validator::{CertificateFetchError, Subject};
use trust::{Signer, Validator, sha256};

use super::fetch::fetch_segments;
use crate::tool::ToolError;
use crate::tool::connect::ConnectArguments;

/// Commands that are carried out at once; others are not answered.
const MAX_JOBS: usize = 8;
/// Commands whose state is known, and nonces that have been seen.
const MAX_KNOWN: usize = 4096;
/// How long these are remembered.
const MEMORY: StdDuration = StdDuration::from_secs(60);
/// Prefixes that commands may have registered.
const MAX_PREFIXES: usize = 64;
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(4);
const MESSAGE_ATTEMPTS: usize = 3;
const CERTIFICATE_TIMEOUT: Duration = Duration::from_secs(2);
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// How long a prefix may take to be registered.
const REGISTER_TIMEOUT: StdDuration = StdDuration::from_secs(10);

/// Whose commands are carried out.
pub(super) enum Trust {
    /// Anybody's.
    Anyone,
    /// Those that lead up to an anchor.
    Validator(Box<Validator>),
}

/// A prefix that is to be registered for the repository's objects, or no longer.
pub(super) struct PrefixChange {
    pub(super) prefix: Name,
    pub(super) is_wanted: bool,
    /// Told when it is done.
    pub(super) done: SyncSender<Result<(), String>>,
}

/// Takes commands.
pub(super) struct CommandHandler {
    client: Client,
    connect: ConnectArguments,
    repository: Name,
    service: ServiceHandle,
    signer: Signer,
    trust: Trust,
    jobs: Arc<Jobs>,
    nonces: BTreeMap<Vec<u8>, StdInstant>,
    prefixes: Vec<Name>,
    changes: Sender<PrefixChange>,
}

/// How far commands are, by their digests.
#[derive(Debug, Default)]
struct Jobs(Mutex<BTreeMap<[u8; 32], Job>>);

#[derive(Debug)]
struct Job {
    status: CommandStatus,
    ended: Option<StdInstant>,
}

impl Jobs {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<[u8; 32], Job>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of a new command; false if it is under way already, or too many are.
    fn begin(&self, request: [u8; 32], status: CommandStatus) -> bool {
        let mut jobs = self.lock();
        jobs.retain(|_, job| job.ended.is_none_or(|ended| ended.elapsed() < MEMORY));
        let running = jobs.values().filter(|job| job.ended.is_none()).count();
        let is_running = jobs.get(&request).is_some_and(|job| job.ended.is_none());
        if is_running || running >= MAX_JOBS || jobs.len() >= MAX_KNOWN {
            return false;
        }
        jobs.insert(request, Job { status, ended: None });
        true
    }

    fn set(&self, request: [u8; 32], place: usize, status: ObjectStatus) {
        if let Some(job) = self.lock().get_mut(&request)
            && let Some(object) = job.status.objects.get_mut(place)
        {
            *object = status;
        }
    }

    fn end(&self, request: [u8; 32]) {
        if let Some(job) = self.lock().get_mut(&request) {
            let is_done = job.status.objects.iter().all(|object| object.code == Code::COMPLETED);
            job.status.code = if is_done { Code::COMPLETED } else { Code::FAILED };
            job.ended = Some(StdInstant::now());
        }
    }

    fn status(&self, wire: &[u8]) -> CommandStatus {
        let known = Query::decode(wire).ok().and_then(|query| {
            let jobs = self.lock();
            Some(jobs.get(&query.request)?.status.clone())
        });
        known.unwrap_or_else(CommandStatus::not_found)
    }
}

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Insert,
    Delete,
}

impl Verb {
    const ALL: [Verb; 2] = [Verb::Insert, Verb::Delete];

    fn word(self) -> &'static str {
        match self {
            Verb::Insert => "insert",
            Verb::Delete => "delete",
        }
    }
}

impl CommandHandler {
    /// Registers the repository's name. Gives what commands want registered: whoever serves the objects does
    /// it.
    pub(super) fn start(
        mut client: Client,
        connect: ConnectArguments,
        repository: Name,
        service: ServiceHandle,
        signer: Signer,
        trust: Trust,
    ) -> Result<(Self, Receiver<PrefixChange>), ToolError> {
        let (changes, wanted) = channel();
        let jobs = Arc::new(Jobs::default());
        for verb in Verb::ALL {
            let (jobs, signer) = (Arc::clone(&jobs), signer.clone());
            client.attach(
                &check_prefix(&repository, verb.word())?,
                answer_with(move |interest| {
                    let Some(wire) = parameters(interest) else { return Ok(Reply::NoReply) };
                    let answer = DataBuilder::new(interest.name().to_name())
                        .freshness(Duration::from_secs(1))
                        .content(jobs.status(wire).encode());
                    Ok(Reply::Data(signer.sign_data(&answer)?))
                }),
            );
        }
        client.register(&repository)?;
        let handler = CommandHandler {
            client,
            connect,
            repository,
            service,
            signer,
            trust,
            jobs,
            nonces: BTreeMap::new(),
            prefixes: Vec::new(),
            changes,
        };
        Ok((handler, wanted))
    }

    /// Takes commands for as long as `goes_on` says.
    pub(super) fn run(mut self, goes_on: impl Fn() -> bool) -> Result<(), ToolError> {
        let prefixes = [
            (Verb::Insert, notify_prefix(&self.repository, "insert")?),
            (Verb::Delete, notify_prefix(&self.repository, "delete")?),
        ];
        while goes_on() {
            let until = self.client.now() + CHECK_INTERVAL;
            let Some((interest, header)) = self.client.next_interest(until)? else { continue };
            let verb = prefixes.iter().find(|(_, prefix)| prefix.as_ref().is_prefix_of(interest.name()));
            let Some(&(verb, _)) = verb else { continue };
            if let Err(error) = self.handle_notify(verb, &interest, &header) {
                tell!("cairn: a command to {} was not carried out: {error}", verb.word());
            }
        }
        Ok(())
    }

    fn handle_notify(
        &mut self,
        verb: Verb,
        interest: &Interest,
        header: &LinkHeader,
    ) -> Result<(), ToolError> {
        let Some(wire) = parameters(interest) else { return Ok(()) };
        let notify = Notify::decode(wire)?;
        self.nonces.retain(|_, seen| seen.elapsed() < MEMORY);
        if self.nonces.len() >= MAX_KNOWN
            || self.nonces.insert(notify.nonce.clone(), StdInstant::now()).is_some()
        {
            return Ok(());
        }
        let message = self.fetch_message(verb, &notify)?;
        self.check(&message)?;
        let command = Command::decode(message.content())?;
        let request = sha256(message.content());
        self.begin(verb, request, command)?;
        let done = DataBuilder::new(interest.name().to_name());
        self.client.reply(&self.signer.sign_data(&done)?, header)?;
        Ok(self.client.flush()?)
    }

    fn fetch_message(&mut self, verb: Verb, notify: &Notify) -> Result<Data, ToolError> {
        let name = message_name(&notify.publisher, &self.repository, verb.word(), &notify.nonce)?;
        let hint = notify.hint.iter().cloned().collect();
        let interest = InterestBuilder::new(name).forwarding_hint(hint);
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.client.ask(&interest, MESSAGE_TIMEOUT) {
                Ok(data) => return Ok(data),
                Err(AskError::Timeout(_) | AskError::Nack { .. }) if attempts < MESSAGE_ATTEMPTS => {}
                Err(error) => return Err(ToolError::other(error)),
            }
        }
    }

    /// Whether this command may be given, by who signed it.
    fn check(&mut self, message: &Data) -> Result<(), ToolError> {
        let Trust::Validator(validator) = &mut self.trust else { return Ok(()) };
        let now = self.client.connection().clock().unix();
        let id = validator.validate(now, Subject::Data(message.clone()));
        loop {
            while let Some(outcome) = validator.poll_outcome() {
                if outcome.id == id {
                    return outcome.verdict.map(|_| ()).map_err(ToolError::other);
                }
            }
            let Some(interest) = validator.poll_interest() else {
                return Err(ToolError::other("its signature cannot be checked"));
            };
            let name = interest.name().to_name();
            let builder = InterestBuilder::new(name.clone())
                .can_be_prefix(interest.can_be_prefix())
                .must_be_fresh(interest.must_be_fresh());
            match self.client.ask(&builder, CERTIFICATE_TIMEOUT) {
                Ok(data) => drop(validator.handle_data(now, &data)),
                Err(AskError::Nack { reason, .. }) => {
                    validator.handle_failure(name.as_ref(), CertificateFetchError::Nack(reason));
                }
                Err(_) => validator.handle_failure(name.as_ref(), CertificateFetchError::Timeout),
            }
        }
    }

    fn begin(&mut self, verb: Verb, request: [u8; 32], command: Command) -> Result<(), ToolError> {
        let objects = command.objects.iter().take(MAX_OBJECTS).map(|object| ObjectStatus {
            name: object.name.clone(),
            code: Code::ACCEPTED,
            inserted: (verb == Verb::Insert).then_some(0),
            deleted: (verb == Verb::Delete).then_some(0),
        });
        let status = CommandStatus { code: Code::IN_PROGRESS, objects: objects.collect() };
        if !self.jobs.begin(request, status) {
            return Err(ToolError::other("it is under way already, or too many are"));
        }
        self.change_prefixes(verb, &command);
        let (jobs, service, repository) =
            (Arc::clone(&self.jobs), self.service.clone(), self.repository.clone());
        if verb == Verb::Delete {
            for (place, object) in command.objects.iter().enumerate() {
                jobs.set(request, place, delete(&service, &repository, object));
            }
            jobs.end(request);
            return Ok(());
        }
        let connect = self.connect.clone();
        let insert = move || {
            let mut client = connect.client();
            for (place, object) in command.objects.iter().enumerate() {
                let began = ObjectStatus { code: Code::IN_PROGRESS, ..begun(object) };
                jobs.set(request, place, began);
                let status = match &mut client {
                    Ok(client) => insert(client, &service, &repository, object),
                    Err(_) => ObjectStatus { code: Code::FAILED, ..begun(object) },
                };
                jobs.set(request, place, status);
            }
            jobs.end(request);
        };
        let started = std::thread::Builder::new().name("repository-insert".to_owned()).spawn(insert);
        if let Err(error) = started {
            self.jobs.end(request);
            return Err(error.into());
        }
        Ok(())
    }

    /// Registers what the command wants registered. A prefix that cannot be had is no reason not to insert.
    fn change_prefixes(&mut self, verb: Verb, command: &Command) {
        let wanted: Vec<Name> = command.objects.iter().filter_map(|object| object.register.clone()).collect();
        for prefix in wanted {
            let changed = match verb {
                Verb::Insert if self.prefixes.contains(&prefix) => Ok(()),
                Verb::Insert if self.prefixes.len() >= MAX_PREFIXES => {
                    tell!("cairn: {prefix} is not registered: {MAX_PREFIXES} prefixes are already");
                    Ok(())
                }
                Verb::Insert => self.change(prefix.clone(), true).map(|()| self.prefixes.push(prefix)),
                Verb::Delete if self.prefixes.contains(&prefix) => {
                    self.prefixes.retain(|other| *other != prefix);
                    self.change(prefix, false)
                }
                Verb::Delete => Ok(()),
            };
            if let Err(error) = changed {
                tell!("cairn: {error}");
            }
        }
    }

    fn change(&self, prefix: Name, is_wanted: bool) -> Result<(), String> {
        let (done, told) = sync_channel(1);
        let late = |_| "nobody registers prefixes any more, or it takes too long".to_owned();
        self.changes.send(PrefixChange { prefix, is_wanted, done }).map_err(|_| late(()))?;
        told.recv_timeout(REGISTER_TIMEOUT).map_err(|_| late(()))?
    }
}

fn parameters(interest: &Interest) -> Option<&[u8]> {
    interest.ndn()?.application_parameters()
}

fn begun(object: &ObjectCommand) -> ObjectStatus {
    ObjectStatus { name: object.name.clone(), code: Code::ACCEPTED, inserted: Some(0), deleted: None }
}

/// Fetches an object and inserts it. What it says is stored would survive a power cut.
fn insert(
    client: &mut Client,
    service: &ServiceHandle,
    repository: &Name,
    object: &ObjectCommand,
) -> ObjectStatus {
    let Some(extent) = object.extent(repository.as_ref()) else {
        return ObjectStatus { code: Code::MALFORMED, ..begun(object) };
    };
    let (tell, told) = channel();
    let store = |data: Data| {
        let tell = tell.clone();
        let done = move |result| {
            let _ = tell.send(result);
        };
        service.insert_and_notify(data, done).is_ok()
    };
    let fetched = match extent {
        Extent::Packet => {
            let interest = InterestBuilder::new(object.name.clone()).forwarding_hint(object.hint.clone());
            client.ask(&interest, Duration::from_secs(1)).is_ok_and(store)
        }
        Extent::From(start) => {
            fetch_segments(client, object, start, None, store);
            // How many there are only the publisher knows.
            true
        }
        Extent::Segments(start, end) => fetch_segments(client, object, start, Some(end), store),
    };
    drop(tell);
    let results: Vec<bool> = told.iter().map(|result| result.is_ok()).collect();
    let inserted = results.iter().filter(|&&stored| stored).count() as u64;
    let is_done = fetched && results.iter().all(|&stored| stored);
    let code = if is_done { Code::COMPLETED } else { Code::FAILED };
    ObjectStatus { code, inserted: Some(inserted), ..begun(object) }
}

/// Deletes an object, or some of its segments.
fn delete(service: &ServiceHandle, repository: &Name, object: &ObjectCommand) -> ObjectStatus {
    let status = |code, deleted| ObjectStatus {
        name: object.name.clone(),
        code,
        inserted: None,
        deleted: Some(deleted),
    };
    let segment = |number: u64| u32::try_from(number).unwrap_or(u32::MAX - 1);
    let selection = match object.extent(repository.as_ref()) {
        None => return status(Code::MALFORMED, 0),
        Some(Extent::Packet) => match packet_selection(&object.name) {
            Some(selection) => selection,
            None => Selection::Object(Dialect::Ndn, object.name.clone()),
        },
        Some(Extent::From(start)) => {
            Selection::Segments(Dialect::Ndn, object.name.clone(), segment(start), u32::MAX - 1)
        }
        Some(Extent::Segments(start, end)) => {
            Selection::Segments(Dialect::Ndn, object.name.clone(), segment(start), segment(end))
        }
    };
    match service.call(move |store, now| store.delete(now, &selection)) {
        Some(Ok(deleted)) => status(Code::COMPLETED, deleted.segments),
        _ => status(Code::FAILED, 0),
    }
}

/// The packet of just this name, if it is a segment of an object.
fn packet_selection(name: &Name) -> Option<Selection> {
    let (object, segment) = repo::ObjectName::of_packet(Dialect::Ndn, name.as_ref());
    (object.form != repo::SegmentForm::Single)
        .then(|| Selection::Segments(Dialect::Ndn, object.name.to_name(), segment, segment))
}
