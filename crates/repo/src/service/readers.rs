//! Threads that read what was found, so that a slow read holds up nobody but who asked for it.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use flow::Metadata;
use packet::time::Duration;
use packet::{Data, Interest, UnixTime};

use super::{Answered, Found, Reply, unix_now};
use crate::store::{Located, ReadError, is_answer, is_outdated};

/// A question, and where its answer may lie.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) question: u64,
    pub(super) interest: Interest,
    pub(super) places: Vec<Located>,
    /// What answers if nothing that lies there does.
    pub(super) otherwise: Option<Made>,
}

/// Metadata that the store makes of what it holds.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) metadata: Metadata,
    pub(super) found: Found,
}

/// What reading found that the store wants to know.
#[derive(Debug)]
pub(super) enum Outcome {
    Served(Located),
    Vain,
    Missed,
    Failed(Located, ReadError),
}

/// Where jobs lie until a reader takes them.
#[derive(Debug, Default)]
pub(super) struct ReadQueue {
    state: Mutex<State>,
    more: Condvar,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Job>,
    outcomes: Vec<Outcome>,
    is_closed: bool,
}

/// Jobs that a reader takes at once.
const JOBS_AT_ONCE: usize = 8;

impl ReadQueue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives jobs to the readers.
    pub(super) fn put(&self, jobs: &mut Vec<Job>) {
        if jobs.is_empty() {
            return;
        }
        let many = jobs.len() > JOBS_AT_ONCE;
        self.state().jobs.extend(jobs.drain(..));
        if many { self.more.notify_all() } else { self.more.notify_one() }
    }

    /// Jobs that no reader has taken yet.
    pub(super) fn waiting(&self) -> usize {
        self.state().jobs.len()
    }

    pub(super) fn outcomes(&self) -> Vec<Outcome> {
        std::mem::take(&mut self.state().outcomes)
    }

    /// Waits for jobs; `None` when there will be no more.
    fn take(&self) -> Option<Vec<Job>> {
        let mut state = self.state();
        while state.jobs.is_empty() {
            if state.is_closed {
                return None;
            }
            state = self.more.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let count = state.jobs.len().min(JOBS_AT_ONCE);
        Some(state.jobs.drain(..count).collect())
    }

    fn close(&self) {
        self.state().is_closed = true;
        self.more.notify_all();
    }
}

/// The threads. They finish what waits and end when this is dropped.
pub(super) struct Readers {
    desk: Arc<ReadQueue>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(super) fn start(count: usize, answered: &Answered) -> io::Result<Self> {
        let mut readers = Readers { desk: Arc::default(), threads: Vec::new() };
        for _ in 0..count {
            let (desk, answered) = (Arc::clone(&readers.desk), Arc::clone(answered));
            let work = move || {
                let mut replies = Vec::with_capacity(1);
                while let Some(jobs) = desk.take() {
                    let mut outcomes = Vec::with_capacity(jobs.len());
                    for job in jobs {
                        let question = job.question;
                        // The next one may take long: nobody waits for it with this one.
                        replies.push(Reply { question, found: read(unix_now(), job, &mut outcomes) });
                        answered(&mut replies);
                    }
                    desk.state().outcomes.append(&mut outcomes);
                }
            };
            let thread = std::thread::Builder::new().name("repository-read".to_owned()).spawn(work)?;
            readers.threads.push(thread);
        }
        Ok(readers)
    }

    pub(super) fn desk(&self) -> Arc<ReadQueue> {
        Arc::clone(&self.desk)
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.desk.close();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn read(now: UnixTime, job: Job, outcomes: &mut Vec<Outcome>) -> Option<Found> {
    let known = job.otherwise.as_ref().map(|made| &made.metadata);
    for located in job.places {
        match located.read_data() {
            Ok((data, arrival))
                if is_answer(now, &job.interest, &data, arrival) && !is_outdated(&data, known) =>
            {
                outcomes.push(Outcome::Served(located));
                return Some(found(now, data, arrival));
            }
            Ok(_) => outcomes.push(Outcome::Vain),
            Err(error) => outcomes.push(Outcome::Failed(located, error)),
        }
    }
    if job.otherwise.is_none() {
        outcomes.push(Outcome::Missed);
    }
    job.otherwise.map(|made| made.found)
}

/// A packet that came at `arrival`, as an answer.
pub(super) fn found(now: UnixTime, data: Data, arrival: UnixTime) -> Found {
    let fresh_until = match data.freshness() {
        Duration::ZERO => UnixTime::ZERO,
        freshness => arrival.after(freshness),
    };
    Found { data, fresh_until, is_fresh: fresh_until > now }
}
