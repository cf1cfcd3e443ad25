//! Networks of caches without packets: requests walk along shortest paths from receivers to sources until a
//! cache has what they ask for, and copies are left on the way back; millions of requests a second.
//!
//! There is no time: requests follow each other, and none waits for another. Placements are those that are
//! known from the literature; see [`CopyPlacement`].

mod caches;
mod paths;
mod placement;
mod powers;

use std::hint;

use engine::{Eviction, EvictionPolicy, Lru, S3Fifo, Sieve};
use packet::random::{Random, Zipf};
use packet::time::Duration;
use thiserror::Error;

use caches::Caches;
use paths::{CachePaths, Stop};
pub use placement::CopyPlacement;

use super::requests::{Requests, in_batches};
use crate::arena::{Arena, CacheId, ObjectId, ReceiverId, SourceId};
use crate::topology::{Topology, TopologyNodeId};

/// A network of caches: who has room, who asks, who has everything.
#[derive(Clone, Debug)]
pub struct CacheNetwork {
    /// Nodes and links; a link without a delay has none.
    pub topology: Topology,
    /// How many objects each node's cache holds; 0 for none.
    pub capacities: Arena<TopologyNodeId, u32>,
    /// Nodes from which requests come, each as often.
    pub receivers: Vec<TopologyNodeId>,
    /// Nodes that have objects for good; each object is at one of them, drawn at random.
    pub sources: Vec<TopologyNodeId>,
    /// Where copies are left.
    pub placement: CopyPlacement,
    /// Who leaves a full cache.
    pub eviction: EvictionPolicy,
}

/// Why a network of caches cannot be studied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CacheNetworkError {
    /// There is nobody to ask.
    #[error("there is no receiver")]
    NoReceivers,
    /// Nobody has anything.
    #[error("there is no source")]
    NoSources,
    /// A receiver cannot reach a source.
    #[error("no path leads from node {from} to node {to}")]
    NoPath {
        /// The receiver.
        from: TopologyNodeId,
        /// The source.
        to: TopologyNodeId,
    },
    /// The tables would take too much memory.
    #[error("{objects} objects in {caches} caches are too many")]
    TooLarge {
        /// Objects of the catalogue.
        objects: usize,
        /// Caches with room.
        caches: usize,
    },
}

/// What a network of caches did after it had warmed up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CacheNetworkReport {
    /// Requests that counted.
    pub requests: u64,
    /// Those that a cache answered.
    pub hits: u64,
    /// Requests that each node's cache answered.
    pub hits_at: Arena<TopologyNodeId, u64>,
    /// Links that requests crossed, one way.
    pub hops: u64,
    /// Links that they would have crossed without caches.
    pub hops_to_source: u64,
    /// Round trips of all, without any queue.
    pub round_trips: Duration,
}

impl CacheNetworkReport {
    /// The share of requests that a cache answered.
    pub fn hit_ratio(&self) -> f64 {
        part(self.hits, self.requests)
    }

    /// Links crossed by a request on average.
    pub fn mean_hops(&self) -> f64 {
        part(self.hops, self.requests)
    }

    /// Links crossed, as a part of those to the source.
    pub fn stretch(&self) -> f64 {
        part(self.hops, self.hops_to_source)
    }

    /// The mean round trip in seconds.
    pub fn mean_round_trip(&self) -> f64 {
        if self.requests == 0 { 0.0 } else { self.round_trips.as_secs_f64() / self.requests as f64 }
    }
}

fn part(of: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { of as f64 / all as f64 }
}

impl CacheNetwork {
    /// Sends requests for objects of a catalogue; the first `warm_up` are not counted.
    ///
    /// ```
    /// use cairn_sim::topology::{Topology, TopologyNodeId};
    /// use cairn_sim::{CacheNetwork, CopyPlacement};
    /// use packet::random::{Random, Zipf};
    ///
    /// // Two routers between a receiver and a source.
    /// let network = CacheNetwork {
    ///     topology: Topology::chain(4),
    ///     capacities: vec![0, 10, 10, 0].into(),
    ///     receivers: vec![TopologyNodeId(0)],
    ///     sources: vec![TopologyNodeId(3)],
    ///     placement: CopyPlacement::default(),
    ///     eviction: engine::EvictionPolicy::Lru,
    /// };
    /// let catalogue = Zipf::new(1_000, 0.8, 0.0)?;
    /// let everywhere = network.study(&catalogue, 10_000, 50_000, &mut Random::from_seed(1))?;
    /// let placement = CopyPlacement::ByNode(engine::CachePlacement::LeaveCopyDown);
    /// let network = CacheNetwork { placement, ..network };
    /// let down = network.study(&catalogue, 10_000, 50_000, &mut Random::from_seed(1))?;
    /// assert!(down.hit_ratio() > everywhere.hit_ratio());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Nobody who asks or answers, a receiver without a path, too large a network.
    pub fn study(
        &self,
        catalogue: &Zipf,
        warm_up: u64,
        requests: u64,
        random: &mut Random,
    ) -> Result<CacheNetworkReport, CacheNetworkError> {
        let paths = CachePaths::of(self)?;
        let requests = Requests { catalogue, warm_up, counted: requests };
        // A copy of the loop for each policy, so that nothing is called through a table of functions.
        match self.eviction {
            EvictionPolicy::Lru => self.run(&paths, Lru::default, requests, random),
            EvictionPolicy::S3Fifo => self.run(&paths, S3Fifo::default, requests, random),
            EvictionPolicy::Sieve => self.run(&paths, Sieve::default, requests, random),
            EvictionPolicy::Own(kind) => self.run(&paths, kind.start, requests, random),
        }
    }

    fn run<E: Eviction>(
        &self,
        paths: &CachePaths,
        start: impl Fn() -> E,
        requests: Requests<'_>,
        random: &mut Random,
    ) -> Result<CacheNetworkReport, CacheNetworkError> {
        let Requests { catalogue, warm_up, counted } = requests;
        let capacities = paths.caches.iter().map(|node| self.capacities.get(*node).copied().unwrap_or(0));
        let caches = Caches::new(capacities, catalogue.objects(), start)?;
        // Where each object is for good.
        let sources = (0..catalogue.objects())
            .map(|_| SourceId(random.below(self.sources.len() as u64) as u32))
            .collect();
        let mut run = Run {
            paths,
            caches,
            sources,
            placement: self.placement,
            answered: paths.caches.iter().map(|_| 0).collect(),
        };
        run.requests(catalogue, warm_up, random);
        run.answered.iter_mut().for_each(|count| *count = 0);
        let sums = run.requests(catalogue, counted, random);
        let mut hits_at = Arena::filled(&self.topology.nodes, 0);
        for (node, hits) in paths.caches.iter().zip(run.answered.iter()) {
            if let Some(place) = hits_at.get_mut(*node) {
                *place = *hits;
            }
        }
        Ok(CacheNetworkReport {
            requests: counted,
            hits: run.answered.iter().sum(),
            hits_at,
            hops: sums.hops,
            hops_to_source: sums.hops_to_source,
            round_trips: Duration::from_nanos(sums.one_way_nanos.saturating_mul(2)),
        })
    }
}

#[derive(Default)]
struct Sums {
    hops: u64,
    hops_to_source: u64,
    one_way_nanos: u64,
}

struct Run<'a, E> {
    paths: &'a CachePaths,
    caches: Caches<E>,
    sources: Arena<ObjectId, SourceId>,
    placement: CopyPlacement,
    /// Requests that each cache answered.
    answered: Arena<CacheId, u64>,
}

impl<E: Eviction> Run<'_, E> {
    fn requests(&mut self, catalogue: &Zipf, requests: u64, random: &mut Random) -> Sums {
        let mut sums = Sums::default();
        in_batches(catalogue, requests, random, |batch, random| {
            self.caches.prefetch(batch.objects());
            hint::black_box(batch.objects().fold(0, |sum, object| sum ^ self.sources[object].0));
            for object in batch.objects() {
                self.request(object, &mut sums, random);
            }
        });
        sums
    }

    #[inline]
    fn request(&mut self, object: ObjectId, sums: &mut Sums, random: &mut Random) {
        let receiver = ReceiverId(random.below(self.paths.receivers as u64) as u32);
        let source = self.sources[object];
        let path = self.paths.path(receiver, source);
        let row = self.caches.row(object);
        // How many caches were asked in vain; the next one on the path has it, or else the source.
        let reach = self.placement.reach(path.caches.len());
        // Most often none has it, which is seen of all at once.
        let is_near = row.iter().zip(path.mask).any(|(holders, mask)| holders & mask != 0);
        let has = |stop: &Stop| self.caches.has(row, stop.cache);
        let found = if is_near { path.caches[..reach].iter().position(has) } else { None };
        let missed = found.unwrap_or(path.caches.len());
        let (hops, nanos) = match found.map(|place| path.caches[place]) {
            Some(stop) => {
                self.answered[stop.cache] += 1;
                self.caches.touch(object, stop.cache);
                (stop.hops, stop.nanos)
            }
            None => (path.hops, path.nanos),
        };
        sums.hops += u64::from(hops);
        sums.one_way_nanos += nanos;
        sums.hops_to_source += u64::from(path.hops);
        let (placement, caches) = (self.placement, &mut self.caches);
        placement.leave(path.caches, missed, self.paths, random, &mut |cache| caches.put(object, cache));
    }
}

#[cfg(test)]
mod tests;
