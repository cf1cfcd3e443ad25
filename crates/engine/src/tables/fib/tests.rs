use super::*;
use packet::random::Random;
use packet::{Dialect, NameHasher};
use std::collections::BTreeMap;

const HASHER_KEY: [u64; 2] = [5, 6];

fn hashes(name: &Name) -> PrefixHashes {
    NameHasher::new(HASHER_KEY).hash(Dialect::Ndn, name.components())
}

fn empty(max_nodes: u32) -> Fib {
    Fib::new(max_nodes, hashes(&Name::root()).whole(), StrategyId(0))
}

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn add(fib: &mut Fib, uri: &str, face: u32, cost: u64) -> Result<(), RouteError> {
    let name = name(uri);
    fib.add_next_hop(name.as_ref(), &hashes(&name), NextHop { face: FaceId(face), cost }, None)
}

fn remove(fib: &mut Fib, uri: &str, face: u32) -> bool {
    let name = name(uri);
    fib.remove_next_hop(name.as_ref(), &hashes(&name), FaceId(face))
}

fn faces(fib: &Fib, uri: &str) -> Vec<u32> {
    let name = name(uri);
    fib.next_hops(fib.longest_match(name.as_ref(), &hashes(&name))).iter().map(|hop| hop.face.0).collect()
}

#[test]
fn the_longest_prefix_with_next_hops_wins_and_hops_are_sorted_by_cost() {
    let mut fib = empty(100);
    add(&mut fib, "/", 1, 0).unwrap();
    add(&mut fib, "/a/b/c", 2, 10).unwrap();
    add(&mut fib, "/a/b/c", 3, 5).unwrap();
    add(&mut fib, "/a/b/c", 4, 10).unwrap();
    assert_eq!(faces(&fib, "/a/b/c/d/e"), [3, 2, 4]);
    assert_eq!(faces(&fib, "/a/b"), [1], "nodes on the way have no next hops of their own");
    add(&mut fib, "/a/b/c", 3, 20).unwrap();
    assert_eq!(faces(&fib, "/a/b/c"), [2, 4, 3], "a new cost replaces the old one");
    assert_eq!(fib.route_count(), 2);
    assert!(remove(&mut fib, "/a/b/c", 2) && !remove(&mut fib, "/a/b/c", 2));
    assert_eq!(fib.remove_face(FaceId(4)), 1);
    assert!(remove(&mut fib, "/a/b/c", 3));
    assert_eq!(faces(&fib, "/a/b/c"), [1]);
    assert_eq!(fib.nodes.len(), 1, "all nodes but the root are gone");
}

#[test]
fn strategies_are_inherited_from_the_nearest_ancestor() {
    let mut fib = empty(100);
    let mut set = |uri: &str, strategy: Option<u32>| {
        let name = name(uri);
        let previous = fib.set_strategy(name.as_ref(), &hashes(&name), strategy.map(StrategyId)).unwrap();
        (
            previous,
            ["/", "/a", "/a/b", "/a/b/c", "/x"].map(|uri| {
                let name: Name = uri.parse().unwrap();
                fib.strategy(fib.longest_match(name.as_ref(), &hashes(&name))).0
            }),
        )
    };
    assert_eq!(set("/a/b", Some(7)), (None, [0, 0, 7, 7, 0]));
    assert_eq!(set("/a", Some(8)), (None, [0, 8, 7, 7, 0]));
    assert_eq!(set("/a/b", None), (Some(StrategyId(7)), [0, 8, 8, 8, 0]));
    assert_eq!(set("/", None), (None, [0, 8, 8, 8, 0]), "the root keeps its strategy");
    assert_eq!(set("/", Some(9)), (Some(StrategyId(0)), [9, 8, 8, 8, 9]));
}

#[test]
fn limits_are_errors_and_change_nothing() {
    let mut fib = empty(3);
    add(&mut fib, "/a/b", 1, 0).unwrap();
    assert_eq!(add(&mut fib, "/c", 1, 0), Err(RouteError::TableFull { limit: 3 }));
    assert_eq!(faces(&fib, "/c"), [] as [u32; 0]);
    add(&mut fib, "/a", 2, 0).unwrap();
    let long: String = (0..17).map(|i| format!("/{i}")).collect();
    assert_eq!(add(&mut fib, &long, 1, 0), Err(RouteError::TooManyComponents { found: 17, limit: 16 }));
    for face in 0..MAX_NEXT_HOPS as u32 {
        add(&mut fib, "/", face, 0).unwrap();
    }
    assert_eq!(add(&mut fib, "/", 1000, 0), Err(RouteError::TooManyNextHops { limit: 64 }));
    add(&mut fib, "/", 3, 9).unwrap();
}

#[test]
fn random_routes_agree_with_a_map_of_prefixes() {
    let mut random = Random::from_seed(11);
    let mut fib = empty(1 << 20);
    let mut model: BTreeMap<Name, BTreeMap<FaceId, u64>> = BTreeMap::new();
    let random_name = |random: &mut Random, max: u64| -> Name {
        let uri: String = (0..random.below(max)).map(|_| format!("/{}", random.below(3))).collect();
        if uri.is_empty() { Name::root() } else { uri.parse().unwrap() }
    };
    for _ in 0..20_000 {
        let prefix = random_name(&mut random, 8);
        let face = FaceId(random.below(5) as u32);
        match random.below(3) {
            0 => {
                let cost = random.below(4);
                fib.add_next_hop(prefix.as_ref(), &hashes(&prefix), NextHop { face, cost }, None).unwrap();
                model.entry(prefix).or_default().insert(face, cost);
            }
            1 => {
                let removed = fib.remove_next_hop(prefix.as_ref(), &hashes(&prefix), face);
                let hops = model.get_mut(&prefix);
                assert_eq!(removed, hops.is_some_and(|hops| hops.remove(&face).is_some()));
            }
            _ => {
                let wanted = random_name(&mut random, 12);
                let found = fib.next_hops(fib.longest_match(wanted.as_ref(), &hashes(&wanted))).to_vec();
                let mut expected: Vec<NextHop> = (0..=12)
                    .rev()
                    .filter_map(|length| model.get(&wanted.prefix(length)).filter(|hops| !hops.is_empty()))
                    .next()
                    .map(|hops| hops.iter().map(|(&face, &cost)| NextHop { face, cost }).collect())
                    .unwrap_or_default();
                expected.sort_by_key(|hop| (hop.cost, hop.face));
                assert_eq!(found, expected, "{wanted}");
            }
        }
    }
    assert_eq!(fib.route_count() as usize, model.values().filter(|hops| !hops.is_empty()).count());
}

/// Nodes that are looked at when the strategy of a prefix that is there is set.
fn steps(fib: &mut Fib, uri: &str) -> u64 {
    let name = name(uri);
    let number = fib.exact(name.as_ref(), &hashes(&name)).unwrap();
    fib.settle_strategies(number)
}

fn choose(fib: &mut Fib, uri: &str, strategy: Option<u32>) {
    let name = name(uri);
    fib.set_strategy(name.as_ref(), &hashes(&name), strategy.map(StrategyId)).unwrap();
}

#[test]
fn setting_a_strategy_looks_at_what_inherits_it_and_at_nothing_else_of_the_table() {
    let mut fib = empty(1 << 20);
    let mut all = 0;
    for number in 0..5000 {
        choose(&mut fib, &format!("/a/{}/{number}", number % 7), Some(1 + number % 3));
        all += steps(&mut fib, &format!("/a/{}/{number}", number % 7));
        add(&mut fib, &format!("/b/{number}"), 1, 0).unwrap();
    }
    assert_eq!(all, 5000, "one step for each choice, however many there are");
    assert_eq!(steps(&mut fib, "/b"), 5001);
    assert_eq!(steps(&mut fib, "/a/3"), 1 + 714);
    // What is below a prefix that has its own choice is none of the business of one above it.
    choose(&mut fib, "/a/3", Some(9));
    assert_eq!(steps(&mut fib, "/a"), 1 + 7 + 4286);
    assert_eq!(steps(&mut fib, "/"), 1 + 2 + 5000 + 7 + 4286);
}

#[test]
fn random_choices_of_strategies_agree_with_a_map_of_prefixes() {
    let mut random = Random::from_seed(12);
    let mut fib = empty(1 << 20);
    let mut model = BTreeMap::from([(Name::root(), 0)]);
    let random_uri = |random: &mut Random| -> String {
        let uri: String = (0..random.below(6)).map(|_| format!("/{}", random.below(3))).collect();
        if uri.is_empty() { "/".to_owned() } else { uri }
    };
    for _ in 0..5000 {
        let uri = random_uri(&mut random);
        let strategy = random.below(5) as u32;
        match random.below(5) {
            0 | 1 => {
                choose(&mut fib, &uri, Some(strategy));
                model.insert(name(&uri), strategy);
            }
            2 if uri != "/" => {
                choose(&mut fib, &uri, None);
                model.remove(&name(&uri));
            }
            3 => add(&mut fib, &uri, strategy, 0).unwrap(),
            _ => drop(remove(&mut fib, &uri, strategy)),
        }
        let asked = name(&random_uri(&mut random));
        let count = asked.as_ref().component_count();
        let expected = (0..=count).rev().find_map(|length| model.get(&asked.prefix(length))).unwrap();
        let found = fib.strategy(fib.longest_match(asked.as_ref(), &hashes(&asked)));
        assert_eq!(found, StrategyId(*expected), "{asked}");
    }
}
