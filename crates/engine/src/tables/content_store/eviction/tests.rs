//! One suite over all policies, and what each promises beyond it.

use super::*;
use packet::random::{Random, Zipf};
use std::collections::BTreeSet;

/// Random arrivals, requests and departures beside a set: nobody leaves twice, nobody is invented, nobody is
/// lost.
fn keeps_account(policy: EvictionPolicy) {
    let mut random = Random::from_seed(1);
    let mut eviction = policy.start();
    let mut present = BTreeSet::new();
    let mut free: Vec<u32> = (0..300).collect();
    for _ in 0..50_000 {
        match random.below(10) {
            0..=3 if !free.is_empty() => {
                let id = free.swap_remove(random.below(free.len() as u64) as usize);
                eviction.insert(id, random.below(1000));
                present.insert(id);
            }
            4..=6 => {
                if let Some(&id) = present.iter().nth(random.below(present.len().max(1) as u64) as usize) {
                    eviction.touch(id);
                }
            }
            7 => {
                if let Some(&id) = present.iter().nth(random.below(present.len().max(1) as u64) as usize) {
                    eviction.remove(id);
                    present.remove(&id);
                    free.push(id);
                }
            }
            _ => match eviction.evict() {
                Some(id) => {
                    assert!(present.remove(&id), "{policy:?} evicted {id}, which was not there");
                    free.push(id);
                }
                None => assert!(present.is_empty(), "{policy:?} found no victim"),
            },
        }
        assert_eq!(eviction.len(), present.len(), "{policy:?}");
        let mut likely = BTreeSet::new();
        eviction.likely_victims(5, &mut |id| assert!(present.contains(&id) && likely.insert(id)));
        assert_eq!(likely.is_empty(), present.is_empty());
    }
}

#[test]
fn every_policy_keeps_account_of_its_entries() {
    for policy in EvictionPolicy::ALL {
        keeps_account(policy);
        assert_eq!(policy.as_str().parse(), Ok(policy));
    }
    assert!("fifo".parse::<EvictionPolicy>().is_err());
}

#[test]
fn a_policy_of_ones_own_is_had_from_its_kind_and_added_only_before_any_is_looked_up() {
    let own = EvictionKind { word: "own", start: || Box::new(Lru::default()) };
    keeps_account(EvictionPolicy::Own(own));
    assert_eq!(EvictionPolicy::Own(own).as_str(), "own");
    assert_eq!(add_evictions(vec![EvictionKind { word: "sieve", ..own }]), Err(AddError::Taken("sieve")));
    assert_eq!(eviction_names().collect::<Vec<_>>(), ["lru", "s3-fifo", "sieve"]);
    assert_eq!(add_evictions(vec![own]), Err(AddError::TooLate));
    assert_eq!("own".parse::<EvictionPolicy>(), Err(UnknownEviction("own".into())));
}

#[test]
fn lru_takes_the_least_recently_used() {
    let mut lru = Lru::default();
    for id in 0..4 {
        lru.insert(id, 0);
    }
    lru.touch(0);
    lru.touch(2);
    let order: Vec<u32> = std::iter::from_fn(|| lru.evict()).collect();
    assert_eq!(order, [1, 3, 0, 2]);
}

#[test]
fn sieve_spares_what_was_asked_for_without_moving_it() {
    let mut sieve = Sieve::default();
    for id in 0..4 {
        sieve.insert(id, 0);
    }
    sieve.touch(0);
    sieve.touch(1);
    assert_eq!(sieve.evict(), Some(2), "the hand passed 0 and 1, and cleared their marks");
    sieve.insert(4, 0);
    assert_eq!(sieve.evict(), Some(3));
    assert_eq!(sieve.evict(), Some(4), "the hand goes on to the newest");
    assert_eq!(sieve.evict(), Some(0), "and starts over at the oldest");
}

#[test]
fn s3_fifo_lets_what_was_asked_for_once_go_and_takes_back_what_returns() {
    let mut s3 = S3Fifo::default();
    for id in 0..10 {
        s3.insert(id, u64::from(id));
    }
    s3.touch(0);
    s3.touch(0);
    assert_eq!(s3.evict(), Some(1), "0 was asked for twice and moved to the main queue");
    s3.insert(20, 1);
    for _ in 0..8 {
        let victim = s3.evict();
        assert!(victim != Some(0) && victim != Some(20), "{victim:?}");
    }
    assert_eq!(s3.len(), 2, "0 and the returned one are left");
}

/// Requests drawn from a Zipf law through a store of fixed size; gives the share of hits.
fn hit_ratio(policy: EvictionPolicy, objects: usize, capacity: usize, alpha: f64, seed: u64) -> f64 {
    let mut random = Random::from_seed(seed);
    let catalogue = Zipf::new(objects, alpha, 0.0).unwrap();
    let mut eviction = policy.start();
    let mut slot_of = vec![None; objects];
    let mut object_in = vec![0; capacity];
    let mut free: Vec<u32> = (0..capacity as u32).collect();
    let (mut hits, requests, warm_up) = (0, 200_000, 50_000);
    for request in 0..requests {
        let object = catalogue.draw(&mut random) as usize;
        if let Some(slot) = slot_of[object] {
            eviction.touch(slot);
            hits += u32::from(request >= warm_up);
            continue;
        }
        let slot = free.pop().unwrap_or_else(|| {
            let victim = eviction.evict().unwrap();
            slot_of[object_in[victim as usize]] = None;
            victim
        });
        eviction.insert(slot, object as u64);
        slot_of[object] = Some(slot);
        object_in[slot as usize] = object;
    }
    f64::from(hits) / f64::from(requests - warm_up)
}

/// Che's approximation of the hit ratio of LRU under independent requests: an answer that owes nothing to
/// this code.
fn che_approximation(objects: usize, capacity: usize, alpha: f64) -> f64 {
    let weights: Vec<f64> = (1..=objects).map(|rank| (rank as f64).powf(-alpha)).collect();
    let total: f64 = weights.iter().sum();
    let occupied = |time: f64| weights.iter().map(|w| 1.0 - (-w / total * time).exp()).sum::<f64>();
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if occupied(middle) < capacity as f64 { low = middle } else { high = middle }
    }
    weights.iter().map(|w| w / total * (1.0 - (-w / total * low).exp())).sum()
}

#[test]
fn lru_reaches_the_hit_ratio_that_theory_gives() {
    for (capacity, alpha) in [(100, 0.8), (1000, 0.8), (1000, 1.2)] {
        let (measured, expected) = (
            hit_ratio(EvictionPolicy::Lru, 10_000, capacity, alpha, 9),
            che_approximation(10_000, capacity, alpha),
        );
        assert!((measured - expected).abs() < 0.01, "{capacity} {alpha}: {measured} against {expected}");
    }
}

#[test]
fn sieve_and_s3_fifo_beat_lru_on_a_zipf_catalogue() {
    for alpha in [0.7, 1.0] {
        let ratio = |policy| hit_ratio(policy, 10_000, 500, alpha, 4);
        let (lru, s3, sieve) =
            (ratio(EvictionPolicy::Lru), ratio(EvictionPolicy::S3Fifo), ratio(EvictionPolicy::Sieve));
        assert!(
            s3 > lru + 0.02 && sieve > lru + 0.02,
            "alpha {alpha}: lru {lru}, s3-fifo {s3}, sieve {sieve}"
        );
    }
}
