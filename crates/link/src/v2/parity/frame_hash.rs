//! What frames are known by in a parity frame.

use packet::SipHash;

/// Hash of a frame: SipHash-1-3 of its bytes under a key of zeros, so that all ends of a link agree.
///
/// Anybody can compute it, and find two frames of the same hash with some 2³² attempts. What is rebuilt with
/// such frames has to have the hash that was named for it as well, and to make that true takes 2⁶⁴.
pub(crate) fn frame_hash(frame: &[u8]) -> u64 {
    SipHash::of_bytes([0, 0], frame)
}
