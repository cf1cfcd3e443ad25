//! Why a request has no object for an answer, and the status that says so.

use client::{AskError, FetchFailure};
use flow::FetchError;
use hyper::StatusCode;
use packet::NackReason;
use thiserror::Error;

/// Why there is no object.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum Failure {
    /// The request makes no sense.
    #[error("{0}")]
    BadRequest(String),
    /// This gateway does not do that.
    #[error("{0}")]
    Forbidden(String),
    /// Nobody has it.
    #[error("{0}")]
    NotFound(String),
    /// The host named in the request is not this gateway.
    #[error("{0}")]
    Misdirected(String),
    /// What came is not what it should be, or from nobody who is trusted.
    #[error("{0}")]
    NotTrusted(String),
    /// Too many ask at once, or the forwarder is away.
    #[error("{0}")]
    Busy(String),
    /// Nobody answers.
    #[error("{0}")]
    NoAnswer(String),
}

impl Failure {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Failure::BadRequest(_) => StatusCode::BAD_REQUEST,
            Failure::Forbidden(_) => StatusCode::FORBIDDEN,
            Failure::NotFound(_) => StatusCode::NOT_FOUND,
            Failure::Misdirected(_) => StatusCode::MISDIRECTED_REQUEST,
            Failure::NotTrusted(_) => StatusCode::BAD_GATEWAY,
            Failure::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
            Failure::NoAnswer(_) => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    fn of_nack(reason: Option<NackReason>, words: String) -> Self {
        match reason {
            // No way leads there, or the producer says that there is no such thing.
            Some(NackReason::NoRoute | NackReason::Unspecified) => Failure::NotFound(words),
            Some(NackReason::Congestion | NackReason::Duplicate) | None => Failure::NoAnswer(words),
        }
    }
}

impl From<FetchFailure> for Failure {
    fn from(failure: FetchFailure) -> Self {
        let words = failure.to_string();
        match failure {
            FetchFailure::Fetch(error) => match error {
                FetchError::NotFound { .. } => Failure::NoAnswer(words),
                FetchError::DiscoveryNack { reason, .. } => Failure::of_nack(Some(reason), words),
                FetchError::Segment { reason, .. } => Failure::of_nack(reason, words),
                FetchError::Refused { .. } => Failure::NotFound(words),
                FetchError::BadMetadata { .. }
                | FetchError::NotAccepted { .. }
                | FetchError::NoneAccepted { .. } => Failure::NotTrusted(words),
                FetchError::NameTooLong { .. } | FetchError::NoVersion { .. } => Failure::BadRequest(words),
            },
            FetchFailure::Client(_) => Failure::Busy(words),
            FetchFailure::TooLarge(_) => Failure::NotTrusted(words),
            FetchFailure::Output(_) | FetchFailure::Interrupted => Failure::NotTrusted(words),
        }
    }
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        let words = error.to_string();
        match error {
            AskError::Nack { reason, .. } => Failure::of_nack(Some(reason), words),
            AskError::Timeout(_) => Failure::NoAnswer(words),
            AskError::Interrupted | AskError::Client(_) => Failure::Busy(words),
        }
    }
}

impl From<packet::DecodeError> for Failure {
    fn from(error: packet::DecodeError) -> Self {
        Failure::BadRequest(format!("the name becomes too long: {error}"))
    }
}
