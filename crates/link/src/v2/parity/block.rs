//! The frames that one parity frame stands for, and how it is written: what a Parity field holds.
//!
//! | bytes | what |
//! |---|---|
//! | 1 | how many frames |
//! | 2 | the XOR of their lengths |
//! | 8 for each | their hashes, in the order in which they left |
//! | the rest | the XOR of their bytes, the shorter ones followed by zeros |

use packet::ndn::lp::types;
use packet::ndn::tlv;

use super::frame_hash::frame_hash;

/// Frames of a block, at most: whoever rebuilds one goes over all others.
pub(crate) const MAX_FRAMES: usize = 32;

/// Bytes before the hashes.
const HEAD_BYTES: usize = 3;
/// Types and lengths of LpPacket and Parity, where the lengths take three bytes each.
const HEADERS_BYTES: usize = 1 + 3 + 3 + 3;

/// What a parity frame of so many frames has more than the longest of them.
pub(crate) const fn overhead_bytes(frames: usize) -> usize {
    HEADERS_BYTES + HEAD_BYTES + frames * size_of::<u64>()
}

/// The frames that left since the last parity frame.
#[derive(Debug, Default)]
pub(crate) struct OpenBlock {
    hashes: Vec<u64>,
    lengths: u16,
    xor: Vec<u8>,
}

impl OpenBlock {
    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }

    pub(crate) fn add(&mut self, frame: &[u8]) {
        self.hashes.push(frame_hash(frame));
        self.lengths ^= frame.len() as u16;
        if self.xor.len() < frame.len() {
            self.xor.resize(frame.len(), 0);
        }
        xor_into(&mut self.xor, frame);
    }

    pub(crate) fn clear(&mut self) {
        self.hashes.clear();
        self.xor.clear();
        self.lengths = 0;
    }

    /// Appends the parity frame of these frames.
    pub(crate) fn encode(&self, frames: &mut Vec<u8>) {
        let field_len = HEAD_BYTES + self.hashes.len() * size_of::<u64>() + self.xor.len();
        frames.reserve(field_len + HEADERS_BYTES);
        tlv::write_header(frames, types::LP_PACKET, tlv::element_len(types::PARITY, field_len));
        tlv::write_header(frames, types::PARITY, field_len);
        frames.push(self.hashes.len() as u8);
        frames.extend_from_slice(&self.lengths.to_be_bytes());
        self.hashes.iter().for_each(|hash| frames.extend_from_slice(&hash.to_be_bytes()));
        frames.extend_from_slice(&self.xor);
    }
}

/// The value of a Parity field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockView<'a> {
    hashes: &'a [[u8; 8]],
    pub(crate) lengths: u16,
    pub(crate) xor: &'a [u8],
}

impl<'a> BlockView<'a> {
    /// `None` for no or too many frames, and for fewer bytes than announced.
    pub(crate) fn decode(value: &'a [u8]) -> Option<Self> {
        let (&[count, high, low], rest) = value.split_first_chunk::<HEAD_BYTES>()?;
        let count = usize::from(count);
        let (hashes, xor) = rest.split_at_checked(count * size_of::<u64>())?;
        let (hashes, _) = hashes.as_chunks::<8>();
        let is_good = (1..=MAX_FRAMES).contains(&count) && !xor.is_empty();
        is_good.then_some(BlockView { hashes, lengths: u16::from_be_bytes([high, low]), xor })
    }

    pub(crate) fn hashes(&self) -> impl Iterator<Item = u64> + 'a {
        self.hashes.iter().map(|hash| u64::from_be_bytes(*hash))
    }
}

/// As far as both reach.
pub(crate) fn xor_into(sum: &mut [u8], bytes: &[u8]) {
    sum.iter_mut().zip(bytes).for_each(|(sum, byte)| *sum ^= byte);
}

#[cfg(test)]
mod tests {
    use packet::ndn::lp::LpPacketView;

    use super::*;

    #[test]
    fn a_parity_frame_is_an_lp_packet_without_a_packet_and_no_longer_than_was_said() {
        for longest in [1, 100, 1400, 8000] {
            for count in [1, 12, MAX_FRAMES] {
                let mut block = OpenBlock::default();
                let frames: Vec<Vec<u8>> =
                    (0..count).map(|place| vec![place as u8; longest - place % 2]).collect();
                frames.iter().for_each(|frame| block.add(frame));
                let mut wire = Vec::new();
                block.encode(&mut wire);
                assert!(wire.len() <= longest + overhead_bytes(count), "{longest} {count}");
                let view = LpPacketView::decode(&wire).unwrap();
                assert_eq!(view, LpPacketView { parity: view.parity, ..LpPacketView::default() });
                let decoded = BlockView::decode(view.parity).unwrap();
                assert!(decoded.hashes().eq(frames.iter().map(|frame| frame_hash(frame))));
            }
        }
    }

    #[test]
    fn the_parity_frame_of_two_data_is_the_golden_one() {
        let mut block = OpenBlock::default();
        block.add(&[6, 7, 7, 3, 8, 1, b'A', 0x15, 0]);
        block.add(&[6, 8, 7, 3, 8, 1, b'B', 0x15, 1, 0x2a]);
        let mut wire = Vec::new();
        block.encode(&mut wire);
        let vectors = testkit::vectors::load("ndn-lp");
        let golden = vectors.iter().find(|vector| vector.name == "parity").unwrap();
        assert_eq!(wire, golden.bytes);
    }

    #[test]
    fn a_list_of_no_or_too_many_frames_and_one_that_is_cut_off_are_no_block() {
        let value = |count: u8, hashes: usize, bytes: usize| {
            let mut value = vec![count, 0, 1];
            value.resize(3 + 8 * hashes + bytes, 7);
            value
        };
        assert!(BlockView::decode(&value(2, 2, 1)).is_some());
        assert!(BlockView::decode(&value(32, 32, 1)).is_some());
        let bad = [value(0, 0, 1), value(33, 33, 1), value(2, 2, 0), value(2, 1, 7), vec![], vec![1, 0]];
        for value in bad {
            assert_eq!(BlockView::decode(&value), None, "{value:?}");
        }
    }
}
