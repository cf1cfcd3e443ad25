//! Interests for chunks of files, as a workload of `flow` asks for them.

use std::io;

use flow::workload::{Closed, Outcome, Replay, Requester, Setting};
use flow::{SpecError, WorkloadSpec};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Data, Interest, NackReason, Name, NameRef};

use super::activity::{Activity, Log};
use super::error::{self, JobError};
use super::ping::OPEN;
use super::producer::Files;
use crate::experiment::plan::ReplayPlan;

/// What a traffic source works with.
#[derive(Debug)]
pub(super) struct TrafficConfig {
    pub(super) files: Files,
    pub(super) start: Instant,
    pub(super) stop: Instant,
    pub(super) asks: TrafficSource,
    pub(super) lifetime: Duration,
    pub(super) seed: u64,
}

/// What decides about what is asked for, and when.
#[derive(Debug)]
pub(super) enum TrafficSource {
    /// A workload, whose items are chunks.
    Draws(WorkloadSpec),
    /// A trace, whose objects are files: the first chunk of each is asked for.
    Replays(ReplayPlan),
}

impl TrafficSource {
    /// What a plan says: a trace, or else a workload by its name and parameters.
    pub(super) fn of(workload: &str, trace: Option<&ReplayPlan>) -> Result<Self, JobError> {
        match trace {
            Some(trace) => Ok(TrafficSource::Replays(trace.clone())),
            None => error::spec(workload).map(TrafficSource::Draws),
        }
    }
}

/// One source.
#[derive(Debug)]
pub(super) struct Traffic {
    files: Files,
    lifetime: Duration,
    /// Of nonces.
    random: Random,
    log: Log,
    requester: Requester,
}

impl Traffic {
    pub(super) fn new(config: TrafficConfig, log: Log) -> Result<Self, SpecError> {
        let TrafficConfig { files, start, stop, asks, lifetime, seed } = config;
        let items = Some(files.layout().items());
        let setting = Setting { begin: start, end: stop, items, seed };
        let requester = match asks {
            TrafficSource::Draws(workload) => Requester::new(&workload, &setting, lifetime)?,
            TrafficSource::Replays(trace) => {
                let request = |(at, file)| (start + Duration::from_nanos(at), files.layout().item(file, 0));
                let requests = trace.own().map(request).collect();
                Requester::over(Box::new(Replay::new(requests)), &setting, lifetime)
            }
        };
        Ok(Traffic { files, lifetime, random: Random::derive(seed, 0x6e6f_6e63), log, requester })
    }

    /// The number of the chunk that a name means: all of the first file, then all of the next.
    fn item(&self, name: NameRef<'_>) -> Option<u64> {
        let (file, segment) = self.files.place(name)?;
        Some(self.files.layout().item(file, segment))
    }

    fn name(&self, item: u64) -> Option<Name> {
        let (file, segment) = self.files.layout().place(item)?;
        self.files.name(file, segment).ok()
    }

    fn note(&mut self, closed: &Closed) {
        let (shown, nack) = match closed.outcome {
            Outcome::Data { round_trip } => (format!("{:.6}", round_trip.as_secs_f64() * 1e3), String::new()),
            Outcome::Nack(reason) => (String::new(), reason.to_string()),
            Outcome::Timeout => (String::new(), String::new()),
        };
        let sent = self.log.time(closed.sent);
        self.log.row(&[&closed.number, &sent, &shown, &nack]);
    }
}

impl Activity for Traffic {
    fn receive_data(&mut self, now: Instant, data: &Data) -> bool {
        let Some(item) = self.item(data.name()) else { return false };
        let closed = self.requester.handle_data(now, item);
        closed.iter().for_each(|one| self.note(one));
        !closed.is_empty()
    }

    fn receive_nack(&mut self, now: Instant, interest: &Interest, reason: NackReason) -> bool {
        let Some(item) = self.item(interest.name()) else { return false };
        let closed = self.requester.handle_nack(now, item, reason);
        closed.iter().for_each(|one| self.note(one));
        !closed.is_empty()
    }

    fn handle_timeout(&mut self, now: Instant) {
        while let Some(closed) = self.requester.poll_timeout(now) {
            self.note(&closed);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Interest> {
        let item = self.requester.poll_request(now)?.item;
        let name = self.name(item)?;
        self.files.dialect().interest(name, self.random.next_u32(), self.lifetime).ok()
    }

    fn next_deadline(&self) -> Instant {
        self.requester.next_deadline()
    }

    fn is_complete(&self) -> bool {
        self.requester.is_complete()
    }

    fn finish(&mut self, now: Instant) -> io::Result<()> {
        self.handle_timeout(now);
        for (number, sent) in self.requester.open() {
            let sent = self.log.time(sent);
            self.log.row(&[&number, &sent, &"", &OPEN]);
        }
        self.log.finish()
    }
}
