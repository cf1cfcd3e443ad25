//! All sockets for UDP, by numbers that stay as long as the socket.

use engine::FaceId;

use super::datagram::DatagramChannel;

/// Sockets by number.
#[derive(Default)]
pub(crate) struct Channels {
    slots: Vec<Option<DatagramChannel>>,
    free: Vec<usize>,
}

impl Channels {
    #[inline]
    pub(crate) fn get(&self, number: usize) -> Option<&DatagramChannel> {
        self.slots.get(number)?.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut DatagramChannel> {
        self.slots.get_mut(number)?.as_mut()
    }

    /// The number that the next socket will have.
    pub(crate) fn next_number(&self) -> usize {
        self.free.last().copied().unwrap_or(self.slots.len())
    }

    pub(crate) fn insert(&mut self, channel: DatagramChannel) {
        match self.free.pop() {
            Some(number) => {
                if let Some(slot) = self.slots.get_mut(number) {
                    *slot = Some(channel);
                }
            }
            None => self.slots.push(Some(channel)),
        }
    }

    pub(crate) fn remove(&mut self, number: usize) {
        if let Some(slot) = self.slots.get_mut(number)
            && slot.take().is_some()
        {
            self.free.push(number);
        }
    }

    /// All numbers that may be in use.
    pub(crate) fn numbers(&self) -> std::ops::Range<usize> {
        0..self.slots.len()
    }

    /// The first socket for which something holds.
    pub(crate) fn position(&self, holds: impl Fn(&DatagramChannel) -> bool) -> Option<usize> {
        self.slots.iter().position(|slot| slot.as_ref().is_some_and(&holds))
    }

    /// The sockets that were bound at the start.
    pub(crate) fn bound(&self) -> impl Iterator<Item = &DatagramChannel> {
        self.slots.iter().flatten().filter(|channel| channel.main().is_none())
    }

    /// The faces that have a socket of their own.
    pub(crate) fn owned(&self) -> impl Iterator<Item = FaceId> {
        self.slots.iter().flatten().filter_map(DatagramChannel::owner)
    }
}
