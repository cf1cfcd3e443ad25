//! Independent runs on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Runs `work` for every job on as many threads as the machine has cores; results are in the order of the jobs, whichever ended
/// first. `progress` hears how many are done, of how many.
pub fn for_each<J: Sync, R: Send>(
    jobs: &[J],
    progress: &(dyn Fn(usize, usize) + Sync),
    work: impl Fn(&J) -> R + Sync,
) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
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
                    progress(done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
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
        let results = for_each(&jobs, &|_, _| {}, |job| (0..(100 - job) * 100).fold(*job, |sum, _| sum));
        assert_eq!(results, jobs);
        assert!(for_each(&[] as &[u8], &|_, _| {}, |job| *job).is_empty());
    }
}
