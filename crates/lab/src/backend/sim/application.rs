//! An agent's workloads and content as an application of the simulated network.

use packet::time::Instant;
use packet::{Data, Interest, LinkHeader, NackReason, Name};
use sim::{Application, Context};

use crate::agent::workloads::{Activities, Served};
use crate::agent::{Job, JobError};
use crate::order::Simultaneous;

/// Everything that runs at one node.
pub(super) struct Agent {
    job: Job,
    served: Served,
    activities: Activities,
    end: Instant,
}

impl Agent {
    /// An agent for that job until the end, which begins what it does at one instant in this order.
    ///
    /// # Errors
    /// The job makes no sense.
    pub(super) fn new(job: Job, end: Instant, order: Simultaneous) -> Result<Self, JobError> {
        let (served, activities) = (Served::new(&job)?, Activities::new(&job, 0)?.arranged(order, &job));
        Ok(Agent { job, served, activities, end })
    }

    /// Have two of the things that it does come together, so that one had to be the first?
    pub(super) fn has_met(&self) -> bool {
        self.activities.have_met()
    }

    pub(super) fn is_complete(&self) -> bool {
        self.activities.is_complete()
    }

    /// Interests that ask again, since the last call.
    pub(super) fn take_again(&mut self) -> Vec<(Name, u32)> {
        self.activities.take_again()
    }

    /// Writes what is still open, and what was served.
    pub(super) fn finish(&mut self, now: Instant) -> std::io::Result<()> {
        self.activities.finish(&self.job, now)?;
        self.served.finish(&self.job)
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
        context.wake_at(self.activities.next_deadline());
    }
}

impl Application for Agent {
    fn start(&mut self, context: &mut Context<'_>) {
        self.go_on(context);
    }

    fn handle_interest(&mut self, context: &mut Context<'_>, interest: &Interest, _: &LinkHeader) {
        if let Some(data) = self.served.answer(context.now(), interest) {
            context.send_data(data);
        }
    }

    fn handle_data(&mut self, context: &mut Context<'_>, data: &Data, _: &LinkHeader) {
        self.activities.receive_data(context.now(), data);
        self.go_on(context);
    }

    fn handle_nack(&mut self, context: &mut Context<'_>, interest: &Interest, reason: NackReason) {
        self.activities.receive_nack(context.now(), interest, reason);
        self.go_on(context);
    }

    fn handle_timer(&mut self, context: &mut Context<'_>) {
        self.go_on(context);
    }

    fn prefixes(&self) -> Vec<Name> {
        self.served.prefixes()
    }
}
