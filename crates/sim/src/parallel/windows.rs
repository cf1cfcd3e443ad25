//! Parts at work beside each other, window by window.
//!
//! What a part sends within a window arrives a lookahead later at the earliest. Windows are half as long, so
//! that it arrives in the window after the next: one is put in order while the next is at work, by the thread
//! that is done first.

use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use packet::time::{Duration, Instant};

use super::gate::{Closing, Gate};
use super::order::{Order, OrderedCrossing};
use super::partition::Partition;
use super::settling::Settling;
use crate::arena::{Arena, PartId};
use crate::error::SimError;
use crate::network::Network;

/// Windows after which is looked whether dividing was worth it.
const WINDOWS_LOOKED_AT: u64 = 16;
/// Windows grow from this to half of the lookahead …
const FIRST_SPAN: Duration = Duration::from_micros(500);
/// … as long as no more events than this happen in one, which bounds what parts have to remember.
const MAX_EVENTS: u64 = 1 << 16;
/// Taking so many nodes, channels and applications apart and together costs as much as a window.
const PLACES_A_WINDOW: usize = 400;
/// Numbers remembered, eight to 24 bytes each, before the parts are put together and divided anew.
const MAX_NUMBERS: u64 = 1 << 22;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A part, and what went wrong in it.
struct Worker {
    network: Network,
    /// What has come from other parts, and is not on its way yet.
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
            debug_assert!(turn.at >= self.network.core.now, "it comes before what has happened there");
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
        let coordinator = Coordinator {
            gate: Gate::default(),
            workers: parts.into_iter().map(worker).collect(),
            settling: Mutex::new(Settling::new(order, trace, partition.parts())),
            partition,
        };
        let mut progress = Progress {
            span: FIRST_SPAN,
            windows: (places / PLACES_A_WINDOW) as u64,
            events: 0,
            beside: 0,
            in_a_row: 0,
        };
        let was_worth_it = thread::scope(|scope| {
            let closing = Closing(&coordinator.gate);
            let others = coordinator.workers.iter().skip(1);
            let work = |worker| coordinator.gate.work(|until| coordinator.run(worker, until));
            let threads: Vec<_> = others.map(|worker| scope.spawn(move || work(worker))).collect();
            let was_worth_it = coordinator.conduct(&mut progress, horizon, self.cores.worth_it);
            drop(closing);
            for thread in threads {
                thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            }
            was_worth_it
        });
        let Coordinator { workers, settling, .. } = coordinator;
        let Settling { order, trace, .. } = settling.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut problem = None;
        let mut parts = Arena::default();
        for worker in workers {
            let mut worker = worker.into_inner().unwrap_or_else(PoisonError::into_inner);
            worker.take_arrivals();
            problem = problem.or(worker.problem);
            parts.push(worker.network);
        }
        self.core.trace = trace;
        self.put_together(parts, partition, &order);
        self.cores.events += progress.events;
        problem.map_or(Ok(was_worth_it), Err)
    }
}

/// Has all parts work window after window, and hands over what crosses between them.
struct Coordinator<'a> {
    gate: Gate,
    workers: Arena<PartId, Mutex<Worker>>,
    settling: Mutex<Settling>,
    partition: &'a Partition,
}

/// How far a division is, and what it brought.
struct Progress {
    /// How long windows are at present, if the lookahead allows it.
    span: Duration,
    /// Windows so far, and what dividing costs in windows.
    windows: u64,
    /// Events so far.
    events: u64,
    /// Those of them that took no time, because a part with more of them was at work meanwhile.
    beside: u64,
    /// Windows since it was last looked whether dividing is worth it.
    in_a_row: u64,
}

impl Progress {
    /// Takes in how many events the parts had in a window.
    fn add_window(&mut self, of_parts: impl Iterator<Item = u64>, longest: Duration) {
        let (all, largest) = of_parts.fold((0, 0), |(all, most), count| (all + count, count.max(most)));
        self.events += all;
        self.beside += all - largest;
        self.span = match all {
            ..MAX_EVENTS => (self.span * 2).min(longest),
            _ => (self.span / 2).max(FIRST_SPAN),
        };
        self.windows += 1;
        self.in_a_row += 1;
    }

    /// Whether enough happened beside other things, of what was looked at.
    fn is_worth_it(&self, worth_it: u64) -> bool {
        self.beside >= worth_it * self.windows
    }
}

impl Coordinator<'_> {
    /// Works on a part up to `until`, and puts the window before in order if nobody else does.
    fn run(&self, worker: &Mutex<Worker>, until: Instant) {
        locked(worker).run(until);
        if self.gate.is_to_settle() {
            locked(&self.settling).settle(self.partition);
        }
    }

    /// Goes on until `horizon`, or until the parts had better be put together; false if dividing was not
    /// worth it.
    fn conduct(&self, progress: &mut Progress, horizon: Instant, worth_it: u64) -> bool {
        let Some((own, others)) = self.workers.split_first() else { return false };
        let half = self.partition.lookahead() / 2;
        // When what was sent in the window before can arrive.
        let mut reach = None;
        let mut was_worth_it = true;
        while let Some(begin) = self.next_event_at().filter(|at| *at < horizon) {
            if reach.is_some_and(|reach| begin >= reach) {
                self.settle(&mut reach);
            }
            let longest = begin + progress.span.min(half);
            let until = longest.min(reach.unwrap_or(longest)).min(horizon);
            self.gate.begin(until, reach.is_some());
            self.run(own, until);
            if !self.gate.wait_for(others.len()) {
                return was_worth_it;
            }
            reach = Some(begin + self.partition.lookahead());
            if self.hand_over(progress, half) {
                break;
            }
            if progress.in_a_row == WINDOWS_LOOKED_AT {
                was_worth_it = progress.is_worth_it(worth_it);
                if !was_worth_it {
                    break;
                }
                (progress.in_a_row, progress.windows, progress.beside) = (0, 0, 0);
            }
        }
        self.settle(&mut reach);
        was_worth_it && progress.is_worth_it(worth_it)
    }

    /// When the next event is, also of what is not in order yet.
    fn next_event_at(&self) -> Option<Instant> {
        let of_parts = self.workers.iter().filter_map(|worker| locked(worker).first_event_at()).min();
        of_parts.into_iter().chain(locked(&self.settling).first_crossing_at()).min()
    }

    /// Puts the window before in order while nobody works, and hands over what crosses.
    fn settle(&self, reach: &mut Option<Instant>) {
        if reach.take().is_some() {
            let mut settling = locked(&self.settling);
            settling.settle(self.partition);
            for (part, worker) in self.workers.indexed() {
                settling.hand_over(part, &mut locked(worker).arrivals);
            }
        }
    }

    /// Takes what the parts have noted in a window, and gives them what was put in order meanwhile; whether
    /// they had better stop.
    fn hand_over(&self, progress: &mut Progress, longest: Duration) -> bool {
        let mut settling = locked(&self.settling);
        let mut has_failed = false;
        for (part, worker) in self.workers.indexed() {
            let mut worker = locked(worker);
            has_failed |= worker.problem.is_some();
            worker.network.core.swap_notes(settling.window_of(part));
            settling.hand_over(part, &mut worker.arrivals);
        }
        progress.add_window(settling.events_of_parts(), longest);
        has_failed || settling.order.len() > MAX_NUMBERS || settling.order.is_narrow()
    }
}
