//! An application that answers from a source of Data.

use flow::source::{Reply, Source};
use packet::time::Duration;
use packet::{Interest, LinkHeader, Name, Packet};

use super::late_replies::LateReplies;
use super::{Application, Context};
use crate::error::SimError;
use crate::into_name::IntoName;

/// Answers Interests under a prefix by a [`Source`]: the very sources that the tools and the client
/// library serve. A source that cannot go on answers nothing more.
#[derive(Debug)]
pub struct SourceProducer<S> {
    prefix: Name,
    source: Option<S>,
    replies: LateReplies<Packet>,
    answered: u64,
}

impl<S: Source + Send + 'static> SourceProducer<S> {
    /// Answers under `prefix`, at once.
    ///
    /// # Errors
    /// Not a name.
    pub fn new(prefix: impl IntoName, source: S) -> Result<Self, SimError> {
        let replies = LateReplies::new(Duration::ZERO);
        Ok(SourceProducer { prefix: prefix.into_name()?, source: Some(source), replies, answered: 0 })
    }

    /// Answering after so long.
    pub fn reply_delay(self, reply_delay: Duration) -> Self {
        SourceProducer { replies: LateReplies::new(reply_delay), ..self }
    }

    fn send(&mut self, context: &mut Context<'_>, reply: Packet) {
        match reply {
            Packet::Data(data) => {
                self.answered += 1;
                context.send_data(data);
            }
            nack => context.send(nack, LinkHeader::default()),
        }
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
        let reply = match source.answer(interest) {
            Ok(Reply::Data(data)) => Packet::Data(data),
            Ok(Reply::Nack(reason)) => Packet::Nack(interest.clone(), reason),
            Ok(Reply::NoReply | Reply::NotMine) => return,
            Err(_) => return self.source = None,
        };
        if let Some(reply) = self.replies.hold(context, reply) {
            self.send(context, reply);
        }
    }

    fn handle_timer(&mut self, context: &mut Context<'_>) {
        while let Some(reply) = self.replies.due(context) {
            self.send(context, reply);
        }
    }

    fn prefixes(&self) -> Vec<Name> {
        vec![self.prefix.clone()]
    }
}
