//! Says "nothing below this name is here" without asking anybody: a compact table of prefixes that a thread
//! of the data plane looks at while the store changes it.
//!
//! For each object all prefixes of its name are counted, by their hashes under the key of the data plane,
//! which has hashed the prefixes of every Interest already. A prefix takes seventeen bytes, and as many lie
//! empty at most. What is here is never denied; what is not is affirmed where two names have one 64-bit
//! hash, and where a name stands right below an object of segments.
//!
//! An Interest of NDN is denied by hashes and flags alone: most often by one look at the hash of all but the
//! last component, which any object that answers it has as a prefix.

use std::sync::RwLock;

use packet::{Dialect, Interest, NameHash, PrefixHashes};

use crate::key::SegmentForm;

/// The table grows when more than so many of eight places are taken.
const MAX_EIGHTHS_USED: usize = 6;
const EMPTY: u64 = 0;
const EMPTY_TAG: u8 = 0;
/// Bytes of a place of the table.
const PLACE_BYTES: usize = size_of::<u64>() + size_of::<u8>() + size_of::<Counts>();

/// The filter. Shared between the store, which changes it, and those who ask.
#[derive(Debug)]
pub struct Filter {
    table: RwLock<Table>,
}

/// Open addressing with linear probing; eight hashes lie in a cache line. Nothing is ever marked as deleted:
/// those behind move up.
#[derive(Debug)]
struct Table {
    hashes: Vec<u64>,
    /// A byte of each hash, so that most that are not here are told without reading hashes.
    tags: Vec<u8>,
    counts: Vec<Counts>,
    used: usize,
}

/// What is known of one prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    /// Objects below it.
    below: u32,
    /// Objects of segments of just this name. One for each way to write segments, more only where hashes
    /// meet; at the limit it is never lowered again.
    segmented: u8,
}

impl Default for Filter {
    fn default() -> Self {
        Filter { table: RwLock::new(Table::new(64)) }
    }
}

impl Filter {
    /// False if no object has a name of which this is the hash of a prefix. Never waits: while the store
    /// changes the filter, the answer is yes.
    #[inline]
    pub fn may_hold(&self, hash: NameHash) -> bool {
        self.table.try_read().map_or(true, |table| table.holds(hash))
    }

    /// False if nothing in the store can answer this Interest. `hashes` are those of its name. Never waits,
    /// as [`may_hold`](Self::may_hold).
    #[inline]
    pub fn may_answer(&self, interest: &Interest, hashes: &PrefixHashes) -> bool {
        self.table.try_read().map_or(true, |table| table.may_answer(interest, hashes))
    }

    /// How many objects are below the prefix with this hash.
    pub fn objects_below(&self, hash: NameHash) -> u32 {
        self.table.read().map_or(0, |table| table.counts(hash).below)
    }

    /// One more object has a name with these hashes.
    pub fn add(&self, hashes: &PrefixHashes, form: SegmentForm) {
        if let Ok(mut table) = self.table.write() {
            all(hashes).for_each(|hash| table.change(hash, |counts| counts.below += 1));
            if form != SegmentForm::Single {
                table.change(hashes.whole(), |counts| counts.segmented = counts.segmented.saturating_add(1));
            }
        }
    }

    /// Makes room for so many prefixes more, so that it need not be made again and again.
    pub(crate) fn reserve(&self, prefixes: usize) {
        if let Ok(mut table) = self.table.write() {
            let places = (table.used + prefixes) * 8 / MAX_EIGHTHS_USED + 1;
            table.grow_to(places.next_power_of_two());
        }
    }

    /// An object of a name with these hashes is gone.
    pub fn remove(&self, hashes: &PrefixHashes, form: SegmentForm) {
        if let Ok(mut table) = self.table.write() {
            if form != SegmentForm::Single {
                table.lower_segmented(hashes.whole());
            }
            all(hashes).for_each(|hash| table.remove(hash));
        }
    }

    /// Bytes of memory held.
    pub fn footprint_bytes(&self) -> usize {
        self.table.read().map_or(0, |table| table.hashes.len() * PLACE_BYTES)
    }
}

fn all(hashes: &PrefixHashes) -> impl Iterator<Item = NameHash> {
    let whole = hashes.component_count();
    let prefixes = whole.min(hashes.longest_known_prefix() + 1);
    (0..prefixes).filter_map(|count| hashes.prefix(count)).chain(std::iter::once(hashes.whole()))
}

/// How many components of a name of CCNx the name of an object that answers it begins with, at least.
fn ccnx_base_components(interest: &Interest) -> usize {
    let count = interest.component_count();
    match interest.name().last() {
        // Digests of CCNx look like any other component; what stands before one may be a segment number.
        Some(last) if last.value.len() == 32 => count.saturating_sub(2),
        Some(last) if last.value.first() == Some(&0) => count - 1,
        _ => count,
    }
}

/// Whether an Interest asks which version of an object is the newest. What a store says to that it makes of
/// what it holds.
pub fn asks_for_metadata(interest: &Interest) -> bool {
    interest.can_be_prefix()
        && interest.must_be_fresh()
        && interest.name().last() == Some(flow::naming::METADATA)
}

impl Table {
    /// With room for `places`, a power of two.
    fn new(places: usize) -> Self {
        let (hashes, tags) = (vec![EMPTY; places], vec![EMPTY_TAG; places]);
        Table { hashes, tags, counts: vec![Counts::default(); places], used: 0 }
    }

    #[inline]
    fn may_answer(&self, interest: &Interest, hashes: &PrefixHashes) -> bool {
        // What is not hashed cannot be denied.
        let may_hold = |components| hashes.prefix(components).is_none_or(|hash| self.holds(hash));
        if interest.dialect() == Dialect::Ccnx {
            return may_hold(hashes.component_count().saturating_sub(2))
                && may_hold(ccnx_base_components(interest));
        }
        let digests = usize::from(interest.implicit_digest().is_some());
        let components = hashes.component_count().saturating_sub(digests);
        let parent = match hashes.prefix(components.saturating_sub(1)) {
            Some(hash) => self.find(hash),
            None => return true,
        };
        let Some(parent) = parent else { return false };
        self.counts.get(parent).is_some_and(|counts| counts.segmented > 0)
            || may_hold(components)
            || asks_for_metadata(interest)
    }

    fn mask(&self) -> usize {
        self.hashes.len().wrapping_sub(1)
    }

    /// Where `hash` lies, if it is here.
    #[inline]
    fn find(&self, hash: NameHash) -> Option<usize> {
        let (key, mask) = (key(hash), self.mask());
        let (mut at, tag) = (key as usize & mask, tag(key));
        // There is always an empty place.
        while let Some(&there) = self.tags.get(at) {
            if there == EMPTY_TAG {
                break;
            }
            if there == tag && self.hashes.get(at) == Some(&key) {
                return Some(at);
            }
            at = (at + 1) & mask;
        }
        None
    }

    #[inline]
    fn holds(&self, hash: NameHash) -> bool {
        self.find(hash).is_some()
    }

    fn counts(&self, hash: NameHash) -> Counts {
        self.find(hash).and_then(|at| self.counts.get(at)).copied().unwrap_or_default()
    }

    /// Changes what is known of a prefix, which is added if it is not here.
    fn change(&mut self, hash: NameHash, change: impl FnOnce(&mut Counts)) {
        let found = self.find(hash);
        if found.is_none() && self.used * 8 >= self.hashes.len() * MAX_EIGHTHS_USED {
            self.grow_to(self.hashes.len() * 2);
        }
        let at = found.unwrap_or_else(|| self.add(key(hash), Counts::default()));
        if let Some(counts) = self.counts.get_mut(at) {
            change(counts);
        }
    }

    /// Takes so many places, a power of two, if there are fewer.
    fn grow_to(&mut self, places: usize) {
        if places <= self.hashes.len() {
            return;
        }
        let mut larger = Table::new(places);
        for (&hash, &counts) in self.hashes.iter().zip(&self.counts).filter(|&(&hash, _)| hash != EMPTY) {
            larger.add(hash, counts);
        }
        *self = larger;
    }

    /// Adds a hash that is not here; returns its place.
    fn add(&mut self, hash: u64, counts: Counts) -> usize {
        let mask = self.mask();
        let mut at = hash as usize & mask;
        while self.tags.get(at).is_some_and(|&tag| tag != EMPTY_TAG) {
            at = (at + 1) & mask;
        }
        self.set(at, hash, tag(hash), counts);
        self.used += 1;
        at
    }

    fn set(&mut self, at: usize, hash: u64, tag: u8, counts: Counts) {
        let places = (self.hashes.get_mut(at), self.tags.get_mut(at), self.counts.get_mut(at));
        if let (Some(own_hash), Some(own_tag), Some(own_counts)) = places {
            (*own_hash, *own_tag, *own_counts) = (hash, tag, counts);
        }
    }

    fn lower_segmented(&mut self, hash: NameHash) {
        let counts = self.find(hash).and_then(|at| self.counts.get_mut(at));
        if let Some(counts) = counts.filter(|counts| (1..u8::MAX).contains(&counts.segmented)) {
            counts.segmented -= 1;
        }
    }

    fn remove(&mut self, hash: NameHash) {
        let Some(at) = self.find(hash) else { return };
        match self.counts.get_mut(at) {
            Some(counts) if counts.below > 1 => counts.below -= 1,
            Some(_) => self.vacate(at),
            None => {}
        }
    }

    /// Empties a place, and lets those behind it move up that would not be found otherwise.
    fn vacate(&mut self, at: usize) {
        let mask = self.mask();
        let (mut hole, mut next) = (at, at);
        loop {
            next = (next + 1) & mask;
            let Some(&hash) = self.hashes.get(next).filter(|&&hash| hash != EMPTY) else { break };
            let home = hash as usize & mask;
            // Whoever would be looked for from behind the hole on may stay.
            if next.wrapping_sub(home) & mask >= next.wrapping_sub(hole) & mask {
                self.hashes.swap(hole, next);
                self.tags.swap(hole, next);
                self.counts.swap(hole, next);
                hole = next;
            }
        }
        self.set(hole, EMPTY, EMPTY_TAG, Counts::default());
        self.used -= 1;
    }
}

#[inline]
fn key(hash: NameHash) -> u64 {
    hash.0.max(1)
}

/// From other bits than the place.
#[inline]
fn tag(key: u64) -> u8 {
    ((key >> 56) as u8).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::ndn::InterestBuilder;
    use packet::random::Random;
    use packet::{Name, NameHasher};
    use std::collections::BTreeMap;

    fn hashes(uri: &str) -> PrefixHashes {
        NameHasher::new([1, 2]).hash(Dialect::Ndn, uri.parse::<Name>().unwrap().components())
    }

    fn may_answer(filter: &Filter, uri: &str, can_be_prefix: bool) -> bool {
        let name: Name = uri.parse().unwrap();
        let interest = InterestBuilder::new(name).can_be_prefix(can_be_prefix).must_be_fresh(can_be_prefix);
        let interest = interest.build().unwrap();
        filter.may_answer(&interest, &hashes(uri))
    }

    #[test]
    fn what_is_not_here_is_denied_and_what_is_here_never() {
        let filter = Filter::default();
        filter.add(&hashes("/a/b/v=1"), SegmentForm::Typed);
        let digest = format!("/a/b/v=1/seg=5/sha256digest={}", "00".repeat(32));
        for (uri, can_be_prefix) in [
            ("/a", true),
            ("/a/b", true),
            ("/a/b/v=1/seg=9", false),
            ("/a/b/32=metadata", true),
            (&digest, false),
        ] {
            assert!(may_answer(&filter, uri, can_be_prefix), "{uri}");
        }
        for uri in ["/b", "/a/c", "/a/b/v=2/seg=0", "/a/b/x/y", "/a/32=metadata/x"] {
            assert!(!may_answer(&filter, uri, true), "{uri}");
        }
        filter.add(&hashes("/a/c"), SegmentForm::Single);
        filter.remove(&hashes("/a/b/v=1"), SegmentForm::Typed);
        assert!(!may_answer(&filter, "/a/b", true) && may_answer(&filter, "/a", true));
        assert_eq!(filter.objects_below(hashes("/a").whole()), 1);
    }

    #[test]
    fn a_name_right_below_an_object_is_affirmed_for_as_long_as_the_object_has_segments() {
        let filter = Filter::default();
        for form in [SegmentForm::Single, SegmentForm::Typed, SegmentForm::Marker] {
            filter.add(&hashes("/a/b"), form);
        }
        assert!(may_answer(&filter, "/a/b/x", false));
        filter.remove(&hashes("/a/b"), SegmentForm::Marker);
        assert!(may_answer(&filter, "/a/b/x", false));
        filter.remove(&hashes("/a/b"), SegmentForm::Typed);
        assert!(!may_answer(&filter, "/a/b/x", false) && !may_answer(&filter, "/a/b/seg=0", false));
        assert!(may_answer(&filter, "/a/b", false));
    }

    #[test]
    fn a_name_of_more_components_than_are_hashed_is_never_denied_while_it_is_here() {
        let filter = Filter::default();
        let name = |count: usize| "/x".repeat(count);
        for count in 14..20 {
            filter.add(&hashes(&name(count)), SegmentForm::Typed);
            assert!(may_answer(&filter, &name(count), false), "{count}");
            assert!(may_answer(&filter, &(name(count) + "/seg=7"), false), "{count}");
            filter.remove(&hashes(&name(count)), SegmentForm::Typed);
        }
        assert_eq!(filter.table.read().unwrap().used, 0);
    }

    #[test]
    fn names_of_ccnx_are_denied_by_what_stands_before_a_segment_number_and_a_digest() {
        let hasher = NameHasher::new([1, 2]);
        let hashes = |name: &Name| hasher.hash(Dialect::Ccnx, name.components());
        let object: Name = "/a/b".parse().unwrap();
        let segment = object.with(packet::Component::generic(&[0, 7])).unwrap();
        let full = segment.with(packet::Component::generic(&[9; 32])).unwrap();
        let filter = Filter::default();
        let may_answer = |name: &Name| {
            let wire = packet::ccnx::InterestFields::default().encode(name).unwrap();
            filter.may_answer(&Interest::decode_ccnx(wire.into()).unwrap(), &hashes(name))
        };
        assert!(!may_answer(&full));
        filter.add(&hashes(&object), SegmentForm::Marker);
        assert!(may_answer(&object) && may_answer(&segment) && may_answer(&full));
        assert!(!may_answer(&"/a/c".parse().unwrap()) && !may_answer(&"/b".parse().unwrap()));
    }

    #[test]
    fn it_counts_what_a_map_counts_while_it_grows_and_empties() {
        let mut random = Random::from_seed(3);
        let (mut table, mut model) = (Table::new(8), BTreeMap::<u64, u32>::new());
        for step in 0..20_000u32 {
            // Few values of the low bits, so that many hashes have one home.
            let hash = (random.below(40) << 60 | random.below(40)) + 1;
            if random.below(10) < if step / 2_000 % 2 == 0 { 7 } else { 2 } {
                table.change(NameHash(hash), |counts| counts.below += 1);
                *model.entry(hash).or_default() += 1;
            } else {
                table.remove(NameHash(hash));
                if let Some(count) = model.get_mut(&hash) {
                    *count -= 1;
                    if *count == 0 {
                        model.remove(&hash);
                    }
                }
            }
            assert_eq!(
                table.counts(NameHash(hash)).below,
                model.get(&hash).copied().unwrap_or(0),
                "step {step}"
            );
            assert_eq!(table.used, model.len());
            if step % 1000 == 0 {
                assert!(model.iter().all(|(&hash, &count)| table.counts(NameHash(hash)).below == count));
            }
        }
    }
}
