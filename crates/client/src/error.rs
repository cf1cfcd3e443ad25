//! What can go wrong between an application and its forwarder.

use std::io;
use std::sync::Arc;

use flow::source::SourceError;
use link::DropReason;
use link::v2::ConfigError;
use packet::{AnyName, DecodeError, Dialect, EncodeError};
use thiserror::Error;
use trust::SignError;

use crate::management_request::{ManagementError, ManagementRequest, NoResponse};
use crate::remote::{Remote, RemoteError};

/// Why the application and its forwarder do not come together.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The forwarder's address makes no sense.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// Nobody is there, or nobody who lets us in.
    #[error("cannot connect to {remote}: {error}{}", advice(.remote, .error))]
    Connect {
        /// Where we tried.
        remote: Remote,
        /// What the system says.
        error: io::Error,
    },
    /// The forwarder went away.
    #[error("the forwarder at {0} closed the connection")]
    Closed(Remote),
    /// The forwarder went away before, and is not there again yet.
    #[error("the forwarder at {0} is away")]
    Away(Remote),
    /// What comes is not of the connection's dialect.
    #[error("what {remote} sends is not {dialect}: {error}")]
    OtherDialect {
        /// Who sends it.
        remote: Remote,
        /// What it should be.
        dialect: Dialect,
        /// What is wrong with it.
        error: Box<DecodeError>,
    },
    /// The socket fails.
    #[error("the connection to {0} failed: {1}")]
    Socket(Remote, #[source] io::Error),
    /// The packet cannot be sent.
    #[error("the packet cannot be sent: {0}")]
    Unsendable(#[from] Unsendable),
    /// The packet cannot be written.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The packet cannot be signed.
    #[error(transparent)]
    Sign(SignError),
    /// The forwarder does not want to do what it was asked to.
    #[error("the forwarder refuses to {what}: {why}")]
    Refused {
        /// What that was.
        what: ManagementRequest,
        /// Why it does not.
        why: ManagementError,
    },
    /// A source of Data cannot go on, and answers no more.
    #[error("nothing more is served under {prefix}: {error}")]
    Source {
        /// What it was attached to.
        prefix: AnyName,
        /// Why.
        error: Arc<SourceError>,
    },
    /// The forwarder does not answer.
    #[error("the forwarder does not answer when asked to {what}: {why}")]
    NoAnswer {
        /// What it was asked to do.
        what: ManagementRequest,
        /// What came instead.
        why: NoResponse,
    },
}

/// Why a packet cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unsendable {
    /// The link does not take it: it is too large, for example.
    #[error("{}", .0.as_str())]
    Link(DropReason),
    /// There is no link such as this connection would need.
    #[error(transparent)]
    LinkService(#[from] ConfigError),
    /// The forwarder speaks the other dialect.
    #[error("the packet is of the dialect that the forwarder does not speak")]
    OtherDialect,
    /// CCNx has no Nacks: to refuse an Interest, do not answer it.
    #[error("a forwarder of CCNx takes no Nack")]
    NackToCcnx,
    /// Its name would be too long.
    #[error(transparent)]
    Name(#[from] DecodeError),
}

impl From<SignError> for ClientError {
    fn from(error: SignError) -> Self {
        match error {
            // Nothing is wrong with the key: what was to be signed makes no packet.
            SignError::Encode(EncodeError::Invalid(error)) => Unsendable::from(error).into(),
            error => ClientError::Sign(error),
        }
    }
}

impl ClientError {
    /// Whether it means that the forwarder has gone, and may come back.
    pub fn is_outage(&self) -> bool {
        matches!(self, ClientError::Closed(_) | ClientError::Socket(..) | ClientError::Away(_))
    }
}

fn advice(remote: &Remote, error: &io::Error) -> &'static str {
    match (remote, error.kind()) {
        (Remote::Unix(_), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            "; start a forwarder there (`cairn node run`), or say with NDN_CLIENT_TRANSPORT or --connect where one is"
        }
        (Remote::Unix(_), io::ErrorKind::PermissionDenied) => "; the socket belongs to somebody else",
        (_, io::ErrorKind::ConnectionRefused) => "; nobody listens there",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Name;

    #[test]
    fn what_a_forwarder_says_begins_no_line_and_commands_no_terminal() {
        let text = "no\nthe packet is trusted\r\u{1b}[2J\u{202e}".to_owned();
        let response = management::ControlResponse::error(management::StatusCode::Unauthorized, &text);
        let dataset = management::DatasetError::Refused(response.clone());
        for why in [ManagementError::from(response), ManagementError::from(dataset)] {
            assert_eq!(why.code(), Some(management::StatusCode::Unauthorized));
            let what = ManagementRequest::Dataset(AnyName::new(Dialect::Ndn, Name::root()));
            let told = ClientError::Refused { what, why }.to_string();
            assert!(told.contains("403 no") && told.contains("the packet is trusted"), "{told:?}");
            assert!(!told.contains(formats::printable::is_unprintable), "{told:?}");
        }
    }
}
