//! What the forwarder is asked to do, and to tell.

use std::collections::BTreeSet;

use management::{
    Command, CommandScope, ControlParameters, ControlResponse, Dataset, DatasetFetch, DatasetItem,
    decode_list,
};
use packet::time::{Duration, Instant};
use packet::{AnyName, Data, DecodeError, Dialect, Interest, Name};

use super::command_exchange::{CommandExchange, ExchangeStep, QuestionAboutForwarder};
use super::{Client, WaitOutcome};
use crate::ccnd::Ccnd;
use crate::error::{ClientError, Unsendable};
use crate::management_request::{ManagementRequest, NoResponse};
use crate::pending::{Kind, RequestId};
use crate::retry::{Retries, RetryStep, must_be_ok};
use crate::session::Answer;

impl Client {
    /// Asks the forwarder for Interests under `prefix`, now and whenever it has started again.
    ///
    /// # Errors
    /// The forwarder does not answer, or refuses.
    pub fn register(&mut self, prefix: &Name) -> Result<(), ClientError> {
        self.keep_commanding(Command::RibRegister, &about(prefix))
    }

    /// Asks the forwarder for no more Interests under `prefix`.
    ///
    /// # Errors
    /// The forwarder does not answer, or refuses.
    pub fn unregister(&mut self, prefix: &Name) -> Result<(), ClientError> {
        let wanted = about(prefix);
        self.forget(Command::RibRegister, &wanted);
        self.execute(Command::RibUnregister, &wanted)
    }

    /// Asks the forwarder for no more Interests at all: for who is about to end, and is not to be asked for
    /// minutes to come by a forwarder that cannot see it go, as over datagrams. Waits for the answers, but
    /// not longer than `timeout`, and goes on at signals; what the forwarder says to it changes nothing.
    pub fn withdraw(&mut self, timeout: Duration) {
        let until = self.connection.now() + timeout;
        let mut asked = BTreeSet::new();
        for prefix in self.registered() {
            let wanted = about(&prefix);
            self.forget(Command::RibRegister, &wanted);
            asked.extend(self.send_command(Command::RibUnregister, &wanted).ok());
        }
        while !asked.is_empty() && !self.is_gone() && self.connection.now() < until {
            if let Err(error) = self.turn(until) {
                self.note_outage(&error);
                break;
            }
            let answered: Vec<RequestId> = self.session.answered().filter(|id| asked.contains(id)).collect();
            for id in answered {
                self.session.take_answer(id);
                asked.remove(&id);
            }
        }
        for id in asked {
            self.session.forget(id);
        }
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
        let mut exchange = CommandExchange::new(self, command, parameters);
        loop {
            let id = exchange.poll(self)?;
            let answer = self.answer(id, exchange.what())?;
            match exchange.handle_answer(self, answer)? {
                ExchangeStep::Done(response) => return Ok(response),
                ExchangeStep::Again(after) => self.rest(after)?,
            }
        }
    }

    /// What errors say that the forwarder is asked to do.
    pub(crate) fn management_request(
        &self,
        command: Command,
        parameters: &ControlParameters,
    ) -> ManagementRequest {
        ManagementRequest::of(command, parameters, self.connection.dialect())
    }

    /// How often the forwarder is asked, from the first time on.
    pub(crate) fn retries(&self) -> Retries {
        Retries::new(self.retry_policy, self.is_local())
    }

    /// Whether the forwarder is on this host.
    pub(crate) fn is_local(&self) -> bool {
        self.connection.remote().is_local()
    }

    /// Sends a command, whose answer is claimed, and takes note if the forwarder turns out to be away.
    pub(crate) fn send_command(
        &mut self,
        command: Command,
        parameters: &ControlParameters,
    ) -> Result<RequestId, ClientError> {
        self.noting_outage(|client| client.try_send_command(command, parameters))
    }

    /// Takes note if the forwarder turns out to be away when something is sent.
    pub(super) fn noting_outage<T>(
        &mut self,
        send: impl FnOnce(&mut Client) -> Result<T, ClientError>,
    ) -> Result<T, ClientError> {
        send(self).inspect_err(|error| {
            self.note_outage(error);
        })
    }

    /// Sends a command, whose answer is claimed.
    pub(super) fn try_send_command(
        &mut self,
        command: Command,
        parameters: &ControlParameters,
    ) -> Result<RequestId, ClientError> {
        if let Some(ccnd) = &self.ccnd {
            let now = self.connection.clock().unix();
            let request = ccnd.request(command, parameters, now, self.random.next_u32())?;
            return self.ask_forwarder(request);
        }
        let reach = if self.is_local() { CommandScope::Localhost } else { CommandScope::Localhop };
        let interest = command.interest(reach, parameters).map_err(Unsendable::from)?;
        let interest = interest.lifetime(self.retry_policy.timeout).nonce(self.random.next_u32());
        let signed = self.commands.sign(self.connection.clock().unix().as_millis(), &interest)?;
        self.ask_forwarder(signed)
    }

    /// What the forwarder says to a command, in whichever dialect.
    pub(super) fn decode_response(&mut self, data: &Data) -> Result<ControlResponse, DecodeError> {
        match &mut self.ccnd {
            Some(ccnd) => ccnd.response(data),
            None => ControlResponse::decode(data.content()),
        }
    }

    /// Whether a forwarder of CCNx must be asked who it is before it is given a command.
    pub(super) fn is_forwarder_unknown(&self) -> bool {
        self.ccnd.as_ref().is_some_and(Ccnd::is_unknown)
    }

    /// Asks a forwarder of CCNx who it is; the answer is claimed.
    pub(super) fn ask_who_it_is(&mut self) -> Result<RequestId, ClientError> {
        let interest = Ccnd::who_is_it(self.random.next_u32())?;
        self.ask_forwarder(interest)
    }

    /// What a forwarder of CCNx says that it is.
    pub(super) fn handle_forwarder_key(&mut self, data: &Data) {
        self.ccnd.iter_mut().for_each(|ccnd| ccnd.handle_key(data));
    }

    /// Another forwarder of CCNx may be there now.
    pub(super) fn forget_who_it_is(&mut self) {
        self.ccnd.iter_mut().for_each(Ccnd::forget);
    }

    /// The digest of the key of a forwarder of CCNx, CCNDID, asking for it unless it is known; `None` without
    /// a key to sign requests with.
    ///
    /// # Errors
    /// The forwarder does not answer.
    pub fn ccnd_id(&mut self) -> Result<Option<[u8; 32]>, ClientError> {
        let key = AnyName::new(Dialect::Ccnx, Ccnd::key_name().map_err(Unsendable::from)?);
        let mut who_it_is = QuestionAboutForwarder::new(ManagementRequest::Dataset(key));
        while let Some(id) = who_it_is.poll(self)? {
            let answer = self.answer(id, &who_it_is.what)?;
            let after = who_it_is.handle_answer(self, answer)?;
            self.rest(after)?;
        }
        Ok(self.ccnd.as_ref().and_then(Ccnd::id).copied())
    }

    /// Asks the forwarder itself for something. If it goes away, the question is forgotten.
    fn ask_forwarder(&mut self, interest: Interest) -> Result<RequestId, ClientError> {
        self.must_be_here()?;
        self.connection.send_interest(&interest)?;
        let timeout = self.retry_policy.timeout;
        let id = self.session.expect(interest, self.connection.now(), timeout, Kind::Command);
        self.session.claim(id, Kind::Command);
        Ok(id)
    }

    /// Fetches what the forwarder knows, such as the list of its faces.
    ///
    /// # Errors
    /// The forwarder does not answer, or refuses.
    pub fn dataset(&mut self, name: Name) -> Result<Vec<u8>, ClientError> {
        let what = ManagementRequest::Dataset(AnyName::new(Dialect::Ndn, name.clone()));
        let mut fetch = DatasetFetch::new(name);
        let mut retries = self.retries();
        loop {
            let interest = fetch.interest().map_err(Unsendable::from)?;
            let interest =
                interest.nonce(self.random.next_u32()).lifetime(self.retry_policy.timeout).build()?;
            let id = self.noting_outage(|client| client.ask_forwarder(interest))?;
            match retries.handle_answer(self.answer(id, &what)?) {
                RetryStep::Data(data) => match fetch.receive(&data) {
                    Ok(Some(content)) => return Ok(content),
                    Ok(None) => retries = self.retries(),
                    Err(error) => return Err(ClientError::Refused { what, why: error.into() }),
                },
                RetryStep::Again(after) => self.rest(after)?,
                RetryStep::GiveUp(why) => return Err(ClientError::NoAnswer { what, why }),
            }
        }
    }

    /// What a dataset says, as `decode` reads it.
    ///
    /// # Errors
    /// As [`dataset`](Self::dataset), or it cannot be read.
    pub fn decoded_dataset<T>(
        &mut self,
        name: Name,
        decode: impl FnOnce(&[u8]) -> Result<T, DecodeError>,
    ) -> Result<T, ClientError> {
        let content = self.dataset(name.clone())?;
        decode(&content).map_err(|error| ClientError::Refused {
            what: ManagementRequest::Dataset(AnyName::new(Dialect::Ndn, name)),
            why: error.into(),
        })
    }

    /// The items of a dataset, such as the forwarder's faces.
    ///
    /// # Errors
    /// As [`decoded_dataset`](Self::decoded_dataset).
    pub fn list<T: DatasetItem>(&mut self, dataset: Dataset) -> Result<Vec<T>, ClientError> {
        self.decoded_dataset(dataset.name().map_err(Unsendable::from)?, decode_list)
    }

    pub(super) fn execute(
        &mut self,
        command: Command,
        parameters: &ControlParameters,
    ) -> Result<(), ClientError> {
        let response = self.command(command, parameters)?;
        must_be_ok(&self.management_request(command, parameters), response)
    }

    /// Waits for the answer to one request; what else happens is kept, or answered, meanwhile.
    fn answer(&mut self, wanted: RequestId, what: &ManagementRequest) -> Result<Answer, ClientError> {
        loop {
            if let Some(answer) = self.session.take_answer(wanted) {
                return Ok(answer);
            }
            match self.turn(Instant::NEVER) {
                Ok(WaitOutcome::On | WaitOutcome::TimeUp) => {}
                Ok(WaitOutcome::Interrupted) => {
                    self.session.forget(wanted);
                    return Err(ClientError::NoAnswer { what: what.clone(), why: NoResponse::Interrupted });
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
        if time == Duration::ZERO {
            return Ok(());
        }
        let until = self.connection.now() + time;
        loop {
            match self.turn(until) {
                Ok(WaitOutcome::On) => {}
                Ok(WaitOutcome::TimeUp | WaitOutcome::Interrupted) => return Ok(()),
                Err(error) => {
                    self.note_outage(&error);
                    return Err(error);
                }
            }
        }
    }
}

/// The parameters of a command that is about a prefix and nothing else.
pub(crate) fn about(prefix: &Name) -> ControlParameters {
    ControlParameters { name: Some(prefix.clone()), ..ControlParameters::default() }
}
