//! The Ack fields of a frame, without a list of their own.

use std::fmt;

use super::ACK_BYTES;
use crate::ndn::tlv::Element;

/// The Ack fields of one frame, in the order on the wire.
#[derive(Clone, Copy)]
pub struct Acks<'a>(AckSource<'a>);

#[derive(Clone, Copy)]
enum AckSource<'a> {
    /// Whole Ack elements as received, all well-formed.
    Wire(&'a [u8]),
    /// Numbers to send.
    Numbers(&'a [u64]),
}

impl<'a> Acks<'a> {
    /// Acknowledges `numbers`.
    pub fn of(numbers: &'a [u64]) -> Self {
        Acks(AckSource::Numbers(numbers))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self.0 {
            AckSource::Wire(wire) => wire.len() / ACK_BYTES,
            AckSource::Numbers(numbers) => numbers.len(),
        }
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The acknowledged TxSequence numbers.
    pub fn iter(&self) -> impl Iterator<Item = u64> + 'a {
        let (wire, numbers) = match self.0 {
            AckSource::Wire(wire) => (wire, [].as_slice()),
            AckSource::Numbers(numbers) => ([].as_slice(), numbers),
        };
        // An Ack is three bytes of type and one of length, both in their only legal form, before the number.
        let (elements, _) = wire.as_chunks::<ACK_BYTES>();
        let received = elements.iter().map(|&[_, _, _, _, a, b, c, d, e, f, g, h]| {
            u64::from_be_bytes([a, b, c, d, e, f, g, h]) //
        });
        received.chain(numbers.iter().copied())
    }

    /// Takes in `element`, which follows the ones taken in before without a gap, as the order of fields
    /// demands.
    pub(super) fn push_wire(&mut self, frame: &'a [u8], element: Element<'a>) {
        let start = element.start.saturating_sub(self.len() * ACK_BYTES);
        self.0 = AckSource::Wire(frame.get(start..element.end()).unwrap_or_default());
    }
}

impl Default for Acks<'_> {
    fn default() -> Self {
        Acks(AckSource::Numbers(&[]))
    }
}

impl PartialEq for Acks<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for Acks<'_> {}

impl fmt::Debug for Acks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
