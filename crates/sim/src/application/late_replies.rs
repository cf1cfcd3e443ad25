//! Replies that leave some time after the Interests that they answer.

use std::collections::VecDeque;

use packet::time::{Duration, Instant};

use super::Context;

/// Holds each reply for the same time, so that they leave in the order in which they were made.
#[derive(Clone, Debug)]
pub(super) struct LateReplies<R> {
    delay: Duration,
    waiting: VecDeque<(Instant, R)>,
}

impl<R> LateReplies<R> {
    /// Each is held for `delay`.
    pub(super) fn new(delay: Duration) -> Self {
        LateReplies { delay, waiting: VecDeque::new() }
    }

    /// How many are held.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Holds a reply; gives it back if it is to be sent at once.
    #[inline]
    pub(super) fn hold(&mut self, context: &mut Context<'_>, reply: R) -> Option<R> {
        if self.delay == Duration::ZERO {
            return Some(reply);
        }
        let at = context.now() + self.delay;
        if self.waiting.is_empty() {
            context.wake_at(at);
        }
        self.waiting.push_back((at, reply));
        None
    }

    /// The next reply whose time has come; has the timer set for the one behind it.
    pub(super) fn due(&mut self, context: &mut Context<'_>) -> Option<R> {
        let (at, _) = self.waiting.front()?;
        if *at > context.now() {
            context.wake_at(*at);
            return None;
        }
        self.waiting.pop_front().map(|(_, reply)| reply)
    }
}
