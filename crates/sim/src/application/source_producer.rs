//! An application that answers from a source of Data.

use flow::source::{ServeCounters, Server, ServerConfig, Source};
use packet::time::{Duration, Instant};
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
    server: Server<S>,
    goes_on: bool,
    replies: LateReplies<Packet>,
    answered: u64,
}

impl<S: Source + Send + 'static> SourceProducer<S> {
    /// Answers under `prefix`, at once.
    ///
    /// # Errors
    /// Not a name.
    pub fn new(prefix: impl IntoName, source: S) -> Result<Self, SimError> {
        Ok(SourceProducer::under(prefix.into_name()?, source))
    }

    /// Answers under `prefix`, at once.
    pub(super) fn under(prefix: Name, source: S) -> Self {
        SourceProducer {
            prefix,
            server: Server::new(source, ServerConfig::default(), Instant::ZERO),
            goes_on: true,
            replies: LateReplies::new(Duration::ZERO),
            answered: 0,
        }
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

    /// What was asked for, and what the source has given, sent or yet to be sent.
    pub fn counters(&self) -> &ServeCounters {
        self.server.counters()
    }

    /// The source.
    pub fn source(&self) -> &S {
        self.server.source()
    }

    pub(super) fn source_mut(&mut self) -> &mut S {
        self.server.source_mut()
    }

    /// Whether the source could go on so far.
    pub fn goes_on(&self) -> bool {
        self.goes_on
    }
}

impl<S: Source + Send + 'static> Application for SourceProducer<S> {
    fn handle_interest(&mut self, context: &mut Context<'_>, interest: &Interest, _header: &LinkHeader) {
        if !self.goes_on {
            return;
        }
        let Ok(reply) = self.server.handle_interest(context.now(), interest) else {
            self.goes_on = false;
            return;
        };
        if let Some(reply) = reply.into_packet(interest)
            && let Some(reply) = self.replies.hold(context, reply)
        {
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
