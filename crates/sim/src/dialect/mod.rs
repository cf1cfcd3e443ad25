//! What differs between the dialects in a simulated network: what a link carries, and the packets that
//! applications make for it.

mod ccnx;
mod ndn;
pub(crate) mod request;

use packet::time::Duration;
use packet::{
    Component, ComponentKind, Data, DecodeError, Dialect, Interest, LinkHeader, Name, NameRef, Packet,
};

use crate::dialect::request::Request;

/// Bytes of a packet in the link header of its dialect.
#[inline]
pub(crate) fn size_bytes(packet: &Packet, header: &LinkHeader) -> usize {
    match packet.dialect() {
        Dialect::Ndn => ndn::size_bytes(packet, header),
        Dialect::Ccnx => packet.wire().len(),
    }
}

/// The frame that a link would carry for a packet, if it carried frames.
pub(crate) fn frame(packet: &Packet, header: &LinkHeader) -> Vec<u8> {
    match packet.dialect() {
        Dialect::Ndn => ndn::frame(packet, header),
        Dialect::Ccnx => packet.wire().to_vec(),
    }
}

/// The packet in such a frame.
pub(crate) fn read_frame(dialect: Dialect, frame: &[u8]) -> Result<(Packet, LinkHeader), DecodeError> {
    match dialect {
        Dialect::Ndn => ndn::read_frame(frame),
        Dialect::Ccnx => ccnx::read_frame(frame),
    }
}

/// The last component of a numbered name: in NDN a sequence number, in CCNx a segment's, which is the only
/// number that it has a component for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberComponent {
    kind: ComponentKind,
    bytes: [u8; 9],
    start: usize,
}

impl NumberComponent {
    #[inline]
    pub(crate) fn new(dialect: Dialect, number: u64) -> Self {
        match dialect {
            Dialect::Ndn => ndn::number_component(number),
            Dialect::Ccnx => ccnx::number_component(number),
        }
    }

    #[inline]
    pub(crate) fn component(&self) -> Component<'_> {
        Component::new(self.kind, self.bytes.get(self.start..).unwrap_or_default())
    }
}

/// The number in a component that [`NumberComponent`] has made.
#[inline]
pub(crate) fn number_in(component: Component<'_>) -> Option<u64> {
    match component.kind {
        ComponentKind::SEQUENCE_NUMBER => component.number(),
        ComponentKind::GENERIC => ccnx::number_in(component),
        _ => None,
    }
}

/// The Interest of a request; `None` for what does not fit into a packet.
pub(crate) fn interest_of(request: &Request, dialect: Dialect, nonce: u32) -> Option<Interest> {
    match dialect {
        Dialect::Ndn => ndn::interest_of(request, nonce),
        Dialect::Ccnx => dialect.interest(request.name.clone(), nonce, request.lifetime).ok(),
    }
}

/// Data that can be told from a damaged one where the dialect has a digest for it; `None` if it would exceed
/// a packet.
pub(crate) fn checked_data(
    dialect: Dialect,
    name: &Name,
    content: &[u8],
    freshness: Duration,
) -> Option<Data> {
    match dialect {
        Dialect::Ndn => ndn::data_with_digest(name, content, freshness),
        Dialect::Ccnx => ccnx::content_object(name, content, freshness),
    }
}

/// How large the packets of a [`DataMaker`] are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DataSize {
    /// So many bytes of content.
    Content(usize),
    /// So many bytes in all, or the nearest fewer.
    Packet(usize),
}

/// Makes Data whose content is zeros and which nobody has signed, fast.
#[derive(Debug, Default)]
pub(crate) struct DataMaker {
    ndn: ndn::DataMaker,
}

impl DataMaker {
    /// The Data for a name; `None` if it would exceed the size of a packet. Size and freshness are always the
    /// same ones.
    pub(crate) fn data(
        &mut self,
        dialect: Dialect,
        name: NameRef<'_>,
        size: DataSize,
        freshness: Duration,
    ) -> Option<Data> {
        match dialect {
            Dialect::Ndn => self.ndn.data(name, size, freshness),
            Dialect::Ccnx => ccnx::data_of_size(name, size, freshness),
        }
    }
}

/// The longest content with which a packet has no more than so many bytes, by how many it has with a content.
fn longest_within(packet_bytes: usize, whole: impl Fn(usize) -> usize) -> usize {
    let most = packet_bytes.saturating_sub(whole(0));
    (most.saturating_sub(8)..=most + 2).rev().find(|&content| whole(content) <= packet_bytes).unwrap_or(0)
}
