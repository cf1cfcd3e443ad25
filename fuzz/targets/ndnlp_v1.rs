//! Packets of NDNLP version 1. What decodes encodes to a packet that decodes to the same, of the length that
//! was foretold; every acknowledged number is a set bit of a bitmap.

#![no_main]

use packet::ccnx::ndnlp::{AckBlock, LinkAck, LinkData, LinkPacket};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    match LinkPacket::decode(bytes) {
        Ok(LinkPacket::Data(data)) => check_data(data),
        Ok(LinkPacket::Ack(ack)) => check_ack(ack),
        Err(error) => assert!(error.offset <= bytes.len(), "{error}"),
    }
});

fn check_data(data: LinkData<'_>) {
    let again = data.encode();
    assert_eq!(again.len(), data.encoded_len());
    assert_eq!(LinkPacket::decode(&again), Ok(LinkPacket::Data(data)));
    assert_eq!(data.message().plus(data.fragment.index.into()), data.sequence);
    assert!(!data.fragment.is_last() || data.fragment.is_possible());
}

fn check_ack(ack: LinkAck<'_>) {
    let blocks: Vec<AckBlock<'_>> = ack.blocks().collect();
    assert!(!blocks.is_empty(), "an acknowledgement has at least one block");
    let bits: u32 = blocks.iter().flat_map(|block| block.bitmap).map(|byte| byte.count_ones()).sum();
    assert_eq!(ack.sequences().count(), bits as usize);
    for block in &blocks {
        let reach = block.bitmap.len() as u64 * 8;
        assert!(block.sequences().all(|sequence| sequence.since(block.base) < reach));
    }
    let mut again = Vec::new();
    LinkAck::encode_into(&blocks, &mut again);
    assert_eq!(again.len(), LinkAck::encoded_len(blocks.iter().map(AckBlock::encoded_len)));
    match LinkPacket::decode(&again) {
        Ok(LinkPacket::Ack(again)) => assert!(again.blocks().eq(ack.blocks())),
        other => panic!("{other:?}"),
    }
}
