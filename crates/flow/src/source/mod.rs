//! Sources of Data: what answers Interests, whoever carries them.
//!
//! A [`Source`] is asked one Interest at a time and says what answers it. It knows no socket: an application
//! serves it over a connection to a forwarder, a simulated producer in virtual time. Each does it with the
//! same [`Server`], which counts and knows when it is over, and where there are threads in the same loop,
//! [`serve`]. Sources whose bytes lie on a disk are where the disk is
//! read; those of them that need no more than a way to look up and read take it as a trait, as [`folder`]
//! does.
//!
//! ```
//! use cairn_flow::source::{Generator, Packets, Reply, Server, ServerConfig, Source};
//! use packet::ndn::{DataBuilder, InterestBuilder};
//! use packet::time::Instant;
//! use trust::Signer;
//!
//! let hello = DataBuilder::new("/lab/hello".parse()?).content(b"hello".to_vec()).build_with_digest()?;
//! // What is there is given; below /lab/ping anything is made.
//! let source = (Packets::new([hello]), Generator::new(vec!["/lab/ping".parse()?], Signer::digest(), 1));
//! let mut server = Server::new(source, ServerConfig::default(), Instant::ZERO);
//! for (uri, is_answered) in [("/lab/hello", true), ("/lab/ping/7", true), ("/lab/other", false)] {
//!     let interest = InterestBuilder::new(uri.parse()?).build()?;
//!     let reply = server.handle_interest(Instant::ZERO, &interest)?;
//!     assert_eq!(matches!(reply, Reply::Data(_)), is_answered, "{uri}");
//! }
//! assert_eq!(server.counters().data, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answers;
pub mod folder;
mod generator;
mod packets;
mod server;

use packet::{Data, DecodeError, Interest, NackReason};
use thiserror::Error;

use crate::publish::PublishError;

pub use answers::{AnswerWith, answer_with};
pub use folder::{CcnxFolderSource, FolderSource};
pub use generator::{CcnxDataSigner, DataSigner, Generator};
pub use packets::Packets;
pub use server::{AppFace, ServeCounters, ServeError, Server, ServerConfig, serve};

/// What answers an Interest.
#[derive(Clone, Debug)]
pub enum Reply {
    /// This packet.
    Data(Data),
    /// Nothing, and the consumer is told so.
    Nack(NackReason),
    /// Nothing, though the Interest is about what this source has: silence is the answer.
    NoReply,
    /// The Interest is not about what this source has; another one may have it.
    NotMine,
}

impl Reply {
    /// The packet, if it matches what was asked; silence otherwise, as where a digest names another packet.
    pub fn matching(interest: &Interest, data: Data) -> Self {
        if interest.matches(&data) { Reply::Data(data) } else { Reply::NoReply }
    }
}

/// Why a source cannot go on.
#[derive(Debug, Error)]
pub enum SourceError {
    /// A packet cannot be made.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The bytes cannot be read.
    #[error("the file can no longer be read as it was: {0}")]
    Read(#[source] std::io::Error),
}

impl From<packet::EncodeError> for SourceError {
    fn from(error: packet::EncodeError) -> Self {
        SourceError::Publish(error.into())
    }
}

impl From<DecodeError> for SourceError {
    fn from(error: DecodeError) -> Self {
        SourceError::Publish(error.into())
    }
}

impl From<trust::SignError> for SourceError {
    fn from(error: trust::SignError) -> Self {
        SourceError::Publish(error.into())
    }
}

/// Answers Interests.
pub trait Source {
    /// What answers `interest`, in its dialect. Costs a bounded amount of work and memory.
    ///
    /// # Errors
    /// The source cannot go on: there is no point in asking it again.
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError>;
}

/// The first, and for what it does not have the second.
impl<A: Source, B: Source> Source for (A, B) {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        match self.0.answer(interest)? {
            Reply::NotMine => self.1.answer(interest),
            reply => Ok(reply),
        }
    }
}

/// The first of them that has it.
impl<S: Source> Source for Vec<S> {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        for source in self {
            match source.answer(interest)? {
                Reply::NotMine => {}
                reply => return Ok(reply),
            }
        }
        Ok(Reply::NotMine)
    }
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        (**self).answer(interest)
    }
}

#[cfg(test)]
mod tests;
