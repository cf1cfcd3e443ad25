//! Downloads of files: each a transfer with a controller of its own, begun at a rate.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use flow::{Arrival, ControllerSpec, DataOutcome, Transfer, TransferConfig};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Data, Interest, NackReason, Name};

use super::activity::{Activity, Log};
use super::arrivals::Arrivals;
use super::error::{self, JobError};
use super::producer::Files;
use super::signatures::Signatures;
use crate::experiment::plan::ControllerChoice;

/// The columns of the transfers' table.
pub(crate) const HEAD: [&str; 11] =
    ["no", "name", "start", "stop", "bytes", "segments", "sent", "repeated", "timeouts", "nacks", "state"];

/// What a download works with.
#[derive(Debug)]
pub(super) struct DownloadConfig {
    pub(super) files: Files,
    pub(super) arrivals: Arrivals,
    pub(super) count: u32,
    pub(super) at_once: u32,
    pub(super) controller: ControllerChoice,
    pub(super) window: u32,
    pub(super) lifetime: Duration,
    /// Is what the owner has not made refused?
    pub(super) verify: bool,
    /// How that is found out, where the owner signs.
    pub(super) signatures: Option<Signatures>,
    pub(super) seed: u64,
}

#[derive(Debug)]
struct One {
    number: u32,
    file: u32,
    began: Instant,
    bytes: u64,
    wrong: u64,
    nacks: u64,
    transfer: Transfer,
}

/// All downloads of one workload.
#[derive(Debug)]
pub(super) struct Downloads {
    config: DownloadConfig,
    transfer: TransferConfig,
    random: Random,
    log: Log,
    begun: u32,
    running: BTreeMap<u32, One>,
    /// By file, who wants its segments.
    wanted: BTreeMap<u32, Vec<u32>>,
    /// Downloads that may have something to send.
    ready: BTreeSet<u32>,
    /// When each wants to be asked again.
    deadlines: BTreeSet<(Instant, u32)>,
    noted: BTreeMap<u32, Instant>,
    /// Interests that ask again, until somebody takes them.
    again: Vec<(Name, u32)>,
}

impl Downloads {
    pub(super) fn new(config: DownloadConfig, log: Log) -> Result<Self, JobError> {
        let spec = match &config.controller {
            ControllerChoice::Named(spec) => spec.clone(),
            ControllerChoice::Fixed => format!("fixed/window~{}", config.window),
            ControllerChoice::Aimd => format!("aimd/initial~{}", config.window),
            ControllerChoice::Cubic => format!("cubic/initial~{}", config.window),
        };
        let controller: ControllerSpec = error::spec(&spec)?;
        // An overloaded network answers late; giving up is left to the end of the run.
        let transfer = TransferConfig { controller, max_attempts: u32::MAX, ..TransferConfig::default() };
        Ok(Downloads {
            random: Random::from_seed(config.seed),
            config,
            transfer,
            log,
            begun: 0,
            running: BTreeMap::new(),
            wanted: BTreeMap::new(),
            ready: BTreeSet::new(),
            deadlines: BTreeSet::new(),
            noted: BTreeMap::new(),
            again: Vec::new(),
        })
    }

    /// When the next download begins; `NEVER` when all have begun or too many run.
    fn next_begin(&self) -> Instant {
        if self.begun >= self.config.count || self.running.len() >= self.config.at_once as usize {
            return Instant::NEVER;
        }
        self.config.arrivals.next(self.begun, self.running.len())
    }

    fn begin(&mut self, now: Instant) {
        let number = self.begun;
        let Some(file) = self.config.arrivals.file(now, number) else { return };
        let mut transfer = Transfer::new(&self.transfer, now, self.random.next_u64());
        transfer.set_end(self.config.files.segments(file));
        let one = One { number, file, began: now, bytes: 0, wrong: 0, nacks: 0, transfer };
        self.running.insert(number, one);
        self.wanted.entry(file).or_default().push(number);
        self.ready.insert(number);
        self.begun += 1;
    }

    /// Notes when a download wants to be asked again.
    fn note(&mut self, number: u32) {
        let next = self.running.get(&number).and_then(|one| one.transfer.next_deadline());
        if let Some(old) = self.noted.remove(&number) {
            self.deadlines.remove(&(old, number));
        }
        if let Some(next) = next {
            self.deadlines.insert((next, number));
            self.noted.insert(number, next);
        }
    }

    fn end(&mut self, number: u32, now: Option<Instant>) {
        let Some(one) = self.running.remove(&number) else { return };
        if let Some(old) = self.noted.remove(&number) {
            self.deadlines.remove(&(old, number));
        }
        if let Some(wanted) = self.wanted.get_mut(&one.file) {
            wanted.retain(|other| *other != number);
        }
        self.ready.remove(&number);
        let counters = one.transfer.counters();
        let state = match (now, one.wrong) {
            (Some(_), 0) => "complete",
            (Some(_), _) => "wrong",
            (None, _) => "unfinished",
        };
        let stop = now.map_or_else(String::new, |now| self.log.time(now));
        let start = self.log.time(one.began);
        self.log.row(&[
            &one.number,
            &format_args!("{}/{}", self.config.files.prefix().as_ref(), one.file),
            &start,
            &stop,
            &one.bytes,
            &counters.data,
            &counters.sent,
            &counters.repeated,
            &counters.timeouts,
            &one.nacks,
            &state,
        ]);
        if let Some(now) = now {
            self.config.arrivals.ended(now, number, now.saturating_since(one.began));
        }
    }
}

impl Activity for Downloads {
    fn receive_data(&mut self, now: Instant, data: &Data) -> bool {
        let Some((file, segment)) = self.config.files.place(data.name()) else { return false };
        let Some(numbers) = self.wanted.get(&file).cloned() else { return false };
        let is_right = data.content() == self.config.files.content(file, segment);
        let is_refused = match &mut self.config.signatures {
            Some(signatures) => !signatures.accept(now, data),
            None => self.config.verify && !is_right,
        };
        if is_refused {
            // It is as good as lost: asked for again when its time is over.
            return true;
        }
        let mut taken = false;
        for number in numbers {
            let Some(one) = self.running.get_mut(&number) else { continue };
            if one.transfer.handle_data(now, segment, Arrival::default()) == DataOutcome::Wanted {
                one.transfer.confirm(segment);
                one.bytes += data.content().len() as u64;
                one.wrong += u64::from(!is_right);
            }
            taken = true;
            if one.transfer.is_complete() {
                self.end(number, Some(now));
            } else {
                self.ready.insert(number);
            }
        }
        taken
    }

    fn receive_nack(&mut self, now: Instant, interest: &Interest, reason: NackReason) -> bool {
        let Some((file, segment)) = self.config.files.place(interest.name()) else { return false };
        let numbers = self.wanted.get(&file).cloned().unwrap_or_default();
        for number in &numbers {
            if let Some(one) = self.running.get_mut(number) {
                one.transfer.handle_nack(now, segment, reason);
                one.nacks += 1;
                self.ready.insert(*number);
            }
        }
        !numbers.is_empty()
    }

    fn handle_timeout(&mut self, now: Instant) {
        while self.next_begin() <= now {
            self.begin(now);
        }
        while let Some((at, number)) = self.deadlines.first().copied().filter(|(at, _)| *at <= now) {
            self.deadlines.remove(&(at, number));
            self.noted.remove(&number);
            if let Some(one) = self.running.get_mut(&number) {
                one.transfer.handle_timeout(now);
                self.ready.insert(number);
            }
        }
    }

    fn take_again(&mut self) -> Vec<(Name, u32)> {
        std::mem::take(&mut self.again)
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Interest> {
        while let Some(number) = self.ready.first().copied() {
            let request = self
                .running
                .get_mut(&number)
                .and_then(|one| one.transfer.poll_request(now).map(|request| (one.file, request)));
            let Some((file, request)) = request else {
                self.ready.remove(&number);
                self.note(number);
                continue;
            };
            let name = self.config.files.name(file, request.item).ok()?;
            let nonce = self.random.next_u32();
            if request.attempt > 1 {
                self.again.push((name.clone(), nonce));
            }
            return self.config.files.dialect().interest(name, nonce, self.config.lifetime).ok();
        }
        None
    }

    fn next_deadline(&self) -> Instant {
        let transfers = self.deadlines.first().map_or(Instant::NEVER, |(at, _)| *at);
        transfers.min(self.next_begin())
    }

    fn is_complete(&self) -> bool {
        self.running.is_empty() && self.config.arrivals.is_over(self.begun, self.config.count)
    }

    fn finish(&mut self, _now: Instant) -> io::Result<()> {
        let open: Vec<u32> = self.running.keys().copied().collect();
        for number in open {
            self.end(number, None);
        }
        // Downloads that were never begun count as unfinished too.
        for (number, file) in self.config.arrivals.missing(self.begun, self.config.count) {
            let file = file.map_or_else(String::new, |file| format!("/{file}"));
            let name = format_args!("{}{file}", self.config.files.prefix().as_ref());
            self.log.row(&[&number, &name, &"", &"", &0, &0, &0, &0, &0, &0, &"unfinished"]);
        }
        self.log.finish()
    }
}
