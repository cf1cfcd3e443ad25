//! What the forwarder is asked to do, and to tell.

use management::{Command, ControlParameters, ControlResponse, DatasetFetch, Reach};
use packet::time::{Duration, Instant};
use packet::{Interest, Name};

use super::{Client, Turned};
use crate::error::ClientError;
use crate::pending::{Kind, RequestId};
use crate::session::Answer;

/// How long the forwarder may take to answer a command, and how often it is asked.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(4);
const COMMAND_ATTEMPTS: u32 = 3;

/// How long to wait before a command is given again that came back: a forwarder that is just starting may
/// have no route to its own management yet.
const COMMAND_REST: Duration = Duration::from_millis(200);

/// Why most commands from other hosts, or by datagrams, come back.
const NEIGHBOURS: &str = "; a forwarder takes commands from other hosts and over UDP only where it is told to: \
    a Cairn node with `localhop = true` below [management], NFD with localhop_security";

impl Client {
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

    /// Sends a command, whose answer is claimed.
    pub(super) fn give(
        &mut self,
        command: Command,
        parameters: &ControlParameters,
    ) -> Result<RequestId, ClientError> {
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
        let id = self.session.expect(interest, self.connection.now(), COMMAND_TIMEOUT, Kind::Command);
        self.session.claim(id);
        Ok(id)
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

    pub(super) fn demand(
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

    /// Waits for the answer to one request; what else happens is kept, or answered, meanwhile.
    fn answer(&mut self, wanted: RequestId, what: &str) -> Result<Answer, ClientError> {
        loop {
            if let Some(answer) = self.session.take_answer(wanted) {
                return Ok(answer);
            }
            match self.turn(Instant::NEVER) {
                Ok(Turned::On | Turned::TimeUp) => {}
                Ok(Turned::Interrupted) => {
                    self.session.forget(wanted);
                    return Err(ClientError::NoAnswer(what.to_owned(), "interrupted".into()));
                }
                Err(error) => {
                    self.note_outage(&error);
                    return Err(error);
                }
            }
        }
    }

    /// Lets time pass; what happens is kept, or answered, meanwhile.
    fn rest(&mut self, time: Duration) -> Result<(), ClientError> {
        let until = self.connection.now() + time;
        loop {
            match self.turn(until) {
                Ok(Turned::On) => {}
                Ok(Turned::TimeUp | Turned::Interrupted) => return Ok(()),
                Err(error) => {
                    self.note_outage(&error);
                    return Err(error);
                }
            }
        }
    }
}
