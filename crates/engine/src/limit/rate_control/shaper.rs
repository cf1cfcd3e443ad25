//! Interests that wait for their turn.

use std::collections::VecDeque;

use packet::Interest;
use packet::time::{Duration, Instant};

use super::Admission;
use crate::strategy::Trigger;

/// An Interest that waits, and what is needed to forward it.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) interest: Interest,
    pub(crate) trigger: Trigger,
    pub(crate) non_discovery: bool,
}

/// First come, first served, each some time after the one before, and no burst after a pause.
#[derive(Debug)]
pub(super) struct Shaper {
    held: VecDeque<Held>,
    max_held: u32,
    next_turn: Instant,
}

impl Shaper {
    pub(super) fn new(max_held: u32, now: Instant) -> Self {
        Shaper { held: VecDeque::new(), max_held, next_turn: now }
    }

    pub(super) fn admit(&self, now: Instant) -> Admission {
        match self.held.is_empty() && self.next_turn <= now {
            true => Admission::Forward,
            false if self.held.len() as u64 >= u64::from(self.max_held) => Admission::Full,
            false => Admission::Wait,
        }
    }

    pub(super) fn hold(&mut self, held: Held) {
        self.held.push_back(held);
    }

    pub(super) fn held(&self) -> impl Iterator<Item = &Held> {
        self.held.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// When the first may go on; `None` if none waits.
    pub(super) fn next_turn(&self) -> Option<Instant> {
        (!self.held.is_empty()).then_some(self.next_turn)
    }

    pub(super) fn pop_due(&mut self, now: Instant) -> Option<Held> {
        if self.next_turn <= now { self.held.pop_front() } else { None }
    }

    /// The next may go on `gap` later. An owner that is late makes up for it while somebody waits, not after a pause.
    pub(super) fn spend_turn(&mut self, now: Instant, gap: Duration) {
        let begins = if self.held.is_empty() { now.max(self.next_turn) } else { self.next_turn };
        self.next_turn = begins + gap;
    }

    pub(super) fn release_all(&mut self) -> impl Iterator<Item = Held> {
        std::mem::take(&mut self.held).into_iter()
    }
}
