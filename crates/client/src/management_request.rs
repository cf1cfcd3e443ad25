//! What a forwarder is asked to do, and why it is not done.

use std::fmt;

use management::{Command, ControlResponse, DatasetError, StatusCode};
use packet::time::Duration;
use packet::{DecodeError, NackReason, Name};
use thiserror::Error;

use crate::error::ClientError;
use crate::printable::printable;
use crate::session::Answer;

/// How long a forwarder may take to answer a command or to tell what it knows, and how often it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// How long it may take each time; the Interest lives as long.
    pub timeout: Duration,
    /// How often it is asked before it is given up; none counts as one.
    pub attempts: u32,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { timeout: Duration::from_secs(4), attempts: 3 }
    }
}

/// How long to wait before a command is given again that came back: a forwarder that is just starting may
/// have no route to its own management yet.
pub(crate) const COMMAND_REST: Duration = Duration::from_millis(200);

/// Why most commands from other hosts, or by datagrams, come back.
const NEIGHBOURS: &str = "; a forwarder takes commands from other hosts and over UDP only where it is told to: \
    a Cairn node with `localhop = true` below [management], NFD with localhop_security";

/// What a forwarder is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManagementRequest {
    /// To carry out a command.
    Command {
        /// Which.
        command: Command,
        /// The name it is about, if it is about one.
        name: Option<Name>,
    },
    /// To tell what it knows.
    Dataset(Name),
}

impl fmt::Display for ManagementRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ManagementRequest::Command { command: Command::RibRegister, name: Some(name) } => {
                write!(f, "send Interests for {name} here")
            }
            ManagementRequest::Command { command: Command::RibUnregister, name: Some(name) } => {
                write!(f, "send no more Interests for {name} here")
            }
            ManagementRequest::Command { command, name } => {
                let (module, verb) = command.words();
                write!(f, "carry out {module}/{verb}")?;
                name.as_ref().map_or(Ok(()), |name| write!(f, " for {name}"))
            }
            ManagementRequest::Dataset(name) => write!(f, "tell {name}"),
        }
    }
}

/// Why a forwarder does not do what it was asked to.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ManagementError {
    /// It says so.
    #[error("{} {}", .code.number(), printable(.text))]
    Response {
        /// What kind of a problem it is.
        code: StatusCode,
        /// In its own words.
        text: String,
    },
    /// Its answer to a command makes no sense.
    #[error("its answer is malformed: {0}")]
    Malformed(#[from] DecodeError),
    /// What it tells makes no sense.
    #[error("{}", printable(&.0.to_string()))]
    Dataset(DatasetError),
}

impl ManagementError {
    /// The status code of the answer, if it has one.
    pub fn code(&self) -> Option<StatusCode> {
        match self {
            ManagementError::Response { code, .. } => Some(*code),
            ManagementError::Malformed(_) | ManagementError::Dataset(_) => None,
        }
    }
}

impl From<ControlResponse> for ManagementError {
    fn from(response: ControlResponse) -> Self {
        ManagementError::Response { code: response.code, text: response.text }
    }
}

impl From<DatasetError> for ManagementError {
    fn from(error: DatasetError) -> Self {
        match error {
            DatasetError::Refused(response) => response.into(),
            other => ManagementError::Dataset(other),
        }
    }
}

/// Why there is no answer to what a forwarder was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoResponse {
    /// None came in time, however often it was asked.
    #[error("no answer in time")]
    Timeout,
    /// The Interest came back.
    #[error("it came back ({reason}){}", if *.is_local { "" } else { NEIGHBOURS })]
    Nack {
        /// Why.
        reason: NackReason,
        /// Whether the forwarder is on this host. Others take commands only where they are told to.
        is_local: bool,
    },
    /// A signal came while we waited.
    #[error("interrupted")]
    Interrupted,
}

/// How often something is asked for, and what is to be done after an answer: the same for all who wait,
/// whatever way they wait.
#[derive(Debug)]
pub(crate) struct Attempts {
    left: u32,
    is_local: bool,
}

/// What follows from an answer.
#[derive(Debug)]
pub(crate) enum Next {
    /// This came.
    Data(packet::Data),
    /// It is asked for again after this time.
    Again(Duration),
    /// It is given up.
    GiveUp(NoResponse),
}

impl Attempts {
    pub(crate) fn new(patience: Patience, is_local: bool) -> Self {
        Attempts { left: patience.attempts, is_local }
    }

    pub(crate) fn handle_answer(&mut self, answer: Answer) -> Next {
        let (silence, rest) = match answer {
            Answer::Data(data) => return Next::Data(data),
            Answer::Nack(reason) => (NoResponse::Nack { reason, is_local: self.is_local }, COMMAND_REST),
            Answer::Timeout => (NoResponse::Timeout, Duration::ZERO),
        };
        self.left = self.left.saturating_sub(1);
        if self.left == 0 { Next::GiveUp(silence) } else { Next::Again(rest) }
    }
}

/// What a forwarder said to a command that must succeed.
pub(crate) fn must_be_ok(demand: &ManagementRequest, response: ControlResponse) -> Result<(), ClientError> {
    if response.is_ok() {
        return Ok(());
    }
    Err(ClientError::Refused { what: demand.clone(), why: response.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_back_is_asked_for_again_after_a_rest_and_given_up_at_last() {
        let mut attempts = Attempts::new(Patience::default(), true);
        let nack = || Answer::Nack(NackReason::NoRoute);
        assert!(matches!(attempts.handle_answer(nack()), Next::Again(COMMAND_REST)));
        assert!(matches!(attempts.handle_answer(Answer::Timeout), Next::Again(Duration::ZERO)));
        let Next::GiveUp(why) = attempts.handle_answer(nack()) else { panic!("three times is enough") };
        assert_eq!(why.to_string(), "it came back (no-route)");
        let elsewhere = NoResponse::Nack { reason: NackReason::NoRoute, is_local: false };
        assert!(elsewhere.to_string().contains("localhop"), "{elsewhere}");
    }
}
