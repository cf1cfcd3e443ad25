//! A command to a forwarder, from the first question to the last answer. Who gives it waits in his own way.

use management::{Command, ControlParameters, ControlResponse};
use packet::time::Duration;

use super::Client;
use crate::error::ClientError;
use crate::management_request::ManagementRequest;
use crate::pending::RequestId;
use crate::retry::{Retries, RetryStep};
use crate::session::Answer;

/// Finds out who a forwarder of CCNx is, unless that is known.
///
/// As long as [`poll`](Self::poll) gives a request, wait for its answer, hand it to
/// [`handle_answer`](Self::handle_answer), and rest as long as that says.
#[derive(Debug)]
pub(crate) struct QuestionAboutForwarder {
    /// What errors say that is asked of it.
    pub(super) what: ManagementRequest,
    /// While it is asked.
    retries: Option<Retries>,
}

impl QuestionAboutForwarder {
    pub(super) fn new(what: ManagementRequest) -> Self {
        QuestionAboutForwarder { what, retries: None }
    }

    /// Asks; nothing if it is known. The answer is claimed.
    pub(super) fn poll(&mut self, client: &mut Client) -> Result<Option<RequestId>, ClientError> {
        if !client.is_forwarder_unknown() {
            self.retries = None;
            return Ok(None);
        }
        self.retries.get_or_insert_with(|| client.retries());
        client.noting_outage(Client::ask_who_it_is).map(Some)
    }

    /// Gives how long to rest.
    pub(super) fn handle_answer(
        &mut self,
        client: &mut Client,
        answer: Answer,
    ) -> Result<Duration, ClientError> {
        let retries = self.retries.get_or_insert_with(|| client.retries());
        match retries.handle_answer(answer) {
            RetryStep::Data(data) => {
                client.handle_forwarder_key(&data);
                Ok(Duration::ZERO)
            }
            RetryStep::Again(after) => Ok(after),
            RetryStep::GiveUp(why) => Err(ClientError::NoAnswer { what: self.what.clone(), why }),
        }
    }
}

/// Gives a forwarder a command, again if need be, and hears what it says.
///
/// Call [`poll`](Self::poll), wait for the answer to the request that it gives, hand that to
/// [`handle_answer`](Self::handle_answer), and do what that says.
#[derive(Debug)]
pub(crate) struct CommandExchange {
    command: Command,
    parameters: ControlParameters,
    retries: Retries,
    who_it_is: QuestionAboutForwarder,
}

/// What follows from an answer.
#[derive(Debug)]
pub(crate) enum ExchangeStep {
    /// This is how the command went.
    Done(ControlResponse),
    /// Rest for this time, and poll again.
    Again(Duration),
}

impl CommandExchange {
    pub(crate) fn new(client: &Client, command: Command, parameters: &ControlParameters) -> Self {
        CommandExchange {
            command,
            parameters: parameters.clone(),
            retries: client.retries(),
            who_it_is: QuestionAboutForwarder::new(client.management_request(command, parameters)),
        }
    }

    /// What errors say that the forwarder is asked to do.
    pub(crate) fn what(&self) -> &ManagementRequest {
        &self.who_it_is.what
    }

    /// Asks what is to be asked next. The answer is claimed.
    ///
    /// # Errors
    /// The forwarder is away, which the client has taken note of, or the command cannot be sent.
    pub(crate) fn poll(&mut self, client: &mut Client) -> Result<RequestId, ClientError> {
        match self.who_it_is.poll(client)? {
            Some(request) => Ok(request),
            None => client.send_command(self.command, &self.parameters),
        }
    }

    /// # Errors
    /// The forwarder has not answered as often as it is asked, or its answer makes no sense.
    pub(crate) fn handle_answer(
        &mut self,
        client: &mut Client,
        answer: Answer,
    ) -> Result<ExchangeStep, ClientError> {
        if self.who_it_is.retries.is_some() {
            return self.who_it_is.handle_answer(client, answer).map(ExchangeStep::Again);
        }
        let what = self.what().clone();
        match self.retries.handle_answer(answer) {
            RetryStep::Data(data) => match client.decode_response(&data) {
                Ok(response) => Ok(ExchangeStep::Done(response)),
                Err(error) => Err(ClientError::Refused { what, why: error.into() }),
            },
            RetryStep::Again(after) => Ok(ExchangeStep::Again(after)),
            RetryStep::GiveUp(why) => Err(ClientError::NoAnswer { what, why }),
        }
    }
}
