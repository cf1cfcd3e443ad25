//! What is known of a packet that has arrived, beside itself.

use packet::time::Instant;
use packet::{LinkHeader, PrefixHashes};

use crate::face_id::FaceId;

/// When, where and with what a packet has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// When it arrived.
    pub now: Instant,
    /// By which face it came.
    pub face: FaceId,
    /// Of its name, under [`Engine::hasher`](crate::Engine::hasher).
    pub hashes: &'a PrefixHashes,
    /// What came with it over the link.
    pub header: &'a LinkHeader,
}

impl<'a> Arrival<'a> {
    /// A packet that came with nothing but itself.
    pub fn bare(now: Instant, face: FaceId, hashes: &'a PrefixHashes) -> Self {
        static NOTHING: LinkHeader = LinkHeader::NONE;
        Arrival { now, face, hashes, header: &NOTHING }
    }
}
