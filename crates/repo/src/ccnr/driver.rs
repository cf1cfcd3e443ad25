//! A [`Ccnr`] whose store is that of a service. What is to be sent is its owner's business.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use packet::UnixTime;
use packet::time::Instant;
use packet::{Data, Dialect, Interest, Name, Now};

use super::{Ccnr, CcnrCounters, Effect, InterestOrigin, NamespaceChange, StoreAnswer, StoreQuery};
use crate::limits::Rejection;
use crate::service::ServiceHandle;
use crate::store::{Answer, Store};

/// What is to be sent, or told.
#[derive(Clone, Debug)]
pub enum Outgoing {
    /// An Interest.
    Interest(Interest),
    /// An answer.
    Data(Data),
    /// Objects are taken below other names now: Interests for the new ones are to lead here.
    Namespaces(NamespaceChange),
    /// An object was fetched.
    Fetched {
        /// Its name.
        object: Name,
        /// Packets stored.
        stored: u64,
        /// Whether these are all.
        is_complete: bool,
    },
}

/// Called by the store's thread, which is one, when it has said something: [`CcnrDriver::turn`] is due.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// The store's thread says something, and wakes whoever waits for it.
#[derive(Clone)]
struct Notifier {
    results: Sender<StoreResult>,
    wake: Wake,
}

impl Notifier {
    fn notify(&self, result: StoreResult) {
        // Nobody listens any more when the driver is gone.
        let _ = self.results.send(result);
        (self.wake)();
    }
}

/// What the store's thread says.
enum StoreResult {
    Answer(u64, StoreAnswer),
    Stored(u64, Result<(), Rejection>),
}

/// Carries out what a [`Ccnr`] wants of its store. The store's threads do the work; nothing waits for them
/// but where their queue is full.
///
/// # Calling order
/// Give it what comes, call [`turn`](Self::turn), and send what [`poll_outgoing`](Self::poll_outgoing) gives.
/// Do that again at [`next_deadline`](Self::next_deadline), and when it wakes its owner.
pub struct CcnrDriver {
    ccnr: Ccnr,
    service: ServiceHandle,
    notifier: Notifier,
    told: Receiver<StoreResult>,
    /// Answers of the store that are still to come.
    waiting: usize,
    outgoing: VecDeque<Outgoing>,
}

impl CcnrDriver {
    /// A repository whose packets are in this service's store, which wakes its owner by `wake`.
    pub fn new(ccnr: Ccnr, service: ServiceHandle, wake: Wake) -> Self {
        let (results, told) = channel();
        let notifier = Notifier { results, wake };
        CcnrDriver { ccnr, service, notifier, told, waiting: 0, outgoing: VecDeque::new() }
    }

    /// The repository itself.
    pub fn ccnr(&self) -> &Ccnr {
        &self.ccnr
    }

    /// What clients have asked for.
    pub fn counters(&self) -> &CcnrCounters {
        self.ccnr.counters()
    }

    /// As [`Ccnr::handle_interest`].
    pub fn handle_interest(&mut self, now: Now, interest: &Interest, origin: InterestOrigin) {
        self.ccnr.handle_interest(now, interest, origin);
    }

    /// As [`Ccnr::refuse_interest`].
    pub fn refuse_interest(&mut self) {
        self.ccnr.refuse_interest();
    }

    /// As [`Ccnr::handle_data`].
    pub fn handle_data(&mut self, now: Now, data: &Data) {
        self.ccnr.handle_data(now, data);
    }

    /// Takes what the store has said, does what is due, and asks the store for what is wanted.
    pub fn turn(&mut self, now: Now) {
        while let Ok(told) = self.told.try_recv() {
            self.waiting = self.waiting.saturating_sub(1);
            match told {
                StoreResult::Answer(number, answer) => self.ccnr.handle_answer(now, number, answer),
                StoreResult::Stored(fetch, result) => self.ccnr.handle_stored(now, fetch, result),
            }
        }
        if self.ccnr.next_deadline() <= now.instant {
            self.ccnr.handle_timeout(now);
        }
        while let Some(effect) = self.ccnr.poll_effect() {
            self.carry_out(now, effect);
        }
    }

    /// What is to be sent next.
    pub fn poll_outgoing(&mut self) -> Option<Outgoing> {
        self.outgoing.pop_front()
    }

    /// When [`turn`](Self::turn) is due, whatever the store says.
    pub fn next_deadline(&self) -> Instant {
        self.ccnr.next_deadline()
    }

    /// Whether the store has still to say something, of which it wakes its owner.
    pub fn is_waiting(&self) -> bool {
        self.waiting > 0
    }

    fn carry_out(&mut self, now: Now, effect: Effect) {
        match effect {
            Effect::Send(interest) => self.outgoing.push_back(Outgoing::Interest(interest)),
            Effect::Answer(data) => self.outgoing.push_back(Outgoing::Data(data)),
            Effect::Namespaces(change) => self.outgoing.push_back(Outgoing::Namespaces(change)),
            Effect::Fetched { object, stored, is_complete } => {
                self.outgoing.push_back(Outgoing::Fetched { object, stored, is_complete });
            }
            Effect::Store { fetch, data } => {
                let notifier = self.notifier.clone();
                let done = move |result| notifier.notify(StoreResult::Stored(fetch, result));
                match self.service.insert_and_notify(data, done) {
                    Ok(()) => self.waiting += 1,
                    Err(_) => self.ccnr.handle_stored(now, fetch, Err(Rejection::DiskFailed)),
                }
            }
            Effect::Ask { number, question } => {
                let notifier = self.notifier.clone();
                let ask = move |store: &mut Store, now: UnixTime| {
                    notifier.notify(StoreResult::Answer(number, answer(store, now, &question)));
                };
                // A service that has ended answers nothing any more.
                self.waiting += usize::from(self.service.post(ask).is_ok());
            }
        }
    }
}

fn answer(store: &mut Store, now: UnixTime, question: &StoreQuery) -> StoreAnswer {
    match question {
        StoreQuery::Packet(interest) => StoreAnswer::Packet(match store.answer(now, interest) {
            Some(Answer::Data(data)) => Some(data),
            _ => None,
        }),
        StoreQuery::Children(prefix) => StoreAnswer::Children(store.children(Dialect::Ccnx, prefix.as_ref())),
    }
}
