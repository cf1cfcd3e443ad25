//! Threads that read what was found, so that a slow read holds up nobody but who asked for it.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use flow::Metadata;
use packet::time::Duration;
use packet::{Data, Interest, UnixTime};
use system::unix_now;

use super::{Answered, FoundData, Reply};
use crate::store::{Located, ReadError, is_answer, is_outdated};

/// A question, and where its answer may lie.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) question: u64,
    pub(super) interest: Interest,
    pub(super) places: Vec<Located>,
    /// What answers if nothing that lies there does.
    pub(super) otherwise: Option<MadeMetadata>,
}

/// Metadata that the store makes of what it holds.
#[derive(Debug)]
pub(super) struct MadeMetadata {
    pub(super) metadata: Metadata,
    pub(super) found: FoundData,
}

/// What reading found that the store wants to know.
#[derive(Debug)]
pub(super) enum Outcome {
    Served(Located),
    Vain,
    Missed,
    Failed(Located, ReadError),
}

impl Job {
    /// Whether reading it may mean waiting for a network.
    fn is_remote(&self) -> bool {
        self.places.iter().any(Located::is_remote)
    }
}

/// Where jobs lie until a reader takes them.
#[derive(Debug, Default)]
pub(super) struct ReadQueue {
    state: Mutex<State>,
    more: Condvar,
    more_remote: Condvar,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Those that have readers of their own, so that nobody waits for a network who need not.
    remote_jobs: VecDeque<Job>,
    outcomes: Vec<Outcome>,
    has_remote_readers: bool,
    is_closed: bool,
}

/// Which jobs a reader takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Local,
    Remote,
}

impl State {
    fn jobs(&mut self, kind: Kind) -> &mut VecDeque<Job> {
        match kind {
            Kind::Local => &mut self.jobs,
            Kind::Remote => &mut self.remote_jobs,
        }
    }
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
        let mut state = self.state();
        let mut has_remote = false;
        for job in jobs.drain(..) {
            let is_remote = state.has_remote_readers && job.is_remote();
            has_remote |= is_remote;
            state.jobs(if is_remote { Kind::Remote } else { Kind::Local }).push_back(job);
        }
        drop(state);
        if many {
            self.more.notify_all();
        } else {
            self.more.notify_one();
        }
        if has_remote {
            self.more_remote.notify_all();
        }
    }

    /// Jobs that no reader has taken yet.
    pub(super) fn waiting(&self) -> usize {
        let state = self.state();
        state.jobs.len() + state.remote_jobs.len()
    }

    pub(super) fn outcomes(&self) -> Vec<Outcome> {
        std::mem::take(&mut self.state().outcomes)
    }

    /// Waits for jobs; `None` when there will be no more.
    fn take(&self, kind: Kind) -> Option<Vec<Job>> {
        let (more, at_once) = match kind {
            Kind::Local => (&self.more, JOBS_AT_ONCE),
            // Each may take long, and another reader may be free.
            Kind::Remote => (&self.more_remote, 1),
        };
        let mut state = self.state();
        while state.jobs(kind).is_empty() {
            if state.is_closed {
                return None;
            }
            state = more.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let count = state.jobs(kind).len().min(at_once);
        Some(state.jobs(kind).drain(..count).collect())
    }

    fn close(&self) {
        self.state().is_closed = true;
        self.more.notify_all();
        self.more_remote.notify_all();
    }
}

/// The threads. They finish what waits and end when this is dropped.
pub(super) struct Readers {
    queue: Arc<ReadQueue>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    /// `count` for what lies in the folder, `remote` for what lives on a network.
    pub(super) fn start(count: usize, remote: usize, answered: &Answered) -> io::Result<Self> {
        let mut readers = Readers { queue: Arc::default(), threads: Vec::new() };
        readers.queue.state().has_remote_readers = remote > 0;
        for number in 0..count + remote {
            let kind = if number < count { Kind::Local } else { Kind::Remote };
            let (queue, answered) = (Arc::clone(&readers.queue), Arc::clone(answered));
            let work = move || serve(kind, &queue, &answered);
            let thread = std::thread::Builder::new().name("repository-read".to_owned()).spawn(work)?;
            readers.threads.push(thread);
        }
        Ok(readers)
    }

    pub(super) fn queue(&self) -> Arc<ReadQueue> {
        Arc::clone(&self.queue)
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.queue.close();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Does jobs until there will be no more.
fn serve(kind: Kind, queue: &ReadQueue, answered: &Answered) {
    let mut replies = Vec::with_capacity(1);
    while let Some(jobs) = queue.take(kind) {
        let mut outcomes = Vec::with_capacity(jobs.len());
        for job in jobs {
            let question = job.question;
            // The next one may take long: nobody waits for it with this one.
            replies.push(Reply { question, found: read(unix_now(), job, &mut outcomes) });
            answered(&mut replies);
        }
        queue.state().outcomes.append(&mut outcomes);
    }
}

fn read(now: UnixTime, job: Job, outcomes: &mut Vec<Outcome>) -> Option<FoundData> {
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
pub(super) fn found(now: UnixTime, data: Data, arrival: UnixTime) -> FoundData {
    let fresh_until = match data.freshness() {
        Duration::ZERO => UnixTime::ZERO,
        freshness => arrival.after(freshness),
    };
    FoundData { data, fresh_until, is_fresh: fresh_until > now }
}
