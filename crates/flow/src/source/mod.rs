//! Sources of Data: what answers Interests, whoever carries them.
//!
//! A [`Source`] is asked one Interest at a time and says what answers it. It knows no socket: an application
//! serves it over a connection to a forwarder, a program inside a node over an inner face, a simulated
//! producer in virtual time. Each does it with the same [`Server`], which counts and knows when it is over,
//! and sends what [`Reply::into_packet`] makes of its answer. Who serves one source and nothing else does it
//! in the same loop, [`serve`], over an [`AppFace`].
//!
//! An object whose bytes are in memory is served by a [`MemoryObject`], in either dialect, and signed at each
//! request. Sources whose bytes lie on a disk are where the disk is read; those of them that need no more
//! than a way to look up and read take it as a trait, as [`folder`] does.
//!
//! These are apart:
//! - The client library's `FileObject` answers for an object in a file as [`MemoryObject`] does for one in
//!   memory. It reads ahead, keeps packets that were dear to sign, and uses their memory again, up to some
//!   megabytes an object: too much for a gateway, which holds many. Both answer by [`Reply::of_object`].
//! - A gateway has no [`Server`]: an Interest waits there until its bytes have come from a web server, and
//!   whatever else cannot be answered is sent back.
//! - Simulated producers of numbered names and the lab's agents have a [`Server`], and take the Data out of
//!   its answer: they send nothing else, and the simulator is to copy as little as it can for each packet.
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
mod memory;
mod packets;
mod server;

use packet::{Data, DecodeError, Interest, NackReason, Packet};
use thiserror::Error;

use crate::publish::{Answer, PublishError, SegmentRange};

pub use answers::{AnswerWith, answer_with};
pub use folder::{CcnxFolderSource, FolderSource};
pub use generator::{CcnxDataSigner, DataSigner, Generator};
pub use memory::{MemoryObject, Segmented};
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

    /// What a publication's `answer` to `interest` comes to; `packet` makes that of a segment. What there
    /// will never be is sent back where the dialect can say so.
    ///
    /// # Errors
    /// Those of `packet`.
    pub fn of_object(
        interest: &Interest,
        answer: Answer,
        packet: impl FnOnce(SegmentRange) -> Result<Data, SourceError>,
    ) -> Result<Self, SourceError> {
        Ok(match answer {
            // One that is asked for by its digest may be another.
            Answer::Segment(range) => Reply::matching(interest, packet(range)?),
            Answer::Data(data) => Reply::Data(data),
            Answer::Refuse if interest.dialect().has_nacks() => Reply::Nack(NackReason::Unspecified),
            Answer::Refuse => Reply::NoReply,
            Answer::NotMine => Reply::NotMine,
        })
    }

    /// The packet that tells it to who asked with `interest`; `None` where that is silence.
    #[inline]
    pub fn into_packet(self, interest: &Interest) -> Option<Packet> {
        match self {
            Reply::Data(data) => Some(Packet::Data(data)),
            Reply::Nack(reason) => Some(Packet::Nack(interest.clone(), reason)),
            Reply::NoReply | Reply::NotMine => None,
        }
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
    /// What else a source of an application's own may need.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl SourceError {
    /// An error of an application's own.
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        SourceError::Other(error.into())
    }
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
