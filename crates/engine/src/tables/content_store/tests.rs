#![allow(clippy::unwrap_used, reason = "tests")]

use packet::ccnx::{
    AnswerOriginKind, ChildSelector, ContentObjectFields, Exclude, InterestFields, SignedInfo, Ticks,
};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::random::Random;
use packet::{Component, ComponentKind, EncodeError, Name};

use super::*;

const KEY: [u64; 2] = [7, 8];

/// The store with the index that the engine would own.
struct Fixture {
    store: ContentStore,
    index: HashIndex,
    hasher: NameHasher,
}

impl Fixture {
    fn new(config: ContentStoreConfig) -> Self {
        Fixture {
            store: ContentStore::new(config),
            index: HashIndex::default(),
            hasher: NameHasher::new(KEY),
        }
    }

    fn insert(&mut self, now: Instant, data: &Data) {
        let hashes = self.hasher.hash(data.dialect(), data.name().components());
        let name = IncomingName { hash: hashes.whole(), hashes: Some(&hashes), parent: NameHash::UNKNOWN };
        let known = self.store.exact(&self.index, data.dialect(), data.wire_components(), name.hash);
        self.store.insert(&mut self.index, IncomingData::at(now, data, name, known));
    }

    fn answer(&mut self, now: Instant, interest: &Interest) -> Option<Data> {
        let hashes = self.hasher.hash(interest.dialect(), interest.name().components());
        let exact =
            self.store.exact(&self.index, interest.dialect(), interest.wire_components(), hashes.whole());
        let arrival = Arrival::bare(now, crate::FaceId(300), &hashes);
        let id = self.store.answer(&mut self.index, arrival, interest, &self.hasher, exact)?;
        Some(self.store.get(id).unwrap().data.clone())
    }

    fn erase(&mut self, uri: &str, limit: usize) -> usize {
        self.erase_of(Dialect::Ndn, uri, limit).0
    }

    /// Erases step by step; gives how many, and in how many steps.
    fn erase_of(&mut self, dialect: Dialect, uri: &str, limit: usize) -> (usize, u32) {
        let (mut erased, mut steps, mut from) = (0, 0, Some(0));
        while let Some(place) = from {
            let name = name(uri);
            let (more, next) =
                self.store.erase(&mut self.index, dialect, name.as_ref(), limit - erased, place);
            (erased, steps, from) = (erased + more, steps + 1, next);
        }
        (erased, steps)
    }

    /// What must hold after every event.
    #[track_caller]
    fn check(&self) {
        let store = &self.store;
        assert!(store.len() <= store.config.max_entries && store.bytes() <= store.config.max_bytes);
        let each = |cost: fn(&Data) -> u64| store.iter().map(|entry| cost(&entry.data)).sum::<u64>();
        if store.shared.is_used() {
            let overhead = u64::from(store.len()) * ContentStoreConfig::OVERHEAD_BYTES;
            assert!(store.bytes() >= each(|data| data.wire().len() as u64) + overhead);
        } else {
            assert_eq!(store.bytes(), each(cost_of));
        }
        assert!(store.iter().all(|entry| !entry.data.holds_canonical_name()), "memory that nobody counts");
        assert_eq!(self.index.len(), store.len());
        assert_eq!(store.eviction.len(), store.len() as usize);
        let left = (store.tree.ordered_count(), store.occupied.counts());
        assert!(store.len() > 0 || left == (0, (0, 0)), "names of nothing are left");
    }
}

fn unlimited() -> ContentStoreConfig {
    ContentStoreConfig::default()
}

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn data(uri: &str) -> Data {
    DataBuilder::new(name(uri)).build_with_digest().unwrap()
}

fn fresh_data(uri: &str, freshness_ms: u64, content: u8) -> Data {
    DataBuilder::new(name(uri))
        .freshness(Duration::from_millis(freshness_ms))
        .content(vec![content])
        .build_with_digest()
        .unwrap()
}

fn exact(uri: &str) -> Interest {
    InterestBuilder::new(name(uri)).build().unwrap()
}

fn prefix(uri: &str) -> Interest {
    InterestBuilder::new(name(uri)).can_be_prefix(true).build().unwrap()
}

fn fresh(uri: &str) -> Interest {
    InterestBuilder::new(name(uri)).must_be_fresh(true).build().unwrap()
}

/// The slow store: a list, searched whole.
#[derive(Default)]
struct Oracle {
    kept: Vec<(Data, Instant)>,
}

impl Oracle {
    fn insert(&mut self, now: Instant, data: &Data) {
        // In CCNx all that differ are kept, which are fewer here than one name may have.
        let gives_way = |kept: &Data| {
            kept.name() == data.name() && (kept.dialect() == Dialect::Ndn || kept.wire() == data.wire())
        };
        self.kept.retain(|(kept, _)| !gives_way(kept));
        let until = if data.freshness() == Duration::ZERO { Instant::ZERO } else { now + data.freshness() };
        self.kept.push((data.clone(), until));
    }

    /// The first answer in canonical order of full names, or the first below the last child.
    fn answer(&self, now: Instant, interest: &Interest) -> Option<Data> {
        let view = interest.ccnx();
        if view.is_some_and(|view| !view.answer_origin_kind().from_store()) {
            return None;
        }
        let mut answers: Vec<(Name, &Data)> = self
            .kept
            .iter()
            .filter(|(data, until)| (!interest.must_be_fresh() || *until > now) && interest.matches(data))
            .map(|(data, _)| (full_name(data), data))
            .collect();
        answers.sort_by(|(a, _), (b, _)| a.components().cmp(b.components()));
        let depth = interest.component_count();
        if view.is_some_and(|view| view.child_selector().is_rightmost()) {
            let child =
                |full: &Name| full.components().nth(depth).map(|c| (c.kind, c.value.len(), c.value.to_vec()));
            let last = answers.iter().map(|(full, _)| child(full)).max()?;
            answers.retain(|(full, _)| child(full) == last);
        }
        answers.first().map(|(_, data)| (*data).clone())
    }
}

fn full_name(data: &Data) -> Name {
    let digest = data.implicit_digest();
    let kind = match data.dialect() {
        Dialect::Ndn => ComponentKind::IMPLICIT_DIGEST,
        Dialect::Ccnx => ComponentKind::GENERIC,
    };
    data.name().to_name().with(Component::new(kind, &digest)).unwrap()
}

/// Draws packets from few names, so that they meet.
struct Draw {
    random: Random,
    dialect: Dialect,
}

impl Draw {
    fn name(&mut self, at_least: u64) -> Name {
        let count = at_least + self.random.below(5 - at_least);
        let components: Vec<Component<'_>> = (0..count)
            .map(|_| {
                let value = [&b""[..], b"a", b"b", b"aa", b"c"][self.random.below(5) as usize];
                let typed = self.dialect == Dialect::Ndn && self.random.chance(0.2);
                Component::new(if typed { ComponentKind::KEYWORD } else { ComponentKind::GENERIC }, value)
            })
            .collect();
        Name::from_components(components).unwrap()
    }

    fn data(&mut self) -> Data {
        let (name, content) = (self.name(0), [self.random.below(3) as u8]);
        let freshness = self.random.below(4);
        match self.dialect {
            Dialect::Ndn => DataBuilder::new(name)
                .freshness(Duration::from_secs(freshness))
                .content(content.to_vec())
                .build_with_digest()
                .unwrap(),
            Dialect::Ccnx => {
                let mut signed_info = SignedInfo::new(&[1; 32], Ticks::from_count(1));
                signed_info.freshness_seconds = (freshness > 0).then_some(freshness as u32);
                let object = ContentObjectFields { name: (&name).into(), signed_info, content: &content };
                let wire = object.encode(None, |_| Ok::<_, EncodeError>([0xaa; 16])).unwrap();
                Data::decode_ccnx(wire.into()).unwrap()
            }
        }
    }

    fn interest(&mut self, oracle: &Oracle) -> Interest {
        // Now and then for one packet by its digest.
        let known = oracle.kept.get(self.random.below(oracle.kept.len() as u64) as usize);
        let full = known.filter(|_| self.random.chance(0.1)).map(|(data, _)| full_name(data));
        match self.dialect {
            Dialect::Ndn => {
                let name = full.unwrap_or_else(|| self.name(1));
                InterestBuilder::new(name)
                    .can_be_prefix(self.random.chance(0.7))
                    .must_be_fresh(self.random.chance(0.3))
                    .build()
                    .unwrap()
            }
            Dialect::Ccnx => {
                let of_one = known.filter(|_| self.random.chance(0.3)).map(|(data, _)| data.name());
                let name = full.unwrap_or_else(|| of_one.map_or_else(|| self.name(0), |of| of.to_name()));
                // Some of the objects of a name by their digests, or some children.
                let others = oracle.kept.iter().filter(|(data, _)| data.name() == name.as_ref());
                let digests: Vec<_> = others
                    .map(|(data, _)| data.implicit_digest())
                    .filter(|_| self.random.chance(0.6))
                    .collect();
                let exclude = match digests.is_empty() {
                    true => Exclude::components([&b"a"[..], b"c"]),
                    false => Exclude::components(digests.iter().map(|digest| &digest[..])),
                };
                let suffix = |random: &mut Random| random.chance(0.2).then(|| random.below(4) as u16);
                let (min, max) = (suffix(&mut self.random), suffix(&mut self.random));
                let fields = InterestFields {
                    min_suffix_components: min.min(max),
                    max_suffix_components: max.max(min),
                    exclude: self.random.chance(0.3).then(|| exclude.as_ref()),
                    child_selector: ChildSelector::new(self.random.below(2)),
                    answer_origin_kind: AnswerOriginKind::new(self.random.below(8)),
                    ..InterestFields::default()
                };
                Interest::decode_ccnx(fields.encode(&name).unwrap().into()).unwrap()
            }
        }
    }
}

#[test]
fn answers_are_those_of_a_list_searched_whole() {
    for dialect in [Dialect::Ndn, Dialect::Ccnx] {
        let mut answered = 0;
        for seed in 0..60 {
            let mut draw = Draw { random: Random::from_seed(seed), dialect };
            let (mut fixture, mut oracle) = (Fixture::new(unlimited()), Oracle::default());
            let mut now = at(1000);
            for _ in 0..300 {
                now += Duration::from_millis(draw.random.below(300));
                if draw.random.chance(0.3) {
                    let data = draw.data();
                    fixture.insert(now, &data);
                    oracle.insert(now, &data);
                } else {
                    let interest = draw.interest(&oracle);
                    let (found, expected) = (fixture.answer(now, &interest), oracle.answer(now, &interest));
                    let names = |data: &Option<Data>| data.as_ref().map(full_name);
                    assert_eq!(names(&found), names(&expected), "seed {seed}: {:?}", interest.name());
                    answered += u32::from(found.is_some());
                }
                fixture.check();
            }
            assert_eq!(fixture.store.len() as usize, oracle.kept.len());
            fixture.erase_of(dialect, "/", usize::MAX);
            fixture.check();
            assert_eq!((fixture.store.len(), fixture.store.bytes(), fixture.index.len()), (0, 0, 0));
        }
        assert!(answered > 1000, "only {answered} Interests were answered");
    }
}

#[test]
fn a_full_store_stays_in_its_budget_and_never_gives_what_it_should_not() {
    for policy in EvictionPolicy::ALL {
        for seed in 0..20 {
            let mut draw = Draw { random: Random::from_seed(seed), dialect: Dialect::Ndn };
            let config = ContentStoreConfig {
                max_entries: 5 + draw.random.below(30) as u32,
                max_bytes: 2000 + draw.random.below(8000),
                eviction: policy,
                ..unlimited()
            };
            let (mut fixture, mut oracle) = (Fixture::new(config), Oracle::default());
            let mut now = at(1000);
            for _ in 0..400 {
                now += Duration::from_millis(draw.random.below(300));
                if draw.random.chance(0.5) {
                    let data = draw.data();
                    fixture.insert(now, &data);
                    oracle.insert(now, &data);
                } else {
                    let interest = draw.interest(&oracle);
                    if let Some(found) = fixture.answer(now, &interest) {
                        let latest =
                            oracle.kept.iter().find(|(data, _)| data.name() == found.name()).unwrap();
                        assert_eq!(found.wire()[..], latest.0.wire()[..], "an older Data was kept");
                        assert!(interest.matches(&found));
                        assert!(!interest.must_be_fresh() || latest.1 > now);
                    }
                }
                fixture.check();
            }
            let counters = fixture.store.counters;
            assert!(counters.evictions > 0 && counters.hits > 0, "{policy:?}: {counters:?}");
        }
    }
}

#[test]
fn a_newer_data_takes_the_place_of_an_older_of_its_name() {
    let mut fixture = Fixture::new(unlimited());
    let (older, newer) = (fresh_data("/a", 1000, 1), fresh_data("/a", 1000, 2));
    fixture.insert(at(0), &older);
    fixture.insert(at(0), &newer);
    assert_eq!(fixture.answer(at(0), &exact("/a")).unwrap().content(), [2]);
    assert_eq!(fixture.answer(at(0), &prefix("/a")).unwrap().content(), [2]);
    assert_eq!((fixture.store.len(), fixture.store.counters.insertions), (1, 2));
    assert_eq!((fixture.store.counters.refreshes, fixture.store.counters.evictions), (0, 0));
    fixture.check();
}

fn object(uri: &str, content: u8) -> Data {
    let name = name(uri);
    let signed_info = SignedInfo::new(&[1; 32], Ticks::from_count(1));
    let object = ContentObjectFields { name: (&name).into(), signed_info, content: &[content] };
    let wire = object.encode(None, |_| Ok::<_, EncodeError>([0xaa; 16])).unwrap();
    Data::decode_ccnx(wire.into()).unwrap()
}

fn asks(name: &Name, exclude: &[[u8; 32]], child_selector: u64) -> Interest {
    let exclude = Exclude::components(exclude.iter().map(|digest| &digest[..]));
    let fields = InterestFields {
        exclude: Some(exclude.as_ref()),
        child_selector: ChildSelector::new(child_selector),
        ..InterestFields::default()
    };
    Interest::decode_ccnx(fields.encode(name).unwrap().into()).unwrap()
}

#[test]
fn objects_of_one_name_are_found_one_after_the_other_by_excluding_digests_from_either_end() {
    // Alone, and with something below the name, where they are found another way.
    for below in [None, Some(object("/a/b", 0))] {
        for rightmost in [0, 1] {
            let mut fixture = Fixture::new(unlimited());
            for content in 0..5 {
                fixture.insert(at(0), &object("/a", content));
            }
            below.iter().for_each(|below| fixture.insert(at(0), below));
            let (mut seen, mut contents) = (Vec::new(), Vec::new());
            for _ in 0..5 {
                let mut interest = asks(&name("/a"), &seen, rightmost);
                if below.is_some() {
                    let fields =
                        InterestFields { max_suffix_components: Some(1), ..InterestFields::default() };
                    let plain = Interest::decode_ccnx(fields.encode(&name("/a")).unwrap().into()).unwrap();
                    interest = if seen.is_empty() && rightmost == 0 { plain } else { interest };
                }
                let found = fixture.answer(at(0), &interest).unwrap();
                if found.name() == name("/a").as_ref() {
                    contents.push(found.content()[0]);
                    seen.push(found.implicit_digest());
                }
            }
            let is_sorted = |by: fn(&[[u8; 32]]) -> bool| by(&seen);
            match rightmost {
                0 => assert!(is_sorted(|seen| seen.is_sorted())),
                _ => assert!(is_sorted(|seen| seen.iter().rev().is_sorted())),
            }
            contents.sort_unstable();
            contents.dedup();
            assert_eq!(contents.len(), seen.len());
            for digest in seen {
                let full = name("/a").with(Component::generic(&digest)).unwrap();
                let interest = asks(&full, &[], 0);
                assert_eq!(fixture.answer(at(0), &interest).unwrap().implicit_digest(), digest);
            }
            fixture.check();
        }
    }
}

#[test]
fn of_one_name_no_more_objects_are_kept_than_may_be_and_the_oldest_goes() {
    let mut fixture = Fixture::new(unlimited());
    let most = one_name::MAX_OF_ONE_NAME;
    let objects: Vec<Data> = (0..=most as u8).map(|content| object("/a", content)).collect();
    for object in &objects {
        fixture.insert(at(0), object);
        fixture.insert(at(0), object);
    }
    let counters = fixture.store.counters;
    assert_eq!((fixture.store.len() as usize, counters.replaced, counters.evictions), (most, 1, 0));
    assert_eq!(counters.refreshes as usize, most + 1, "what is kept is not kept twice");
    let mut is_kept = |object: &Data| {
        let full = name("/a").with(Component::generic(&object.implicit_digest())).unwrap();
        fixture.answer(at(0), &asks(&full, &[], 0)).is_some()
    };
    assert!(!is_kept(&objects[0]) && objects[1..].iter().all(is_kept));
    fixture.insert(at(0), &objects[0]);
    fixture.check();
    fixture.store.configure(&mut fixture.index, ContentStoreConfig { max_entries: 0, ..unlimited() });
    fixture.check();
}

#[test]
fn the_same_data_again_is_fresh_again() {
    let mut fixture = Fixture::new(unlimited());
    let data = fresh_data("/a", 1000, 1);
    fixture.insert(at(0), &data);
    assert!(fixture.answer(at(999), &fresh("/a")).is_some());
    assert!(fixture.answer(at(1000), &fresh("/a")).is_none(), "freshness ends after its period");
    fixture.insert(at(5000), &data);
    assert!(fixture.answer(at(5999), &fresh("/a")).is_some());
    assert_eq!((fixture.store.len(), fixture.store.counters.refreshes), (1, 1));
    let hashes = fixture.hasher.hash(Dialect::Ndn, data.name().components());
    let id =
        fixture.store.exact(&fixture.index, Dialect::Ndn, data.wire_components(), hashes.whole()).unwrap();
    fixture.store.mark_stale(id);
    assert!(fixture.answer(at(5999), &fresh("/a")).is_none());
    assert!(fixture.answer(at(5999), &exact("/a")).is_some());
    fixture.check();
}

#[test]
fn data_without_a_freshness_period_never_answers_who_asks_for_fresh_data() {
    let mut fixture = Fixture::new(unlimited());
    fixture.insert(at(0), &data("/a"));
    assert!(fixture.answer(at(0), &fresh("/a")).is_none() && fixture.answer(at(0), &exact("/a")).is_some());
    assert_eq!((fixture.store.counters.hits, fixture.store.counters.misses), (1, 1));
}

#[test]
fn erasing_stops_at_its_limit_and_spares_other_names() {
    let mut fixture = Fixture::new(unlimited());
    for number in 0..10 {
        fixture.insert(at(0), &data(&format!("/a/{number}")));
        fixture.insert(at(0), &data(&format!("/b/{number}")));
    }
    assert!(fixture.answer(at(0), &prefix("/a")).is_some());
    assert_eq!((fixture.erase("/a", 0), fixture.erase("/a", 4), fixture.store.len()), (0, 4, 16));
    fixture.check();
    assert_eq!((fixture.erase("/a", 100), fixture.erase("/a", 100)), (6, 0));
    assert!(fixture.answer(at(0), &prefix("/a")).is_none() && fixture.answer(at(0), &prefix("/b")).is_some());
    assert_eq!(fixture.erase("/", usize::MAX), 10);
    fixture.check();
    assert_eq!(fixture.store.counters.evictions, 0, "who is erased did not leave for want of room");
}

#[test]
fn a_large_store_is_erased_in_steps_and_they_have_one_limit() {
    let mut fixture = Fixture::new(unlimited());
    for number in 0..5000 {
        fixture.insert(at(0), &data(&format!("/a/{number}")));
        fixture.insert(at(0), &data(&format!("/b/{number}")));
    }
    assert_eq!(fixture.erase_of(Dialect::Ndn, "/a", 4000), (4000, 3));
    assert_eq!(fixture.erase_of(Dialect::Ndn, "/a", usize::MAX), (1000, 3));
    assert_eq!(fixture.store.len(), 5000);
    fixture.check();
}

#[test]
fn a_smaller_budget_or_another_policy_holds_at_once() {
    for (before, after) in [(0, 1), (1, 2), (2, 0), (1, 1)] {
        let [before, after] = [before, after].map(|policy| EvictionPolicy::ALL[policy]);
        let mut fixture = Fixture::new(ContentStoreConfig { eviction: before, ..unlimited() });
        for number in 0..100 {
            fixture.insert(at(0), &data(&format!("/a/{number}")));
        }
        let config = ContentStoreConfig { eviction: after, max_entries: 30, ..unlimited() };
        fixture.store.configure(&mut fixture.index, config);
        assert_eq!((fixture.store.len(), fixture.store.counters.evictions), (30, 70));
        fixture.check();
        fixture.store.configure(&mut fixture.index, ContentStoreConfig { max_bytes: 1000, ..config });
        fixture.check();
        assert!(fixture.store.len() < 10);
        fixture.insert(at(0), &data("/b"));
        fixture.check();
        fixture.store.configure(&mut fixture.index, ContentStoreConfig { max_entries: 0, ..config });
        fixture.check();
        fixture.insert(at(0), &data("/b"));
        assert_eq!(fixture.store.len(), 0);
    }
}

#[test]
fn a_store_may_stop_taking_and_stop_serving() {
    let mut fixture = Fixture::new(unlimited());
    fixture.insert(at(0), &data("/a"));
    fixture.store.configure(&mut fixture.index, ContentStoreConfig { admit: false, ..unlimited() });
    fixture.insert(at(0), &data("/b"));
    assert!(fixture.answer(at(0), &exact("/a")).is_some() && fixture.answer(at(0), &exact("/b")).is_none());
    let before = fixture.store.counters;
    fixture.store.configure(&mut fixture.index, ContentStoreConfig { serve: false, ..unlimited() });
    fixture.insert(at(0), &data("/b"));
    assert!(fixture.answer(at(0), &exact("/a")).is_none() && fixture.answer(at(0), &prefix("/b")).is_none());
    assert_eq!(fixture.store.len(), 2);
    let after = ContentStoreCounters { insertions: before.insertions + 1, ..before };
    assert_eq!(fixture.store.counters, after, "an Interest that is not looked up is neither hit nor miss");
}

#[test]
fn data_larger_than_the_whole_budget_drives_nobody_out() {
    let small = data("/a");
    let mut fixture = Fixture::new(ContentStoreConfig { max_bytes: cost_of(&small), ..unlimited() });
    fixture.insert(at(0), &small);
    fixture.insert(at(0), &DataBuilder::new(name("/b")).content(vec![0; 100]).build_with_digest().unwrap());
    assert_eq!((fixture.store.len(), fixture.store.counters.evictions), (1, 0));
    fixture.insert(at(0), &data("/b"));
    assert_eq!((fixture.store.len(), fixture.store.counters.evictions), (1, 1));
    fixture.check();
}

/// Lets the store put in order what a search found out of order.
fn put_in_order(fixture: &mut Fixture) {
    while fixture.store.wants_order() {
        fixture.store.put_in_order();
    }
}

#[test]
fn a_search_that_leaves_children_unseen_is_counted() {
    let limit = prefix_tree::MAX_EXAMINED;
    for below in ["", "/x"] {
        let mut fixture = Fixture::new(unlimited());
        let fresh_prefix =
            InterestBuilder::new(name("/a")).can_be_prefix(true).must_be_fresh(true).build().unwrap();
        for number in 0..limit {
            fixture.insert(at(0), &data(&format!("/a/{number}{below}")));
        }
        let _ = fixture.answer(at(0), &fresh_prefix);
        put_in_order(&mut fixture);
        assert!(fixture.answer(at(0), &fresh_prefix).is_none(), "nothing is fresh");
        assert_eq!(fixture.store.counters.searches_cut_short, 0, "every child was seen");
        fixture.insert(at(0), &data("/a/one-more"));
        assert!(fixture.answer(at(0), &fresh_prefix).is_none());
        assert_eq!(fixture.store.counters.searches_cut_short, 1);
        assert!(fixture.answer(at(0), &prefix("/a")).is_some());
        assert!(fixture.answer(at(0), &fresh("/a")).is_none());
        assert_eq!(
            fixture.store.counters.searches_cut_short, 1,
            "what is found or has one name is not cut short"
        );
        fixture.check();
    }
}

#[test]
fn the_newest_version_is_found_behind_any_number_that_are_no_longer_fresh() {
    let mut fixture = Fixture::new(unlimited());
    for version in 0..5000 {
        fixture.insert(at(0), &fresh_data(&format!("/a/32=metadata/v={version}/seg=0"), 10, 0));
    }
    fixture.insert(at(20), &fresh_data("/a/32=metadata/v=5000/seg=0", 10, 1));
    let discover = InterestBuilder::new(name("/a/32=metadata")).can_be_prefix(true).must_be_fresh(true);
    let discover = discover.build().unwrap();
    let _ = fixture.answer(at(20), &discover);
    put_in_order(&mut fixture);
    assert_eq!(fixture.answer(at(20), &discover).unwrap().content(), [1]);
    fixture.check();
}

#[test]
fn every_object_of_a_large_store_is_found_by_its_prefix() {
    let mut fixture = Fixture::new(unlimited());
    for number in 0..10_000 {
        fixture.insert(at(0), &data(&format!("/a/{number}/32=metadata/v=1/seg=0")));
    }
    assert!(fixture.answer(at(0), &prefix("/a")).is_some());
    put_in_order(&mut fixture);
    let found = |number: &u32| fixture.answer(at(0), &prefix(&format!("/a/{number}/32=metadata"))).is_some();
    assert_eq!((0..10_000).filter(found).count(), 10_000);
    assert_eq!(fixture.store.counters.searches_cut_short, 0);
}

#[test]
fn children_that_are_excluded_do_not_hide_those_behind_them_however_much_is_below() {
    let mut fixture = Fixture::new(unlimited());
    let object = |uri: &str| {
        let signed_info = SignedInfo::new(&[1; 32], Ticks::from_count(1));
        let name = name(uri);
        let fields = ContentObjectFields { name: (&name).into(), signed_info, content: b"x" };
        Data::decode_ccnx(fields.encode(None, |_| Ok::<_, EncodeError>([0xaa; 16])).unwrap().into()).unwrap()
    };
    for child in ["a", "b"] {
        for number in 0..300 {
            fixture.insert(at(0), &object(&format!("/l/{child}/{number}")));
        }
    }
    fixture.insert(at(0), &object("/l/c/0"));
    let exclude = Exclude::components([&b"a"[..], b"b"]);
    let fields = InterestFields { exclude: Some(exclude.as_ref()), ..InterestFields::default() };
    let interest = Interest::decode_ccnx(fields.encode(&name("/l")).unwrap().into()).unwrap();
    let _ = fixture.answer(at(0), &interest);
    put_in_order(&mut fixture);
    assert_eq!(fixture.answer(at(0), &interest).unwrap().name(), name("/l/c/0").as_ref());
}

#[test]
fn old_entries_are_found_by_prefix_after_enough_searches() {
    let mut fixture = Fixture::new(unlimited());
    fixture.insert(at(0), &data("/old/x"));
    for number in 0..2 * prefix_tree::MAX_HUNG {
        fixture.insert(at(0), &data(&format!("/p/{number}/x")));
    }
    let found: Vec<bool> = (0..4).map(|_| fixture.answer(at(0), &prefix("/old")).is_some()).collect();
    assert_eq!(found, [false, false, true, true]);
    assert!(fixture.answer(at(0), &exact("/old/x")).is_some());
}

#[test]
fn an_entry_that_leaves_before_it_was_hung_or_after_leaves_nothing_behind() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0], [0, 2, 1], [2, 0, 1]] {
        for searched in [false, true] {
            let mut fixture = Fixture::new(unlimited());
            let uris = ["/a/b/c/d", "/a/b/c", "/a/x"];
            uris.iter().for_each(|uri| fixture.insert(at(0), &data(uri)));
            if searched {
                assert_eq!(fixture.answer(at(0), &prefix("/a/b")).unwrap().name(), name("/a/b/c").as_ref());
                assert_eq!(fixture.store.tree.ordered_count(), 3);
            }
            for number in order {
                assert_eq!(fixture.store.tree.ordered_count() > 0, searched);
                fixture.store.erase(&mut fixture.index, Dialect::Ndn, name(uris[number]).as_ref(), 1, 0);
            }
            while fixture.erase("/", 1) > 0 {}
            assert_eq!(fixture.store.tree.ordered_count(), 0);
            fixture.check();
        }
    }
}

#[test]
fn data_with_a_very_long_name_is_found_by_name_and_by_short_prefix() {
    let long = "/a".repeat(40);
    let mut fixture = Fixture::new(unlimited());
    fixture.insert(at(0), &data(&long));
    assert!(
        fixture.answer(at(0), &exact(&long)).is_some() && fixture.answer(at(0), &prefix(&long)).is_some()
    );
    for count in 1..=PrefixHashes::MAX_PREFIX_COMPONENTS {
        assert!(fixture.answer(at(0), &prefix(&"/a".repeat(count))).is_some(), "{count} components");
    }
    assert_eq!(fixture.erase(&long, 1), 1);
    fixture.check();
}

/// Data under numbered names, all in one piece of memory, as in a train.
fn train(first: usize, count: usize) -> Vec<Data> {
    let packets: Vec<Data> = (first..first + count)
        .map(|number| {
            DataBuilder::new(name(&format!("/t/{number}"))).content(vec![7; 600]).build_with_digest()
        })
        .collect::<Result<_, _>>()
        .unwrap();
    let bytes: Vec<u8> = packets.iter().flat_map(|packet| packet.wire().iter().copied()).collect();
    let memory = packet::Buffer::from(bytes);
    let mut end = 0;
    let place = |packet: &Data| {
        let start = end;
        end += packet.wire().len();
        Data::decode_ndn(memory.slice(start..end).unwrap()).unwrap()
    };
    packets.iter().map(place).collect()
}

/// What the kept packets keep in memory, each piece once.
fn held_bytes(store: &ContentStore) -> u64 {
    let pieces: std::collections::HashMap<_, _> = store
        .iter()
        .map(|entry| (entry.data.wire().memory(), entry.data.wire().footprint_bytes() as u64))
        .collect();
    pieces.values().sum()
}

#[test]
fn packets_in_one_piece_of_memory_stay_there_and_all_of_it_counts_until_the_last_has_left() {
    let mut fixture = Fixture::new(unlimited());
    let packets = train(0, 20);
    for packet in &packets {
        fixture.insert(at(0), packet);
    }
    fixture.check();
    let kept = fixture.answer(at(0), &exact("/t/3")).unwrap();
    assert_ne!(kept.wire().memory(), packets[3].wire().memory(), "who is asked for moves out");
    assert_eq!(fixture.store.iter().filter(|entry| entry.data.wire().is_small_part()).count(), 19);
    let before = fixture.store.bytes();
    assert_eq!(fixture.erase("/t/0", 1), 1);
    assert_eq!(
        fixture.store.bytes(),
        before - ContentStoreConfig::OVERHEAD_BYTES,
        "the piece is still there"
    );
    assert_eq!(fixture.erase("/t", 100), 19);
    assert_eq!(fixture.store.bytes(), 0);
    fixture.check();
}

#[test]
fn the_budget_holds_whatever_packets_share_memory_and_whoever_is_asked_for() {
    for eviction in EvictionPolicy::ALL {
        let max_bytes = 16 * 20_000;
        let mut fixture = Fixture::new(ContentStoreConfig { max_bytes, eviction, ..unlimited() });
        let mut random = Random::from_seed(9);
        let mut below = |end: usize| random.next_u32() as usize % end;
        for round in 0..300 {
            let packets = train(round * 20, 20);
            // Sometimes all of a piece are wanted, sometimes few.
            let wanted = [20, 20, 1, 5][below(4)];
            for packet in &packets[..wanted] {
                fixture.insert(at(0), packet);
            }
            drop(packets);
            for _ in 0..below(30) {
                let number = (round * 20).saturating_sub(below(600));
                fixture.answer(at(0), &exact(&format!("/t/{number}")));
            }
            fixture.check();
            // The last piece may not be paid for to its end yet.
            assert!(held_bytes(&fixture.store) <= max_bytes + 20_000, "{eviction:?} in round {round}");
        }
        assert!(fixture.store.counters.hits > 100 && fixture.store.counters.evictions > 1000);
        fixture.erase("/t", usize::MAX);
        assert_eq!(fixture.store.bytes(), 0);
    }
}
