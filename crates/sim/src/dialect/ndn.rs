//! NDN: packets in link headers of NDNLPv2, and Data that is made fast.

use packet::ndn::lp::{LpPacketView, types as lp};
use packet::ndn::types::{CONTENT, DATA, FRESHNESS_PERIOD, META_INFO, NAME};
use packet::ndn::{DataBuilder, InterestBuilder, tlv};
use packet::time::Duration;
use packet::{
    Buffer, ComponentKind, Data, DecodeError, Dialect, Interest, LinkHeader, Name, NameRef, Packet,
};

use super::{DataSize, NumberComponent, longest_within};
use crate::dialect::request::Request;

#[inline]
pub(super) fn size_bytes(packet: &Packet, header: &LinkHeader) -> usize {
    let bare = packet.wire().len();
    bare + link_header_bytes(header, matches!(packet, Packet::Nack(..)), bare)
}

pub(super) fn frame(packet: &Packet, header: &LinkHeader) -> Vec<u8> {
    let mut frame = Vec::new();
    let view = LpPacketView { nack: packet.nack_reason(), ..LpPacketView::with_header(header) };
    LpPacketView { fragment: Some(packet.wire()), ..view }.encode(&mut frame);
    frame
}

pub(super) fn read_frame(frame: &[u8]) -> Result<(Packet, LinkHeader), DecodeError> {
    let view = LpPacketView::decode(frame)?;
    let wire = Buffer::copy_from(view.fragment.unwrap_or_default());
    Ok((Packet::decode(Dialect::Ndn, wire, view.nack)?, view.link_header()))
}

/// What NDNLPv2 adds to a packet of `bare` bytes; nothing when there is nothing to say.
#[inline]
fn link_header_bytes(header: &LinkHeader, nack: bool, bare: usize) -> usize {
    let plain = header.pit_token.is_none()
        && header.congestion_mark == 0
        && !nack
        && !header.non_discovery
        && header.prefix_announcement.is_none()
        && header.cache_policy.is_none()
        && header.explicit_rate.is_none();
    if plain { 0 } else { link_header_bytes_of_fields(header, nack, bare) }
}

#[cold]
fn link_header_bytes_of_fields(header: &LinkHeader, nack: bool, bare: usize) -> usize {
    let token = header.pit_token.as_bytes().len();
    let mut fields = 0;
    if token > 0 {
        fields += tlv::element_len(lp::PIT_TOKEN, token);
    }
    if nack {
        fields += tlv::element_len(lp::NACK, tlv::nni_element_len(lp::NACK_REASON, 50));
    }
    if header.congestion_mark > 0 {
        fields += tlv::nni_element_len(lp::CONGESTION_MARK, header.congestion_mark);
    }
    if header.non_discovery {
        fields += tlv::element_len(lp::NON_DISCOVERY, 0);
    }
    if header.cache_policy.is_some() {
        fields += tlv::element_len(lp::CACHE_POLICY, tlv::nni_element_len(lp::CACHE_POLICY_TYPE, 1));
    }
    if let Some(announcement) = &header.prefix_announcement {
        fields += tlv::element_len(lp::PREFIX_ANNOUNCEMENT, announcement.len());
    }
    if let Some(rate) = header.explicit_rate {
        fields += tlv::nni_element_len(lp::EXPLICIT_RATE, rate.per_1000_s());
    }
    let value = fields + tlv::element_len(lp::FRAGMENT, bare);
    tlv::element_len(lp::LP_PACKET, value) - bare
}

#[inline]
pub(super) fn number_component(number: u64) -> NumberComponent {
    let mut bytes = [0; 9];
    for (place, byte) in bytes.iter_mut().skip(1).zip(number.to_be_bytes()) {
        *place = byte;
    }
    NumberComponent { kind: ComponentKind::SEQUENCE_NUMBER, bytes, start: 9 - tlv::nni_len(number) }
}

pub(super) fn interest_of(request: &Request, nonce: u32) -> Option<Interest> {
    let mut builder = InterestBuilder::new(request.name.clone())
        .can_be_prefix(request.can_be_prefix)
        .must_be_fresh(request.must_be_fresh)
        .forwarding_hint(request.forwarding_hint.clone())
        .nonce(nonce)
        .lifetime(request.lifetime);
    if let Some(hops) = request.hop_limit {
        builder = builder.hop_limit(hops);
    }
    builder.build().ok()
}

pub(super) fn data_with_digest(name: &Name, content: &[u8], freshness: Duration) -> Option<Data> {
    DataBuilder::new(name.clone()).freshness(freshness).content(content.to_vec()).build_with_digest().ok()
}

/// SignatureInfo with SignatureType 200, which is "null", and an empty SignatureValue.
const NULL_SIGNATURE: [u8; 7] = [22, 3, 27, 1, 200, 23, 0];

/// Makes Data by changing the name in the last one where it has the same length.
#[derive(Debug, Default)]
pub(super) struct DataMaker {
    /// All of a Data behind its name, for the content length it was made for.
    tail: Vec<u8>,
    tail_content: Option<usize>,
    scratch: Vec<u8>,
    /// The last Data that was made; the next one mostly differs only in its name.
    last: Option<Data>,
}

impl DataMaker {
    pub(super) fn data(&mut self, name: NameRef<'_>, size: DataSize, freshness: Duration) -> Option<Data> {
        if let Some(data) = self.last.as_ref().and_then(|last| last.renamed(name)) {
            return Some(data);
        }
        let data = self.encode(name, size, freshness)?;
        self.last = Some(data.clone());
        Some(data)
    }

    #[cold]
    fn encode(&mut self, name: NameRef<'_>, size: DataSize, freshness: Duration) -> Option<Data> {
        let name = name.canonical();
        let name_len = tlv::element_len(NAME, name.len());
        let content = match size {
            DataSize::Content(bytes) => bytes,
            DataSize::Packet(bytes) => content_for(bytes, name_len, freshness),
        };
        if self.tail_content != Some(content) {
            self.make_tail(content, freshness);
        }
        let out = &mut self.scratch;
        out.clear();
        tlv::write_header(out, DATA, name_len + self.tail.len());
        tlv::write_element(out, NAME, name);
        out.extend_from_slice(&self.tail);
        Data::decode_ndn(Buffer::copy_from(out)).ok()
    }

    fn make_tail(&mut self, content: usize, freshness: Duration) {
        let tail = &mut self.tail;
        tail.clear();
        let freshness_ms = freshness.as_millis();
        tlv::write_header(tail, META_INFO, tlv::nni_element_len(FRESHNESS_PERIOD, freshness_ms));
        tlv::write_nni_element(tail, FRESHNESS_PERIOD, freshness_ms);
        tlv::write_header(tail, CONTENT, content);
        tail.resize(tail.len() + content, 0);
        tail.extend_from_slice(&NULL_SIGNATURE);
        self.tail_content = Some(content);
    }
}

/// The length of content with which the whole packet of NDN has so many bytes, or the nearest fewer.
fn content_for(packet_bytes: usize, name_len: usize, freshness: Duration) -> usize {
    longest_within(packet_bytes, |content: usize| {
        let meta = tlv::element_len(META_INFO, tlv::nni_element_len(FRESHNESS_PERIOD, freshness.as_millis()));
        let value = name_len + meta + tlv::element_len(CONTENT, content) + NULL_SIGNATURE.len();
        tlv::element_len(DATA, value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{Buffer, CachePolicy, ExplicitRate, NackReason, PitToken};

    #[test]
    fn a_link_header_takes_as_many_bytes_as_the_encoder_writes() {
        let headers = [
            LinkHeader::default(),
            LinkHeader { pit_token: PitToken::new(&[1; 6]).unwrap(), ..LinkHeader::default() },
            LinkHeader { congestion_mark: 1, non_discovery: true, ..LinkHeader::default() },
            LinkHeader { cache_policy: Some(CachePolicy::NoCache), ..LinkHeader::default() },
            LinkHeader {
                prefix_announcement: Some(Buffer::from(vec![6; 40])),
                congestion_mark: 3,
                ..LinkHeader::default()
            },
            LinkHeader { explicit_rate: ExplicitRate::from_per_1000_s(998_400), ..LinkHeader::default() },
        ];
        for header in headers {
            for nack in [None, Some(NackReason::Congestion), Some(NackReason::NoRoute)] {
                if nack.is_none() && header == LinkHeader::default() {
                    // Goes without a link header at all, where the encoder would write an empty one.
                    assert_eq!(link_header_bytes(&header, false, 100), 0);
                    continue;
                }
                for bare in [10, 100, 240, 300, 1200, 8000] {
                    let packet = vec![5; bare];
                    let mut frame = Vec::new();
                    let view = LpPacketView { nack, ..LpPacketView::with_header(&header) };
                    LpPacketView { fragment: Some(&packet), ..view }.encode(&mut frame);
                    let expected = bare + link_header_bytes(&header, nack.is_some(), bare);
                    assert_eq!(expected, frame.len(), "{header:?} {nack:?} {bare}");
                }
            }
        }
    }
}
