//! What a forwarder is asked to do, and why it is not done.

use formats::printable::printable;
use std::fmt;

use management::{Command, ControlParameters, ControlResponse, DatasetError, StatusCode};
use packet::{AnyName, DecodeError, Dialect, NackReason};
use thiserror::Error;

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
        name: Option<AnyName>,
    },
    /// To tell what it knows.
    Dataset(AnyName),
}

impl ManagementRequest {
    /// A command with these parameters, whose name is of this dialect.
    pub fn of(command: Command, parameters: &ControlParameters, dialect: Dialect) -> Self {
        let name = parameters.name.clone().map(|name| AnyName::new(dialect, name));
        ManagementRequest::Command { command, name }
    }
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
    /// Its answer makes no sense.
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
