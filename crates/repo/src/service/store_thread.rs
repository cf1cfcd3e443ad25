//! The thread that owns the store.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use packet::{Data, UnixTime};
use system::unix_now;

use super::lookups::{Lookups, lock};
use super::readers::{Outcome, ReadQueue};
use super::{ServiceConfig, ServiceStatus, Shared};
use crate::limits::Rejection;
use crate::memory_objects::Request;
use crate::store::{InsertionId, PendingMaintenance, Store};

/// Told what became of an insertion.
pub(super) type InsertionCallback = Box<dyn FnOnce(Result<(), Rejection>) + Send>;

/// Something that is done with the store.
pub(super) type StoreCall = Box<dyn FnOnce(&mut Store, UnixTime) + Send>;

/// Something for the store thread to do.
pub(super) enum Task {
    /// There are questions.
    Look,
    Insert(Data, Option<InsertionCallback>),
    /// Packets that came together; nobody waits for them, but wants to know what became of them.
    InsertMany(Vec<Data>, InsertionCallback),
    Call(StoreCall),
    Stop,
}

/// Tasks taken before what they ask for is done.
const TASKS_AT_ONCE: usize = 1024;
/// Tasks taken before those are answered who ask.
const TASKS_BETWEEN_QUESTIONS: usize = 64;
/// Packets that nobody waits for are committed when they are so many bytes: while they are still in the
/// processor's cache, for to fetch them back costs more than a sync.
const COMMIT_BYTES: u64 = 1 << 20;
/// When so many bytes wait, no more are taken before they are committed. A sync costs as much as writing some
/// hundred kilobytes does.
const MAX_COMMIT_BYTES: u64 = 4 << 20;
/// How often the status is renewed.
const STATUS_EVERY: Duration = Duration::from_secs(1);
/// How long maintenance rests after the file system has failed.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

pub(super) struct StoreThread {
    store: Store,
    tasks: Receiver<Task>,
    lookups: Arc<Mutex<Lookups>>,
    queue: Arc<ReadQueue>,
    shared: Arc<Shared>,
    config: ServiceConfig,
    waiting: Vec<(InsertionId, InsertionCallback)>,
    /// Those who are told, but for whom nothing is hurried.
    patient: Vec<(InsertionId, InsertionCallback)>,
    /// Where requests are noted next that others answer; empty.
    spare: Vec<Request>,
    /// When packets that nobody waits for are to be committed.
    commit_at: Option<Instant>,
    maintenance_at: Instant,
    status_at: Instant,
    is_ending: bool,
}

impl StoreThread {
    pub(super) fn new(
        store: Store,
        tasks: Receiver<Task>,
        lookups: Arc<Mutex<Lookups>>,
        queue: Arc<ReadQueue>,
        shared: Arc<Shared>,
        config: ServiceConfig,
    ) -> Self {
        let now = Instant::now();
        let mut thread = StoreThread {
            store,
            tasks,
            lookups,
            queue,
            shared,
            config,
            waiting: Vec::new(),
            patient: Vec::new(),
            spare: Vec::new(),
            commit_at: None,
            maintenance_at: now,
            status_at: now,
            is_ending: false,
        };
        thread.publish(now);
        thread
    }

    /// Works until it is told to stop; gives the store back with its index up to date.
    pub(super) fn run(mut self) -> Store {
        while !self.is_ending {
            let has_more = self.take_questions();
            self.take_tasks(has_more);
            self.note_outcomes();
            let now = Instant::now();
            if !self.waiting.is_empty() || self.is_commit_due(now) {
                self.commit();
            }
            if self.maintenance_at <= now {
                self.maintain(now);
            }
            if self.status_at <= now {
                self.publish(now);
            }
        }
        self.commit();
        while self.take_questions() {}
        self.note_outcomes();
        // A failure has been counted, and the log still holds everything.
        let _ = self.store.checkpoint();
        self.store.set_disk_executor(None);
        self.publish(Instant::now());
        self.store
    }

    fn is_commit_due(&self, now: Instant) -> bool {
        self.commit_at.is_some_and(|when| when <= now) || self.store.open_bytes() >= COMMIT_BYTES
    }

    /// Looks up what was asked; true if there may be more.
    fn take_questions(&mut self) -> bool {
        // Lowered before it is looked: who asks later raises it, and wakes the store thread.
        self.shared.has_questions.store(false, Ordering::SeqCst);
        let mut lookups = lock(&self.lookups);
        let has_more = lookups.take(&self.store);
        let (missed, served) = (lookups.take_missed(), lookups.take_served());
        drop(lookups);
        self.store.missed(missed);
        self.note(unix_now(), served);
        has_more
    }

    /// Waits for tasks, unless there is something else to do, and takes those there are.
    fn take_tasks(&mut self, has_more: bool) {
        let due = self.maintenance_at.min(self.status_at);
        let due = self.commit_at.map_or(due, |commit| due.min(commit));
        let left = if has_more { Duration::ZERO } else { due.saturating_duration_since(Instant::now()) };
        let mut next = match self.tasks.recv_timeout(left) {
            Ok(task) => Some(task),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                self.is_ending = true;
                None
            }
        };
        let (now, mut taken) = (unix_now(), 0);
        while let Some(task) = next.take() {
            self.take(now, task);
            taken += 1;
            if taken % TASKS_BETWEEN_QUESTIONS == 0 && self.shared.has_questions.load(Ordering::SeqCst) {
                self.take_questions();
            }
            // What a disk can do at once is done at once; then it is somebody else's turn.
            if taken < TASKS_AT_ONCE && !self.is_ending && self.store.open_bytes() < MAX_COMMIT_BYTES {
                next = self.tasks.try_recv().ok();
            }
        }
    }

    fn take(&mut self, now: UnixTime, task: Task) {
        match task {
            Task::Look => {}
            Task::Insert(data, done) => self.insert(now, &data, done),
            Task::InsertMany(packets, done) => self.insert_many(now, &packets, done),
            Task::Call(act) => {
                // Were it committed on the way and failed, those who wait would not learn of it.
                if self.store.open_bytes() > 0 {
                    self.commit();
                }
                act(&mut self.store, now);
                self.maintenance_at = Instant::now();
            }
            Task::Stop => self.is_ending = true,
        }
    }

    fn insert(&mut self, now: UnixTime, data: &Data, done: Option<InsertionCallback>) {
        match (self.store.insert(now, data), done) {
            (Ok(ticket), Some(done)) => self.waiting.push((ticket, done)),
            (Ok(_), None) => self.commit_soon(),
            (Err(rejection), Some(done)) => done(Err(rejection)),
            // The store has counted it.
            (Err(_), None) => {}
        }
    }

    fn insert_many(&mut self, now: UnixTime, packets: &[Data], done: InsertionCallback) {
        let (mut last, mut refused) = (None, None);
        for data in packets {
            match self.store.insert(now, data) {
                Ok(ticket) => last = Some(ticket),
                Err(rejection) => {
                    refused.get_or_insert(rejection);
                }
            }
        }
        let done = move |result| done(refused.map_or(result, Err));
        match last {
            Some(ticket) => self.patient.push((ticket, Box::new(done))),
            None => return done(Ok(())),
        }
        self.commit_soon();
    }

    fn commit_soon(&mut self) {
        self.commit_at.get_or_insert_with(|| Instant::now() + self.config.commit_after);
    }

    /// Commits, and tells those who wait for it.
    fn commit(&mut self) {
        self.commit_at = None;
        let committed = self.store.commit();
        for (ticket, done) in self.waiting.drain(..).chain(self.patient.drain(..)) {
            let failed = committed.as_ref().err().filter(|error| ticket >= error.first);
            done(failed.map_or(Ok(()), |error| Err(error.reason)));
        }
        // What is due already is not put off: there may be a commit each time.
        self.maintenance_at = self.maintenance_at.min(Instant::now());
    }

    fn note_outcomes(&mut self) {
        let hot = Arc::clone(self.store.catalogue().hot());
        let (mut served, untold) = hot.take_requests(std::mem::take(&mut self.spare));
        served.drain(..).for_each(|request| self.store.served_hot(request));
        self.store.served_untold(untold);
        self.spare = served;
        let outcomes = self.queue.outcomes();
        self.note(unix_now(), outcomes);
    }

    fn note(&mut self, now: UnixTime, outcomes: Vec<Outcome>) {
        for outcome in outcomes {
            match outcome {
                Outcome::Served(located) => self.store.served(&located),
                Outcome::Vain => self.store.read_in_vain(),
                Outcome::Missed => self.store.missed(1),
                Outcome::Failed(located, error) => self.store.report(now, &located, &error),
            }
        }
    }

    fn maintain(&mut self, now: Instant) {
        let unix = unix_now();
        self.maintenance_at = match self.store.maintain(unix) {
            Ok(PendingMaintenance::More) => now,
            Ok(PendingMaintenance::Later(when)) => {
                let wait = when.as_millis().saturating_sub(unix.as_millis());
                now + Duration::from_millis(wait.max(1))
            }
            Ok(PendingMaintenance::Idle) => now + STATUS_EVERY,
            Err(_) => now + RETRY_INTERVAL,
        };
    }

    fn publish(&mut self, now: Instant) {
        let lookups = &self.lookups;
        let status = ServiceStatus {
            stats: self.store.stats_in_pieces(|store| {
                lock(lookups).take(store);
            }),
            counters: *self.store.counters(),
            rejections: *self.store.rejections(),
            busy: 0,
        };
        *self.shared.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
        // Looking at all objects takes a while where there are many.
        let took = now.elapsed();
        self.status_at = Instant::now() + STATUS_EVERY.max(took * 50);
    }
}
