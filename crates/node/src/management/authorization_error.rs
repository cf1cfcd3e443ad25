//! Why a command is not carried out.

use packet::{DecodeError, Name};
use thiserror::Error;
use trust::VerifyError;
use trust::validator::ValidationError;

use super::key_rejection::KeyRejection;

/// A command that is not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AuthorizationError {
    /// It is not signed, or not in a way that names a key: not worth an answer.
    #[error("malformed: {0}")]
    Malformed(#[from] MalformedCommand),
    /// It is signed by somebody who may not, wrongly, or not for the first time.
    #[error("unauthorized: {0}")]
    Unauthorized(#[from] UnauthorizedCommand),
    /// It is signed by a key that nothing is known about.
    #[error("{0} is not a trusted key")]
    UnknownKey(Name),
}

/// What is wrong with the signature of a command.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MalformedCommand {
    /// There is none, or it cannot be read.
    #[error(transparent)]
    Signature(#[from] DecodeError),
    /// It is of nobody.
    #[error("the signature does not name a key")]
    NoKeyName,
}

/// Why somebody may not give a command.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnauthorizedCommand {
    /// The key does not count, or not for this.
    #[error(transparent)]
    Key(#[from] KeyRejection),
    /// The key is nobody's delegate.
    #[error(transparent)]
    Delegate(#[from] ValidationError),
    /// The delegate's key has not made the signature.
    #[error(transparent)]
    Signature(#[from] VerifyError),
    /// Its time is not that of a new command.
    #[error(transparent)]
    Time(#[from] CommandTimeError),
    /// The certificate of its key cannot be asked for.
    #[error("too many commands wait for certificates")]
    TooManyPending,
    /// It is about a face of somebody else, and nobody has signed it.
    #[error("a neighbour without a key may make routes to itself only")]
    OtherFace,
    /// Nobody can say which keys count (`[management] revocations_max_age_secs`).
    #[error("the records of revoked keys are too old to say which keys count")]
    OldRevocations,
}

/// What is wrong with the time in a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CommandTimeError {
    /// There is none.
    #[error("the signature does not say its time")]
    Missing,
    /// It is older than [`ReplayGuard::GRACE_MS`](super::ReplayGuard::GRACE_MS).
    #[error("the time in the signature is more than two minutes ago; compare the clocks")]
    TooOld,
    /// It is further ahead than [`ReplayGuard::AHEAD_MS`](super::ReplayGuard::AHEAD_MS).
    #[error("the time in the signature is more than ten seconds ahead; compare the clocks")]
    TooFarAhead,
    /// The node before has carried out a command of this time.
    #[error("a command of this time was carried out before the node started; sign anew")]
    CarriedOutBefore,
    /// The node before may have carried it out.
    #[error("the time in the signature is before the start of this node; sign anew")]
    BeforeStart,
    /// A command of the same key with this time, or a later one, was carried out.
    #[error("the time in the signature is not later than in the last command")]
    NotLater,
}
