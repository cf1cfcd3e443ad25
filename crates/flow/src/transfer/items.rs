//! What is known of each item between the first that is missing and the last that was asked for.

use std::collections::VecDeque;

use packet::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Asked for by transmission `number`.
    InFlight { number: u64, sent_at: Instant },
    /// To be asked for again, and not before `until`; `number` was the last transmission.
    Waiting { number: u64, until: Instant },
    /// Here, and not yet confirmed.
    Arrived,
    /// Confirmed, or given up.
    Done,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) state: State,
    /// Transmissions.
    pub(super) attempts: u32,
    /// Transmissions that were given up because later ones were answered.
    pub(super) overtaken: u32,
    /// Transmissions that count towards giving the item up.
    pub(super) in_vain: u32,
    /// When the first transmission left after the last that counts.
    pub(super) asked_since: Instant,
}

/// A window on the items. All below it are done, those above were never asked for.
#[derive(Debug)]
pub(super) struct Items {
    base: u64,
    window: VecDeque<Item>,
    end: u64,
    limit: u64,
    max_span: u64,
}

impl Items {
    pub(super) fn new(max_span: u32) -> Self {
        Items { base: 0, window: VecDeque::new(), end: u64::MAX, limit: u64::MAX, max_span: max_span.into() }
    }

    pub(super) fn start_at(&mut self, item: u64) {
        if self.window.is_empty() {
            self.base = item;
        }
    }

    /// Moves the end; says how many items beyond it were on their way.
    pub(super) fn set_end(&mut self, end: u64) -> u32 {
        self.end = end;
        let mut cut = 0;
        while self.next_new() > end && !self.window.is_empty() {
            if let Some(Item { state: State::InFlight { .. }, .. }) = self.window.pop_back() {
                cut += 1;
            }
        }
        cut
    }

    pub(super) fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    pub(super) fn base(&self) -> u64 {
        self.base
    }

    pub(super) fn next_new(&self) -> u64 {
        self.base + self.window.len() as u64
    }

    pub(super) fn next_allowed(&self) -> Option<u64> {
        let next = self.next_new();
        let limit = self.end.min(self.limit).min(self.base.saturating_add(self.max_span));
        (next < limit).then_some(next)
    }

    pub(super) fn is_below_limit(&self, item: u64) -> bool {
        item < self.limit
    }

    pub(super) fn is_past(&self, item: u64) -> bool {
        item < self.base
    }

    pub(super) fn is_complete(&self) -> bool {
        self.base >= self.end
    }

    pub(super) fn get(&self, item: u64) -> Option<&Item> {
        self.window.get(usize::try_from(item.checked_sub(self.base)?).ok()?)
    }

    pub(super) fn get_mut(&mut self, item: u64) -> Option<&mut Item> {
        self.window.get_mut(usize::try_from(item.checked_sub(self.base)?).ok()?)
    }

    pub(super) fn set(&mut self, item: u64, state: State) {
        if let Some(item) = self.get_mut(item) {
            item.state = state;
        }
    }

    /// Marks `item`, which may be the next new one, as sent; says how often it was.
    pub(super) fn send(&mut self, item: u64, number: u64, now: Instant) -> u32 {
        let state = State::InFlight { number, sent_at: now };
        if item == self.next_new() {
            self.window.push_back(Item { state, attempts: 1, overtaken: 0, in_vain: 0, asked_since: now });
            return 1;
        }
        match self.get_mut(item) {
            Some(item) => {
                item.state = state;
                item.attempts += 1;
                item.attempts
            }
            None => 1,
        }
    }

    /// Forgets what is done at the lower end.
    pub(super) fn advance(&mut self) {
        while self.window.front().is_some_and(|item| item.state == State::Done) {
            self.window.pop_front();
            self.base += 1;
        }
    }
}
