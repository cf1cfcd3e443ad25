//! Independent jobs on all cores. What comes out does not depend on how many there are.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use lab::parallel;
use lab::study::Runner;

/// Does all jobs and gives their results in the order of the jobs. Shows how far it is on a terminal, if it
/// takes long.
pub(super) fn do_all<J: Sync, R: Send>(jobs: &[J], workers: usize, work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let progress = Progress::default();
    let runner = Runner { workers: Some(workers), progress: &|done, all| progress.show(done, all) };
    let results = parallel::for_each(jobs, &runner, work);
    progress.clear();
    results
}

/// As many workers as the machine has cores.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A line on the terminal that says how far it is, once that has taken a second.
pub(super) struct Progress {
    since: Instant,
    is_shown: bool,
}

impl Default for Progress {
    fn default() -> Self {
        Progress { since: Instant::now(), is_shown: std::io::stderr().is_terminal() }
    }
}

impl Progress {
    pub(super) fn show(&self, done: usize, all: usize) {
        if self.is_shown && self.since.elapsed() > Duration::from_secs(1) {
            let mut to = std::io::stderr();
            let _ = write!(to, "\r{done} of {all} runs").and_then(|()| to.flush());
        }
    }

    pub(super) fn clear(&self) {
        if self.is_shown && self.since.elapsed() > Duration::from_secs(1) {
            let _ = write!(std::io::stderr(), "\r{:40}\r", "");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs_whatever_the_number_of_workers() {
        let jobs: Vec<u64> = (0..100).collect();
        let expected: Vec<u64> = jobs.iter().map(|job| job * job).collect();
        for workers in [0, 1, 3, 200] {
            assert_eq!(do_all(&jobs, workers, |job| job * job), expected);
        }
        assert!(do_all(&Vec::<u64>::new(), 2, |job| *job).is_empty());
    }
}
