//! What is known of a Data that has arrived, beside itself.

use packet::time::Instant;
use packet::{CachePolicy, LinkHeader, NameHash, PrefixHashes};

use crate::arrival::Reception;
use crate::face_id::FaceId;
use crate::tables::content_store::IncomingName;
use crate::tables::pending::PendingId;

/// When, where and with what a Data has arrived.
#[derive(Clone, Copy)]
pub(super) struct ArrivedData<'a> {
    pub(super) now: Instant,
    /// By which face it came.
    pub(super) from: FaceId,
    pub(super) name: DataName<'a>,
    /// What came with it over the link.
    pub(super) header: &'a LinkHeader,
}

impl<'a> ArrivedData<'a> {
    #[inline(always)]
    pub(super) fn of(Reception { now, face, header }: Reception<'a>, name: DataName<'a>) -> Self {
        ArrivedData { now, from: face, name, header }
    }

    /// Whether whoever sent it leaves it to this node to keep it.
    #[inline(always)]
    pub(super) fn is_cacheable(&self) -> bool {
        self.header.cache_policy != Some(CachePolicy::NoCache)
    }
}

/// What is known of the name of a Data.
#[derive(Clone, Copy)]
pub(super) struct DataName<'h> {
    pub(super) hash: NameHash,
    /// Those of its prefixes, too, unless nobody has looked into it.
    pub(super) hashes: Option<&'h PrefixHashes>,
    /// That of its longest prefix, if that is known without those; see [`Pending::parent`].
    pub(super) parent: NameHash,
    /// An Interest for just this name, which has no selectors.
    pub(super) asked: Option<PendingId>,
}

impl<'h> DataName<'h> {
    /// A name that has been hashed.
    #[inline(always)]
    pub(super) fn hashed(hashes: &'h PrefixHashes) -> Self {
        DataName { hash: hashes.whole(), hashes: Some(hashes), parent: NameHash::UNKNOWN, asked: None }
    }

    /// What the content store has to know of it.
    pub(super) fn kept(self) -> IncomingName<'h> {
        IncomingName { hash: self.hash, hashes: self.hashes, parent: self.parent }
    }
}
