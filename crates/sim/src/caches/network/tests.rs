use engine::{CachePlacement, CacheProbability};

use super::*;
use crate::topology::{TopologyLink, TopologyNode, TopologyNodeId};

const EVERYWHERE: CopyPlacement = CopyPlacement::ByNode(CachePlacement::Everywhere);
const LEAVE_COPY_DOWN: CopyPlacement = CopyPlacement::ByNode(CachePlacement::LeaveCopyDown);
const LOCAL_CONSUMERS: CopyPlacement = CopyPlacement::ByNode(CachePlacement::LocalConsumers);

fn probability(probability: f64) -> CopyPlacement {
    CopyPlacement::ByNode(CachePlacement::Probability(CacheProbability::new(probability).unwrap()))
}

/// A receiver, routers with caches of so much room each, and a source, in a line.
fn line(rooms: &[u32], placement: CopyPlacement) -> CacheNetwork {
    let nodes = rooms.len() + 2;
    let mut topology = Topology::chain(nodes);
    topology.links.iter_mut().for_each(|link| link.delay = Some(Duration::from_millis(1)));
    let capacities = [&[0][..], rooms, &[0]].concat().into();
    let (receivers, sources) = (vec![TopologyNodeId(0)], vec![TopologyNodeId(nodes - 1)]);
    let eviction = EvictionPolicy::Lru;
    CacheNetwork { topology, capacities, receivers, sources, placement, eviction }
}

fn report(network: &CacheNetwork, objects: usize) -> CacheNetworkReport {
    let catalogue = Zipf::new(objects, 0.8, 0.0).unwrap();
    network.study(&catalogue, 50_000, 200_000, &mut Random::from_seed(1)).unwrap()
}

#[test]
fn caches_with_room_for_all_answer_at_the_first_that_copies_are_left_in() {
    for placement in [
        EVERYWHERE,
        CopyPlacement::Edge,
        // Each hit moves a copy towards the receiver.
        LEAVE_COPY_DOWN,
        CopyPlacement::MostCentral,
    ] {
        let found = report(&line(&[50, 50, 50], placement), 50);
        assert_eq!(found.hits, found.requests, "{placement:?}");
        assert!(
            found.hits_at[TopologyNodeId(1)] > found.requests * 99 / 100,
            "{placement:?}: {:?}",
            found.hits_at
        );
        assert!((found.mean_hops() - 1.0).abs() < 0.02, "{placement:?}: {}", found.mean_hops());
        assert!((found.mean_round_trip() - 0.002).abs() < 1e-4);
    }
}

#[test]
fn the_first_copy_is_left_where_the_placement_says() {
    // Of one object the second request is answered there.
    let catalogue = Zipf::new(1, 1.0, 0.0).unwrap();
    for (placement, at) in
        [(EVERYWHERE, 1), (CopyPlacement::Edge, 1), (CopyPlacement::MostCentral, 2), (LEAVE_COPY_DOWN, 3)]
    {
        let network = line(&[1, 1, 1], placement);
        let found = network.study(&catalogue, 1, 1, &mut Random::from_seed(1)).unwrap();
        let mut expected = [0; 5];
        expected[at] = 1;
        assert_eq!(found.hits_at.as_slice(), expected, "{placement:?}");
        assert_eq!((found.hops, found.hops_to_source), (at as u64, 4));
    }
}

#[test]
fn one_cache_hits_as_often_as_the_study_of_one_says() {
    let network = line(&[100], EVERYWHERE);
    let catalogue = Zipf::new(10_000, 0.8, 0.0).unwrap();
    let alone =
        crate::study_cache(&catalogue, EvictionPolicy::Lru, 100, 50_000, 200_000, &mut Random::from_seed(9));
    let found = report(&network, 10_000);
    assert!(
        (alone.hit_ratio() - found.hit_ratio()).abs() < 0.005,
        "{} {}",
        alone.hit_ratio(),
        found.hit_ratio()
    );
}

/// The same by walking: lists of objects, most recently used first, and no tables.
fn slow(network: &CacheNetwork, objects: usize, requests: u64) -> f64 {
    let catalogue = Zipf::new(objects, 0.8, 0.0).unwrap();
    let mut random = Random::from_seed(77);
    let all = network.capacities.as_slice();
    let rooms: Vec<usize> = all[1..all.len() - 1].iter().map(|room| *room as usize).collect();
    let mut caches: Vec<Vec<u32>> = vec![Vec::new(); rooms.len()];
    let mut hits = 0;
    for number in 0..requests * 2 {
        let object = catalogue.draw(&mut random);
        let reach = if network.placement == CopyPlacement::Edge { 1 } else { caches.len() };
        let found = caches[..reach].iter().position(|cache| cache.contains(&object));
        let missed = found.unwrap_or(caches.len());
        if let Some(place) = found {
            caches[place].retain(|other| *other != object);
            caches[place].insert(0, object);
            hits += u64::from(number >= requests);
        }
        let count = (missed + usize::from(found.is_some())) as f64;
        for place in (0..missed).rev() {
            let passed = (missed - place) as f64;
            let leaves = match network.placement {
                EVERYWHERE => true,
                LEAVE_COPY_DOWN => place + 1 == missed,
                CopyPlacement::Edge => place == 0,
                // The receiver is a node beside them.
                LOCAL_CONSUMERS => false,
                CopyPlacement::ByNode(CachePlacement::Probability(p)) => random.chance(p.value()),
                CopyPlacement::ProbCache(weight) => {
                    let before = if place + 1 < rooms.len() { rooms[place + 1] } else { 0 };
                    let rest = (rooms[..=place].iter().sum::<usize>() + before) as f64;
                    random.chance(rest / (weight * rooms[place] as f64) * (passed / count).powf(count))
                }
                CopyPlacement::OneAtRandom
                | CopyPlacement::MostCentral
                | CopyPlacement::ByNode(CachePlacement::FairShare) => unreachable!("not compared"),
            };
            if leaves {
                caches[place].insert(0, object);
                caches[place].truncate(rooms[place]);
            }
        }
    }
    hits as f64 / requests as f64
}

#[test]
fn hits_are_those_of_a_slow_model_that_walks() {
    for placement in [
        EVERYWHERE,
        LEAVE_COPY_DOWN,
        CopyPlacement::Edge,
        LOCAL_CONSUMERS,
        probability(0.2),
        CopyPlacement::ProbCache(10.0),
    ] {
        // The slots of small caches are looked for, those of large ones are known.
        for rooms in [[20, 40, 10], [20, 150, 10]] {
            let network = line(&rooms, placement);
            let (fast, slow) = (report(&network, 1_000).hit_ratio(), slow(&network, 1_000, 60_000));
            assert!((fast - slow).abs() < 0.01, "{placement:?}: {fast} and {slow}");
        }
    }
}

#[test]
fn copies_left_in_few_places_are_of_more_different_objects() {
    let ratio = |placement| report(&line(&[30; 6], placement), 5_000).hit_ratio();
    let everywhere = ratio(EVERYWHERE);
    for placement in
        [LEAVE_COPY_DOWN, probability(0.2), CopyPlacement::OneAtRandom, CopyPlacement::ProbCache(10.0)]
    {
        assert!(ratio(placement) > everywhere * 1.05, "{placement:?}");
    }
}

#[test]
fn what_cannot_be_studied_is_refused() {
    let catalogue = Zipf::new(10, 0.8, 0.0).unwrap();
    let refused = |network: &CacheNetwork, catalogue: &Zipf| {
        network.study(catalogue, 1, 1, &mut Random::from_seed(1)).unwrap_err()
    };
    let good = line(&[1], EVERYWHERE);
    let nobody = CacheNetwork { receivers: Vec::new(), ..good.clone() };
    assert_eq!(refused(&nobody, &catalogue), CacheNetworkError::NoReceivers);
    let nothing = CacheNetwork { sources: Vec::new(), ..good.clone() };
    assert_eq!(refused(&nothing, &catalogue), CacheNetworkError::NoSources);
    let mut apart = good.clone();
    let alone = apart.topology.nodes.push(TopologyNode::default());
    apart.sources = vec![alone];
    let from = TopologyNodeId(0);
    assert_eq!(refused(&apart, &catalogue), CacheNetworkError::NoPath { from, to: alone });
    apart.topology.links.push(TopologyLink::between(TopologyNodeId(2), alone));
    assert!(apart.study(&catalogue, 1, 1, &mut Random::from_seed(1)).is_ok());
    let many = Zipf::new(2_000_000, 0.8, 0.0).unwrap();
    let large = CacheNetwork { capacities: vec![1; 1002].into(), ..line(&[1; 1000], EVERYWHERE) };
    assert_eq!(refused(&large, &many), CacheNetworkError::TooLarge { objects: 2_000_000, caches: 1002 });
}

#[test]
fn placements_are_chosen_by_their_words() {
    for (text, placement) in [
        ("everywhere", EVERYWHERE),
        ("leave-copy-down", LEAVE_COPY_DOWN),
        ("probability~0.2", probability(0.2)),
        ("prob-cache~10", CopyPlacement::ProbCache(10.0)),
        ("local-consumers", LOCAL_CONSUMERS),
        ("edge", CopyPlacement::Edge),
        ("most-central", CopyPlacement::MostCentral),
    ] {
        assert_eq!(text.parse(), Ok(placement));
    }
    for text in ["lcd", "probability~2", "probability", "prob-cache~0", "prob-cache~nan"] {
        let said = text.parse::<CopyPlacement>().unwrap_err().to_string();
        assert!(said.starts_with(&format!("there is no placement {text}; ")), "{said}");
    }
}

#[test]
fn fair_shares_of_faces_are_refused_where_there_are_no_faces() {
    assert!("everywhere".parse::<CopyPlacement>().is_ok());
    assert!("fair-share".parse::<CopyPlacement>().is_err());
}
