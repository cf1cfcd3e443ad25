//! What an engine is made of, by what it is for.

use packet::time::{Duration, Instant};
use packet::{CachePolicy, Data, Dialect, Interest, Name, NameHash, NameRef, Nonce, PrefixHashes};

use crate::arrival::Arrival;
use crate::batch::route_hints::RouteHints;
use crate::face_id::FaceId;
use crate::limit::ReleaseQueue;
use crate::sharing::flows::QueuedInterest;
use crate::strategy::Instance;
use crate::tables::chunked::Slab;
use crate::tables::content_store::ContentStore;
use crate::tables::dead_nonces::DeadNonces;
use crate::tables::entry_id::EntryId;
use crate::tables::fib::{Fib, FibNode};
use crate::tables::hash_index::HashIndex;
use crate::tables::namespaces::Namespaces;
use crate::tables::pending::{InRecord, PendingId, PendingTable, VariantTag};
use crate::tables::sweep::Sweep;

/// What an engine was told to do.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) max_lifetime: Duration,
    pub(crate) default_hop_limit: Option<u8>,
    pub(crate) producer_regions: Vec<Name>,
}

impl Settings {
    /// What is noted of who waits for an Interest that arrived.
    #[inline(always)]
    pub(crate) fn in_record(
        &self,
        arrival: Arrival<'_>,
        is_local: bool,
        interest: &Interest,
        nonce: Nonce,
    ) -> InRecord {
        let Arrival { now, face, header, .. } = arrival;
        InRecord {
            face,
            nonce,
            expires: now + interest.lifetime().min(self.max_lifetime),
            pit_token: header.pit_token.clone(),
            non_discovery: header.non_discovery,
            is_local,
        }
    }
}

/// What an engine remembers.
#[derive(Debug)]
pub(crate) struct Tables {
    /// From names, by hash, to what is pending and what is kept.
    pub(crate) index: HashIndex,
    pub(crate) pending: PendingTable,
    pub(crate) store: ContentStore,
    /// By dialect.
    pub(crate) fibs: [Fib; 2],
    pub(crate) route_hints: RouteHints,
    /// Of CCNx.
    pub(crate) namespaces: Namespaces,
    pub(crate) dead_nonces: DeadNonces,
    pub(crate) strategies: Slab<Instance>,
}

impl Tables {
    /// The routes of a dialect, to be changed.
    pub(crate) fn changing_fib(&mut self, dialect: Dialect) -> &mut Fib {
        self.route_hints.clear();
        &mut self.fibs[dialect as usize]
    }

    /// The longest match of a name among the routes of its dialect.
    #[inline]
    pub(crate) fn longest_match(&self, interest: &Interest, hashes: &PrefixHashes) -> FibNode {
        match interest.ccnx_name() {
            None => {
                let components = interest.wire_components();
                self.match_in(Dialect::Ndn, |prefix| components.starts_with(prefix.canonical()), hashes)
            }
            Some(name) => self.match_in(Dialect::Ccnx, |prefix| name.begins_with(prefix), hashes),
        }
    }

    #[inline(always)]
    fn match_in(
        &self,
        dialect: Dialect,
        has_prefix: impl Fn(NameRef<'_>) -> bool + Copy,
        hashes: &PrefixHashes,
    ) -> FibNode {
        let fib = &self.fibs[dialect as usize];
        if fib.is_small() {
            return fib.longest_match_by(has_prefix, hashes);
        }
        match self.route_hints.get(hashes.whole()) {
            Some(node) if fib.is_match(node, has_prefix) => node,
            _ => fib.longest_match_by(has_prefix, hashes),
        }
    }

    /// The pending Interests whose names may have this hash.
    pub(crate) fn pending_by(&self, hash: NameHash) -> impl Iterator<Item = PendingId> {
        self.index.candidates(hash).filter_map(|id| match EntryId::from_raw(id) {
            EntryId::Pending(id) => Some(id),
            EntryId::Cached(_) => None,
        })
    }

    /// The entry of an Interest.
    pub(crate) fn find_pending(&self, interest: &Interest, hashes: &PrefixHashes) -> Option<PendingId> {
        self.find_pending_by_tag(interest, hashes, self.pending.tag_of(interest))
    }

    /// The entry whose Interest came back, as it left or, by some forwarders, a hop shorter.
    pub(crate) fn find_nacked(&self, interest: &Interest, hashes: &PrefixHashes) -> Option<PendingId> {
        self.find_pending(interest, hashes).or_else(|| {
            let tag = self.pending.tag_a_hop_ago(interest)?;
            self.find_pending_by_tag(interest, hashes, tag)
        })
    }

    fn find_pending_by_tag(
        &self,
        interest: &Interest,
        hashes: &PrefixHashes,
        tag: VariantTag,
    ) -> Option<PendingId> {
        self.pending_by(hashes.whole()).find(|&id| self.pending.is(id, interest, hashes.whole(), tag))
    }

    /// Hash of the name that waits at a shared link, if somebody still wants it and it was not asked for
    /// again meanwhile.
    pub(crate) fn hash_if_wanted(&self, now: Instant, waiting: &QueuedInterest) -> Option<NameHash> {
        let (face, entry) = (waiting.transmit.face, self.pending.get(waiting.id)?);
        let record = entry.out_record(face)?;
        let is_its_own = record.nonce == waiting.nonce && record.is_unsent;
        let is_wanted = entry.in_records.iter().any(|record| record.face != face && record.expires > now);
        (is_its_own && is_wanted).then(|| entry.hash())
    }

    /// Data, whose name has this hash, is kept because of `face`.
    pub(crate) fn note_owner(&mut self, data: &Data, hash: NameHash, face: FaceId) {
        if let Some(id) = self.store.entry_of(&self.index, data, hash) {
            self.store.shares.note_kept(id, face);
        }
    }

    /// What nodes behind this one are told of a Data that came with this policy.
    pub(crate) fn onward_policy(&self, arrived: Option<CachePolicy>, data: &Data) -> Option<CachePolicy> {
        // CCNx has no such field.
        if !self.store.config.placement.marks_data() || data.dialect() != Dialect::Ndn {
            return None;
        }
        let is_kept = arrived == Some(CachePolicy::NoCache) || self.store.may_keep(data);
        is_kept.then_some(CachePolicy::NoCache)
    }
}

/// What is done at times of its own, beside the timers of pending Interests.
#[derive(Debug)]
pub(crate) struct Maintenance {
    /// Of faces with Interests that wait.
    pub(crate) turns: ReleaseQueue,
    /// Of what faces left behind that are gone.
    pub(crate) sweep: Sweep,
    /// When more of the content store may be made findable by prefix, if that is wanted.
    pub(crate) order_at: Instant,
}
