//! Several repositories at one router: while one deletes and includes nothing, another may (the paper, V-B).

use packet::random::{Random, ZipfError};
use packet::time::{Duration, Instant};

use super::{Reading, Request, Requests, Workload};
use crate::eviction::{DeletionRule, ObjectEviction};
use crate::replay::ReplayedCache;

/// Which repository includes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// The one that the file's name decides, if it does not delete.
    Name,
    /// The first that does not delete, from the one on that the name decides.
    WhoeverTakesIt,
}

/// Repositories at one router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeveralRepositories {
    /// How many.
    pub repositories: u32,
    /// What a deletion frees; the threshold is that of all of them together.
    pub rule: DeletionRule,
    /// Which of them includes a file.
    pub home: Home,
    /// How long a repository takes for each gigabyte that it holds when it deletes. Meanwhile it answers, but
    /// includes nothing.
    pub deletion_of_gigabyte: Duration,
}

/// What happened from the first deletion on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SeveralOutcome {
    /// Requests that count.
    pub requests: u64,
    /// Those of them that were hits.
    pub hits: u64,
    /// Files that should have been included, those that were new among them.
    pub wanted: u64,
    /// Those of them that nobody took.
    pub refused: u64,
    /// Deletion operations, those of the one that began the evaluation not counted.
    pub deletions: u64,
    /// Seconds in which one repository at least was deleting, counted once for each that was.
    pub deleting_seconds: f64,
}

/// One run, from empty repositories on.
#[derive(Debug)]
pub struct SeveralRun<P> {
    requests: Requests,
    several: SeveralRepositories,
    /// Each with the instant at which its deletion is over.
    repositories: Vec<(ReplayedCache<P>, Instant)>,
    outcome: SeveralOutcome,
}

impl<P: ObjectEviction> SeveralRun<P> {
    /// A run with empty policies, of which `policy` makes one for each repository.
    ///
    /// # Errors
    /// An exponent of the workload is negative or no number.
    pub fn new(
        workload: Workload,
        several: SeveralRepositories,
        policy: impl Fn() -> P,
        random: Random,
    ) -> Result<Self, ZipfError> {
        let count = several.repositories.max(1);
        let threshold_bytes = several.rule.threshold_bytes / u64::from(count);
        let rule = DeletionRule { threshold_bytes, ..several.rule };
        let repositories = (0..count).map(|_| (ReplayedCache::new(rule, policy()), Instant::ZERO)).collect();
        let requests = Requests::new(workload, Reading::LITERAL, random)?;
        Ok(SeveralRun { requests, several, repositories, outcome: SeveralOutcome::default() })
    }

    /// Runs until `duration` after the first deletion.
    pub fn run(mut self, duration: Duration) -> SeveralOutcome {
        let mut end: Option<Instant> = None;
        loop {
            let request = self.requests.draw();
            if end.is_some_and(|end| request.at > end) {
                return self.outcome;
            }
            self.answer(&request);
            if end.is_none() && self.outcome.deletions > 0 {
                end = Some(request.at + duration);
                self.outcome = SeveralOutcome::default();
            }
        }
    }

    fn answer(&mut self, request: &Request) {
        let is_hit = self.repositories.iter_mut().any(|(repository, _)| repository.touch(request.file, 0));
        if !request.is_new {
            self.outcome.requests += 1;
            self.outcome.hits += u64::from(is_hit);
        }
        if is_hit {
            return;
        }
        self.outcome.wanted += 1;
        let count = self.repositories.len() as u64;
        let home = (u64::from(request.file) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) % count;
        let tries = match self.several.home {
            Home::Name => 1,
            Home::WhoeverTakesIt => count,
        };
        let taker = (0..tries).map(|next| ((home + next) % count) as usize).find(|&repository| {
            self.repositories.get(repository).is_some_and(|(_, until)| *until <= request.at)
        });
        let Some((repository, until)) = taker.and_then(|taker| self.repositories.get_mut(taker)) else {
            self.outcome.refused += 1;
            return;
        };
        let before = repository.counters().deletions;
        let bytes = repository.bytes() + u64::from(request.bytes);
        repository.include(request.file, request.bytes.into());
        if repository.counters().deletions > before {
            let seconds = self.several.deletion_of_gigabyte.as_secs_f64() * bytes as f64 / 1e9;
            *until = request.at + Duration::from_nanos((seconds * 1e9) as u64);
            self.outcome.deletions += 1;
            self.outcome.deleting_seconds += seconds;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Run;
    use crate::evaluation::tests::rule;
    use crate::eviction::DeleteQueue;

    const HOURS: Duration = Duration::from_secs(6 * 3600);

    fn run(repositories: u32, home: Home, seconds: u64) -> SeveralOutcome {
        let deletion_of_gigabyte = Duration::from_secs(seconds);
        let several = SeveralRepositories { repositories, rule: rule(1, 0.25), home, deletion_of_gigabyte };
        let random = Random::from_seed(9);
        SeveralRun::new(Workload::WEB_SERVER, several, DeleteQueue::default, random).unwrap().run(HOURS)
    }

    #[test]
    fn one_that_deletes_in_no_time_is_the_papers() {
        let random = Random::from_seed(9);
        let policy = DeleteQueue::default();
        let paper = Run::new(Workload::WEB_SERVER, Reading::LITERAL, rule(1, 0.25), policy, random).unwrap();
        let paper = paper.run(HOURS);
        let one = run(1, Home::Name, 0);
        assert_eq!((one.hits, one.deletions), (paper.hits.iter().sum(), paper.deletions));
        assert_eq!(one.refused, 0);
    }

    #[test]
    fn while_one_deletes_another_takes_what_comes() {
        let one = run(1, Home::Name, 60);
        assert!(one.refused > 0 && one.deleting_seconds > 0.0);
        assert!(run(4, Home::Name, 60).refused > 0);
        assert_eq!(run(4, Home::WhoeverTakesIt, 60).refused, 0);
    }
}
