//! The shortest paths from receivers to sources, as the caches on them.

use std::ops::Range;

use super::powers::Powers;
use super::{CacheNetwork, CacheNetworkError};
use crate::arena::{Arena, CacheId, Id as _, ReceiverId, SourceId};
use crate::paths::{Graph, RouteSelection, Step};
use crate::topology::{Topology, TopologyNodeId};

/// A cache on a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    pub(super) cache: CacheId,
    /// Links from the receiver.
    pub(super) hops: u32,
    /// Delay from the receiver.
    pub(super) nanos: u64,
    /// Room of all caches from the receiver to this one.
    pub(super) room_so_far: f64,
}

/// A path to a source.
#[derive(Clone, Copy, Debug)]
pub(super) struct CachePath<'a> {
    /// Its caches, that of the receiver's side first.
    pub(super) caches: &'a [Stop],
    /// The same, with a bit for each.
    pub(super) mask: &'a [u64],
    pub(super) hops: u32,
    pub(super) nanos: u64,
}

/// A path by where its stops are among those of all.
#[derive(Clone, Debug)]
struct Listed {
    stops: Range<usize>,
    hops: u32,
    nanos: u64,
}

/// All of them.
pub(super) struct CachePaths {
    /// The node of each cache.
    pub(super) caches: Arena<CacheId, TopologyNodeId>,
    pub(super) room: Arena<CacheId, f64>,
    pub(super) centrality: Arena<CacheId, f64>,
    pub(super) receivers: usize,
    sources: usize,
    /// For the longest path and all shorter ones.
    pub(super) powers: Powers,
    stops: Vec<Stop>,
    /// For each path a bit for each cache on it, in so many words.
    masks: Vec<u64>,
    words: usize,
    /// By receiver and source.
    list: Vec<Listed>,
}

/// Of paths with the same delay the one with fewer links is shorter.
const PER_NANO: u64 = 1 << 16;

impl CachePaths {
    pub(super) fn of(network: &CacheNetwork) -> Result<CachePaths, CacheNetworkError> {
        if network.receivers.is_empty() {
            return Err(CacheNetworkError::NoReceivers);
        }
        if network.sources.is_empty() {
            return Err(CacheNetworkError::NoSources);
        }
        let mut graph = Graph::new(network.topology.nodes.len());
        for (number, link) in network.topology.links.iter().enumerate() {
            let metric =
                link.delay.map_or(0, |delay| delay.as_nanos()).saturating_mul(PER_NANO).saturating_add(1);
            for (from, to) in [(link.from, link.to), (link.to, link.from)] {
                graph.add(from, Step { to, by: number, metric });
            }
        }
        let has_room = |node: &TopologyNodeId| network.capacities.get(*node).is_some_and(|room| *room > 0);
        let caches: Vec<TopologyNodeId> = network.topology.nodes.ids().filter(has_room).collect();
        let betweenness = network.topology.betweenness();
        let mut paths = CachePaths {
            room: caches.iter().map(|node| f64::from(network.capacities[*node])).collect(),
            centrality: caches.iter().map(|node| betweenness[*node]).collect(),
            receivers: network.receivers.len(),
            sources: network.sources.len(),
            powers: Powers::up_to(0),
            stops: Vec::new(),
            masks: Vec::new(),
            words: words(caches.len()),
            list: Vec::new(),
            caches: caches.into_iter().collect(),
        };
        // Of each source the link by which each node reaches it.
        let exits: Vec<Exits> =
            network.sources.iter().map(|source| exits(&network.topology, &graph, *source)).collect();
        for &receiver in &network.receivers {
            for (&source, exits) in network.sources.iter().zip(&exits) {
                paths.add(network, receiver, source, exits)?;
            }
        }
        let longest = paths.list.iter().map(|path| path.stops.len()).max().unwrap_or(0);
        paths.powers = Powers::up_to(longest);
        Ok(paths)
    }

    fn add(
        &mut self,
        network: &CacheNetwork,
        receiver: TopologyNodeId,
        source: TopologyNodeId,
        exits: &Exits,
    ) -> Result<(), CacheNetworkError> {
        let none = CacheNetworkError::NoPath { from: receiver, to: source };
        let begin = self.stops.len();
        let (mut node, mut hops, mut nanos, mut room_so_far) = (receiver, 0u32, 0u64, 0.0);
        loop {
            if let Some(cache) = self.cache_at(node) {
                room_so_far += self.room[cache];
                self.stops.push(Stop { cache, hops, nanos, room_so_far });
            }
            if node == source {
                break;
            }
            let link = exits.get(node).copied().flatten().and_then(|link| network.topology.links.get(link));
            let link = link.ok_or(none)?;
            node = if link.from == node { link.to } else { link.from };
            hops += 1;
            nanos = nanos.saturating_add(link.delay.map_or(0, |delay| delay.as_nanos()));
        }
        let first = self.masks.len();
        self.masks.resize(first + self.words, 0);
        for stop in &self.stops[begin..] {
            let of_stop = bit_of(stop.cache);
            self.masks[first + of_stop.word] |= of_stop.bit;
        }
        self.list.push(Listed { stops: begin..self.stops.len(), hops, nanos });
        Ok(())
    }

    fn cache_at(&self, node: TopologyNodeId) -> Option<CacheId> {
        self.caches.binary_search(&node).ok().map(CacheId::from_index)
    }

    #[inline(always)]
    pub(super) fn path(&self, receiver: ReceiverId, source: SourceId) -> CachePath<'_> {
        let place = receiver.index() * self.sources + source.index();
        let Listed { stops, hops, nanos } = &self.list[place];
        let mask = place * self.words;
        CachePath {
            caches: &self.stops[stops.start..stops.end],
            mask: &self.masks[mask..mask + self.words],
            hops: *hops,
            nanos: *nanos,
        }
    }
}

/// Words with a bit for each of so many caches.
pub(super) fn words(caches: usize) -> usize {
    caches.div_ceil(64).max(1)
}

/// Where a cache is in words with a bit for each.
#[derive(Clone, Copy, Debug)]
pub(super) struct CacheBit {
    pub(super) word: usize,
    pub(super) bit: u64,
}

#[inline(always)]
pub(super) fn bit_of(cache: CacheId) -> CacheBit {
    CacheBit { word: cache.index() / 64, bit: 1 << (cache.0 % 64) }
}

/// By which link of the topology each node reaches a source.
type Exits = Arena<TopologyNodeId, Option<usize>>;

fn exits(topology: &Topology, graph: &Graph<TopologyNodeId, usize>, source: TopologyNodeId) -> Exits {
    let mut exits = Arena::filled(&topology.nodes, None);
    for route in graph.routes_to(&[source], RouteSelection::Shortest) {
        if let Some(exit) = exits.get_mut(route.from) {
            *exit = Some(route.by);
        }
    }
    exits
}
