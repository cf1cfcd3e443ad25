//! The body of a response, which tells when it has gone, or broken off.

use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};

use crate::access_log::TrackedRequest;
use crate::connections::RequestGuard;
use crate::failure::Failure;
use crate::stream::Stream;

/// What is sent.
#[derive(Default)]
pub(crate) enum Content {
    /// Nothing.
    #[default]
    Empty,
    /// These bytes.
    Full(Bytes),
    /// What a fetch brings.
    Stream(Box<Stream>),
}

impl Content {
    /// Bytes that are left to be sent, if that is known.
    pub(crate) fn left(&self) -> Option<u64> {
        match self {
            Content::Empty => Some(0),
            Content::Full(bytes) => Some(bytes.len() as u64),
            Content::Stream(stream) => stream.left(),
        }
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Content::Full(text.into())
    }
}

/// The body of a response.
pub(crate) struct Outgoing {
    content: Content,
    ticket: TrackedRequest,
    /// As long as it has not gone, its connection is at work.
    under_way: Option<RequestGuard>,
}

impl Outgoing {
    pub(crate) fn new(content: Content, ticket: TrackedRequest) -> Self {
        Outgoing { content, ticket, under_way: None }
    }

    /// The same, of a request on a connection that has others beside it.
    pub(crate) fn holding(mut self, under_way: RequestGuard) -> Self {
        self.under_way = Some(under_way);
        self
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let next = match &mut self.content {
            Content::Empty => Poll::Ready(None),
            Content::Full(bytes) => {
                let bytes = std::mem::take(bytes);
                self.content = Content::Empty;
                Poll::Ready(Some(Ok(bytes)))
            }
            Content::Stream(stream) => stream.poll_chunk(context),
        };
        match &next {
            Poll::Ready(Some(Ok(bytes))) => self.ticket.sent(bytes.len()),
            Poll::Ready(Some(Err(failure))) => self.ticket.broke_off(failure),
            _ => {}
        }
        next.map(|next| next.map(|bytes| bytes.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.content.left() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.content.left().map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        if self.content.left().is_some_and(|left| left > 0) {
            self.ticket.abandoned();
        }
    }
}
