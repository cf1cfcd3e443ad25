//! Asking and answering over a connection.

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
use crate::pending::{PendingTable, RequestId};
use crate::remote::Remote;

/// How long the forwarder may take to answer a command, and how often it is asked.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(4);
const COMMAND_ATTEMPTS: u32 = 3;

/// How long to wait before a command is given again that came back: a forwarder that is just starting may have no route to
/// its own management yet.
const COMMAND_REST: Duration = Duration::from_millis(200);

/// Why most commands from other hosts, or by datagrams, come back.
const NEIGHBOURS: &str = "; a forwarder takes commands from other hosts and over UDP only where it is told to: \
    a Cairn node with `localhop = true` below [management], NFD with localhop_security";

/// What is kept for later while the answer to a command is waited for.
const MAX_HAPPENED: usize = 16 << 10;

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Happening {
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
    happened: VecDeque<Happening>,
    commands: InterestSigner,
    /// Certificates that a forwarder may ask for before it obeys.
    credentials: Vec<Data>,
    random: Random,
    unsolicited: u64,
    overlooked: u64,
}

impl Client {
    /// Connects to a forwarder. Commands to it carry digest signatures until [`Client::sign_commands_with`] says otherwise.
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
        }
    }

    /// Connects anew to where it is connected, as when the forwarder has started again. What was expressed is forgotten, and what
    /// was registered is to be registered again; the time goes on.
    ///
    /// # Errors
    /// Nobody is there; nothing has changed then.
    pub fn reconnect(&mut self) -> Result<(), ClientError> {
        self.connection.reopen()?;
        self.pending.clear();
        self.happened.clear();
        Ok(())
    }

    /// The connection underneath.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The connection underneath, for [`fetch`](crate::fetch()) and the like. What arrives while somebody else reads from
    /// it is lost to this client.
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

    /// How much else happened, while the answer to a command or to a question about the forwarder was waited for, than can be
    /// kept for later.
    pub fn overlooked(&self) -> u64 {
        self.overlooked
    }

    /// Signs commands to the forwarder with a key that it trusts.
    pub fn sign_commands_with(&mut self, signer: Signer) {
        let seed = self.random.next_u64();
        self.commands = InterestSigner::new(signer, Random::from_seed(seed));
    }

    /// Answers Interests for these certificates, whenever the client waits for something: a forwarder that does not know the key
    /// that commands are signed with asks for its certificate where the command came from.
    pub fn show_credentials(&mut self, certificates: Vec<Data>) {
        self.credentials = certificates;
    }

    /// Expresses an Interest with a random nonce, which lives as long as we wait for its answer.
    ///
    /// # Errors
    /// It cannot be written; the forwarder went away.
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
    /// The forwarder went away.
    pub fn express_as_is(&mut self, interest: Interest, timeout: Duration) -> Result<RequestId, ClientError> {
        self.connection.send_interest(&interest)?;
        let now = self.connection.now();
        Ok(self.pending.insert(interest, now, now + timeout))
    }

    /// Answers an Interest that came with `asked`.
    ///
    /// # Errors
    /// The forwarder went away.
    pub fn reply(&mut self, data: &Data, asked: &LinkHeader) -> Result<(), ClientError> {
        self.connection.send_data(data, asked)
    }

    /// Sends an Interest that came with `asked` back.
    ///
    /// # Errors
    /// The forwarder went away.
    pub fn refuse(
        &mut self,
        interest: &Interest,
        reason: NackReason,
        asked: &LinkHeader,
    ) -> Result<(), ClientError> {
        self.connection.send_nack(interest, reason, asked)
    }

    /// The next thing that happens, at the latest at `until`, which is for ever if it is `None`. `None` when that time has
    /// come, or a signal.
    ///
    /// # Errors
    /// The forwarder went away, or does not speak NDN.
    pub fn next(&mut self, until: Option<Instant>) -> Result<Option<Happening>, ClientError> {
        match self.happened.pop_front() {
            Some(happening) => Ok(Some(happening)),
            None => self.wait_for_new(until.unwrap_or(Instant::NEVER)),
        }
    }

    /// Asks the forwarder for Interests under `prefix`.
    ///
    /// # Errors
    /// The forwarder does not answer, or refuses.
    pub fn register(&mut self, prefix: &Name) -> Result<(), ClientError> {
        let wanted = ControlParameters { name: Some(prefix.clone()), ..ControlParameters::default() };
        self.demand(Command::RibRegister, &wanted, &format!("send Interests for {prefix} here"))
    }

    /// Asks the forwarder for no more Interests under `prefix`.
    ///
    /// # Errors
    /// The forwarder does not answer, or refuses.
    pub fn unregister(&mut self, prefix: &Name) -> Result<(), ClientError> {
        let wanted = ControlParameters { name: Some(prefix.clone()), ..ControlParameters::default() };
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
        let unsendable = |error: packet::DecodeError| ClientError::Unsendable(error.to_string());
        let is_local = self.connection.remote().is_local();
        let reach = if is_local { Reach::Localhost } else { Reach::Localhop };
        let interest = command.interest(reach, parameters).map_err(unsendable)?.lifetime(COMMAND_TIMEOUT);
        let mut failure = "no answer in time".to_owned();
        for _ in 0..COMMAND_ATTEMPTS {
            let signed = interest.clone().nonce(self.random.next_u32());
            let signed = self.commands.sign(self.connection.clock().unix().as_millis(), &signed)?;
            let id = self.express_as_is(signed, COMMAND_TIMEOUT)?;
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
            let id = self.express(&interest, COMMAND_TIMEOUT)?;
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
        self.keep_what_happens(Instant::NEVER, |happening| {
            answer = match happening {
                Happening::Data { id, data, .. } if *id == wanted => Some(Answer::Data(data.clone())),
                Happening::Timeout { id } if *id == wanted => Some(Answer::Timeout),
                Happening::Nack { id, reason, .. } if *id == wanted => Some(Answer::Nack(*reason)),
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

    /// Waits until `until`, for a signal, or for what `is_it` says is waited for, which is not kept. What else happens is, behind what
    /// had happened before, up to a limit.
    fn keep_what_happens(
        &mut self,
        until: Instant,
        mut is_it: impl FnMut(&Happening) -> bool,
    ) -> Result<(), ClientError> {
        let mut kept = std::mem::take(&mut self.happened);
        let outcome = loop {
            match self.wait_for_new(until) {
                Ok(Some(happening)) if is_it(&happening) => break Ok(()),
                Ok(Some(_)) if kept.len() >= MAX_HAPPENED => self.overlooked += 1,
                Ok(Some(other)) => kept.push_back(other),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        // One packet may answer several questions, of which the one waited for need not be the last.
        kept.append(&mut self.happened);
        self.happened = kept;
        outcome
    }

    /// Waits for the next thing to happen, past what happened already.
    fn wait_for_new(&mut self, until: Instant) -> Result<Option<Happening>, ClientError> {
        loop {
            if let Some(happening) = self.happened.pop_front() {
                return Ok(Some(happening));
            }
            let now = self.connection.now();
            if let Some(expired) = self.pending.take_expired(now) {
                return Ok(Some(Happening::Timeout { id: expired.id }));
            }
            let deadline = until.min(self.pending.next_deadline());
            match self.connection.receive(deadline)? {
                Some(packet) => self.take(packet)?,
                // Either the time of a pending Interest is up, or the caller's, or a signal came.
                None if self.pending.next_deadline() <= self.connection.now() => {}
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
                    None => self.happened.push_back(Happening::Interest { interest, header }),
                }
            }
            Incoming::Data { data, header } => {
                let answered = self.pending.take_answered(&data);
                self.unsolicited += u64::from(answered.is_empty());
                self.happened.extend(answered.into_iter().map(|pending| Happening::Data {
                    id: pending.id,
                    data: data.clone(),
                    header: header.clone(),
                    round_trip: now.saturating_since(pending.sent),
                }));
            }
            Incoming::Nack { interest, reason, header } => {
                let returned = self.pending.take_named(interest.name());
                self.happened.extend(returned.into_iter().map(|pending| Happening::Nack {
                    id: pending.id,
                    reason,
                    header: header.clone(),
                    round_trip: now.saturating_since(pending.sent),
                }));
            }
        }
        Ok(())
    }
}
