//! Which pending Interests a Data may answer.
//!
//! On a point-to-point link only those may answer who were asked: otherwise any neighbour could answer for
//! any other, and what it sends would be kept. On a link that several share whoever hears an Interest may
//! answer it. Where Data that nobody asked for is welcome by [`UnsolicitedPolicy`](crate::UnsolicitedPolicy),
//! it would be kept and answer from there, so it may answer at once.

use std::cell::OnceCell;

use packet::{Data, Dialect, Interest, NameHash, NameRef, PrefixHashes};

use crate::engine::Engine;
use crate::face_id::FaceId;
use crate::tables::content_store::{CachedId, KeptName, UnsolicitedPolicy};
use crate::tables::entry_id::EntryId;
use crate::tables::pending::{Matches, Pending, PendingId};

/// What is known of the name of a Data.
#[derive(Clone, Copy)]
pub(super) struct DataName<'h> {
    pub(super) hash: NameHash,
    /// Those of its prefixes, too, unless nobody has looked into it.
    pub(super) hashes: Option<&'h PrefixHashes>,
    /// An Interest for just this name.
    pub(super) asked: Option<PendingId>,
}

impl<'h> DataName<'h> {
    /// What the content store has to know of it.
    pub(super) fn kept(self) -> KeptName<'h> {
        KeptName { hash: self.hash, hashes: self.hashes }
    }
}

/// What the tables say about a Data.
#[derive(Default)]
pub(super) struct Found {
    /// Pending Interests that it answers.
    pub(super) matches: Matches,
    /// Kept Data of the same name.
    pub(super) known: Option<CachedId>,
    /// Some wait for Data of such a name, but not from this face.
    pub(super) not_asked: bool,
    /// Not all were looked at.
    pub(super) cut_short: bool,
    /// Its digest was computed because somebody asks for one.
    pub(super) digested: bool,
}

/// Pending Interests for shorter names that are looked at for one Data.
const MAX_EXAMINED: u32 = 1024;
/// Bytes of selectors, and of the name they are compared with, after which no more of them are read for one
/// Data, in CCNx.
const MAX_SELECTOR_BYTES: usize = 4096;

/// A Data that is compared with Interests.
struct Candidate<'a> {
    data: &'a Data,
    from: FaceId,
    digest: OnceCell<[u8; 32]>,
    selector_bytes: usize,
    examined: u32,
}

impl Candidate<'_> {
    fn digest(&self) -> [u8; 32] {
        *self.digest.get_or_init(|| self.data.implicit_digest())
    }

    /// Whether the selectors of an Interest for this name, or a prefix of it, are met.
    fn meets(&mut self, interest: &Interest) -> Option<bool> {
        if self.selector_bytes > MAX_SELECTOR_BYTES {
            return None;
        }
        let selectors = interest.distinguishing_bytes().len();
        // A Bloom filter is asked about every byte of a component.
        let filtered = if selectors > 0 { self.data.name().canonical().len() } else { 0 };
        self.selector_bytes += selectors + filtered;
        Some(interest.matches_with_digest(self.data, || self.digest()))
    }
}

impl Engine {
    /// Finds what is pending and kept for the name of a Data that came from `from`.
    #[inline(always)]
    pub(super) fn look_up_data(&self, from: FaceId, data: &Data, name: DataName<'_>) -> Found {
        let DataName { hash, asked, .. } = name;
        let mut found = Found::default();
        for id in self.tables.index.candidates(hash) {
            match EntryId::from_raw(id) {
                // Those of CCNx have selectors, which may object. In NDN a Data answers every Interest for
                // its name.
                EntryId::Pending(id) if asked == Some(id) || data.dialect() == Dialect::Ndn => {
                    if asked != Some(id) {
                        let Some(entry) = self.tables.pending.get(id) else { continue };
                        let fits = entry.hash() == hash
                            && entry.name() == data.name()
                            && entry.interest.dialect() == Dialect::Ndn;
                        if !fits {
                            continue;
                        }
                        if !self.may_answer(entry, from) {
                            found.not_asked = true;
                            continue;
                        }
                    }
                    found.matches.push(id);
                }
                EntryId::Cached(id) if self.tables.store.is(id, data.dialect(), data.name(), hash) => {
                    found.known = Some(id);
                }
                EntryId::Pending(_) | EntryId::Cached(_) => {}
            }
        }
        if data.dialect() == Dialect::Ccnx || !self.tables.pending.others.is_empty_for(Dialect::Ndn) {
            self.look_further(from, data, name, &mut found);
        }
        found
    }

    /// Looks for those that answer by more than the name: by a longer one, by selectors, by its digest.
    #[inline(never)]
    fn look_further(&self, from: FaceId, data: &Data, name: DataName<'_>, found: &mut Found) {
        let mut candidate = Candidate { data, from, digest: OnceCell::new(), selector_bytes: 0, examined: 0 };
        let (own, length, dialect) = (data.name(), data.component_count(), data.dialect());
        if dialect == Dialect::Ccnx {
            let ids = self.tables.index.candidates(name.hash).filter_map(|id| match EntryId::from_raw(id) {
                EntryId::Pending(id) if name.asked != Some(id) => Some(id),
                _ => None,
            });
            self.examine(ids, (name.hash, length), own, &mut candidate, found);
        }
        let prefixes =
            self.tables.pending.others.prefixes_of(&self.hasher, dialect, (own, length), name.hashes);
        // Whoever asks for the most is looked at first.
        for &(length, hash) in prefixes.iter().rev() {
            let ids = self.tables.pending.others.accepting_longer(hash).map(PendingId);
            self.examine(ids, (hash, length), own, &mut candidate, found);
        }
        if self.tables.pending.others.wants_digest(name.hash) {
            self.examine_by_digest(&mut candidate, found);
        }
    }

    /// Adds those of `ids` that are for the prefix of `name` with this hash and of this length, and that the
    /// Data answers.
    fn examine(
        &self,
        ids: impl Iterator<Item = PendingId>,
        (hash, length): (NameHash, usize),
        name: NameRef<'_>,
        candidate: &mut Candidate<'_>,
        found: &mut Found,
    ) {
        for id in ids {
            if candidate.examined >= MAX_EXAMINED {
                found.cut_short = true;
                return;
            }
            candidate.examined += 1;
            let Some(entry) = self.tables.pending.get(id) else { continue };
            let fits = entry.hash() == hash
                && entry.interest.dialect() == candidate.data.dialect()
                && entry.interest.component_count() == length
                && entry.name().is_prefix_of(name);
            if !fits {
                continue;
            }
            if !self.may_answer(entry, candidate.from) {
                found.not_asked = true;
                continue;
            }
            match candidate.meets(&entry.interest) {
                Some(true) => found.matches.push(id),
                Some(false) => {}
                None => found.cut_short = true,
            }
        }
    }

    /// The same for those who ask by digest. Each Interest that a face was asked pays for some digests of its
    /// Data.
    #[cold]
    fn examine_by_digest(&self, candidate: &mut Candidate<'_>, found: &mut Found) {
        let data = candidate.data;
        let is_unpaid = || self.faces.get(candidate.from).is_none_or(|face| face.digests_due == 0);
        if candidate.from != FaceId::SECOND_STORE && is_unpaid() {
            found.not_asked = true;
            return;
        }
        found.digested = true;
        let digest = candidate.digest();
        let last = match data.dialect() {
            Dialect::Ndn => packet::Component::new(packet::ComponentKind::IMPLICIT_DIGEST, &digest),
            Dialect::Ccnx => packet::Component::generic(&digest),
        };
        // Only a name at the very limit of length has no full name, and no Interest can ask for it then.
        let Ok(full) = data.name().to_name().with(last) else { return };
        let hash = self.hasher.hash(data.dialect(), full.components()).whole();
        let ids = self.tables.index.candidates(hash).filter_map(|id| match EntryId::from_raw(id) {
            EntryId::Pending(id) => Some(id),
            EntryId::Cached(_) => None,
        });
        self.examine(ids, (hash, data.component_count() + 1), full.as_ref(), candidate, found);
    }

    /// Whether Data from `from` may answer a pending Interest.
    #[inline(always)]
    fn may_answer(&self, entry: &Pending, from: FaceId) -> bool {
        entry.out_record(from).is_some() || self.may_answer_unasked(entry, from)
    }

    #[inline(never)]
    fn may_answer_unasked(&self, entry: &Pending, from: FaceId) -> bool {
        let Some(face) = self.faces.get(from) else { return from == FaceId::SECOND_STORE };
        // ccnd answers what it hears by multicast from its own address, and so from another face than was
        // asked.
        let asked_all = || {
            let is_shared = |face| self.faces.get(face).is_some_and(|face| !face.is_point_to_point());
            !face.is_local() && entry.out_records.iter().any(|record| is_shared(record.face))
        };
        self.welcomes_unsolicited(face.config.dialect, face.is_local())
            || (face.config.dialect == Dialect::Ccnx && asked_all())
    }

    /// Whether Data that nobody asked for may be kept. Applications of CCNx publish by putting objects into
    /// the store of ccnd, and some of them end then.
    pub(super) fn welcomes_unsolicited(&self, dialect: Dialect, from_local: bool) -> bool {
        match self.tables.store.config.unsolicited {
            UnsolicitedPolicy::DropAll => from_local && dialect == Dialect::Ccnx,
            UnsolicitedPolicy::AdmitLocal => from_local,
            UnsolicitedPolicy::AdmitNetwork => !from_local,
            UnsolicitedPolicy::AdmitAll => true,
        }
    }
}
