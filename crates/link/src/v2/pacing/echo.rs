//! Asking a neighbour whether it has come so far.
//!
//! A request is a number in a field that only Cairn reads, and around it an Interest that no forwarder can
//! bring any further: its name is below `/localhop` and its hop limit is one. A Cairn answers the field. Any
//! other forwarder that sends Nacks sends the Interest back, and it does so when it has taken from its queue
//! all that came before.

use packet::ndn::lp::{Echo, LpPacketView};
use packet::ndn::{tlv, types};

/// Name and its length: three components, the last the number.
const NAME_HEAD: &[u8] = b"\x07\x20\x08\x08localhop\x08\x0acairn-echo\x08\x08";
const INTEREST_LEN: usize = 2 + NAME_HEAD.len() + 8 + NONCE_LEN + LIFETIME.len() + HOP_LIMIT.len();
const NONCE_LEN: usize = 6;
/// One second.
const LIFETIME: &[u8] = &[0x0c, 2, 0x03, 0xe8];
const HOP_LIMIT: &[u8] = &[0x22, 1, 1];

/// Bytes of a request without padding, at most.
pub(crate) const REQUEST_BYTES: usize = 2 + 12 + 12 + 2 + INTEREST_LEN;

/// Bytes of an answer, at most.
pub(crate) const REPLY_BYTES: usize = 2 + 12 + 12;

/// Appends a request, padded to `len` bytes if that is more than it has.
pub(crate) fn write_request(frame: &mut Vec<u8>, number: u64, receive_capacity: u64, len: usize) {
    let mut interest = Vec::with_capacity(INTEREST_LEN);
    tlv::write_header(&mut interest, types::INTEREST, INTEREST_LEN - 2);
    interest.extend_from_slice(NAME_HEAD);
    interest.extend_from_slice(&number.to_be_bytes());
    tlv::write_element(&mut interest, types::NONCE, &(number as u32).to_be_bytes());
    interest.extend_from_slice(LIFETIME);
    interest.extend_from_slice(HOP_LIMIT);
    let mut view = LpPacketView {
        echo: Some(Echo::Request(number)),
        receive_capacity,
        fragment: Some(&interest),
        ..LpPacketView::default()
    };
    // Where lengths take more bytes a frame may come out a little short; never long.
    let unpadded = view.encoded_len();
    let mut padding = len.saturating_sub(unpadded);
    while padding > 0 {
        view.padding = padding;
        let over = view.encoded_len().saturating_sub(len);
        if over == 0 {
            break;
        }
        padding = padding.saturating_sub(over);
        view.padding = padding;
    }
    view.encode(frame);
}

/// Appends the answer to a request.
pub(crate) fn write_reply(frame: &mut Vec<u8>, number: u64, receive_capacity: u64) {
    LpPacketView { echo: Some(Echo::Reply(number)), receive_capacity, ..LpPacketView::default() }
        .encode(frame);
}

/// The number of a request, by the Interest that came back.
pub(crate) fn number_of(interest: &[u8]) -> Option<u64> {
    let name = interest.get(2..)?.strip_prefix(NAME_HEAD)?;
    name.first_chunk().map(|number| u64::from_be_bytes(*number))
}

/// Answers a frame if it asks whether it was heard, as a [`LinkService`](crate::v2::LinkService) with pacing
/// does: for what stands at the end of a link and has none.
pub fn answer_echo(frame: &[u8], receive_capacity: u64) -> Option<Vec<u8>> {
    match LpPacketView::decode(frame).ok()?.echo? {
        Echo::Request(number) => {
            let mut reply = Vec::new();
            write_reply(&mut reply, number, receive_capacity);
            Some(reply)
        }
        Echo::Reply(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use packet::ndn::InterestView;

    use super::*;

    #[test]
    fn a_request_is_as_long_as_asked_and_a_forwarder_can_send_its_interest_back() {
        for len in (0..600).chain([1200, 1400, 8800]) {
            let mut frame = Vec::new();
            write_request(&mut frame, 77, 8 << 20, len);
            assert!(frame.len() <= len.max(REQUEST_BYTES), "{len}: {}", frame.len());
            assert!(frame.len() + 6 >= len, "{len}: {}", frame.len());
            let view = LpPacketView::decode(&frame).unwrap();
            assert_eq!((view.echo, view.receive_capacity), (Some(Echo::Request(77)), 8 << 20));
            let interest = view.fragment.unwrap();
            assert_eq!(number_of(interest), Some(77));
            let decoded = InterestView::decode(interest).unwrap();
            assert_eq!(decoded.hop_limit(), Some(1));
            assert_eq!(decoded.lifetime().as_millis(), 1000);
        }
    }

    #[test]
    fn an_answer_is_smaller_than_any_request() {
        let mut request = Vec::new();
        write_request(&mut request, u64::MAX, 0, 0);
        let reply = answer_echo(&request, u64::MAX).unwrap();
        assert!(reply.len() <= REPLY_BYTES);
        assert!(reply.len() < request.len(), "{} {}", reply.len(), request.len());
        assert_eq!(answer_echo(&reply, 1), None);
        assert_eq!(number_of(b"\x05\x03\x07\x01\x08"), None);
    }
}
