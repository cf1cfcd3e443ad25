//! Messages between a process and the Linux kernel about the network: headers and attributes (`netlink(7)`,
//! `rtnetlink(7)`). What the kinds, flags and attributes mean is for their users to say.

/// Bytes of the header of a message: length, kind, flags, sequence number, port.
const HEADER_BYTES: usize = 16;
/// Messages and attributes begin at multiples of this.
const ALIGNMENT: usize = 4;
/// The kind of an acknowledgement.
const ERROR: u16 = 2;
/// A request, which is to be acknowledged.
const REQUEST_AND_ACK: u16 = 1 | 4;

/// A message that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// What it is about.
    pub kind: u16,
    /// What stands behind its header.
    pub body: &'a [u8],
}

impl Received<'_> {
    /// The code of an acknowledgement; zero is success, others are negative errors.
    pub fn acknowledgement(&self) -> Option<i32> {
        bytes_at(self.body, 0).filter(|_| self.kind == ERROR).map(i32::from_ne_bytes)
    }

    /// The number that stands so many bytes behind the header.
    pub fn number_at(&self, at: usize) -> Option<u32> {
        bytes_at(self.body, at).map(u32::from_ne_bytes)
    }
}

/// The messages in one datagram, up to the first that is none.
pub fn messages(datagram: &[u8]) -> impl Iterator<Item = Received<'_>> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        let len = u32::from_ne_bytes(bytes_at(rest, 0)?) as usize;
        let body = rest.get(HEADER_BYTES..len)?;
        let kind = u16::from_ne_bytes(bytes_at(rest, 4)?);
        rest = rest.get(len.next_multiple_of(ALIGNMENT)..).unwrap_or_default();
        Some(Received { kind, body })
    })
}

fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// A request that grows.
///
/// ```
/// use cairn_formats::netlink::{Request, messages};
///
/// let mut request = Request::new(16, 0);
/// request.put(&7u32.to_ne_bytes());
/// request.attribute(3, b"eth0\0");
/// let bytes = request.finish();
/// let message = messages(&bytes).next().ok_or("no message")?;
/// assert_eq!((message.kind, message.number_at(0)), (16, Some(7)));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct Request(Vec<u8>);

impl Request {
    /// A request of this kind, which is to be acknowledged, with these flags beside.
    pub fn new(kind: u16, flags: u16) -> Self {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes.splice(4..6, kind.to_ne_bytes());
        bytes.splice(6..8, (flags | REQUEST_AND_ACK).to_ne_bytes());
        bytes.splice(8..12, 1u32.to_ne_bytes());
        Request(bytes)
    }

    /// Appends bytes as they are.
    pub fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Appends an attribute.
    pub fn attribute(&mut self, kind: u16, value: &[u8]) {
        let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
        self.put(&length.to_ne_bytes());
        self.put(&kind.to_ne_bytes());
        self.put(value);
        self.0.resize(self.0.len().next_multiple_of(ALIGNMENT), 0);
    }

    /// Appends an attribute that holds what `inner` appends.
    pub fn nested(&mut self, kind: u16, inner: impl FnOnce(&mut Request)) {
        let start = self.0.len();
        self.attribute(kind, &[]);
        inner(self);
        let length = u16::try_from(self.0.len() - start).unwrap_or(u16::MAX);
        self.0.splice(start..start + 2, length.to_ne_bytes());
    }

    /// The message, with its length.
    pub fn finish(mut self) -> Vec<u8> {
        let length = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        self.0.splice(0..4, length.to_ne_bytes());
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_cover_what_is_inside_and_attributes_are_padded() {
        let mut request = Request::new(16, 0);
        request.nested(18, |request| request.attribute(1, b"veth\0"));
        let bytes = request.finish();
        assert_eq!(bytes.len(), 16 + 4 + 4 + 8);
        assert_eq!(u32::from_ne_bytes(bytes[0..4].try_into().unwrap()), 32);
        assert_eq!(u16::from_ne_bytes(bytes[16..18].try_into().unwrap()), 16);
        assert_eq!(u16::from_ne_bytes(bytes[20..22].try_into().unwrap()), 9, "the padding does not count");
    }

    fn answer(kind: u16, code: i32) -> Vec<u8> {
        let mut request = Request::new(kind, 0);
        request.put(&code.to_ne_bytes());
        request.finish()
    }

    #[test]
    fn an_acknowledgement_is_told_from_other_answers() {
        let code = |kind| messages(&answer(kind, -17)).next().and_then(|message| message.acknowledgement());
        assert_eq!((code(2), code(16)), (Some(-17), None));
        assert_eq!(messages(&Request::new(2, 0).finish()).next().unwrap().acknowledgement(), None);
    }

    #[test]
    fn a_datagram_that_ends_early_or_is_nonsense_ends_the_reading() {
        let datagram = [answer(17, 4), answer(17, 6)].concat();
        assert_eq!(
            messages(&datagram).map(|message| message.number_at(0)).collect::<Vec<_>>(),
            [Some(4), Some(6)]
        );
        for len in 0..datagram.len() {
            assert!(messages(&datagram[..len]).count() <= 1);
        }
        for nonsense in [[0; 64], [0xff; 64]] {
            assert_eq!(messages(&nonsense).count(), 0);
        }
    }
}
