//! What goes in and comes out of a link service beside frames.

use packet::{Buffer, LinkHeader, NackReason};

/// Who sent a frame, on a link with many ends: whatever number the owner gives each address. On a link with
/// two ends it is always the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId(pub u64);

/// A network packet that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The packet: one Interest or Data element, not looked into any further.
    pub packet: Buffer,
    /// The fields that came with it.
    pub header: LinkHeader,
    /// Present if the packet is an Interest that comes back.
    pub nack: Option<NackReason>,
    /// Who sent it.
    pub from: EndpointId,
}

/// What came of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received<'f> {
    /// The network packet in the frame, still in the owner's receive buffer, so that it is copied only once,
    /// to where it stays.
    Packet {
        /// The packet: one Interest or Data element, not looked into any further.
        packet: &'f [u8],
        /// The fields that came with it.
        header: LinkHeader,
        /// Present if the packet is an Interest that comes back.
        nack: Option<NackReason>,
    },
    /// No packet, or one that was put together from fragments: take it with
    /// [`LinkService::poll_deliver`](super::LinkService::poll_deliver).
    Taken,
}

/// What came of a packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framed {
    /// It goes into one frame: what was appended, and then the packet itself.
    Whole,
    /// The service has it: take its frames with
    /// [`LinkService::poll_transmit`](super::LinkService::poll_transmit).
    Taken,
}
