//! What is under way on a channel.

use std::collections::VecDeque;

use packet::time::Instant;

use crate::arena::EndId;
use crate::events::in_flight::OnLink;
use crate::events::queue::Turn;

/// A packet, or a frame, that crosses a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    pub(crate) turn: Turn,
    pub(crate) carried: OnLink,
    /// The end of the link it came from.
    pub(crate) end: EndId,
}

/// Packets under way above which what they will touch is fetched ahead.
const CROWD: usize = 400;
/// When fewer than so many have been prepared it is time for more.
const PREPARED_AHEAD: usize = 8;
/// So many at once.
pub(crate) const PREPARED_AT_ONCE: usize = 16;

/// What is under way on a channel and arrives in the order in which it left.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    in_order: VecDeque<Flight>,
    /// How many of the first of them the engine at the other end has been told of; see
    /// [`next_to_prepare`](Self::next_to_prepare).
    prepared: usize,
    /// When the latest of them arrives; no other may come before it.
    pub(super) latest_arrival: Instant,
}

impl Flights {
    /// When something arrives that would arrive at `at` if it were alone.
    #[inline]
    pub(super) fn in_order(&mut self, at: Instant) -> Instant {
        self.latest_arrival = self.latest_arrival.max(at);
        self.latest_arrival
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.in_order.is_empty()
    }

    /// What arrives next.
    #[inline]
    pub(crate) fn first(&self) -> Option<&Flight> {
        self.in_order.front()
    }

    #[inline]
    pub(crate) fn push(&mut self, flight: Flight) {
        self.in_order.push_back(flight);
    }

    /// Takes the first of what is under way.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Flight> {
        self.prepared = self.prepared.saturating_sub(1);
        self.in_order.pop_front()
    }

    /// Whether [`next_to_prepare`](Self::next_to_prepare) has something to give.
    #[inline(always)]
    pub(crate) fn want_preparing(&self) -> bool {
        self.prepared < PREPARED_AHEAD && self.in_order.len() >= CROWD
    }

    /// What is under way and will arrive soon, if there is so much of it that the memory it needs has left
    /// the processor's cache since it was sent: then it pays to fetch some of it at once. Nothing if that
    /// was done lately.
    pub(crate) fn next_to_prepare(&mut self) -> Option<impl Iterator<Item = Flight> + use<'_>> {
        self.want_preparing().then(|| {
            let first = self.prepared;
            self.prepared += PREPARED_AT_ONCE;
            self.in_order.range(first..self.prepared).copied()
        })
    }

    pub(crate) fn for_each(&mut self, action: impl FnMut(&mut Flight)) {
        self.in_order.iter_mut().for_each(action);
    }

    /// Takes what is under way to where it will arrive. What is sent after it stays behind it all the same.
    pub(crate) fn take_under_way(&mut self) -> VecDeque<Flight> {
        self.prepared = 0;
        std::mem::take(&mut self.in_order)
    }

    pub(crate) fn put_under_way(&mut self, under_way: VecDeque<Flight>) {
        self.prepared = 0;
        self.in_order = under_way;
    }

    /// Loses all of it; gives what that was.
    pub(super) fn clear(&mut self) -> Vec<OnLink> {
        self.prepared = 0;
        self.latest_arrival = Instant::ZERO;
        self.in_order.drain(..).map(|flight| flight.carried).collect()
    }
}
