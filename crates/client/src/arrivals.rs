//! Packets that have come over a connection and wait for the application, and what was counted on the way.

use std::collections::VecDeque;

use packet::buffer::SpareBuffer;
use packet::{Data, DecodeError, LinkHeader, Packet};

/// Packets whose memory is kept to be used again.
const MAX_SPARES: usize = 128;

/// Packets, and their bytes, that wait for the application while it waits to send. Beyond that nothing more
/// is read, and the forwarder's queue fills.
const MAX_INCOMING: usize = 16 << 10;
const MAX_INCOMING_BYTES: usize = 8 << 20;

/// What went over a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets sent.
    pub packets_out: u64,
    /// Packets received.
    pub packets_in: u64,
    /// Bytes sent, link headers included.
    pub bytes_out: u64,
    /// Bytes received, link headers included.
    pub bytes_in: u64,
    /// Frames and packets that could not be read, and were dropped.
    pub malformed: u64,
    /// Datagrams that the kernel would not take, and were dropped.
    pub unsent: u64,
}

/// What has arrived.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    packets: VecDeque<(Packet, LinkHeader)>,
    /// Bytes of those packets.
    bytes: usize,
    /// Memory of Data that nobody refers to any more.
    spares: Vec<SpareBuffer>,
    pub(crate) counters: Counters,
}

impl Arrivals {
    /// Whether there may be more before the application takes any.
    pub(crate) fn have_room(&self) -> bool {
        self.packets.len() < MAX_INCOMING && self.bytes < MAX_INCOMING_BYTES
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub(crate) fn pop(&mut self) -> Option<(Packet, LinkHeader)> {
        let (packet, header) = self.packets.pop_front()?;
        self.bytes -= packet.wire().len();
        Some((packet, header))
    }

    pub(crate) fn push(&mut self, decoded: Result<Packet, DecodeError>, header: LinkHeader) {
        match decoded {
            Ok(packet) => {
                self.counters.packets_in += 1;
                self.bytes += packet.wire().len();
                self.packets.push_back((packet, header));
            }
            Err(_) => self.counters.malformed += 1,
        }
    }

    /// Memory for a packet of so many bytes, if there is any: much more would be wasted on it, whoever keeps
    /// it.
    pub(crate) fn spare_for(&mut self, packet_bytes: usize) -> Option<SpareBuffer> {
        self.spares.pop_if(|spare| spare.capacity_bytes() <= 2 * packet_bytes)
    }

    /// Takes back a Data that is done with, for its memory.
    pub(crate) fn recycle(&mut self, data: Data) {
        if self.spares.len() < MAX_SPARES {
            self.spares.extend(data.into_wire().reclaim());
        }
    }
}
