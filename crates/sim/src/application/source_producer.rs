//! An application that answers from a source of Data.

use flow::source::{Reply, Source};
use packet::{Interest, LinkHeader, Name};

use super::{Application, Context};
use crate::error::SimError;
use crate::into_name::IntoName;

/// Answers Interests under a prefix by a [`Source`], at once: the very sources that the tools and the client
/// library serve. A source that cannot go on answers nothing more.
#[derive(Debug)]
pub struct SourceProducer<S> {
    prefix: Name,
    source: Option<S>,
    answered: u64,
}

impl<S: Source + Send + 'static> SourceProducer<S> {
    /// Answers under `prefix`.
    ///
    /// # Errors
    /// Not a name.
    pub fn new(prefix: impl IntoName, source: S) -> Result<Self, SimError> {
        Ok(SourceProducer { prefix: prefix.into_name()?, source: Some(source), answered: 0 })
    }

    /// Data sent.
    pub fn answered(&self) -> u64 {
        self.answered
    }

    /// Whether the source could go on so far.
    pub fn goes_on(&self) -> bool {
        self.source.is_some()
    }
}

impl<S: Source + Send + 'static> Application for SourceProducer<S> {
    fn handle_interest(&mut self, context: &mut Context<'_>, interest: &Interest, _header: &LinkHeader) {
        let Some(source) = &mut self.source else { return };
        match source.answer(interest) {
            Ok(Reply::Data(data)) => {
                self.answered += 1;
                context.send_data(data);
            }
            Ok(Reply::Nack(reason)) => context.send_nack(interest.clone(), reason),
            Ok(Reply::NoReply | Reply::NotMine) => {}
            Err(_) => self.source = None,
        }
    }

    fn prefixes(&self) -> Vec<Name> {
        vec![self.prefix.clone()]
    }
}
