//! The clients of a run: a process beside each forwarder that serves content and carries workloads out.
//!
//! It speaks NDN, or CCNx, over the forwarder's Unix socket, so the same agent loads any forwarder that does.
//! Everything it learns it writes down as it happens, one line an event, in files of the run's folder.

pub(crate) mod activity;
mod arrivals;
mod download;
mod error;
mod flood;
mod job;
mod layout;
mod packets;
mod ping;
mod prefixes;
pub mod producer;
mod registration;
mod revocations;
mod run;
mod served;
mod signatures;
mod standstill;
mod traffic;
pub(crate) mod workloads;

pub(crate) use download::HEAD as TRANSFERS_HEAD;
pub use error::{IdentityKeyError, JobError};
pub use job::Job;
pub(crate) use ping::OPEN;
pub(crate) use prefixes::{ANSWERED, ASKED};
pub(crate) use revocations::{KnownRecords, RevocationWatch};
pub use run::{AgentError, run};
pub(crate) use served::SERVED;
pub(crate) use standstill::STANDSTILL;
