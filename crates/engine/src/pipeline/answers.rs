//! Which pending Interests a Data may answer.
//!
//! On a point-to-point link only those may answer who were asked: otherwise any neighbour could answer for
//! any other, and what it sends would be kept. On a link that several share whoever hears an Interest may
//! answer it. Where Data that nobody asked for is welcome by [`UnsolicitedPolicy`](crate::UnsolicitedPolicy),
//! it would be kept and answer from there, so it may answer at once.

use std::cell::OnceCell;

use packet::ccnx::block::write_blob_element;
use packet::ccnx::{Dtag, ExcludeRef, InterestView};
use packet::{Component, ComponentKind, Data, Dialect, Interest, Name, NameHash};

use super::arrived_data::DataName;
use crate::engine::Engine;
use crate::face_id::FaceId;
use crate::tables::content_store::CachedId;
use crate::tables::entry_id::EntryId;
use crate::tables::pending::{Matches, Pending, PendingId};

/// What the tables say about a Data.
#[derive(Default)]
pub(super) struct DataMatches {
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

/// Which pending Interests there are that a Data of their name, or a longer one, need not answer.
#[derive(Clone, Copy, Default)]
struct Others {
    /// Some for just its name have selectors.
    have_selectors: bool,
    /// Some of its dialect ask for fewer components than it has, or for some Data by its digest.
    ask_for_less: bool,
}

/// Pending Interests for shorter names that are looked at for one Data.
const MAX_EXAMINED: u32 = 1024;
/// Bytes of selectors, and of the name they are compared with, after which no more of them are read for one
/// Data, in CCNx.
const MAX_SELECTOR_BYTES: usize = 4096;

/// A Data, and the face that it comes from.
#[derive(Clone, Copy)]
struct Offer<'a> {
    data: &'a Data,
    from: FaceId,
}

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
        let selectors = interest.ccnx_selectors();
        // A Bloom filter is asked about every byte of a component.
        let filtered = if selectors.is_some() { self.data.wire_components().len() } else { 0 };
        self.selector_bytes += selector_bytes(selectors.as_ref()) + filtered;
        let excludes = |exclude: ExcludeRef<'_>, component: &[u8]| exclude.excludes(component);
        Some(interest.matches_selecting(selectors.as_ref(), self.data, || self.digest(), excludes))
    }
}

/// Bytes that the selectors of an Interest take in it.
fn selector_bytes(selectors: Option<&InterestView<'_>>) -> usize {
    selectors.map_or(0, |view| view.aggregation_range().len())
}

/// The name of a Data with its digest as one more component, and the components of that as they are on the
/// wire; `None` if it is too long.
fn full_name(data: &Data, digest: &[u8; 32]) -> Option<(Name, Vec<u8>)> {
    let mut components = data.wire_components().to_vec();
    let last = match data.dialect() {
        Dialect::Ndn => {
            let last = Component::new(ComponentKind::IMPLICIT_DIGEST, digest);
            last.append_to(&mut components);
            last
        }
        Dialect::Ccnx => {
            write_blob_element(&mut components, Dtag::COMPONENT, digest);
            Component::generic(digest)
        }
    };
    Some((data.name().to_name().with(last).ok()?, components))
}

/// A name, or the beginning of one, that Interests may be for.
#[derive(Clone, Copy)]
struct NamePart<'a> {
    hash: NameHash,
    /// How many components.
    length: usize,
    /// These components, and maybe more behind them.
    components: &'a [u8],
}

impl Engine {
    /// Finds what is pending and kept for the name of a Data that came from `from`.
    #[inline(always)]
    pub(super) fn look_up_data(&self, from: FaceId, data: &Data, name: DataName<'_>) -> DataMatches {
        let DataName { hash, asked, .. } = name;
        let (dialect, mut others) = (data.dialect(), Others::default());
        let mut found = DataMatches::default();
        for id in self.tables.index.candidates(hash) {
            match EntryId::from_raw(id) {
                // A Data answers every Interest for its name whose selectors, which CCNx alone has, do not
                // object.
                EntryId::Pending(id) => {
                    if asked != Some(id) {
                        let Some(entry) = self.tables.pending.get(id) else { continue };
                        let fits = entry.hash() == hash
                            && entry.interest.wire_components() == data.wire_components()
                            && entry.interest.dialect() == dialect;
                        if !fits {
                            continue;
                        }
                        if entry.interest.has_selectors() {
                            others.have_selectors = true;
                            continue;
                        }
                        if !self.may_answer(entry, from) {
                            found.not_asked = true;
                            continue;
                        }
                    }
                    found.matches.push(id);
                }
                EntryId::Cached(id)
                    if self.tables.store.is(id, data.dialect(), data.wire_components(), hash) =>
                {
                    found.known = Some(id);
                }
                EntryId::Cached(_) => {}
            }
        }
        let waiting = &self.tables.pending.others;
        others.ask_for_less =
            !waiting.is_empty_for(dialect) && waiting.may_wait_above(dialect, data.component_count());
        if others.have_selectors || others.ask_for_less {
            self.look_further(Offer { data, from }, name, others, &mut found);
        }
        found
    }

    /// Looks for those that answer by more than the name: by a longer one, by selectors, by its digest.
    #[inline(never)]
    fn look_further(
        &self,
        Offer { data, from }: Offer<'_>,
        name: DataName<'_>,
        others: Others,
        found: &mut DataMatches,
    ) {
        let mut candidate = Candidate { data, from, digest: OnceCell::new(), selector_bytes: 0, examined: 0 };
        let (components, length, dialect) = (data.wire_components(), data.component_count(), data.dialect());
        if others.have_selectors {
            let has_selectors =
                |id: &PendingId| self.tables.pending.get(*id).is_some_and(|it| it.interest.has_selectors());
            let ids =
                self.tables.pending_by(name.hash).filter(|id| name.asked != Some(*id)).filter(has_selectors);
            let whole = NamePart { hash: name.hash, length, components };
            self.examine(ids, whole, &mut candidate, found);
        }
        if !others.ask_for_less {
            return;
        }
        let prefixes = self.tables.pending.others.prefixes_of(&self.hasher, data, name.hashes);
        // Whoever asks for the most is looked at first.
        for &(length, hash) in prefixes.iter().rev() {
            let wanted = NamePart { hash, length, components };
            match dialect {
                Dialect::Ndn => {
                    let ids = self.tables.pending.others.accepting_longer(hash).map(PendingId);
                    self.examine(ids, wanted, &mut candidate, found);
                }
                Dialect::Ccnx => {
                    self.examine(self.tables.pending_by(hash), wanted, &mut candidate, found);
                }
            }
        }
        if self.tables.pending.others.wants_digest(name.hash) {
            self.examine_by_digest(&mut candidate, found);
        }
    }

    /// Adds those of `ids` that are for this part of a name, and that the Data answers.
    fn examine(
        &self,
        ids: impl Iterator<Item = PendingId>,
        NamePart { hash, length, components }: NamePart<'_>,
        candidate: &mut Candidate<'_>,
        found: &mut DataMatches,
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
                && components.starts_with(entry.interest.wire_components());
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
    fn examine_by_digest(&self, candidate: &mut Candidate<'_>, found: &mut DataMatches) {
        let data = candidate.data;
        let is_unpaid = || self.faces.get(candidate.from).is_none_or(|face| face.digests_due == 0);
        if candidate.from != FaceId::SECOND_STORE && is_unpaid() {
            found.not_asked = true;
            return;
        }
        found.digested = true;
        let digest = candidate.digest();
        // Only a name at the very limit of length has no full name, and no Interest can ask for it then.
        let Some((full, components)) = full_name(data, &digest) else { return };
        let hash = self.hasher.hash(data.dialect(), full.components()).whole();
        let wanted = NamePart { hash, length: data.component_count() + 1, components: &components };
        self.examine(self.tables.pending_by(hash), wanted, candidate, found);
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
        self.tables.store.config.unsolicited.welcomes(face.config.dialect, face.is_local())
            || (face.config.dialect == Dialect::Ccnx && asked_all())
    }
}
