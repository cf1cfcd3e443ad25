//! Parts at work beside each other, window by window.

use std::hint::spin_loop;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use packet::time::{Duration, Instant};

use super::order::{Order, OrderedCrossing, Window};
use super::partition::Partition;
use crate::error::SimError;
use crate::network::Network;
use crate::trace::Trace;
use crate::trace::journal::Crossing;

/// Windows after which is looked whether dividing was worth it.
const WINDOWS_LOOKED_AT: u64 = 16;
/// Windows grow from this to the lookahead …
const FIRST_SPAN: Duration = Duration::from_millis(1);
/// … as long as no more events than this happen in one, which bounds what parts have to remember.
const MAX_EVENTS: u64 = 1 << 17;
/// Taking so many nodes, channels and applications apart and together costs as much as a window.
const PLACES_A_WINDOW: usize = 400;
/// Numbers remembered, eight to 24 bytes each, before the parts are put together and divided anew.
const MAX_NUMBERS: u64 = 1 << 22;
/// How often a thread looks whether it is its turn before it lets others run: windows take microseconds, and
/// waking up takes as long.
const LOOKS: u32 = 4_000;

/// What the threads tell each other.
#[derive(Default)]
struct Gate {
    /// How many windows have begun.
    windows: AtomicU64,
    /// When the latest ends, in nanoseconds.
    until: AtomicU64,
    /// How many threads beside the first are done with it.
    finished: AtomicUsize,
    /// Nobody has anything to do any more, or somebody has panicked.
    is_over: AtomicBool,
}

/// Opens the gate for good when dropped, so that nobody waits for one who has panicked.
struct Closing<'a>(&'a Gate);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Release);
    }
}

impl Gate {
    /// Waits until something is so; false if it will not be any more.
    fn wait(&self, is_so: impl Fn() -> bool) -> bool {
        let mut looks = 0;
        while !is_so() {
            if self.is_over.load(Ordering::Acquire) {
                return false;
            }
            looks += 1;
            if looks < LOOKS {
                spin_loop();
            } else {
                thread::yield_now();
            }
        }
        true
    }

    fn begin(&self, until: Instant) {
        self.until.store(until.as_nanos(), Ordering::Relaxed);
        self.finished.store(0, Ordering::Relaxed);
        self.windows.fetch_add(1, Ordering::Release);
    }

    /// Works on one part, window by window, until all is over.
    fn work(&self, part: &Mutex<Worker>) {
        let _closing = Closing(self);
        let mut windows = 0;
        while self.wait(|| self.windows.load(Ordering::Acquire) != windows) {
            windows += 1;
            let until = Instant::from_nanos(self.until.load(Ordering::Relaxed));
            locked(part).run(until);
            self.finished.fetch_add(1, Ordering::Release);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A part, and what went wrong in it.
struct Worker {
    network: Network,
    /// What has come from other parts since the last window.
    arrivals: Vec<OrderedCrossing>,
    problem: Option<SimError>,
}

impl Worker {
    /// When the next event is.
    fn first_event_at(&self) -> Option<Instant> {
        let planned = self.network.core.queue.first().map(|event| event.turn.at);
        let arriving = self.arrivals.iter().map(|handover| handover.turn.at).min();
        planned.into_iter().chain(arriving).min()
    }

    /// Puts what has come on its way.
    fn take_arrivals(&mut self) {
        for OrderedCrossing { crossing, turn } in self.arrivals.drain(..) {
            self.network.core.take_in(crossing, turn);
        }
    }

    /// Lets time pass up to, and without, `until`.
    fn run(&mut self, until: Instant) {
        self.take_arrivals();
        let Worker { network, problem, .. } = self;
        while let Some(turn) = network.core.queue.first().map(|event| event.turn)
            && turn.at < until
        {
            if let Err(error) = network.step() {
                *problem = Some(error);
                return;
            }
            network.core.note_done(turn);
        }
    }
}

impl Network {
    /// Lets time pass up to, and without, `horizon`, divided; less, if that is not worth it, and then it
    /// gives false.
    pub(super) fn run_divided(&mut self, partition: &Partition, horizon: Instant) -> Result<bool, SimError> {
        let places = self.core.nodes.len() + self.core.channels.len() + self.core.attachments.len();
        let order = Order::new(self.core.queue.turns(), partition.parts());
        let trace = std::mem::take(&mut self.core.trace);
        let parts = self.split(partition, &order, &trace);
        let worker = |network| Mutex::new(Worker { network, arrivals: Vec::new(), problem: None });
        let workers: Vec<Mutex<Worker>> = parts.into_iter().map(worker).collect();
        let gate = Gate::default();
        let mut coordinator = Coordinator {
            gate: &gate,
            workers: &workers,
            partition,
            order,
            trace,
            span: FIRST_SPAN,
            windows: (places / PLACES_A_WINDOW) as u64,
            events: 0,
            beside: 0,
        };
        let was_worth_it = thread::scope(|scope| {
            let closing = Closing(&gate);
            let others = workers.iter().skip(1);
            let threads: Vec<_> = others.map(|worker| scope.spawn(|| gate.work(worker))).collect();
            let was_worth_it = coordinator.conduct(horizon, self.cores.worth_it);
            drop(closing);
            for thread in threads {
                thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            }
            was_worth_it
        });
        let Coordinator { order, trace, events, .. } = coordinator;
        let mut problem = None;
        let mut parts = Vec::new();
        for worker in workers {
            let mut worker = worker.into_inner().unwrap_or_else(PoisonError::into_inner);
            worker.take_arrivals();
            problem = problem.or(worker.problem);
            parts.push(worker.network);
        }
        self.core.trace = trace;
        self.put_together(parts, partition, &order);
        self.cores.events += events;
        problem.map_or(Ok(was_worth_it), Err)
    }
}

/// Has all parts work window after window, and hands over what crosses between them.
struct Coordinator<'a> {
    gate: &'a Gate,
    workers: &'a [Mutex<Worker>],
    partition: &'a Partition,
    order: Order,
    trace: Trace,
    /// How long windows are at present, if the lookahead allows it.
    span: Duration,
    /// Windows so far, and what dividing costs in windows.
    windows: u64,
    /// Events so far.
    events: u64,
    /// Those of them that took no time, because a part with more of them was at work meanwhile.
    beside: u64,
}

impl Coordinator<'_> {
    /// Goes on until `horizon`, or until the parts had better be put together; false if dividing was not
    /// worth it.
    fn conduct(&mut self, horizon: Instant, worth_it: u64) -> bool {
        let Some((own, others)) = self.workers.split_first() else { return false };
        let mut in_a_row = 0;
        while let Some(begin) = self.first_event_at().filter(|at| *at < horizon) {
            let until = (begin + self.span.min(self.partition.lookahead())).min(horizon);
            self.gate.begin(until);
            locked(own).run(until);
            if !self.gate.wait(|| self.gate.finished.load(Ordering::Acquire) == others.len()) {
                break;
            }
            let before = self.events;
            let has_failed = self.settle(until);
            if has_failed || self.order.len() > MAX_NUMBERS || self.order.is_narrow() {
                break;
            }
            match self.events - before {
                ..MAX_EVENTS => self.span = (self.span * 2).min(self.partition.lookahead()),
                _ => self.span = (self.span / 2).max(FIRST_SPAN),
            }
            self.windows += 1;
            in_a_row += 1;
            if in_a_row == WINDOWS_LOOKED_AT {
                if self.beside < worth_it * self.windows {
                    return false;
                }
                (in_a_row, self.windows, self.beside) = (0, 0, 0);
            }
        }
        self.beside >= worth_it * self.windows
    }

    fn first_event_at(&self) -> Option<Instant> {
        self.workers.iter().filter_map(|worker| locked(worker).first_event_at()).min()
    }

    /// Puts in order what a window has brought, and hands over what crosses; whether something went wrong.
    fn settle(&mut self, until: Instant) -> bool {
        let mut workers: Vec<MutexGuard<'_, Worker>> = self.workers.iter().map(locked).collect();
        let has_failed = workers.iter().any(|worker| worker.problem.is_some());
        let mut journals: Vec<_> =
            workers.iter_mut().map(|worker| worker.network.core.take_notes()).collect();
        let of_parts = journals.iter().map(|(journal, _)| journal.len());
        let (all, largest) = of_parts.fold((0, 0), |(all, most), count| (all + count, count.max(most)));
        self.events += all;
        self.beside += all - largest;
        let mut windows: Vec<Window<'_>> =
            journals.iter_mut().map(|(journal, notes)| Window { journal, notes }).collect();
        let partition = self.partition;
        let receiver_of = |crossing: &Crossing| partition.receiver_of(crossing.channel);
        self.order.put_in_order(&mut windows, &mut self.trace, receiver_of, |part, handover| {
            debug_assert!(handover.turn.at >= until, "it comes within the window in which it was sent");
            if let Some(worker) = workers.get_mut(part) {
                worker.arrivals.push(handover);
            }
        });
        for (worker, (journal, notes)) in workers.iter_mut().zip(journals) {
            worker.network.core.put_notes_back(journal, notes);
        }
        has_failed
    }
}
