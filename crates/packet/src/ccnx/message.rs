//! What arrives on a CCNx face.

use crate::ccnx::content_object::ContentObjectView;
use crate::ccnx::dtag::Dtag;
use crate::ccnx::interest::InterestView;
use crate::ccnx::pdu::{SequenceNumber, unwrap_pdu};
use crate::ccnx::reader::Reader;
use crate::dialect::Dialect;
use crate::error::DecodeError;
use crate::packet::PacketKind;

/// One message, told apart by its outermost element.
#[derive(Clone, Copy, Debug)]
pub enum Message<'a> {
    /// Somebody wants a ContentObject.
    Interest(InterestView<'a>),
    /// Named and signed content.
    ContentObject(ContentObjectView<'a>),
    /// A count of the datagrams of this face.
    SequenceNumber(SequenceNumber),
    /// What a CCNProtocolDataUnit holds: messages one after the other, or nothing.
    Pdu(&'a [u8]),
    /// Any other well-formed element. CCNx 0.8.2 steps over these.
    Other(&'a [u8]),
}

impl<'a> Message<'a> {
    /// Reads the message that fills `wire`, cut from a stream or datagram by a
    /// [`Framer`](crate::ccnx::Framer).
    ///
    /// # Errors
    /// Those of the message that is announced.
    pub fn decode(wire: &'a [u8]) -> Result<Self, DecodeError> {
        match PacketKind::announced(Dialect::Ccnx, wire) {
            Some(PacketKind::Interest) => return InterestView::decode(wire).map(Message::Interest),
            Some(PacketKind::Data) => return ContentObjectView::decode(wire).map(Message::ContentObject),
            _ => {}
        }
        let mut reader = Reader::new(wire, "message");
        if reader.next_is(Dtag::SEQUENCE_NUMBER) {
            SequenceNumber::decode(wire).map(Message::SequenceNumber)
        } else if reader.next_is(Dtag::PROTOCOL_DATA_UNIT) {
            unwrap_pdu(wire).map(Message::Pdu)
        } else {
            let element = reader.skip_element("message")?;
            reader.finish()?;
            Ok(Message::Other(element))
        }
    }
}

/// An Interest or ContentObject that was found at the start of some bytes, read in place.
#[derive(Clone, Copy, Debug)]
pub enum PacketView<'a> {
    /// Somebody wants a ContentObject.
    Interest(InterestView<'a>),
    /// Named and signed content.
    ContentObject(ContentObjectView<'a>),
}

impl<'a> PacketView<'a> {
    /// Reads the packet that `bytes` begin with. Elements of CCNx have no lengths, so to read a packet is the
    /// cheapest way to find where it ends. What is no Interest is read as a ContentObject, which says what is
    /// wrong: unlike [`Message::decode`], this knows nothing but packets.
    ///
    /// # Errors
    /// Those of the packet. [`message_len`](crate::ccnx::message_len) may still find where it ends.
    #[inline]
    pub fn decode_first(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        if Reader::new(bytes, "message").next_is(Dtag::INTEREST) {
            InterestView::decode_first_after(bytes, (&[], 0)).map(PacketView::Interest)
        } else {
            ContentObjectView::decode_first_asking(bytes, |_| None).map(PacketView::ContentObject)
        }
    }

    /// The whole message, and nothing of what follows it.
    #[inline]
    pub fn wire(&self) -> &'a [u8] {
        match self {
            PacketView::Interest(view) => view.wire(),
            PacketView::ContentObject(view) => view.wire(),
        }
    }
}
