//! When the next Interest leaves, and which item it is of.

use std::collections::HashMap;

use client::{Event, RequestId};
use flow::workload::{Outcome, Setting, Workload};
use flow::{SpecError, WorkloadSpec};
use packet::time::Instant;

/// What says when the next Interest leaves.
pub(super) enum Pace {
    /// As soon as the window has room.
    Window,
    /// A workload; the items of what is on its way.
    Workload { workload: Box<dyn Workload>, asked: HashMap<RequestId, u64> },
}

impl Pace {
    /// What this workload wants, from `begin` on.
    pub(super) fn of(spec: &WorkloadSpec, begin: Instant, seed: u64) -> Result<Self, SpecError> {
        let workload = spec.start(&Setting { begin, ..Setting::forever(seed) })?;
        Ok(Pace::Workload { workload, asked: HashMap::new() })
    }

    /// When the next Interest is due; one that is overdue waits for room in the window.
    pub(super) fn next_deadline(&self) -> Instant {
        match self {
            Pace::Window => Instant::ZERO,
            Pace::Workload { workload, .. } => workload.next_deadline(),
        }
    }

    /// Whether Interests have times of their own, so that a full window holds them back.
    pub(super) fn is_timed(&self) -> bool {
        !matches!(self, Pace::Window)
    }

    /// The item of the Interest that is due.
    pub(super) fn poll_item(&mut self, now: Instant) -> Option<u64> {
        match self {
            Pace::Workload { workload, .. } => workload.poll_item(now),
            Pace::Window => Some(0),
        }
    }

    /// The Interest has left.
    pub(super) fn handle_sent(&mut self, id: RequestId, item: u64) {
        if let Pace::Workload { asked, .. } = self {
            asked.insert(id, item);
        }
    }

    /// Something came of an Interest.
    pub(super) fn handle_event(&mut self, now: Instant, event: &Event) {
        let Pace::Workload { workload, asked } = self else { return };
        let (id, outcome) = match *event {
            Event::Data { id, round_trip, .. } => (id, Outcome::Data { round_trip }),
            Event::Nack { id, reason, .. } => (id, Outcome::Nack(reason)),
            Event::Timeout { id } => (id, Outcome::Timeout),
            Event::Interest { .. } | Event::SourceFailed { .. } => return,
        };
        if let Some(item) = asked.remove(&id) {
            workload.handle_outcome(now, item, outcome);
        }
    }

    /// Whether no Interest will leave any more.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self, Pace::Workload { workload, .. } if workload.is_complete())
    }
}
