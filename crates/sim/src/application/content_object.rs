//! Data of CCNx that nobody verifies.

use packet::ccnx::block::body_element_len;
use packet::ccnx::{ContentObjectFields, Dtag, SignedInfo, Ticks};
use packet::time::Duration;
use packet::{Buffer, Data, EncodeError, Name};

/// Signed by nobody, with the name of no key and the date of no day; fresh for whole seconds, or, with less
/// than one, for ever. `None` if it would exceed a packet, or CCNx cannot express the name.
pub(super) fn content_object(name: &Name, content: &[u8], freshness: Duration) -> Option<Data> {
    let seconds = freshness.as_millis() / 1000;
    let signed_info = SignedInfo {
        freshness_seconds: (seconds > 0).then_some(seconds as u32),
        ..SignedInfo::new(&[0x11; 32], Ticks::from_unix(1_000_000_000, 0))
    };
    let fields = ContentObjectFields { name: name.into(), signed_info, content };
    let wire = fields.encode(None, |_| Ok::<_, EncodeError>([0x22; 16])).ok()?;
    Data::decode_ccnx(Buffer::from(wire)).ok()
}

/// Bytes of the element that holds so much content.
pub(super) const fn content_element_len(content: usize) -> usize {
    body_element_len(Dtag::CONTENT, content)
}
