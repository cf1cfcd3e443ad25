//! Acks that travel alone, and how many a frame has room for.

use packet::ndn::lp::{ACK_BYTES, Acks, LpPacketView};
use packet::ndn::tlv::MAX_PACKET_BYTES;

use super::LinkService;
use crate::v2::reliability::Reliability;

/// Type and length of an LpPacket that holds nothing but acks; the length may take two bytes more.
const IDLE_OVERHEAD: usize = 2;

/// As many of `pending` as fit behind `frame_len` bytes: up to the MTU, or to the largest packet on
/// transports without one. Two bytes are kept for the length of the LpPacket, which may grow.
pub(super) fn fitting_acks(pending: &[u64], frame_len: usize, mtu_bytes: Option<usize>) -> &[u64] {
    let frame_len = if frame_len == 0 { IDLE_OVERHEAD } else { frame_len };
    let room = mtu_bytes.unwrap_or(MAX_PACKET_BYTES).saturating_sub(frame_len + 2);
    pending.get(..pending.len().min(room / ACK_BYTES)).unwrap_or_default()
}

impl LinkService {
    /// Sends acks that have waited long enough for a packet to travel with.
    pub(super) fn transmit_idle(&mut self, frames: &mut Vec<u8>) -> bool {
        if !self.reliability.as_ref().is_some_and(Reliability::acks_overdue) {
            return false;
        }
        let mtu_bytes = self.mtu_bytes();
        let Some(reliability) = &mut self.reliability else { return false };
        let acks = fitting_acks(reliability.pending_acks(), 0, mtu_bytes);
        if acks.is_empty() {
            return false;
        }
        LpPacketView { acks: Acks::of(acks), ..LpPacketView::default() }.encode(frames);
        let count = acks.len();
        reliability.take_acks(count);
        self.counters.acks_out += count as u64;
        self.counters.idle_out += 1;
        true
    }
}
