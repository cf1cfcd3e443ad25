//! Fetching the segments of an object for a repository: which segment is to be asked for, and when. What an
//! Interest looks like and how it travels is the owner's business, so that both dialects share this.
//!
//! It is another thing than `flow`'s fetcher, which finds a version, adapts its window to the path, has
//! segments verified and hands them out in order. A repository is told a range or a first segment, stores
//! whatever comes in any order, and asks as the programs do whose protocols it speaks: with a fixed window,
//! so often, for so long; and if one segment fails, it keeps what has come of the others.

use std::collections::BTreeMap;

use packet::time::{Duration, Instant};

/// How segments are fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentFetchConfig {
    /// Segments asked for at once.
    pub window: usize,
    /// How often a segment is asked for.
    pub tries: u32,
    /// How long each time.
    pub timeout: Duration,
    /// Whether the first segment is asked for alone, and the others when it has come.
    pub first_alone: bool,
    /// Whether whatever comes gives all others their tries back: a publisher that makes segments slowly is
    /// there as long as it makes any.
    pub arrivals_reset_tries: bool,
}

impl SegmentFetchConfig {
    /// As ndn-python-repo does it.
    pub const NDN: SegmentFetchConfig = SegmentFetchConfig {
        window: 10,
        tries: 15,
        timeout: Duration::from_secs(1),
        first_alone: false,
        arrivals_reset_tries: false,
    };
    /// As ccnr does it. Its Interests name no lifetime, which is four seconds.
    pub const CCNX: SegmentFetchConfig = SegmentFetchConfig {
        window: 4,
        tries: 5,
        timeout: Duration::from_secs(4),
        first_alone: true,
        arrivals_reset_tries: true,
    };
}

/// The segments of one object on their way.
///
/// # Calling order
/// Whenever anything has happened, ask for what [`poll_request`](Self::poll_request) names until it names
/// nothing; then see [`outcome`](Self::outcome). At [`next_deadline`](Self::next_deadline) call
/// [`handle_timeout`](Self::handle_timeout).
#[derive(Clone, Debug)]
pub struct SegmentFetch {
    config: SegmentFetchConfig,
    /// The next segment that has not been asked for; none behind the highest number there is.
    next: Option<u64>,
    /// The last segment, as far as anybody has said.
    last: Option<u64>,
    waiting: BTreeMap<u64, Attempt>,
    has_arrived: bool,
    has_failed: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Attempt {
    tries: u32,
    /// Until when an answer is waited for; `None` when it is to be asked for.
    deadline: Option<Instant>,
}

impl SegmentFetch {
    /// Segments from `first` on, to `last` or to the one that a packet says is the last.
    pub fn new(config: SegmentFetchConfig, first: u64, last: Option<u64>) -> Self {
        SegmentFetch {
            config,
            next: Some(first),
            last,
            waiting: BTreeMap::new(),
            has_arrived: false,
            has_failed: false,
        }
    }

    /// The segment to be asked for now.
    pub fn poll_request(&mut self, now: Instant) -> Option<u64> {
        let again = self.waiting.iter().find(|(_, attempt)| attempt.deadline.is_none());
        let segment = match again.map(|(&segment, _)| segment) {
            Some(segment) => segment,
            None => self.begin()?,
        };
        let attempt = self.waiting.entry(segment).or_default();
        attempt.tries += 1;
        attempt.deadline = Some(now + self.config.timeout);
        Some(segment)
    }

    /// The next segment, if another may be asked for.
    fn begin(&mut self) -> Option<u64> {
        let window = if self.config.first_alone && !self.has_arrived { 1 } else { self.config.window };
        let next = self.unasked().filter(|_| self.waiting.len() < window)?;
        self.next = next.checked_add(1);
        Some(next)
    }

    /// The next segment that there may be and that nobody has asked for.
    fn unasked(&self) -> Option<u64> {
        self.next.filter(|&next| !self.has_failed && self.last.is_none_or(|last| next <= last))
    }

    /// Whether this segment is waited for.
    pub fn awaits(&self, segment: u64) -> bool {
        self.waiting.contains_key(&segment)
    }

    /// A segment has come, which perhaps says which one is the last; false if nobody waits for it.
    pub fn handle_segment(&mut self, segment: u64, last: Option<u64>) -> bool {
        if self.waiting.remove(&segment).is_none() {
            return false;
        }
        self.has_arrived = true;
        if self.config.arrivals_reset_tries {
            self.waiting.values_mut().for_each(|attempt| attempt.tries = attempt.tries.min(1));
        }
        if let Some(told) = last {
            let last = self.last.map_or(told, |last| last.min(told));
            self.last = Some(last);
            // What lies behind it was asked for before that was known.
            self.waiting.retain(|segment, _| *segment <= last);
        }
        true
    }

    /// A segment will not come this time.
    pub fn handle_failure(&mut self, segment: u64) {
        let Some(attempt) = self.waiting.get_mut(&segment) else { return };
        if attempt.tries < self.config.tries && !self.has_failed {
            attempt.deadline = None;
        } else {
            self.waiting.remove(&segment);
            self.has_failed = true;
        }
    }

    /// Those segments fail whose time is up.
    pub fn handle_timeout(&mut self, now: Instant) {
        let is_over = |attempt: &Attempt| attempt.deadline.is_some_and(|deadline| deadline <= now);
        let over: Vec<u64> = self
            .waiting
            .iter()
            .filter(|(_, attempt)| is_over(attempt))
            .map(|(&segment, _)| segment)
            .collect();
        over.into_iter().for_each(|segment| self.handle_failure(segment));
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due; [`Instant::NEVER`] if nothing is waited for.
    pub fn next_deadline(&self) -> Instant {
        self.waiting.values().filter_map(|attempt| attempt.deadline).min().unwrap_or(Instant::NEVER)
    }

    /// Asks for nothing more; what was asked for may still come.
    pub fn stop(&mut self) {
        self.has_failed = true;
    }

    /// Whether all segments have come, once nothing more is to be expected. Where nobody says which one is
    /// the last, the one behind it does not come.
    pub fn outcome(&self) -> Option<bool> {
        (self.waiting.is_empty() && self.unasked().is_none()).then_some(!self.has_failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(fetch: &mut SegmentFetch, now: u64) -> Vec<u64> {
        std::iter::from_fn(|| fetch.poll_request(Instant::from_secs(now))).collect()
    }

    #[test]
    fn segments_are_asked_for_in_a_window_and_none_behind_the_last() {
        let mut fetch = SegmentFetch::new(SegmentFetchConfig::NDN, 3, None);
        assert_eq!(asked(&mut fetch, 1), (3..13).collect::<Vec<_>>());
        assert!(fetch.handle_segment(4, None) && !fetch.handle_segment(4, None));
        assert_eq!(asked(&mut fetch, 1), [13]);
        assert!(fetch.handle_segment(3, Some(5)));
        assert_eq!((asked(&mut fetch, 1), fetch.outcome()), (vec![], None));
        assert!(!fetch.handle_segment(6, None), "it lies behind the last");
        assert!(fetch.handle_segment(5, None));
        assert_eq!((fetch.outcome(), fetch.next_deadline()), (Some(true), Instant::NEVER));
    }

    #[test]
    fn a_segment_that_does_not_come_is_asked_for_again_so_often_and_then_the_others_are_waited_for() {
        let mut fetch =
            SegmentFetch::new(SegmentFetchConfig { tries: 3, ..SegmentFetchConfig::NDN }, 0, Some(1));
        assert_eq!(asked(&mut fetch, 1), [0, 1]);
        fetch.handle_failure(0);
        assert_eq!(asked(&mut fetch, 1), [0]);
        assert_eq!(fetch.next_deadline(), Instant::from_secs(2));
        fetch.handle_timeout(Instant::from_secs(2));
        assert_eq!(asked(&mut fetch, 2), [0, 1]);
        fetch.handle_failure(0);
        assert_eq!((asked(&mut fetch, 2), fetch.outcome()), (vec![], None));
        assert!(fetch.handle_segment(1, None));
        assert_eq!(fetch.outcome(), Some(false));
    }

    #[test]
    fn in_ccnx_the_first_segment_comes_alone_and_whatever_comes_gives_the_others_their_tries_back() {
        let mut fetch = SegmentFetch::new(SegmentFetchConfig::CCNX, 0, None);
        assert_eq!(asked(&mut fetch, 1), [0]);
        assert!(fetch.handle_segment(0, None));
        assert_eq!(asked(&mut fetch, 1), [1, 2, 3, 4]);
        for round in 1..5 {
            fetch.handle_timeout(Instant::from_secs(1 + 4 * round));
            assert_eq!(asked(&mut fetch, 1 + 4 * round), [1, 2, 3, 4]);
        }
        assert!(fetch.handle_segment(2, None));
        fetch.handle_timeout(Instant::from_secs(21));
        assert_eq!(asked(&mut fetch, 21), [1, 3, 4, 5]);
        for round in 6..20 {
            fetch.handle_timeout(Instant::from_secs(1 + 4 * round));
            asked(&mut fetch, 1 + 4 * round);
        }
        assert_eq!(fetch.outcome(), Some(false));
    }

    #[test]
    fn the_highest_segment_number_there_is_is_the_end_of_all_segments() {
        let mut fetch = SegmentFetch::new(SegmentFetchConfig::NDN, u64::MAX, None);
        assert_eq!(asked(&mut fetch, 1), [u64::MAX]);
        assert!(fetch.handle_segment(u64::MAX, None));
        assert_eq!((asked(&mut fetch, 1), fetch.outcome()), (vec![], Some(true)));
    }
}
