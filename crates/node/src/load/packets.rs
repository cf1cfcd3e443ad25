//! Packets that differ from each other in a number only, so that the next is the last with a few bytes
//! changed.

use packet::ccnx::{ContentObjectFields, KeyLocator, SignedInfo, Ticks};
use packet::ndn::DataBuilder;
use packet::ndn::lp::{LpPacketView, is_lp_packet};
use packet::time::Duration;
use packet::{Component, Dialect, EncodeError, Name};

/// What the packets look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of the name, components with their types and lengths; at least 40.
    pub name_bytes: usize,
    /// Bytes of content of each Data.
    pub payload_bytes: usize,
    /// What they are written in.
    pub dialect: Dialect,
}

impl Default for Shape {
    fn default() -> Self {
        Shape { name_bytes: 100, payload_bytes: 1000, dialect: Dialect::Ndn }
    }
}

/// Digits of the number in each name, and what marks their place.
const DIGITS: usize = 12;
const MARK: &[u8; DIGITS] = b"############";
/// What marks the place of the nonce; a number is not of such bytes, nor are the other fields.
const NONCE: [u8; 4] = [0xf1, 0xe2, 0xd3, 0xc4];

impl Shape {
    /// The prefix of all names.
    ///
    /// # Errors
    /// None for the shapes that can be asked for.
    pub fn prefix(&self) -> Result<Name, packet::name::UriError> {
        "/bench/forward".parse()
    }

    fn name(&self) -> Result<Name, EncodeError> {
        let start = Name::from_components([Component::generic(b"bench"), Component::generic(b"forward")])?;
        let rest = self.name_bytes.saturating_sub(start.canonical().len() + 2 + DIGITS);
        // Two components of about equal length before the number.
        let (left, right) = (rest / 2, rest - rest / 2);
        let filler = |len: usize| vec![b'x'; len.saturating_sub(2).min(250)];
        let name = start.with(Component::generic(&filler(left)))?.with(Component::generic(&filler(right)))?;
        Ok(name.with(Component::generic(MARK))?)
    }

    /// An Interest to be numbered.
    pub(super) fn interest(&self) -> Result<Template, EncodeError> {
        let (name, lifetime) = (self.name()?, Duration::from_secs(4));
        let interest = self.dialect.interest(name, u32::from_be_bytes(NONCE), lifetime)?;
        let wire = interest.wire().to_vec();
        let nonce = wire.windows(NONCE.len()).position(|window| window == NONCE);
        Ok(Template::new(wire, nonce))
    }

    /// A Data to be numbered. Its signature is right for no number but one: forwarders do not look at it.
    pub(super) fn data(&self) -> Result<Template, EncodeError> {
        let (name, content) = (self.name()?, vec![b'.'; self.payload_bytes]);
        let wire = match self.dialect {
            Dialect::Ndn => {
                let data = DataBuilder::new(name).freshness(Duration::from_secs(3600)).content(content);
                data.build_with_digest()?.wire().to_vec()
            }
            Dialect::Ccnx => {
                // As long as with a key of 1,024 bits, which CCNx's own tools make.
                let info = SignedInfo {
                    freshness_seconds: Some(3600),
                    key_locator: Some(KeyLocator::Key(&[0x30; 162])),
                    ..SignedInfo::new(&[0x11; 32], Ticks::from_unix(1_300_000_000, 0))
                };
                let fields =
                    ContentObjectFields { name: (&name).into(), signed_info: info, content: &content };
                fields.encode(None, |_| Ok::<_, EncodeError>([0x5a; 128]))?
            }
        };
        Ok(Template::new(wire, None))
    }
}

/// A packet with the places of what changes.
#[derive(Clone, Debug)]
pub(super) struct Template {
    pub(super) wire: Vec<u8>,
    digits: usize,
    nonce: Option<usize>,
}

impl Template {
    fn new(wire: Vec<u8>, nonce: Option<usize>) -> Self {
        let digits = wire.windows(DIGITS).position(|window| window == MARK).unwrap_or(0);
        Template { wire, digits, nonce }
    }

    pub(super) fn len(&self) -> usize {
        self.wire.len()
    }

    /// Writes number and nonce into a packet made from this template.
    #[inline]
    pub(super) fn number(&self, packet: &mut [u8], number: u64, nonce: u32) {
        let mut digits = [b'0'; DIGITS];
        let mut rest = number;
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        self.put_digits(packet, &digits);
        if let Some(place) = self.nonce.and_then(|at| packet.get_mut(at..at + 4)) {
            place.copy_from_slice(&nonce.to_be_bytes());
        }
    }

    #[inline]
    pub(super) fn put_digits(&self, packet: &mut [u8], digits: &[u8; DIGITS]) {
        if let Some(place) = packet.get_mut(self.digits..self.digits + DIGITS) {
            place.copy_from_slice(digits);
        }
    }

    /// The digits of a packet made from this template, and the PIT token in its frame, if there is one.
    #[inline]
    pub(super) fn digits<'a>(&self, frame: &'a [u8]) -> Option<(&'a [u8; DIGITS], &'a [u8])> {
        let (packet, token) = match is_lp_packet(frame) {
            true => {
                let view = LpPacketView::decode(frame).ok()?;
                // A Nack is no Interest to be answered.
                (view.fragment.filter(|_| view.nack.is_none())?, view.pit_token)
            }
            false => (frame, &[][..]),
        };
        // A forwarder may have added a field behind the name, never before it, unless that made a length
        // longer.
        Some((packet.get(self.digits..)?.first_chunk()?, token))
    }
}

#[cfg(test)]
mod tests {
    use packet::{Data, Interest};

    use super::*;

    #[test]
    fn numbered_packets_of_ccnx_are_legal_and_answer_each_other() {
        let shape = Shape { dialect: Dialect::Ccnx, ..Shape::default() };
        let (interest, data) = (shape.interest().unwrap(), shape.data().unwrap());
        let mut wire = interest.wire.clone();
        interest.number(&mut wire, 4711, 7);
        let asked = Interest::decode_ccnx(wire.clone().into()).unwrap();
        assert_eq!(asked.ccnx().unwrap().nonce(), Some(&[0, 0, 0, 7][..]));
        let mut answer = data.wire.clone();
        data.put_digits(&mut answer, interest.digits(&wire).unwrap().0);
        let answered = Data::decode_ccnx(answer.into()).unwrap();
        assert_eq!((answered.name(), answered.content().len()), (asked.name(), 1000));
        assert_eq!(asked.name().last().unwrap().value, b"000000004711");
        assert!(shape.prefix().unwrap().as_ref().is_prefix_of(asked.name()));
    }

    #[test]
    fn numbered_packets_are_legal_and_have_names_of_the_length_asked_for() {
        let shape = Shape::default();
        let (interest, data) = (shape.interest().unwrap(), shape.data().unwrap());
        let mut wire = interest.wire.clone();
        interest.number(&mut wire, 4711, 7);
        let decoded = Interest::decode_ndn(wire.clone().into()).unwrap();
        assert_eq!(decoded.name().canonical().len(), 100);
        assert_eq!(decoded.name().last().unwrap().value, b"000000004711");
        assert_eq!(decoded.nonce().unwrap().0, 7);
        let (digits, token) = interest.digits(&wire).unwrap();
        assert_eq!((&digits[..], token), (&b"000000004711"[..], &[][..]));
        let mut answer = data.wire.clone();
        data.put_digits(&mut answer, digits);
        let decoded_data = Data::decode_ndn(answer.into()).unwrap();
        assert_eq!(decoded_data.name(), decoded.name());
        assert_eq!(decoded_data.content().len(), 1000);
        assert!(shape.prefix().unwrap().as_ref().is_prefix_of(decoded.name()));
    }
}
