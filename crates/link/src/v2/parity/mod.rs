//! Parity frames on links with many ends: of some frames that left, their XOR, from which each receiver
//! rebuilds the one that it missed, whichever that is.
//!
//! Where forty receivers lose one frame in a hundred each, every third frame has to be sent again because
//! one of them missed it. One parity frame for twelve repairs what each of the forty has lost of the twelve,
//! if it has lost no more than one. Frames that carry packets are not changed, and peers that know nothing of
//! parity take a parity frame for one without a packet.
//!
//! - **The sender** ([`sender`]) sends none until it sees frames leave again that left a short while ago
//!   ([`repair_watch`]): then some receivers have missed them. It stops when there were none for long, and
//!   when parity was no help.
//! - **The receiver** ([`receiver`]) keeps the last frames while it hears parity frames ([`recent_frames`]),
//!   and takes what it rebuilds as if it had just come. A stranger can make it rebuild only what the stranger
//!   could have sent himself, with work that is bounded by [`block::MAX_FRAMES`] and the length of the frame.
//!
//! Bare Interests are in no block: who is not answered asks again, with another nonce.

mod block;
mod frame_hash;
mod receiver;
mod recent_frames;
mod repair_watch;
mod sender;

use packet::ndn::lp::types;
use packet::time::Duration;

pub(crate) use block::MAX_FRAMES;
#[cfg(test)]
pub(crate) use block::OpenBlock;
pub(crate) use receiver::{ParityReceiver, Rebuilt};
pub(crate) use sender::ParitySender;

/// Frames of a block, at least.
pub(crate) const MIN_BLOCK: usize = 4;

/// How parity frames are made, and what is kept to use those of others. Nothing is sent or kept before losses
/// are seen, or parity frames heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParityConfig {
    /// Frames that one parity frame stands for, at most: 4 to 32. Fewer where more is lost. Default 16.
    pub max_block: usize,
    /// How long after its first frame a parity frame leaves at the latest. Default 40 ms.
    pub max_age: Duration,
    /// How long after its last frame it leaves if no other follows, or twice as long as its frames were
    /// apart if that is longer. Default 4 ms.
    pub max_pause: Duration,
    /// Frames received that are kept to rebuild others. Default 128.
    pub max_recent_frames: usize,
    /// Bytes of memory for them. Default 256 KiB.
    pub max_recent_bytes: usize,
}

impl Default for ParityConfig {
    fn default() -> Self {
        ParityConfig {
            max_block: 16,
            max_age: Duration::from_millis(40),
            max_pause: Duration::from_millis(4),
            max_recent_frames: 128,
            max_recent_bytes: 256 << 10,
        }
    }
}

/// Both directions of a link.
#[derive(Debug)]
pub(crate) struct Parity {
    pub(crate) sender: ParitySender,
    pub(crate) receiver: ParityReceiver,
}

impl Parity {
    pub(crate) fn new(config: &ParityConfig, mtu_bytes: Option<usize>) -> Self {
        Parity { sender: ParitySender::new(config, mtu_bytes), receiver: ParityReceiver::new(config) }
    }
}

/// Whether a frame is one of those that parity frames are made of.
#[inline]
fn is_in_blocks(frame: &[u8]) -> bool {
    frame.first().is_none_or(|kind| u32::from(*kind) != types::INTEREST)
}
