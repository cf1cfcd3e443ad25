//! Asking and answering over a connection.

mod outage;

use std::collections::VecDeque;

use management::{Command, ControlParameters, ControlResponse, DatasetFetch, Reach};
use packet::ndn::InterestBuilder;
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Data, Interest, LinkHeader, NackReason, Name};
use trust::{InterestSigner, Signer};

use crate::clock::Clock;
use crate::connection::{Connection, Incoming};
use crate::error::ClientError;
use crate::pending::{Kind, PendingTable, RequestId};
use crate::remote::Remote;
use crate::socket::Waited;
use outage::Outages;

pub use outage::{Outage, OutageCounters, WhenGone};

/// How long the forwarder may take to answer a command, and how often it is asked.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(4);
const COMMAND_ATTEMPTS: u32 = 3;

/// How long to wait before a command is given again that came back: a forwarder that is just starting may
/// have no route to its own management yet.
const COMMAND_REST: Duration = Duration::from_millis(200);

/// Why most commands from other hosts, or by datagrams, come back.
const NEIGHBOURS: &str = "; a forwarder takes commands from other hosts and over UDP only where it is told to: \
    a Cairn node with `localhop = true` below [management], NFD with localhop_security";

/// What is kept for later while the answer to a command is waited for, and the bytes of its packets.
const MAX_HAPPENED: usize = 16 << 10;
const MAX_HAPPENED_BYTES: usize = 8 << 20;

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// An Interest of ours was answered.
    Data {
        /// Which.
        id: RequestId,
        /// The answer.
        data: Data,
        /// What its last hop tells.
        header: LinkHeader,
        /// How long it took.
        round_trip: Duration,
    },
    /// An Interest of ours came back.
    Nack {
        /// Which.
        id: RequestId,
        /// Why.
        reason: NackReason,
        /// What its last hop tells.
        header: LinkHeader,
        /// How long it took.
        round_trip: Duration,
    },
    /// An Interest of ours was given up.
    Timeout {
        /// Which.
        id: RequestId,
    },
    /// Somebody asks for what we registered.
    Interest {
        /// The Interest.
        interest: Interest,
        /// To be given back with the answer.
        header: LinkHeader,
    },
}

impl Event {
    /// Bytes of the packet that it keeps.
    fn bytes(&self) -> usize {
        match self {
            Event::Data { data, .. } => data.wire().len(),
            Event::Interest { interest, .. } => interest.wire().len(),
            Event::Nack { .. } | Event::Timeout { .. } => 0,
        }
    }
}

/// What came of a request that was waited for.
enum Answer {
    Data(Data),
    Nack(NackReason),
    Timeout,
}

/// Expresses Interests, registers prefixes, and tells what happens.
#[derive(Debug)]
pub struct Client {
    connection: Connection,
    pending: PendingTable,
    happened: VecDeque<Event>,
    commands: InterestSigner,
    /// Certificates that a forwarder may ask for before it obeys.
    credentials: Vec<Data>,
    random: Random,
    unsolicited: u64,
    overlooked: u64,
    outages: Outages,
}

impl Client {
    /// Connects to a forwarder. Commands to it carry digest signatures until [`Client::sign_commands_with`]
    /// says otherwise, and should the forwarder go away, the client connects again, as
    /// [`Client::when_gone`] describes.
    ///
    /// # Errors
    /// Nobody is there.
    pub fn connect(remote: &Remote) -> Result<Self, ClientError> {
        Ok(Client::over(Connection::open(remote)?))
    }

    /// Uses a connection that is already there.
    pub fn over(connection: Connection) -> Self {
        let mut random = Random::from_seed(Clock::seed());
        let commands = InterestSigner::new(Signer::digest(), Random::from_seed(random.next_u64()));
        Client {
            connection,
            pending: PendingTable::default(),
            happened: VecDeque::new(),
            commands,
            credentials: Vec::new(),
            random,
            unsolicited: 0,
            overlooked: 0,
            outages: Outages::new(WhenGone::default()),
        }
    }

    /// Connects anew to where it is connected, as when the forwarder has started again. What was expressed
    /// is forgotten; what was registered is registered again while [`Client::next`] waits; the time goes
    /// on. Only for those who told the client to fail when the forwarder goes away: otherwise it does that
    /// by itself.
    ///
    /// # Errors
    /// Nobody is there; nothing has changed then.
    pub fn reconnect(&mut self) -> Result<(), ClientError> {
        self.connection.reopen()?;
        self.pending.clear();
        self.happened.clear();
        self.begin_anew();
        Ok(())
    }

    /// The connection underneath.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The connection underneath, for [`fetch`](crate::fetch()) and the like. What arrives while somebody
    /// else reads from it is lost to this client.
    pub fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// The time now.
    pub fn now(&self) -> Instant {
        self.connection.now()
    }

    /// How many Interests wait for an answer.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// How many Data came that nobody had asked for, or too late.
    pub fn unsolicited(&self) -> u64 {
        self.unsolicited
    }

    /// How much else happened, while the answer to a command or to a question about the forwarder was waited
    /// for, than can be kept for later.
    pub fn overlooked(&self) -> u64 {
        self.overlooked
    }

    /// Signs commands to the forwarder with a key that it trusts.
    pub fn sign_commands_with(&mut self, signer: Signer) {
        let seed = self.random.next_u64();
        self.commands = InterestSigner::new(signer, Random::from_seed(seed));
    }

    /// Answers Interests for these certificates, whenever the client waits for something: a forwarder that
    /// does not know the key that commands are signed with asks for its certificate where the command
    /// came from.
    pub fn show_credentials(&mut self, certificates: Vec<Data>) {
        self.credentials = certificates;
    }

    /// Expresses an Interest with a random nonce, which lives as long as we wait for its answer.
    ///
    /// # Errors
    /// It cannot be written; the forwarder went away, if the client is to fail then.
    pub fn express(
        &mut self,
        interest: &InterestBuilder,
        timeout: Duration,
    ) -> Result<RequestId, ClientError> {
        let interest = interest.clone().nonce(self.random.next_u32()).lifetime(timeout).build()?;
        self.express_as_is(interest, timeout)
    }

    /// Expresses an Interest as it is, and waits `timeout` for its answer.
    ///
    /// # Errors
    /// The forwarder went away, if the client is to fail then.
    pub fn express_as_is(&mut self, interest: Interest, timeout: Duration) -> Result<RequestId, ClientError> {
        let sent = if self.is_gone() { Ok(()) } else { self.connection.send_interest(&interest) };
        let now = self.connection.now();
        let id = self.pending.insert(interest, now, now + timeout, Kind::Question);
        if let Err(error) = sent
            && let Err(error) = self.handle_outage(error)
        {
            self.pending.take(id);
            return Err(error);
        }
        Ok(id)
    }

    /// Sends an Interest that nobody waits for an answer to.
    ///
    /// # Errors
    /// The forwarder went away, if the client is to fail then; otherwise the Interest is dropped.
    pub fn send_only(&mut self, interest: &Interest) -> Result<(), ClientError> {
        self.send(|connection| connection.send_interest(interest))
    }

    /// Answers an Interest that came with `asked`.
    ///
    /// # Errors
    /// The forwarder went away, if the client is to fail then; otherwise the answer is dropped.
    pub fn reply(&mut self, data: &Data, asked: &LinkHeader) -> Result<(), ClientError> {
        self.send(|connection| connection.send_data(data, asked))
    }

    /// Sends an Interest that came with `asked` back.
    ///
    /// # Errors
    /// As [`Client::reply`].
    pub fn refuse(
        &mut self,
        interest: &Interest,
        reason: NackReason,
        asked: &LinkHeader,
    ) -> Result<(), ClientError> {
        self.send(|connection| connection.send_nack(interest, reason, asked))
    }

    /// Writes all that was sent.
    ///
    /// # Errors
    /// The forwarder went away, if the client is to fail then.
    pub fn flush(&mut self) -> Result<(), ClientError> {
        match self.is_gone() {
            true => Ok(()),
            false => self.connection.flush().or_else(|error| self.handle_outage(error)),
        }
    }

    /// The next thing that happens, at the latest at `until`, which is for ever if it is `None`. `None` when
    /// that time has come, or a signal. While the forwarder is away, an attempt to connect to it may take
    /// two seconds longer than `until`.
    ///
    /// # Errors
    /// The forwarder does not speak NDN, or went away and the client is to fail then.
    pub fn next(&mut self, until: Option<Instant>) -> Result<Option<Event>, ClientError> {
        let until = until.unwrap_or(Instant::NEVER);
        loop {
            match self.wait_for_new(until) {
                Err(error) => self.handle_outage(error)?,
                event => return event,
            }
        }
    }

    /// Asks the forwarder for Interests under `prefix`, now and whenever it has started again.
    ///
    /// # Errors
    /// The forwarder does not answer, or refuses.
    pub fn register(&mut self, prefix: &Name) -> Result<(), ClientError> {
        let wanted = ControlParameters { name: Some(prefix.clone()), ..ControlParameters::default() };
        let what = format!("send Interests for {prefix} here");
        self.demand(Command::RibRegister, &wanted, &what)?;
        self.keep(Command::RibRegister, &wanted, what);
        Ok(())
    }

    /// Asks the forwarder for no more Interests under `prefix`.
    ///
    /// # Errors
    /// The forwarder does not answer, or refuses.
    pub fn unregister(&mut self, prefix: &Name) -> Result<(), ClientError> {
        let wanted = ControlParameters { name: Some(prefix.clone()), ..ControlParameters::default() };
        self.forget(Command::RibRegister, &wanted);
        self.demand(Command::RibUnregister, &wanted, &format!("send no more Interests for {prefix} here"))
    }

    /// Gives the forwarder a command and waits for how it went, for a refusal too.
    ///
    /// # Errors
    /// The forwarder does not answer, or its answer makes no sense.
    pub fn command(
        &mut self,
        command: Command,
        parameters: &ControlParameters,
    ) -> Result<ControlResponse, ClientError> {
        let (module, verb) = command.words();
        let what = format!("{module} {verb}");
        let is_local = self.connection.remote().is_local();
        let mut failure = "no answer in time".to_owned();
        for _ in 0..COMMAND_ATTEMPTS {
            let id = self.give(command, parameters).inspect_err(|error| {
                self.note_outage(error);
            })?;
            match self.answer(id, &what)? {
                Answer::Data(data) => {
                    let malformed =
                        |error| ClientError::Refused(what, format!("its answer is malformed: {error}"));
                    return ControlResponse::decode(data.content()).map_err(malformed);
                }
                Answer::Nack(reason) => {
                    let why = if is_local { "" } else { NEIGHBOURS };
                    failure = format!("the command came back ({reason}){why}");
                    self.rest(COMMAND_REST)?;
                }
                Answer::Timeout => {}
            }
        }
        Err(ClientError::NoAnswer(what, failure))
    }

    /// Sends a command.
    fn give(&mut self, command: Command, parameters: &ControlParameters) -> Result<RequestId, ClientError> {
        let unsendable = |error: packet::DecodeError| ClientError::Unsendable(error.to_string());
        let is_local = self.connection.remote().is_local();
        let reach = if is_local { Reach::Localhost } else { Reach::Localhop };
        let interest = command.interest(reach, parameters).map_err(unsendable)?.lifetime(COMMAND_TIMEOUT);
        let interest = interest.nonce(self.random.next_u32());
        let signed = self.commands.sign(self.connection.clock().unix().as_millis(), &interest)?;
        self.ask_forwarder(signed)
    }

    /// Asks the forwarder itself for something. If it goes away, the question is forgotten.
    fn ask_forwarder(&mut self, interest: Interest) -> Result<RequestId, ClientError> {
        self.must_be_here()?;
        self.connection.send_interest(&interest)?;
        let now = self.connection.now();
        Ok(self.pending.insert(interest, now, now + COMMAND_TIMEOUT, Kind::Command))
    }

    /// Fetches what the forwarder knows, such as the list of its faces.
    ///
    /// # Errors
    /// The forwarder does not answer, or refuses.
    pub fn dataset(&mut self, name: Name) -> Result<Vec<u8>, ClientError> {
        let what = format!("tell {name}");
        let mut fetch = DatasetFetch::new(name);
        let mut attempts = COMMAND_ATTEMPTS;
        loop {
            let interest = fetch.interest().map_err(|error| ClientError::Unsendable(error.to_string()))?;
            let interest = interest.nonce(self.random.next_u32()).lifetime(COMMAND_TIMEOUT).build()?;
            let id = self.ask_forwarder(interest).inspect_err(|error| {
                self.note_outage(error);
            })?;
            match self.answer(id, &what)? {
                Answer::Data(data) => match fetch.receive(&data) {
                    Ok(Some(content)) => return Ok(content),
                    Ok(None) => attempts = COMMAND_ATTEMPTS,
                    Err(error) => return Err(ClientError::Refused(what, error.to_string())),
                },
                Answer::Nack(_) if attempts > 1 => {
                    attempts -= 1;
                    self.rest(COMMAND_REST)?;
                }
                Answer::Timeout if attempts > 1 => attempts -= 1,
                Answer::Nack(reason) => {
                    return Err(ClientError::NoAnswer(what, format!("the question came back ({reason})")));
                }
                Answer::Timeout => return Err(ClientError::NoAnswer(what, "no answer in time".into())),
            }
        }
    }

    fn demand(
        &mut self,
        command: Command,
        parameters: &ControlParameters,
        what: &str,
    ) -> Result<(), ClientError> {
        let response = self.command(command, parameters)?;
        if response.is_ok() {
            return Ok(());
        }
        Err(ClientError::Refused(what.to_owned(), format!("{} {}", response.code.number(), response.text)))
    }

    /// Waits for the answer to one request and keeps what else happens for later.
    fn answer(&mut self, wanted: RequestId, what: &str) -> Result<Answer, ClientError> {
        let mut answer = None;
        self.keep_what_happens(Instant::NEVER, |event| {
            answer = match event {
                Event::Data { id, data, .. } if *id == wanted => Some(Answer::Data(data.clone())),
                Event::Timeout { id } if *id == wanted => Some(Answer::Timeout),
                Event::Nack { id, reason, .. } if *id == wanted => Some(Answer::Nack(*reason)),
                _ => None,
            };
            answer.is_some()
        })?;
        answer.ok_or_else(|| ClientError::NoAnswer(what.to_owned(), "interrupted".into()))
    }

    /// Waits, keeping what happens meanwhile for later.
    fn rest(&mut self, time: Duration) -> Result<(), ClientError> {
        let until = self.connection.now() + time;
        self.keep_what_happens(until, |_| false)
    }

    /// Waits until `until`, for a signal, or for what `is_it` says is waited for, which is not kept. What
    /// else happens is, behind what had happened before, up to a limit.
    fn keep_what_happens(
        &mut self,
        until: Instant,
        mut is_it: impl FnMut(&Event) -> bool,
    ) -> Result<(), ClientError> {
        let mut kept = std::mem::take(&mut self.happened);
        let mut kept_bytes: usize = kept.iter().map(Event::bytes).sum();
        let outcome = loop {
            match self.wait_for_new(until) {
                Ok(Some(event)) if is_it(&event) => break Ok(()),
                Ok(Some(other)) => {
                    let bytes = kept_bytes.saturating_add(other.bytes());
                    if kept.len() < MAX_HAPPENED && bytes <= MAX_HAPPENED_BYTES {
                        kept_bytes = bytes;
                        kept.push_back(other);
                    } else {
                        self.overlooked += 1;
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => {
                    self.note_outage(&error);
                    break Err(error);
                }
            }
        };
        // One packet may answer several questions, of which the one waited for need not be the last.
        kept.append(&mut self.happened);
        self.happened = kept;
        outcome
    }

    /// Sends what nobody is told of if the forwarder is away.
    fn send(
        &mut self,
        send: impl FnOnce(&mut Connection) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        if self.is_gone() {
            self.note_dropped();
            return Ok(());
        }
        send(&mut self.connection).or_else(|error| self.handle_outage(error))
    }

    /// Waits for the next thing to happen.
    fn wait_for_new(&mut self, until: Instant) -> Result<Option<Event>, ClientError> {
        loop {
            if let Some(event) = self.happened.pop_front() {
                return Ok(Some(event));
            }
            let now = self.connection.now();
            if let Some(expired) = self.pending.take_expired(now) {
                if self.take_restored(expired.id, &Answer::Timeout) {
                    continue;
                }
                return Ok(Some(Event::Timeout { id: expired.id }));
            }
            self.go_on()?;
            let deadline = until.min(self.pending.next_deadline());
            if self.is_gone() {
                match self.wait_while_gone(deadline)? {
                    Waited::Interrupted => return Ok(None),
                    Waited::Over if until <= self.connection.now() => return Ok(None),
                    Waited::Over => continue,
                }
            }
            match self.connection.receive(deadline.min(self.outage_deadline()))? {
                Some(packet) => self.take(packet)?,
                // The time of a pending Interest is up, or something is due after an outage.
                None if self.pending.next_deadline().min(self.outage_deadline()) <= self.connection.now() => {
                }
                // Either the caller's time is up, or a signal came.
                None => return Ok(None),
            }
        }
    }

    fn take(&mut self, packet: Incoming) -> Result<(), ClientError> {
        let now = self.connection.now();
        match packet {
            Incoming::Interest { interest, header } => {
                match self.credentials.iter().find(|certificate| interest.matches(certificate)) {
                    Some(certificate) => self.connection.send_data(certificate, &header)?,
                    None => self.happened.push_back(Event::Interest { interest, header }),
                }
            }
            Incoming::Data { data, header } => {
                let answered = self.pending.take_answered(&data);
                self.unsolicited += u64::from(answered.is_empty());
                for pending in answered {
                    if self.take_restored(pending.id, &Answer::Data(data.clone())) {
                        continue;
                    }
                    self.happened.push_back(Event::Data {
                        id: pending.id,
                        data: data.clone(),
                        header: header.clone(),
                        round_trip: now.saturating_since(pending.sent),
                    });
                }
            }
            Incoming::Nack { interest, reason, header } => {
                for pending in self.pending.take_named(interest.name()) {
                    if self.take_restored(pending.id, &Answer::Nack(reason)) {
                        continue;
                    }
                    self.happened.push_back(Event::Nack {
                        id: pending.id,
                        reason,
                        header: header.clone(),
                        round_trip: now.saturating_since(pending.sent),
                    });
                }
            }
        }
        Ok(())
    }
}
