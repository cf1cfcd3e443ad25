//! Keyed hashes of names and of all their prefixes, computed once when a packet is decoded.
//!
//! The hash is SipHash-1-3 over the components. One pass over a name notes the state after each, from which
//! the hash of every prefix is finished when it is asked for: nobody asks for more than a few of them. The
//! key is secret to the process: somebody who only sees names go by cannot construct names that
//! collide. Hashes select candidates; every table still compares whole names.

use crate::Dialect;
use crate::ccnx::block::body_element_len;
use crate::ccnx::{CcnxNameRef, Dtag};
use crate::name::{Component, Components, NameRef, WireName};
use crate::sip_hash::SipHash;

/// Hashes names under one secret key.
#[derive(Clone)]
pub struct NameHasher {
    start: [State; 2],
}

/// Hash of a name under the key of one [`NameHasher`]. Equal names of one dialect have equal hashes; names of
/// different dialects are hashed apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameHash(pub u64);

impl NameHash {
    /// Stands for a hash that is not known. A name may have it, but by chance alone.
    pub const UNKNOWN: NameHash = NameHash(0);
}

impl NameHasher {
    /// A hasher under `key`. Owners of a network-facing process draw the key from the system's random source;
    /// the simulator and tests derive it from their seed.
    pub fn new(key: [u64; 2]) -> Self {
        NameHasher { start: [State::new(key, Dialect::Ndn), State::new(key, Dialect::Ccnx)] }
    }

    /// Hashes of the name made of `components` and of all its prefixes.
    pub fn hash(&self, dialect: Dialect, components: Components<'_>) -> PrefixHashes {
        let mut hashes = PrefixHashes::default();
        self.hash_into(dialect, components, &mut hashes);
        hashes
    }

    /// The same of a name in the form that it has on the wire.
    pub fn hash_wire_name(&self, name: WireName<'_>) -> PrefixHashes {
        let mut hashes = PrefixHashes::default();
        match name {
            WireName::Ndn(name) => self.hash_into(Dialect::Ndn, name.components(), &mut hashes),
            WireName::Ccnx(name) => self.hash_ccnx_after(None, name, &mut hashes),
        }
        hashes
    }

    /// Those of the name made of `components`, into `hashes`.
    pub fn hash_into(&self, dialect: Dialect, components: Components<'_>, hashes: &mut PrefixHashes) {
        let mut pass = self.begin(dialect, hashes);
        for component in components {
            pass.component(component);
        }
        pass.finish();
    }

    /// Hashes of a `name` of NDN that is probably a sibling of another, `before`, of which `known` are the
    /// hashes: what both begin with is not hashed again. Packets that arrive together mostly have such names.
    #[inline]
    pub fn hash_after(
        &self,
        (before, known): (NameRef<'_>, &PrefixHashes),
        name: NameRef<'_>,
        hashes: &mut PrefixHashes,
    ) {
        let dialect = Dialect::Ndn;
        let (parent, end) = (known.component_count().saturating_sub(1), usize::from(known.parent_end));
        // Hashes of another language, or of nothing, are no help.
        let is_known = parent < known.known.into() && known.prefixes[0] == self.start[dialect as usize];
        let shared = before.canonical().get(..end).filter(|_| is_known && end > 0);
        let mut pass = self.begin(dialect, hashes);
        let mut rest = name;
        if let Some(shared) = shared
            && let Some(own) = name.canonical().strip_prefix(shared)
            && let Some(states) = known.prefixes.get(..=parent)
            && let Some(places) = pass.hashes.prefixes.get_mut(..=parent)
        {
            places.copy_from_slice(states);
            (pass.state, pass.count, pass.end) = (known.prefixes[parent], parent, end);
            rest = NameRef::from_checked(own);
        }
        for component in rest.components() {
            pass.component(component);
        }
        pass.finish();
    }

    /// The same for names of CCNx as they are on the wire. `before` may be missing.
    #[inline]
    pub fn hash_ccnx_after(
        &self,
        before: Option<(CcnxNameRef<'_>, &PrefixHashes)>,
        name: CcnxNameRef<'_>,
        hashes: &mut PrefixHashes,
    ) {
        let mut pass = self.begin(Dialect::Ccnx, hashes);
        let rest = before.and_then(|(before, known)| pass.go_on_behind_parent(before, known, name));
        for component in rest.unwrap_or(name).components() {
            pass.component(Component::generic(component));
        }
        pass.finish();
    }

    /// Shows `see` the hash of each prefix of `name` that `wanted` asks for by its number of components, the
    /// shortest first. Goes over the name once, whatever is wanted.
    pub fn hash_prefixes(
        &self,
        dialect: Dialect,
        name: NameRef<'_>,
        wanted: impl Fn(usize) -> bool,
        mut see: impl FnMut(usize, NameHash),
    ) {
        let mut state = self.start[dialect as usize];
        if wanted(0) {
            see(0, state.finish());
        }
        for (place, component) in name.components().enumerate() {
            state.absorb_component(component);
            if wanted(place + 1) {
                see(place + 1, state.finish());
            }
        }
    }

    /// Hashes of the name made of `components`, to which one more component can be added again and again: for
    /// whoever makes many names under one prefix.
    pub fn hash_prefix(&self, dialect: Dialect, components: Components<'_>) -> HashedPrefix {
        let mut hashes = PrefixHashes::default();
        let mut pass = self.begin(dialect, &mut hashes);
        for component in components {
            pass.component(component);
        }
        let (state, count, end) = (pass.state, pass.count, pass.end);
        pass.finish();
        HashedPrefix { dialect, state, count, end, hashes }
    }

    /// Starts a pass that a decoder feeds with the components as it finds them.
    #[inline]
    pub fn begin<'h>(&self, dialect: Dialect, hashes: &'h mut PrefixHashes) -> HashPass<'h> {
        let state = self.start[dialect as usize];
        hashes.prefixes[0] = state;
        hashes.component_count = 0;
        HashPass { dialect, state, count: 0, end: 0, parent_end: 0, hashes }
    }
}

impl std::fmt::Debug for NameHasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NameHasher(secret)")
    }
}

/// One pass over the components of one name.
pub struct HashPass<'h> {
    dialect: Dialect,
    state: State,
    count: usize,
    /// Bytes on the wire of the components so far, and of those but the last.
    end: usize,
    parent_end: usize,
    hashes: &'h mut PrefixHashes,
}

impl HashPass<'_> {
    /// Takes the next component.
    #[inline(always)]
    pub fn component(&mut self, component: Component<'_>) {
        self.state.absorb_component(component);
        self.count += 1;
        self.parent_end = self.end;
        self.end += match self.dialect {
            Dialect::Ndn => component.encoded_len(),
            Dialect::Ccnx => body_element_len(Dtag::COMPONENT, component.value.len()),
        };
        if let Some(slot) = self.hashes.prefixes.get_mut(self.count) {
            *slot = self.state;
        }
    }

    /// Takes what `name`, of CCNx, has in common with the parent of `before`, of which `known` are the
    /// hashes, and gives the rest of it; `None` if that is not all of the parent.
    #[inline(always)]
    fn go_on_behind_parent<'a>(
        &mut self,
        before: CcnxNameRef<'_>,
        known: &PrefixHashes,
        name: CcnxNameRef<'a>,
    ) -> Option<CcnxNameRef<'a>> {
        let (parent, end) = (known.component_count().saturating_sub(1), usize::from(known.parent_end));
        // Hashes of another language, or of nothing, are no help.
        if end == 0 || parent >= known.known.into() || known.prefixes[0] != self.hashes.prefixes[0] {
            return None;
        }
        let own = name.component_bytes().strip_prefix(before.component_bytes().get(..end)?)?;
        let (states, places) = (known.prefixes.get(..=parent)?, self.hashes.prefixes.get_mut(..=parent)?);
        places.copy_from_slice(states);
        (self.state, self.count, self.end) = (known.prefixes[parent], parent, end);
        Some(CcnxNameRef::from_checked(own, name.len().checked_sub(parent)?))
    }

    /// Ends the pass; only now are the hashes complete.
    #[inline]
    pub fn finish(self) {
        self.hashes.component_count = self.count as u16;
        // Where that is too long to note, there are no siblings.
        self.hashes.parent_end = u16::try_from(self.parent_end).unwrap_or(0);
        self.hashes.known = (self.count.min(PrefixHashes::MAX_PREFIX_COMPONENTS) + 1) as u16;
        self.hashes.whole = self.state.finish();
    }
}

/// A prefix that has been hashed, see [`NameHasher::hash_prefix`].
#[derive(Clone)]
pub struct HashedPrefix {
    dialect: Dialect,
    state: State,
    count: usize,
    end: usize,
    hashes: PrefixHashes,
}

impl HashedPrefix {
    /// Hashes of the prefix with one more component, until the next is asked for: what all have in common
    /// stays where it is.
    #[inline]
    pub fn with(&mut self, component: Component<'_>) -> &PrefixHashes {
        let (dialect, state, count, end) = (self.dialect, self.state, self.count, self.end);
        let mut pass = HashPass { dialect, state, count, end, parent_end: end, hashes: &mut self.hashes };
        pass.component(component);
        pass.finish();
        &self.hashes
    }
}

impl std::fmt::Debug for HashedPrefix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HashedPrefix({} components)", self.count)
    }
}

/// Hashes of one name and of its prefixes up to [`PrefixHashes::MAX_PREFIX_COMPONENTS`] components.
#[derive(Clone, Copy, Default)]
pub struct PrefixHashes {
    whole: NameHash,
    component_count: u16,
    /// Bytes on the wire of all components but the last.
    parent_end: u16,
    /// How many prefixes are known, from the one without components on.
    known: u16,
    /// Behind each component, the first one behind none.
    prefixes: [State; PrefixHashes::MAX_PREFIX_COMPONENTS + 1],
}

impl std::fmt::Debug for PrefixHashes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PrefixHashes({:?} of {} components)", self.whole, self.component_count)
    }
}

impl PrefixHashes {
    /// Prefixes with more components than this are not hashed (the whole name always is). Tables of prefixes
    /// refuse longer ones, so nothing is lost but routes of more than sixteen components.
    pub const MAX_PREFIX_COMPONENTS: usize = 16;

    /// Hash of the whole name.
    #[inline]
    pub fn whole(&self) -> NameHash {
        self.whole
    }

    /// Becomes a copy of `other`. Of what is not known there nothing is copied, which is most of a short
    /// name.
    #[inline]
    pub fn copy_known(&mut self, other: &PrefixHashes) {
        (self.whole, self.component_count) = (other.whole, other.component_count);
        (self.parent_end, self.known) = (other.parent_end, other.known);
        for (place, state) in self.prefixes.iter_mut().zip(&other.prefixes).take(other.known.into()) {
            *place = *state;
        }
    }

    /// Number of components of the hashed name.
    #[inline]
    pub fn component_count(&self) -> usize {
        self.component_count.into()
    }

    /// Longest proper or improper prefix such that its hash, and those of all shorter ones, are known, in
    /// components.
    #[inline]
    pub fn longest_known_prefix(&self) -> usize {
        usize::from(self.known).saturating_sub(1)
    }

    /// Bytes on the wire of all components but the last; zero if there are none, or that was not noted.
    #[inline]
    pub fn parent_bytes(&self) -> usize {
        self.parent_end.into()
    }

    /// Hash of the longest known prefix that is not the whole name; `None` for the name without components.
    #[inline]
    pub fn parent(&self) -> Option<NameHash> {
        let count = self.component_count().checked_sub(1)?.min(self.longest_known_prefix());
        self.prefixes.get(count).map(|state| state.finish())
    }

    /// Hash of the prefix of `components` components; `None` if the name is shorter, or the prefix was not
    /// hashed and is not the whole name.
    #[inline]
    pub fn prefix(&self, components: usize) -> Option<NameHash> {
        if components == self.component_count() {
            Some(self.whole)
        } else if components < self.component_count() && components < self.known.into() {
            self.prefixes.get(components).map(|state| state.finish())
        } else {
            None
        }
    }
}

/// SipHash-1-3 with the message made of whole words: each component starts a new word that also holds its
/// type and length, so no two component sequences give the same words.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct State(SipHash);

impl State {
    fn new(key: [u64; 2], dialect: Dialect) -> Self {
        let mut hash = SipHash::new(key);
        hash.absorb(dialect as u64);
        State(hash)
    }

    #[inline(always)]
    fn absorb(&mut self, word: u64) {
        self.0.absorb(word);
    }

    #[inline(always)]
    fn absorb_component(&mut self, component: Component<'_>) {
        let value = component.value;
        let header = u64::from(component.kind.number()) | (value.len() as u64 & 0xffff) << 16;
        match value {
            [] => self.absorb(header),
            &[a] => self.absorb(header | u64::from(a) << 32),
            &[a, b] => self.absorb(header | u64::from(u16::from_le_bytes([a, b])) << 32),
            &[a, b, c] => self.absorb(header | u64::from(u32::from_le_bytes([a, b, c, 0])) << 32),
            &[a, b, c, d, ref rest @ ..] => {
                self.absorb(header | u64::from(u32::from_le_bytes([a, b, c, d])) << 32);
                self.absorb_rest(value, rest);
            }
        }
    }

    /// Takes what follows the first four bytes of `value`, in words; the last word overlaps bytes already
    /// taken where possible, which keeps the encoding injective because the length is known.
    #[inline(always)]
    fn absorb_rest(&mut self, value: &[u8], rest: &[u8]) {
        let mut words = rest.chunks_exact(8);
        for word in words.by_ref() {
            self.absorb(word.try_into().map_or(0, u64::from_le_bytes));
        }
        if words.remainder().is_empty() {
            return;
        }
        match (value.last_chunk::<8>(), value.last_chunk::<4>()) {
            (Some(word), _) => self.absorb(u64::from_le_bytes(*word)),
            (None, Some(word)) => self.absorb(u32::from_le_bytes(*word).into()),
            (None, None) => {}
        }
    }

    #[inline(always)]
    fn finish(self) -> NameHash {
        NameHash(self.0.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ccnx::NameSource;
    use crate::name::Name;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn hasher() -> NameHasher {
        NameHasher::new([1, 2])
    }

    fn hashes(uri: &str) -> PrefixHashes {
        hasher().hash(Dialect::Ndn, uri.parse::<Name>().unwrap().components())
    }

    #[test]
    fn every_prefix_hash_is_the_hash_of_that_prefix() {
        let whole = hashes("/one/two-is-longer/3/and-a-component-of-many-more-bytes/v=5");
        for (count, uri) in
            ["/", "/one", "/one/two-is-longer", "/one/two-is-longer/3"].into_iter().enumerate()
        {
            assert_eq!(whole.prefix(count), Some(hashes(uri).whole()), "{uri}");
        }
        assert_eq!(whole.prefix(5), Some(whole.whole()));
        assert_eq!(whole.prefix(6), None);
    }

    #[test]
    fn prefixes_beyond_the_limit_are_unknown_but_the_whole_name_is_hashed() {
        let long: String = (0..40).map(|i| format!("/{i}")).collect();
        let hashes = hashes(&long);
        assert_eq!(hashes.component_count(), 40);
        assert!(hashes.prefix(16).is_some());
        assert_eq!(hashes.prefix(17), None);
        assert_eq!(hashes.prefix(40), Some(hashes.whole()));
        assert_eq!(hashes.longest_known_prefix(), 16);
    }

    #[test]
    fn one_pass_over_a_name_gives_the_hash_of_every_prefix_that_is_wanted_and_no_other() {
        let long: String = (0..40).map(|i| format!("/{i}")).collect();
        let name: Name = long.parse().unwrap();
        let mut seen = Vec::new();
        hasher().hash_prefixes(
            Dialect::Ndn,
            name.as_ref(),
            |count| count % 3 == 0,
            |count, hash| {
                seen.push((count, hash));
            },
        );
        let expected: Vec<_> = (0..=40)
            .step_by(3)
            .map(|count| (count, hasher().hash(Dialect::Ndn, name.prefix(count).components()).whole()))
            .collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn key_and_dialect_change_the_hash() {
        let name: Name = "/a/b".parse().unwrap();
        let ndn = hasher().hash(Dialect::Ndn, name.components()).whole();
        let ccnx = hasher().hash(Dialect::Ccnx, name.components()).whole();
        let other = NameHasher::new([1, 3]).hash(Dialect::Ndn, name.components()).whole();
        assert_ne!(ndn, ccnx);
        assert_ne!(ndn, other);
    }

    #[test]
    fn component_lengths_from_0_to_40_bytes_do_not_collide_and_every_byte_counts() {
        let mut seen: HashMap<NameHash, (usize, usize)> = HashMap::new();
        for len in 0..40usize {
            for changed in 0..=len {
                let mut value = vec![0u8; len];
                if changed < len {
                    value[changed] = 1;
                }
                let name = Name::from_components([Component::generic(&value)]).unwrap();
                let hash = hasher().hash(Dialect::Ndn, name.components()).whole();
                assert_eq!(seen.insert(hash, (len, changed)), None);
            }
        }
    }

    proptest! {
        #[test]
        fn splitting_a_value_differently_changes_the_hash(bytes in proptest::collection::vec(any::<u8>(), 2..60), at in 1usize..59) {
            prop_assume!(at < bytes.len());
            let one = Name::from_components([Component::generic(&bytes)]).unwrap();
            let two = Name::from_components([Component::generic(&bytes[..at]), Component::generic(&bytes[at..])]).unwrap();
            let hash = |name: &Name| hasher().hash(Dialect::Ndn, name.components()).whole();
            prop_assert_ne!(hash(&one), hash(&two));
        }

        #[test]
        fn hashing_after_another_name_gives_what_hashing_alone_gives(
            shared in proptest::collection::vec(proptest::collection::vec(0u8..3, 0..20), 0..20),
            endings in proptest::collection::vec(proptest::collection::vec(proptest::collection::vec(0u8..3, 0..20), 0..4), 2),
            dialect in any::<bool>(),
            same_dialect in any::<bool>(),
            of_nothing in any::<bool>(),
        ) {
            let [before, name] = [0, 1].map(|which| {
                let parts = shared.iter().chain(&endings[which]);
                Name::from_components(parts.map(|part| Component::generic(part))).unwrap()
            });
            let [dialect, other] =
                if dialect { [Dialect::Ndn, Dialect::Ccnx] } else { [Dialect::Ccnx, Dialect::Ndn] };
            let of_before = hasher().hash(if same_dialect { dialect } else { other }, before.components());
            let known = if of_nothing { PrefixHashes::default() } else { of_before };
            let mut hashes = PrefixHashes::default();
            match dialect {
                Dialect::Ndn => hasher().hash_after((before.as_ref(), &known), name.as_ref(), &mut hashes),
                Dialect::Ccnx => {
                    let wires = [&before, &name].map(|name| {
                        let mut wire = Vec::new();
                        NameSource::from(name).encode_into(&mut wire).unwrap();
                        wire
                    });
                    let [before, name] = wires.each_ref().map(|wire| CcnxNameRef::decode(wire).unwrap());
                    hasher().hash_ccnx_after(Some((before, &known)), name, &mut hashes);
                }
            }
            let alone = hasher().hash(dialect, name.components());
            let all = |hashes: &PrefixHashes| (0..=30).map(|count| hashes.prefix(count)).collect::<Vec<_>>();
            prop_assert_eq!(all(&hashes), all(&alone));
            prop_assert_eq!((hashes.whole(), hashes.component_count()), (alone.whole(), alone.component_count()));
            prop_assert_eq!(hashes.longest_known_prefix(), alone.longest_known_prefix());
            prop_assert!([0, alone.parent_end].contains(&hashes.parent_end));
        }
    }
}
