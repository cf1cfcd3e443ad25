//! What travels together on the way in.

use engine::Engine;
use engine::batch::Arrivals;
use packet::time::Instant;

/// A frame that arrived.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) now: Instant,
    /// Tells peers on one link apart.
    pub(crate) from: u64,
    pub(crate) bytes: &'a [u8],
}

/// Where packets go that were read from frames.
pub(crate) struct PacketInput<'a> {
    pub(crate) engine: &'a mut Engine,
    pub(crate) arrivals: &'a mut Arrivals,
}
