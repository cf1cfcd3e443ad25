//! Packets with frames that have never been sent.

use std::collections::VecDeque;

use crate::v2::outgoing::OutgoingKey;

/// Packets with frames that have never been sent, oldest first, and the sum of their lengths.
#[derive(Debug, Default)]
pub(super) struct Unsent {
    packets: VecDeque<(OutgoingKey, usize)>,
    bytes: usize,
}

impl Unsent {
    pub(super) fn push(&mut self, key: OutgoingKey, len: usize) {
        self.bytes += len;
        self.packets.push_back((key, len));
    }

    /// The oldest.
    pub(super) fn first(&self) -> Option<OutgoingKey> {
        self.packets.front().map(|&(key, _)| key)
    }

    /// Forgets the oldest.
    pub(super) fn pop(&mut self) {
        if let Some((_, len)) = self.packets.pop_front() {
            self.bytes -= len;
        }
    }

    pub(super) fn into_keys(self) -> impl Iterator<Item = OutgoingKey> {
        self.packets.into_iter().map(|(key, _)| key)
    }

    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// The lengths of all these packets together.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
