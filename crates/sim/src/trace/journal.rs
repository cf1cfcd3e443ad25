//! What a [part](crate::parallel) of a network notes of what it does within a window, for the order of all
//! parts.

use packet::{LinkHeader, Packet};

use crate::arena::{ChannelId, EndId};
use crate::events::in_flight::{AllInFlight, OnLink};
use crate::events::queue::Turn;
use crate::link::Flight;
use crate::trace::Notes;

/// An event that has happened. What it brought about ends at these places in what the part has noted; it
/// begins where that of the event before ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExecutedEvent {
    pub(crate) turn: Turn,
    /// What the part's queue would give next.
    pub(crate) turns_end: u64,
    pub(crate) numbers_end: usize,
    pub(crate) notes_end: usize,
    pub(crate) crossings_end: usize,
}

/// A packet on its way to another part.
#[derive(Debug)]
pub(crate) struct Crossing {
    pub(crate) channel: ChannelId,
    /// The end of the link it comes from.
    pub(crate) end: EndId,
    /// When it arrives, with a number of the part that it leaves.
    pub(crate) turn: Turn,
    pub(crate) is_reordered: bool,
    pub(crate) packet: Packet,
    pub(crate) header: LinkHeader,
    pub(crate) hops: u32,
}

/// What a part has done since it was last asked.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    pub(crate) done: Vec<ExecutedEvent>,
    pub(crate) crossings: Vec<Crossing>,
}

impl Journal {
    /// A packet leaves for the part that its channel leads to. Links between parts carry no frames.
    #[inline(never)]
    pub(crate) fn note_crossing(
        &mut self,
        in_flight: &mut AllInFlight,
        channel: ChannelId,
        flight: Flight,
        is_reordered: bool,
    ) {
        let Flight { turn, carried, end } = flight;
        if let OnLink::Packet(packet_id) = carried {
            let slot = in_flight.get_mut(packet_id);
            if let Some(packet) = slot.packet.take() {
                let (header, hops) = (std::mem::take(&mut slot.header), slot.hops);
                self.crossings.push(Crossing { channel, end, turn, is_reordered, packet, header, hops });
            }
        }
        in_flight.discard(carried);
    }

    /// Events noted.
    pub(crate) fn len(&self) -> u64 {
        self.done.len() as u64
    }

    #[inline]
    pub(crate) fn note_done(&mut self, turn: Turn, turns_end: u64, notes: &Notes) {
        self.done.push(ExecutedEvent {
            turn,
            turns_end,
            numbers_end: notes.numbers.len(),
            notes_end: notes.records.len(),
            crossings_end: self.crossings.len(),
        });
    }
}
