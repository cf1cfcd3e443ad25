//! LpPackets of NDNLPv2. What decodes encodes to a frame of the length that was foretold, which decodes to
//! the same.

#![no_main]

use packet::ndn::lp::LpPacketView;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (view, used) = match LpPacketView::decode_first(bytes) {
        Ok(first) => first,
        Err(error) => {
            assert!(error.offset <= bytes.len(), "{error}");
            assert!(LpPacketView::decode(bytes).is_err(), "a frame that cannot begin cannot be whole");
            return;
        }
    };
    assert!(used <= bytes.len());
    assert_eq!(LpPacketView::decode(&bytes[..used]), Ok(view), "what follows a frame does not change it");
    assert_eq!(LpPacketView::decode(bytes).is_ok(), used == bytes.len());

    let mut again = Vec::new();
    view.encode(&mut again);
    assert_eq!(again.len(), view.encoded_len());
    assert!(again.len() <= used, "nothing is added");
    assert_eq!(LpPacketView::decode(&again), Ok(view));

    assert_eq!(view.acks.iter().count(), view.acks.len());
    let header = view.link_header();
    assert_eq!(LpPacketView::with_header(&header).link_header(), header);
});
