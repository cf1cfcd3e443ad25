//! A store with threads of its own, for those who must not wait for a disk.
//!
//! One thread, the store thread, owns the store: it finds where packets lie, takes packets in and commits
//! many with one sync, deletes, and does the maintenance. Another writes and syncs what the store thread
//! gives it, while the store thread goes on looking up what is asked: no question waits for a sync. A few
//! readers read what was found. Questions and packets come in by bounded queues, which refuse rather than
//! make anybody wait; answers go out by a function that the owner gives.
//!
//! ```
//! use std::sync::{Arc, mpsc};
//!
//! use packet::NameHasher;
//! use packet::ndn::{DataBuilder, InterestBuilder};
//! use cairn_repo::disk::SimulatedDisk;
//! use cairn_repo::service::{Reply, Service, ServiceConfig};
//! use cairn_repo::{Store, StoreConfig, StoreKeys};
//!
//! let keys = StoreKeys { records: [1, 2], names: NameHasher::new([3, 4]) };
//! let (store, _) = Store::open(Arc::new(SimulatedDisk::new(1)), StoreConfig::default(), keys)?;
//! let (answered, answers) = mpsc::channel();
//! let answered = move |replies: &mut Vec<Reply>| {
//!     replies.drain(..).for_each(|reply| answered.send(reply).unwrap_or_default());
//! };
//! let service = Service::start(store, ServiceConfig::default(), Arc::new(answered))?;
//!
//! let data = DataBuilder::new("/a".parse()?).content(b"hi".to_vec()).build_with_digest()?;
//! service.insert(data.clone())?; // returns when it would survive a power cut
//! service.ask(7, InterestBuilder::new("/a".parse()?).build()?)?;
//! let Reply { question, found } = answers.recv()?;
//! assert!(question == 7 && found.is_some_and(|found| found.data.wire() == data.wire()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod lookups;
mod readers;
mod store_thread;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use packet::{Data, Interest, NameHasher, PrefixHashes, SpareBuffer, UnixTime};

use crate::filter::Filter;
use crate::limits::{Rejection, RejectionCounters};
use crate::memory_objects::HotObjects;
use crate::store::{Store, StoreCounters, StoreStats};

use lookups::{DiskThread, LookupMessage, Lookups};
use readers::Readers;
use store_thread::{StoreThread, Task};

/// How a service works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceConfig {
    /// Questions that may wait for the store thread, and so many packets and other requests beside.
    pub queue: usize,
    /// Threads that read.
    pub readers: usize,
    /// Threads that read what lives on the network; 0 if nothing does.
    pub remote_readers: usize,
    /// Packets that nobody waits for are committed after so long at the latest.
    pub commit_after: Duration,
}

impl Default for ServiceConfig {
    fn default() -> Self {
        ServiceConfig { queue: 8192, readers: 2, remote_readers: 0, commit_after: Duration::from_millis(100) }
    }
}

/// A packet that answers.
#[derive(Clone, Debug)]
pub struct FoundData {
    /// The packet.
    pub data: Data,
    /// When it stops being fresh; [`UnixTime::ZERO`] if it never was.
    pub fresh_until: UnixTime,
    /// Whether it was fresh when it was read. What is fresh for a moment only may have become stale on its
    /// way; whoever asked for something fresh has got it all the same.
    pub is_fresh: bool,
}

/// The answer to a question.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The number of the question.
    pub question: u64,
    /// What was found; `None` if the store has nothing.
    pub found: Option<FoundData>,
}

/// Takes all answers in a list out of it. There are several where several were found at once, so that whoever
/// waits for them is woken once. Called from other threads.
pub type Answered = Arc<dyn Fn(&mut Vec<Reply>) + Send + Sync>;

/// Why a request was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Busy {
    /// As many requests wait as may.
    #[error("too many requests wait for the repository's disk")]
    Full,
    /// The service has ended.
    #[error("the repository has ended")]
    Ended,
}

/// Why a packet was not inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InsertError {
    /// The store refused it.
    #[error("refused: {0}")]
    Refused(Rejection),
    /// It could not be asked.
    #[error(transparent)]
    Busy(#[from] Busy),
}

/// What a service holds and has done, as of about a second ago.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceStatus {
    /// How much is held.
    pub stats: StoreStats,
    /// What was done.
    pub counters: StoreCounters,
    /// What was refused, by reason.
    pub rejections: RejectionCounters,
    /// Requests that were refused because too many waited.
    pub busy: u64,
}

/// A running service. It commits what it has and ends when dropped.
pub struct Service {
    handle: ServiceHandle,
    store_thread: Option<JoinHandle<Store>>,
    readers: Option<Readers>,
}

/// What other threads may look at.
#[derive(Debug, Default)]
struct Shared {
    status: Mutex<ServiceStatus>,
    busy: AtomicU64,
    /// Whether the store thread has been told that there are questions, or requests to be noted.
    has_questions: AtomicBool,
}

impl Service {
    /// Starts the threads.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn start(mut store: Store, config: ServiceConfig, answered: Answered) -> io::Result<Self> {
        let (tasks, receiver) = sync_channel(config.queue.max(1));
        let (questions, asked) = sync_channel(config.queue.max(1));
        let (filter, hot) = (Arc::clone(store.filter()), Arc::clone(store.catalogue().hot()));
        let names = store.name_hasher().clone();
        let shared = Arc::new(Shared::default());
        let readers = Readers::start(config.readers.max(1), config.remote_readers, &answered)?;
        let lookups = Arc::new(Mutex::new(Lookups::new(asked, readers.queue(), answered)));
        let disk = DiskThread::start(Arc::clone(&lookups), questions.clone())?;
        store.set_disk_executor(Some(Box::new(disk)));
        let thread = StoreThread::new(store, receiver, lookups, readers.queue(), Arc::clone(&shared), config);
        let thread = std::thread::Builder::new().name("repository".to_owned()).spawn(move || thread.run())?;
        let handle = ServiceHandle { tasks, questions, filter, names, hot, shared };
        Ok(Service { handle, store_thread: Some(thread), readers: Some(readers) })
    }

    /// What says "not here" without a question.
    pub fn filter(&self) -> &Arc<Filter> {
        &self.handle.filter
    }

    /// A way to reach the service from other threads.
    pub fn handle(&self) -> ServiceHandle {
        self.handle.clone()
    }

    /// Asks for the answer to an Interest; it comes with this number. Never waits.
    ///
    /// # Errors
    /// The question was not taken, and no answer will come.
    pub fn ask(&self, question: u64, interest: Interest) -> Result<(), Busy> {
        self.handle.ask(question, interest)
    }

    /// Offers a packet that nobody waits for. Never waits.
    ///
    /// # Errors
    /// It was not taken.
    pub fn offer(&self, data: Data) -> Result<(), Busy> {
        self.handle.offer(data)
    }

    /// Inserts a packet, and returns when it would survive a power cut.
    ///
    /// # Errors
    /// It was not stored.
    pub fn insert(&self, data: Data) -> Result<(), InsertError> {
        self.handle.insert(data)
    }

    /// Has something done with the store, and waits for it; `None` if the service has ended.
    pub fn call<R: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Store, UnixTime) -> R + Send + 'static,
    ) -> Option<R> {
        self.handle.call(act)
    }

    /// What it holds and has done.
    pub fn status(&self) -> ServiceStatus {
        self.handle.status()
    }

    /// Commits, brings the index up to date, ends, and gives the store back.
    pub fn stop(mut self) -> Option<Store> {
        self.end()
    }

    fn end(&mut self) -> Option<Store> {
        let thread = self.store_thread.take()?;
        let _ = self.handle.tasks.send(Task::Stop);
        let store = thread.join().ok();
        self.readers = None;
        store
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.end();
    }
}

/// Reaches a [`Service`] from any thread.
#[derive(Clone)]
pub struct ServiceHandle {
    tasks: SyncSender<Task>,
    questions: SyncSender<LookupMessage>,
    filter: Arc<Filter>,
    names: NameHasher,
    hot: Arc<HotObjects>,
    shared: Arc<Shared>,
}

impl std::fmt::Debug for ServiceHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServiceHandle").finish_non_exhaustive()
    }
}

impl ServiceHandle {
    /// What says "not here" without a question.
    pub fn filter(&self) -> &Arc<Filter> {
        &self.filter
    }

    /// The hashes of an Interest's name, as filter and objects have them.
    pub fn hashes(&self, interest: &Interest) -> PrefixHashes {
        self.names.hash(interest.dialect(), interest.name().components())
    }

    /// Reads what answers an Interest for a packet by its whole name, if that is known to be in memory. Where
    /// nothing comes of it there may be an answer all the same: [`ask`](Self::ask). Never waits. `hashes` are
    /// those of the Interest's name; `spare` gives memory of at least so many bytes, or nothing.
    pub fn read_in_memory(
        &self,
        now: UnixTime,
        interest: &Interest,
        hashes: &PrefixHashes,
        spare: impl FnOnce(usize) -> Option<SpareBuffer>,
    ) -> Option<FoundData> {
        let (data, arrival) = self.hot.read(now, interest, hashes, spare)?;
        if self.hot.has_many_requests() {
            self.wake();
        }
        Some(readers::found(now, data, arrival))
    }

    /// As [`Service::ask`].
    ///
    /// # Errors
    /// The question was not taken, and no answer will come.
    pub fn ask(&self, question: u64, interest: Interest) -> Result<(), Busy> {
        self.count_busy(self.questions.try_send(LookupMessage::Ask(question, interest)))?;
        self.wake();
        Ok(())
    }

    /// Has the store thread look for what others have left for it.
    fn wake(&self) {
        if !self.shared.has_questions.swap(true, Ordering::SeqCst) {
            // A store thread for which there is no room has something to do, and looks afterwards.
            let _ = self.tasks.try_send(Task::Look);
        }
    }

    /// As [`Service::offer`].
    ///
    /// # Errors
    /// It was not taken.
    pub fn offer(&self, data: Data) -> Result<(), Busy> {
        self.count_busy(self.tasks.try_send(Task::Insert(data, None)))
    }

    /// Inserts a packet; `done` is told when it would survive a power cut, or that it was refused. Waits for
    /// room in the queue, not for the disk.
    ///
    /// # Errors
    /// The service has ended, and `done` will not be called.
    pub fn insert_and_notify(
        &self,
        data: Data,
        done: impl FnOnce(Result<(), Rejection>) + Send + 'static,
    ) -> Result<(), Busy> {
        self.tasks.send(Task::Insert(data, Some(Box::new(done)))).map_err(|_| Busy::Ended)
    }

    /// Inserts packets that came together, and whoever brought them does not wait for them: they are
    /// committed when there are many, or after [`commit_after`](ServiceConfig::commit_after). `done` is told
    /// when all would survive a power cut, or why one of them was refused; the others are stored all the
    /// same. Waits for room in the queue, of which they take one place.
    ///
    /// # Errors
    /// The service has ended, and `done` will not be called.
    pub fn insert_many_and_notify(
        &self,
        packets: Vec<Data>,
        done: impl FnOnce(Result<(), Rejection>) + Send + 'static,
    ) -> Result<(), Busy> {
        self.tasks.send(Task::InsertMany(packets, Box::new(done))).map_err(|_| Busy::Ended)
    }

    /// As [`Service::insert`].
    ///
    /// # Errors
    /// It was not stored.
    pub fn insert(&self, data: Data) -> Result<(), InsertError> {
        let (sender, receiver) = sync_channel(1);
        self.insert_and_notify(data, move |result| {
            let _ = sender.send(result);
        })?;
        receiver.recv().map_err(|_| Busy::Ended)?.map_err(InsertError::Refused)
    }

    /// As [`Service::call`].
    pub fn call<R: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Store, UnixTime) -> R + Send + 'static,
    ) -> Option<R> {
        let (sender, receiver) = sync_channel(1);
        let act = move |store: &mut Store, now| {
            let _ = sender.send(act(store, now));
        };
        self.tasks.send(Task::Call(Box::new(act))).ok()?;
        receiver.recv().ok()
    }

    /// Has something done with the store, without waiting for it.
    ///
    /// # Errors
    /// The service has ended, and nothing will be done.
    pub fn post(&self, act: impl FnOnce(&mut Store, UnixTime) + Send + 'static) -> Result<(), Busy> {
        self.tasks.send(Task::Call(Box::new(act))).map_err(|_| Busy::Ended)
    }

    /// As [`Service::status`].
    pub fn status(&self) -> ServiceStatus {
        let status = *self.shared.status.lock().unwrap_or_else(PoisonError::into_inner);
        ServiceStatus { busy: self.shared.busy.load(Ordering::Relaxed), ..status }
    }

    fn count_busy<T>(&self, sent: Result<(), TrySendError<T>>) -> Result<(), Busy> {
        sent.map_err(|error| {
            self.shared.busy.fetch_add(1, Ordering::Relaxed);
            match error {
                TrySendError::Full(_) => Busy::Full,
                TrySendError::Disconnected(_) => Busy::Ended,
            }
        })
    }
}

#[cfg(test)]
mod hot_tests;
#[cfg(test)]
mod tests;
