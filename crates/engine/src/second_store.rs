//! A source of Data behind the content store that answers later, such as a repository on a disk.
//!
//! An Interest that the content store cannot answer is looked up in it before it goes upstream. The
//! Interest is pending meanwhile like any other. Where the store says in memory that it has nothing, where
//! too many lookups wait, or where no answer comes in time, the Interest goes upstream as if there were no
//! such store. The engine does no I/O: lookups and offers go out as values, answers come in as calls.
//!
//! What such a store finds for some Interests only stands in for what upstream would say now, such as which
//! version of an object is the newest. Then the Interest goes upstream first, and the store is asked when
//! nobody upstream can be asked, all have refused, or none has answered in half of the Interest's lifetime.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use packet::time::{Duration, Instant};
use packet::{Data, Interest, NameHash, PrefixHashes};

use crate::tables::pending::PendingId;

/// What the engine asks of a second store on the way of a packet. Implementations answer from memory at once.
pub trait SecondStore: Send + Sync + fmt::Debug {
    /// False if the store certainly has no answer. Asked for every Interest that the content store has none
    /// for, so it must neither wait nor allocate. `hashes` are those of the Interest's name under
    /// [`Engine::hasher`](crate::Engine::hasher).
    fn may_have(&self, interest: &Interest, hashes: &PrefixHashes) -> bool;

    /// Whether the store's answer to this Interest would only stand in for that of upstream, which is to be
    /// asked first. Asked where [`may_have`](Self::may_have) says yes.
    fn stands_in(&self, interest: &Interest) -> bool {
        let _ = interest;
        false
    }

    /// Whether this Data, which came by a face and answered an Interest, is to be offered to the store.
    fn wants(&self, data: &Data) -> bool;
}

/// How far the engine waits for a second store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecondStoreConfig {
    /// Interests that may wait for an answer at once; others go upstream. Those of one origin
    /// ([`FaceConfig::origin`](crate::FaceConfig::origin)) are never more than there is room left for.
    pub max_waiting: usize,
    /// How long one waits before it goes upstream.
    pub timeout: Duration,
}

impl Default for SecondStoreConfig {
    fn default() -> Self {
        SecondStoreConfig { max_waiting: 4096, timeout: Duration::from_millis(100) }
    }
}

/// The number of a lookup to the second store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LookupId(pub u64);

/// Something for the second store.
#[derive(Clone, Debug)]
pub enum SecondStoreRequest {
    /// It is asked for the answer to an Interest: [`Engine::receive_found`](crate::Engine::receive_found) or
    /// [`Engine::receive_absent`](crate::Engine::receive_absent) takes it.
    LookUp(LookupId, Interest),
    /// It may keep this Data.
    Offer(Data),
}

packet::counters! {
    /// What became of lookups and offers.
    pub struct SecondStoreCounters {
        /// Lookups begun.
        pub asked = "asked",
        /// Interests answered by the store.
        pub found = "found",
        /// Lookups that found nothing after all.
        pub absent = "absent",
        /// Lookups that were not answered in time.
        pub overdue = "overdue",
        /// Interests that went upstream at once because too many waited, of all or of their origin.
        pub queue_full = "queue-full",
        /// Data offered.
        pub offered = "offered",
        /// Offers lost because nobody polled them.
        pub offers_lost = "offers-lost",
    }
}

/// Offers not yet polled, at most.
const MAX_OFFERS: usize = 4096;

/// The store, and what waits for it.
#[derive(Debug)]
pub(crate) struct PendingLookups {
    pub(crate) store: Arc<dyn SecondStore>,
    pub(crate) config: SecondStoreConfig,
    pub(crate) counters: SecondStoreCounters,
    /// Lookups in the order of their numbers, which is that of their deadlines; `None` where one has been
    /// answered. The first is never `None`.
    waiting: VecDeque<(Instant, Option<PendingLookup>)>,
    /// The number of the first of them.
    first: u64,
    /// How many of those that are not answered come from each origin.
    by_origin: BTreeMap<u64, usize>,
    /// Lookups that begin if upstream has not answered by then. The number tells those apart that are due
    /// at one time.
    later: BTreeMap<(Instant, u64), PendingLookup>,
    next_later: u64,
    effects: VecDeque<SecondStoreRequest>,
    offers: usize,
}

/// The pending Interest that a lookup is about. Its number may be another's by the time of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PendingLookup {
    pub(crate) id: PendingId,
    pub(crate) hash: NameHash,
    /// Who asks, if that is somebody who may not take all the room.
    pub(crate) origin: Option<u64>,
}

impl PendingLookups {
    /// Its lookups are numbered from `first` on, so that nobody takes answers to those of another for its
    /// own.
    pub(crate) fn new(store: Arc<dyn SecondStore>, config: SecondStoreConfig, first: u64) -> Self {
        PendingLookups {
            store,
            config,
            counters: SecondStoreCounters::default(),
            waiting: VecDeque::new(),
            first,
            by_origin: BTreeMap::new(),
            later: BTreeMap::new(),
            next_later: 0,
            effects: VecDeque::new(),
            offers: 0,
        }
    }

    /// Asks, if there is room for one more lookup.
    pub(crate) fn ask(&mut self, now: Instant, waiting: PendingLookup, interest: &Interest) -> bool {
        if !self.has_room(waiting.origin) {
            self.counters.queue_full += 1;
            return false;
        }
        self.enter(&waiting);
        let id = LookupId(self.first + self.waiting.len() as u64);
        self.waiting.push_back((now + self.config.timeout, Some(waiting)));
        self.effects.push_back(SecondStoreRequest::LookUp(id, interest.clone()));
        self.counters.asked += 1;
        true
    }

    /// Notes a lookup that is to begin at `when` if upstream has not answered, if there is room for one
    /// more.
    pub(crate) fn ask_later(&mut self, when: Instant, waiting: PendingLookup) -> bool {
        if !self.has_room(waiting.origin) {
            self.counters.queue_full += 1;
            return false;
        }
        self.enter(&waiting);
        self.later.insert((when, self.next_later), waiting);
        self.next_later += 1;
        true
    }

    /// Takes a lookup that is due to begin, unless upstream has answered.
    pub(crate) fn due_later(&mut self, now: Instant) -> Option<PendingLookup> {
        let first = self.later.first_entry().filter(|first| first.key().0 <= now)?;
        let waiting = first.remove();
        self.leave(Some(&waiting));
        Some(waiting)
    }

    /// Whether one more lookup may wait. However many an origin has, as much room is left for others: who
    /// asks for a thousand things at once does not keep the one from the store that somebody else asks for.
    fn has_room(&self, origin: Option<u64>) -> bool {
        let left = self.config.max_waiting.saturating_sub(self.waiting.len() + self.later.len());
        let own = origin.and_then(|origin| self.by_origin.get(&origin)).copied().unwrap_or(0);
        left > own
    }

    /// A lookup of an origin waits.
    fn enter(&mut self, waiting: &PendingLookup) {
        if let Some(origin) = waiting.origin {
            *self.by_origin.entry(origin).or_default() += 1;
        }
    }

    /// A lookup of an origin does not wait any more.
    fn leave(&mut self, waiting: Option<&PendingLookup>) {
        let Some(origin) = waiting.and_then(|waiting| waiting.origin) else { return };
        if let Some(own) = self.by_origin.get_mut(&origin) {
            *own -= 1;
            if *own == 0 {
                self.by_origin.remove(&origin);
            }
        }
    }

    pub(crate) fn offer(&mut self, data: &Data) {
        if self.offers >= MAX_OFFERS {
            self.counters.offers_lost += 1;
            return;
        }
        self.offers += 1;
        self.counters.offered += 1;
        self.effects.push_back(SecondStoreRequest::Offer(data.clone()));
    }

    /// What a lookup was about, unless it has been answered or given up.
    pub(crate) fn answered(&mut self, LookupId(number): LookupId) -> Option<PendingLookup> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let waiting = self.waiting.get_mut(place)?.1.take();
        self.leave(waiting.as_ref());
        self.forget_answered();
        waiting
    }

    /// Takes a lookup that nobody answered in time.
    pub(crate) fn overdue(&mut self, now: Instant) -> Option<PendingLookup> {
        if self.waiting.front().is_none_or(|(deadline, _)| *deadline > now) {
            return None;
        }
        let waiting = self.waiting.front_mut()?.1.take();
        self.leave(waiting.as_ref());
        self.forget_answered();
        self.counters.overdue += 1;
        waiting
    }

    pub(crate) fn next_deadline(&self) -> Instant {
        let overdue = self.waiting.front().map_or(Instant::NEVER, |(deadline, _)| *deadline);
        let later = self.later.first_key_value().map_or(Instant::NEVER, |((when, _), _)| *when);
        overdue.min(later)
    }

    /// All lookups, which will not be answered any more.
    pub(crate) fn into_waiting(self) -> impl Iterator<Item = PendingLookup> {
        self.waiting.into_iter().filter_map(|(_, waiting)| waiting)
    }

    pub(crate) fn poll(&mut self) -> Option<SecondStoreRequest> {
        let effect = self.effects.pop_front()?;
        self.offers -= usize::from(matches!(effect, SecondStoreRequest::Offer(_)));
        Some(effect)
    }

    fn forget_answered(&mut self) {
        while let Some((_, None)) = self.waiting.front() {
            self.waiting.pop_front();
            self.first += 1;
        }
    }
}
