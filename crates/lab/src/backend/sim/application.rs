//! An agent's workloads and content as an application of the simulated network.

use std::collections::VecDeque;

use packet::time::{Duration, Instant};
use packet::{Data, Interest, LinkHeader, NackReason, Name};
use sim::{Application, Context};

use crate::agent::workloads::{Activities, Served};

/// Everything that runs at one node.
pub(super) struct Agent {
    served: Served,
    activities: Activities,
    end: Instant,
    /// How long a packet waits until the application has it, and how much longer Data does.
    waits: [Duration; 2],
    /// What waits, in the order in which it is received.
    inbox: VecDeque<(Instant, Received)>,
}

/// A packet for an application.
enum Received {
    Interest(Interest),
    Data(Data),
    Nack(Interest, NackReason),
}

impl Agent {
    pub(super) fn new(served: Served, activities: Activities, end: Instant, waits: [Duration; 2]) -> Self {
        Agent { served, activities, end, waits, inbox: VecDeque::new() }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.activities.is_complete()
    }

    /// Interests that ask again, since the last call.
    pub(super) fn take_again(&mut self) -> Vec<(Name, u32)> {
        self.activities.take_again()
    }

    /// Writes what is still open.
    pub(super) fn finish(&mut self, now: Instant) -> std::io::Result<()> {
        self.activities.finish(now)
    }

    /// Sends what is due, and asks to be called again.
    fn go_on(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        if now >= self.end {
            return;
        }
        self.activities.handle_timeout(now);
        while let Some(interest) = self.activities.poll_transmit(now) {
            context.send_interest(interest);
        }
        self.sleep(context);
    }

    /// Asks to be called when something is due.
    fn sleep(&self, context: &mut Context<'_>) {
        let first = self.inbox.front().map_or(Instant::NEVER, |(at, _)| *at);
        context.wake_at(self.activities.next_deadline().min(first));
    }

    /// Takes a packet in: at once where applications do not wait, and else after all that came before it.
    fn take(&mut self, context: &mut Context<'_>, received: Received) {
        let [every, data] = self.waits;
        let wait = if matches!(received, Received::Data(_)) { every + data } else { every };
        let last = self.inbox.back().map_or(Instant::ZERO, |(at, _)| *at);
        self.inbox.push_back(((context.now() + wait).max(last), received));
        self.sleep(context);
    }

    fn receive(&mut self, context: &mut Context<'_>, received: &Received) {
        let now = context.now();
        match received {
            Received::Interest(interest) => self.answer(context, interest),
            Received::Data(data) => _ = self.activities.receive_data(now, data),
            Received::Nack(interest, reason) => self.activities.receive_nack(now, interest, *reason),
        }
    }

    fn answer(&mut self, context: &mut Context<'_>, interest: &Interest) {
        if let Some(data) = self.served.answer(interest) {
            context.send_data(data);
        }
    }

    fn waits(&self) -> bool {
        self.waits != [Duration::ZERO; 2]
    }
}

impl Application for Agent {
    fn start(&mut self, context: &mut Context<'_>) {
        self.go_on(context);
    }

    fn handle_interest(&mut self, context: &mut Context<'_>, interest: &Interest, _: &LinkHeader) {
        if self.waits() {
            return self.take(context, Received::Interest(interest.clone()));
        }
        self.answer(context, interest);
    }

    fn handle_data(&mut self, context: &mut Context<'_>, data: &Data, _: &LinkHeader) {
        if self.waits() {
            return self.take(context, Received::Data(data.clone()));
        }
        self.activities.receive_data(context.now(), data);
        self.go_on(context);
    }

    fn handle_nack(&mut self, context: &mut Context<'_>, interest: &Interest, reason: NackReason) {
        if self.waits() {
            return self.take(context, Received::Nack(interest.clone(), reason));
        }
        self.activities.receive_nack(context.now(), interest, reason);
        self.go_on(context);
    }

    fn handle_timer(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        while self.inbox.front().is_some_and(|(at, _)| *at <= now)
            && let Some((_, received)) = self.inbox.pop_front()
        {
            self.receive(context, &received);
        }
        self.go_on(context);
    }

    fn prefixes(&self) -> Vec<Name> {
        self.served.prefixes()
    }
}
