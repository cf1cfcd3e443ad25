//! Which faces lead to which names.
//!
//! Every prefix of a route is a node, found by its hash, so the nodes on the way to a name exist without gaps
//! and the longest one is found by bisection over its length: two or three probes for a name of five
//! components. Each node knows its parent; next hops and strategy that a node does not have itself are its
//! nearest ancestor's.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};

use packet::{Buffer, Name, NameHash, NameRef, PrefixHashes};
use smallvec::SmallVec;
use thiserror::Error;

use super::chunked::Slab;
use super::hash_index::HashIndex;
use crate::face_id::FaceId;

/// One way towards a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// The face to send to.
    pub face: FaceId,
    /// Smaller is better.
    pub cost: u64,
}

/// Why a route or a strategy choice could not be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RouteError {
    /// The prefix has more components than the table takes.
    #[error("a prefix of {found} components is longer than the limit of {limit}")]
    TooManyComponents {
        /// Components of the prefix.
        found: usize,
        /// Most components allowed.
        limit: usize,
    },
    /// The table holds as many prefixes as it may.
    #[error("the table is full: {limit} prefixes")]
    TableFull {
        /// Most prefixes allowed.
        limit: u32,
    },
    /// The prefix has as many next hops as a prefix may have.
    #[error("the prefix has {limit} next hops already, which is the limit")]
    TooManyNextHops {
        /// Most next hops allowed.
        limit: usize,
    },
}

/// Next hops of one prefix at most.
pub const MAX_NEXT_HOPS: usize = 64;

/// Number of a node of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FibNode(u32);

/// Number of a strategy instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StrategyId(pub(crate) u32);

#[derive(Debug)]
struct Node {
    name: Name,
    hash: NameHash,
    parent: u32,
    /// The child made last; the root, which is nobody's child, if there is none.
    first_child: u32,
    /// The child of the same parent made before this one, and after it; likewise.
    next_sibling: u32,
    previous_sibling: u32,
    component_count: u8,
    /// Chosen for just this prefix.
    strategy: Option<StrategyId>,
    /// That, or else the nearest ancestor's.
    strategy_in_effect: StrategyId,
    /// In order of cost, then of face.
    next_hops: SmallVec<[NextHop; 1]>,
    announcement: Option<Box<Buffer>>,
}

impl Node {
    fn is_leaf(&self) -> bool {
        self.first_child == ROOT
    }
}

/// The forwarding information base of one dialect, and the strategy choices, which live in the same nodes.
#[derive(Debug)]
pub(crate) struct Fib {
    nodes: Slab<Node>,
    index: HashIndex,
    /// Where each face is a next hop, so that a face that goes costs no more than its own routes.
    by_face: BTreeSet<(FaceId, u32)>,
    max_nodes: u32,
    routes: u32,
    /// Components of the longest prefix ever stored.
    deepest: usize,
    /// Prefixes by number of components, the root not counted.
    lengths: [u32; PrefixHashes::MAX_PREFIX_COMPONENTS + 1],
    /// The number of components that most prefixes have: where bisection starts, for there it is likely to
    /// end. At least one.
    usual: usize,
    /// What was found last: names that come together mostly have the same prefix.
    last: AtomicU32,
}

const ROOT: u32 = 0;
/// Nodes that fit into the cache beside everything else.
const SMALL_NODES: u32 = 1024;

impl Fib {
    /// An empty table of at most `max_nodes` prefixes, prefixes of prefixes counted.
    pub(crate) fn new(max_nodes: u32, root_hash: NameHash, root_strategy: StrategyId) -> Self {
        let mut fib = Fib {
            nodes: Slab::default(),
            index: HashIndex::default(),
            by_face: BTreeSet::new(),
            max_nodes,
            routes: 0,
            deepest: 0,
            lengths: Default::default(),
            usual: 1,
            last: AtomicU32::new(ROOT),
        };
        let root = fib.nodes.insert(Node {
            name: Name::root(),
            hash: root_hash,
            parent: ROOT,
            first_child: ROOT,
            next_sibling: ROOT,
            previous_sibling: ROOT,
            component_count: 0,
            strategy: Some(root_strategy),
            strategy_in_effect: root_strategy,
            next_hops: SmallVec::new(),
            announcement: None,
        });
        fib.index.insert(root_hash, root);
        fib
    }

    /// Number of prefixes with next hops.
    pub(crate) fn route_count(&self) -> u32 {
        self.routes
    }

    /// The node of the longest stored prefix of `name`.
    #[inline]
    pub(crate) fn longest_match(&self, name: NameRef<'_>, hashes: &PrefixHashes) -> FibNode {
        self.longest_match_by(|prefix| prefix.is_prefix_of(name), hashes)
    }

    /// The same of a name that `has_prefix` knows.
    #[inline]
    pub(crate) fn longest_match_by(
        &self,
        has_prefix: impl Fn(NameRef<'_>) -> bool + Copy,
        hashes: &PrefixHashes,
    ) -> FibNode {
        let last = self.last.load(Ordering::Relaxed);
        // Where no longer prefix begins with this one, there is nothing to look for.
        let is_leaf_above = |node: &Node| node.is_leaf() && has_prefix(node.name.as_ref());
        if self.nodes.get(last).is_some_and(is_leaf_above) {
            return FibNode(last);
        }
        let found = self.search(has_prefix, hashes);
        self.last.store(found.0, Ordering::Relaxed);
        found
    }

    #[inline(never)]
    fn search(&self, has_prefix: impl Fn(NameRef<'_>) -> bool + Copy, hashes: &PrefixHashes) -> FibNode {
        if !self.is_small() {
            let last = self.likely_match(hashes);
            if self.is_match(last, has_prefix) {
                return last;
            }
        }
        // Two names share hash bits, so every step has to be checked.
        FibNode(self.bisect(hashes, |hash, count| self.find(hash, has_prefix, count)))
    }

    /// The longest match by hashes alone, without a look at any node: almost always the right one.
    #[inline]
    fn likely_match(&self, hashes: &PrefixHashes) -> FibNode {
        FibNode(self.bisect(hashes, |hash, _| self.index.candidates(hash).next()))
    }

    /// Whether a node stands for a prefix of a name. Its name says that, whatever bits of hashes it was found
    /// by.
    #[inline]
    pub(crate) fn is_match(&self, node: FibNode, has_prefix: impl Fn(NameRef<'_>) -> bool) -> bool {
        self.nodes.get(node.0).is_some_and(|node| has_prefix(node.name.as_ref()))
    }

    /// The longest prefix that `find` finds, given that it finds all shorter ones too.
    #[inline]
    fn bisect(&self, hashes: &PrefixHashes, find: impl Fn(NameHash, usize) -> Option<u32>) -> u32 {
        let mut found = ROOT;
        // Invariant: a node exists for the prefix of `low` components, none for that of `high`.
        let mut low = 0;
        let mut high = hashes.longest_known_prefix().min(self.deepest) + 1;
        let mut probe = self.usual.min(high - 1);
        while high - low > 1 {
            match hashes.prefix(probe).and_then(|hash| find(hash, probe)) {
                Some(node) => (found, low) = (node, probe),
                None => high = probe,
            }
            probe = (low + high) / 2;
        }
        found
    }

    /// The longest match with next hops, starting from `node` and going to its ancestors; empty if there are
    /// none.
    #[inline(always)]
    pub(crate) fn next_hops(&self, node: FibNode) -> &[NextHop] {
        match self.nodes.get(node.0) {
            Some(node) if !node.next_hops.is_empty() => &node.next_hops,
            _ => self.next_hops_above(node),
        }
    }

    /// The strategy for names under `node`, and their next hops, with one look at the node.
    #[inline(always)]
    pub(crate) fn strategy_and_next_hops(&self, node: FibNode) -> (StrategyId, &[NextHop]) {
        match self.nodes.get(node.0) {
            Some(found) if !found.next_hops.is_empty() => (found.strategy_in_effect, &found.next_hops),
            _ => (self.strategy(node), self.next_hops_above(node)),
        }
    }

    #[inline(never)]
    fn next_hops_above(&self, node: FibNode) -> &[NextHop] {
        self.route_of(node).and_then(|node| self.nodes.get(node.0)).map_or(&[], |node| &node.next_hops)
    }

    /// The node that [`Fib::next_hops`] takes them from.
    #[inline]
    pub(crate) fn route_of(&self, node: FibNode) -> Option<FibNode> {
        let mut number = node.0;
        loop {
            let node = self.nodes.get(number)?;
            if !node.next_hops.is_empty() {
                return Some(FibNode(number));
            }
            if number == ROOT {
                return None;
            }
            number = node.parent;
        }
    }

    /// Hash of the prefix that the node stands for: its identity as long as it exists.
    pub(crate) fn prefix_hash(&self, node: FibNode) -> NameHash {
        self.nodes.get(node.0).map_or(NameHash(0), |node| node.hash)
    }

    /// The strategy for names under `node`.
    #[inline]
    pub(crate) fn strategy(&self, node: FibNode) -> StrategyId {
        self.nodes.get(node.0).map_or(StrategyId(0), |node| node.strategy_in_effect)
    }

    /// The announcement by which a route at or above `node` was learned.
    pub(crate) fn announcement(&self, node: FibNode) -> Option<&Buffer> {
        let mut number = node.0;
        loop {
            let node = self.nodes.get(number)?;
            if node.announcement.is_some() || number == ROOT {
                return node.announcement.as_deref();
            }
            number = node.parent;
        }
    }

    /// Adds a next hop, or changes its cost.
    pub(crate) fn add_next_hop(
        &mut self,
        prefix: NameRef<'_>,
        hashes: &PrefixHashes,
        hop: NextHop,
        announcement: Option<Buffer>,
    ) -> Result<(), RouteError> {
        let number = self.make(prefix, hashes)?;
        let Some(node) = self.nodes.get_mut(number) else { return Ok(()) };
        let was_empty = node.next_hops.is_empty();
        let existing = node.next_hops.iter().position(|other| other.face == hop.face);
        if existing.is_none() && node.next_hops.len() == MAX_NEXT_HOPS {
            return Err(RouteError::TooManyNextHops { limit: MAX_NEXT_HOPS });
        }
        if let Some(existing) = existing {
            node.next_hops.remove(existing);
        }
        let place = node.next_hops.partition_point(|other| (other.cost, other.face) < (hop.cost, hop.face));
        node.next_hops.insert(place, hop);
        self.by_face.insert((hop.face, number));
        if announcement.is_some() {
            node.announcement = announcement.map(Box::new);
        }
        self.routes += u32::from(was_empty);
        Ok(())
    }

    /// Removes a next hop; false if it was not there.
    pub(crate) fn remove_next_hop(
        &mut self,
        prefix: NameRef<'_>,
        hashes: &PrefixHashes,
        face: FaceId,
    ) -> bool {
        let Some(number) = self.exact(prefix, hashes) else { return false };
        self.remove_hop_at(number, face)
    }

    /// Removes every next hop that leads to `face`; gives how many there were.
    pub(crate) fn remove_face(&mut self, face: FaceId) -> usize {
        let own = self.by_face.range((face, 0)..=(face, u32::MAX));
        let holders: Vec<u32> = own.map(|(_, number)| *number).collect();
        holders.iter().filter(|&&number| self.remove_hop_at(number, face)).count()
    }

    /// Sets or clears the strategy of a prefix; gives the one it had. The root's cannot be cleared.
    pub(crate) fn set_strategy(
        &mut self,
        prefix: NameRef<'_>,
        hashes: &PrefixHashes,
        strategy: Option<StrategyId>,
    ) -> Result<Option<StrategyId>, RouteError> {
        if strategy.is_none() && (prefix.is_root() || self.exact(prefix, hashes).is_none()) {
            return Ok(None);
        }
        let number = self.make(prefix, hashes)?;
        let previous =
            self.nodes.get_mut(number).and_then(|node| std::mem::replace(&mut node.strategy, strategy));
        self.settle_strategies(number);
        self.prune(number);
        Ok(previous)
    }

    /// Works out anew which strategy is in effect at a node and below it, down to those with a choice of
    /// their own; gives how many nodes it looked at.
    fn settle_strategies(&mut self, top: u32) -> u64 {
        let Some(node) = self.nodes.get(top) else { return 0 };
        let inherited = || self.nodes.get(node.parent).map(|parent| parent.strategy_in_effect);
        // The root always has one.
        let Some(chosen) = node.strategy.or_else(inherited) else { return 0 };
        let (mut number, mut looked_at) = (top, 1);
        self.put_in_effect(top, chosen);
        loop {
            // Down to the first child, or else on to the next one of the nearest node that has one.
            let Some(node) = self.nodes.get(number) else { return looked_at };
            let inherits = number == top || node.strategy.is_none();
            let mut next = if inherits { node.first_child } else { ROOT };
            while next == ROOT {
                if number == top {
                    return looked_at;
                }
                let Some(node) = self.nodes.get(number) else { return looked_at };
                (number, next) = (node.parent, node.next_sibling);
            }
            number = next;
            looked_at += 1;
            if self.nodes.get(number).is_some_and(|node| node.strategy.is_none()) {
                self.put_in_effect(number, chosen);
            }
        }
    }

    fn put_in_effect(&mut self, number: u32, strategy: StrategyId) {
        if let Some(node) = self.nodes.get_mut(number) {
            node.strategy_in_effect = strategy;
        }
    }

    /// A step through the routes; where the next one goes on.
    pub(crate) fn routes(&self, from: u32) -> (impl Iterator<Item = (&Name, &[NextHop])>, Option<u32>) {
        let (nodes, next) = self.nodes.step_from(from);
        let with_hops = nodes.filter(|(_, node)| !node.next_hops.is_empty());
        (with_hops.map(|(_, node)| (&node.name, &node.next_hops[..])), next)
    }

    /// A step through the strategy choices; where the next one goes on.
    pub(crate) fn strategies(&self, from: u32) -> (impl Iterator<Item = (&Name, StrategyId)>, Option<u32>) {
        let (nodes, next) = self.nodes.step_from(from);
        (nodes.filter_map(|(_, node)| Some((&node.name, node.strategy?))), next)
    }

    /// Whether the table will be in the cache whoever uses it, so that nothing need be fetched ahead.
    #[inline]
    pub(crate) fn is_small(&self) -> bool {
        self.nodes.slot_count() <= SMALL_NODES
    }

    /// Hints that the prefixes of a name will be looked up soon: the ones that bisection tries first.
    #[inline]
    pub(crate) fn prefetch(&self, hashes: &PrefixHashes) {
        let high = hashes.longest_known_prefix().min(self.deepest) + 1;
        let first = self.usual.min(high - 1);
        let longer = (first + high) / 2;
        self.prefetch_prefix(hashes, first);
        if longer > first {
            self.prefetch_prefix(hashes, longer);
        }
    }

    #[inline]
    fn prefetch_prefix(&self, hashes: &PrefixHashes, length: usize) {
        if let Some(hash) = hashes.prefix(length) {
            self.index.prefetch(hash);
        }
    }

    /// Hints that the longest match, whose probes were hinted at before, will be read soon; gives what is
    /// probably it.
    #[inline]
    pub(crate) fn prefetch_match(&self, hashes: &PrefixHashes) -> FibNode {
        let node = self.likely_match(hashes);
        self.nodes.prefetch(node.0);
        node
    }

    /// Hints that the name of a node, itself hinted at before, will be read soon.
    #[inline]
    pub(crate) fn prefetch_name(&self, node: FibNode) {
        if let Some(node) = self.nodes.get(node.0) {
            crate::batch::processor::prefetch_start(node.name.canonical());
        }
    }

    /// Bytes of memory held, names not counted.
    pub(crate) fn footprint_bytes(&self) -> usize {
        // Nodes of the tree are two thirds full in the long run.
        let by_face = self.by_face.len() * size_of::<(FaceId, u32)>() * 3 / 2;
        self.nodes.footprint_bytes() + self.index.footprint_bytes() + by_face
    }

    #[inline]
    fn find(
        &self,
        hash: NameHash,
        has_prefix: impl Fn(NameRef<'_>) -> bool,
        component_count: usize,
    ) -> Option<u32> {
        self.index.candidates(hash).find(|&number| {
            self.nodes.get(number).is_some_and(|node| {
                usize::from(node.component_count) == component_count && has_prefix(node.name.as_ref())
            })
        })
    }

    fn exact(&self, prefix: NameRef<'_>, hashes: &PrefixHashes) -> Option<u32> {
        self.find(hashes.whole(), |node| node.is_prefix_of(prefix), hashes.component_count())
    }

    /// The node of `prefix`, made with all its ancestors if it is new.
    fn make(&mut self, prefix: NameRef<'_>, hashes: &PrefixHashes) -> Result<u32, RouteError> {
        let count = hashes.component_count();
        if count > PrefixHashes::MAX_PREFIX_COMPONENTS {
            let limit = PrefixHashes::MAX_PREFIX_COMPONENTS;
            return Err(RouteError::TooManyComponents { found: count, limit });
        }
        let nearest = self.longest_match(prefix, hashes);
        let existing = self.nodes.get(nearest.0).map_or(0, |node| usize::from(node.component_count));
        if (count - existing) as u64 + u64::from(self.nodes.len()) > u64::from(self.max_nodes) {
            return Err(RouteError::TableFull { limit: self.max_nodes });
        }
        let mut parent = nearest.0;
        if existing == count {
            return Ok(parent);
        }
        let strategy_in_effect = self.strategy(nearest);
        // One copy of the name serves the new node and all its new ancestors.
        let whole = prefix.to_name();
        for length in existing + 1..=count {
            let Some(hash) = hashes.prefix(length) else { continue };
            let number = self.nodes.insert(Node {
                name: whole.prefix(length),
                hash,
                parent,
                first_child: ROOT,
                next_sibling: ROOT,
                previous_sibling: ROOT,
                component_count: length as u8,
                strategy: None,
                strategy_in_effect,
                next_hops: SmallVec::new(),
                announcement: None,
            });
            self.link(number, parent);
            self.index.insert(hash, number);
            self.lengths[length] += 1;
            parent = number;
        }
        self.deepest = self.deepest.max(count);
        self.find_usual_length();
        Ok(parent)
    }

    fn remove_hop_at(&mut self, number: u32, face: FaceId) -> bool {
        let Some(node) = self.nodes.get_mut(number) else { return false };
        let Some(place) = node.next_hops.iter().position(|hop| hop.face == face) else { return false };
        node.next_hops.remove(place);
        self.by_face.remove(&(face, number));
        if node.next_hops.is_empty() {
            node.announcement = None;
            self.routes -= 1;
        }
        self.prune(number);
        true
    }

    /// Makes a node its parent's first child.
    fn link(&mut self, number: u32, parent: u32) {
        let Some(node) = self.nodes.get_mut(parent) else { return };
        let next = std::mem::replace(&mut node.first_child, number);
        if let Some(node) = self.nodes.get_mut(number) {
            node.next_sibling = next;
        }
        if next != ROOT
            && let Some(next) = self.nodes.get_mut(next)
        {
            next.previous_sibling = number;
        }
    }

    /// Takes a node, which was removed, from among its parent's children.
    fn unlink(&mut self, removed: &Node) {
        let (previous, next) = (removed.previous_sibling, removed.next_sibling);
        match previous {
            ROOT => {
                if let Some(parent) = self.nodes.get_mut(removed.parent) {
                    parent.first_child = next;
                }
            }
            _ => {
                if let Some(previous) = self.nodes.get_mut(previous) {
                    previous.next_sibling = next;
                }
            }
        }
        if next != ROOT
            && let Some(next) = self.nodes.get_mut(next)
        {
            next.previous_sibling = previous;
        }
    }

    fn find_usual_length(&mut self) {
        let most = self.lengths.iter().enumerate().skip(1).max_by_key(|(_, count)| **count);
        self.usual = most.map_or(1, |(length, _)| length);
    }

    /// Removes the node if nothing needs it any more, and then its ancestors likewise.
    fn prune(&mut self, mut number: u32) {
        while number != ROOT {
            match self.nodes.get(number) {
                Some(node) if node.is_leaf() && node.strategy.is_none() && node.next_hops.is_empty() => {}
                _ => return,
            }
            let Some(node) = self.nodes.remove(number) else { return };
            self.index.remove(node.hash, number);
            self.lengths[usize::from(node.component_count)] -= 1;
            self.unlink(&node);
            number = node.parent;
        }
    }
}

#[cfg(test)]
mod tests;
