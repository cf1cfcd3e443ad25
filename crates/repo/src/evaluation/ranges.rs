//! A repository that keeps or drops ranges of segments, whole objects and single segments among them, and
//! requests that may end before the end of the file.
//!
//! The paper keeps whole objects. It argues (V-A) that segments by themselves would harm downloads, that an
//! object of which only the beginning is asked for counts as much as one that is asked for to its end, and
//! that ranges of segments lie between the two.

use packet::random::{Random, ZipfError};
use packet::time::{Duration, Instant};

use super::download::{Download, DownloadPath};
use super::{Reading, Request, Requests, Workload};
use crate::eviction::{DeletionRule, ObjectEviction};

/// What is kept together, and how files are asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Granularity {
    /// Segments that are kept or dropped together: 1, a range, or `u32::MAX` for the whole object.
    pub range_segments: u32,
    /// The part of the requests, 0 to 1, that end early, at a place in the file each as likely. Those that
    /// create a file never do.
    pub early: f64,
    /// How downloads go.
    pub path: DownloadPath,
}

/// What happened from the first deletion on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RangesOutcome {
    /// Requests that count.
    pub requests: u64,
    /// Those of them of which all segments were here.
    pub whole_hits: u64,
    /// Those of which some were.
    pub part_hits: u64,
    /// Segments that they asked for.
    pub segments: u64,
    /// Those of them that were here.
    pub hit_segments: u64,
    /// How often a download went from segments that were here to others, or back.
    pub changes: u64,
    /// Seconds of each download.
    pub seconds: Vec<f64>,
    /// Deletion operations, the one that began the evaluation not counted.
    pub deletions: u64,
    /// Inclusions, requests and evictions that the policy was told of or asked for.
    pub policy_events: u64,
    /// The most ranges that were here at a time.
    pub max_ranges: usize,
    /// The most bytes of memory that the policy held.
    pub policy_bytes: usize,
}

/// One run, from an empty repository on.
#[derive(Debug)]
pub struct RangesRun<P> {
    requests: Requests,
    granularity: Granularity,
    ends: Random,
    rule: DeletionRule,
    policy: P,
    download: Download,
    /// The number of each file's first range.
    first_range: Vec<u32>,
    /// Segments that are here of each range. They are always its first ones, since readers begin there.
    here: Vec<u32>,
    /// Bytes that are here of each range.
    range_bytes: Vec<u32>,
    bytes: u64,
    is_near: Vec<bool>,
    outcome: RangesOutcome,
}

impl<P: ObjectEviction> RangesRun<P> {
    /// A run with an empty policy. What is asked for depends on `random` alone, and where requests end on
    /// `ends`.
    ///
    /// # Errors
    /// An exponent of the workload is negative or no number.
    pub fn new(
        workload: Workload,
        granularity: Granularity,
        rule: DeletionRule,
        policy: P,
        random: Random,
        ends: Random,
    ) -> Result<Self, ZipfError> {
        Ok(RangesRun {
            requests: Requests::new(workload, Reading::LITERAL, random)?,
            granularity,
            ends,
            rule,
            policy,
            download: Download::new(granularity.path),
            first_range: Vec::new(),
            here: Vec::new(),
            range_bytes: Vec::new(),
            bytes: 0,
            is_near: Vec::new(),
            outcome: RangesOutcome::default(),
        })
    }

    /// Runs until `duration` after the first deletion.
    pub fn run(mut self, duration: Duration) -> RangesOutcome {
        let mut end: Option<Instant> = None;
        loop {
            let request = self.requests.draw();
            if end.is_some_and(|end| request.at > end) {
                self.outcome.policy_bytes = self.outcome.policy_bytes.max(self.policy.footprint_bytes());
                return self.outcome;
            }
            self.answer(&request, end.is_some());
            // Only now: what is being included is completed first.
            if self.delete_if_due() && end.is_none() {
                end = Some(request.at + duration);
                self.outcome = RangesOutcome::default();
            }
        }
    }

    fn answer(&mut self, request: &Request, counts: bool) {
        let segment_bytes = self.granularity.path.segment_bytes.max(1);
        let segments = request.bytes.div_ceil(segment_bytes).max(1);
        let first_range = self.first_range_of(request.file, segments);
        let asked = if !request.is_new && self.ends.chance(self.granularity.early) {
            self.ends.below(u64::from(segments)) as u32 + 1
        } else {
            segments
        };
        self.is_near.clear();
        for segment in 0..asked {
            let range = first_range + segment / self.granularity.range_segments.max(1);
            let bytes = segment_bytes.min(request.bytes.saturating_sub(segment * segment_bytes)).max(1);
            let is_here = self.read(range, segment % self.granularity.range_segments.max(1), bytes);
            self.is_near.push(is_here);
        }
        self.outcome.max_ranges = self.outcome.max_ranges.max(self.policy.len());
        if counts && !request.is_new {
            self.count();
        }
    }

    /// Numbers of ranges follow each other in a file, and files in the order of their creation, in which
    /// they are also asked for first.
    fn first_range_of(&mut self, file: u32, segments: u32) -> u32 {
        if let Some(&first) = self.first_range.get(file as usize) {
            return first;
        }
        let first = self.here.len() as u32;
        let ranges = segments.div_ceil(self.granularity.range_segments.max(1)) as usize;
        self.first_range.push(first);
        self.here.resize(self.here.len() + ranges, 0);
        self.range_bytes.resize(self.here.len(), 0);
        first
    }

    /// One segment is asked for, and included if it is not here. True if it is.
    #[inline]
    fn read(&mut self, range: u32, segment: u32, bytes: u32) -> bool {
        let (Some(here), Some(range_bytes)) =
            (self.here.get_mut(range as usize), self.range_bytes.get_mut(range as usize))
        else {
            return false;
        };
        self.outcome.policy_events += 1;
        if segment < *here {
            self.policy.request(range, segment);
            return true;
        }
        (*here, *range_bytes) = (segment + 1, *range_bytes + bytes);
        self.bytes += u64::from(bytes);
        if segment == 0 {
            let key = (u64::from(range) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.policy.include(range, key, u64::from(bytes));
        } else {
            self.policy.grow(range, u64::from(*range_bytes));
        }
        false
    }

    fn delete_if_due(&mut self) -> bool {
        let Some(target) = self.rule.target_bytes(self.bytes) else { return false };
        self.outcome.deletions += 1;
        while self.bytes > target
            && let Some(range) = self.policy.evict()
        {
            self.outcome.policy_events += 1;
            if let (Some(here), Some(bytes)) =
                (self.here.get_mut(range as usize), self.range_bytes.get_mut(range as usize))
            {
                *here = 0;
                self.bytes -= u64::from(std::mem::take(bytes));
            }
        }
        true
    }

    fn count(&mut self) {
        let hits = self.is_near.iter().filter(|&&is_near| is_near).count();
        self.outcome.requests += 1;
        self.outcome.segments += self.is_near.len() as u64;
        self.outcome.hit_segments += hits as u64;
        self.outcome.whole_hits += u64::from(hits == self.is_near.len());
        self.outcome.part_hits += u64::from(hits > 0 && hits < self.is_near.len());
        self.outcome.changes += self.is_near.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64;
        self.outcome.seconds.push(self.download.seconds(&self.is_near));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Run;
    use crate::evaluation::tests::rule;
    use crate::eviction::{DeleteQueue, DeleteQueueConfig, Push};

    const HOURS: Duration = Duration::from_secs(4 * 3600);
    const WHOLE: u32 = u32::MAX;

    fn granularity(range_segments: u32, early: f64) -> Granularity {
        let path = DownloadPath {
            window: 16,
            segment_bytes: 100_000,
            near: Duration::from_millis(10),
            far: Duration::from_millis(60),
            near_rate: 100_000_000,
            far_rate: 20_000_000,
        };
        Granularity { range_segments, early, path }
    }

    fn run(granularity: Granularity, queue: DeleteQueueConfig) -> RangesOutcome {
        let [random, ends] = [1, 2].map(|stream| Random::derive(3, stream));
        let (policy, workload) = (DeleteQueue::new(queue), Workload::WEB_SERVER);
        RangesRun::new(workload, granularity, rule(1, 0.25), policy, random, ends).unwrap().run(HOURS)
    }

    #[test]
    fn whole_objects_and_whole_requests_are_the_papers_run() {
        let ranges = run(granularity(WHOLE, 0.0), DeleteQueueConfig::default());
        let policy = DeleteQueue::default();
        let random = Random::derive(3, 1);
        let paper = Run::new(Workload::WEB_SERVER, Reading::LITERAL, rule(1, 0.25), policy, random).unwrap();
        let paper = paper.run(HOURS);
        assert_eq!(ranges.whole_hits, paper.hits.iter().sum::<u64>());
        assert_eq!((ranges.requests, ranges.deletions), (paper.requests.iter().sum(), paper.deletions));
        assert_eq!((ranges.part_hits, ranges.changes), (0, 0));
        assert_eq!(ranges.seconds.len() as u64, ranges.requests);
    }

    #[test]
    fn smaller_ranges_keep_more_of_what_is_asked_for_and_change_more_often() {
        let of = |range| run(granularity(range, 0.5), DeleteQueueConfig::default());
        let [objects, ranges, segments] = [WHOLE, 4, 1].map(of);
        assert_eq!(objects.segments, segments.segments);
        assert!(segments.changes > ranges.changes && ranges.changes > objects.changes);
        assert!(segments.max_ranges > 4 * objects.max_ranges);
        // An object of which only a part was ever asked for is here in part.
        assert!(objects.part_hits > 0 && objects.changes == objects.part_hits);
    }

    #[test]
    fn a_push_at_every_segment_is_a_push_at_the_first_when_ranges_are_segments() {
        let of = |push| run(granularity(1, 0.5), DeleteQueueConfig { push, ..DeleteQueueConfig::default() });
        assert_eq!(of(Push::First), of(Push::Every));
    }
}
