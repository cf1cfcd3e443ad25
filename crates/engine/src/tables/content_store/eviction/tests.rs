//! One suite over all policies, and what each promises beyond it. How often they hit, beside theory and each
//! other, is tested where caches are studied (`sim::study_cache`).

use super::*;
use packet::random::Random;
use std::collections::BTreeSet;

/// Random arrivals, requests and departures beside a set: nobody leaves twice, nobody is invented, nobody is
/// lost.
fn keeps_account(policy: EvictionPolicy) {
    let mut random = Random::from_seed(1);
    let mut eviction = policy.start();
    let mut present = BTreeSet::new();
    let mut free: Vec<CachedId> = (0..300).map(CachedId).collect();
    for _ in 0..50_000 {
        match random.below(10) {
            0..=3 if !free.is_empty() => {
                let id = free.swap_remove(random.below(free.len() as u64) as usize);
                eviction.insert(id, CacheKey(random.below(1000)));
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
                    assert!(present.remove(&id), "{policy:?} evicted {id:?}, which was not there");
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
    let unknown = "own".parse::<EvictionPolicy>().unwrap_err();
    assert_eq!(unknown.to_string(), "there is no policy own; there are lru, s3-fifo, sieve");
}

#[test]
fn lru_takes_the_least_recently_used() {
    let mut lru = Lru::default();
    for id in 0..4 {
        lru.insert(CachedId(id), CacheKey(0));
    }
    lru.touch(CachedId(0));
    lru.touch(CachedId(2));
    let order: Vec<CachedId> = std::iter::from_fn(|| lru.evict()).collect();
    assert_eq!(order, [1, 3, 0, 2].map(CachedId));
}

#[test]
fn sieve_spares_what_was_asked_for_without_moving_it() {
    let mut sieve = Sieve::default();
    for id in 0..4 {
        sieve.insert(CachedId(id), CacheKey(0));
    }
    sieve.touch(CachedId(0));
    sieve.touch(CachedId(1));
    assert_eq!(sieve.evict(), Some(CachedId(2)), "the hand passed 0 and 1, and cleared their marks");
    sieve.insert(CachedId(4), CacheKey(0));
    assert_eq!(sieve.evict(), Some(CachedId(3)));
    assert_eq!(sieve.evict(), Some(CachedId(4)), "the hand goes on to the newest");
    assert_eq!(sieve.evict(), Some(CachedId(0)), "and starts over at the oldest");
}

#[test]
fn s3_fifo_lets_what_was_asked_for_once_go_and_takes_back_what_returns() {
    let mut s3 = S3Fifo::default();
    for id in 0..10 {
        s3.insert(CachedId(id), CacheKey(id.into()));
    }
    s3.touch(CachedId(0));
    s3.touch(CachedId(0));
    assert_eq!(s3.evict(), Some(CachedId(1)), "0 was asked for twice and moved to the main queue");
    s3.insert(CachedId(20), CacheKey(1));
    for _ in 0..8 {
        let victim = s3.evict();
        assert!(victim != Some(CachedId(0)) && victim != Some(CachedId(20)), "{victim:?}");
    }
    assert_eq!(s3.len(), 2, "0 and the returned one are left");
}
