//! Why a command is not carried out.

use packet::Name;
use thiserror::Error;

/// A command that is not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AuthorizationError {
    /// It is not signed, or not in a way that names a key: not worth an answer.
    #[error("malformed: {0}")]
    Malformed(String),
    /// It is signed by somebody who may not, wrongly, or not for the first time.
    #[error("unauthorized: {0}")]
    Unauthorized(String),
    /// It is signed by a key that nothing is known about.
    #[error("{0} is not a trusted key")]
    UnknownKey(Name),
}
