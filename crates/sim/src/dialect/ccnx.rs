//! CCNx: messages as they are, and Data that nobody verifies.

use packet::ccnx::block::body_element_len;
use packet::ccnx::{ContentObjectFields, Dtag, SignedInfo, Ticks, markers};
use packet::time::Duration;
use packet::{
    Buffer, Component, ComponentKind, Data, DecodeError, Dialect, EncodeError, LinkHeader, Name, NameRef,
    Packet,
};

use super::{DataSize, NumberComponent, longest_within};

pub(super) fn read_frame(frame: &[u8]) -> Result<(Packet, LinkHeader), DecodeError> {
    Ok((Packet::decode(Dialect::Ccnx, Buffer::copy_from(frame), None)?, LinkHeader::default()))
}

#[cold]
pub(super) fn number_component(number: u64) -> NumberComponent {
    let value = markers::segment(number);
    let mut bytes = [0; 9];
    let start = bytes.len().saturating_sub(value.len());
    for (place, byte) in bytes.iter_mut().skip(start).zip(value) {
        *place = byte;
    }
    NumberComponent { kind: ComponentKind::GENERIC, bytes, start }
}

#[inline]
pub(super) fn number_in(component: Component<'_>) -> Option<u64> {
    markers::parse_segment(component.value)
}

/// Signed by nobody, with the name of no key and the date of no day; fresh for whole seconds, or, with none,
/// for ever. `None` if it would exceed a packet, or CCNx cannot express the name.
pub(super) fn content_object(name: &Name, content: &[u8], freshness: Duration) -> Option<Data> {
    let signed_info = SignedInfo {
        freshness_seconds: Some(Ticks::whole_seconds(freshness)).filter(|seconds| *seconds > 0),
        ..SignedInfo::new(&[0x11; 32], Ticks::from_unix(1_000_000_000, 0))
    };
    let fields = ContentObjectFields { name: name.into(), signed_info, content };
    let wire = fields.encode(None, |_| Ok::<_, EncodeError>([0x22; 16])).ok()?;
    Data::decode_ccnx(Buffer::from(wire)).ok()
}

#[cold]
pub(super) fn data_of_size(name: NameRef<'_>, size: DataSize, freshness: Duration) -> Option<Data> {
    let name = name.to_name();
    let made = |content: usize| content_object(&name, &vec![0; content], freshness);
    match size {
        DataSize::Content(bytes) => made(bytes),
        DataSize::Packet(bytes) => {
            let others = made(0)?.wire().len() - content_element_len(0);
            made(longest_within(bytes, |content| others + content_element_len(content)))
        }
    }
}

/// Bytes of the element that holds so much content.
const fn content_element_len(content: usize) -> usize {
    body_element_len(Dtag::CONTENT, content)
}
