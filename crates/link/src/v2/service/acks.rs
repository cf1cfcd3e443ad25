//! How many acks a frame has room for.

use packet::ndn::lp::ACK_BYTES;
use packet::ndn::tlv::MAX_PACKET_BYTES;

/// Type and length of an LpPacket that holds nothing but acks; the length may take two bytes more.
const IDLE_OVERHEAD: usize = 2;

/// As many of `pending` as fit behind `frame_len` bytes: up to the MTU, or to the largest packet on
/// transports without one. Two bytes are kept for the length of the LpPacket, which may grow.
pub(super) fn fitting_acks(pending: &[u64], frame_len: usize, mtu_bytes: Option<usize>) -> &[u64] {
    let frame_len = if frame_len == 0 { IDLE_OVERHEAD } else { frame_len };
    let room = mtu_bytes.unwrap_or(MAX_PACKET_BYTES).saturating_sub(frame_len + 2);
    pending.get(..pending.len().min(room / ACK_BYTES)).unwrap_or_default()
}
