//! Repositories at each level of a network, as in the paper's figure 1: base stations, gateways that serve
//! several of them, one gateway to the world, and the source behind it.
//!
//! Every base station has users of its own who ask for the same files, each as often as the workload says. A
//! request goes up until a repository has the file, and the file comes down the same way; every repository
//! that it passes includes it, as a router does that keeps what answers an Interest. The requests that create
//! files are not counted, but their bytes are on the links.
//!
//! A link is a queue for whole files: one follows the other at the link's rate, and a file goes on to the
//! next link as it comes.

use packet::random::{Random, ZipfError};
use packet::time::{Duration, Instant};

use super::{Reading, Request, Requests, Workload};
use crate::eviction::{DeletionRule, ObjectEviction};
use crate::replay::ReplayedCache;

/// One level of the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// How many nodes it has, each serving as many of the level below as every other.
    pub nodes: u32,
    /// Room in each node's repository, in bytes; 0 for no repository.
    pub threshold_bytes: u64,
    /// Of each node's link upward, in bits a second.
    pub rate: u64,
    /// One way, of the same link.
    pub delay: Duration,
}

/// A network.
#[derive(Clone, Debug, PartialEq)]
pub struct Hierarchy {
    /// From the base stations up. The links of the last level lead to the source.
    pub levels: Vec<Level>,
    /// The part of the room that a deletion frees, 0 to 1.
    pub ratio: f64,
    /// From a user to the base station, one way.
    pub access_delay: Duration,
    /// Of a user's own link, in bits a second.
    pub access_rate: u64,
    /// What is not counted, from the first request on.
    pub warm_up: Duration,
    /// All links of a level fail for a while.
    pub outage: Option<Outage>,
}

/// All links upward from a level fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Which level, from 0 on.
    pub above_level: usize,
    /// When it begins, after the warm-up.
    pub begins: Duration,
    /// How long it lasts.
    pub lasts: Duration,
}

/// What happened after the warm-up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HierarchyOutcome {
    /// Requests that count.
    pub requests: u64,
    /// Those that each level answered; the last number is the source's.
    pub hits: Vec<u64>,
    /// Bytes that the links upward of each level carried down, all nodes of the level together.
    pub link_bytes: Vec<u64>,
    /// Seconds of each download.
    pub seconds: Vec<f64>,
    /// In each hour of the outage, requests that count, and those of them that were answered.
    pub hours: Vec<(u64, u64)>,
    /// Deletion operations of each level.
    pub deletions: Vec<u64>,
}

/// One run, from empty repositories on.
#[derive(Debug)]
pub struct HierarchyRun<P> {
    requests: Requests,
    stations: Random,
    hierarchy: Hierarchy,
    /// Of each level, its nodes' repositories.
    repositories: Vec<Vec<Option<ReplayedCache<P>>>>,
    /// When each link upward is free, in seconds.
    free: Vec<Vec<f64>>,
    outcome: HierarchyOutcome,
}

impl<P: ObjectEviction> HierarchyRun<P> {
    /// A run with empty policies, of which `policy` makes one for each repository.
    ///
    /// # Errors
    /// An exponent of the workload is negative or no number.
    pub fn new(
        workload: Workload,
        hierarchy: Hierarchy,
        policy: impl Fn() -> P,
        random: Random,
        stations: Random,
    ) -> Result<Self, ZipfError> {
        let count = hierarchy.levels.first().map_or(1, |level| level.nodes.max(1));
        let interval = workload.request_interval.as_nanos() / u64::from(count);
        let workload = Workload { request_interval: Duration::from_nanos(interval.max(1)), ..workload };
        let repositories = hierarchy.levels.iter().map(|level| {
            let rule = DeletionRule { threshold_bytes: level.threshold_bytes, ratio: hierarchy.ratio };
            let one = || (level.threshold_bytes > 0).then(|| ReplayedCache::new(rule, policy()));
            (0..level.nodes.max(1)).map(|_| one()).collect()
        });
        let free = hierarchy.levels.iter().map(|level| vec![0.0; level.nodes.max(1) as usize]);
        let mut run = HierarchyRun {
            requests: Requests::new(workload, Reading::LITERAL, random)?,
            stations,
            repositories: repositories.collect(),
            free: free.collect(),
            hierarchy,
            outcome: HierarchyOutcome::default(),
        };
        run.begin_counting();
        Ok(run)
    }

    fn begin_counting(&mut self) {
        let levels = self.hierarchy.levels.len();
        self.outcome = HierarchyOutcome {
            hits: vec![0; levels + 1],
            link_bytes: vec![0; levels],
            hours: vec![(0, 0); self.hierarchy.outage.map_or(0, |outage| hour(outage.lasts) + 1)],
            ..HierarchyOutcome::default()
        };
        let repositories = self.repositories.iter_mut().flatten().flatten();
        repositories.for_each(ReplayedCache::begin_counting);
    }

    /// Runs until `duration` after the warm-up.
    pub fn run(mut self, duration: Duration) -> HierarchyOutcome {
        let begin = Instant::ZERO + self.hierarchy.warm_up;
        let mut counts = false;
        loop {
            let request = self.requests.draw();
            if request.at > begin + duration {
                let sums = self.repositories.iter().map(|level| {
                    level.iter().flatten().map(|repository| repository.counters().deletions).sum()
                });
                self.outcome.deletions = sums.collect();
                return self.outcome;
            }
            if request.at > begin && !counts {
                counts = true;
                self.begin_counting();
            }
            self.answer(&request, begin, counts);
        }
    }

    fn answer(&mut self, request: &Request, begin: Instant, counts: bool) {
        let levels = self.hierarchy.levels.len();
        let station = self.stations.below(self.nodes(0)) as usize;
        let found = (0..levels).find(|&level| {
            let node = self.node(station, level);
            let repository = self.repositories.get_mut(level).and_then(|nodes| nodes.get_mut(node)?.as_mut());
            repository.is_some_and(|repository| repository.touch(request.file, 0))
        });
        let found = found.unwrap_or(levels);
        let outage = self.hierarchy.outage.filter(|outage| {
            let from = begin + outage.begins;
            counts && request.at >= from && request.at < from + outage.lasts
        });
        let is_answered = outage.is_none_or(|outage| found <= outage.above_level);
        let counts = counts && !request.is_new;
        if let Some(outage) = outage.filter(|_| counts) {
            let since = request.at.saturating_since(begin + outage.begins);
            if let Some((all, answered)) = self.outcome.hours.get_mut(hour(since)) {
                *all += 1;
                *answered += u64::from(is_answered);
            }
        }
        self.outcome.requests += u64::from(counts);
        if !is_answered {
            return;
        }
        let seconds = self.carry(request, station, found);
        for level in 0..found {
            let node = self.node(station, level);
            let repository = self.repositories.get_mut(level).and_then(|nodes| nodes.get_mut(node)?.as_mut());
            if let Some(repository) = repository {
                repository.include(request.file, request.bytes.into());
            }
        }
        if counts {
            self.outcome.hits[found] += 1;
            self.outcome.seconds.push(seconds);
        }
    }

    /// Brings a file down from where it was found; how long that takes.
    fn carry(&mut self, request: &Request, station: usize, found: usize) -> f64 {
        let bits = f64::from(request.bytes) * 8.0;
        let asked = request.at.as_nanos() as f64 / 1e9;
        let up: f64 = self.hierarchy.levels.iter().take(found).map(|level| level.delay.as_secs_f64()).sum();
        let access = self.hierarchy.access_delay.as_secs_f64();
        // When its first and its last bit are at the node that is being looked at.
        let mut first = asked + access + up;
        let mut last = first;
        for level in (0..found).rev() {
            let node = self.node(station, level);
            let Some(Level { rate, delay, .. }) = self.hierarchy.levels.get(level).copied() else { continue };
            let Some(free) = self.free.get_mut(level).and_then(|nodes| nodes.get_mut(node)) else { continue };
            let begins = first.max(*free);
            *free = begins + bits / rate.max(1) as f64;
            last = last.max(*free) + delay.as_secs_f64();
            first = begins + delay.as_secs_f64();
            self.outcome.link_bytes[level] += u64::from(request.bytes);
        }
        let own = bits / self.hierarchy.access_rate.max(1) as f64;
        last.max(first + own) + access - asked
    }

    fn nodes(&self, level: usize) -> u64 {
        self.hierarchy.levels.get(level).map_or(1, |level| u64::from(level.nodes.max(1)))
    }

    /// Which node of a level serves a base station.
    fn node(&self, station: usize, level: usize) -> usize {
        (station as u64 * self.nodes(level) / self.nodes(0)) as usize
    }
}

fn hour(duration: Duration) -> usize {
    (duration.as_nanos() / 3_600_000_000_000) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eviction::DeleteQueue;

    const HOURS: Duration = Duration::from_secs(6 * 3600);
    const GB: u64 = 1_000_000_000;

    fn network(thresholds: [u64; 3], outage: Option<Outage>) -> Hierarchy {
        let level = |nodes, threshold_bytes, rate, millis| {
            let delay = Duration::from_millis(millis);
            Level { nodes, threshold_bytes, rate, delay }
        };
        Hierarchy {
            levels: vec![
                level(8, thresholds[0], 1_000_000_000, 2),
                level(2, thresholds[1], 10_000_000_000, 5),
                level(1, thresholds[2], 1_000_000_000, 20),
            ],
            ratio: 0.25,
            access_delay: Duration::from_millis(5),
            access_rate: 100_000_000,
            warm_up: Duration::from_secs(3 * 3600),
            outage,
        }
    }

    fn run(hierarchy: Hierarchy) -> HierarchyOutcome {
        let [random, stations] = [1, 2].map(|stream| Random::derive(5, stream));
        let workload = Workload::WEB_SERVER;
        HierarchyRun::new(workload, hierarchy, DeleteQueue::default, random, stations).unwrap().run(HOURS)
    }

    #[test]
    fn every_request_is_answered_somewhere_and_what_was_found_higher_takes_longer() {
        let nothing = run(network([0; 3], None));
        assert_eq!((nothing.hits[3], &nothing.hits[..3]), (nothing.requests, &[0; 3][..]));
        // Everything crosses every link once.
        assert!(nothing.link_bytes.iter().all(|bytes| *bytes == nothing.link_bytes[0]));
        let all = run(network([GB, 2 * GB, 4 * GB], None));
        assert_eq!(all.hits.iter().sum::<u64>(), all.requests);
        assert_eq!(all.requests, nothing.requests);
        assert!(all.hits.iter().all(|hits| *hits > 0), "{:?}", all.hits);
        assert!(all.link_bytes.is_sorted_by(|lower, upper| lower > upper), "{:?}", all.link_bytes);
        assert!(all.deletions.iter().all(|deletions| *deletions > 0));
        let mean =
            |outcome: &HierarchyOutcome| outcome.seconds.iter().sum::<f64>() / outcome.seconds.len() as f64;
        assert!(mean(&all) < mean(&nothing));
    }

    #[test]
    fn a_file_over_idle_links_takes_its_delays_and_the_slowest_link() {
        let mut run = HierarchyRun::new(
            Workload::WEB_SERVER,
            network([0; 3], None),
            DeleteQueue::default,
            Random::from_seed(1),
            Random::from_seed(2),
        )
        .unwrap();
        let at = Instant::ZERO + Duration::from_secs(1);
        let request = Request { at, file: 0, class: 0, bytes: 1_250_000, is_new: false };
        // Ten megabits: there and back, and then 100 ms on the user's own link.
        let seconds = run.carry(&request, 3, 3);
        assert!((seconds - (2.0 * 0.032 + 0.1)).abs() < 1e-9, "{seconds}");
        // The next one waits for the source's link, which takes 10 ms for each.
        run.hierarchy.levels[2].rate = 10_000_000;
        let first = run.carry(&request, 3, 3);
        let second = run.carry(&request, 7, 3);
        assert!((second - first - 1.0).abs() < 1e-9, "{first} {second}");
    }

    #[test]
    fn what_is_below_a_cut_goes_on_being_served() {
        let with_outage = |above_level| {
            let (begins, lasts) = (Duration::from_secs(3600), Duration::from_secs(7200));
            run(network([GB, 0, 4 * GB], Some(Outage { above_level, begins, lasts })))
        };
        let (above_all, above_stations) = (with_outage(2), with_outage(0));
        let answered = |outcome: &HierarchyOutcome| {
            let sum = |of: fn(&(u64, u64)) -> u64| outcome.hours.iter().map(of).sum::<u64>() as f64;
            sum(|hour| hour.1) / sum(|hour| hour.0)
        };
        assert!(answered(&above_all) > answered(&above_stations) && answered(&above_all) < 1.0);
        assert_eq!((above_all.hours.len(), above_all.hours[2].0), (3, 0));
        let failed: u64 = above_all.hours.iter().map(|(all, answered)| all - answered).sum();
        assert_eq!(above_all.hits.iter().sum::<u64>(), above_all.requests - failed);
    }
}
