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

/// The same of a packet whose name has not been hashed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reception<'a> {
    pub(crate) now: Instant,
    pub(crate) face: FaceId,
    pub(crate) header: &'a LinkHeader,
}

impl<'a> Reception<'a> {
    /// With the hashes of its name.
    #[inline(always)]
    pub(crate) fn hashed(self, hashes: &'a PrefixHashes) -> Arrival<'a> {
        let Reception { now, face, header } = self;
        Arrival { now, face, hashes, header }
    }
}

impl<'a> Arrival<'a> {
    /// A packet that came with nothing but itself.
    pub fn bare(now: Instant, face: FaceId, hashes: &'a PrefixHashes) -> Self {
        static NOTHING: LinkHeader = LinkHeader::NONE;
        Arrival { now, face, hashes, header: &NOTHING }
    }
}
