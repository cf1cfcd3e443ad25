//! Asks for numbered items until all have come: what every consumer has in common, whatever its items are
//! named.
//!
//! A [`Transfer`] holds a [`Controller`], a [`Pacer`] and a [`RoundTrip`] estimator and decides which item to
//! ask for when. It knows numbers, no names and no packets: a [`Fetcher`](crate::Fetcher) numbers segments, a
//! generator of traffic numbers whatever it likes.

mod config;
mod items;

use std::collections::{BTreeSet, VecDeque};

use packet::time::{Duration, Instant};
use packet::{ExplicitRate, LinkHeader, NackReason};

use crate::controller::{
    Allowance, Controller, DataReport, LossEvidence, LossReport, NackReport, SentReport,
};
use crate::pacer::Pacer;
use crate::round_trip::RoundTrip;
use items::{Item, Items, State};

pub use config::TransferConfig;

/// Transmissions that must have been overtaken before an Interest can count as lost for that.
const OVERTAKEN_BY: u64 = 3;
/// How long after it came back for congestion an Interest is repeated if no rate spaces its repetition,
/// doubled at each attempt.
const CONGESTION_BACK_OFF: Duration = Duration::from_millis(10);
/// How long after nobody could forward it an Interest is repeated, doubled at each attempt.
const NO_ROUTE_BACK_OFF: Duration = Duration::from_millis(200);
const MAX_BACK_OFF: Duration = Duration::from_secs(5);

/// Ask for this item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which.
    pub item: u64,
    /// Number of the transmission, from 0 for the whole transfer.
    pub number: u64,
    /// How often the item was asked for, this time included.
    pub attempt: u32,
}

/// What travels with Data and matters to the transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Arrival {
    /// Whether a queue on the way was too long.
    pub congestion_marked: bool,
    /// The rate that the routers on the way allow, in Interests a second.
    pub explicit_rate: Option<f64>,
    /// Tells routes apart; 0 where nothing does.
    pub route: u64,
}

impl From<&LinkHeader> for Arrival {
    /// What the link header of Data says. None says by which route it came.
    fn from(header: &LinkHeader) -> Self {
        Arrival {
            congestion_marked: header.congestion_mark > 0,
            explicit_rate: header.explicit_rate.map(ExplicitRate::per_second),
            route: 0,
        }
    }
}

/// What Data was to the transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataOutcome {
    /// Wanted. The item rests until [`Transfer::confirm`] or [`Transfer::ask_again`].
    Wanted,
    /// It had come before.
    Duplicate,
    /// It was not asked for.
    NotAsked,
}

/// An item that will not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Which.
    pub item: u64,
    /// Why the last attempt failed: `None` if nothing came.
    pub reason: Option<NackReason>,
}

/// Why an item is to be asked for again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RepeatReason {
    Lost(LossEvidence),
    Nack(NackReason),
    Refused,
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransferCounters {
    /// Interests sent, repetitions included.
    pub sent: u64,
    /// Repetitions among them.
    pub repeated: u64,
    /// Data that was wanted.
    pub data: u64,
    /// Data that had come before.
    pub duplicates: u64,
    /// Data of which the Interest had been given up for lost: it was only late.
    pub late: u64,
    /// Data with a congestion mark.
    pub marks: u64,
    /// Nacks for congestion.
    pub nacks_congestion: u64,
    /// Nacks for a route that is missing, or without a reason.
    pub nacks_no_route: u64,
    /// Nacks for duplicates, which are ignored.
    pub nacks_duplicate: u64,
    /// Interests given up for lost because nothing came in time.
    pub timeouts: u64,
    /// Interests given up for lost because later ones were answered.
    pub overtaken: u64,
    /// Data that its owner refused.
    pub refused: u64,
    /// Items that will not come.
    pub failures: u64,
}

/// Decides which item to ask for when.
///
/// Tell it what came ([`Transfer::handle_data`], [`Transfer::handle_nack`]) and that time has passed
/// ([`Transfer::handle_timeout`]), then send whatever [`Transfer::poll_request`] hands out, then set the
/// timer to [`Transfer::next_deadline`]. It remembers nothing of items that were confirmed with all before
/// them.
///
/// ```
/// use cairn_flow::{Arrival, DataOutcome, Transfer, TransferConfig};
/// use packet::time::Instant;
/// let config = TransferConfig { controller: "fixed/window~2".parse()?, ..TransferConfig::default() };
/// let mut transfer = Transfer::new(&config, Instant::ZERO, 1);
/// transfer.set_end(3);
/// let asked: Vec<u64> =
///     std::iter::from_fn(|| transfer.poll_request(Instant::ZERO)).map(|r| r.item).collect();
/// assert_eq!(asked, [0, 1]);
/// assert_eq!(transfer.handle_data(Instant::from_millis(5), 1, Arrival::default()), DataOutcome::Wanted);
/// transfer.confirm(1);
/// assert_eq!(transfer.poll_request(Instant::from_millis(5)).map(|r| r.item), Some(2));
/// # Ok::<(), cairn_flow::SpecError>(())
/// ```
#[derive(Debug)]
pub struct Transfer {
    controller: Box<dyn Controller>,
    allowance: Allowance,
    pacer: Pacer,
    round_trip: RoundTrip,
    limits: Limits,
    items: Items,
    /// In the order of sending; entries whose item was answered or sent again are stale.
    flights: VecDeque<Flight>,
    in_flight: u32,
    numbers: Numbers,
    repeats: Repeats,
    failures: VecDeque<Failure>,
    counters: TransferCounters,
}

/// What the configuration allows; see [`TransferConfig`].
#[derive(Clone, Copy, Debug)]
struct Limits {
    max_attempts: u32,
    max_in_flight: u32,
    fast_loss: bool,
}

/// Items that are to be asked for again.
#[derive(Debug, Default)]
struct Repeats {
    /// Oldest first; an entry is stale if its item came meanwhile.
    due: VecDeque<u64>,
    /// Not before the time beside it.
    resting: BTreeSet<(Instant, u64)>,
}

/// Transmissions are numbered as they leave.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    next: u64,
    highest_answered: Option<u64>,
    /// The timeout is not doubled for transmissions below.
    backed_off_below: u64,
}

#[derive(Clone, Copy, Debug)]
struct Flight {
    number: u64,
    item: u64,
    sent_at: Instant,
}

impl Transfer {
    /// A transfer of items 0, 1, 2 …, without end until [`Transfer::set_end`]. `seed` decides what the
    /// controller does by chance.
    pub fn new(config: &TransferConfig, now: Instant, seed: u64) -> Self {
        let controller = config.controller.start(seed);
        let mut transfer = Transfer {
            allowance: controller.allowance(),
            controller,
            pacer: Pacer::new(config.pacing, now),
            round_trip: RoundTrip::new(config.round_trip),
            limits: Limits {
                max_attempts: config.max_attempts.max(1),
                max_in_flight: config.max_in_flight.max(1),
                fast_loss: config.fast_loss,
            },
            items: Items::new(config.max_span.max(1)),
            flights: VecDeque::new(),
            in_flight: 0,
            numbers: Numbers::default(),
            repeats: Repeats::default(),
            failures: VecDeque::new(),
            counters: TransferCounters::default(),
        };
        transfer.apply_allowance(now);
        transfer
    }

    /// Begins at `item` instead of 0. Only before the first request.
    pub fn start_at(&mut self, item: u64) {
        self.items.start_at(item);
    }

    /// Asks for no item of `end` or above. An end that is known already may move, also downwards: items above
    /// it that are on their way are then forgotten.
    pub fn set_end(&mut self, end: u64) {
        self.in_flight -= self.items.set_end(end);
        self.repeats.resting.retain(|(_, item)| *item < end);
    }

    /// Asks for no item of `limit` or above until it is moved up: how a slow reader slows the transfer down.
    pub fn set_limit(&mut self, limit: u64) {
        self.items.set_limit(limit);
    }

    /// Data for `item` came.
    pub fn handle_data(&mut self, now: Instant, item: u64, arrival: Arrival) -> DataOutcome {
        let (state, attempts) = match self.items.get(item) {
            Some(entry) => (entry.state, entry.attempts),
            None if self.items.is_past(item) => (State::Done, 1),
            None => return DataOutcome::NotAsked,
        };
        let (number, sent_at) = match state {
            State::Done | State::Arrived => {
                self.counters.duplicates += 1;
                return DataOutcome::Duplicate;
            }
            State::InFlight { number, sent_at } => {
                self.in_flight -= 1;
                (number, Some(sent_at))
            }
            State::Waiting { number, until } => {
                self.repeats.resting.remove(&(until, item));
                self.counters.late += 1;
                (number, None)
            }
        };
        self.items.set(item, State::Arrived);
        self.counters.data += 1;
        self.counters.marks += u64::from(arrival.congestion_marked);
        let round_trip = sent_at.filter(|_| attempts == 1).map(|sent| now.saturating_since(sent));
        if let Some(sample) = round_trip {
            self.round_trip.handle_sample(now, sample);
            self.numbers.highest_answered = self.numbers.highest_answered.max(Some(number));
        }
        let Arrival { congestion_marked, explicit_rate, route } = arrival;
        let in_flight = self.in_flight;
        let report = DataReport { number, round_trip, congestion_marked, explicit_rate, route, in_flight };
        self.controller.handle_data(now, &report);
        self.apply_allowance(now);
        self.pacer.handle_arrival(now);
        self.detect_losses(now);
        DataOutcome::Wanted
    }

    /// The Data of `item` is good: the item is done.
    pub fn confirm(&mut self, item: u64) {
        if self.items.get(item).is_some_and(|entry| entry.state == State::Arrived) {
            self.items.set(item, State::Done);
            self.items.advance();
        }
    }

    /// The Data of `item` is of no use: ask for it again, as often as for one that was lost.
    pub fn ask_again(&mut self, now: Instant, item: u64) {
        if self.items.get(item).is_some_and(|entry| entry.state == State::Arrived) {
            self.counters.refused += 1;
            self.repeat(now, item, self.numbers.next, RepeatReason::Refused);
        }
    }

    /// The Interest for `item` came back.
    pub fn handle_nack(&mut self, now: Instant, item: u64, reason: NackReason) {
        if reason == NackReason::Duplicate {
            self.counters.nacks_duplicate += 1;
            return;
        }
        let Some(State::InFlight { number, .. }) = self.items.get(item).map(|entry| entry.state) else {
            return;
        };
        self.in_flight -= 1;
        match reason {
            NackReason::Congestion => self.counters.nacks_congestion += 1,
            _ => self.counters.nacks_no_route += 1,
        }
        let in_flight = self.in_flight;
        self.controller.handle_nack(now, &NackReport { number, reason, in_flight });
        self.apply_allowance(now);
        self.repeat(now, item, number, RepeatReason::Nack(reason));
        self.pacer.handle_arrival(now);
        self.detect_losses(now);
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.detect_losses(now);
    }

    /// The item to ask for now, if any may be.
    pub fn poll_request(&mut self, now: Instant) -> Option<Request> {
        self.end_rests(now);
        let Some(item) = self.has_room().then(|| self.next_item()).flatten() else {
            // A window that is full is no pause: what is due leaves when there is room, but not in one burst.
            if self.allowance.rate.is_finite() {
                self.pacer.rest(now);
            }
            return None;
        };
        if self.allowance.rate.is_finite() && !self.pacer.poll_send(now) {
            return None;
        }
        if self.repeats.due.front() == Some(&item) {
            self.repeats.due.pop_front();
        }
        let number = self.numbers.next;
        self.numbers.next += 1;
        let attempt = self.items.send(item, number, now);
        self.in_flight += 1;
        self.flights.push_back(Flight { number, item, sent_at: now });
        self.forget_stale_flights();
        self.counters.sent += 1;
        self.counters.repeated += u64::from(attempt > 1);
        self.controller.handle_sent(now, &SentReport { number, in_flight: self.in_flight });
        self.apply_allowance(now);
        Some(Request { item, number, attempt })
    }

    /// An item that will not come. The transfer goes on with the others.
    pub fn poll_failure(&mut self) -> Option<Failure> {
        self.failures.pop_front()
    }

    /// When to call [`Transfer::handle_timeout`] and [`Transfer::poll_request`] again; a time that is past
    /// for at once.
    pub fn next_deadline(&self) -> Option<Instant> {
        let loss = self.flights.iter().find(|flight| self.is_live(flight)).map(|flight| self.lost_at(flight));
        let rest = self.repeats.resting.first().map(|(at, _)| *at);
        let sendable = self.has_room() && self.peek_item().is_some();
        let send = match self.allowance.rate.is_finite() {
            _ if !sendable => None,
            true => self.pacer.next_deadline(),
            false => Some(Instant::ZERO),
        };
        [loss, rest, send].into_iter().flatten().min()
    }

    /// True when every item below the end has come and was confirmed.
    pub fn is_complete(&self) -> bool {
        self.items.is_complete()
    }

    /// The first item that has not come or was not confirmed.
    pub fn first_missing(&self) -> u64 {
        self.items.base()
    }

    /// The first item that was never asked for.
    pub fn next_new(&self) -> u64 {
        self.items.next_new()
    }

    /// Interests on their way.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// What the controller allows now.
    pub fn allowance(&self) -> Allowance {
        self.allowance
    }

    /// Round trips as far as known.
    pub fn round_trip(&self) -> &RoundTrip {
        &self.round_trip
    }

    /// The pacer.
    pub fn pacer(&self) -> &Pacer {
        &self.pacer
    }

    /// What happened so far.
    pub fn counters(&self) -> &TransferCounters {
        &self.counters
    }

    /// Takes over what the controller allows.
    fn apply_allowance(&mut self, now: Instant) {
        self.allowance = self.controller.allowance();
        if self.allowance.rate.is_finite() {
            self.pacer.set_rate(now, self.allowance.rate);
        }
    }

    /// Items that rest keep their places in the window: who is turned away does not go on with the next.
    fn has_room(&self) -> bool {
        let taken = self.in_flight + self.repeats.resting.len() as u32;
        taken < self.limits.max_in_flight && self.allowance.has_room(taken)
    }

    fn is_live(&self, flight: &Flight) -> bool {
        let state = self.items.get(flight.item).map(|entry| entry.state);
        matches!(state, Some(State::InFlight { number, .. }) if number == flight.number)
    }

    /// When this Interest counts as lost.
    fn lost_at(&self, flight: &Flight) -> Instant {
        let timeout = flight.sent_at + self.round_trip.timeout();
        let overtaken =
            self.numbers.highest_answered.is_some_and(|highest| highest >= flight.number + OVERTAKEN_BY);
        match self.round_trip.smoothed().max(self.round_trip.latest()) {
            Some(round_trip) if overtaken && self.limits.fast_loss => {
                timeout.min(flight.sent_at + round_trip + round_trip / 8)
            }
            _ => timeout,
        }
    }

    /// Gives up what is overdue. What left first is overdue first, so only the oldest need to be looked at.
    fn detect_losses(&mut self, now: Instant) {
        while let Some(flight) = self.flights.front().copied() {
            if self.is_live(&flight) {
                if self.lost_at(&flight) > now {
                    break;
                }
                self.give_up(now, flight);
            }
            self.flights.pop_front();
        }
    }

    fn give_up(&mut self, now: Instant, flight: Flight) {
        self.in_flight -= 1;
        let timed_out = now >= flight.sent_at + self.round_trip.timeout();
        let evidence = if timed_out { LossEvidence::Timeout } else { LossEvidence::Overtaken };
        match evidence {
            LossEvidence::Timeout => self.counters.timeouts += 1,
            LossEvidence::Overtaken => self.counters.overtaken += 1,
        }
        let loss = LossReport { number: flight.number, evidence, in_flight: self.in_flight };
        self.controller.handle_loss(now, &loss);
        self.apply_allowance(now);
        self.repeat(now, flight.item, flight.number, RepeatReason::Lost(evidence));
        if timed_out && flight.number >= self.numbers.backed_off_below {
            self.numbers.backed_off_below = self.numbers.next;
            self.round_trip.back_off();
        }
    }

    /// Puts `item` back among those to ask for, or gives it up for good.
    fn repeat(&mut self, now: Instant, item: u64, number: u64, why: RepeatReason) {
        let timeout = self.round_trip.timeout();
        let shortest_rest = self.round_trip.smoothed().unwrap_or(timeout).min(timeout);
        let Some(entry) = self.items.get_mut(item) else { return };
        // That others are answered says nothing certain of this one: where a store answers them, the one who
        // has this one may be slow. So these count once in a timeout, as one that was waited for.
        let overtaken = why == RepeatReason::Lost(LossEvidence::Overtaken);
        entry.overtaken += u32::from(overtaken);
        if !overtaken || now >= entry.asked_since + timeout {
            entry.in_vain += 1;
            entry.asked_since = now;
        }
        let Item { attempts, overtaken, in_vain, .. } = *entry;
        if in_vain >= self.limits.max_attempts {
            let reason = match why {
                RepeatReason::Nack(reason) => Some(reason),
                RepeatReason::Lost(_) | RepeatReason::Refused => None,
            };
            self.items.set(item, State::Done);
            self.items.advance();
            self.failures.push_back(Failure { item, reason });
            self.counters.failures += 1;
            return;
        }
        let (rest, doublings, longest) = match why {
            RepeatReason::Lost(LossEvidence::Overtaken) if overtaken > 1 => {
                (shortest_rest, overtaken - 2, timeout)
            }
            RepeatReason::Nack(NackReason::Congestion) if !self.allowance.rate.is_finite() => {
                (CONGESTION_BACK_OFF, attempts - 1, MAX_BACK_OFF)
            }
            RepeatReason::Lost(_) | RepeatReason::Refused | RepeatReason::Nack(NackReason::Congestion) => {
                (Duration::ZERO, 0, Duration::ZERO)
            }
            RepeatReason::Nack(_) => (NO_ROUTE_BACK_OFF, attempts - 1, MAX_BACK_OFF),
        };
        let until = now + (rest * (1 << doublings.min(16))).min(longest);
        self.items.set(item, State::Waiting { number, until });
        if until == now {
            self.repeats.due.push_back(item);
        } else {
            self.repeats.resting.insert((until, item));
        }
    }

    fn end_rests(&mut self, now: Instant) {
        while let Some((at, item)) = self.repeats.resting.first().copied().filter(|(at, _)| *at <= now) {
            self.repeats.resting.remove(&(at, item));
            self.repeats.due.push_back(item);
        }
    }

    fn is_waiting(&self, item: u64) -> bool {
        matches!(self.items.get(item).map(|entry| entry.state), Some(State::Waiting { .. }))
    }

    fn next_item(&mut self) -> Option<u64> {
        while self.repeats.due.front().is_some_and(|item| !self.is_waiting(*item)) {
            self.repeats.due.pop_front();
        }
        self.peek_item()
    }

    fn peek_item(&self) -> Option<u64> {
        let repeat = self
            .repeats
            .due
            .iter()
            .find(|item| self.is_waiting(**item) && self.items.is_below_limit(**item))
            .copied();
        repeat.or_else(|| self.items.next_allowed())
    }

    /// Keeps the list of flights at a length in proportion to what is on its way, whatever was repeated how
    /// often.
    fn forget_stale_flights(&mut self) {
        if self.flights.len() > 4 * self.in_flight as usize + 1024 {
            let items = &self.items;
            self.flights.retain(|flight| {
                matches!(items.get(flight.item).map(|entry| entry.state),
                    Some(State::InFlight { number, .. }) if number == flight.number)
            });
        }
    }
}

#[cfg(test)]
mod tests;
