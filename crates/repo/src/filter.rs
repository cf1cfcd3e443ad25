//! Says "nothing below this name is here" without asking anybody: a compact table of prefixes that a thread
//! of the data plane looks at while the store changes it.
//!
//! For each object all prefixes of its name are counted, by their hashes under the key of the data plane,
//! which has hashed the prefixes of every Interest already. A prefix takes twelve bytes, and as many lie
//! empty at most. What is here is never denied; what is not is affirmed where two names have one 64-bit hash.

use std::sync::RwLock;

use packet::{Dialect, Interest, NameHash, PrefixHashes};

/// The table grows when more than so many of eight places are taken.
const MAX_EIGHTHS_USED: usize = 6;
const EMPTY: u64 = 0;

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
    /// Objects below each prefix.
    counts: Vec<u32>,
    used: usize,
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
        match self.table.try_read() {
            Ok(table) => table.count(hash) > 0,
            Err(_) => true,
        }
    }

    /// False if nothing in the store can answer this Interest. `hashes` are those of its name.
    #[inline]
    pub fn may_answer(&self, interest: &Interest, hashes: &PrefixHashes) -> bool {
        // What is not hashed cannot be denied.
        let base = base_components(interest);
        hashes.prefix(base).is_none_or(|hash| self.may_hold(hash))
    }

    /// How many objects are below the prefix with this hash.
    pub fn objects_below(&self, hash: NameHash) -> u32 {
        self.table.read().map_or(0, |table| table.count(hash))
    }

    /// One more object has a name with these hashes.
    pub fn add(&self, hashes: &PrefixHashes) {
        if let Ok(mut table) = self.table.write() {
            for hash in all(hashes) {
                table.add(hash);
            }
        }
    }

    /// An object of a name with these hashes is gone.
    pub fn remove(&self, hashes: &PrefixHashes) {
        if let Ok(mut table) = self.table.write() {
            for hash in all(hashes) {
                table.remove(hash);
            }
        }
    }

    /// Bytes of memory held.
    pub fn footprint_bytes(&self) -> usize {
        self.table.read().map_or(0, |table| table.hashes.len() * (size_of::<u64>() + size_of::<u32>()))
    }
}

/// How many components of the Interest's name the name of an object that answers it begins with, at least.
#[inline]
fn base_components(interest: &Interest) -> usize {
    let count = interest.component_count();
    let Some(last) = interest.name().last() else { return 0 };
    // A digest, a segment number or a question for metadata: none is part of the object's name. What stands
    // before a digest may be a segment number.
    match last.kind {
        packet::ComponentKind::IMPLICIT_DIGEST => count.saturating_sub(2),
        // Digests of CCNx look like any other component.
        packet::ComponentKind::GENERIC if interest.dialect() == Dialect::Ccnx && last.value.len() == 32 => {
            count.saturating_sub(2)
        }
        packet::ComponentKind::SEGMENT => count - 1,
        packet::ComponentKind::GENERIC if last.value.first() == Some(&0) => count - 1,
        packet::ComponentKind::KEYWORD if last == flow::naming::METADATA => count - 1,
        _ => count,
    }
}

fn all(hashes: &PrefixHashes) -> impl Iterator<Item = NameHash> {
    let whole = hashes.component_count();
    let prefixes = whole.min(hashes.longest_known_prefix() + 1);
    (0..prefixes).filter_map(|count| hashes.prefix(count)).chain(std::iter::once(hashes.whole()))
}

impl Table {
    /// With room for `places`, a power of two.
    fn new(places: usize) -> Self {
        Table { hashes: vec![EMPTY; places], counts: vec![0; places], used: 0 }
    }

    fn mask(&self) -> usize {
        self.hashes.len().wrapping_sub(1)
    }

    /// Where `hash` lies, or the empty place where it would.
    #[inline]
    fn place(&self, hash: u64) -> usize {
        let mask = self.mask();
        let mut at = hash as usize & mask;
        // There is always an empty place.
        while let Some(&there) = self.hashes.get(at) {
            if there == hash || there == EMPTY {
                break;
            }
            at = (at + 1) & mask;
        }
        at
    }

    #[inline]
    fn count(&self, hash: NameHash) -> u32 {
        self.counts.get(self.place(key(hash))).copied().unwrap_or(0)
    }

    fn add(&mut self, hash: NameHash) {
        if self.used * 8 >= self.hashes.len() * MAX_EIGHTHS_USED {
            let mut larger = Table::new(self.hashes.len() * 2);
            for (&hash, &count) in self.hashes.iter().zip(&self.counts).filter(|&(_, &count)| count > 0) {
                larger.add_count(hash, count);
            }
            *self = larger;
        }
        self.add_count(key(hash), 1);
    }

    fn add_count(&mut self, hash: u64, more: u32) {
        let at = self.place(hash);
        if let (Some(there), Some(count)) = (self.hashes.get_mut(at), self.counts.get_mut(at)) {
            self.used += usize::from(*count == 0);
            *there = hash;
            *count = count.saturating_add(more);
        }
    }

    fn remove(&mut self, hash: NameHash) {
        let at = self.place(key(hash));
        match self.counts.get_mut(at) {
            Some(count) if *count > 1 => *count -= 1,
            Some(1) => self.vacate(at),
            _ => {}
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
                self.counts.swap(hole, next);
                hole = next;
            }
        }
        if let (Some(hash), Some(count)) = (self.hashes.get_mut(hole), self.counts.get_mut(hole)) {
            (*hash, *count) = (EMPTY, 0);
            self.used -= 1;
        }
    }
}

#[inline]
fn key(hash: NameHash) -> u64 {
    hash.0.max(1)
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
        let interest = InterestBuilder::new(name).can_be_prefix(can_be_prefix).build().unwrap();
        filter.may_answer(&interest, &hashes(uri))
    }

    #[test]
    fn what_is_not_here_is_denied_and_what_is_here_never() {
        let filter = Filter::default();
        filter.add(&hashes("/a/b/v=1"));
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
        for uri in ["/b", "/a/c", "/a/b/v=2/seg=0", "/a/b/v=1/x"] {
            assert!(!may_answer(&filter, uri, true), "{uri}");
        }
        filter.add(&hashes("/a/c"));
        filter.remove(&hashes("/a/b/v=1"));
        assert!(!may_answer(&filter, "/a/b", true) && may_answer(&filter, "/a", true));
        assert_eq!(filter.objects_below(hashes("/a").whole()), 1);
    }

    #[test]
    fn it_counts_what_a_map_counts_while_it_grows_and_empties() {
        let mut random = Random::from_seed(3);
        let (mut table, mut model) = (Table::new(8), BTreeMap::<u64, u32>::new());
        for step in 0..20_000u32 {
            // Few values of the low bits, so that many hashes have one home.
            let hash = (random.below(40) << 60 | random.below(40)) + 1;
            if random.below(10) < if step / 2_000 % 2 == 0 { 7 } else { 2 } {
                table.add(NameHash(hash));
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
            assert_eq!(table.count(NameHash(hash)), model.get(&hash).copied().unwrap_or(0), "step {step}");
            assert_eq!(table.used, model.len());
            if step % 1000 == 0 {
                assert!(model.iter().all(|(&hash, &count)| table.count(NameHash(hash)) == count));
            }
        }
    }
}
