//! Independent runs on all cores.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::study::Runner;

/// Runs `work` for every job; results are in the order of the jobs, whichever ended first.
pub fn for_each<J: Sync, R: Send>(jobs: &[J], runner: &Runner<'_>, work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    match try_for_each(jobs, runner, |job| Ok::<R, Infallible>(work(job))) {
        Ok(results) => results,
        Err(never) => match never {},
    }
}

/// The same until one fails: those under way come to their end then, and no other is begun.
///
/// # Errors
/// That of the first job that failed, in the order of the jobs.
pub fn try_for_each<J: Sync, R: Send, E: Send>(
    jobs: &[J],
    runner: &Runner<'_>,
    work: impl Fn(&J) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = runner.workers.unwrap_or_else(cores).clamp(1, jobs.len().max(1));
    let (next, done, has_failed) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let results: Vec<Mutex<Option<Result<R, E>>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !has_failed.load(Ordering::Relaxed)
                    && let Some((place, job)) = {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        jobs.get(place).map(|job| (place, job))
                    }
                {
                    let result = work(job);
                    let is_done = result.is_ok();
                    *results[place].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                    if is_done {
                        (runner.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
                    } else {
                        has_failed.store(true, Ordering::Relaxed);
                    }
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

    #[test]
    fn after_a_failure_no_job_is_begun_and_none_that_failed_counts_as_done() {
        let jobs: Vec<usize> = (0..1000).collect();
        let (begun, told) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let tell = |done: usize, _: usize| told.store(done, Ordering::Relaxed);
        let runner = Runner { workers: Some(1), progress: &tell };
        let outcome = try_for_each(&jobs, &runner, |job| {
            begun.fetch_add(1, Ordering::Relaxed);
            if *job == 10 { Err("the disk is full") } else { Ok(()) }
        });
        assert_eq!(outcome, Err("the disk is full"));
        assert_eq!((begun.load(Ordering::Relaxed), told.load(Ordering::Relaxed)), (11, 10));
    }
}
