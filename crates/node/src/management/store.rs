//! Data that was made for a question and may be asked for again: segments of datasets, notifications.

use std::collections::{BTreeMap, VecDeque};

use packet::time::Instant;
use packet::{Data, Interest, Name};

/// Large datasets that are kept.
const MAX_LARGE: usize = 4;

/// The last few Data that management has made.
///
/// At the limit the oldest leaves. Datasets of many segments are not among those: fetching one takes a while,
/// in which whoever looks at the status again and again would push it out. A few of them are kept, whole.
#[derive(Debug)]
pub(super) struct DataStore {
    packets: BTreeMap<Name, CachedDataset>,
    /// Those of small datasets, in the order in which they came.
    order: VecDeque<Name>,
    /// Those of the large ones.
    large: VecDeque<Vec<Name>>,
    limit: usize,
    /// How often something has changed; what was made before the last time tells how things were.
    changes: u64,
}

#[derive(Debug)]
struct CachedDataset {
    data: Data,
    /// Until when it is the latest that there is to say.
    latest_until: Instant,
    changes: u64,
}

impl DataStore {
    pub(super) fn new(limit: usize) -> Self {
        DataStore {
            packets: BTreeMap::new(),
            order: VecDeque::new(),
            large: VecDeque::new(),
            limit: limit.max(1),
            changes: 0,
        }
    }

    /// Keeps `packets`, which belong together and are the latest there is to say until `latest_until`.
    pub(super) fn insert(&mut self, latest_until: Instant, packets: Vec<Data>) {
        let is_large = packets.len() > self.most_of_small();
        let mut names = Vec::with_capacity(packets.len());
        for data in packets {
            let name = data.name().to_name();
            let kept = CachedDataset { data, latest_until, changes: self.changes };
            if self.packets.insert(name.clone(), kept).is_none() {
                names.push(name);
            }
        }
        if is_large {
            self.large.push_back(names);
        } else {
            self.order.extend(names);
        }
        let too_many = self.large.len().saturating_sub(MAX_LARGE);
        let of_large = self.large.drain(..too_many).flatten();
        let too_many = self.order.len().saturating_sub(self.limit);
        for oldest in of_large.chain(self.order.drain(..too_many)) {
            self.packets.remove(&oldest);
        }
    }

    /// Packets that a small dataset has at most.
    fn most_of_small(&self) -> usize {
        (self.limit / 16).max(1)
    }

    /// The first Data, in canonical order, that answers `interest`. One that is asked for by its whole name
    /// will never be another, so it is as fresh as can be.
    pub(super) fn find(&self, now: Instant, interest: &Interest) -> Option<&Data> {
        self.find_made_since(self.changes, now, interest)
    }

    /// The same, but what was made before the last change answers as well.
    pub(super) fn find_recent(&self, now: Instant, interest: &Interest) -> Option<&Data> {
        self.find_made_since(0, now, interest)
    }

    fn find_made_since(&self, changes: u64, now: Instant, interest: &Interest) -> Option<&Data> {
        let name = interest.name().to_name();
        if !interest.can_be_prefix() {
            return self.packets.get(&name).map(|kept| &kept.data);
        }
        let answers = |kept: &&CachedDataset| {
            !interest.must_be_fresh() || kept.latest_until > now && kept.changes >= changes
        };
        let is_below = |(other, _): &(&Name, &CachedDataset)| name.as_ref().is_prefix_of(other.as_ref());
        let mut below = self.packets.range(&name..).take_while(is_below).map(|(_, kept)| kept);
        below.find(answers).map(|kept| &kept.data)
    }

    /// What was made before now no longer tells how things are: it answers only those who ask for it by its
    /// whole name.
    pub(super) fn make_stale(&mut self) {
        self.changes += 1;
    }
}

#[cfg(test)]
mod tests {
    use packet::ndn::{DataBuilder, InterestBuilder};

    use super::*;

    fn data(uri: &str) -> Data {
        DataBuilder::new(uri.parse().unwrap()).build_with_digest().unwrap()
    }

    fn find(store: &DataStore, now: Instant, interest: &InterestBuilder) -> Option<String> {
        let found = store.find(now, &interest.build().unwrap())?;
        Some(found.name().to_string())
    }

    fn discovery(uri: &str) -> InterestBuilder {
        InterestBuilder::new(uri.parse().unwrap()).can_be_prefix(true).must_be_fresh(true)
    }

    const LATER: Instant = Instant::from_secs(6);

    #[test]
    fn data_answers_by_prefix_while_it_is_the_latest_and_by_name_for_as_long_as_it_is_there() {
        let (mut store, now) = (DataStore::new(8), Instant::from_secs(5));
        store.insert(LATER, vec![data("/a/v=1/seg=0"), data("/a/v=1/seg=1")]);
        store.insert(LATER, vec![data("/ab/v=1/seg=0")]);
        assert_eq!(find(&store, now, &discovery("/a")), Some("/a/v=1/seg=0".to_owned()));
        assert_eq!(find(&store, now, &discovery("/c")), None);
        assert_eq!(find(&store, LATER, &discovery("/a")), None);
        // Some clients ask for what is fresh with every segment.
        for exact in [
            discovery("/a/v=1/seg=1").can_be_prefix(false),
            InterestBuilder::new("/a/v=1/seg=1".parse().unwrap()),
        ] {
            assert_eq!(find(&store, LATER, &exact), Some("/a/v=1/seg=1".to_owned()));
        }
        assert_eq!(find(&store, LATER, &InterestBuilder::new("/a/v=1".parse().unwrap())), None);
    }

    #[test]
    fn what_was_made_stale_answers_only_by_its_whole_name() {
        let (mut store, now) = (DataStore::new(8), Instant::from_secs(5));
        for uri in ["/a/b/v=1/seg=0", "/a/c/v=1/seg=0"] {
            store.insert(LATER, vec![data(uri)]);
        }
        store.make_stale();
        store.insert(LATER, vec![data("/b/v=1/seg=0")]);
        assert_eq!(find(&store, now, &discovery("/a")), None);
        assert_eq!(find(&store, now, &discovery("/b")), Some("/b/v=1/seg=0".to_owned()));
        let exact = InterestBuilder::new("/a/c/v=1/seg=0".parse().unwrap());
        assert!(find(&store, now, &exact).is_some());
    }

    #[test]
    fn at_the_limit_the_oldest_leaves() {
        let (mut store, now) = (DataStore::new(2), Instant::from_secs(5));
        for uri in ["/a", "/b", "/b", "/c"] {
            store.insert(LATER, vec![data(uri)]);
        }
        assert_eq!(find(&store, now, &discovery("/a")), None);
        assert!(find(&store, now, &discovery("/b")).is_some());
        assert!(find(&store, now, &discovery("/c")).is_some());
        assert_eq!((store.packets.len(), store.order.len()), (2, 2));
    }

    fn list(version: usize, segments: usize) -> Vec<Data> {
        (0..segments).map(|segment| data(&format!("/list/v={version}/seg={segment}"))).collect()
    }

    fn is_whole(store: &DataStore, version: usize, segments: usize) -> bool {
        let exact = |data: Data| InterestBuilder::new(data.name().to_name());
        list(version, segments).into_iter().all(|data| find(store, LATER, &exact(data)).is_some())
    }

    #[test]
    fn a_large_dataset_is_kept_whole_while_small_ones_come_and_go() {
        let (mut store, now) = (DataStore::new(32), Instant::from_secs(5));
        store.insert(LATER, list(0, 500));
        for status in 0..1000 {
            store.insert(LATER, vec![data(&format!("/status/v={status}"))]);
            assert!(find(&store, now, &discovery("/status")).is_some());
        }
        assert!(is_whole(&store, 0, 500));
        assert_eq!((store.packets.len(), store.order.len()), (532, 32));
    }

    #[test]
    fn of_large_datasets_the_last_few_are_kept() {
        let mut store = DataStore::new(32);
        for version in 0..6 {
            store.insert(LATER, list(version, 3));
        }
        let kept: Vec<usize> = (0..6).filter(|&version| is_whole(&store, version, 3)).collect();
        assert_eq!(kept, [2, 3, 4, 5]);
        assert_eq!(store.packets.len(), 4 * 3);
    }
}
