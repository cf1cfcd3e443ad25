//! One question and its answer.

use packet::time::{Duration, Instant};
use packet::{AnyName, BuildInterest, Data, NackReason};
use thiserror::Error;

use super::{Client, WaitOutcome};
use crate::error::ClientError;
use crate::pending::Kind;
use crate::session::Answer;

/// Why a question has no answer.
#[derive(Debug, Error)]
pub enum AskError {
    /// Nobody answered in time.
    #[error("nobody answers for {0}")]
    Timeout(AnyName),
    /// The network sent the Interest back.
    #[error("{name} came back: {reason}")]
    Nack {
        /// What was asked for.
        name: AnyName,
        /// Why it came back.
        reason: NackReason,
    },
    /// A signal came.
    #[error("interrupted")]
    Interrupted,
    /// The forwarder went away.
    #[error(transparent)]
    Client(#[from] ClientError),
}

impl Client {
    /// Expresses one Interest and waits for its Data, at most `timeout`. Nothing is verified: give the Data
    /// to a [`trust::SignatureVerifier`] or [`trust::Validator`]. What else comes meanwhile is answered by
    /// what is [attached](Client::serve), or kept for [`Client::next`].
    ///
    /// # Errors
    /// No answer, or a Nack; a signal came; the forwarder went away, if the client is to fail then.
    pub fn ask(&mut self, interest: &impl BuildInterest, timeout: Duration) -> Result<Data, AskError> {
        let interest = self.with_nonce(interest, timeout)?;
        let name = interest.any_name();
        let id = self.express_as_is(interest, timeout)?;
        self.session.claim(id, Kind::Question);
        loop {
            match self.session.take_answer(id) {
                Some(Answer::Data(data)) => return Ok(data),
                Some(Answer::Nack(reason)) => return Err(AskError::Nack { name, reason }),
                Some(Answer::Timeout) => return Err(AskError::Timeout(name)),
                None => {}
            }
            match self.turn(Instant::NEVER) {
                Ok(WaitOutcome::On | WaitOutcome::TimeUp) => {}
                Ok(WaitOutcome::Interrupted) => {
                    self.session.forget(id);
                    return Err(AskError::Interrupted);
                }
                Err(error) => self.handle_outage(error).inspect_err(|_| self.session.forget(id))?,
            }
        }
    }
}
