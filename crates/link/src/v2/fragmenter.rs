//! How a network packet is cut into frames that fit the MTU (NDNLPv2 digest, section 3).

use packet::ndn::lp::types;
use packet::ndn::tlv;

use crate::DropReason;

/// Sizes of the slices of one packet. All but the first and the last are equally long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FragmentPlan {
    /// How many frames carry the packet.
    pub(crate) count: u32,
    /// Bytes of the packet in the first frame.
    pub(crate) first_len: usize,
    /// Bytes of the packet in each further frame; the last one has what is left.
    pub(crate) other_len: usize,
}

impl FragmentPlan {
    /// The plan for a packet that travels whole.
    pub(crate) const fn whole(packet_len: usize) -> Self {
        FragmentPlan { count: 1, first_len: packet_len, other_len: 0 }
    }

    /// The slice of `packet` that frame number `index` carries.
    pub(crate) fn slice<'a>(&self, packet: &'a [u8], index: u32) -> &'a [u8] {
        let (start, len) = match index.checked_sub(1) {
            None => (0, self.first_len),
            Some(before) => (self.first_len + before as usize * self.other_len, self.other_len),
        };
        let end = packet.len().min(start.saturating_add(len));
        packet.get(start..end).unwrap_or_default()
    }
}

/// What every frame of a packet has to have room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameRoom {
    /// The largest frame.
    pub(crate) mtu_bytes: usize,
    /// Bytes of the network-layer fields in the first frame.
    pub(crate) first_header_len: usize,
    /// Bytes of the network-layer fields in each further frame: PitToken and CongestionMark.
    pub(crate) other_header_len: usize,
    /// Whether frames carry Sequence and TxSequence in any case.
    pub(crate) reliable: bool,
    /// The most fragments allowed; `None` if the packet must travel whole.
    pub(crate) max_fragments: Option<u32>,
}

const SEQUENCE_LEN: usize = tlv::element_len(types::SEQUENCE, 8);
const TX_SEQUENCE_LEN: usize = tlv::element_len(types::TX_SEQUENCE, 8);

/// Decides how to cut a packet of `packet_len` bytes.
///
/// Unlike NFD, which works with upper bounds (12 bytes for a mark, 30 to 50 for the rest), this fills frames
/// to the last byte, for every length is known beforehand.
pub(crate) fn plan(packet_len: usize, room: &FrameRoom) -> Result<FragmentPlan, DropReason> {
    let reliability_len = if room.reliable { SEQUENCE_LEN + TX_SEQUENCE_LEN } else { 0 };
    let whole_len = fragment_capacity(room.mtu_bytes, room.first_header_len + reliability_len);
    if packet_len <= whole_len || fits_bare(packet_len, room) {
        return Ok(FragmentPlan::whole(packet_len));
    }
    let max_fragments = room.max_fragments.ok_or(DropReason::OverMtu)?;
    let transmission_len = SEQUENCE_LEN + if room.reliable { TX_SEQUENCE_LEN } else { 0 };
    // FragIndex and FragCount take one byte each up to 255 fragments, and two beyond.
    for (most, widest) in [(0xff, 0xff), (max_fragments, u64::from(max_fragments).max(0x100))] {
        let position_len = tlv::nni_element_len(types::FRAG_INDEX, widest)
            + tlv::nni_element_len(types::FRAG_COUNT, widest)
            + transmission_len;
        let first_len = fragment_capacity(room.mtu_bytes, room.first_header_len + position_len);
        let other_len = fragment_capacity(room.mtu_bytes, room.other_header_len + position_len);
        if first_len == 0 || other_len == 0 {
            return Err(DropReason::NoRoomInMtu);
        }
        let count = 1 + packet_len.saturating_sub(first_len).div_ceil(other_len);
        if count <= most.min(max_fragments) as usize {
            return Ok(FragmentPlan { count: count as u32, first_len: first_len.min(packet_len), other_len });
        }
    }
    Err(DropReason::FragmentLimit)
}

fn fits_bare(packet_len: usize, room: &FrameRoom) -> bool {
    room.first_header_len == 0 && !room.reliable && packet_len <= room.mtu_bytes
}

/// How long a Fragment may be in an LpPacket of at most `mtu_bytes` with `header_len` bytes of other fields.
fn fragment_capacity(mtu_bytes: usize, header_len: usize) -> usize {
    largest_value(largest_value(mtu_bytes).saturating_sub(header_len))
}

/// The longest value of an element that takes at most `len` bytes, when its type takes one.
fn largest_value(len: usize) -> usize {
    match len {
        0..=1 => 0,
        2..=254 => len - 2,
        // 252 bytes of value take 254; 253 bytes take 257, for the length then has three bytes.
        255..=0x1_0003 => (len - 4).max(252),
        _ => (len - 6).max(0xffff),
    }
}

#[cfg(test)]
mod tests {
    use packet::ndn::lp::LpPacketView;

    use super::*;

    fn room(mtu_bytes: usize) -> FrameRoom {
        FrameRoom {
            mtu_bytes,
            first_header_len: 0,
            other_header_len: 0,
            reliable: false,
            max_fragments: Some(400),
        }
    }

    #[test]
    fn the_longest_value_is_the_longest_that_fits() {
        for len in (0..1000).chain(65_000..66_500) {
            let value = largest_value(len);
            if value > 0 {
                assert!(tlv::element_len(types::FRAGMENT, value) <= len, "{len}");
            }
            assert!(tlv::element_len(types::FRAGMENT, value + 1) > len, "{len}");
        }
    }

    /// Encodes every frame of a plan with the longest fields that may join it, and measures.
    fn check(packet_len: usize, room: &FrameRoom, token: &[u8]) -> FragmentPlan {
        let plan = plan(packet_len, room).unwrap();
        let value_len = (0..packet_len).rev().find(|&len| tlv::element_len(types::DATA, len) == packet_len);
        let mut packet = Vec::new();
        tlv::write_element(&mut packet, types::DATA, &vec![0; value_len.unwrap()]);
        let mut total = 0;
        let mut longest = 0;
        for index in 0..plan.count {
            let slice = plan.slice(&packet, index);
            assert!(!slice.is_empty());
            total += slice.len();
            let several = plan.count > 1;
            let frame = LpPacketView {
                sequence: (several || room.reliable).then_some(0),
                frag_index: several.then_some(index.into()),
                frag_count: several.then_some(plan.count.into()),
                pit_token: token,
                tx_sequence: room.reliable.then_some(0),
                fragment: Some(slice),
                ..LpPacketView::default()
            };
            assert!(frame.encoded_len() <= room.mtu_bytes, "{index} of {plan:?} in {room:?}");
            longest = longest.max(frame.encoded_len());
        }
        assert_eq!(total, packet_len);
        // Not a byte is wasted, except where a length field jumps or a FragIndex is shorter than the widest.
        assert!(plan.count < 3 || longest + 4 >= room.mtu_bytes, "{longest} of {}", room.mtu_bytes);
        plan
    }

    #[test]
    fn frames_fit_the_mtu_whatever_the_sizes() {
        for mtu_bytes in [64, 65, 100, 253, 254, 255, 256, 257, 258, 259, 500, 1280, 1500, 8800] {
            for token_len in [0, 6] {
                let token = vec![7; token_len];
                let header_len = if token_len == 0 { 0 } else { 2 + token_len };
                for reliable in [false, true] {
                    let room = FrameRoom {
                        first_header_len: header_len,
                        other_header_len: header_len,
                        reliable,
                        ..room(mtu_bytes)
                    };
                    for packet_len in (2..255).chain(257..600).chain([1400, 1450, 1500, 3000]) {
                        check(packet_len, &room, &token);
                    }
                }
            }
        }
    }

    #[test]
    fn a_packet_as_long_as_the_mtu_travels_bare_and_one_byte_more_does_not() {
        assert_eq!(check(1500, &room(1500), &[]), FragmentPlan::whole(1500));
        assert_eq!(check(1501, &room(1500), &[]).count, 2);
        let reliable = FrameRoom { reliable: true, ..room(1500) };
        // 4 LpPacket, 10 Sequence, 12 TxSequence, 4 Fragment.
        assert_eq!(check(1470, &reliable, &[]), FragmentPlan::whole(1470));
        assert_eq!(check(1471, &reliable, &[]).count, 2);
    }

    #[test]
    fn numbers_of_fragments_around_the_change_of_width_and_the_limit() {
        // One-byte positions leave 64 - 2 - 10 - 3 - 3 - 2 = 44 bytes, two-byte ones 42.
        assert_eq!(check(255 * 44, &room(64), &[]).count, 255);
        assert_eq!(check(255 * 44 + 1, &room(64), &[]).count, 268);
        assert_eq!(check(400 * 42, &room(64), &[]).count, 400);
        assert_eq!(plan(400 * 42 + 1, &room(64)), Err(DropReason::FragmentLimit));
        let few = FrameRoom { max_fragments: Some(2), ..room(64) };
        assert_eq!(check(88, &few, &[]).count, 2);
        assert_eq!(plan(89, &few), Err(DropReason::FragmentLimit));
    }

    #[test]
    fn a_packet_that_cannot_be_cut_is_refused_with_the_reason() {
        let whole_only = FrameRoom { max_fragments: None, ..room(100) };
        assert_eq!(plan(101, &whole_only), Err(DropReason::OverMtu));
        let no_room = FrameRoom { first_header_len: 60, ..room(64) };
        assert_eq!(plan(100, &no_room), Err(DropReason::NoRoomInMtu));
        let no_room_later = FrameRoom { other_header_len: 46, ..room(64) };
        assert_eq!(plan(100, &no_room_later), Err(DropReason::NoRoomInMtu));
    }
}
