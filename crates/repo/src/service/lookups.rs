//! Questions: where an answer lies is looked up in memory by the store thread, also while the store waits
//! for the disk. What is in the page cache is read at once; for the rest there are readers.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use packet::{Interest, UnixTime};
use system::unix_now;

use super::readers::{Job, MadeMetadata, Outcome, ReadQueue, found};
use super::{Answered, FoundData, Reply};
use crate::store::{DiskExecutor, DiskJob, Store, is_answer, is_outdated, metadata_packet};

/// Questions looked up before the readers are told.
const QUESTIONS_AT_ONCE: usize = 256;
/// Answers handed over at once. Whoever waits for them sends what it has got while the next ones are looked
/// up; fewer at once would wake it more often than it has something to do.
const REPLIES_AT_ONCE: usize = 16;
/// Jobs that may wait for readers; what is asked on top is answered with nothing, as by a miss.
const MAX_JOBS: usize = 8192;

/// What comes on the way of questions.
pub(super) enum LookupMessage {
    Ask(u64, Interest),
    /// The disk has done what it was given.
    Done,
}

/// Looks up what is asked.
pub(super) struct Lookups {
    questions: Receiver<LookupMessage>,
    queue: Arc<ReadQueue>,
    answered: Answered,
    replies: Vec<Reply>,
    jobs: Vec<Job>,
    missed: u64,
    /// What was read at once, for the store to take note of.
    served: Vec<Outcome>,
}

impl Lookups {
    pub(super) fn new(questions: Receiver<LookupMessage>, queue: Arc<ReadQueue>, answered: Answered) -> Self {
        Lookups {
            questions,
            queue,
            answered,
            replies: Vec::with_capacity(REPLIES_AT_ONCE),
            jobs: Vec::new(),
            missed: 0,
            served: Vec::new(),
        }
    }

    /// Looks up what has been asked; true if there may be more.
    pub(super) fn take(&mut self, store: &Store) -> bool {
        let now = unix_now();
        for _ in 0..QUESTIONS_AT_ONCE {
            match self.questions.try_recv() {
                Ok(LookupMessage::Ask(number, interest)) => self.look_up(store, now, number, interest),
                Ok(LookupMessage::Done) => {}
                Err(_) => {
                    self.hand_over();
                    return false;
                }
            }
        }
        self.hand_over();
        true
    }

    /// Gives what was found to who asked, and what is to be read to the readers.
    fn hand_over(&mut self) {
        if !self.replies.is_empty() {
            (self.answered)(&mut self.replies);
        }
        self.queue.put(&mut self.jobs);
    }

    fn reply(&mut self, question: u64, found: Option<FoundData>) {
        self.replies.push(Reply { question, found });
        if self.replies.len() >= REPLIES_AT_ONCE {
            (self.answered)(&mut self.replies);
        }
    }

    /// Looks up what is asked until the disk is done.
    fn serve_until_done(&mut self, store: &Store) {
        let mut next = self.questions.recv().ok();
        while let Some(LookupMessage::Ask(number, interest)) = next {
            self.look_up(store, unix_now(), number, interest);
            next = match self.questions.try_recv() {
                Ok(question) if self.jobs.len() < QUESTIONS_AT_ONCE => Some(question),
                Ok(question) => {
                    self.hand_over();
                    Some(question)
                }
                Err(_) => {
                    self.hand_over();
                    self.questions.recv().ok()
                }
            };
        }
        self.hand_over();
    }

    /// What was read at once since the last call.
    pub(super) fn take_served(&mut self) -> Vec<Outcome> {
        std::mem::take(&mut self.served)
    }

    /// Questions that were answered with nothing since the last call.
    pub(super) fn take_missed(&mut self) -> u64 {
        std::mem::take(&mut self.missed)
    }

    fn look_up(&mut self, store: &Store, now: UnixTime, number: u64, interest: Interest) {
        let mut places = store.locate(now, &interest);
        let otherwise = store.known_metadata(&interest).and_then(|metadata| {
            let prefix = interest.name().prefix(interest.component_count() - 1).to_name();
            let data = metadata_packet(now, &prefix, &metadata).ok()?;
            let fresh_until = now.after(data.freshness());
            Some(MadeMetadata { metadata, found: FoundData { data, fresh_until, is_fresh: true } })
        });
        let known = otherwise.as_ref().map(|made| &made.metadata);
        let likely = places.first().and_then(|located| located.read_in_memory(|_| None));
        if let Some((data, arrival)) = likely
            .filter(|(data, arrival)| is_answer(now, &interest, data, *arrival) && !is_outdated(data, known))
        {
            if let Some(located) = places.first() {
                store.show(now, located);
            }
            // While the store waits for the disk for long, so many requests tell it enough.
            if self.served.len() < MAX_JOBS {
                self.served.push(Outcome::Served(places.swap_remove(0)));
            }
            return self.reply(number, Some(found(now, data, arrival)));
        }
        if places.is_empty() || self.jobs.len() + self.queue.waiting() >= MAX_JOBS {
            self.missed += u64::from(otherwise.is_none());
            return self.reply(number, otherwise.map(|made| made.found));
        }
        self.jobs.push(Job { question: number, interest, places, otherwise });
    }
}

/// Both sides of the store's waiting for the disk have it.
pub(super) fn lock(lookups: &Mutex<Lookups>) -> MutexGuard<'_, Lookups> {
    lookups.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread that works with the disk while the store thread looks up what is asked.
pub(super) struct DiskThread {
    lookups: Arc<Mutex<Lookups>>,
    jobs: Option<Sender<DiskJob>>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for DiskThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DiskThread").finish_non_exhaustive()
    }
}

impl DiskThread {
    /// Starts it. By `done` the store thread is told, among the questions, that a job is done.
    pub(super) fn start(
        lookups: Arc<Mutex<Lookups>>,
        done: SyncSender<LookupMessage>,
    ) -> std::io::Result<Self> {
        let (jobs, receiver) = channel::<DiskJob>();
        let work = move || {
            while let Ok(job) = receiver.recv() {
                // Told even if the job panics.
                let _tells = EndNotifier(&done);
                job();
            }
        };
        let thread = std::thread::Builder::new().name("repository-disk".to_owned()).spawn(work)?;
        Ok(DiskThread { lookups, jobs: Some(jobs), thread: Some(thread) })
    }
}

impl DiskExecutor for DiskThread {
    fn execute(&mut self, store: &Store, job: DiskJob) {
        match self.jobs.as_ref().map(|jobs| jobs.send(job)) {
            Some(Ok(())) => lock(&self.lookups).serve_until_done(store),
            // The thread has failed before: the store thread itself waits for the disk.
            Some(Err(refused)) => (refused.0)(),
            None => {}
        }
    }

    fn answer_waiting(&mut self, store: &Store) {
        lock(&self.lookups).take(store);
    }
}

impl Drop for DiskThread {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct EndNotifier<'d>(&'d SyncSender<LookupMessage>);

impl Drop for EndNotifier<'_> {
    fn drop(&mut self) {
        // The store thread takes questions for as long as it waits for this.
        let _ = self.0.send(LookupMessage::Done);
    }
}
