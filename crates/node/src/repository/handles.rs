//! Where data plane and repositories meet.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use engine::SecondStore;
use packet::{Data, Interest, NameHasher, PrefixHashes, SpareBuffer, UnixTime};
use repo::ObjectName;
use repo::service::{self, Busy, FoundData, ServiceHandle};

use crate::config::KeepRule;

/// What the data plane asks and offers by.
#[derive(Debug)]
pub(crate) struct RepositoryHandles {
    ends: Vec<(KeepRule, ServiceHandle)>,
    names: NameHasher,
}

impl RepositoryHandles {
    pub(crate) fn new(ends: Vec<(KeepRule, ServiceHandle)>, names: NameHasher) -> Self {
        RepositoryHandles { ends, names }
    }

    /// The hashes of an Interest's name.
    pub(crate) fn hashes(&self, interest: &Interest) -> PrefixHashes {
        self.names.hash(interest.dialect(), interest.name().components())
    }

    /// What a repository has in memory and knows by the Interest's whole name. `spare` gives memory for
    /// a packet, or nothing. Never waits.
    pub(crate) fn read_in_memory(
        &self,
        now: UnixTime,
        interest: &Interest,
        hashes: &PrefixHashes,
        spare: &mut dyn FnMut(usize) -> Option<SpareBuffer>,
    ) -> Option<FoundData> {
        self.ends.iter().find_map(|(_, end)| end.read_in_memory(now, interest, hashes, &mut *spare))
    }

    /// Asks the first repository from number `from` on that may answer and has room for a lookup; false if
    /// there is none. `hashes` are those of the Interest's name.
    pub(crate) fn ask(&self, from: usize, lookup: u64, interest: &Interest, hashes: &PrefixHashes) -> bool {
        self.ends.iter().skip(from).any(|(_, end)| {
            end.filter().may_answer(interest, hashes) && end.ask(lookup, interest.clone()).is_ok()
        })
    }

    /// Whether a repository behind number `number` may answer as well.
    pub(crate) fn has_more_behind(&self, number: usize) -> bool {
        number + 1 < self.ends.len()
    }

    /// Offers Data to the repository that keeps such.
    pub(crate) fn offer(&self, data: Data) -> Result<(), Busy> {
        let mut keeping = self.ends.iter().filter(|(kept, _)| kept.is_kept(&data));
        let Some(first) = keeping.next() else { return Ok(()) };
        let others: Vec<_> = keeping.collect();
        if others.is_empty() {
            return first.1.offer(data);
        }
        let object = ObjectName::of_packet(data.dialect(), data.name()).0;
        let hash = self.names.hash(data.dialect(), object.name.components()).whole().0;
        let chosen = (hash >> 32) as usize % (others.len() + 1);
        let end = chosen.checked_sub(1).and_then(|place| others.get(place)).copied().unwrap_or(first);
        end.1.offer(data)
    }
}

impl SecondStore for RepositoryHandles {
    fn may_have(&self, interest: &Interest, hashes: &PrefixHashes) -> bool {
        self.ends.iter().any(|(_, end)| end.filter().may_answer(interest, hashes))
    }

    /// A repository knows the newest version that it holds. Whoever publishes knows of newer ones.
    fn stands_in(&self, interest: &Interest) -> bool {
        repo::filter::asks_for_metadata(interest)
    }

    fn wants(&self, data: &Data) -> bool {
        self.ends.iter().any(|(kept, _)| kept.is_kept(data))
    }
}

/// What a repository says to a lookup.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) lookup: u64,
    /// Which repository.
    pub(crate) number: usize,
    pub(crate) found: Option<FoundData>,
}

/// Answers on their way to the data plane. There are never more than lookups that wait.
#[derive(Debug)]
pub(crate) struct Answers {
    replies: Mutex<Vec<Reply>>,
    /// Whether there are any, so that the data plane need not look.
    has_some: AtomicBool,
    waker: Arc<OwnedFd>,
}

impl Answers {
    pub(crate) fn new(waker: Arc<OwnedFd>) -> Self {
        Answers { replies: Mutex::default(), has_some: AtomicBool::new(false), waker }
    }

    /// Takes what repository number `number` says.
    pub(crate) fn put(&self, number: usize, said: &mut Vec<service::Reply>) {
        let replies = said.drain(..).map(|service::Reply { question, found }| Reply {
            lookup: question,
            number,
            found,
        });
        self.replies.lock().unwrap_or_else(PoisonError::into_inner).extend(replies);
        if !self.has_some.swap(true, Ordering::AcqRel) {
            // It is awake already if there is no room for one more signal.
            let _ = rustix::io::write(&*self.waker, &1u64.to_ne_bytes());
        }
    }

    /// Puts all answers that have come since the last call into a list that is empty.
    pub(crate) fn take(&self, into: &mut Vec<Reply>) {
        if self.has_some.load(Ordering::Acquire) {
            let mut replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
            self.has_some.store(false, Ordering::Release);
            std::mem::swap(&mut *replies, into);
        }
    }
}
