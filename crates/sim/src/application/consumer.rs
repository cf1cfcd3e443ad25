//! Applications that ask for numbered names.

use std::collections::VecDeque;
use std::sync::Arc;

use flow::workload::{Popularity, Spacing, mean_gap};
use packet::random::Zipf;
use packet::time::{Duration, Instant};
use packet::{Data, Interest, LinkHeader, NackReason};

use super::outstanding::{Outstanding, Pending};
use super::{Application, Context, NumberedNames, number_of};
use crate::error::SimError;
use crate::into_name::IntoName;
use crate::trace::Delay;

/// Asks for `prefix`/0, `prefix`/1 and so on, or for the objects of a catalogue, at a rate, with a window, or
/// in batches. What is not answered in time, or comes back, is asked for again.
///
/// Files and transfers under control of congestion belong to the crate `flow`. A
/// [`WorkloadConsumer`](super::WorkloadConsumer) asks for what a workload wants, when it wants it, and for
/// nothing a second time; this one repeats what failed, and its window waits for answers.
///
/// ```
/// use packet::time::Duration;
/// use cairn_sim::Consumer;
///
/// let steady = Consumer::constant_rate("/video", 100.0)?.limit(5_000);
/// let greedy = Consumer::window("/video", 50)?.lifetime(Duration::from_secs(1)).attempts(3);
/// # Ok::<(), cairn_sim::SimError>(())
/// ```
#[derive(Debug)]
pub struct Consumer {
    names: NumberedNames,
    lifetime: Duration,
    pace: Pace,
    popularity: Popularity,
    start_at: Duration,
    stop_at: Duration,
    limit: u64,
    max_attempts: u32,
    nack_delay: Duration,
    outstanding: Outstanding,
    /// To be asked for again at the next occasion.
    again: VecDeque<u64>,
    /// Came back; when they may be asked for again.
    nacked: VecDeque<(Instant, u64)>,
    next_send: Instant,
    report: ConsumerReport,
}

#[derive(Debug)]
enum Pace {
    Rate { mean_gap: Duration, spacing: Spacing },
    Window { size: usize },
    Batches { batches: VecDeque<(Duration, u64)>, due: u64 },
}

/// What a consumer has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConsumerReport {
    /// Different numbers asked for, or requests where there is a catalogue.
    pub asked: u64,
    /// Interests sent, repeated ones counted.
    pub interests: u64,
    /// Numbers that were answered.
    pub received: u64,
    /// Bytes of content in the answers.
    pub content_bytes: u64,
    /// Bytes of the packets that answered.
    pub packet_bytes: u64,
    /// Attempts that were not answered in time.
    pub timeouts: u64,
    /// Interests that came back.
    pub nacks: u64,
    /// Numbers given up.
    pub failed: u64,
    /// Answers with a congestion mark.
    pub marked: u64,
    /// Answers that nobody waited for any more.
    pub late: u64,
    /// Sum of the times from the first Interest to the answer.
    pub delay_sum: Duration,
    /// The longest of them.
    pub delay_max: Duration,
    /// When the last answer came.
    pub last_answer: Instant,
}

impl ConsumerReport {
    /// Mean time from the first Interest to the answer.
    pub fn mean_delay(&self) -> Duration {
        if self.received == 0 { Duration::ZERO } else { self.delay_sum / self.received }
    }
}

/// The gap between events of this rate.
pub(super) fn gap_of(per_second: f64) -> Result<Duration, SimError> {
    let must = "above 0 and below 10^9 a second";
    mean_gap(per_second).ok_or(SimError::OutOfRange { what: "the rate", value: per_second, must })
}

impl Consumer {
    fn new(prefix: impl IntoName, pace: Pace) -> Result<Self, SimError> {
        let lifetime = Duration::from_secs(4);
        Ok(Consumer {
            names: NumberedNames::new(prefix.into_name()?, lifetime),
            lifetime,
            pace,
            popularity: Popularity::sequential(),
            start_at: Duration::ZERO,
            stop_at: Duration::MAX,
            limit: u64::MAX,
            max_attempts: u32::MAX,
            nack_delay: Duration::from_millis(50),
            outstanding: Outstanding::default(),
            again: VecDeque::new(),
            nacked: VecDeque::new(),
            next_send: Instant::ZERO,
            report: ConsumerReport::default(),
        })
    }

    /// So many Interests a second, equally far apart.
    ///
    /// # Errors
    /// A prefix that is not a name, or a rate that is not above zero.
    pub fn constant_rate(prefix: impl IntoName, per_second: f64) -> Result<Self, SimError> {
        Consumer::new(prefix, Pace::Rate { mean_gap: gap_of(per_second)?, spacing: Spacing::Constant })
    }

    /// So many outstanding at any time.
    ///
    /// # Errors
    /// A prefix that is not a name, or a window of nothing.
    pub fn window(prefix: impl IntoName, size: usize) -> Result<Self, SimError> {
        if size == 0 {
            return Err(SimError::OutOfRange { what: "the window", value: 0.0, must: "1 or more" });
        }
        Consumer::new(prefix, Pace::Window { size })
    }

    /// So many at once at each of these times, on the clock of its node.
    ///
    /// # Errors
    /// A prefix that is not a name.
    pub fn batches(
        prefix: impl IntoName,
        batches: impl IntoIterator<Item = (Duration, u64)>,
    ) -> Result<Self, SimError> {
        let mut batches: VecDeque<_> = batches.into_iter().collect();
        batches.make_contiguous().sort_by_key(|batch| batch.0);
        Consumer::new(prefix, Pace::Batches { batches, due: 0 })
    }

    /// So many requests a second in a Poisson process, for objects of a catalogue.
    ///
    /// # Errors
    /// A prefix that is not a name, or a rate that is not above zero.
    pub fn zipf(prefix: impl IntoName, catalogue: Arc<Zipf>, per_second: f64) -> Result<Self, SimError> {
        Ok(Consumer::constant_rate(prefix, per_second)?
            .spacing(Spacing::Poisson)
            .popularity(Popularity::Zipf(catalogue)))
    }

    /// Asking for what this law draws, in place of 0, 1, 2 …
    pub fn popularity(self, popularity: Popularity) -> Self {
        Consumer { popularity, ..self }
    }

    /// With this distribution of the gaps between Interests, where there is a rate.
    pub fn spacing(mut self, chosen: Spacing) -> Self {
        if let Pace::Rate { spacing, .. } = &mut self.pace {
            *spacing = chosen;
        }
        self
    }

    /// With Interests of this lifetime, after which they are asked for again. 4 s otherwise.
    pub fn lifetime(self, lifetime: Duration) -> Self {
        let names = NumberedNames::new(self.names.prefix().clone(), lifetime);
        Consumer { names, lifetime, ..self }
    }

    /// Giving a number up after so many Interests.
    pub fn attempts(self, max_attempts: u32) -> Self {
        Consumer { max_attempts: max_attempts.max(1), ..self }
    }

    /// Waiting so long before asking again for what came back. 50 ms otherwise.
    pub fn nack_delay(self, nack_delay: Duration) -> Self {
        Consumer { nack_delay, ..self }
    }

    /// Beginning at this time.
    pub fn start_at(self, start_at: Duration) -> Self {
        Consumer { start_at, ..self }
    }

    /// Asking for nothing new from this time on.
    pub fn stop_at(self, stop_at: Duration) -> Self {
        Consumer { stop_at, ..self }
    }

    /// Asking for no more than so many numbers.
    pub fn limit(self, limit: u64) -> Self {
        Consumer { limit, ..self }
    }

    /// What it has done.
    pub fn report(&self) -> &ConsumerReport {
        &self.report
    }

    /// Numbers that are asked for and have neither been answered nor given up.
    pub fn outstanding(&self) -> usize {
        self.outstanding.len()
    }

    /// Whether all it may ask for was asked for and has been answered or given up.
    pub fn is_done(&self) -> bool {
        self.report.asked >= self.limit && self.outstanding.len() == 0
    }

    fn may_ask(&self, now: Instant) -> bool {
        self.report.asked < self.limit && now.saturating_since(Instant::ZERO) < self.stop_at
    }

    /// Asks for what came back or was lost, or else for something new.
    fn ask_next(&mut self, context: &mut Context<'_>, now: Instant) -> bool {
        while let Some(number) = self.again.pop_front() {
            if self.send(context, now, number) {
                return true;
            }
        }
        if !self.may_ask(now) {
            return false;
        }
        self.report.asked += 1;
        let number = self.popularity.next(context.random());
        // Two requests for one object at a time are one.
        if self.outstanding.get_mut(number).is_none() {
            let pending = Pending { first_sent: now, last_sent: now, attempts: 0, under_way: false };
            self.outstanding.insert(number, pending);
            self.send(context, now, number);
        }
        true
    }

    fn send(&mut self, context: &mut Context<'_>, now: Instant, number: u64) -> bool {
        let Some(pending) = self.outstanding.get_mut(number) else { return false };
        pending.attempts += 1;
        pending.under_way = true;
        pending.last_sent = now;
        let attempt = pending.attempts;
        let nonce = context.random().next_u32();
        let Some((interest, hashes)) =
            self.names.interest(context.dialect(), context.hasher(), number, nonce)
        else {
            self.outstanding.remove(number);
            self.report.failed += 1;
            return true;
        };
        self.outstanding.expect(now + self.lifetime, number, attempt);
        self.report.interests += 1;
        context.send_hashed_interest(interest, hashes);
        true
    }

    /// Sends all that may be sent now.
    fn send_due(&mut self, context: &mut Context<'_>, now: Instant) {
        if now.saturating_since(Instant::ZERO) < self.start_at {
            return;
        }
        while let Some(&(at, number)) = self.nacked.front()
            && at <= now
        {
            self.nacked.pop_front();
            self.again.push_back(number);
        }
        match &self.pace {
            Pace::Rate { .. } => self.send_at_rate(context, now),
            &Pace::Window { size } => {
                // What waits to be asked for again has its place in the window already.
                while !self.again.is_empty() || self.outstanding.len() < size {
                    if !self.ask_next(context, now) {
                        break;
                    }
                }
            }
            Pace::Batches { .. } => self.send_batches(context, now),
        }
    }

    fn send_at_rate(&mut self, context: &mut Context<'_>, now: Instant) {
        while self.next_send <= now {
            let sent = self.ask_next(context, now);
            let Pace::Rate { mean_gap, spacing } = self.pace else { return };
            let step = spacing.gap(mean_gap, context.random());
            self.next_send += step.max(Duration::from_nanos(1));
            if !sent && !self.may_ask(now) && self.outstanding.len() == 0 {
                self.next_send = Instant::NEVER;
            }
        }
    }

    fn send_batches(&mut self, context: &mut Context<'_>, now: Instant) {
        while !self.again.is_empty() {
            self.ask_next(context, now);
        }
        let Pace::Batches { batches, due } = &mut self.pace else { return };
        while let Some(&(at, count)) = batches.front()
            && at <= now.saturating_since(Instant::ZERO)
        {
            batches.pop_front();
            *due += count;
        }
        for _ in 0..std::mem::take(due) {
            self.ask_next(context, now);
        }
    }

    fn set_alarm(&mut self, context: &mut Context<'_>) {
        let mut next = self.outstanding.next_deadline();
        if let Some(&(at, _)) = self.nacked.front() {
            next = next.min(at);
        }
        match &self.pace {
            Pace::Rate { .. } => next = next.min(self.next_send),
            Pace::Window { .. } => {}
            Pace::Batches { batches, .. } => {
                if let Some(&(at, _)) = batches.front() {
                    next = next.min(Instant::ZERO + at);
                }
            }
        }
        context.wake_at(next);
    }

    fn handle_timeouts(&mut self, now: Instant) {
        while let Some(number) = self.outstanding.poll_timeout(now) {
            self.report.timeouts += 1;
            self.try_again(number, None);
        }
    }

    /// Asks again for a number, at once or later, unless it was asked for often enough.
    fn try_again(&mut self, number: u64, not_before: Option<Instant>) {
        let Some(pending) = self.outstanding.get_mut(number) else { return };
        if pending.attempts >= self.max_attempts {
            self.outstanding.remove(number);
            self.report.failed += 1;
            return;
        }
        pending.under_way = false;
        match not_before {
            None => self.again.push_back(number),
            Some(at) => self.nacked.push_back((at, number)),
        }
    }
}

impl Application for Consumer {
    fn start(&mut self, context: &mut Context<'_>) {
        let start = Instant::ZERO + self.start_at;
        self.next_send = start.max(context.now());
        context.wake_at(start);
    }

    fn handle_timer(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        self.handle_timeouts(now);
        self.send_due(context, now);
        self.set_alarm(context);
    }

    fn handle_data(&mut self, context: &mut Context<'_>, data: &Data, header: &LinkHeader) {
        let now = context.now();
        let number = number_of(data.name());
        let Some(pending) = number.and_then(|number| self.outstanding.remove(number)) else {
            self.report.late += 1;
            return;
        };
        let report = &mut self.report;
        let delay = now.saturating_since(pending.first_sent);
        report.received += 1;
        report.content_bytes += data.content().len() as u64;
        report.packet_bytes += data.wire().len() as u64;
        report.marked += u64::from(header.congestion_mark > 0);
        report.delay_sum += delay;
        report.delay_max = report.delay_max.max(delay);
        report.last_answer = now;
        context.note_delay(Delay {
            number: number.unwrap_or(0),
            last: now.saturating_since(pending.last_sent),
            full: delay,
            attempts: pending.attempts,
            hops: context.hops(),
        });
        if let Pace::Window { .. } = self.pace {
            self.send_due(context, now);
            self.set_alarm(context);
        }
    }

    fn handle_nack(&mut self, context: &mut Context<'_>, interest: &Interest, _reason: NackReason) {
        let now = context.now();
        self.report.nacks += 1;
        let Some(number) = number_of(interest.name()) else { return };
        if self.outstanding.get_mut(number).is_some_and(|pending| pending.under_way) {
            self.try_again(number, Some(now + self.nack_delay));
            self.set_alarm(context);
        }
    }

    fn sample(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("outstanding", self.outstanding.len() as f64);
        show("received", self.report.received as f64);
    }
}
