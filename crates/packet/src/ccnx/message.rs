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
