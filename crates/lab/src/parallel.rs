//! Independent runs on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::study::Runner;

/// Runs `work` for every job; results are in the order of the jobs, whichever ended first.
pub fn for_each<J: Sync, R: Send>(jobs: &[J], runner: &Runner<'_>, work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = runner.workers.unwrap_or_else(cores).clamp(1, jobs.len().max(1));
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Vec<Mutex<Option<R>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((place, job)) = {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    jobs.get(place).map(|job| (place, job))
                } {
                    let result = work(job);
                    *results[place].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                    (runner.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
                }
            });
        }
    });
    results
        .into_iter()
        .filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_jobs() {
        let jobs: Vec<u64> = (0..100).collect();
        let runner = Runner { workers: Some(3), progress: &|_, _| {} };
        let results = for_each(&jobs, &runner, |job| (0..(100 - job) * 100).fold(*job, |sum, _| sum));
        assert_eq!(results, jobs);
        assert!(for_each(&[] as &[u8], &runner, |job| *job).is_empty());
    }
}
