//! What the study of where copies are left does, in base units.

use engine::EvictionPolicy;
use packet::random::Zipf;
use packet::time::Duration;
use sim::arena::Arena;
use sim::topology::{TopologyLink, TopologyNode, TopologyNodeId};
use sim::{CacheNetwork, CopyPlacement};

use crate::experiment::model::File;
use crate::experiment::model::study::{CachePlacementStudy, PlacementReference};
use crate::experiment::{Files, topology_graph};
use crate::study::{Findings, StudyError};

/// What the study does.
#[derive(Clone, Debug)]
pub(in crate::study) struct Experiment {
    pub(super) title: String,
    pub(super) seed: u64,
    pub(super) repeats: u32,
    pub(super) objects: u32,
    pub(super) warm_up: u64,
    pub(super) requests: u64,
    /// Exponents of Zipf's law.
    pub(super) exponents: Vec<f64>,
    /// Parts of all objects that there is room for.
    pub(super) rooms: Vec<f64>,
    /// Placements by their words.
    pub(super) placements: Vec<(String, CopyPlacement)>,
    pub(super) references: Vec<PlacementReference>,
    eviction: EvictionPolicy,
    topology: crate::experiment::model::Topology,
    sources: Option<u32>,
    source_delay: Duration,
}

/// One configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Configuration {
    pub(super) placement: usize,
    pub(super) exponent: f64,
    pub(super) room: f64,
}

const KEY: &str = "study.cache_placement";
const MAX_OBJECTS: u32 = 10_000_000;
const MAX_REQUESTS: f64 = 1e12;

impl Experiment {
    /// The study that a file has.
    pub(in crate::study) fn of(
        file: &File,
        study: &CachePlacementStudy,
        files: &Files,
        f: &mut Findings,
    ) -> Experiment {
        let per_second = study.rate.map_or(1.0, |rate| rate.0);
        let mut count = |key: &str, nanos: u64| {
            let count = (nanos as f64 / 1e9 * per_second).round();
            if count > MAX_REQUESTS {
                f.add(key, format!("more than {MAX_REQUESTS:e} requests are too many"), None);
            }
            count as u64
        };
        let requests = count("duration", file.duration.0);
        let warm_up = count(&format!("{KEY}.warm_up"), study.warm_up.0);
        if !(1..=MAX_OBJECTS).contains(&study.objects) {
            f.add(format!("{KEY}.objects"), format!("there may be from 1 to {MAX_OBJECTS}"), None);
        }
        for (number, exponent) in study.zipf.iter().enumerate() {
            if let Err(error) = Zipf::new(1, *exponent, 0.0) {
                f.add(format!("{KEY}.zipf.{number}"), error.to_string(), None);
            }
        }
        let mut placements = Vec::new();
        for (number, word) in study.placements.iter().enumerate() {
            match word.parse() {
                Ok(placement) => placements.push((word.clone(), placement)),
                Err(error) => {
                    let error: packet::registry::UnknownWord = error;
                    f.add(format!("{KEY}.placements.{number}"), error.to_string(), None);
                }
            }
        }
        let eviction = study.eviction.as_deref().map(str::parse::<EvictionPolicy>).transpose();
        let eviction = eviction.unwrap_or_else(|error| {
            f.add(format!("{KEY}.eviction"), error.to_string(), None);
            None
        });
        let experiment = Experiment {
            title: file.title.clone(),
            seed: file.seed.unwrap_or(1),
            repeats: file.repeats.unwrap_or(1),
            objects: study.objects,
            warm_up,
            requests,
            exponents: study.zipf.clone(),
            rooms: study.rooms.iter().map(|share| share.0).collect(),
            placements,
            references: study.reference.clone(),
            eviction: eviction.unwrap_or(EvictionPolicy::Lru),
            topology: study.topology.clone(),
            sources: study.sources,
            source_delay: study.source_delay.map_or(Duration::ZERO, |span| Duration::from_nanos(span.0)),
        };
        if let Err(error) = topology_graph(&experiment.topology, files, experiment.seed) {
            f.add(format!("{KEY}.topology.{}", error.key), error.message, error.hint);
        }
        experiment
    }

    /// The network, with caches that hold nothing yet: routers, then a receiver at each, then sources.
    pub(super) fn network(&self, files: &Files) -> Result<CacheNetwork, StudyError> {
        let wrong = |error: crate::experiment::NoTopology| StudyError::Format(error.message);
        let mut topology = topology_graph(&self.topology, files, self.seed).map_err(wrong)?;
        let routers: Vec<TopologyNodeId> = topology.nodes.ids().collect();
        let mut degrees = Arena::filled(&topology.nodes, 0usize);
        for link in &topology.links {
            degrees[link.from] += 1;
            degrees[link.to] += 1;
        }
        let mut by_degree = routers.clone();
        by_degree.sort_by_key(|node| std::cmp::Reverse(degrees[*node]));
        let mut attach = |name: String, router: TopologyNodeId, delay: Duration| {
            let node = topology.nodes.push(TopologyNode { name, position: None });
            topology.links.push(TopologyLink { delay: Some(delay), ..TopologyLink::between(router, node) });
            node
        };
        let receiver = |router: &TopologyNodeId| (format!("receiver-{router}"), *router);
        let receivers = routers.iter().map(receiver);
        let receivers = receivers.map(|(name, router)| attach(name, router, Duration::ZERO)).collect();
        let sources = self.sources.map_or((routers.len() / 10).max(1), |count| count as usize);
        let sources = by_degree.iter().take(sources).enumerate();
        let sources = sources
            .map(|(number, router)| attach(format!("source-{number}"), *router, self.source_delay))
            .collect();
        Ok(CacheNetwork {
            capacities: Arena::filled(&topology.nodes, 0),
            topology,
            receivers,
            sources,
            placement: CopyPlacement::default(),
            eviction: self.eviction,
        })
    }

    /// How many routers there are: as many as receivers.
    pub(super) fn routers(&self, network: &CacheNetwork) -> usize {
        network.receivers.len()
    }

    /// How many objects each router has room for.
    pub(super) fn room_each(&self, room: f64, routers: usize) -> u32 {
        (f64::from(self.objects) * room / routers.max(1) as f64).round() as u32
    }

    /// All configurations.
    pub(super) fn places(&self) -> Vec<Configuration> {
        let mut places = Vec::new();
        for &exponent in &self.exponents {
            for &room in &self.rooms {
                places.extend((0..self.placements.len()).map(|placement| Configuration {
                    placement,
                    exponent,
                    room,
                }));
            }
        }
        places
    }

    /// What another simulator says of a configuration.
    pub(super) fn reference(&self, place: Configuration) -> Option<&PlacementReference> {
        let word = &self.placements.get(place.placement)?.0;
        self.references.iter().find(|reference| {
            reference.placement == *word && reference.zipf == place.exponent && reference.room.0 == place.room
        })
    }
}
