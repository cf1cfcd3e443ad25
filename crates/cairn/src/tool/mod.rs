//! What the tools share: units, connections, keys, trust, output.

/// Prints a line on standard error. Where that is full or closed nothing can be said, and that is no reason
/// to end: `eprintln!` would.
macro_rules! tell {
    ($($text:tt)*) => { $crate::tool::output::tell(format_args!($($text)*)) };
}

pub(crate) mod ccnx;
pub(crate) mod connect;
pub(crate) mod content;
pub(crate) mod face_address;
pub(crate) mod files;
pub(crate) mod forwarder;
pub(crate) mod histogram;
pub(crate) mod interrupt;
pub(crate) mod ndnld;
pub(crate) mod output;
pub(crate) mod passphrase;
pub(crate) mod progress;
pub(crate) mod regular_file;
pub(crate) mod serving;
pub(crate) mod signing;
pub(crate) mod switch;
pub(crate) mod trusting;
pub(crate) mod units;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use flow::source::ServeError;
use formats::printable::{printable, printable_path};
use thiserror::Error;

pub(crate) use files::{input, write_output};

/// Why a tool ends without having done what it was asked to.
#[derive(Debug, Error)]
pub(crate) enum ToolError {
    #[error(transparent)]
    Client(#[from] client::ClientError),
    #[error(transparent)]
    Remote(#[from] client::RemoteError),
    #[error("{}", printable(&.0.to_string()))]
    Store(#[from] trust::store::StoreError),
    #[error(transparent)]
    Key(#[from] trust::KeyError),
    #[error(transparent)]
    Certificate(#[from] trust::CertificateError),
    #[error(transparent)]
    SafeBag(#[from] trust::SafeBagError),
    #[error(transparent)]
    Sign(#[from] trust::SignError),
    #[error(transparent)]
    Publish(#[from] flow::PublishError),
    #[error(transparent)]
    Source(#[from] flow::source::SourceError),
    #[error(transparent)]
    Manifest(#[from] trust::manifest::ManifestError),
    #[error(transparent)]
    Encode(#[from] packet::EncodeError),
    #[error("the name becomes too long: {0}")]
    Name(#[from] packet::DecodeError),
    #[error("{}: {error}", printable_path(path))]
    File { path: PathBuf, error: io::Error },
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    /// Anything else, in words.
    #[error("{0}")]
    Other(String),
}

impl ToolError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> ToolError {
        let path = path.into();
        move |error| ToolError::File { path, error }
    }

    pub(crate) fn other(text: impl std::fmt::Display) -> ToolError {
        ToolError::Other(text.to_string())
    }

    /// Whether whoever read our output went away: that is their business, and no error of ours.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, ToolError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Whether a signal ended it before it was done.
    fn is_interrupt(&self) -> bool {
        use client::{ClientError, NoResponse};
        matches!(self, ToolError::Client(ClientError::NoAnswer { why: NoResponse::Interrupted, .. }))
    }
}

impl From<ServeError<client::ClientError>> for ToolError {
    fn from(error: ServeError<client::ClientError>) -> Self {
        match error {
            ServeError::AppFace(error) => error.into(),
            ServeError::Source(error) => error.into(),
        }
    }
}

/// The same, and says it as JSON on standard output, too.
pub(crate) fn finish_in_json(result: Result<ExitCode, ToolError>) -> ExitCode {
    if let Err(error) = &result
        && !error.is_closed_pipe()
    {
        let code = if error.is_interrupt() { 130 } else { 1 };
        // Where that cannot be printed, the exit code says it.
        let _ = output::json(&serde_json::json!({ "error": error.to_string(), "exit_code": code }));
    }
    finish(result)
}

/// Says on standard error what went wrong, and gives the exit code.
pub(crate) fn finish(result: Result<ExitCode, ToolError>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            tell!("cairn: {error}");
            if error.is_interrupt() { ExitCode::from(130) } else { ExitCode::FAILURE }
        }
    }
}
